"""From joints described at home in ground axes to links described each in its parent."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any

import sympy as sp

from appell.errors import ModelError
from appell.model.body import inertia_tensor, mass_formula, shape_moments
from appell.model.joint import Joint, Link, checked_axis, checked_kind, joint_names, order, tidy
from appell.model.placement import Placement, finite_triple
from appell.model.rotation import Triple, triple


def links_from_joints(joints: Sequence[Joint]) -> list[Link]:
    """Links with parents before children, from joints described at home.

    Args:
        joints: What the user gave.
    """
    names = joint_names(joints)
    parents = [_parent(joint, i, names) for i, joint in enumerate(joints)]
    ranks = order(names, parents)
    homes: dict[str, Placement] = {}
    links: list[Link] = []
    for i in ranks:
        joint, name = joints[i], names[i]
        at = finite_triple(joint.at, f"The point of the joint {name!r}")
        frame = at if joint.frame is None else joint.frame
        home = homes[name] = Placement.of(frame, f"The frame of the joint {name!r}")
        k = checked_axis(joint.axis, name)
        pitch = checked_kind(joint.kind, joint.pitch, name)
        axis = tidy(home.rotation.T * sp.Matrix(k))
        arm = tidy(home.rotation.T * (sp.Matrix(at) - sp.Matrix(home.shift)))
        parent = parents[i]
        seat = home if parent is None else relative(homes[parent], home)
        after = Placement()
        if joint.kind != "prismatic" and any(e != 0 for e in sp.Matrix(arm).cross(sp.Matrix(axis))):
            shift = sp.Matrix(seat.shift) + seat.rotation * sp.Matrix(arm)
            seat = Placement(tidy(shift), seat.turns)
            after = Placement(triple((-e for e in arm), "A shift"))
        link = joint.link or f"link{i + 1}"
        index = -1 if parent is None else next(r for r, e in enumerate(links) if e.joint == parent)
        links.append(
            made_link(joint=joint, link=link, name=name, parent=index, axis=axis, pitch=pitch, before=seat, after=after)
        )
    return links


def made_link(
    joint: Joint, link: str, name: str, parent: int, axis: Triple, pitch: sp.Expr, before: Placement, after: Placement
) -> Link:
    """A link with its mass and the plain data of its joint checked.

    Args:
        joint: Where mass, inertia and limits are taken from.
        link: Name of the link.
        name: Name of the joint.
        parent: Index of the parent.
        axis: Unit direction in the joint's frame.
        pitch: Advance per radian.
        before: From the parent's frame to the joint's.
        after: From the joint's moving frame to the link's.
    """
    if not re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII):
        raise ModelError(
            f"The joint {name!r} names a coordinate: use the letters a to z and A to Z, digits and _, beginning with a "
            "letter."
        )
    mass, center, inertia = _moments(joint, link)
    center = finite_triple(center, f"The center of {link!r}")
    _check_data(joint, name)
    return Link(
        name=link,
        joint=name,
        parent=parent,
        kind=joint.kind,
        axis=axis,
        pitch=pitch,
        before=before,
        after=after,
        mass=mass_formula(link, mass),
        center=center,
        inertia=inertia_tensor(link, inertia),
        limits=joint.limits,
        effort=joint.effort,
        velocity=joint.velocity,
        damping=joint.damping,
        friction=joint.friction,
        shape=joint.shape,
    )


def _moments(joint: Joint, link: str) -> tuple[Any, Any, Any]:
    """Mass, centre and central inertia of a link, given or from its shape."""
    if joint.shape is None or joint.center is not None:
        mass = 0 if joint.mass is None else joint.mass
        center = (0, 0, 0) if joint.center is None else joint.center
        return mass, center, (0, 0, 0) if joint.inertia is None else joint.inertia
    if joint.inertia is not None:
        raise ModelError(f"The link {link!r} has its inertia from its shape; leave out inertia, or give center.")
    return shape_moments(link, joint.mass, joint.shape)


def relative(outer: Placement, inner: Placement) -> Placement:
    """The placement of `inner` in `outer`, both given in one frame.

    Args:
        outer: The frame it is sought in.
        inner: The frame that is sought.
    """
    shift = tidy(outer.rotation.T * (sp.Matrix(inner.shift) - sp.Matrix(outer.shift)))
    turns = (*((k, -angle) for k, angle in reversed(outer.turns)), *inner.turns)
    return Placement(shift, turns).simplified()


def _parent(joint: Joint, i: int, names: list[str]) -> str | None:
    if joint.parent is None:
        return names[i - 1] if i else None
    if joint.parent == "ground" or joint.parent == -1:
        return None
    if isinstance(joint.parent, Integral):
        if not 0 <= joint.parent < len(names):
            raise ModelError(f"The parent of the joint {names[i]!r} is number {joint.parent} of {len(names)} joints.")
        return names[joint.parent]
    return joint.parent


def _check_data(joint: Joint, name: str) -> None:
    for what in ("effort", "velocity", "damping", "friction"):
        value = getattr(joint, what)
        if value is not None and not (_numeric(value) and math.isfinite(value) and value >= 0):
            raise ModelError(f"The {what} of the joint {name!r} must be a finite number, not negative; got {value!r}.")
    match joint.limits:
        case None:
            pass
        case (low, high) if _numeric(low) and _numeric(high) and low <= high:
            pass
        case _:
            raise ModelError(f"The limits of the joint {name!r} must be (lowest, highest), got {joint.limits!r}.")


def _numeric(value: Any) -> bool:
    return isinstance(value, Real | sp.Number)
