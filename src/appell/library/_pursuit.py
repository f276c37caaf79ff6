"""Pursuit: a particle of variable mass that always flies towards a moving target."""

from __future__ import annotations

import sympy as sp

from appell.errors import ModelError
from appell.model.body import Particle
from appell.model.constraint import Nonholonomic
from appell.model.force import Gravity
from appell.model.frame import Frame, Vector
from appell.model.mass_flow import Stream
from appell.model.model import Model
from appell.model.symbols import Speed, coordinates, parameters, speeds, t


def pursuit(form: str = "coordinates") -> Model:
    r"""A particle P in a vertical plane whose velocity always points to a target Q that runs along the x axis.

    P loses mass with the relative velocity (eta - 1) v, so that what is lost keeps the share eta of the velocity of
    P. The row is linear in the velocities, depends on time through Q, and is not integrable. In x alone (Qiao's form
    III)
    $$ m\ddot x(1+\sigma^2) + m\dot x\dot\xi\,\frac{\sigma^2}{x-\xi} = -mg\sigma + \dot m\dot x(\eta-1)(1+\sigma^2),
       \qquad \sigma = \frac{y}{x-\xi}, $$
    which breaks down where P is straight above Q. In the speed v towards Q (form IV), with e the unit vector to Q,
    $$ m\dot v = -mg\,e_y + \dot m(\eta-1)v, \qquad \dot P = v e, $$
    which is regular until P meets Q. A negative v flies away from Q and obeys the same row. Without weight and thrust
    v is constant, and r sin(psi)/tan(psi/2)^(v/c) and r (v + c cos psi) + (v^2 - c^2) t are too, for a target of
    constant speed c at the distance r, seen at the angle psi from the x axis.

    Parameters of the model: m_0, mass at t = 0; mu, mass lost per second; eta_0, eta_1: eta = eta_0 + eta_1 cos(t/s),
    s one second; the target is at xi = xi_0 + xi_1 t + xi_2 sin(w t); g, along -y.
    Coordinates: x, y of P.

    Args:
        form: `"coordinates"`, the row solved for y' as in form III, not defined at x = xi; or `"quasi"`, the row of
            form IV, "no velocity across the line to Q", regular there. The speed v of form IV as a quasi-velocity is
            given by `appell.library.pursuit_speeds()`: `GibbsAppell(speeds=pursuit_speeds())`.

    Reference: Qiao 1990, section VIII, with the rate of mass restored in (8.7) and (8.8).
    """
    x, y = coordinates("x y", "m", "place of the pursuer")
    m_0, mu, g = parameters(
        "m_0 mu g",
        "kg kg/s m/s^2",
        "mass at the start; mass lost per second; acceleration of gravity, along -y",
    )
    eta_0, eta_1 = parameters(
        "eta_0 eta_1",
        "1",
        "share of the velocity that lost mass keeps, mean; share of the velocity that lost mass keeps, amplitude",
    )

    ground = Frame("ground")
    if form == "coordinates":
        row = y.rate - y * x.rate / (x - _target())
    elif form == "quasi":
        line = _line(ground)
        row = line.dot(ground.x) * y.rate - line.dot(ground.y) * x.rate
    else:
        raise ModelError(f"Got form={form!r}; use 'coordinates' or 'quasi'.")
    pursuer = Particle("pursuer", m_0 - mu * t, ground.point(x, y))
    lost = (eta_0 + eta_1 * sp.cos(t) - 1) * ground.vector(x.rate, y.rate)
    xi_0, xi_1, xi_2, w = _target_parameters()
    return Model(
        ground,
        (x, y),
        [pursuer],
        [Gravity(-g * ground.y), Stream(pursuer, lost, rate=-mu, name="lost mass")],
        [Nonholonomic(row, "aim")],
        name="pursuit",
        description="a particle of variable mass that always flies towards a moving target",
        values={
            m_0: 2.0, mu: 0.3, g: 9.81, eta_0: 0.5, eta_1: 0.2, xi_0: 1.0, xi_1: 0.5, xi_2: 0.2, w: 2.0,
        },
        start={x: -6.0, y: 8.0, x.rate: 1.0, y.rate: -8 / 7},
        until=1.2,
    )  # fmt: skip


def pursuit_speeds() -> dict[Speed, sp.Expr]:
    """The quasi-velocity of Qiao's form IV for `pursuit`: v, the speed towards the target."""
    x, y = coordinates("x y", "m")
    ground = Frame("ground")
    return {speeds("v", "m/s", "speed towards the target"): _line(ground).dot(ground.vector(x.rate, y.rate))}


def _target_parameters() -> tuple[sp.Symbol, ...]:
    return parameters(
        "xi_0 xi_1 xi_2 w",
        "m m/s m rad/s",
        "place of the target at the start; mean speed of the target; amplitude of the target's swing; angular "
        "frequency of the target's swing",
    )


def _target() -> sp.Expr:
    xi_0, xi_1, xi_2, w = _target_parameters()
    return xi_0 + xi_1 * t + xi_2 * sp.sin(w * t)


def _line(ground: Frame) -> Vector:
    """The unit vector from the pursuer to the target."""
    x, y = coordinates("x y", "m")
    gap = ground.vector(_target() - x, -y)
    return gap / sp.sqrt(gap.dot(gap))
