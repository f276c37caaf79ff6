"""The sections of a report, from what is known of a model, its equations, a motion and further results."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import sympy as sp

from appell.equations import Equations
from appell.errors import AppellError
from appell.model.body import Particle, RigidBody
from appell.model.model import Model, counted
from appell.model.symbols import Evolving, Letter, Rate, length, letters_in, t
from appell.motion.reactions import multipliers
from appell.motion.versions import versions
from appell.reading import TYPESET
from appell.reading.pages import page
from appell.reading.printing import formula_latex, latex_rows
from appell.reading.trigonometry import gathered
from appell.reporting.citations import bibtex
from appell.reporting.content import Block, Code, Formulas, Section, Shown, Table, Text
from appell.reporting.inline import Formula
from appell.reporting.model_source import model_source
from appell.reporting.run_source import run_source
from appell.view.plot import unit_words
from appell.view.scene import Scene

NOTHING = 1e-15  # of the largest of some values, what rounding leaves of a zero
LONG = 400  # characters of LaTeX; longer formulas are not shown in a table


def tex(formula: Any, model: Model, vanishing: bool = False) -> str:
    """A formula for a cell of a table, or the equation that it is zero; long ones are not shown."""
    formula = sp.sympify(formula)
    if isinstance(formula, sp.Expr) and length(formula) > LONG:
        return "(long)"
    text = formula_latex(formula, _letters(model))
    behind = " = 0" if vanishing else ""
    return Formula(f"${text}{behind}$", formula, behind) if len(text) <= LONG else "(long)"


def _letters(model: Model) -> list[Letter]:
    """All that stand in a report beside each other."""
    rates = [q.rate for q in model.coordinates]
    return [*model.coordinates, *rates, *model.states, *model.inputs, *model.parameters, t]


def system_section(model: Model, values: dict[str, float], drawing: Scene | None) -> Section:
    """What the system is; a drawing needs numbers for all parameters."""
    blocks = description_blocks(model, values)
    words = [b for b in blocks if isinstance(b, Text)]
    picture = [] if drawing is None else [Shown(drawing, f"{model.name} at its start")]
    return Section("The system", (*words, *picture, *blocks[len(words) :]))


def description_blocks(model: Model, values: Mapping[str, float]) -> list[Block]:
    """A model in words and tables."""
    blocks: list[Block] = []
    if model.description:
        words = model.description[0].upper() + model.description[1:]
        blocks.append(Text(words + ("" if words.endswith(".") else ".")))
    blocks.append(
        Text(
            f"{counted(model.coordinates, 'coordinate')}, {counted(model.rows, 'constraint row')}, "
            f"{counted(model.bodies, 'body', 'bodies')}, {counted(model.forces, 'force')}"
            + (f", {counted(tuple(model.states), 'extra state')}" if model.states else "")
            + f"{_freedom(model)}."
        )
    )
    blocks.append(_bodies(model))
    for letters in (model.coordinates, model.states, model.inputs, model.parameters):
        if letters:
            blocks.append(_symbols(tuple(letters), values, model))
    if model.forces:
        forces = tuple((f.name, type(f).__name__.lower()) for f in model.forces)
        blocks.append(Table(("force", "kind"), forces, "Forces"))
    if model.rows:
        blocks.append(_constraints(model))
    return blocks


def _freedom(model: Model) -> str:
    """Degrees of freedom where constraints take some away; nothing of a model that no principle accepts."""
    if not model.rows:
        return ""
    try:
        free = model.degrees_of_freedom
    except AppellError:
        return ""
    redundant = free > len(model.coordinates) - len(model.rows) - len(model.programme)
    return f"; {free} degree{'s' * (free != 1)} of freedom" + ", since some rows follow from others" * redundant


def _symbols(letters: Sequence[Letter], values: Mapping[str, float], model: Model) -> Table:
    """Letters of one kind; what several of them share is said once."""
    kind, moves = letters[0].kind, isinstance(letters[0], Evolving)
    rated = kind == "coordinate" and any(values.get(s.rate.label) for s in letters)
    labels = [(s.label, s.rate.label if rated else "") for s in letters]
    small = NOTHING * max((abs(values.get(e, 0.0)) for pair in labels for e in pair), default=0.0) if moves else 0.0

    def shown(label: str) -> str:
        value = values.get(label)
        if value is None or math.isnan(value):
            return "" if value is None else "changes"
        return f"{value if abs(value) > small else 0.0:.9g}"

    rows = []
    for before, s, pair in zip((None, *letters), letters, labels, strict=False):
        same = before is not None and s.description and before.description == s.description
        rows.append((tex(s, model), unit_words(s.unit), "″" if same else s.description, *map(shown, pair)))
    head = ("symbol", "unit", "what", "at the start" if moves else "value", "rate at the start")
    return _table(head, rows, f"{'extra ' * (kind == 'state')}{kind}s".capitalize())


def _table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]], caption: str) -> Table:
    """A table without the columns in which nothing stands."""
    kept = [k for k, column in enumerate(zip(*rows, strict=True)) if any(column)] or range(len(head))
    return Table(tuple(head[k] for k in kept), tuple(tuple(row[k] for k in kept) for row in rows), caption)


def _bodies(model: Model) -> Table:
    rows = []
    for body in model.bodies:
        if isinstance(body, Particle):
            rows.append((body.name, "particle", tex(body.mass, model), ""))
        else:
            assert isinstance(body, RigidBody)
            plain = body.inertia.is_diagonal()
            moments = list(body.inertia.diagonal()) if plain else list(body.inertia)
            shown = tex(sp.Tuple(*moments) if plain else body.inertia, model)
            rows.append((body.name, "rigid body", tex(body.mass, model), shown))
    return _table(("body", "kind", "mass", "central inertia"), rows, "Bodies")


def _constraints(model: Model) -> Table:
    rows = []
    for constraint in model.constraints:
        for row in constraint.rows:
            kind = {0: "holonomic", 2: "on accelerations"}.get(row.order, "")
            if row.order == 1:
                rates = [s for s in letters_in(row.expression) if isinstance(s, Rate)]
                linear = all(sp.diff(row.expression, a, b) == 0 for a in rates for b in rates)
                kind = "nonholonomic, linear" if linear else "nonholonomic, nonlinear"
            rows.append((row.name, kind, tex(gathered(row.expression), model, vanishing=True)))
    return Table(("constraint", "kind", "row"), tuple(rows), "Constraints")


def equations_section(equations: Equations) -> Section:
    """The chosen formulation and its equations; of large systems only the principle and the counts."""
    principle = equations.formulation
    blocks: list[Block] = [
        Text(f"By the principle of {principle.name} ({principle.reference})."),
        *_principle(principle),
        Text(equations.summary()),
    ]
    count = f"One right-hand side takes {equations.operations} arithmetic operations."
    if equations.operations > TYPESET:
        words = " Written out, the equations would fill pages of intermediate quantities, and are not shown here"
        return Section("Equations of motion", (*blocks, Text(f"{count}{words}: print(equations) writes all of them.")))
    blocks += [Formulas(heading, tuple(rows)) for heading, rows in latex_rows(page(equations))]
    if equations.closed:
        beside = _letters(equations.model)
        written = [(formula_latex(w, beside), formula_latex(e, beside)) for w, e in equations.closed.items()]
        laws = tuple((w, e) for w, e in written if len(e) < 4 * LONG)
        if laws:
            blocks.append(Formulas("Laws of the inputs", laws))
    blocks.append(Text(f"{count} What is shown is what runs."))
    return Section("Equations of motion", tuple(blocks))


def _principle(principle: Any) -> list[Block]:
    """The formula that a formulation's description begins with."""
    found = re.search(r"\$\$(.+?)\$\$", type(principle).__doc__ or "", re.DOTALL)
    return [Formulas("", (("", " ".join(found.group(1).split())),))] if found else []


