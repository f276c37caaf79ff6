"""A three-link manipulator whose hand follows a programmed ellipse."""

from __future__ import annotations

from math import pi, radians, sqrt

import sympy as sp

from appell.errors import ModelError
from appell.model.body import RigidBody
from appell.model.force import Generalized, Gravity
from appell.model.frame import Frame
from appell.model.friction import LuGre
from appell.model.look import Look, Solid
from appell.model.model import Model
from appell.model.programme import Programmed
from appell.model.symbols import coordinates, parameters, t
from appell.model.values import floats, number

DURATION = 5.0
BRISTLES = ((5.0, 0.025, 0.175), (5.0, 0.025, 0.175), (1.0, 0.02, 0.001))  # sigma_0, sigma_1, v_S of Table 1


def three_link(
    programme: str = "slow", angle: float = 45.0, servo: bool = False, friction: tuple[float, float] | None = None
) -> Model:
    r"""A column, a rotary arm and a sliding link; the hand draws an ellipse in plan and a wave in height.

    $$ \tfrac12\Bigl[\Bigl(\frac{x_E}{a}\Bigr)^2 + \Bigl(\frac{y_E}{b}\Bigr)^2 - 1\Bigr] = 0, \qquad z_E - z_a(t) = 0 $$
    Two programmes of order zero (factor one half: the gradient of the first is then the source's u), and one degree of
    freedom left, the column, which a flexible drive turns after
    $\psi_{dr} = \psi_S(\tau - \sin 2\pi\tau/2\pi)$, $\tau = pace\cdot t/5$, with the torque
    $s(\psi_{dr} - \psi_1) + d(\dot\psi_{dr} - \dot\psi_1)$. The source gives no lengths, masses, half-axes: those here
    are chosen, a so that the start at 45 degrees lies on the programme.

    Options: programme, "slow" (one turn in 5 s) or "fast" (ten); angle, of the arm below the horizontal at the start,
    in degrees (the source has 45, 60, 70, 80; only 45 is on the programme); servo, whether the drives of joints 2 and 3
    alone enforce it; friction, the static and the kinetic coefficient of LuGre friction in all three joints (the source
    prints (0.1, 0.2), which is the wrong way round), none if left out.

    Parameters of the model: l1, height of the column; lE, length from slide to hand; m1, m2, m3, masses; g; a, b,
    half-axes; z0, dz, height of the hand and its rise; psi_S, angle of the drive; s, d, its stiffness and damping;
    pace, by which time is multiplied in programme and drive.
    Coordinates: psi1 of the column, psi2 of the arm, z3 of the slide.

    Reference: Jarzebowska et al., section 4, eqs. (4.1)-(4.6) with the sign of (4.6) corrected, Table 1.
    """
    if programme not in ("slow", "fast"):
        raise ModelError(f"The programme of the three-link manipulator is 'slow' or 'fast', got {programme!r}.")
    rough = () if friction is None else floats(friction, "The coefficients of friction").ravel().tolist()
    if rough and len(rough) != 2:
        raise ModelError(f"friction is a static and a kinetic coefficient, (0.2, 0.1); got {friction!r}.")
    psi1, psi2 = coordinates("psi1 psi2", "rad", "angle of the column; angle of the arm")
    z3 = coordinates("z3", "m", "travel of the slide")
    l1, lE, m1, m2, m3, g = parameters(
        "l1 lE m1 m2 m3 g",
        "m m kg kg kg m/s^2",
        "height of the column; length from slide to hand; mass of the column; mass of the arm; mass of the slide; "
        "acceleration of gravity",
    )
    a, b, z0, dz = parameters(
        "a b z0 dz",
        "m",
        "half axis of the ellipse along x; half axis of the ellipse along y; height of the hand; rise of the hand",
    )
    psi_S, s, d, pace = parameters(
        "psi_S s d pace",
        "rad N*m/rad N*m*s/rad 1",
        "angle by which the drive turns; stiffness of the drive; damping of the drive; factor of time in programme "
        "and drive",
    )

    ground = Frame("ground")
    column = ground.rotate("z", psi1, "column").rotate("x", sp.pi / 2, "link 1")
    arm = column.rotate("z", psi2, "arm").rotate("x", -sp.pi / 2, "link 2")
    top = ground.point(0, 0, l1)
    wrist = top + z3 * arm.z
    bodies = [
        RigidBody("column", m1, top - sp.Rational(1, 2) * column.y, column, (1.0192, 0.0384, 1.0192)),
        RigidBody("arm", m2, top + arm.vector(0.02, 0.01, 0.1), arm, (0.08, 0.08, 0.012)),
        RigidBody("slide", m3, wrist + arm.vector(0, 0, -0.05), arm, (0.1225, 0.1225, 0.0006)),
    ]
    x, y, z = ground.components(wrist + lE * arm.z)
    tau = pace * t / sp.Integer(5)
    turned = psi_S * (tau - sp.sin(2 * sp.pi * tau) / (2 * sp.pi))
    torque = s * (turned - psi1) + d * (sp.diff(turned, t) - psi1.rate)
    rows = [((x / a) ** 2 + (y / b) ** 2 - 1) / 2, z - z0 - dz * (1 - sp.cos(2 * sp.pi * tau))]
    reach = a * b / sp.sqrt((b * sp.cos(turned)) ** 2 + (a * sp.sin(turned)) ** 2)  # of the ellipse along the drive
    drives = {"realization": psi2}, {"realization": z3}
    tasks = [
        Programmed(row, name, **(drive if servo else {}))
        for row, name, drive in zip(rows, ("ellipse", "height"), drives, strict=True)
    ]
    model = Model(
        ground,
        (psi1, psi2, z3),
        bodies,
        [Gravity(-g * ground.z), Generalized({psi1: torque}, "drive")],
        tasks,
        name="three-link manipulator",
        description="a three-link manipulator whose hand follows a programmed ellipse",
        values={
            l1: 1.0, lE: 0.3, m1: 12.0, m2: 6.0, m3: 3.0, g: 9.81, a: 0.8 / sqrt(2), b: 0.45,
            z0: 1 - 0.8 / sqrt(2), dz: 0.05, psi_S: 2 * pi if programme == "slow" else 20 * pi,
            s: 1e4, d: 70.0, pace: 1.0,
        },
        start={
            psi1: 0.0, psi2: radians(270 - number("angle", angle)), z3: 0.5,
            psi1.rate: 0.0, psi2.rate: 0.0, z3.rate: 0.0,
        },
        until=DURATION,
        look=Look(
            shapes={
                "column": [
                    Solid("cylinder", (0.07 * l1, l1), axis="y"),
                    Solid("cylinder", (0.2 * l1, 0.05 * l1), (0, -l1 / 2, 0), "y", "#7b8794"),
                ],
                "arm": Solid("box", (0.12, 0.12, 0.3), (-0.02, -0.01, -0.1)),
                "slide": [
                    Solid("cylinder", (0.025, lE + 0.5), (0, 0, 0.05 + lE - (lE + 0.5) / 2), "z"),
                    Solid("sphere", 0.045, (0, 0, 0.05 + lE), color="#c0392b"),
                ],
            },
            traces={"hand": wrist + lE * arm.z},
            curves={"programme": ground.point(reach * sp.cos(turned), reach * sp.sin(turned), z - rows[1])},
        ),
    )  # fmt: skip
    for q, (stiffness, damping, stribeck) in zip((psi1, psi2, z3), BRISTLES, strict=True) if rough else ():
        static, kinetic = rough
        model = LuGre(q, stiffness, damping, 0, kinetic, static, stribeck, name=f"friction_{q.name}").on(model)
    return model
