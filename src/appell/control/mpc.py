"""Model predictive control: the next inputs of the best plan over a short horizon, within their limits."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import casadi as ca
import numpy as np
import sympy as sp
from scipy.linalg import block_diag

from appell.code.machine import Machine
from appell.control.inverse_dynamics import InverseDynamics, allowed
from appell.control.laws import AbstractTracker, gains
from appell.control.limits import bounds
from appell.control.many import classical_step
from appell.control.reference import SLACK, Point, Reference
from appell.control.riccati import discrete_riccati
from appell.errors import ModelError
from appell.formulation.derive import derive
from appell.formulation.multipliers import Multipliers
from appell.kinematics.consistency import project_positions, project_velocities
from appell.model.model import Model
from appell.model.symbols import Coordinate, Input, Rate, letters_in
from appell.model.values import whole

STEPS = 10  # of Gauss and Newton, from which the first plan is made
PARTS = 0.5 ** np.arange(6)  # of a step that are tried where the whole of it makes the plan worse


class MPC(AbstractTracker):
    r"""Model predictive tracking: at every sample the inputs of least cost over the horizon; the first is applied.

    $$ \min_w \sum_{k=1}^{N} \|x_k - \hat x_k\|_W^2 + \sum_{k=0}^{N-1}\|w_k - \hat w_k\|_R^2, \qquad
       x_{k+1} = \phi(x_k, w_k),\quad \underline w \le w_k \le \overline w $$
    with $\phi$ one Runge-Kutta step of the model and $\hat w$ the inputs that the reference itself needs, or with fewer
    inputs than degrees of freedom (a cart with a pole, a ball on a beam) those that come nearest. Then the last term is
    the cost to go of the linear regulator at the end of the horizon, and the plan is predicted under its gains. One
    Gauss-Newton step is taken at each sample from the shifted plan of the last one (real-time iteration), or as much of
    it as makes the plan better; its quadratic programme is condensed to the inputs and solved by CasADi.

    Args:
        model: The mechanism as the controller knows it; constraints are kept by multipliers in the prediction, and
            extra states that go their own way, as a tank that drains, hold over it the values that they have.
        position: Weights of the coordinates: a number for all, a list, or numbers by name (zero for the others).
        velocity: Weights of the rates, likewise, by the names of the coordinates.
        effort: Weights of the inputs, as deviations from what the reference needs.
        horizon: N, samples ahead.
        limits: Of the inputs: a number for all, or by name or symbol a number or a pair (lowest, highest).
        values: Numbers for the model's parameters, and for inputs that it does not command.

    Reference: Diehl, Bock and Schloder 2005 (real-time iteration).
    """

    sampled = True

    def __init__(
        self,
        model: Model,
        position: Any = 1e3,
        velocity: Any = 10.0,
        effort: Any = 1e-3,
        horizon: int = 20,
        limits: Any = None,
        values: Mapping[Any, float] | None = None,
    ) -> None:
        self.dynamics = InverseDynamics(model, values)
        if moved := [z.label for z, rate in model.states.items() if _follows_the_motion(rate)]:
            raise ModelError(
                f"MPC holds extra states over its horizon; {', '.join(moved)} of {model.name!r} depend on the motion "
                "or on inputs. Give it a model with the same inputs without them, such as motors with inductance=0, or "
                "joints without friction."
            )
        n, m = len(model.coordinates), len(self.dynamics.labels)
        self.N, self.n, self.m = whole("The horizon, in samples,", horizon), n, m
        names, weights = [q.label for q in model.coordinates], {"position": position, "velocity": velocity}
        self.W = np.sqrt(np.concatenate([gains(e, names, what, all_named=False) for what, e in weights.items()]))
        self.R = np.sqrt(gains(effort, self.dynamics.labels, "effort"))
        if not np.all(self.R > 0):
            raise ModelError("Every input needs a positive weight in effort=, or the plan is not unique.")
        self.low, self.high = bounds(limits, self.dynamics.labels)
        equations = derive(model)
        self._few = m < len(equations.unknowns)
        self._rhs = derive(model, Multipliers()).rhs if model.rows else equations.rhs
        size = self.N * m
        H = ca.Sparsity.dense(size, size)
        self._solver: Callable[..., Any] = ca.conic(
            "mpc",
            "qrqp",
            {"h": H},
            {"print_iter": False, "print_header": False, "print_info": False, "error_on_fail": False},
        )
        self._step: Machine | None = None
        self._held = np.zeros(len(model.states))
        self._known: tuple[np.ndarray, tuple[np.ndarray | None, np.ndarray]] | None = None

    def reset(self, step: float | None) -> None:
        """Compile the prediction for the time between samples."""
        if not step:
            raise ModelError("MPC is sampled: give rate= to track.")
        self.dt, self.plan, self._course, self._known = step, None, None, None
        t, p, z = ca.SX.sym("t"), ca.SX.sym("p", self.dynamics.p.size), ca.SX.sym("z", len(self.dynamics.model.states))
        x, w = ca.SX.sym("x", 2 * self.n), ca.SX.sym("w", self.m)
        all_inputs = self.dynamics.all_inputs(w)

        def rate(i: int, x: ca.SX) -> ca.SX:
            return self._rhs(t + i * step / 2, ca.vertcat(x, z), all_inputs, p)[: 2 * self.n]

        after = classical_step(rate, x, step)
        results = [after, ca.jacobian(after, x), ca.jacobian(after, w)]
        self._step = Machine(
            ca.Function("step", [t, x, w, z, p], [ca.densify(e) for e in results], {"cse": True}), simd=False
        )

    def horizon(self, t: float) -> np.ndarray:
        """The times of the prediction."""
        return t + self.dt * np.arange(self.N + 1)

    def ahead(self, course: Reference, t: float, until: float) -> Point:
        """The reference at the times of the prediction.

        A run that goes on behind the end of its reference is to stand still there. One that is over by then is not:
        the reference is continued at its last velocity, along the constraints, so that nothing brakes at the end.

        Args:
            course: The reference.
            t: The time.
            until: Where the run ends.
        """
        times = self.horizon(t)
        q, v, a = course.at(times)
        if until > course.end + SLACK:
            return q, v, a
        mechanics, p = self.dynamics.mechanics, self.dynamics.p
        here, (place, velocity, _) = course.end, course(course.end)
        for k in np.flatnonzero(times > course.end + SLACK):
            step = times[k] - here
            place = project_positions(mechanics, times[k], place + step * velocity, p)[0]
            turned = project_velocities(mechanics, times[k], place, velocity, self._held, p)[0]
            q[k], v[k], a[k] = place, turned, (turned - velocity) / step
            here, velocity = times[k], turned
        return q, v, a

    @np.errstate(over="ignore", invalid="ignore")  # a prediction that ends nowhere is not taken
    def inputs(self, t: float, q: np.ndarray, v: np.ndarray, z: np.ndarray, reference: Point) -> np.ndarray:
        """The first inputs of the plan; the reference has one row for each time of the horizon."""
        (qh, vh, ah), self._held = reference, z
        times = self.horizon(t)
        needed = np.array([self.dynamics.inputs_for(times[k], qh[k], vh[k], z, ah[k], True) for k in range(self.N)])
        wanted = np.hstack([qh, vh])[1:]
        plan = np.clip(needed if self.plan is None else np.vstack([self.plan[1:], needed[-1:]]), self.low, self.high)
        K, beyond = None, np.diag(self.W)
        if self._few:
            K, beyond = self._regulator(times[-1], wanted[-1], needed[-1], z)
        course = np.hstack([qh, vh])[:-1] if self._course is None else self._course
        x, weights = np.concatenate([q, v]), block_diag(*[np.diag(self.W)] * (self.N - 1), beyond)
        effort = np.tile(self.R, self.N)

        def left(plan: np.ndarray, states: np.ndarray, _: Any) -> np.ndarray:
            return np.concatenate([weights @ (wanted - states).ravel(), effort * (needed - plan).ravel()])

        found = self._predict(x, plan, times, K, course)
        if K is not None and not np.all(np.isfinite(weights @ found[2])):  # gains that throw what is so far away
            K, found = None, self._predict(x, plan, times, None, course)
        for _ in range(STEPS if self.plan is None else 1):
            (plan, states, slopes), b = found, left(*found)
            A = np.vstack([weights @ slopes, np.diag(effort)])
            if not np.all(np.isfinite(A.T @ A)):
                break
            lower, upper = (self.low - plan).ravel(), (self.high - plan).ravel()
            change = np.array(self._solver(h=A.T @ A, g=-A.T @ b, lbx=lower, ubx=upper)["x"])[:, 0]
            for part in PARTS:
                trial = np.clip(plan + part * change.reshape(plan.shape), self.low, self.high)
                course = np.vstack([x, (states + part * (slopes @ change).reshape(states.shape))[:-1]])
                found = self._predict(x, trial, times, K, course)
                if np.sum(left(*found) ** 2) < np.sum(b**2):  # what is no number is not smaller
                    break
            else:
                found = plan, states, slopes
                break
        self.plan, self._course, _ = found
        return self.plan[0]

    def _predict(
        self, x: np.ndarray, plan: np.ndarray, times: np.ndarray, K: np.ndarray | None, course: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The plan, held to its course by gains if there are any; states, and their derivatives by all its inputs."""
        assert self._step is not None
        size, plan = 2 * self.n, plan.copy()
        states, slopes = np.empty((self.N, size)), np.zeros((self.N * size, self.N * self.m))
        carried = np.zeros((size, self.N * self.m))
        for k in range(self.N):
            if K is not None:
                plan[k] = np.clip(plan[k] - K @ (x - course[k]), self.low, self.high)
            after, A, B = self._step(times[k], x, plan[k], self._held, self.dynamics.p)
            carried = A @ carried
            carried[:, k * self.m : (k + 1) * self.m] = B
            x = after[:, 0]
            states[k], slopes[k * size : (k + 1) * size] = x, carried
        return plan, states, slopes

    def _regulator(self, t: float, x: np.ndarray, w: np.ndarray, z: np.ndarray) -> tuple[np.ndarray | None, np.ndarray]:
        """Gains of the linear regulator about a point, if there is one, and a root of its cost to go."""
        assert self._step is not None
        _, A, B = self._step(t, x, w, self._held, self.dynamics.p)
        if self._known is not None and np.array_equal(self._known[0], np.hstack([A, B])):
            return self._known[1]  # a reference that stands
        self._known = np.hstack([A, B]), self._regulated(t, x, z, A, B)
        return self._known[1]

    def _regulated(
        self, t: float, x: np.ndarray, z: np.ndarray, A: np.ndarray, B: np.ndarray
    ) -> tuple[np.ndarray | None, np.ndarray]:
        """The same for the derivatives of a step, along what the constraints allow."""
        n, rows = self.n, self.dynamics.rows
        J = self.dynamics.matrices(t, x[:n], x[n:], z)[3]
        positions = [i for i in rows if i in self.dynamics.mechanics.position_rows]
        E = block_diag(*(allowed(J[list(e)], len(e)) for e in (positions, rows)))
        A, B, Q, R = E.T @ A @ E, E.T @ B, E.T @ np.diag(self.W**2) @ E, np.diag(self.R**2)
        try:
            P = discrete_riccati(A, B, Q, R)
        except (np.linalg.LinAlgError, ValueError):
            return None, np.diag(self.W)
        K = np.linalg.solve(R + B.T @ P @ B, B.T @ P @ A)
        sizes, axes = np.linalg.eigh(P)
        return K @ E.T, np.sqrt(np.maximum(sizes, 0.0))[:, None] * axes.T @ E.T


def _follows_the_motion(rate: Any) -> bool:
    """Whether the rate of an extra state contains coordinates, rates or inputs."""
    return any(isinstance(s, Coordinate | Rate | Input) for s in letters_in(sp.sympify(rate)))
