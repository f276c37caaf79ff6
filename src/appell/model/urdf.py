"""Chains from URDF files, read by yourdfpy."""

from __future__ import annotations

import io
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import sympy as sp

from appell.errors import ModelError
from appell.model.inertia import MassDistribution
from appell.model.joint import Joint, Link, checked_axis
from appell.model.placement import Placement, finite
from appell.model.rotation import Triple, triple
from appell.model.screw_joints import made_link
from appell.model.shapes import Box, Composite, Cylinder, Sphere
from appell.model.shapes.abstract import AbstractShape

KINDS = {"revolute": "revolute", "continuous": "revolute", "prismatic": "prismatic"}


@dataclass(frozen=True)
class MeshFile:
    """A mesh that a link is drawn with.

    Attributes:
        path: The file.
        pose: Its pose in the frame of the link, 4 by 4.
        scale: Factors along its axes.
    """

    path: str
    pose: np.ndarray
    scale: tuple[float, float, float]


@dataclass(frozen=True)
class RobotFile:
    """What a URDF file says.

    Attributes:
        name: Name of the robot.
        links: The moving links, those behind fixed joints merged into what carries them.
        markers: Frames of all other links: number of the moving link that carries them (-1 the ground) and place.
        meshes: For each link with meshes the files.
    """

    name: str
    links: list[Link]
    markers: dict[str, tuple[int, Placement]]
    meshes: dict[str, tuple[MeshFile, ...]]


def read_urdf(source: str | Path, meshes: bool) -> RobotFile:
    """The links of a URDF file, parents before children.

    Args:
        source: The file, or its text.
        meshes: Whether the mesh files it names must be there.
    """
    robot, folder = _parsed(source)
    inertials = {link.name: _inertial(link) for link in robot.links}
    into = _tree(robot)
    root = next(link.name for link in robot.links if link.name not in into)
    links: list[Link] = []
    places: dict[str, tuple[int, Placement]] = {root: (-1, Placement.of(None, "the root"))}
    moving: list[str] = []
    for joint in _outward(root, robot.joints):
        carrier, place = places[joint.parent]
        origin = Placement.of(_finite(joint.origin, f"The origin of the joint {joint.name!r}"), "an origin")
        here = place.after(origin).simplified()
        if joint.type == "fixed":
            places[joint.child] = (carrier, here)
            continue
        link = _link(joint, carrier, here)
        places[joint.child] = (len(links), Placement.of(None, "a link"))
        links.append(link)
        moving.append(joint.child)
    drawn: dict[int, list[AbstractShape]] = {}
    files: dict[str, tuple[MeshFile, ...]] = {}
    for link in robot.links:
        carrier, place = places[link.name]
        found, listed = _geometry(link, folder, meshes)
        if listed:
            files[link.name] = listed
        drawn.setdefault(carrier, []).extend(shape.placed(place) for shape in found)
    for i, name in enumerate(moving):
        parts = [(place, inertials[other]) for other, (carrier, place) in places.items() if carrier == i]
        looks = Composite(drawn[i]) if drawn.get(i) else None
        links[i] = replace(_merged(links[i], parts), shape=looks)
        assert links[i].name == name
    markers = {name: place for name, place in places.items() if name not in moving}
    return RobotFile(robot.name or "robot", links, markers, files)


def _parsed(source: str | Path) -> tuple[Any, Path]:
    try:
        import yourdfpy
    except ImportError as error:
        raise ModelError("Reading a URDF file needs yourdfpy: pip install 'appell[urdf]'.") from error
    text = str(source).lstrip() if isinstance(source, str) else ""
    if text.startswith("<"):
        data, folder, what = text.encode(), Path(), "the text"
    else:
        path = Path(source)
        if not path.is_file():
            raise ModelError(f"There is no URDF file {str(source)!r}.")
        data, folder, what = path.read_bytes(), path.parent, str(source)
    try:
        from lxml import etree

        tag = etree.fromstring(data).tag
        if tag != "robot":
            raise ModelError(f"{what} is no URDF: its outermost element is <{tag}>, not <robot>.")
        robot = yourdfpy.URDF.load(
            io.BytesIO(data), build_scene_graph=False, load_meshes=False, build_collision_scene_graph=False
        ).robot
    except ModelError:
        raise
    except Exception as error:
        raise ModelError(f"{what} cannot be read as URDF: {error}") from error
    return robot, folder.resolve()


