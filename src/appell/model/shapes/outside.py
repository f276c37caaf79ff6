"""What is cut out where nothing is: a cavity takes away all of itself, also what others or nobody have there."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from appell.errors import ImpossibleBodyWarning, ModelError, warn
from appell.model.inertia import MassDistribution, violation
from appell.model.shapes.abstract import AbstractPrimitive
from appell.model.shapes.inside import evenly, inside
from appell.model.shapes.lines import HalfRing, Point, Ring, Rod
from appell.model.shapes.mesh import Mesh
from appell.model.shapes.polyhedra import Tetrahedron, Triangle
from appell.model.shapes.round_solids import Cap, Cone, Frustum, Hemisphere, HollowSphere, Sphere
from appell.model.shapes.solids import Box, Cylinder, Ellipsoid, Torus, Tube
from appell.model.shapes.surfaces import (
    Annulus,
    ConeShell,
    CylinderShell,
    Disc,
    HalfDisc,
    Plate,
    SphereShell,
)

Part = tuple[int, AbstractPrimitive]
SLACK = 1e-9  # share of the size of a shape by which a cavity may stand out, of its density by which it may be denser
PLACES = 2000  # points of each cavity that are looked at
FACES = 10_000_000  # of meshes, for all of these points


def check_cut(parts: Sequence[Part], total: MassDistribution) -> None:
    """Refuse a negative mass; warn of cavities that stand out or overlap, and of moments that nothing can have.

    Args:
        parts: Signs and primitives in the same axes.
        total: Their distribution.
    """
    if all(sign > 0 for sign, _ in parts):
        return
    cure = "Cut out what is inside of the material only, each part once."
    if total.mass.is_number and total.mass < 0:
        raise ModelError(f"More is cut out than there is: the mass is {float(total.mass):.6g}. {cure}")
    words = _standing_out(parts) or _below_nothing(parts)
    if not words and total.mass != 0 and (broken := violation(total.mass, total.central_inertia)):
        words = f"More is cut out than there is: the rest violates {broken}."
    if words:
        warn(f"{words} {cure}", ImpossibleBodyWarning)


def _standing_out(parts: Sequence[Part]) -> str:
    """The cavity that stands out farthest, in words; nothing where letters leave it open."""
    try:
        poses = [np.array(part.pose.matrix.tolist(), dtype=float) for _, part in parts]
        directions = np.unique(
            np.round(np.hstack([side * pose[:3, :3] for pose in poses for side in (1, -1)]), 12), axis=1
        ).T
        reached = np.array(
            [
                [d @ pose[:3, 3] + float(reach(part, pose[:3, :3].T @ d)) for d in directions]
                for (_, part), pose in zip(parts, poses, strict=True)
            ]
        )
    except TypeError:
        return ""
    signs = np.array([sign for sign, _ in parts])
    if not (signs > 0).any():
        return ""
    beyond = reached[signs < 0] - reached[signs > 0].max(axis=0)
    i, k = np.unravel_index(np.argmax(beyond), beyond.shape)
    if beyond[i, k] <= SLACK * np.abs(reached).max():
        return ""
    cavity = [part for sign, part in parts if sign < 0][int(i)]
    along = ", ".join(f"{e + 0.0:.3g}" for e in directions[k])
    return (
        f"A {cavity.kind} that is cut out stands out of the material by {beyond[i, k]:.3g} in the direction ({along}), "
        "and takes away mass there as well."
    )


def _below_nothing(parts: Sequence[Part]) -> str:
    """A place within a solid cavity at which sum sigma_j rho_j < 0, in words; nothing where letters leave it open."""
    solids = [(sign, part) for sign, part in parts if part.extent == 3]
    faces = sum(len(part.faces) for _, part in solids if isinstance(part, Mesh))
    cube = evenly(min(PLACES, FACES // max(faces, 1)))
    try:
        poses = [np.array(part.pose.matrix.tolist(), dtype=float) for _, part in solids]
        amounts = np.array([sign * float(part.density) for sign, part in solids])
        for i in np.flatnonzero(amounts < 0):
            cavity, (R, o) = solids[i][1], (poses[i][:3, :3], poses[i][:3, 3])
            low, high = (np.array([side * float(reach(cavity, side * e)) for e in np.eye(3)]) for side in (-1, 1))
            own = low + (high - low) * cube
            places = own[inside(cavity, own)] @ R.T + o
            there = np.array(
                [inside(part, (places - T[:3, 3]) @ T[:3, :3]) for (_, part), T in zip(solids, poses, strict=True)]
            )
            density = amounts @ there
            if density.size and density.min() < -SLACK * np.abs(amounts).max():
                k = int(np.argmin(density))
                return _too_much(solids, there[:, k], places[k])
    except TypeError:
        return ""
    return ""


def _too_much(solids: Sequence[Part], there: np.ndarray, place: np.ndarray) -> str:
    """What is wrong at a place, told which of the solids are there."""
    cut = [part.kind for (sign, part), yes in zip(solids, there, strict=True) if yes and sign < 0]
    at = f"at ({', '.join(f'{e + 0.0:.3g}' for e in place)})"
    if len(cut) > 1:
        return (
            f"A {' and a '.join(cut)} that are cut out overlap, {at} for instance, and take away the same mass twice."
        )
    if any(yes and sign > 0 for (sign, _), yes in zip(solids, there, strict=True)):
        return f"A {cut[0]} that is cut out is denser than the material it is cut out of, {at} for instance."
    return f"A {cut[0]} is cut out where there is no material, {at} for instance, and takes away mass there as well."


def reach(shape: AbstractPrimitive, direction: np.ndarray) -> Any:
    """How far a primitive goes in its own axes: the largest of d . r over its points.

    Args:
        shape: The primitive.
        direction: A unit vector d.
    """
    x, y, z = direction.tolist()
    across = math.hypot(x, y)
    match shape:
        case Point():
            return 0.0
        case Rod(length=a):
            return abs(x) * a / 2
        case Ring(radius=r) | Disc(radius=r) | Annulus(outer_radius=r):
            return r * across
        case HalfRing(radius=r) | HalfDisc(radius=r):
            return r * (across if y > 0 else abs(x))
        case Plate(width=a, depth=b):
            return (abs(x) * a + abs(y) * b) / 2
        case Box(width=a, depth=b, height=c):
            return (abs(x) * a + abs(y) * b + abs(z) * c) / 2
        case Cylinder(radius=r, height=h) | CylinderShell(radius=r, height=h) | Tube(outer_radius=r, height=h):
            return r * across + abs(z) * h / 2
        case Sphere(radius=r) | SphereShell(radius=r) | HollowSphere(outer_radius=r):
            return r
        case Ellipsoid(a=a, b=b, c=c):
            return ((a * x) ** 2 + (b * y) ** 2 + (c * z) ** 2) ** 0.5
        case Torus(radius=r, tube_radius=b):
            return r * across + b
        case Cone(radius=r, height=h) | ConeShell(radius=r, height=h):
            return max(r * across, h * z)
        case Frustum(bottom_radius=r, top_radius=b, height=h):
            return max(r * across, b * across + h * z)
        case Hemisphere(radius=r):
            return r if z > 0 else r * across
        case Cap(radius=r, height=h):
            return r if r * z <= h - r else (h * (2 * r - h)) ** 0.5 * across + (h - r) * z
        case Triangle(vertices=listed) | Tetrahedron(vertices=listed) | Mesh(vertices=listed):
            return np.max(np.array(listed, dtype=float) @ direction)
    raise TypeError(shape)
