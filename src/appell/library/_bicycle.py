"""The Whipple bicycle with the numbers of the benchmark of Meijaard and others."""

from __future__ import annotations

import sympy as sp

from appell.model.body import RigidBody
from appell.model.constraint import Holonomic, Rolling
from appell.model.force import Gravity
from appell.model.frame import Frame
from appell.model.model import Model
from appell.model.symbols import coordinates, parameters


def bicycle() -> Model:
    """A bicycle with a rigid rider: two knife-edge wheels, a rear frame, a front frame turning about a tilted axis.

    Axes x forward, y to the right, z down. Of the eight coordinates the pitch follows from the front wheel touching the
    ground; four rolling rows leave three degrees of freedom: lean, steer and forward speed. Upright running is stable
    between 4.29 m/s and 6.02 m/s.

    Parameters of the model: w, wheelbase; c, trail; tilt of the steer axis; radii r, masses m, mass centres x, z and
    moments of inertia i of rear wheel r, rear frame and rider b, front frame h, front wheel f; g.

    Reference: Meijaard, Papadopoulos, Ruina, Schwab 2007, Proc. R. Soc. A 463, Table 1.
    """
    x, y = coordinates("x y", "m", "contact of the rear wheel")
    yaw, lean, pitch, steer = coordinates(
        "yaw lean pitch steer",
        "rad",
        "heading of the rear frame; lean of the rear frame; pitch of the rear frame; steering angle",
    )
    spin_r, spin_f = coordinates("spin_r spin_f", "rad", "rotation of the rear wheel; rotation of the front wheel")
    w, c, tilt, g = parameters(
        "w c tilt g",
        "m m rad m/s^2",
        "wheelbase; trail; tilt of the steer axis; acceleration of gravity, along z",
    )
    r_r, r_f = parameters("r_r r_f", "m", "radius of the rear wheel; radius of the front wheel")
    m_r, m_b, m_h, m_f = parameters(
        "m_r m_b m_h m_f",
        "kg",
        "mass of the rear wheel; mass of rear frame and rider; mass of the front frame; mass of the front wheel",
    )
    x_b, z_b, x_h, z_h = parameters(
        "x_b z_b x_h z_h",
        "m",
        "mass centre of rear frame and rider, forward; mass centre of rear frame and rider, down; mass centre of the "
        "front frame, forward; mass centre of the front frame, down",
    )
    i_rx, i_ry, i_fx, i_fy = parameters(
        "i_rx i_ry i_fx i_fy",
        "kg*m^2",
        "moment of inertia of the rear wheel about a diameter; moment of inertia of the rear wheel about its axle; "
        "moment of inertia of the front wheel about a diameter; moment of inertia of the front wheel about its axle",
    )
    i_bx, i_by, i_bz, i_bxz = parameters(
        "i_bx i_by i_bz i_bxz",
        "kg*m^2",
        "moment of inertia of rear frame and rider about x; moment of inertia of rear frame and rider about y; moment"
        " of inertia of rear frame and rider about z; xz entry of the inertia of rear frame and rider",
    )
    i_hx, i_hy, i_hz, i_hxz = parameters(
        "i_hx i_hy i_hz i_hxz",
        "kg*m^2",
        "moment of inertia of the front frame about x; moment of inertia of the front frame about y; moment of "
        "inertia of the front frame about z; xz entry of the inertia of the front frame",
    )

    ground = Frame("ground")
    plane = ground.rotate("z", yaw).rotate("x", lean, "rear plane")
    frame = plane.rotate("y", pitch, "rear frame")
    fork = frame.rotate("y", tilt).rotate("z", steer, "front frame")
    upright = fork.rotate("y", -tilt, "front frame, upright axes")
    touch = ground.point(x, y)
    hub_r = touch - r_r * plane.z
    head = hub_r + frame.vector(w + c, 0, r_r)  # where the steer axis would meet the ground
    hub_f = head + upright.vector(-c, 0, -r_f)
    # The lowest point of the front wheel: down its plane, perpendicular to its axle.
    dip = ground.z.dot(fork.y)
    touch_f = hub_f + (r_f / sp.sqrt(1 - dip**2)) * (ground.z - dip * fork.y)

    rear = RigidBody("rear wheel", m_r, hub_r, plane.rotate("y", spin_r), (i_rx, i_ry, i_rx))
    rider = RigidBody(
        "rear frame and rider", m_b, hub_r + frame.vector(x_b, 0, z_b + r_r), frame, (i_bx, i_by, i_bz, 0, 0, i_bxz)
    )
    handle = RigidBody(
        "front frame", m_h, head + upright.vector(x_h - w - c, 0, z_h), upright, (i_hx, i_hy, i_hz, 0, 0, i_hxz)
    )
    front = RigidBody("front wheel", m_f, hub_f, fork.rotate("y", spin_f), (i_fx, i_fy, i_fx))
    level = [ground.x, ground.y]
    return Model(
        ground,
        (x, y, yaw, lean, pitch, steer, spin_r, spin_f),
        [rear, rider, handle, front],
        [Gravity(g * ground.z)],
        [
            Holonomic(ground.components(touch_f)[2], "front wheel on the ground"),
            Rolling(rear, touch, along=level, name="rear rolling"),
            Rolling(front, touch_f, along=level, name="front rolling"),
        ],
        name="bicycle",
        description="the Whipple bicycle with a rigid rider, benchmark data. It runs at 5 m/s, pushed sideways.",
        values={
            w: 1.02, c: 0.08, tilt: sp.pi / 10, g: 9.81, r_r: 0.3, r_f: 0.35, m_r: 2, m_b: 85, m_h: 4, m_f: 3,
            x_b: 0.3, z_b: -0.9, x_h: 0.9, z_h: -0.7, i_rx: 0.0603, i_ry: 0.12, i_fx: 0.1405, i_fy: 0.28,
            i_bx: 9.2, i_by: 11, i_bz: 2.8, i_bxz: 2.4, i_hx: 0.05892, i_hy: 0.06, i_hz: 0.00708, i_hxz: -0.00756,
        },
        start={x.rate: 5, spin_r.rate: -5 / 0.3, spin_f.rate: -5 / 0.35, lean.rate: 0.1},
        until=5.0,
    )  # fmt: skip
