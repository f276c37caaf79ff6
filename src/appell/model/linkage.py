"""A linkage: the links of a robot and what is on them, from whatever description they were read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from numbers import Integral

import numpy as np
import sympy as sp

from appell.errors import ModelError
from appell.model.body import RigidBody
from appell.model.chain_data import ChainData
from appell.model.coupling import Coupling
from appell.model.frame import Frame
from appell.model.inertia import MassDistribution, warn_if_impossible
from appell.model.joint import Link, drive_name
from appell.model.placement import Placement
from appell.model.rotation import Triple
from appell.model.screws import exponential, hat
from appell.model.shapes.abstract import AbstractShape
from appell.model.shapes.mesh_file import MeshFile
from appell.model.symbols import Coordinate, Input, Parameter, coordinates, inputs
from appell.model.values import unknown


@dataclass(frozen=True, eq=False)
class Linkage:
    """Links, each on one that stands before it or on the ground.

    Attributes:
        links: The moving links with their joints.
        markers: Frames on them: number of the link that carries each (-1 the ground) and place.
        meshes: For each link with meshes the files.
        name: What it is called where it was read.
        foot: What stands still, as it is drawn.
    """

    links: tuple[Link, ...]
    markers: Mapping[str, tuple[int, Placement]] = field(default_factory=dict)
    meshes: Mapping[str, tuple[MeshFile, ...]] = field(default_factory=dict)
    name: str = ""
    foot: AbstractShape | None = None

    def __post_init__(self) -> None:
        if not self.links:
            raise ModelError("A chain needs at least one joint that moves.")
        heavy = [link.mass != 0 or not link.inertia.is_zero_matrix for link in self.links]
        for i in reversed(range(len(self.links))):
            if self.links[i].parent >= 0:
                heavy[self.links[i].parent] |= heavy[i]
        self._check_moved(heavy, "no mass and no inertia", "a mass")

    @cached_property
    def coupling(self) -> Coupling:
        """How the variables of all joints follow from the coordinates: the same, unless a joint mimics another."""
        return Coupling.of(self.links)

    @cached_property
    def formulas(self) -> tuple[sp.Expr, ...]:
        """Every formula that stands in the data of the links."""
        found: list[sp.Expr] = []
        for link in self.links:
            found += [link.mass, *link.center, *link.inertia, *link.axis, link.pitch]
            for place in (link.before, link.after):
                found += [*place.shift, *(e for k, angle in place.turns for e in (*k, angle))]
        return tuple(found)

    def index(self, link: str | int) -> int:
        """The number of a link, from 0; by its name, that of its joint, or the number itself."""
        names = [e.name for e in self.links]
        if isinstance(link, str):
            for listed in (names, [e.joint for e in self.links], [e.label for e in self.links]):
                if link in listed:
                    return listed.index(link)
        elif isinstance(link, Integral) and -len(names) <= link < len(names):
            return int(link) % len(names)
        if isinstance(link, str) and link in self.markers:
            carrier = self.markers[link][0]
            raise ModelError(
                f"{link!r} is not a moving link of this chain: it is fixed to "
                f"{repr(names[carrier]) if carrier >= 0 else 'the ground'}; name that."
            )
        if isinstance(link, str):
            raise ModelError(unknown(link, [*names, *self.markers], "link of this chain"))
        raise ModelError(f"{link!r} is not a link of this chain; give a name or a number below {len(names)}.")

    def place(self, link: str) -> tuple[str | int, Placement | None]:
        """The moving link that carries a link or marker, and where its frame is on that; None for its own frame."""
        if link not in self.markers:
            return link, None
        carrier, at = self.markers[link]
        if carrier < 0:
            raise ModelError(f"The link {link!r} does not move; a tool is on a moving link.")
        return carrier, at

    # As parts of a model.

    @property
    def letters(self) -> tuple[tuple[Coordinate, ...], tuple[Input, ...]]:
        """A coordinate and a drive for every joint that mimics no other."""
        free = [self.links[i] for i in self.coupling.free]
        q = tuple(coordinates(e.joint, *_of_joint(e, ("rad", "angle of"), ("m", "travel of"))) for e in free)
        drives = (inputs(drive_name(e.joint), *_of_joint(e, ("N*m", "torque on"), ("N", "force on"))) for e in free)
        return q, tuple(drives)

    def frames(self, ground: Frame, q: Sequence[Coordinate]) -> tuple[Frame, ...]:
        """The frames of the links, hung one on the other: seat, joint, link."""
        found: list[Frame] = []
        variables = [row[0] for row in self.coupling.rows([[s] for s in q])]
        for link, x in zip(self.links, variables, strict=True):
            outer = ground if link.parent < 0 else found[link.parent]
            seat = link.before.frame(outer, f"seat of {link.joint}")
            if link.kind == "prismatic":
                moving = seat.slide(x, link.axis, name=link.name)
            else:
                moving = seat.pin(x, link.axis, [link.pitch * x * k for k in link.axis], link.name)
            found.append(link.after.frame(moving, link.name))
        return tuple(found)

    def bodies(self, frames: Sequence[Frame]) -> list[RigidBody]:
        """The links that have mass or inertia."""
        return [
            RigidBody(link.name, link.mass, frame.point(*link.center), frame, link.inertia, link.shape)
            for link, frame in zip(self.links, frames, strict=True)
            if link.mass != 0 or not link.inertia.is_zero_matrix
        ]

    def symbolic(self, gravity: Triple, tool: Placement, tool_link: int) -> ChainData:
        """All data as SymPy formulas.

        Args:
            gravity: Acceleration of free fall in ground axes.
            tool: Where the tool is in the frame of its link.
            tool_link: The number of that link.
        """
        links = self.links
        return ChainData(
            parents=tuple(link.parent for link in links),
            revolute=tuple(0 if link.kind == "prismatic" else 1 for link in links),
            pitch=np.array([link.pitch for link in links], dtype=object),
            relative=np.stack([_array(link.before.matrix * link.after.matrix) for link in links]),
            screws=np.stack([_body_screw(link) for link in links]),
            pseudo=np.stack([_array(MassDistribution.of(e.mass, e.center, e.inertia).pseudo) for e in links]),
            gravity=np.array(gravity, dtype=object),
            tool=_array(tool.matrix),
            tool_body=tool_link,
        )

    # What cannot be.

    def check_inertia(self, data: ChainData) -> None:
        """M_jj = tr(A_j N_j A_j') > 0 at a generic pose, with N_j the pseudo-inertia of all that joint j carries.

        In the axes of link j, and against the size of what it is summed up from: robots far from the origin of the
        ground, or of a few micrometres, are like others.
        """
        q, N, felt = np.sin(1.0 + np.arange(data.n)), np.array(data.pseudo), [True] * data.n
        for j in reversed(range(data.n)):
            A = hat(data.screws[j])
            size = np.trace(np.abs(A) @ np.abs(N[j]) @ np.abs(A).T)
            felt[j] = bool(np.trace(A @ N[j] @ A.T) > 1e-14 * size)
            if data.parents[j] >= 0:
                T = data.relative[j] @ exponential(data.screws[j], q[j : j + 1])[0]
                N[data.parents[j]] += T @ N[j] @ T.T
        self._check_moved(felt, "no inertia about its axis", "an inertia")

    def _check_moved(self, felt: Sequence[bool], lack: str, remedy: str) -> None:
        """Refuse joints that nothing resists, neither along themselves nor along one that moves with them."""
        links = self.links
        led = {link.follows[0] for link, there in zip(links, felt, strict=True) if there and link.follows is not None}
        idle = [e for i, e in enumerate(links) if not felt[i] and e.follows is None and i not in led]
        if not idle:
            return
        named = {link.label: 0 for link in idle if link.label}
        fix = "fix the joint" if not named else f"do without the joint{'s' * (len(named) > 1)}, locked={named}"
        raise ModelError(
            f"The link {idle[-1].name!r} and all that the joint {idle[-1].joint!r} carries have {lack}, so that "
            f"nothing says how it moves; give the link {remedy}" + (f", or {fix}." if len(idle) < len(links) else ".")
        )

    def warn(self, values: Mapping[str, float]) -> None:
        """Warn about links that cannot exist where suggested values give letters their numbers."""
        for link in self.links:
            found = link.inertia.free_symbols
            if found and all(isinstance(s, Parameter) and s.label in values for s in found):
                warn_if_impossible(link.name, 1, link.inertia.subs({s: values[s.label] for s in found}))


def _of_joint(link: Link, turning: tuple[str, str], sliding: tuple[str, str]) -> tuple[str, str]:
    """The unit and the description of a letter of a joint, by whether it turns or slides."""
    unit, words = sliding if link.kind == "prismatic" else turning
    return unit, f"{words} link {link.name!r}"


def _body_screw(link: Link) -> np.ndarray:
    """A_i = Ad(F_i^-1) (k, h k), or (0, k) for a prismatic joint."""
    k, R = sp.Matrix(link.axis), link.after.rotation
    if link.kind == "prismatic":
        return np.array([*[sp.Integer(0)] * 3, *(R.T * k)], dtype=object)
    # The axis passes the origin of the joint's frame, which is at -R'f in the link's frame.
    w, point = R.T * k, -R.T * sp.Matrix(link.after.shift)
    return np.array([*w, *(point.cross(w) + link.pitch * w)], dtype=object)


def _array(matrix: sp.Matrix) -> np.ndarray:
    """A SymPy matrix as an array of formulas."""
    return np.array(matrix.tolist(), dtype=object)