def _tree(robot: Any) -> dict[str, Any]:
    """For each link the joint that carries it; refuses loops, doubles and unknown links."""
    names = [link.name for link in robot.links]
    for name in names:
        if names.count(name) > 1:
            raise ModelError(f"Two links of the URDF are called {name!r}.")
    into: dict[str, Any] = {}
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
        if joint.type not in (*KINDS, "fixed"):
            known = ", ".join([*KINDS, "fixed"])
            raise ModelError(f"The joint {joint.name!r} is of the type {joint.type!r}; appell reads: {known}.")
    roots = [name for name in names if name not in into]
    if len(roots) != 1:
        loop = _loop(names, into) if not roots else ""
        raise ModelError(
            f"The links {loop} form a loop; a URDF is a tree."
            if loop
            else f"A URDF has one link that no joint carries; this one has {len(roots)}: {', '.join(roots)}."
        )
    reached = {roots[0], *(joint.child for joint in _outward(roots[0], robot.joints))}
    lost = [name for name in names if name not in reached]
    if lost:
        raise ModelError(f"The links {_loop(lost, into)} form a loop; a URDF is a tree.")
    return into


def _loop(names: list[str], into: Mapping[str, Any]) -> str:
    trail = [names[0]]
    while into[trail[-1]].parent not in trail:
        trail.append(into[trail[-1]].parent)
    first = into[trail[-1]].parent
    return " -> ".join([first, *reversed(trail[trail.index(first) :])])


def _outward(root: str, joints: list[Any]) -> list[Any]:
    """The joints from the root outwards, one branch after the other in the order of the file."""
    found: list[Any] = []
    for joint in joints:
        if joint.parent == root:
            found += [joint, *_outward(joint.child, joints)]
    return found


def _inertial(link: Any) -> MassDistribution:
    """Mass distribution of a link in its own frame."""
    given = link.inertial
    if given is None or given.mass is None:
        return MassDistribution(sp.zeros(4, 4))
    what = f"The inertia of the link {link.name!r}"
    tensor = np.zeros((3, 3)) if given.inertia is None else _finite(given.inertia, what)
    pose = np.eye(4) if given.origin is None else _finite(given.origin, f"The inertial origin of {link.name!r}")
    mass = float(given.mass)
    if not np.isfinite(mass) or mass < 0:
        raise ModelError(f"The mass of the link {link.name!r} must be finite and not negative, got {given.mass}.")
    R = pose[:3, :3]
    turned = tensor if np.array_equal(R, np.eye(3)) else R @ tensor @ R.T
    turned = (turned + turned.T) / 2
    body = MassDistribution.of(mass, pose[:3, 3], sp.Matrix(turned.tolist()))
    body.__dict__["central_inertia"] = sp.Matrix(turned.tolist())
    return body


def _finite(values: Any, what: str) -> np.ndarray:
    array = np.eye(4) if values is None else np.asarray(values, dtype=float)
    if not np.isfinite(array).all():
        raise ModelError(f"{what} must be finite numbers.")
    return array


