"""Friction and drives at joints: what resists a slip, and what turns a joint through a spring.

Each is a force, with the extra states it needs: `LuGre(...).on(model)` is the model with it. A slip is a velocity, such
as `psi.rate` or the difference of two rates; the force acts on every coordinate whose rate is in it, by its virtual
power, so friction between two moving parts acts on both.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

import sympy as sp

from appell.errors import ModelError
from appell.model.chain import Chain
from appell.model.constraint import Holonomic
from appell.model.force import Generalized
from appell.model.model import Model
from appell.model.symbols import Coordinate, ExtraState, Rate, letters_in, quoted, states, time_derivative, written
from appell.model.values import check_kind, formula_of

__all__ = ["AbstractFriction", "Coulomb", "FlexibleDrive", "LuGre", "Viscous", "along", "declared", "gear"]


def along(slip: sp.Expr, force: sp.Expr, name: str) -> Generalized:
    """Generalized forces of a force along a slip: Q_k = F d(slip)/d(q_k')."""
    slip, force = formula_of(slip, f"The slip of {name!r}"), formula_of(force, f"The force of {name!r}")
    rates = sorted(
        (s for s in letters_in(slip) if isinstance(s, Rate) and s.order == 1 and isinstance(s.base, Coordinate)),
        key=lambda s: s.name,
    )
    if not rates:
        raise ModelError(
            f"The slip of {name!r} contains no rate of a coordinate, such as psi.rate; got {quoted(slip)}."
        )
    return Generalized({rate.base: force * sp.diff(slip, rate) for rate in rates}, name)


def _rate(slip: Any) -> sp.Expr:
    """A slip velocity; a coordinate stands for its rate."""
    slip = formula_of(slip, "What rubs, a coordinate or a velocity,")
    return slip.rate if isinstance(slip, Coordinate) else slip


class AbstractFriction(ABC):
    """Friction along a slip: a force, and the states it needs.

    Attributes:
        name: Its name in the power balance.
        slip: The velocity it resists.
        resistance: The force against the slip; positive where it brakes a positive slip.
        states: What it remembers, with the rates.
    """

    name: str
    slip: sp.Expr
    resistance: sp.Expr
    states: Mapping[ExtraState, sp.Expr]

    @abstractmethod
    def __init__(self) -> None: ...

    def __repr__(self) -> str:
        return f"{type(self).__name__} {self.name!r}: {written(self.resistance)} against {written(self.slip)}"

    @property
    def force(self) -> Generalized:
        """The force as a part of a model."""
        return along(self.slip, -self.resistance, self.name)

    def on(self, model: Model) -> Model:
        """The model with this friction in it.

        Args:
            model: The model.
        """
        check_kind(model, Model, f"the appell.Model that {self.name!r} is to act in")
        return model.add(self.force, states=self.states)


class Viscous(AbstractFriction):
    """F = c v.

    Args:
        slip: A coordinate, or a velocity.
        coefficient: c.
        name: Its name in the power balance.
    """

    def __init__(self, slip: Any, coefficient: Any, name: str = "viscous friction") -> None:
        self.name, self.slip, self.states = name, _rate(slip), {}
        self.resistance = _resisting(coefficient, "coefficient", name) * self.slip


class Coulomb(AbstractFriction):
    r"""Dry friction with Stribeck's curve, $F = G(v)\,\mathrm{sign}\,v + c v$.

    $$ G(v) = \mu_k + (\mu_s - \mu_k)\,e^{-(v/v_S)^2} $$
    Sticking and its end are located during a run. With `width` the sign is smoothed to $\tanh(v/w)$: nothing sticks any
    more, it creeps.

    Args:
        slip: A coordinate, or a velocity.
        kinetic: mu_k, the force of sliding (times `load`).
        static: mu_s, the force at rest; mu_k if left out.
        stribeck: v_S, the velocity at which the one becomes the other; needed where they differ.
        viscous: c.
        load: What the forces are multiplied with, such as a normal force.
        width: w.
        name: Its name in the power balance.
    """

    def __init__(
        self,
        slip: Any,
        kinetic: Any,
        static: Any = None,
        stribeck: Any = None,
        viscous: Any = 0,
        load: Any = 1,
        width: Any = None,
        name: str = "dry friction",
    ) -> None:
        v = _rate(slip)
        G = _stribeck(v, kinetic, static, stribeck, name) * formula_of(load, f"The load of {name!r}")
        side = sp.sign(v) if width is None else sp.tanh(v / _resisting(width, "width", name, above=True))
        self.name, self.slip, self.states = name, v, {}
        self.resistance = G * side + _resisting(viscous, "viscous", name) * v


def declared(chain: Chain) -> Model:
    """A robot with the damping and the dry friction that its joints declare, as its URDF file does.

    Args:
        chain: The robot; a joint that mimics another rubs where it moves, and its leader feels it.

    Returns:
        The model with these forces; the chain itself where no joint declares any.
    """
    if not isinstance(chain, Chain):
        raise ModelError(f"The joints of an appell.Chain declare friction, got {type(chain).__name__}.")
    found: list[AbstractFriction] = []
    for link, (_, rate) in zip(chain.links, chain.series(1), strict=True):
        if link.friction:
            found.append(Coulomb(rate, link.friction, viscous=link.damping, name=f"friction of {link.joint}"))
        elif link.damping:
            found.append(Viscous(rate, link.damping, f"friction of {link.joint}"))
    return chain.add(*(friction.force for friction in found)) if found else chain


class LuGre(AbstractFriction):
    r"""The LuGre model: bristles that bend by z and slip.

    $$ \dot z = v - \frac{\sigma_0 |v|}{G(v)} z, \qquad F = \sigma_0 z + \sigma_1 \dot z + \sigma_2 v $$
    with Stribeck's curve G as for `Coulomb`. Reversals of the slip are located during a run.

    Args:
        slip: A coordinate, or a velocity.
        stiffness: sigma_0 of the bristles.
        damping: sigma_1 of the bristles.
        viscous: sigma_2.
        kinetic: mu_k (times `load`).
        static: mu_s; mu_k if left out.
        stribeck: v_S.
        load: What mu_k and mu_s are multiplied with.
        name: Its name in the power balance; the extra state z is called `name_z`.

    Reference: Canudas de Wit, Olsson, Astrom and Lischinsky 1995.
    """

    def __init__(
        self,
        slip: Any,
        stiffness: Any,
        damping: Any,
        viscous: Any,
        kinetic: Any,
        static: Any = None,
        stribeck: Any = None,
        load: Any = 1,
        name: str = "friction",
    ) -> None:
        v, sigma0 = _rate(slip), _resisting(stiffness, "stiffness", name, above=True)
        low = _resisting(kinetic, "kinetic", name, above=True)
        G = _stribeck(v, low, static, stribeck, name) * formula_of(load, f"The load of {name!r}")
        self.bristle: ExtraState = states(f"{name}_z".replace(" ", "_"))
        rate = v - sigma0 * sp.Abs(v) * self.bristle / G
        self.name, self.slip, self.states = name, v, {self.bristle: rate}
        sigma1, sigma2 = _resisting(damping, "damping", name), _resisting(viscous, "viscous", name)
        self.resistance = sigma0 * self.bristle + sigma1 * rate + sigma2 * v


def _stribeck(v: sp.Expr, kinetic: Any, static: Any, stribeck: Any, name: str) -> sp.Expr:
    """G(v) = mu_k + (mu_s - mu_k) exp(-(v/v_S)^2)."""
    low = _resisting(kinetic, "kinetic", name)
    high = low if static is None else _resisting(static, "static", name)
    if low == high:
        return low
    if stribeck is None:
        raise ModelError(
            f"{name!r} has static friction {quoted(high)} and kinetic friction {quoted(low)}; give stribeck=, "
            "the velocity at which the one becomes the other."
        )
    return low + (high - low) * sp.exp(-((v / _resisting(stribeck, "stribeck", name, above=True)) ** 2))


def _resisting(value: Any, what: str, name: str, above: bool = False) -> sp.Expr:
    """A coefficient of friction; a number must not be negative, nor zero where it has to be above that."""
    found = formula_of(value, f"{what}= of {name!r}")
    if found.is_number and not (found.is_finite and found.is_real and (found > 0 if above else found >= 0)):
        bound = "above zero" if above else "not negative"
        raise ModelError(f"{what}= of {name!r} must be finite and {bound}, got {quoted(found)}.")
    return found


class FlexibleDrive:
    r"""A drive that turns a joint through a spring and a damper, $t = s\theta + d\dot\theta$, $\theta = \phi/n - \psi$.

    Args:
        joint: The coordinate psi that is driven.
        motor: phi: a formula in time for a motor that turns as given, or the coordinate of one with inertia of its own,
            which then feels the opposite torque through the gear.
        stiffness: s.
        damping: d.
        ratio: n of a gear between them.
        name: Its name in the power balance.

    Reference: Jarzebowska et al., eq. (4.6) with its sign corrected.
    """

    def __init__(
        self, joint: Any, motor: Any, stiffness: Any, damping: Any = 0, ratio: Any = 1, name: str = "drive"
    ) -> None:
        if not isinstance(joint, Coordinate):
            raise ModelError(f"A drive turns a coordinate, got {joint!r}.")
        self.name = name
        n = formula_of(ratio, f"The ratio of {name!r}")
        if n.is_zero:
            raise ModelError(f"The ratio of {name!r} must not be zero.")
        self.twist = formula_of(motor, f"The motor of {name!r}") / n - joint
        rate = time_derivative(self.twist)
        s, d = (_resisting(e, what, name) for e, what in ((stiffness, "stiffness"), (damping, "damping")))
        self.torque = s * self.twist + d * rate
        self.force = along(rate, -self.torque, name)

    def on(self, model: Model) -> Model:
        """The model with this drive in it.

        Args:
            model: The model.
        """
        check_kind(model, Model, f"the appell.Model that {self.name!r} is to act in")
        return model.add(self.force)


def gear(motor: Coordinate, joint: Coordinate, ratio: Any, name: str = "gear") -> Holonomic:
    """A rigid gear: the motor turns `ratio` times as far as the joint.

    Args:
        motor: The coordinate of the motor.
        joint: The coordinate of the joint.
        ratio: How often the motor turns for one turn of the joint.
        name: Its name in messages and reaction forces.
    """
    for q in (motor, joint):
        check_kind(q, Coordinate, f"two coordinates for {name!r}, of the motor and of the joint")
    return Holonomic(motor - formula_of(ratio, f"The ratio of {name!r}") * joint, name)


def __dir__() -> list[str]:
    return __all__
