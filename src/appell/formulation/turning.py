"""Angular velocities as speeds."""

from __future__ import annotations

import re

import sympy as sp

from appell.model.body import RigidBody
from appell.model.frame import Frame, angular_velocity
from appell.model.model import Model
from appell.model.symbols import Coordinate, Rate, Speed


def turning(model: Model) -> dict[Speed | Rate, sp.Expr]:
    """Speeds of a model with quaternions: angular velocities in the axes that they turn, and the rates of all else.

    The rates of a quaternion are bound by its norm, whichever three are taken; the angular velocity never is.
    """
    found: dict[Speed | Rate, sp.Expr] = {}
    turned: set[sp.Expr] = set()
    for body in model.bodies:
        for frame in body.frame.path if isinstance(body, RigidBody) else ():
            quaternion = () if frame.rotation is None else frame.rotation.quaternion or ()
            if not quaternion or quaternion[0] in turned or not all(isinstance(e, Coordinate) for e in quaternion):
                continue
            turned |= {*quaternion}
            assert frame.parent is not None
            found |= angular_speeds(model, body.name, frame, frame.parent, frame)
    return found | {q.rate: q.rate for q in model.coordinates if q not in turned}


def angular_speeds(model: Model, name: str, frame: Frame, base: Frame, axes: Frame) -> dict[Speed, sp.Expr]:
    """The angular velocity of a frame against another one as speeds, `w_ball_x` and so on.

    Args:
        model: Whose letters have other names.
        name: Of the body that turns.
        frame: What turns.
        base: What it turns against.
        axes: Along which the components are taken.
    """
    taken = {s.name for s in (*model.coordinates, *model.parameters, *model.inputs, *model.states)}
    found: dict[Speed, sp.Expr] = {}
    for axis, part in zip("xyz", axes.components(angular_velocity(frame, base)), strict=True):
        word = f"w_{re.sub(r'[^A-Za-z0-9]+', '_', name)}_{axis}"
        while word in taken:
            word += "_"
        found[Speed(word, "rad/s", f"angular velocity along {axis} of {axes.name}")] = part
    return found
