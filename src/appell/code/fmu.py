"""A system as an FMU, a file that Simulink, Dymola, OpenModelica, FMPy and many others run (FMI 2.0).

Model exchange offers the right-hand side, kinks as events, and directional derivatives. Co-simulation brings its own
integrator, Dormand and Prince's of order 8(5,3), and keeps the constraints by projection. `fmu.c` has what is the same
for all models.
"""

from __future__ import annotations

import json
import platform
import sys
import tempfile
import uuid
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import casadi as ca
import numpy as np

from appell.code.code import function_of
from appell.code.fmu_description import Description, Variable, check_names, described
from appell.code.native import build, compiler
from appell.errors import CompileError
from appell.files import whole
from appell.formulation.multipliers import Multipliers
from appell.graph.kinks import Modal, has_kinks
from appell.graph.tableau import STAGES, table
from appell.kinematics.differentiated import Differentiated
from appell.kinematics.programme import refuse_changing
from appell.model.values import formula_of

if TYPE_CHECKING:
    from appell.code.state import State
    from appell.code.system import System

TOLERANCE = 1e-9
GROWTH_LIMIT = 1e4  # of the rates by the speeds, from which on these do not describe the motion any more
PLATFORMS = {"linux": "linux64", "darwin": "darwin64", "win32": "win64"}
ENDINGS = {"linux": ".so", "darwin": ".dylib", "win32": ".dll"}
LARGE = 10_000  # instructions, from which on a compiler that optimises in earnest takes minutes
FLAGS = ("-std=c99", "-shared", "-fvisibility=hidden", *(("-fPIC",) * (sys.platform != "win32")))


def write_fmu(system: System, path: Path, state: State, outputs: Mapping[str, Any]) -> Path:
    """Write an FMU for this kind of machine, with its source for others.

    Args:
        system: With all parameters bound; open inputs are those of the FMU.
        path: The file, `name.fmu`.
        state: Where it starts.
        outputs: Further outputs: name -> formula.
    """
    check_fmu(system)
    system = in_all_rates(system)
    further = _further(system, outputs)
    functions = _functions(system, further)
    variables = _variables(system, state, further)
    check_names(variables)
    source = _source(system, state, functions)
    guid = "{" + str(uuid.uuid5(uuid.NAMESPACE_OID, "\n".join((source, *map(repr, variables))))) + "}"
    source = f'#define GUID "{guid}"\n{source}'
    description = Description(
        name=path.stem,
        guid=guid,
        words=system.model.description or system.model.name,
        variables=variables,
        switches=functions["SWITCHES"].nnz_out(0),
        start=state.t,
        until=state.t + system.model.until,
        tolerance=TOLERANCE,
    )
    length = sum(function.n_instructions() for function in functions.values())
    contents = {
        "modelDescription.xml": described(description),
        "sources/all.c": source.encode(),
        f"binaries/{_platform()}/{path.stem}{ENDINGS.get(sys.platform, '.so')}": _library(
            source, "-Og" if length > LARGE else "-O2"
        ),
    }
    with whole(path) as part, zipfile.ZipFile(part, "w") as archive:
        for name, content in contents.items():
            entry = zipfile.ZipInfo(name)  # of no date, so that the same model gives the same bytes
            entry.external_attr = 0o644 << 16  # to be read by everybody who unpacks it
            archive.writestr(entry, content, zipfile.ZIP_DEFLATED)
    return path


def check_fmu(system: System) -> None:
    """Refuse what no FMU of ours can do."""
    mechanics = system.equations.mechanics
    refuse_changing(mechanics, [w.label for w in system.equations.inputs])
    if mechanics.unbroken or mechanics.striking or mechanics.leaping:
        what = next(iter(mechanics.unbroken), "a mass" if mechanics.leaping else "what is prescribed")
        raise CompileError(
            f"Velocities may jump here, where {what} turns a corner or jumps, and an FMU does not follow them; write "
            "it smoothly, or let appell run it."
        )
    if compiler() is None:
        raise CompileError("An FMU is built by a C compiler (cc, gcc or clang), and there is none on the path.")


def in_all_rates(system: System) -> System:
    """The same motions with all rates as speeds where a run would change its choice of them on the way.

    An FMU cannot; Lagrange's equations with multipliers make no choice.
    """
    old, formulation = system.equations, system.equations.formulation
    kept = formulation.projects and formulation.movable(old.mechanics, old.split)  # and not drawn back by a term
    chosen = formulation.fixed or old.chart.redundant or isinstance(old.mechanics, Differentiated)
    if chosen or not (old.dependent and kept):
        return system
    new = Multipliers().derive(old.mechanics, old.split)
    return type(system)(system.code.with_equations(new.close(old.closed) if old.closed else new), system.values)


class Further(NamedTuple):
    """An output that is no state: what it is called, its unit, and its value in t, x, w, p."""

    name: str
    unit: str
    graph: ca.SX


def _further(system: System, outputs: Mapping[str, Any]) -> list[Further]:
    """The rates of dependent coordinates, and what was asked for."""
    equations = system.equations
    rates = [(q.rate.label, q.rate.unit, q.rate) for q in system.model.coordinates if q.rate not in equations.states]
    asked = [(name, "", formula_of(formula, f"The output {name!r}")) for name, formula in outputs.items()]
    return [
        Further(name, unit, ca.densify(equations.formula(formula, [equations.qddot] if asked else ())))
        for name, unit, formula in (*rates, *asked)
    ]


