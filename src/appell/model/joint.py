"""One joint of a chain and the link it carries."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import sympy as sp

from appell.errors import ModelError
from appell.model.placement import Placement, check_finite, finite_triple
from appell.model.rotation import Triple, exact_zero, lettered_axis, triple
from appell.model.values import formula_of

KINDS = ("revolute", "prismatic", "helical")


@dataclass(frozen=True, eq=False)
class Joint:
    """A joint and the link it carries, described with all joints at zero ("at home").

    Args:
        axis: Direction of the axis in ground axes at home: `"z"`, `"-y"`, or a unit vector.
        at: A point of the axis in the ground at home.
        kind: `"revolute"`, `"prismatic"` or `"helical"`.
        pitch: Of a helical joint: advance along the axis per radian.
        mass: Mass of the link; left out: none.
        center: Its mass centre, from the origin of the link's frame, in the axes of that frame; left out: that origin.
        inertia: Its central inertia in the axes of its frame, as for `RigidBody`.
        frame: Pose of the link's frame in the ground at home, as a 4 by 4 matrix or three components of its origin;
            left out: the axes of the ground, with the origin at `at`.
        parent: The joint whose link carries this one: its name or its number in the list, from 0; `"ground"`;
            left out: the joint before.
        name: Name of the joint and of its coordinate; left out: q1, q2, ...
        link: Name of the link; left out: link1, link2, ...
        limits: Lowest and highest value of the coordinate.
        effort: Largest force or torque of the drive.
        velocity: Largest speed of the coordinate.
        damping: Viscous friction, force per speed. Kept as data, like the limits: no force of the model, but of
            `appell.friction.declared(chain)`.
        friction: Dry friction, a force or torque. Kept as data.
        shape: A shape of `appell.shapes` in the axes of the link's frame, in place of center and inertia, and of mass
            unless the shape has none. With a center it is only what is drawn.
    """

    axis: Any = "z"
    at: Any = (0, 0, 0)
    kind: str = "revolute"
    pitch: Any = 0
    mass: Any = None
    center: Any = None
    inertia: Any = None
    frame: Any = None
    parent: str | int | None = None
    name: str = ""
    link: str = ""
    limits: tuple[float, float] | None = None
    effort: float | None = None
    velocity: float | None = None
    damping: float = 0.0
    friction: float = 0.0
    shape: Any = None


@dataclass(frozen=True, eq=False, kw_only=True)
class Link:
    r"""What a chain keeps of each joint and its link: $T_i = T_{parent}\,B_i\,e^{\hat k_i q_i}\,F_i$.

    Attributes:
        name: Name of the link.
        joint: Name of the joint.
        parent: Index of the parent; -1 is the ground.
        kind: revolute, prismatic or helical.
        axis: Unit direction of the axis in the joint's frame, whose origin is on the axis.
        pitch: Advance per radian.
        before: B_i, from the parent's frame to the joint's.
        after: F_i, from the joint's moving frame to the link's frame.
        mass: Mass.
        center: Mass centre in the link's frame.
        inertia: Central inertia tensor in the axes of the link's frame.
        limits: Lowest and highest coordinate, or None.
        effort: Largest force, or None.
        velocity: Largest speed, or None.
        damping: Viscous friction.
        friction: Dry friction.
        shape: What can be drawn, and perhaps what mass, centre and inertia were made from; or None.
        follows: For a joint that is no coordinate but moves with another one: number of that link, ratio, offset.
        label: Name of the joint in the file it was read from.
    """

    name: str
    joint: str
    parent: int
    kind: str
    axis: Triple
    pitch: sp.Expr
    before: Placement
    after: Placement
    mass: sp.Expr
    center: Triple
    inertia: sp.Matrix
    limits: tuple[float, float] | None = None
    effort: float | None = None
    velocity: float | None = None
    damping: float = 0.0
    friction: float = 0.0
    shape: Any = None
    follows: tuple[int, float, float] | None = None
    label: str = ""


def checked_axis(axis: Any, name: str) -> Triple:
    """A unit vector; lengths off by more than 1e-4 are refused, less is rounding of a table and is mended.

    Args:
        axis: A letter with or without a minus sign, or three components.
        name: Name of the joint, for messages.
    """
    if isinstance(axis, str):
        otherwise = f"The axis of the joint {name!r} is {axis!r}; use 'x', 'y', 'z', '-x' or a unit vector."
        return lettered_axis(axis, otherwise)
    k = finite_triple(axis, f"The axis of the joint {name!r}")
    square = sum(c**2 for c in k)
    if square.is_number and abs(float(square) - 1) > 2e-4:
        raise ModelError(
            f"The axis ({', '.join(map(str, k))}) of the joint {name!r} has length {float(square) ** 0.5:.6g}; "
            "give a unit vector."
        )
    if square.is_number and float(square) != 1:
        length = sp.sqrt(square)
        k = triple((c / length for c in k), "An axis")
    return tidy(k)


def joint_names(joints: Sequence[Joint]) -> list[str]:
    """The names of joints, q1, q2, ... where none is given; refuses what is none."""
    for joint in joints:
        if not isinstance(joint, Joint):
            raise ModelError(f"A chain is made of appell.Joint(...), got {joint!r}.")
    return [joint.name or f"q{i}" for i, joint in enumerate(joints, 1)]


def drive_name(joint: str) -> str:
    """The name of a joint's drive: tau1 for q1, tau_elbow for elbow."""
    return f"tau{joint[1:]}" if joint[0] == "q" and joint[1:].isdigit() else f"tau_{joint}"