def proof_section(motion: Any) -> Section:
    """Residuals, power balance, agreement."""
    return Section("Proof", tuple(proof_blocks(motion.check())))


def proof_blocks(check: Any) -> list[Block]:
    """What was checked along a motion.

    Args:
        check: The check.
    """
    rows = [
        ("constraints on positions", "largest residual", f"{check.position:.1e}"),
        ("constraints on velocities", "largest residual", f"{check.velocity:.1e}"),
        ("power balance", "largest error over the energy that went through", f"{check.balance:.1e}"),
        *((f"agreement with {name}", "largest relative difference of accelerations", f"{value:.1e}")
          for name, value in check.agreement.items()),
    ]  # fmt: skip
    work = tuple((name, f"{value:.9g}") for name, value in check.work.items())
    verdict = "Everything is as it should be." if check.ok else "NOT WELL: look at what is above its tolerance."
    blocks: list[Block] = [
        Text(verdict, True, check.ok),
        Text(
            "Each formulation is derived by a route of its own; along the motion they must give the same "
            "accelerations. The work of all forces must be the change of the energy."
        ),
        Table(("what", "measured", "value"), tuple(rows), "Proof"),
    ]
    if work:
        blocks.append(Table(("work of", "J"), work, "Power balance"))
    return blocks


