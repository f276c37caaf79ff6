r"""A whole adaptive step as one graph, for many runs side by side.

Stages, new state, error norm, choice of the next step size, projection onto the constraints and the reasons to stop are
one function of a lane: it takes V = (x, t, h, rejected, stalled, steps, status) and gives the next V. Every lane has
its own time, step size and numbers P = (w, p, rtol, atol, end, most, calm, m0, modes, gates), so lanes of one batch
know nothing of each other. A lane whose status is not GOING stays as it is, so that many steps can be made between two
looks at it. The attempt itself and the control of the step size are those of single runs, `appell.motion.attempt`.
Where events are looked for, the step looks at the guards along its own dense output, and is not made where one of them
may fall through zero: such lanes wait until somebody looks closer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca

from appell.code.code import Code, function_of
from appell.equations import Equations
from appell.graph.kinks import has_kinks
from appell.kinematics.chart import Split
from appell.motion.attempt import BEHIND, HUGE, SETTINGS, Attempt, Status
from appell.motion.dop853 import look_function, step_functions
from appell.motion.driver import SINGULAR
from appell.motion.flow import RESTING, Flow
from appell.motion.formula import formula_function
from appell.motion.masses import ROUNDING
from appell.motion.modes import in_modes
from appell.motion.stepping import LOOKS

ROWS = (*BEHIND, "status")
"""Rows of V behind x."""


@dataclass(frozen=True, eq=False)
class Graphs:
    """The functions of a lane, each of V (or its first rows) and P.

    Attributes:
        functions: `step`, `first` (a first step size), `dense`, and where needed `guards`, `unwatched` (the step
            whatever the guards say), `settle`, `reset0` and so on (by the number of an event), `table`, `masses`,
            `jacobian` (of the constraint rows).
        sizes: Numbers of states, coordinates, inputs, parameters, kinks, guards and columns of the table.
        split: The dependent velocities they belong to.
        slide: The kinks along which they slide.
        restless: Whether these are watched and may be changed.
    """

    functions: Mapping[str, ca.Function]
    sizes: Mapping[str, int]
    split: Split
    slide: tuple[int, ...]
    restless: bool

    def to_data(self) -> dict[str, Any]:
        """Text and numbers only."""
        return {
            "functions": {name: f.serialize() for name, f in self.functions.items()},
            "sizes": dict(self.sizes),
            "split": [list(self.split.rows), list(self.split.dependent)],
            "slide": list(self.slide),
            "restless": self.restless,
        }

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> Graphs:
        """What `to_data` gave."""
        functions = {name: ca.Function.deserialize(text) for name, text in data["functions"].items()}
        rows, dependent = data["split"]
        split, slide = Split(tuple(rows), tuple(dependent)), tuple(data["slide"])
        return cls(functions, dict(data["sizes"]), split, slide, bool(data["restless"]))


def lane_graphs(
    code: Code,
    flow: Flow,
    slide: tuple[int, ...],
    original: Equations,
    columns: Sequence[Any],
    masses: Sequence[Any],
    resets: Mapping[int, ca.Function],
) -> Graphs:
    """The functions of a lane for one choice of speeds.

    Args:
        code: The equations in that choice.
        flow: Their right-hand side and what is looked at along it, with the modes of kinks behind the parameters.
        slide: The kinks along which it slides.
        original: The equations as the user has them, to which quasi-velocities in formulas belong.
        columns: Formulas to tabulate.
        masses: Formulas of masses that must stay positive.
        resets: The new x(t, x, w, p) right behind events, by the number of the event.
    """
    equations = code.equations
    t, x, w, p = equations.arguments
    h, rejected, stalled, steps, before = (ca.SX.sym(name) for name in ROWS[1:])
    rtol, atol, end, most, calm = (ca.SX.sym(name) for name in SETTINGS)
    rhs = flow.rhs
    m0, gates = ca.SX.sym("m0", len(masses)), ca.SX.sym("gates", flow.count)
    modes = ca.SX.sym("modes", rhs.nnz_in(3) - p.numel())
    numbers = ca.vertcat(p, modes)
    V = ca.vertcat(x, t, h, rejected, stalled, steps, before)
    P = ca.vertcat(w, p, rtol, atol, end, most, calm, m0, modes, gates)
    step, dense = step_functions(rhs)
    onto = function_of(equations, "projected")

    def value(f: ca.Function, time: ca.SX, state: ca.SX) -> ca.SX:
        """A formula, which may contain accelerations, at a state."""
        if f.n_in() == len(equations.arguments):
            return f(time, state, w, p)
        accelerations = ca.Function("accelerations", equations.arguments, [ca.densify(equations.qddot)])
        return f(time, state, w, p, accelerations(time, state, w, p))

    attempt = Attempt.of(step, (x, t, h, rejected), (w, numbers), (rtol, atol), end)
    later, moved = attempt.later, onto(attempt.later, attempt.new, w, p)
    wishes, ends = [], []
    restless, fixed = bool(equations.split.dependent), equations.formulation.fixed
    if restless:
        assert code.alarm is not None
        (_, side), (growth, other) = code.alarm(t, x, w, p), code.alarm(later, moved, w, p)
        # A step may jump over the place where speeds that were given are singular.
        good = ca.logic_and(growth < (SINGULAR if fixed else calm), ca.logic_not(side * other < 0))
        wishes.append((ca.logic_not(good), Status.SINGULAR if fixed else Status.RESTLESS))
    formulas = [formula_function(equations, original, m) for m in masses]
    if masses:
        held = ca.vertcat(*[value(f, later, moved) for f in formulas])
        low = ca.mmin(held + ROUNDING * ca.fmax(1.0, ca.fabs(m0)))
        ends.append((low < 0, Status.MASS_GONE))
    outcome = attempt.outcome(moved, stalled, steps, most, wishes, ends)

    def function(name: str, rows: ca.SX, result: ca.SX) -> ca.Function:
        return ca.Function(name, [rows, P], [ca.densify(result)], {"cse": True})

    going = before == int(Status.GOING)
    scale = atol + rtol * ca.fabs(x)
    d0, d1 = ca.norm_2(x / scale), ca.norm_2(rhs(t, x, w, numbers) / scale)
    unsure = ca.logic_or(ca.logic_or(d0 < 1e-5, d1 < 1e-5), ca.logic_not(d1 < HUGE))
    start = ca.fmin(ca.if_else(unsure, 1e-6, 0.01 * d0 / d1), end - t)
    functions = {
        "step": function("step", V, ca.if_else(going, outcome, V)),
        "first": function("first", V[: x.numel() + 1], start),
        "dense": function("dense", V[: x.numel() + 2], dense(t, x, w, ca.vertcat(numbers, h, rtol, atol))),
    }
    short = V[: x.numel() + 1]
    if flow.count:
        g = flow.guards(t, x, w, numbers)
        rate = ca.jtimes(g, ca.vertcat(x, t), ca.vertcat(rhs(t, x, w, numbers), 1))
        functions["guards"] = function("guards", short, ca.vertcat(g, rate))
        looked_at = ca.Function("guards", [t, x, w, numbers], [ca.densify(g), ca.densify(rate)])
        trial = ca.fmin(h, end - t)
        seen = look_function(rhs, looked_at)(t, x, w, ca.vertcat(numbers, trial, rtol, atol))
        suspect = ca.logic_and(attempt.accepted, _suspect(*seen, trial / LOOKS, gates))
        waiting = ca.vertcat(V[:-1], int(Status.SUSPECT))
        functions["unwatched"] = functions["step"]
        functions["step"] = function("step", V, ca.if_else(going, ca.if_else(suspect, waiting, outcome), V))
        functions["settle"] = function("settle", short, onto(t, x, w, p))
    for i, behind in resets.items():
        functions[f"reset{i}"] = function(f"reset{i}", short, onto(t, behind(t, x, w, p), w, p))
    table = [formula_function(equations, original, column) for column in columns]
    on = onto(t, x, w, p)

    def in_mode(f: ca.Function) -> ca.SX:
        """A column of the table, in the modes of the lane where kinks decide about it."""
        accelerated = f.n_in() > len(equations.arguments)
        decided = in_modes(code, f, slide) if modes.numel() and (accelerated or (slide and has_kinks(f))) else None
        return value(f, t, on) if decided is None else decided(t, on, w, numbers)

    values = ca.densify(ca.vertcat(*[in_mode(f) for f in table]))
    if not (values.numel() == x.numel() and ca.is_equal(values, x, 0)):
        functions["table"] = function("table", short, values)
    if masses:
        functions["masses"] = function("masses", short, ca.vertcat(*[value(f, t, x) for f in formulas]))
    if restless and not fixed:
        J = equations.in_state(equations.mechanics.J_at_rest)
        functions["jacobian"] = function("jacobian", short, ca.vec(ca.densify(J)))
    sizes = {
        "x": x.numel(), "coordinates": len(equations.coordinates), "w": w.numel(), "p": p.numel(),
        "modes": modes.numel(), "guards": flow.count, "columns": len(columns), "masses": len(masses),
    }  # fmt: skip
    return Graphs(functions, sizes, equations.split, slide, restless)


def _suspect(values: ca.SX, rates: ca.SX, apart: ca.SX, gates: ca.SX) -> ca.SX:
    """Whether a guard may fall through zero, from guards and rates at places along a step, or a gate is closed.

    The rule of `Steps.first_crossings` with room for rounding; a guard that turns far from zero is none.
    """
    g, later, rate, later_rate = values[:, :-1], values[:, 1:], rates[:, :-1], rates[:, 1:]
    falls = ca.logic_and(g > -RESTING, later <= RESTING)
    near = ca.fmin(ca.fabs(g), ca.fabs(later)) <= 4 * apart * ca.fmax(ca.fabs(rate), ca.fabs(later_rate))
    turns = ca.logic_and(ca.logic_and((g > 0) == (later > 0), rate * later_rate < 0), near)
    return ca.logic_or(ca.mmin(gates) < 1, ca.mmax(ca.logic_or(falls, turns)))