def tidy(values: Iterable[sp.Expr]) -> Triple:
    """Three components without the dust of rounding about -1, 0 and 1."""
    listed = []
    for e in values:
        if e.is_Float and abs(float(e) - round(float(e))) < 1e-15 and abs(round(float(e))) <= 1:
            e = sp.Integer(round(float(e)))
        listed.append(e)
    return triple(listed, "A vector")


def checked_kind(kind: str, pitch: Any, name: str) -> sp.Expr:
    """The pitch as a formula; refuses unknown kinds and a pitch where there is none.

    Args:
        kind: What was given as the kind of joint.
        pitch: What was given as the pitch.
        name: Name of the joint, for messages.
    """
    if kind not in KINDS:
        raise ModelError(f"The joint {name!r} is of the unknown kind {kind!r}; there are: {', '.join(KINDS)}.")
    pitch = exact_zero(formula_of(pitch, f"The pitch of the joint {name!r}"))
    if kind != "helical" and pitch != 0:
        raise ModelError(f"The joint {name!r} is {kind} and has a pitch; only helical joints have one.")
    if kind == "helical" and pitch == 0:
        raise ModelError(f"The helical joint {name!r} needs a pitch: its advance per radian.")
    check_finite((pitch,), f"The pitch of the joint {name!r}")
    return pitch


def order(names: list[str], parents: list[str | None]) -> list[int]:
    """An order with parents before children; refuses unknown parents and loops.

    Args:
        names: Names of the joints.
        parents: For each the name of its parent; None for the ground.
    """
    index: dict[str, int] = {}
    for i, name in enumerate(names):
        if name in index:
            raise ModelError(f"Two joints are called {name!r}; give each its own name.")
        index[name] = i
    for name, parent in zip(names, parents, strict=True):
        if parent is not None and parent not in index:
            raise ModelError(
                f"The parent {parent!r} of the joint {name!r} is not a joint; there are: {', '.join(names)}."
            )
    done: list[int] = []
    state = [0] * len(names)
    for first in range(len(names)):
        trail: list[int] = []
        i: int | None = first
        while i is not None and state[i] == 0:
            state[i] = 1
            trail.append(i)
            parent = parents[i]
            i = None if parent is None else index[parent]
        if i is not None and state[i] == 1:
            loop = [names[k] for k in trail[trail.index(i) :]]
            raise ModelError(
                f"The joints {' -> '.join([*loop[::-1], loop[-1]])} form a loop; a chain is a tree. Cut the loop at "
                "one joint and close it by an appell.Holonomic constraint."
            )
        for k in reversed(trail):
            state[k] = 2
            done.append(k)
    return done
