"""The rattleback, or Celtic stone."""

from __future__ import annotations

import sympy as sp

from appell.model.body import RigidBody
from appell.model.constraint import Rolling
from appell.model.force import Gravity
from appell.model.frame import Frame
from appell.model.look import Look, Solid
from appell.model.model import Model
from appell.model.symbols import coordinates, parameters


def rattleback() -> Model:
    r"""A boat-shaped stone that turns round by itself: spun one way it rattles, stops, and spins the other way.

    Its lower side is an ellipsoid with half axes a, b, c that rolls without slipping; its principal axes of inertia are
    a few degrees off those of the ellipsoid. With n the upward unit vector in body axes, the contact is at
    $$ \rho = -\frac{(a^2 n_1,\ b^2 n_2,\ c^2 n_3)}{\sqrt{a^2 n_1^2 + b^2 n_2^2 + c^2 n_3^2}} $$
    from the middle of the ellipsoid. Energy is constant; angular momentum about the vertical is not, since the ground
    pushes sideways. Spun the other way, `yaw.rate = 5`, the stone goes on for long before it turns.

    Parameters of the model: m, mass; g, gravity; a, b, c, half axes; h, how far the mass centre is below the middle;
    A, B, C, D, moments of inertia about the mass centre and the xy entry of the tensor.
    Coordinates: x, y of the contact; yaw about z, roll about x, pitch about y, one after the other.

    Reference: Kane and Levinson 1982, Int. J. Non-Linear Mech. 17, 175 (the numbers); Garcia and Hubbard 1988, Proc.
        R. Soc. Lond. A 418, 165.
    """
    x, y = coordinates("x y", "m", "contact")
    yaw, roll, pitch = coordinates("yaw roll pitch", "rad", "turn about z; turn about x; turn about y")
    m, g, a, b, c, h = parameters(
        "m g a b c h",
        "kg m/s^2 m m m m",
        "mass; acceleration of gravity; half axis along x; half axis along y; half axis along z; mass centre below "
        "the middle",
    )
    A, B, C, D = parameters(
        "A B C D",
        "kg*m^2",
        "moment of inertia about x; moment of inertia about y; moment of inertia about z; xy entry of the inertia",
    )

    ground = Frame("ground")
    stone = ground.rotate_body("zxy", yaw, roll, pitch)
    n = stone.components(ground.z)
    squares = [half**2 * e for half, e in zip((a, b, c), n, strict=True)]
    depth = sp.sqrt(sum(square * e for square, e in zip(squares, n, strict=True)))
    contact = ground.point(x, y)
    middle = contact + stone.vector(*squares) / depth
    inertia = [[A, D, 0], [D, B, 0], [0, 0, C]]
    body = RigidBody("stone", m, middle - h * stone.z, stone, inertia)
    return Model(
        ground,
        (x, y, yaw, roll, pitch),
        [body],
        [Gravity(-g * ground.z)],
        [Rolling(body, contact)],
        name="rattleback",
        description="a Celtic stone: spun the wrong way, it rattles, stops, and turns round",
        values={m: 1.0, g: 9.81, a: 0.2, b: 0.03, c: 0.02, h: 0.01, A: 2e-4, B: 1.6e-3, C: 1.7e-3, D: -2e-5},
        # Level, and pushed a little at one end: the contact moves along at pitch' a^2/c.
        start={
            x: 0.0, y: 0.0, yaw: 0.0, roll: 0.0, pitch: 0.0,
            x.rate: 0.1, y.rate: 0.0, yaw.rate: -5.0, roll.rate: 0.0, pitch.rate: 0.05,
        },
        until=10.0,
        look=Look(shapes={"stone": Solid("ellipsoid", (a, b, c), at=(0, 0, h))}),
    )  # fmt: skip
