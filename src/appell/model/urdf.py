"""Chains from URDF files."""

from __future__ import annotations

import difflib
import keyword
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import sympy as sp

from appell.errors import ModelError
from appell.model.joint import Joint, Link, drive_name
from appell.model.linkage import Linkage
from appell.model.placement import Placement
from appell.model.rotation import triple
from appell.model.screw_joints import made_link
from appell.model.shapes import Box, Composite, Cylinder, Sphere
from appell.model.shapes.abstract import AbstractShape
from appell.model.shapes.mesh_file import MeshFile
from appell.model.urdf_text import InertialText, JointText, LinkText, parsed
from appell.model.urdf_tree import GROUND, KINDS, axis_of, freed, locked_at, single, tree

PRIMITIVES = {"box": Box, "cylinder": Cylinder, "sphere": Sphere}
HERE = np.eye(4)


def read_urdf(source: str | Path, meshes: bool, floating: bool, locked: Mapping[str, float] | None) -> Linkage:
    """The robot of a URDF file, links behind fixed joints merged into what carries them.

    Args:
        source: The file, or its text.
        meshes: Whether the mesh files it names must be there.
        floating: Whether the root moves freely.
        locked: Joints that do not move, and where they stay.
    """
    robot = parsed(source)
    root, joints = tree(robot)
    parts = [part for joint in ([freed(root), *joints] if floating else joints) for part in single(joint)]
    links: list[Link] = []
    places: dict[str, tuple[int, np.ndarray]] = {GROUND if floating else root: (-1, HERE)}
    moving: set[str] = set()
    follows: dict[int, tuple[str, float, float]] = {}
    for joint in locked_at(parts, locked):
        carrier, place = places[joint.parent]
        before = place @ joint.origin
        if joint.type == "fixed":
            places[joint.child] = (carrier, before)
            continue
        links.append(_link(joint, carrier, before))
        if joint.mimic is not None:
            follows[len(links) - 1] = joint.mimic
        places[joint.child] = (len(links) - 1, HERE)
        moving.add(joint.child)
    if not links:
        raise ModelError(
            "A chain needs at least one joint that moves; the URDF has none. With floating=True its root moves freely."
        )
    links = _named(_following(links, follows))
    drawn: dict[int, list[AbstractShape]] = {}
    files: dict[str, tuple[MeshFile, ...]] = {}
    carried: dict[int, list[tuple[np.ndarray, InertialText]]] = {}
    for link in robot.links:
        carrier, place = places[link.name]
        found, listed = _geometry(link, robot.folder, meshes)
        if listed:
            files[link.name] = listed
        drawn.setdefault(carrier, []).extend(shape.placed(place) for shape in found)
        if link.inertial is not None:
            carried.setdefault(carrier, []).append((place, link.inertial))
    looks = {i: Composite(shapes) for i, shapes in drawn.items() if shapes}
    for i, bare in enumerate(links):
        links[i] = replace(_merged(bare, carried.get(i, [])), shape=looks.get(i))
    still = [link.name for link in robot.links if link.name not in moving]
    markers = {name: (places[name][0], Placement.of(places[name][1], "A link")) for name in still}
    return Linkage(tuple(links), markers, files, robot.name or "robot", looks.get(-1))


def _link(joint: JointText, carrier: int, place: np.ndarray) -> Link:
    limits = joint.limits
    both = joint.type != "continuous" and {"lower", "upper"} <= limits.keys()
    data = Joint(
        kind=KINDS[joint.type],
        limits=(limits["lower"], limits["upper"]) if both else None,
        effort=_bound(limits.get("effort")),
        velocity=_bound(limits.get("velocity")),
        damping=joint.damping,
        friction=joint.friction,
    )
    made = made_link(
        joint=data,
        link=joint.child,
        name=_identifier(joint.name),
        parent=carrier,
        axis=axis_of(joint),
        pitch=sp.Integer(0),
        before=Placement.of(place, f"The origin of the joint {joint.name!r}"),
        after=Placement(),
    )
    return replace(made, label=joint.name)


