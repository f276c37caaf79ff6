"""The equations of a system evaluated along a course, and integrated against test functions."""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np

from appell.analysis.course import Course
from appell.analysis.residual import residual_along
from appell.code.code import Code
from appell.code.fitting import fitting_code
from appell.code.state import State
from appell.code.system import System
from appell.errors import FormulationError
from appell.model.symbols import Rate

NODES = 16  # Chebyshev nodes of a panel
FLOOR = 1e-4  # scales smaller than this share of the largest are taken for it: what is left there is rounding


def _chebyshev(count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Nodes of the first kind on (-1, 1), Fejer's weights, matrices of the derivative and of the values at -1 and 1."""
    angles = (np.arange(count)[::-1] + 0.5) * np.pi / count
    nodes = np.cos(angles)
    even = np.arange(1, count // 2 + 1)
    weights = 2 / count * (1 - 2 * np.sum(np.cos(2 * np.outer(angles, even)) / (4 * even**2 - 1), axis=1))
    signs = (-1.0) ** np.arange(count) * np.sin(angles)
    gaps = nodes[:, None] - nodes[None, :] + np.eye(count)
    derivative = signs[None, :] / signs[:, None] / gaps
    derivative -= np.diag(np.sum(derivative, axis=1))
    edge = signs[None, :] / (np.array([[-1.0], [1.0]]) - nodes[None, :])
    return nodes, weights, derivative, edge / np.sum(edge, axis=1, keepdims=True)


class Walk:
    """The equations evaluated along a course: residuals at the nodes of every panel.

    Args:
        system: The system.
        course: The motion.
    """

    def __init__(self, system: System, course: Course) -> None:
        self.system, self.course = system, course
        nodes, weights, self.derivative, self.edge = _chebyshev(NODES)
        starts = np.concatenate([edges[:-1] for edges in course.pieces])
        ends = np.concatenate([edges[1:] for edges in course.pieces])
        self.edges = np.stack([starts, ends], axis=1)
        self.half = (ends - starts) / 2
        self.times = (starts + ends)[:, None] / 2 + self.half[:, None] * nodes
        self.weights = self.half[:, None] * weights
        table, inputs = course.look(self.times.ravel())
        self.q, self.v, self.z = (e.reshape(*self.times.shape, -1) for e in course.parts(table))
        self.w = inputs.reshape(*self.times.shape, -1)
        self._evaluate(self._codes())

    def rate(self, values: np.ndarray) -> np.ndarray:
        """Time derivative of values at the nodes, panel by panel."""
        return np.einsum("ij,kjc->kic", self.derivative, values) / self.half[:, None, None]

    def _codes(self) -> list[Code]:
        """For each panel the code whose speeds fit there."""
        code, found = self.system.code, []
        for k in range(self.half.size):
            place = np.concatenate([self.q[k, 0], self.v[k, 0], self.z[k, 0]])
            state = State(self.system.model, place, float(self.times[k, 0]))
            code = fitting_code(code, state, self.system.p)
            found.append(code)
        return found

    def _evaluate(self, codes: list[Code]) -> None:
        self.q_rate, self.z_rate = self.rate(self.q), self.rate(self.z)
        used = list(dict.fromkeys(codes))
        outputs: list[np.ndarray] = []
        for code in used:
            here = np.array([k for k, c in enumerate(codes) if c is code])
            time, p = self.times[here].reshape(1, -1), np.repeat(self.system.p[:, None], here.size * NODES, axis=1)
            q, v, z, w = (_flat(e[here]) for e in (self.q, self.v, self.z, self.w))
            u = np.array(code.speeds.function.map(time.size)(time, q, v, z, p)).reshape(-1, here.size, NODES)
            u_rate = np.einsum("ij,ckj->cki", self.derivative, u) / self.half[here][None, :, None]
            x = np.vstack([q, u.reshape(-1, time.size), z])
            rates = np.vstack([_flat(self.q_rate[here]), u_rate.reshape(-1, time.size), _flat(self.z_rate[here])])
            found = residual_along(code.equations).map(time.size)(time, x, rates, w, p)
            if not outputs:
                outputs = [np.zeros((*self.times.shape, out.shape[0])) for out in found]
            for out, value in zip(outputs, found, strict=True):
                out[here] = np.array(value).reshape(-1, here.size, NODES).transpose(1, 2, 0)
        self.residual, self.size, self.thrust, self.zdot = outputs
        letters = [[_speed_name(s) for s in code.equations.unknowns] for code in used]
        self.speeds = tuple(" or ".join(dict.fromkeys(column)) for column in zip(*letters, strict=True))
        bad = ~np.all(np.isfinite(self.residual), axis=2)
        if np.any(bad):
            raise FormulationError(
                f"The equations of {self.system.model.name!r} are not finite at t = {self.times[bad][0]:.6g}: the "
                f"speeds {', '.join(self.speeds)} are dependent there, or a force is singular."
            )

    def _integral(self, values: np.ndarray, factor: np.ndarray) -> np.ndarray:
        return np.einsum("ki,ki,kic->c", self.weights, factor, values)

    def free(self, slopes: list[Any]) -> tuple[np.ndarray, np.ndarray]:
        """-int rho w' dt, and the same with all terms positive."""
        primes = [slope(self.times) for slope in slopes]
        value = [-self._integral(self.residual, prime) for prime in primes]
        return np.array(value), np.array([self._integral(self.size, np.abs(prime)) for prime in primes])

    def fixed(self, w: list[Any], slopes: list[Any]) -> tuple[np.ndarray, np.ndarray]:
        """-int (R_Pid w' + Phi*' w) dt and its scale; where Phi* jumps (a stream ends) the jump is part of its rate."""
        R, rate = self.residual + self.thrust, self.rate(self.thrust)
        ends = np.einsum("ej,kjc->kec", self.edge, self.thrust) * np.array([1.0, -1.0])[:, None]
        value, scale = [], []
        for function, slope in zip(w, slopes, strict=True):
            at, prime = function(self.times), slope(self.times)
            jumps = np.einsum("ke,kec->c", function(self.edges), ends)
            value.append(-self._integral(R, prime) - self._integral(rate, at) - jumps)
            scale.append(self._integral(self.size, np.abs(prime)) + self._integral(np.abs(rate), np.abs(at)))
        return np.array(value), np.array(scale)

    def kinematics(self, slopes: list[Any]) -> float:
        """By what share dq/dt misses q' and dz/dt its formula, against the tests."""
        values = np.concatenate([self.q, self.z], axis=2)
        missed = np.concatenate([self.q_rate - self.v, self.z_rate - self.zdot], axis=2)
        span = np.sum(2 * self.half)
        size = np.concatenate([np.abs(self.v), np.abs(self.zdot)], axis=2) + np.abs(values) / span
        primes = [slope(self.times) for slope in slopes]
        value = np.array([self._integral(missed, prime) for prime in primes])
        scale = np.array([self._integral(size, np.abs(prime)) for prime in primes])
        return float(np.max(share(value, scale), initial=0.0))

    def constraints(self) -> dict[str, float]:
        """The largest residual of each row along the motion."""
        mechanics, p = self.system.equations.mechanics, self.system.p
        if not mechanics.row_names:
            return {}
        x = mechanics.variables
        e, J = ca.SX(mechanics.e), ca.jacobian(mechanics.e, x.v)
        for k, i in enumerate(mechanics.acceleration_rows):
            e[i], J[i, :] = mechanics.f[k], ca.jacobian(mechanics.f[k], mechanics.a)
        slope = ca.jacobian(mechanics.c, x.q)
        c = mechanics.c / ca.fmax(1, ca.fabs(slope) @ ca.fabs(x.q))
        sizes = [
            ca.fabs(J[i, :]) @ ca.fabs(mechanics.a if i in mechanics.acceleration_rows else x.v)
            for i in range(e.numel())
        ]
        e = e / ca.fmax(1, ca.vertcat(*sizes))
        rows = ca.Function("rows", [x.t, x.q, x.v, x.z, mechanics.a, x.p], [ca.densify(c), ca.densify(e)])
        flat = [_flat(e) for e in (self.q, self.v, self.z, self.rate(self.v))]
        count = self.times.size
        found = rows.map(count)(self.times.reshape(1, -1), *flat, np.repeat(p[:, None], count, axis=1))
        c, e = (np.abs(np.array(out)).reshape(-1, count) for out in found)
        found = {mechanics.row_names[i]: float(np.max(c[k])) for k, i in enumerate(mechanics.position_rows)}
        for i, name in enumerate(mechanics.row_names):
            found[name + ".rate" if i in mechanics.position_rows else name] = float(np.max(e[i]))
        return found


def share(value: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """|value| / scale, row by row."""
    least = np.maximum(FLOOR * np.max(scale, axis=1, keepdims=True, initial=0.0), 1e-300)
    return np.abs(value) / np.maximum(scale, least)


def _flat(values: np.ndarray) -> np.ndarray:
    """(panels, nodes, entries) as (entries, panels * nodes)."""
    return values.reshape(values.shape[0] * values.shape[1], values.shape[2]).T


def _speed_name(unknown: Any) -> str:
    """The speed whose rate an unknown is; quasi-accelerations keep their own name."""
    if not isinstance(unknown, Rate):
        return str(unknown)
    return str(unknown.base if unknown.order == 1 else unknown.base.derivative(unknown.order - 1))
