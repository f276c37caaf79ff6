"""A rocket that climbs vertically and drops its stages."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import sympy as sp

from appell.errors import ModelError
from appell.model.body import Particle
from appell.model.force import AbstractForce, Force, Gravity
from appell.model.frame import Frame
from appell.model.mass_flow import Stream, drained
from appell.model.model import Model
from appell.model.symbols import coordinates, parameters, states
from appell.model.values import floats, number
from appell.motion.events import Event

PAYLOAD = 300.0
STAGES = ((800.0, 6000.0, 60.0, 2600.0), (200.0, 1500.0, 10.0, 3200.0))
"""Of each stage: mass of the shell, propellant, propellant burnt per second, exhaust speed."""


def rocket(drag: bool = False, stages: Sequence[Sequence[float]] = STAGES, payload: float = PAYLOAD) -> Model:
    r"""A rocket of several stages in vertical flight.

    Of each stage (Tsiolkovsky), without drag and from t = 0,
    $$ v = c\ln\frac{m_0}{m} - gt, \qquad h = c\Bigl(t - \frac{m}{\mu}\ln\frac{m_0}{m}\Bigr) - \tfrac12 gt^2 . $$
    The law is m v' = F + m' u with u relative to the rocket. The law (m v)' = F, which one gets by letting m depend
    on time in Lagrange's equations, is another one: it says that what leaves is at rest. A stage that has burnt out
    is dropped by an event that resets the extra states: give `appell.library.rocket_events()` to `simulate`. Without
    events the engine stops when the first stage has burnt out, and the rocket coasts.

    Parameters of the model: g; with drag: k, drag at the ground divided by the square of the speed; H, height over
    which the air thins by a factor e.
    Extra states: fuel, propellant left in the stage that burns; dry, all other mass, later stages included; flow and
    jet, propellant per second and exhaust speed of the stage that burns.

    Args:
        drag: Whether the air resists, with k v^2 exp(-h/H) against the velocity.
        stages: Of each stage, the first to burn first: mass of its shell, propellant, propellant per second, exhaust
            speed.
        payload: What the last stage carries.

    Reference: Meshchersky 1897; Tsiolkovsky 1903.
    """
    _checked(stages, payload)
    h = coordinates("h", "m", "height")
    g = parameters("g", "m/s^2", "acceleration of gravity")
    fuel, dry = states("fuel dry", "kg", "propellant of the stage that burns; all other mass")
    flow, jet = states("flow jet", "kg/s m/s", "propellant burnt per second; exhaust speed")

    ground = Frame("ground")
    body = Particle("rocket", dry + fuel, ground.point(0, 0, h))
    burnt = drained(flow, fuel)
    forces: list[AbstractForce] = [
        Gravity(-g * ground.z),
        Stream(body, -jet * ground.z, rate=-burnt, name="engine"),
    ]
    values = {g: 9.81}
    if drag:
        k, H = parameters(
            "k H",
            "kg/m m",
            "drag at the ground by the square of the speed; height over which the air thins by a factor e",
        )
        forces.append(Force(-k * sp.exp(-h / H) * h.rate * sp.Abs(h.rate) * ground.z, body, name="drag"))
        values.update({k: 0.25, H: 8400.0})
    (_, propellant, per_second, speed), *_ = stages
    return Model(
        ground,
        h,
        [body],
        forces,
        states={fuel: -burnt, dry: 0, flow: 0, jet: 0},
        name="rocket",
        description=f"a rocket of {len(stages)} stage{'s' * (len(stages) > 1)} in vertical flight",
        values=values,
        start={
            h: 0.0, h.rate: 0.0, fuel: propellant, dry: _mass(stages, payload, 0) - propellant,
            flow: per_second, jet: speed,
        },
        until=300.0,
    )  # fmt: skip


def rocket_events(stages: Sequence[Sequence[float]] = STAGES, payload: float = PAYLOAD) -> list[Event]:
    """The staging of `rocket`: when a stage has burnt out its shell is dropped and the next one burns.

    The mass of a rocket only falls, so each event is the mass falling to what is left when a stage has burnt out.

    Args:
        stages: As given to `rocket`.
        payload: As given to `rocket`.

    Returns:
        One event for each stage but the last, to be given to `simulate(..., events=...)`.
    """
    _checked(stages, payload)
    fuel, dry, flow, jet = states("fuel dry flow jet")
    return [
        Event(
            dry + fuel - (shell + _mass(stages, payload, i)),
            direction=-1,
            reset={
                dry: _mass(stages, payload, i) - stages[i][1],
                fuel: stages[i][1],
                flow: stages[i][2],
                jet: stages[i][3],
            },
            name=f"stage {i} dropped",
        )
        for i, (shell, *_) in enumerate(stages[:-1], 1)
    ]


def _mass(stages: Sequence[Sequence[float]], payload: float, first: int) -> float:
    """Mass of the payload and of all stages from the given one on."""
    return payload + sum(shell + propellant for shell, propellant, *_ in stages[first:])


def _checked(stages: Sequence[Sequence[float]], payload: float) -> None:
    each = floats(stages, "The stages of a rocket")
    if each.ndim != 2 or each.shape[1] != 4 or not np.all(each > 0) or number("payload", payload) < 0:
        raise ModelError(
            "Each stage of a rocket is four positive numbers (shell, propellant, propellant per second, exhaust "
            f"speed), and the payload is not negative; got stages={stages!r}, payload={payload!r}."
        )