def _functions(system: System, further: Sequence[Further]) -> dict[str, ca.Function]:
    """The functions of the model that `fmu.c` calls, by the names it has for them."""
    equations, formulation = system.equations, system.equations.formulation
    rhs = function_of(equations, "rhs")
    modal = Modal.of(rhs) if has_kinks(rhs) else None
    t, x, w, p = rhs.sx_in()
    s, g, xdot = (ca.SX(0, 1), ca.SX(0, 1), rhs(t, x, w, p)) if modal is None else (modal.s, modal.g, modal.xdot)
    if modal is not None:
        t, x, w, p = modal.t, modal.x, modal.w, modal.p
    y = ca.Function("y", equations.arguments, [ca.vertcat(*[e.graph for e in further])])(t, x, w, p)
    arguments, along = [t, x, w, p, s], [ca.SX.sym("d", e.numel()) for e in (x, w, p)]
    directions = [ca.jtimes(e, ca.vertcat(x, w, p), ca.vertcat(*along)) for e in (xdot, y)]
    moved = function_of(equations, "projected")(t, x, w, p) if formulation.projects else x
    alarm = None if equations.chart.redundant else system.code.alarm
    growth, side = (ca.SX(1), ca.SX(1)) if alarm is None else alarm(t, x, w, p)
    made = {
        "SLOPES": (arguments, [xdot]),
        "SWITCHES": (arguments, [g]),
        "OUTPUTS": (arguments, [y]),
        "DERIVATIVES": ([*arguments, *along], directions),
        "PROJECTED": ([t, x, w, p], [moved]),
        "STRAIN": ([t, x, w, p], [growth, side]),
    }
    return {
        name: ca.Function(f"model_{name.lower()}", given, [ca.densify(e) for e in results], {"cse": True})
        for name, (given, results) in made.items()
    }


def _variables(system: System, state: State, further: Sequence[Further]) -> tuple[Variable, ...]:
    """Everything that can be asked for or set, in the order of `fmu.c`."""
    equations = system.equations
    x = zip(equations.states, system.to_x(state).tolist(), strict=True)
    kind = "fixed" if system.model.constraints else "tunable"  # a length that changes would tear a loop apart
    return (
        *(Variable(s.label, "state", s.unit, s.description, value) for s, value in x),
        *(Variable(f"der({s.label})", "rate") for s in equations.states),
        *(Variable(w.label, "input", w.unit, w.description, system.values.get(w.label, 0.0)) for w in equations.inputs),
        *(Variable(p.label, kind, p.unit, p.description, system.values[p.label]) for p in system.model.parameters),
        *(Variable(e.name, "output", e.unit) for e in further),
    )


def _source(system: System, state: State, functions: Mapping[str, ca.Function]) -> str:
    """One file of C: the functions, sizes, texts and numbers of the model, then what is the same for all."""
    equations = system.equations
    generator = ca.CodeGenerator("all", {"with_export": False, "casadi_int": "long long int", "include_math": True})
    for function in functions.values():
        generator.add(function)
    speeds = ", ".join(s.label for s in equations.speeds)
    texts = {
        "STRAINED": f"the speeds {speeds} do not describe the motion here; let appell choose them, and export again.",
        "STUCK": "the motion stays where the right-hand side jumps, as dry friction that sticks. Write a smooth law "
        "instead, or let appell run it.",
        "INCONSISTENT": "there is no state on the constraints near the one to start with.",
    }
    w = [system.values.get(w.label, 0.0) for w in equations.inputs]
    numbers = {
        "START_T": state.t, "START_X": system.to_x(state), "START_W": w, "START_P": system.p, "TOLERANCE": TOLERANCE,
        "GROWTH_LIMIT": GROWTH_LIMIT, "TUNABLE": int(not system.model.constraints), "STAGES": STAGES,
        "TABLE_A": table.A[:STAGES, :STAGES], "TABLE_B": table.B, "TABLE_C": table.C[:STAGES],
        "TABLE_E3": table.E3[:STAGES], "TABLE_E5": table.E5[:STAGES],
    }  # fmt: skip
    defined = {
        **{name: function.name() for name, function in functions.items()},
        **{name: functions["SLOPES"].nnz_in(place) for place, name in enumerate(("NX", "NW", "NP", "NS"), 1)},
        "NY": functions["OUTPUTS"].nnz_out(0),
        **{name: json.dumps(words) for name, words in texts.items()},
        **{name: _braced(value) for name, value in numbers.items()},
    }
    lines = [f"#define {name} {value}" for name, value in defined.items()]
    return "\n".join((generator.dump(), *lines, Path(__file__).with_name("fmu.c").read_text(encoding="utf-8")))


def _braced(value: Any) -> str:
    """Numbers as C writes them, arrays in braces."""
    if np.ndim(value):
        return "{" + (", ".join(map(_braced, value)) or "0") + "}"
    return repr(value if isinstance(value, int) else float(value))


def _platform() -> str:
    """What FMI 2.0 calls this kind of machine."""
    arm = platform.machine().lower() in ("aarch64", "arm64")
    return "aarch64-linux" if arm and sys.platform == "linux" else PLATFORMS.get(sys.platform, "linux64")


def _library(source: str, effort: str) -> bytes:
    """The shared library of a source, by one of the compiler's flags -O."""
    cc = compiler()
    assert cc is not None
    with tempfile.TemporaryDirectory() as folder:
        written, library = Path(folder, "all.c"), Path(folder, "library")
        written.write_text(source, encoding="utf-8")
        build(cc, [effort, *FLAGS, "-o", str(library), str(written), "-lm"], Path(folder))
        return library.read_bytes()
