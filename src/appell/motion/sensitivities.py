r"""Sensitivities: how a motion changes with parameters, with inputs that are held, and with the values it began with.

Along a smooth stretch x' = f(t, x, theta) the slopes S = dx/dtheta obey the variational equations, and where a guard g
falls through zero its moment tau moves with them (Filippov's saltation, with whatever reset R there is):

    S' = f_x S + f_theta,    tau_theta = -(g_x S + g_theta) / g',
    S+ = R_x (S- + f- tau_theta) + R_t tau_theta + R_theta - f+ tau_theta.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np
import sympy as sp

from appell.code.code import Code
from appell.code.state import State, names_of
from appell.errors import IntegrationError, ModelError
from appell.graph.numeric import SideBySide
from appell.model.symbols import Letter, key, listed
from appell.model.values import formula_of, unknown
from appell.motion.formula import formula_function, with_rates
from appell.motion.leg import BROKEN, Leg, Task, pieced
from appell.motion.method import LOOSE, Method
from appell.motion.modes import as_it_slides
from appell.motion.reset import Reset
from appell.motion.stretch import Stretch
from appell.motion.variation import Seeds, converting, crossing, flow_of, pushing, variational
from appell.motion.varied import Varied, first_slopes, varied

if TYPE_CHECKING:
    from appell.motion.motion import Motion

TAKEN = ("by", "t", "event", "event_time")  # names of axes and of slopes of moments
STEPS = 1_000_000  # of the variational equations in one stretch
TOUCHED, LOOKS = 1e-13, 9  # share of a guard by which it passes zero, to be told from a touch; where it is looked at
JUMPED = 1e-6  # share of the state by which it must jump to count
DIFFERENCE = 1e-3  # share of the state by which it is moved for the slope of a reset that rows bind


def sensitivities(motion: Motion, by: Any, of: Any = None) -> Any:
    """The slopes of quantities along a motion, and of the moments of its events, as an xarray Dataset."""
    import xarray

    if not motion.stretches:
        raise ModelError("A file keeps only the table of a motion; simulate again for its sensitivities.")
    columns = [varied(motion, name) for name in listed(by)]
    labels = [column.label for column in columns]
    if not labels or len(set(labels)) < len(labels):
        raise ModelError(f"Name what is varied, each once, such as motion.sensitivities([l, angle]); got {labels}.")
    wanted = dict(_quantity(motion, e) for e in (names_of(motion.system.model) if of is None else listed(of)))
    if taken := [name for name in wanted if name in TAKEN]:
        raise ModelError(f"{taken[0]!r} is a name that a table of slopes needs for itself ({', '.join(TAKEN)}).")
    course = _Course(motion, columns, first_slopes(motion, columns))
    values = course.slopes(list(wanted.values()))
    data = {name: (("by", "t"), values[:, i].T) for i, name in enumerate(wanted)}
    moments = [(o.name, o.t, course.moments[o.t]) for o in motion.occurrences if o.t in course.moments]
    data["event_time"] = (("by", "event"), np.array([m[2] for m in moments]).reshape(-1, len(labels)).T)
    axes = {"by": labels, "t": ("t", motion.times, {"units": "s"}), "event": [m[0] for m in moments]}
    return xarray.Dataset(data, axes, {"model": motion.info["model"]})


def transition(motion: Motion, directions: np.ndarray) -> np.ndarray:
    """How the state (q, u, z) at the end of a motion moves with that at its beginning, in the speeds of the beginning.

    Args:
        motion: The motion.
        directions: In which the state at the beginning moves, along the constraints; one in each column.
    """
    columns = [Varied(f"direction {j}", "x", j) for j in range(directions.shape[1])]
    states = motion.stretches[0].code.equations.states
    return _Course(motion, columns, directions).slopes(list(states))[-1]


def _quantity(motion: Motion, name: Any) -> tuple[str, sp.Expr]:
    """A quantity by name, symbol or formula: its label and what it is."""
    if isinstance(name, sp.Basic) and not isinstance(name, Letter):
        return str(name), formula_of(name, "What is asked for")
    equations, label = motion.system.equations, key(name)
    model = equations.model
    letters = (*model.coordinates, *(q.rate for q in model.coordinates), *model.states, *equations.speeds)
    known = {s.label: s for s in (*letters, *equations.quasi_velocities, *model.inputs)}
    if not isinstance(name, Letter) and label not in known:
        raise ModelError(unknown(label, list(known), f"quantity of {model.name!r}"))
    return label, known.get(label, name)


class _Course:
    """The slopes of a motion, stretch by stretch.

    Args:
        motion: The motion.
        columns: What is varied.
        S: How the first state changes with it.

    Attributes:
        moments: Slopes of the moments at which guards fell, by moment.
    """

    def __init__(self, motion: Motion, columns: Sequence[Varied], S: np.ndarray) -> None:
        if motion.info["law"] == "state":
            raise ModelError(
                "A Python control gave the inputs of this motion, and its slopes are not known; give the feedback as "
                "formulas, inputs={tau: -k * angle}."
            )
        self.motion, self.columns = motion, columns
        self.where = tuple((column.kind, column.place) for column in columns)
        self.sizes = np.array([column.size for column in columns])
        self.moments: dict[float, np.ndarray] = {}
        self._legs: list[list[Leg]] = []
        for stretch, after in zip(motion.stretches, (*motion.stretches[1:], None), strict=True):
            self._legs.append(self._along(stretch, S))
            S = self._legs[-1][-1].final[stretch.final.size :].reshape(S.shape, order="F")
            tau = self._moment(stretch, S)
            if stretch.guard >= 0:
                self.moments[float(stretch.times[-1])] = tau / self.sizes
            if after is not None:
                S = self._across(stretch, after, S, tau)

    def slopes(self, formulas: list[Any]) -> np.ndarray:
        """Slopes of formulas at the times of the table: shape (times, formulas, columns)."""
        motion, times = self.motion, self.motion.times
        result = np.empty((times.size, len(formulas), len(self.columns)))
        legs = dict(zip(map(id, motion.stretches), self._legs, strict=True))
        made: dict[tuple[Code, tuple[int, ...]], SideBySide] = {}
        for stretch, here in motion.located(times):
            way = stretch.code, stretch.family
            if way not in made:
                made[way] = SideBySide(self._slopes_of(stretch, formulas))
            t, w = times[here], motion.open_inputs(stretch, times[here])
            x, S = motion.sample(stretch, t), self._sampled(legs[id(stretch)], stretch, t)
            result[here] = made[way](here.size, t[:, None], x.T, w, self._numbers(stretch), S)[0]
        return result / self.sizes

    def _sampled(self, legs: list[Leg], stretch: Stretch, times: np.ndarray) -> np.ndarray:
        """S at some times of a stretch, a row each."""
        n, starts = stretch.final.size, np.array([leg.times[0] for leg in legs])
        within = np.clip(times, stretch.times[0], stretch.times[-1])
        return pieced(starts, [leg.dense for leg in legs], n * (1 + len(self.columns)), within)[n:].T

    def _numbers(self, stretch: Stretch) -> np.ndarray:
        """Parameters, modes, and what changes are measured in."""
        return np.concatenate([stretch.p, self.sizes])

    def _inputs(self, stretch: Stretch, t: float) -> np.ndarray:
        return self.motion.open_inputs(stretch, np.array([t]))[0]

    # Along.

    def _along(self, stretch: Stretch, S: np.ndarray) -> list[Leg]:
        """The variational equations over one stretch, beside the motion itself."""
        motion, law = self.motion, self.motion.law
        t, end = float(stretch.times[0]), float(stretch.times[-1])
        X = np.concatenate([stretch.dense(stretch.times[:1])[:, 0], S.ravel(order="F")])
        method, state = _method(motion), State(motion.system.model, motion.states(stretch.times[:1])[0], t)
        legs: list[Leg] = []
        while t < end or not legs:
            task = Task(
                flow=variational(flow_of(stretch), self.where),
                t0=t,
                x0=X,
                t1=max(end, np.nextafter(t, np.inf)),
                w=stretch.w,
                p=self._numbers(stretch),
                rtol=None,
                atol=None,
                watch=lambda t, x: False,
                gates=np.ones(0, dtype=bool),
                limits=np.zeros(0),
                max_steps=STEPS,
                idle=True,
                drive=None if law is None else lambda t, x: law(t, state),
            )
            leg = method.integrate(task)
            legs.append(leg)
            if leg.end in BROKEN or not leg.times[-1] > t:
                raise IntegrationError(
                    f"The sensitivities could not be followed beyond t = {leg.times[-1]:.9g} ({leg.end.name}): the "
                    "motion has no slope there, or they grow without bound."
                )
            t, X = float(leg.times[-1]), leg.final
        return legs

    def _slopes_of(self, stretch: Stretch, formulas: list[Any]) -> ca.Function:
        """Slopes of formulas as a function of t, x, w, (p, s, sizes) and S."""
        code = stretch.code
        t, x, w, P = arguments = flow_of(stretch).rhs.sx_in()
        found = []
        for formula in formulas:
            function = formula_function(code.equations, formula)
            if function.n_in() > len(arguments):
                function = with_rates(function, code, stretch.flow)
            else:
                function = as_it_slides(code, function, stretch.family)
            found.append(function(t, x, w, P[: function.nnz_in(3)]))
        seeds = Seeds(self.where, arguments)
        result = seeds.pushed(ca.vertcat(*found))
        return ca.Function("slopes", [t, x, w, seeds.numbers, ca.vec(seeds.S)], [ca.densify(result)], {"cse": True})

    # Across.

    def _moment(self, stretch: Stretch, S: np.ndarray) -> np.ndarray:
        """Slopes of the moment at which a stretch ends: none where it is the same for all."""
        if stretch.guard < 0:
            return np.zeros(len(self.columns))
        t, flow = float(stretch.times[-1]), flow_of(stretch)
        arguments = flow.rhs.sx_in()
        if self.motion.law is not None and ca.depends_on(flow.guards(*arguments)[stretch.guard], arguments[2]):
            raise ModelError(
                f"An event at t = {t:.9g} looks at an input that a Python function gives, whose rate is not known."
            )
        found = crossing(flow, self.where)(t, stretch.final, self._inputs(stretch, t), self._numbers(stretch), S)
        rate, bend, slopes = (np.array(e)[stretch.guard] for e in found)
        if not rate[0] ** 2 > 2 * TOUCHED * abs(bend[0]) * self._reach(stretch):
            raise IntegrationError(
                f"At t = {t:.9g} an event is only touched, or its formula is flat there, so that its moment has no "
                "slope; let the motion end before."
            )
        return -slopes / rate[0]

    def _reach(self, stretch: Stretch) -> float:
        """How large the guard that ended a stretch has been in it."""
        times = np.linspace(stretch.times[0], stretch.times[-1], LOOKS)
        x, w = self.motion.sample(stretch, times), self.motion.open_inputs(stretch, times)
        g = flow_of(stretch).guard_machine.side_by_side(LOOKS, times[:, None], x.T, w, stretch.p)[0]
        return float(np.max(np.abs(g[:, stretch.guard])))

    def _across(self, before: Stretch, after: Stretch, S: np.ndarray, tau: np.ndarray) -> np.ndarray:
        """S where one stretch follows another."""
        if before.guard < 0 and before.code is after.code:
            return S
        t, x, p = float(before.times[-1]), before.final, self.motion.system.p
        w, there = self._inputs(before, t), after.dense(after.times[:1])[:, 0]
        S = S + np.outer(flow_of(before).machine.flat(t, x, w, before.p), tau)
        for event in before.resets:
            x, S = self._reset(Reset(before.code, event), t, x, w, S, tau)
        if before.code is not after.code:
            found = converting(before.code, after.code, self.where)(t, x, w, np.append(p, self.sizes), S, tau)
            x, S = np.array(found[0])[:, 0], np.array(found[1])
        if not np.allclose(x, there, rtol=JUMPED, atol=JUMPED):
            raise IntegrationError(
                f"At t = {t:.9g} velocities jump by an impulse, beyond which sensitivities are not known; let the "
                "motion end before."
            )
        return S - np.outer(flow_of(after).machine.flat(t, there, self._inputs(after, t), after.p), tau)

    def _reset(
        self, reset: Reset, t: float, x: np.ndarray, w: np.ndarray, S: np.ndarray, tau: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """x and its slopes behind an event: straight from its graph, or by differences where rows bind it."""
        p = self.motion.system.p
        if reset.plain:
            found = pushing(reset.function, self.where)(t, x, w, np.append(p, self.sizes), S, tau)
            return np.array(found[0])[:, 0], np.array(found[1])
        columns = []
        for j, (kind, place) in enumerate(self.where):
            dp, dw = np.zeros_like(p), np.zeros_like(w)
            if kind != "x":
                {"p": dp, "w": dw}[kind][place] = self.sizes[j]
            h = DIFFERENCE / max(np.max(np.abs(S[:, j]) / (1 + np.abs(x))), abs(tau[j]), 1.0)
            one, two = (
                reset(t + k * h * tau[j], x + k * h * S[:, j], w + k * h * dw, p + k * h * dp)
                - reset(t - k * h * tau[j], x - k * h * S[:, j], w - k * h * dw, p - k * h * dp)
                for k in (1, 2)
            )
            columns.append((8 * one - two) / (12 * h))
        return reset(t, x, w, p), np.array(columns).T


def _method(motion: Motion) -> Method:
    """By what the variational equations are integrated: as stiff ones if the motion was."""
    name = motion.info["method"]
    if motion.law is not None:
        return Method(name if name in LOOSE - {"cvodes"} else "DOP853", "")
    return Method("cvodes" if name in ("cvodes", "Radau", "BDF", "LSODA") else "dop853", "")
