"""The snakeboard."""

from __future__ import annotations

from math import radians, tan

from appell.model.body import RigidBody
from appell.model.constraint import Rolling
from appell.model.frame import Frame
from appell.model.look import Look, Solid
from appell.model.model import Model
from appell.model.symbols import coordinates, parameters


def snakeboard() -> Model:
    """A board with a steerable truck at each end; each truck rolls forward and cannot slip sideways.

    Five coordinates and two rows leave three degrees of freedom, here without a rider's rotor: the board coasts. The
    two rows determine the velocity of the board from its turning rate except where the trucks are parallel
    (front = rear): there the board rolls on without turning, and equations that always take the velocity of the board
    as dependent divide by zero. Dependent velocities are therefore better chosen by pivoting.

    Parameters of the model: l, distance of the trucks; I, moment of inertia of board and of each truck about its own
    centre; m, mass of each of the three.
    Coordinates: x, y of the middle of the board; yaw of the board; front, rear: steering angles of the trucks.

    Reference: Ostrowski, Lewis, Murray and Burdick 1994 (with rotor); this form and its numbers from Moore, Learn
        Multibody Dynamics, chapter Equations of Motion with Nonholonomic Constraints.
    """
    x, y = coordinates("x y", "m", "middle of the board")
    yaw, front, rear = coordinates(
        "yaw front rear",
        "rad",
        "heading of the board; steering angle of the front truck; steering angle of the rear truck",
    )
    l, inertia, m = parameters(
        "l I m",
        "m kg*m^2 kg",
        "distance of the trucks; moment of inertia of the board and of each truck; mass of the board and of each truck",
    )

    ground = Frame("ground")
    deck = ground.rotate("z", yaw, "board")
    middle = ground.point(x, y)
    board = RigidBody("board", m, middle, deck, (0, 0, inertia))
    axle_f, axle_r = deck.rotate("z", front, "front truck"), deck.rotate("z", rear, "rear truck")
    truck_f = RigidBody("front truck", m, middle + l / 2 * deck.x, axle_f, (0, 0, inertia))
    truck_r = RigidBody("rear truck", m, middle - l / 2 * deck.x, axle_r, (0, 0, inertia))
    deck_shape = Solid("box", (1.3 * l, 0.3 * l, 0.03 * l), at=(0, 0, 0.16 * l))
    wheels = [Solid("wheel", (0.08 * l, 0.05 * l), at=(0, side * l, 0.08 * l), axis="y") for side in (-0.18, 0.18)]
    truck_shape = [Solid("box", (0.06 * l, 0.3 * l, 0.06 * l), at=(0, 0, 0.08 * l)), *wheels]
    return Model(
        ground,
        (x, y, yaw, front, rear),
        [board, truck_f, truck_r],
        constraints=[
            Rolling(truck_f, truck_f.center, along=[axle_f.y], name="front wheels"),
            Rolling(truck_r, truck_r.center, along=[axle_r.y], name="rear wheels"),
        ],
        name="snakeboard",
        description="a board on two steerable trucks, coasting",
        values={l: 0.7, inertia: 0.1, m: 1.0},
        start={
            x: 0.0, y: 0.0, yaw: 0.0, front: radians(5), rear: -radians(5),
            x.rate: 0.1 / tan(radians(5)), y.rate: 0.0, yaw.rate: 0.2 / 0.7, front.rate: 0.01, rear.rate: -0.01,
        },
        until=10.0,
        look=Look(shapes={"board": deck_shape, "front truck": truck_shape, "rear truck": truck_shape}),
    )  # fmt: skip