def _link(joint: Any, carrier: int, before: Placement) -> Link:
    axis = checked_axis(triple(joint.axis, "An axis"), joint.name)
    limit, dynamics = joint.limit, joint.dynamics
    ends = None
    if limit is not None and joint.type != "continuous" and None not in (limit.lower, limit.upper):
        ends = (float(limit.lower), float(limit.upper))
    data = Joint(
        kind=KINDS[joint.type],
        limits=ends,
        effort=None if limit is None else _bound(limit.effort),
        velocity=None if limit is None else _bound(limit.velocity),
        damping=float((dynamics.damping or 0.0) if dynamics is not None else 0.0),
        friction=float((dynamics.friction or 0.0) if dynamics is not None else 0.0),
    )
    after = Placement.of(None, "a link")
    return made_link(data, joint.child, _identifier(joint.name), carrier, axis, sp.Integer(0), before, after)


def _bound(value: float | None) -> float | None:
    """A bound, with infinity as none."""
    return None if value is None or value == float("inf") else float(value)


def _identifier(name: str) -> str:
    """A name of a coordinate: other characters than letters, digits and _ become _."""
    word = re.sub(r"\W", "_", name, flags=re.ASCII)
    return word if re.match(r"[A-Za-z_]", word) else f"q_{word}"


def _merged(link: Link, parts: list[tuple[Placement, MassDistribution]]) -> Link:
    """The link with the mass of all that is fixed to it."""
    heavy = [(place, body) for place, body in parts if not body.pseudo.is_zero_matrix]
    if not heavy:
        return link
    if len(heavy) == 1 and heavy[0][0].trivial:
        body = heavy[0][1]
    else:
        body = MassDistribution(sp.zeros(4, 4))
        for place, part in heavy:
            body = body + part.moved(place)
    if body.mass == 0:
        return replace(link, inertia=body.inertia)
    center: Triple = finite(body.center, f"The center of {link.name!r}")
    return replace(link, mass=body.mass, center=center, inertia=_symmetric(body.central_inertia))


def _symmetric(tensor: sp.Matrix) -> sp.Matrix:
    return sp.Matrix(3, 3, lambda i, j: tensor[min(i, j), max(i, j)])


def _geometry(link: Any, folder: Path, strict: bool) -> tuple[list[AbstractShape], tuple[MeshFile, ...]]:
    """Primitives that a link is drawn with, and mesh files."""
    shapes: list[AbstractShape] = []
    files: list[MeshFile] = []
    for visual, drawn in (*((v, True) for v in link.visuals), *((c, False) for c in link.collisions)):
        form = visual.geometry
        pose = _finite(visual.origin, f"The origin of what the link {link.name!r} is drawn with")
        if form.mesh is not None:
            path = _resolved(form.mesh.filename, folder)
            if path is None and strict:
                raise ModelError(
                    f"The link {link.name!r} names the mesh {form.mesh.filename!r}, which is not there; put it where "
                    "the URDF says, or give meshes=False to do without."
                )
            scale = form.mesh.scale
            x, y, z = np.ones(3) * (1.0 if scale is None else np.asarray(scale, dtype=float))
            if path is not None and drawn:
                files.append(MeshFile(str(path), pose, (float(x), float(y), float(z))))
        elif drawn and form.box is not None:
            shapes.append(Box(*(float(e) for e in form.box.size)).placed(pose))
        elif drawn and form.cylinder is not None:
            shapes.append(Cylinder(float(form.cylinder.radius), float(form.cylinder.length)).placed(pose))
        elif drawn and form.sphere is not None:
            shapes.append(Sphere(float(form.sphere.radius)).placed(pose))
    return shapes, tuple(files)


def _resolved(name: str, folder: Path) -> Path | None:
    """The file of a mesh: beside the URDF or, for package:// names, below one of the folders above it."""
    plain = re.sub(r"^file://", "", name)
    package = re.match(r"^(?:package|model)://([^/]+)/(.*)$", plain)
    if package is None:
        path = Path(plain)
        path = path if path.is_absolute() else folder / path
        return path if path.is_file() else None
    inside, rest = package.groups()
    for above in (folder, *folder.parents):
        for path in (above / inside / rest, above / rest):
            if path.is_file():
                return path
    return None