def verification_section(found: Any) -> Section:
    """Formulations pair against pair."""
    triangle = found.triangle()
    rows = tuple((*row, *[""] * (len(triangle) - len(row))) for row in triangle)
    words = f"{found.states} random states on the constraints, whose residuals are up to {found.residual:.1e}."
    verdict = "All formulations agree." if found.ok and found.pairs else f"{found.verdict}."
    remarks = [Text(f"{remark[0].upper()}{remark[1:]}.") for remark in found.remarks]
    columns = ("formulation", *(str(i + 1) for i in range(len(triangle) - 1)))
    table = Table(columns, rows, "Largest relative disagreement of the accelerations, pair by pair")
    return Section("Agreement of the formulations", (Text(verdict, True, found.ok), Text(words), *remarks, table))


def results_section(motion: Any, scene: Scene, title: str = "Results") -> Section:
    """The animation, plots and the last values of a motion."""
    from appell.view.motions import over_time
    from appell.view.plot import Line, Panel, Plot

    blocks: list[Block] = [Text(motion.summary()), Shown(scene, f"{motion.info['model']} in motion")]
    blocks.append(Shown(over_time(motion, ()), "Coordinates, rates and states over time"))
    if motion.stretches and motion.system.model.rows:
        found, _ = multipliers(motion, motion.times)
        names = motion.system.equations.mechanics.row_names
        finite = tuple(Line(n, motion.times, c) for n, c in zip(names, found.T, strict=True) if np.all(np.isfinite(c)))
        if finite:
            panel = Panel(finite, "t [s]", "multiplier")
            blocks.append(Shown(Plot("Reactions", (panel,)), "Forces of the constraints, computed afterwards"))
    return Section(title, (*blocks, values_table(motion)))


def values_table(motion: Any) -> Table:
    """First, least, greatest and last values of all that is tabulated."""
    rows = tuple(
        (
            label,
            unit_words(motion.units.get(label, "")),
            *(f"{float(e) + 0.0:.9g}" for e in (c[0], c.min(), c.max(), c[-1])),
        )
        for label, c in motion.columns.items()
    )
    return Table(("quantity", "unit", "first", "least", "greatest", "last"), rows, "Values")


def reproduce_section(model: Model, motion: Any, code: str) -> Section:
    """Versions and code."""
    text = run_source(motion, code) if motion is not None else code or model_source(model)
    table = Table(("package", "version"), tuple(versions().items()), "Versions")
    return Section("Reproduce it", (Code("python", text), table))


def sources_section(equations: Equations, method: str) -> Section:
    """BibTeX of the methods."""
    words = "The methods that were used, for a list of references."
    return Section("Sources", (Text(words), Code("bibtex", bibtex(equations.formulation, method))))
