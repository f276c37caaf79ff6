r"""A whole adaptive step as one graph, for many runs side by side.

Stages, new state, error norm, choice of the next step size, projection onto the constraints and the reasons to stop are
one function of a lane: it takes V = (x, t, h, room, stalled, steps, status) and gives the next V. Every lane has
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

from appell.code.code import HUGE, Code
from appell.graph.kinks import has_kinks
from appell.kinematics.split import Split
from appell.motion import forks, gradients
from appell.motion.arrival import approach_function, entering
from appell.motion.attempt import BEHIND, GROW, SETTINGS, Attempt, Status
from appell.motion.crossing import LOOKS, excess_graph
from appell.motion.dormand_prince import look_function, step_functions
from appell.motion.flow import RESTING, RESTING_ANYWAY, Flow
from appell.motion.formula import formula_function, with_rates
from appell.motion.gradients import may_vanish
from appell.motion.masses import OVERDRAWN
from appell.motion.modes import in_modes
from appell.motion.projection import kept
from appell.motion.speeds import SPEEDS_SINGULAR

ROWS = (*BEHIND, "status")
"""Rows of V behind x."""


@dataclass(frozen=True, eq=False)
class Graphs:
    """The functions of a lane, each of V (or its first rows) and P.

    Attributes:
        functions: `step`, `first` (a first step size), `dense`, and where needed `guards`, `unwatched` (the step
            whatever is seen along it), `settle`, `reset0` and so on (by the number of an event), `table`, `masses`,
            `jacobian` (of the constraint rows), `approach` (to zeros of square roots).
        sizes: Numbers of states, coordinates, inputs, parameters, kinks, guards and columns of the table.
        split: The dependent velocities they belong to.
        family: The kinks along which they may slide.
        restless: Whether these are watched and may be changed.
    """

    functions: Mapping[str, ca.Function]
    sizes: Mapping[str, int]
    split: Split
    family: tuple[int, ...]
    restless: bool

    def to_data(self) -> dict[str, Any]:
        """Text and numbers only."""
        return {
            "functions": {name: f.serialize() for name, f in self.functions.items()},
            "sizes": dict(self.sizes),
            "split": [list(self.split.rows), list(self.split.dependent)],
            "family": list(self.family),
            "restless": self.restless,
        }

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> Graphs:
        """What `to_data` gave."""
        functions = {name: ca.Function.deserialize(text) for name, text in data["functions"].items()}
        rows, dependent = data["split"]
        split, family = Split(tuple(rows), tuple(dependent)), tuple(data["family"])
        return cls(functions, dict(data["sizes"]), split, family, bool(data["restless"]))


def lane_graphs(
    code: Code,
    flow: Flow,
    family: tuple[int, ...],
    columns: Sequence[Any],
    masses: Sequence[Any],
    resets: Mapping[int, ca.Function],
) -> Graphs:
    """The functions of a lane for one choice of speeds.

    Args:
        code: The equations in that choice.
        flow: Their right-hand side and what is looked at along it, with the modes of kinks behind the parameters.
        family: The kinks along which it may slide.
        columns: Formulas to tabulate.
        masses: Formulas of masses that must stay positive.
        resets: The new x(t, x, w, p) right behind events, by the number of the event.
    """
    equations = code.equations
    lane = _Lane(code, flow, [formula_function(equations, m) for m in masses])
    functions = lane.steps()
    t, x, w, p, onto = lane.t, lane.x, lane.w, lane.p, lane.onto
    for i, behind in resets.items():
        functions[f"reset{i}"] = lane.function(f"reset{i}", lane.short, onto(t, behind(t, x, w, p), w, p))
    values = lane.table([formula_function(equations, column) for column in columns], family)
    if not (values.numel() == x.numel() and ca.is_equal(values, x, 0)):
        functions["table"] = lane.function("table", lane.short, values)
    if masses:
        functions["masses"] = lane.function("masses", lane.short, lane.masses(t, x))
    if lane.restless and not equations.formulation.fixed:
        J = equations.in_state(equations.mechanics.rows_by(equations.formulation.angular))
        functions["jacobian"] = lane.function("jacobian", lane.short, ca.vec(ca.densify(J)))
    sizes = {
        "x": x.numel(), "coordinates": len(equations.coordinates), "w": w.numel(), "p": p.numel(),
        "modes": lane.modes.numel(), "guards": flow.count, "columns": len(columns), "masses": len(masses),
    }  # fmt: skip
    return Graphs(functions, sizes, equations.split, family, lane.restless)


class _Lane:
    """The letters of a lane, and the graphs of its functions.

    Args:
        code: The equations.
        flow: Their right-hand side and guards.
        formulas: Functions of the masses that must stay positive.

    Attributes:
        V, P: The column of a lane and its numbers.
        short: Rows x and t of V.
        onto: What keeps a state on the constraints.
        restless: Whether the dependent velocities are watched.
    """

    def __init__(self, code: Code, flow: Flow, formulas: Sequence[ca.Function]) -> None:
        self.code, self.flow, self.formulas, self.equations = code, flow, formulas, code.equations
        self.t, self.x, self.w, self.p = t, x, w, p = self.equations.arguments
        self.h, self.room, self.stalled, self.made, self.before = (ca.SX.sym(name) for name in ROWS[1:])
        settings = [ca.SX.sym(name) for name in SETTINGS]
        self.rtol, self.atol, self.end, self.most, self.calm = settings
        self.m0, self.gates = ca.SX.sym("m0", len(formulas)), ca.SX.sym("gates", flow.count)
        self.modes = ca.SX.sym("modes", flow.rhs.nnz_in(3) - p.numel())
        self.numbers = ca.vertcat(p, self.modes)
        self.V = ca.vertcat(x, t, self.h, self.room, self.stalled, self.made, self.before)
        self.P = ca.vertcat(w, p, *settings, self.m0, self.modes, self.gates)
        self.short = self.V[: x.numel() + 1]
        self.onto = kept(self.equations)
        self.restless = bool(self.equations.split.dependent)

    def function(self, name: str, rows: ca.SX, result: ca.SX) -> ca.Function:
        """A function of the first rows of V, and P."""
        return ca.Function(name, [rows, self.P], [ca.densify(result)], {"cse": True})

    def steps(self) -> dict[str, ca.Function]:
        """The step, a first step size, the dense output; what is needed to look at guards and roots."""
        t, x, w, numbers, V = self.t, self.x, self.w, self.numbers, self.V
        step, dense = step_functions(self.flow.rhs)
        tolerances = self.rtol, self.atol
        attempt = Attempt.of(step, (x, t, self.h, self.room), (w, numbers), tolerances, self.end, self.flow.growth)
        outcome = self._outcome(attempt)
        going = self.before == int(Status.GOING)
        functions = {
            "step": self.function("step", V, ca.if_else(going, outcome, V)),
            "first": self.function("first", self.short, self._first()),
            "dense": self.function(
                "dense", V[: x.numel() + 2], ca.vertcat(*dense(t, x, w, ca.vertcat(numbers, self.h, *tolerances)))
            ),
        }
        looked, next_status = {}, ca.SX(int(Status.GOING))
        if (approach := approach_function(self.flow.rhs)) is not None:
            looked["approach"], arrives = self._approach(approach, outcome)
            next_status = ca.if_else(arrives, int(Status.ARRIVING), next_status)
        if self.flow.count:
            g = self.flow.guards(t, x, w, numbers)
            rate = ca.jtimes(g, ca.vertcat(x, t), ca.vertcat(self.flow.rhs(t, x, w, numbers), 1))
            looked_at = ca.Function("guards", [t, x, w, numbers], [ca.densify(g), ca.densify(rate)])
            trial, parts = ca.fmin(self.h, self.end - t), self.flow.size_machine.function(t, x, w, numbers)
            seen = look_function(self.flow.rhs, looked_at)(t, x, w, ca.vertcat(numbers, trial, *tolerances))
            suspect = _suspect(*seen[:2], trial / LOOKS, self.gates)
            next_status = ca.if_else(suspect, int(Status.SUSPECT), next_status)
            looked["guards"] = self.function("guards", self.short, ca.vertcat(g, rate))
            looked["sizes"] = self.function("sizes", self.short, ca.vertcat(*parts))
            looked["settle"] = self.function("settle", self.short, self.onto(t, x, w, self.p))
        if not looked:
            return functions
        waits = ca.logic_and(attempt.accepted, next_status != int(Status.GOING))
        watched = ca.if_else(going, ca.if_else(waits, ca.vertcat(V[:-1], next_status), outcome), V)
        return {**functions, **looked, "unwatched": functions["step"], "step": self.function("step", V, watched)}

    def _approach(self, approach: ca.Function, outcome: ca.SX) -> tuple[ca.Function, ca.SX]:
        """How a lane comes to zeros of square roots, from its rows x, t and the chosen roots; whether a step may."""
        n, chosen = self.x.numel(), ca.SX.sym("chosen", approach.nnz_out(2))

        def at(time: ca.SX, state: ca.SX) -> list[ca.SX]:
            return approach(time, state, self.w, ca.vertcat(self.numbers, self.rtol, self.atol, chosen))

        here = at(self.t, self.x)
        entered = entering(here[2], at(outcome[n], outcome[:n])[2], self.room >= GROW)
        return self.function("approach", ca.vertcat(self.short, chosen), ca.vertcat(*here)), ca.mmax(entered)

    def _outcome(self, attempt: Attempt) -> ca.SX:
        """The next V: the new state on the constraints, and what its speeds and masses ask for."""
        w, p, fixed = self.w, self.p, self.equations.formulation.fixed
        later, moved = attempt.later, self.onto(attempt.later, attempt.new, w, p)
        wishes, ends = [], []
        if self.restless:
            assert self.code.alarm is not None
            (_, side), (growth, other) = self.code.alarm(self.t, self.x, w, p), self.code.alarm(later, moved, w, p)
            # A step may jump over the place where speeds that were given are singular.
            good = ca.logic_and(growth < (SPEEDS_SINGULAR if fixed else self.calm), ca.logic_not(side * other < 0))
            wishes.append((ca.logic_not(good), Status.SINGULAR if fixed else Status.RESTLESS))
        if self.formulas:
            largest = ca.mmax(self.m0)
            held = ca.if_else(self.m0 > 0, self.m0, ca.if_else(largest > 0, largest, 1.0))
            low = ca.mmin(self.masses(later, moved) + OVERDRAWN * held)
            ends.append((low < 0, Status.MASS_GONE))
        for slopes in filter(None, (gradients.volume(self.equations), forks.volume(self.equations))):
            sizes = slopes(self.t, self.x, w, p), slopes(later, moved, w, p)
            span = ca.fmax(ca.fabs(later), self.end - self.t)
            ends.append((may_vanish(*sizes, later - self.t, span), Status.ALONE))
        return attempt.outcome(moved, self.stalled, self.made, self.most, wishes, ends)

    def _first(self) -> ca.SX:
        """Hairer's estimate of a first step."""
        x, scale = self.x, self.atol + self.rtol * ca.fabs(self.x)
        d0, d1 = ca.norm_2(x / scale), ca.norm_2(self.flow.rhs(self.t, x, self.w, self.numbers) / scale)
        unsure = ca.logic_or(ca.logic_or(d0 < 1e-5, d1 < 1e-5), ca.logic_not(d1 < HUGE))
        return ca.fmin(ca.if_else(unsure, 1e-6, 0.01 * d0 / d1), self.end - self.t)

    def masses(self, time: ca.SX, state: ca.SX) -> ca.SX:
        """The masses that must stay positive."""
        return ca.vertcat(*[self._value(f, time, state) for f in self.formulas])

    def table(self, columns: Sequence[ca.Function], family: tuple[int, ...]) -> ca.SX:
        """The columns of the table at the state on the constraints, in the modes of the lane where kinks decide."""
        t, w = self.t, self.w
        on = self.onto(t, self.x, w, self.p)

        def in_mode(f: ca.Function) -> ca.SX:
            count = len(self.equations.arguments)
            if f.n_in() > count + 1:
                return with_rates(f, self.code, self.flow)(t, on, w, self.numbers)
            accelerated = f.n_in() > count
            asked = self.modes.numel() and (accelerated or (family and has_kinks(f)))
            decided = in_modes(self.code, f, family) if asked else None
            return self._value(f, t, on) if decided is None else decided(t, on, w, self.numbers)

        return ca.densify(ca.vertcat(*[in_mode(f) for f in columns]))

    def _value(self, f: ca.Function, time: ca.SX, state: ca.SX) -> ca.SX:
        """A formula, which may contain accelerations, at a state."""
        equations, w, p = self.equations, self.w, self.p
        if f.n_in() == len(equations.arguments):
            return f(time, state, w, p)
        accelerations = ca.Function("accelerations", equations.arguments, [ca.densify(equations.qddot)])
        return f(time, state, w, p, accelerations(time, state, w, p))


def _suspect(values: ca.SX, rates: ca.SX, apart: ca.SX, gates: ca.SX) -> ca.SX:
    """Whether a guard may fall through zero, from guards and rates at places along a step, or a gate is closed.

    The rule of `Steps.first_crossings` with room for rounding; a guard that turns far from zero is none, but one that
    is not seen well enough is.
    """
    g, later, rate, later_rate = values[:, :-1], values[:, 1:], rates[:, :-1], rates[:, 1:]
    falls = ca.logic_and(g > -RESTING, later <= RESTING)
    near = ca.fmin(ca.fabs(g), ca.fabs(later)) <= 4 * apart * ca.fmax(ca.fabs(rate), ca.fabs(later_rate))
    turns = ca.logic_and(ca.logic_and((g > 0) == (later > 0), rate * later_rate < 0), near)
    unclear = ca.mmax(excess_graph(values, rates, apart)) > RESTING_ANYWAY
    return ca.logic_or(ca.logic_or(ca.mmin(gates) < 1, unclear), ca.mmax(ca.logic_or(falls, turns)))
