"""The spraying robot as one noun: its model, its quasi-velocities, and its equations in closed form."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import sympy as sp

from appell.errors import ModelError
from appell.formulation.gibbs_appell import GibbsAppell
from appell.library._sprayer import (
    FORWARD,
    OPEN,
    TAU,
    WHEELS,
    I,
    Iw,
    Nozzle,
    R,
    a,
    d,
    force,
    k_t,
    m,
    m_empty,
    m_r,
    moment,
    nozzles_of,
    sprayer,
    theta,
    x_t,
    y_t,
)
from appell.model.model import Model
from appell.model.symbols import Evolving, Input, explicit_rate, letters_in, quoted, speeds, t
from appell.model.values import whole

v, omega = speeds("v omega", "m/s rad/s")


@dataclass(frozen=True, eq=False)
class Sprayer:
    """A spraying robot; the arguments are those of `appell.library.sprayer`.

    Args:
        nozzles: An even number, or a list of `Nozzle` or tuples (x, y, angle, flow, speed, mass).
        mode: `"consistent"` or `"paper"`.
        internal_flow: Whether the liquid on its way to the nozzles is felt.
        drive: `"wheels"` or `"body"`.
        separate_tank: Whether the liquid is a body of its own.
        values: Numbers of parameters in place of the suggested ones, by symbol or by name.
    """

    nozzles: Any = 4
    mode: str = "consistent"
    internal_flow: bool = False
    drive: str = "body"
    separate_tank: bool = False
    values: Mapping[Any, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "nozzles", nozzles_of(self.nozzles))

    @cached_property
    def model(self) -> Model:
        """The model."""
        return sprayer(self.nozzles, self.mode, self.internal_flow, self.drive, self.separate_tank)

    @cached_property
    def formulation(self) -> GibbsAppell:
        """Gibbs-Appell in the quasi-velocities v and omega."""
        return formulation()

    def inputs_for(self, drive: Any, turn: Any) -> dict[Input, sp.Expr]:
        """Laws of the model's inputs that give this driving force and yaw moment.

        With wheel torques, the two of a side share: tau = R/4 (F +- M/a), the inverse of eq. (46).
        """
        drive, turn = sp.sympify(drive), sp.sympify(turn)
        if self.drive == "body":
            return {force: drive, moment: turn}
        return {TAU[name]: R / 4 * (drive - side * turn / a) for name, (_, side) in WHEELS.items()}

    # The equations in closed form, A [v', omega'] = b, for laws that cancel them and for tests.

    @property
    def first_moment(self) -> sp.Expr:
        """S = m d + sum m_k x_k."""
        lumps = sp.Add(*(k.mass * k.x for k in self.nozzles)) if self.mode == "consistent" else sp.Integer(0)
        liquid = m * d if not self.separate_tank else m_empty * d + (m - m_empty) * x_t
        return liquid + lumps

    @property
    def side_moment(self) -> sp.Expr:
        """The sum of mass times distance to the left."""
        lumps = sp.Add(*(k.mass * k.y for k in self.nozzles)) if self.mode == "consistent" else sp.Integer(0)
        return lumps + ((m - m_empty) * y_t if self.separate_tank else 0)

    @cached_property
    def inertia(self) -> sp.Matrix:
        """A of eq. (49), corrected; in paper mode as printed."""
        lumps = sp.Add(*(k.mass for k in self.nozzles))
        straight = m + lumps + 4 * Iw / R**2
        if self.mode == "paper":
            radii = sp.Add(*(k.x**2 + k.y**2 for k in self.nozzles))
            return sp.diag(straight, I + 4 * R**2 / a**2 * Iw + m_r * radii)
        turning = I + sp.Add(*(k.mass * (k.x**2 + k.y**2) for k in self.nozzles)) + 4 * a**2 * Iw / R**2
        if self.separate_tank:
            turning += m_empty * d**2 + (m - m_empty) * (x_t**2 + y_t**2 + k_t**2)
        else:
            turning += m * d**2
        return sp.Matrix([[straight, -self.side_moment], [-self.side_moment, turning]])

    def nozzle_force(self, nozzle: Nozzle) -> tuple[sp.Expr, sp.Expr]:
        """F_k: thrust, drag and friction at a nozzle, eqs. (27)-(29) corrected; in paper mode as printed."""
        own, jet, flow = (v - nozzle.y * omega, nozzle.x * omega), nozzle.jet, nozzle.open_flow
        if self.mode == "paper":
            u = (own[0] + jet[0], own[1] + jet[1])
            drag = nozzle.resistance(*u)
            return drag[0] + flow * u[0], drag[1] + flow * u[1]
        drag = nozzle.resistance(*own)
        return drag[0] - flow * jet[0], drag[1] - flow * jet[1]

    @cached_property
    def load(self) -> tuple[sp.Expr, sp.Expr]:
        """b of eq. (49) without the drive: force along v, moment along omega."""
        pushes = [(k, self.nozzle_force(k)) for k in self.nozzles]
        along = [fx for _, (fx, _) in pushes]
        about = [k.x * fy - k.y * fx for k, (fx, fy) in pushes]
        if self.internal_flow:
            for k in self.nozzles:
                faster = self._flow_rate(k)
                along.append(2 * omega * k.open_flow * (k.y - y_t) - faster * (k.x - x_t))
                about.append(-omega * k.open_flow * (k.x**2 + k.y**2 - x_t**2 - y_t**2))
                about.append(faster * (k.x * y_t - k.y * x_t))
        return (
            sp.Add(self.first_moment * omega**2, *along),
            sp.Add(-self.first_moment * v * omega, *about),
        )

    def _flow_rate(self, nozzle: Nozzle) -> sp.Expr:
        """How fast the flow of a nozzle changes, of time and of what is left in the tank."""
        strange = [s for s in letters_in(nozzle.flow) if isinstance(s, Evolving) and s != m]
        if strange:
            raise ModelError(
                f"The flow {quoted(nozzle.flow)} depends on {', '.join(map(str, strange))}; in closed form "
                "internal flow is known for flows in time and in the mass m only."
            )
        drained = -sp.Add(*(k.open_flow for k in self.nozzles))
        return (explicit_rate(nozzle.flow) + sp.diff(nozzle.flow, m) * drained) * OPEN

    @cached_property
    def lateral_force(self) -> sp.Expr:
        """The sideways force of the ground on the tyres, in v, omega, omega', m (consistent mode)."""
        lumps = sp.Add(*(k.mass for k in self.nozzles))
        sides = [-self.nozzle_force(k)[1] for k in self.nozzles]
        if self.internal_flow:
            sides += [2 * omega * k.open_flow * (k.x - x_t) + self._flow_rate(k) * (k.y - y_t) for k in self.nozzles]
        inertial = (m + lumps) * v * omega + self.first_moment * omega.rate - self.side_moment * omega**2
        return sp.Add(inertial, *sides)


