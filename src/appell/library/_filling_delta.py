"""A Delta robot whose gripper fills while it follows a curve."""

from __future__ import annotations

from sympy import cos, pi, sin

from appell.library._delta_robot import delta_robot
from appell.model.body import Particle
from appell.model.mass_flow import Stream
from appell.model.model import Model
from appell.model.symbols import parameters, states, t
from appell.model.task import follow


def filling_delta(servo: bool = False) -> Model:
    """The Delta robot with a container on its platform, which fills at rest against the ground while it goes round.

    A programme on a closed-loop mechanism in redundant coordinates with variable mass: three loops and three rows of
    the curve on six coordinates, so that nothing is left free and the plan is the inverse dynamics. What falls in has
    to be brought to the platform's velocity (and takes none of the weight off before it lands).

    Options: servo, whether the motors of the arms enforce the curve; otherwise an ideal force on all coordinates.

    Parameters of the model: those of `delta_robot`; rho, radius of the circle; lift, height of the wave on it; T, time
    of one round; flow, mass per second into the container.
    Coordinates as for `delta_robot`; extra state: content, mass in the container.

    Reference: Jarzebowska et al., section 1.3 (closed chains); Krasinskiy 2025, section 7, for the robot.
    """
    robot = delta_robot()
    arms = robot.coordinates[:3]
    x, y, z = robot.coordinates[3:]
    content = states("content", "kg", "mass in the container")
    rho, lift, T, flow = parameters(
        "rho lift T flow",
        "m m s kg/s",
        "radius of the circle; height of the wave on the circle; time of one round; mass per second into the container",
    )
    place = robot.ground.point(x, y, z)
    container = Particle("content", content, place)
    angle = 2 * pi * t / T
    curve = robot.ground.point(rho * cos(angle), rho * sin(angle), -0.9 + lift * sin(2 * angle))
    arrives = Stream(container, 0 * robot.ground.z, flow, absolute=True, name="filling")
    task = follow(place, curve, name="curve", realization=arms if servo else "ideal")
    model = robot.add(container, arrives, task, states={content: flow})
    return Model(
        model.ground,
        model.coordinates,
        model.bodies,
        model.forces,
        model.constraints,
        model.states,
        name="filling Delta robot",
        description="a Delta robot whose gripper fills while it follows a curve",
        values={
            **robot.values, **dict.fromkeys(("tau1", "tau2", "tau3"), 0.0), "rho": 0.2, "lift": 0.05,
            "T": 2.0, "flow": 0.5,
        },
        start={
            "phi1": -0.16269492326464785, "phi2": 0.32223221155884979, "phi3": 0.32223221155884979,
            "x": 0.2, "y": 0.0, "z": -0.9, "content": 0.5,
        },
        until=2.0,
    )  # fmt: skip