def _following(links: list[Link], follows: Mapping[int, tuple[str, float, float]]) -> list[Link]:
    """The links with those that mimic a joint bound to it; one that mimics a mimic is bound to the first."""
    found = list(links)
    for i in follows:
        leader, ratio, offset, trail = i, 1.0, 0.0, [links[i].label]
        while leader in follows:
            name, r, o = follows[leader]
            ratio, offset = ratio * r, offset + ratio * o
            if name in trail:
                raise ModelError(f"The joints {' -> '.join([*trail, name])} mimic each other in a circle.")
            trail.append(name)
            places = [k for k, link in enumerate(links) if link.label == name]
            if not places:
                movers = [link.label for link in links]
                near = difflib.get_close_matches(name, movers, 1)
                raise ModelError(
                    f"The joint {trail[-2]!r} mimics {name!r}, which is not a joint that moves."
                    + (f" Did you mean {near[0]!r}?" if near else f" There are: {', '.join(movers)}.")
                )
            leader = places[0]
        found[i] = replace(links[i], follows=(leader, ratio, offset))
    return found


def _bound(value: float | None) -> float | None:
    """A bound, with infinity as none."""
    return None if value is None or value == float("inf") else float(value)


def _identifier(name: str) -> str:
    """A name of a coordinate: other characters than letters, digits and _ become _."""
    word = re.sub(r"\W", "_", name, flags=re.ASCII)
    if keyword.iskeyword(word) or word in ("t", "pi"):
        return f"{word}_"
    return word if re.match(r"_*[A-Za-z]", word) else f"q_{word}"


def _named(links: list[Link]) -> list[Link]:
    """The links with coordinates and drives of different names: a second joint_1 becomes joint_1_2."""
    taken: set[str] = set()
    found = []
    for link in links:
        name, count = link.joint, 1
        while not taken.isdisjoint((name, drive_name(name))):
            count += 1
            name = f"{link.joint}_{count}"
        taken |= {name, drive_name(name)}
        found.append(replace(link, joint=name))
    return found


def _merged(link: Link, parts: list[tuple[np.ndarray, InertialText]]) -> Link:
    """The link with the mass of all that is fixed to it."""
    poses = [place @ body.origin for place, body in parts]
    turned = [T[:3, :3] @ body.inertia @ T[:3, :3].T for T, (_, body) in zip(poses, parts, strict=True)]
    masses = [body.mass for _, body in parts]
    total = sum(masses)
    center = sum((m * T[:3, 3] for m, T in zip(masses, poses, strict=True)), np.zeros(3)) / (total or 1.0)
    inertia = sum(turned, np.zeros((3, 3)))
    if len(parts) == 1:
        center = poses[0][:3, 3]
    for m, T in zip(masses, poses, strict=True) if len(parts) > 1 else ():
        d = T[:3, 3] - center
        inertia = inertia + m * (d @ d * np.eye(3) - np.outer(d, d))
    tensor = sp.Matrix(3, 3, lambda i, j: sp.sympify(float(inertia[min(i, j), max(i, j)])))
    if total == 0:
        return replace(link, inertia=tensor)
    return replace(link, mass=sp.sympify(total), center=triple(center.tolist(), "A center"), inertia=tensor)


def _geometry(link: LinkText, folder: Path, strict: bool) -> tuple[list[AbstractShape], tuple[MeshFile, ...]]:
    """All that a link is drawn with, and of that the mesh files."""
    shapes: list[AbstractShape] = []
    files: list[MeshFile] = []
    for form in link.geometry:
        if form.kind == "mesh":
            path = _resolved(form.filename, folder)
            if path is None and strict:
                raise ModelError(
                    f"The link {link.name!r} names the mesh {form.filename!r}, which is not there; put it where "
                    "the URDF says, or give meshes=False to do without."
                )
            if path is not None and form.drawn:
                x, y, z = form.numbers
                files.append(MeshFile(str(path), (x, y, z), Placement.of(form.origin, f"A mesh of {link.name!r}")))
        elif form.drawn and all(form.numbers):  # a sphere of no radius is how files draw nothing
            try:
                shapes.append(PRIMITIVES[form.kind](*form.numbers).placed(form.origin))
            except ModelError as error:
                raise ModelError(f"What the link {link.name!r} is drawn with: {error}") from error
    return [*shapes, *files], tuple(files)


def _resolved(name: str, folder: Path) -> Path | None:
    """The file of a mesh: beside the URDF or, for package:// names, below one of the folders above it.

    With or without the name of the package, which need not be that of a folder.
    """
    package = re.match(r"^(?:package|model):/*(.*)$", name)
    if package is None:
        path = folder / re.sub(r"^file://", "", name)  # an absolute name stands for itself
        return path if path.is_file() else None
    whole = package[1]
    listed = [above / part for above in (folder, *folder.parents) for part in (whole, whole.partition("/")[2]) if part]
    return next((path for path in listed if path.is_file()), None)