def formulation() -> GibbsAppell:
    """Gibbs-Appell with the quasi-velocities v (forward speed of the axle centre) and omega (yaw rate)."""
    return GibbsAppell(speeds={v: FORWARD, omega: theta.rate})


def corners(angle: Any) -> tuple[Nozzle, ...]:
    """Four nozzles FR, BR, FL, BL, their jets turned by `angle` from straight ahead to their own side."""
    half = sp.Rational(1, 2)
    return tuple(Nozzle(i * half, side * half, side * sp.sympify(angle)) for side in (-1, 1) for i in (1, -1))


def boom(count: int, width: float, ahead: float = 0.0, angle: Any = sp.pi, mass: float = 0.0) -> tuple[Nozzle, ...]:
    """Nozzles evenly spread along a boom across the robot.

    Args:
        count: How many.
        width: From the first to the last.
        ahead: Place of the boom ahead of the axle.
        angle: Direction of all jets; backwards if left out.
        mass: Mass of nozzles and boom together.
    """
    count = whole("The number of nozzles of a boom", count)
    places = np.linspace(-width / 2, width / 2, count) if count > 1 else np.zeros(1)
    return tuple(Nozzle(ahead, float(place), angle, mass=mass / count) for place in places)


def irregular(
    nozzles: int | Iterable[Nozzle | Sequence[Any]],
    spread: float,
    interval: float,
    until: float,
    seed: int,
) -> tuple[Nozzle, ...]:
    """The same nozzles with flows that jump at random: each flow times a factor that is constant over an interval.

    The factors are independent from nozzle to nozzle and from interval to interval, positive (gamma distributed), and
    of each nozzle their mean over all intervals is 1. After the last interval the factor is 1. The speed of the jets
    stays.

    Args:
        nozzles: As for `Sprayer`.
        spread: Standard deviation of the factors.
        interval: Seconds between two jumps.
        until: Seconds over which it jumps.
        seed: Of the random numbers; the same seed gives the same flows.
    """
    if not (spread > 0 and interval > 0 and until >= interval):
        raise ModelError(
            f"Irregular flow needs spread > 0 and 0 < interval <= until, got {spread}, {interval}, {until}."
        )
    rng = np.random.default_rng(seed)
    count = round(until / interval)
    result = []
    for k in nozzles_of(nozzles):
        factors = rng.gamma(1 / spread**2, spread**2, count)
        factors /= factors.mean()
        pieces = [(float(f), t < float((i + 1) * interval)) for i, f in enumerate(factors)]
        factor = sp.Piecewise(*pieces, (1, True))
        result.append(Nozzle(k.x, k.y, k.angle, k.flow * factor, k.speed, k.mass))
    return tuple(result)
