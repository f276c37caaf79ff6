"""The joints of a URDF file from the root outwards; some may be locked, those of several freedoms are taken apart."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from appell.errors import ModelError
from appell.model.joint import checked_axis
from appell.model.rotation import Triple
from appell.model.screws import exponential
from appell.model.urdf_text import JointText, RobotText
from appell.model.values import numbers, unknown

KINDS = {"revolute": "revolute", "continuous": "revolute", "prismatic": "prismatic"}
READ = (*KINDS, "fixed", "planar", "floating", "spherical")  # the last is no URDF, but files for Bullet have it
GROUND = ""  # what carries a root that moves: no link has this name


def tree(robot: RobotText) -> tuple[str, list[JointText]]:
    """The root, and the joints from it outwards; refuses loops, doubles and unknown links."""
    names = {link.name for link in robot.links}
    for things, what in ((robot.links, "links"), (robot.joints, "joints")):
        for name, count in Counter(thing.name for thing in things).items():
            if count > 1:
                raise ModelError(f"Two {what} of the URDF are called {name!r}.")
    into: dict[str, JointText] = {}
    for joint in robot.joints:
        for end in (joint.parent, joint.child):
            if end not in names:
                raise ModelError(f"The joint {joint.name!r} names the link {end!r}, which the URDF does not have.")
        if joint.child in into:
            raise ModelError(
                f"The link {joint.child!r} hangs on two joints, {into[joint.child].name!r} and {joint.name!r}: a loop. "
                "A URDF is a tree; cut the loop at one joint and close it by an appell.Holonomic constraint."
            )
        into[joint.child] = joint
        if joint.type not in READ:
            raise ModelError(
                f"The joint {joint.name!r} is of the type {joint.type!r}; appell reads: {', '.join(READ)}."
            )
    roots = [link.name for link in robot.links if link.name not in into]
    if len(roots) > 1:
        raise ModelError(
            f"A URDF has one link that no joint carries; this one has {len(roots)}: {', '.join(roots)}. Join them by "
            "fixed joints, or read them as several robots."
        )
    joints = _outward(roots[0], robot.joints) if roots else []
    reached = {*roots, *(joint.child for joint in joints)}
    lost = [link.name for link in robot.links if link.name not in reached]
    if lost:
        raise ModelError(f"The links {_loop(lost, into)} form a loop; a URDF is a tree.")
    return roots[0], joints


def _loop(names: list[str], into: Mapping[str, JointText]) -> str:
    trail = [names[0]]
    while into[trail[-1]].parent not in trail:
        trail.append(into[trail[-1]].parent)
    first = into[trail[-1]].parent
    return " -> ".join([first, *reversed(trail[trail.index(first) :])])


def _outward(root: str, joints: Sequence[JointText]) -> list[JointText]:
    """The joints from the root outwards, one branch after the other in the order of the file."""
    children: dict[str, list[JointText]] = {}
    for joint in joints:
        children.setdefault(joint.parent, []).append(joint)
    found: list[JointText] = []
    waiting = children.get(root, [])[::-1]
    while waiting:
        joint = waiting.pop()
        found.append(joint)
        waiting += children.get(joint.child, [])[::-1]
    return found


def freed(root: str) -> JointText:
    """A joint that lets the root move freely in the ground.

    Args:
        root: The name of the root link.
    """
    return JointText(
        name="base",
        type="floating",
        parent=GROUND,
        child=root,
        origin=np.eye(4),
        axis=(1.0, 0.0, 0.0),
        limits={},
        damping=0.0,
        friction=0.0,
        mimic=None,
    )


def locked_at(joints: Sequence[JointText], given: Mapping[str, float] | None) -> list[JointText]:
    """The joints, with some of them fixed in a place, and those that mimic them in the place that follows.

    Args:
        joints: All joints, of one freedom or none.
        given: The variables of those that shall not move.
    """
    places, names = numbers(given), [joint.name for joint in joints]
    for name in places:
        if name not in names:
            raise ModelError(unknown(name, names, "joint of this robot"))
        if joints[names.index(name)].type == "fixed":
            raise ModelError(f"The joint {name!r} is fixed already, and cannot be locked elsewhere.")
    mimics = {joint.name: joint.mimic for joint in joints if joint.mimic is not None and joint.type in KINDS}
    while new := [e for e, (leader, _, _) in mimics.items() if leader in places and e not in places]:
        for name in new:
            leader, ratio, offset = mimics[name]
            places[name] = ratio * places[leader] + offset
    moving = {joint.name for joint in joints if joint.type in KINDS and joint.name not in places}
    for name, (leader, ratio, offset) in mimics.items():
        if name in places and leader in moving:
            raise ModelError(f"The joint {name!r} mimics {leader!r}, which would go on without it; lock {leader!r}.")
        if name in places and leader in places and abs(ratio * places[leader] + offset - places[name]) > 1e-9:
            raise ModelError(
                f"The joint {name!r} cannot be locked at {places[name]:g}: it mimics {leader!r}, which puts it at "
                f"{ratio * places[leader] + offset:g}; leave {name!r} out."
            )
    return [joint if joint.name not in places else _locked(joint, places[joint.name]) for joint in joints]


def _locked(joint: JointText, place: float) -> JointText:
    k = np.array([float(e) for e in axis_of(joint)])
    screw = np.concatenate([np.zeros(3), k] if joint.type == "prismatic" else [k, np.zeros(3)])
    moved = exponential(screw, np.array([place]))[0]
    return replace(joint, type="fixed", origin=joint.origin @ moved, mimic=None)


def single(joint: JointText) -> list[JointText]:
    """The joint as joints of one freedom or none.

    A planar one slides twice and turns, a floating one slides and turns thrice, a spherical one turns thrice.

    Args:
        joint: The joint.
    """
    if joint.type in (*KINDS, "fixed"):
        return [joint]
    if joint.mimic is not None:
        raise ModelError(f"The {joint.type} joint {joint.name!r} mimics another; only joints of one freedom can.")
    if joint.type == "planar":
        k = np.array([float(e) for e in axis_of(joint)])
        x = np.roll(np.eye(3)[np.argmax(np.abs(k))], 1)
        x = x - k * (k @ x)
        x /= np.linalg.norm(x)
        slides, turns = {"x": x, "y": np.cross(k, x)}, {"angle": k}
    else:
        slides = {} if joint.type == "spherical" else dict(zip("xyz", np.eye(3), strict=True))
        turns = dict(zip(("yaw", "pitch", "roll"), np.eye(3)[::-1], strict=True))
    parts = [("prismatic", name, axis) for name, axis in slides.items()]
    parts += [("continuous", name, axis) for name, axis in turns.items()]
    children = [*(f"{joint.child} {name}" for _, name, _ in parts[:-1]), joint.child]
    parents, origins = [joint.parent, *children], [joint.origin, *[np.eye(4)] * len(parts)]
    return [
        replace(
            joint,
            name=f"{joint.name}_{name}",
            type=kind,
            parent=parents[i],
            child=children[i],
            origin=origins[i],
            axis=tuple(axis.tolist()),
            limits={},
        )
        for i, (kind, name, axis) in enumerate(parts)
    ]


def axis_of(joint: JointText) -> Triple:
    """The axis as a unit vector; files give its direction by a vector of any length."""
    k = [float(e) for e in joint.axis]
    length = math.hypot(*k)
    if not length:
        raise ModelError(f"The axis of the joint {joint.name!r} is the zero vector, which has no direction.")
    return checked_axis(k if length == 1 or not math.isfinite(length) else [e / length for e in k], joint.name)
