"""Laws that make a mechanism follow a reference: computed torque with PD or PID, and Slotine and Li's adaptive one."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar

import casadi as ca
import numpy as np

from appell.code.machine import Machine
from appell.control.inverse_dynamics import InverseDynamics
from appell.control.reference import Point
from appell.errors import ModelError
from appell.model.model import Model
from appell.model.symbols import Coordinate
from appell.model.values import check_kind, chosen, numbers, unknown
from appell.motion.flow import RESTING


class AbstractTracker(ABC):
    """A law for the inputs from the state and the reference.

    Attributes:
        sampled: Whether it remembers something between samples, so that it needs a rate.
    """

    sampled: ClassVar[bool] = False
    dynamics: InverseDynamics

    def __repr__(self) -> str:
        commanded = ", ".join(self.dynamics.labels)
        return f"{type(self).__name__} of {self.dynamics.model.name!r} by {commanded}{' at samples' * self.sampled}"

    @property
    def followed(self) -> tuple[Coordinate, ...]:
        """The coordinates that follow the reference."""
        return self.dynamics.model.coordinates

    @abstractmethod
    def reset(self, step: float | None) -> None:
        """Forget; `step` is the time between samples."""

    @abstractmethod
    def inputs(self, t: float, q: np.ndarray, v: np.ndarray, z: np.ndarray, reference: Point) -> np.ndarray:
        """The inputs, in the order of `dynamics.labels`."""


def gains(given: Any, names: Sequence[str], what: str, all_named: bool = True) -> np.ndarray:
    """A number that is not negative for each name: one for all, a list, or by name.

    Args:
        given: What was given.
        names: What it was given for.
        what: What it is called in messages.
        all_named: Whether every name must be there; else those that are not count as zero.
    """
    n = len(names)
    if isinstance(given, Mapping):
        read = numbers(given)
        for name in read:
            if name not in names:
                raise ModelError(unknown(name, names, f"name that {what} could be given for"))
        missing = [name for name in names if name not in read]
        if missing and all_named:
            raise ModelError(f"{what} says nothing about {', '.join(missing)}; give a number for each name.")
        given = [read.get(name, 0.0) for name in names]
    try:
        values = np.asarray(given, dtype=float)
    except (TypeError, ValueError):
        values = np.array(np.nan)
    if values.shape not in ((), (n,)) or not np.all(np.isfinite(values)) or np.any(values < 0):
        raise ModelError(
            f"{what} must be a number that is not negative, or {n} of them, in a list or by name; got {given!r}."
        )
    return np.broadcast_to(values, (n,)).astype(float)


class ComputedTorque(AbstractTracker):
    r"""Computed torque with PD, $\tau = M(q)u + b(q,\dot q) + g(q)$, $u = \ddot{\hat q} - 2\delta\dot e - \delta^2 e$.

    With $e = q - \hat q$ the error obeys $\ddot e + 2\delta\dot e + \delta^2 e = 0$ if the model is the plant. Friction
    of the model is compensated: at the velocity of a joint or, if it stands still, at its reference velocity.

    Args:
        model: The mechanism as the controller knows it, with inputs.
        rates: delta, a number or one for each coordinate, in a list or by name.
        integral: Gain k_i of an integral of the error in u, likewise; then the law must be sampled.
        values: Numbers for the model's parameters, its own where left out, and for inputs that it does not command.
        joints: The coordinates that follow, as many as there are inputs at most, while the others move as they must:
            the base of a robot in space, the leg that a walker stands on. All if left out; their order is the model's.

    Reference: Jarzebowska et al., eqs. (3.1)-(3.4); Spong 1994 (some joints only).
    """

    def __init__(
        self,
        model: Model,
        rates: Any,
        integral: Any = 0.0,
        values: Mapping[Any, float] | None = None,
        *,
        joints: Iterable[Any] | None = None,
    ) -> None:
        self.dynamics = InverseDynamics(model, values)
        labels = [q.label for q in model.coordinates]
        asked = labels if joints is None else chosen(joints, labels, f"coordinate of {model.name!r}")
        if not asked:
            raise ModelError("No coordinates follow; name some in joints=, or leave it out for all.")
        self.joints = [k for k, label in enumerate(labels) if label in asked]
        names = [labels[k] for k in self.joints]
        self.delta, self.integral = gains(rates, names, "rates"), gains(integral, names, "integral")
        self.reset(None)

    @property
    def followed(self) -> tuple[Coordinate, ...]:
        """The joints."""
        return tuple(self.dynamics.model.coordinates[i] for i in self.joints)

    @property
    def sampled(self) -> bool:  # type: ignore[override]
        """With an integral it has a memory."""
        return bool(np.any(self.integral))

    def reset(self, step: float | None) -> None:
        """Forget the integral."""
        self.step, self.sum = step or 0.0, np.zeros(self.delta.size)

    def inputs(self, t: float, q: np.ndarray, v: np.ndarray, z: np.ndarray, reference: Point) -> np.ndarray:
        """S^-1 (M u - F)."""
        qh, vh, ah = reference
        e = q[self.joints] - qh
        u = ah - 2 * self.delta * (v[self.joints] - vh) - self.delta**2 * e
        if self.sampled:  # else a trial step into infinity would be remembered
            u = u - self.integral * self.sum
            self.sum = self.sum + self.step * e
        directed = v.copy()
        directed[self.joints] = np.where(np.abs(v[self.joints]) <= RESTING, RESTING * np.sign(vh), v[self.joints])
        if len(self.joints) < q.size:
            return self.dynamics.inputs_along(self.joints, t, q, directed, z, u)
        return self.dynamics.inputs_for(t, q, directed, z, u)


class SlotineLi(AbstractTracker):
    r"""Slotine and Li's adaptive law: parameters of the model are learnt while it tracks.

    $$ \tau = Y(q,\dot q,\dot q_r,\ddot q_r)\,\hat\theta - K s, \qquad \dot{\hat\theta} = -\Gamma Y^T s, $$
    $s = \dot e + \Lambda e$, $\dot q_r = \dot{\hat q} - \Lambda e$; $Y\theta = M\ddot q_r + C\dot q_r - Q$ with C from
    Christoffel's symbols, so that $\dot M - 2C$ is skew, and with what the motion of a base adds.

    Args:
        model: The mechanism, with as many inputs as coordinates, no constraints.
        unknown: The parameters that are learnt, by letter or name; they must enter linearly.
        slope: Lambda, a number or one for each coordinate.
        gain: K.
        adaptation: Gamma, a number or one for each unknown.
        guess: Where the unknowns begin; zero if left out.
        values: Numbers for the other parameters.

    Reference: Slotine and Li 1987.
    """

    sampled = True

    def __init__(
        self,
        model: Model,
        unknown: Iterable[Any],
        slope: Any,
        gain: Any,
        adaptation: Any,
        guess: Mapping[Any, float] | None = None,
        values: Mapping[Any, float] | None = None,
    ) -> None:
        check_kind(model, Model, "a model of the mechanism")
        labels = [s.label for s in model.parameters]
        self.names = list(chosen(unknown, labels, f"parameter of {model.name!r}"))
        if not self.names:
            raise ModelError("unknown= is empty, and there is nothing to learn; use ComputedTorque.")
        self.dynamics = InverseDynamics(model, {**dict.fromkeys(self.names, 0.0), **numbers(values)})
        if model.rows:
            raise ModelError("The adaptive law is for mechanisms without constraints; use ComputedTorque.")
        joints = [q.label for q in model.coordinates]
        self.slope, self.gain = gains(slope, joints, "slope"), gains(gain, joints, "gain")
        self.adaptation = gains(adaptation, self.names, "adaptation")
        given = numbers(guess)
        if odd := [name for name in given if name not in self.names]:
            raise ModelError(f"guess= says where the unknowns begin, {', '.join(self.names)}; got {', '.join(odd)}.")
        self.guess = np.array([given.get(name, 0.0) for name in self.names])
        self._machine = self._regressor([labels.index(name) for name in self.names])
        self.reset(None)

    def _regressor(self, which: list[int]) -> Machine:
        """Y, what is left at theta = 0, S, as functions of t, q, v, z, v_r, a_r, p."""
        mechanics = self.dynamics.mechanics
        x = mechanics.variables
        momentum = ca.gradient(mechanics.T, x.v)
        inertial = ca.jtimes(momentum, ca.vertcat(x.q, x.t), ca.vertcat(x.v, 1)) - ca.gradient(mechanics.T, x.q)
        v_r, a_r = ca.SX.sym("v_r", x.v.numel()), ca.SX.sym("a_r", x.v.numel())
        middle, there = (ca.substitute(inertial, x.v, e) for e in ((x.v + v_r) / 2, v_r))
        C_v = 2 * middle - (inertial + there) / 2  # polarised: C(q, v) v_r, and on a moving base what it adds
        M, _, S, _ = self.dynamics.graph
        nothing = self.dynamics.all_inputs(ca.SX.zeros(len(self.dynamics.labels)))
        Q = ca.substitute(mechanics.Q, ca.vertcat(x.w, mechanics.a), ca.vertcat(nothing, 0 * a_r))
        force = x.thaw(M @ a_r + C_v - Q)
        theta = x.p[which]
        Y = ca.jacobian(force, theta)
        if strength := [name for name, k in zip(self.names, which, strict=True) if ca.depends_on(ca.vec(S), x.p[k])]:
            raise ModelError(
                f"How strongly inputs act depends on {', '.join(strength)}, which the law must know; give "
                "values={...} and learn other parameters."
            )
        if ca.depends_on(ca.vec(Y), theta):
            raise ModelError(
                f"The unknowns {', '.join(self.names)} do not enter the equations linearly; learn products such as "
                "m*l**2 as parameters of their own."
            )
        rest = ca.substitute(force, theta, ca.SX.zeros(len(which)))
        arguments = [x.t, x.q, x.v, x.z, v_r, a_r, x.p]
        return Machine(
            ca.Function("regressor", arguments, [ca.densify(e) for e in (Y, rest, S)], {"cse": True}), simd=False
        )

    @property
    def estimate(self) -> dict[str, float]:
        """What has been learnt."""
        return dict(zip(self.names, self.theta.tolist(), strict=True))

    def reset(self, step: float | None) -> None:
        """Begin with the guess."""
        self.step, self.theta = step or 0.0, self.guess.copy()

    def inputs(self, t: float, q: np.ndarray, v: np.ndarray, z: np.ndarray, reference: Point) -> np.ndarray:
        """S^-1 (Y theta + rest - K s)."""
        qh, vh, ah = reference
        e, rate = q - qh, v - vh
        s = rate + self.slope * e
        Y, rest, S = self._machine(t, q, v, z, vh - self.slope * e, ah - self.slope * rate, self.dynamics.p)
        force = Y @ self.theta + rest[:, 0] - self.gain * s
        self.theta = self.theta - self.step * self.adaptation * (Y.T @ s)
        return self.dynamics.shared_out(force, S, np.zeros((0, q.size)))
