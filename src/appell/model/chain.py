"""Robots: chains and trees of one-freedom joints, by screws, by Denavit-Hartenberg rows or from a URDF file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from appell.errors import ModelError
from appell.model.chain_data import ChainData, joint_variables
from appell.model.coupling import Coupling
from appell.model.denavit_hartenberg import links_from_rows
from appell.model.force import AbstractForce, Generalized, Gravity
from appell.model.frame import Frame, Vector
from appell.model.joint import Joint, Link, drive_name
from appell.model.linkage import Linkage
from appell.model.look import Look
from appell.model.model import Model, counted
from appell.model.placement import Placement, finite_triple
from appell.model.rotation import Triple, triple
from appell.model.screw_joints import links_from_joints
from appell.model.shapes.mesh_file import MeshFile
from appell.model.symbols import ExtraState, Parameter, key
from appell.model.urdf import read_urdf
from appell.model.values import by_name, numbers, whole


class Chain(Model):
    r"""A robot: $T_i = T_{parent(i)}\,M_i\,e^{\hat A_i q_i}$, a tree of revolute, prismatic and helical joints.

    A chain is a `Model`: its joints are the coordinates, its links the bodies, one drive for each joint is an input
    (`tau1`, or `tau_NAME` for a joint with a name), and gravity acts. Every formulation, `verify`, `simulate` apply to
    it, and `chain.add(...)` gives a model with constraints, other bodies, forces and mass flows in it.

    Args:
        joints: The joints with their links, each described at home, that is with all joints at zero; or links that
            were read from another description.
        gravity: Acceleration of free fall in ground axes.
        tool: Where the tool is in the frame of its link: three components or a 4 by 4 matrix.
        tool_link: Name (or number from 0) of the link that carries the tool; the last one if left out.
        name: A name for reports.
        description: What it is and where it comes from.
        values: Suggested numbers of parameters; the drives have 0 unless given.
        start: A suggested starting state; joints left out start from rest at zero.
        until: A suggested length of a run.
        states: Extra states that the links' masses depend on, and their rates, as for `Model`.

    Example:
        >>> import appell as ap
        >>> arm = ap.Chain(
        ...     [
        ...         ap.Joint("z", at=(0, 0, 0), mass=3, center=(0.25, 0, 0), inertia=(0.004, 0.0625, 0.063)),
        ...         ap.Joint("z", at=(0.5, 0, 0), mass=2, center=(0.2, 0, 0), inertia=(0.002, 0.027, 0.028)),
        ...     ],
        ...     gravity=(0, -9.81, 0),
        ...     tool=(0.4, 0, 0),
        ...     name="planar arm",
        ... )
        >>> arm
        Chain 'planar arm': 2 joints RR, 2 bodies, 2 forces, 0 constraint rows, inputs tau1 tau2, no parameters
        >>> arm.pose([0.0, 1.5707963267948966])[:3, 3].round(12).tolist()
        [0.5, 0.4, 0.0]

    Reference: Brockett 1984; Negrean et al. 2025, (71)-(81).
    """

    linkage: Linkage
    frames: tuple[Frame, ...]
    gravity: Triple
    tool: Placement
    tool_link: int

    def __init__(
        self,
        joints: Iterable[Joint] | Linkage,
        gravity: Iterable[Any] = (0, 0, -9.81),
        tool: Any = None,
        tool_link: str | int | None = None,
        name: str = "chain",
        description: str = "",
        values: Mapping[Any, float] | None = None,
        start: Mapping[Any, float] | None = None,
        until: float = 10.0,
        states: Mapping[ExtraState, Any] | None = None,
    ) -> None:
        if not isinstance(joints, Iterable | Linkage):
            raise ModelError(f"A chain is made of a list of appell.Joint(...), got {joints!r}.")
        linkage = joints if isinstance(joints, Linkage) else Linkage(links_from_joints(tuple(joints)))
        g = finite_triple(gravity, "The gravity of a chain")
        place = Placement.of(tool, "The tool")
        carrier = len(linkage.links) - 1 if tool_link is None else linkage.index(tool_link)
        q, drives = linkage.letters
        ground = Frame("ground")
        frames = linkage.frames(ground, q)
        forces: list[AbstractForce] = [Generalized(dict(zip(q, drives, strict=True)), "drives")]
        if any(e != 0 for e in g):
            forces.insert(0, Gravity(ground.vector(*g)))
        given = dict(by_name(values, "Values", "{name: 1.0}"))
        begin = numbers(start)
        elsewhere = {s.name for e in (*g, *linkage.formulas) for s in e.free_symbols}
        alone = {s.name for s in place.matrix.free_symbols} - elsewhere
        spare = {key(s): given.pop(s) for s in list(given) if key(s) in alone}  # the model does not contain them
        super().__init__(
            ground,
            q,
            linkage.bodies(frames),
            forces,
            states=states,
            name=name,
            description=description,
            values={**dict.fromkeys(drives, 0.0), **given},
            start={**{s.label: 0.0 for s in q}, **{s.rate.label: 0.0 for s in q}, **begin},
            until=until,
            look=Look(
                traces=_tool(place, frames[carrier], spare) if alone <= set(spare) else None,
                ground=() if linkage.foot is None else linkage.foot,
            ),
        )
        vars(self).update(linkage=linkage, frames=frames, gravity=g, tool=place, tool_link=carrier, spare_values=spare)
        if not any(e.free_symbols for e in (*linkage.formulas, *g, place.matrix)):
            linkage.check_inertia(self.numbers())
        linkage.warn(self.values)

    @classmethod
    def from_dh(
        cls,
        rows: Sequence[Sequence[Any]],
        joints: Sequence[Joint],
        convention: str = "standard",
        base: Any = None,
        gravity: Iterable[Any] = (0, 0, -9.81),
        tool: Any = None,
        name: str = "chain",
        description: str = "",
        values: Mapping[Any, float] | None = None,
        start: Mapping[Any, float] | None = None,
        until: float = 10.0,
    ) -> Chain:
        r"""A robot from Denavit-Hartenberg rows: $T_i = T_{i-1}\,R_z(\theta)\,T_z(d)\,T_x(a)\,R_x(\alpha)$.

        The modified convention is $T_i = T_{i-1}\,R_x(\alpha)\,T_x(a)\,R_z(\theta)\,T_z(d)$.

        Args:
            rows: For each joint theta, d, a, alpha: numbers or formulas. The joint variable is added to theta
                (revolute) or to d (prismatic). In the modified convention a and alpha are those of the row's own line,
                that is a_(i-1) and alpha_(i-1).
            joints: For each row a `Joint` that says its kind and mass, center and inertia of its link in the axes and
                from the origin of the link's frame of the convention; names and limits as well. No axis, no place.
            convention: `"standard"` or `"modified"`.
            base: Where frame 0 is in the ground: three components or a 4 by 4 matrix.
            gravity: Acceleration of free fall in ground axes.
            tool: Where the tool is in the frame of the last link.
            name: A name for reports.
            description: What it is and where it comes from.
            values: Suggested numbers of parameters.
            start: A suggested starting state.
            until: A suggested length of a run.

        Returns:
            The chain.

        Example:
            >>> import appell as ap
            >>> links = [ap.Joint(mass=1, inertia=(0, 1, 1)), ap.Joint(mass=1, inertia=(0, 1, 1))]
            >>> arm = ap.Chain.from_dh([(0, 0, 0.5, 0), (0, 0, 0.4, 0)], links)
            >>> arm.pose([0.0, 0.0])[:3, 3].tolist()
            [0.9, 0.0, 0.0]
        """
        return cls(
            Linkage(tuple(links_from_rows(rows, joints, convention, Placement.of(base, "The base")))),
            gravity=gravity,
            tool=tool,
            name=name,
            description=description,
            values=values,
            start=start,
            until=until,
        )

    @classmethod
    def from_urdf(
        cls,
        source: str | Path,
        gravity: Iterable[Any] = (0, 0, -9.81),
        tool: str | None = None,
        meshes: bool = True,
        floating: bool = False,
        locked: Mapping[str, float] | None = None,
        name: str = "",
        description: str = "",
        start: Mapping[Any, float] | None = None,
        until: float = 10.0,
    ) -> Chain:
        """A robot from a URDF file: joints of all its types, in any tree.

        Links behind fixed joints are merged into what carries them; their frames stay, as `markers`. Limits, damping
        and friction are kept as data of `links`, for `friction.declared`, `planning.Limits.of` and `efforts`; what is
        drawn as shapes of the bodies and as `meshes`. Coordinates bear the names of the joints, with _ for what cannot
        stand in a name. A joint that mimics another has no coordinate and no drive of its own: it moves as told, and
        `coupling` says how. A planar joint `base` becomes base_x, base_y and base_angle; a floating one base_x, base_y,
        base_z, base_yaw, base_pitch and base_roll, which are singular where the pitch is a quarter of a turn; a
        spherical one the last three of these.

        Args:
            source: The file, or the text itself.
            gravity: Acceleration of free fall in the axes of the root link.
            tool: Name of a link whose frame is that of the tool; the last moving link if left out.
            meshes: Whether mesh files named in it must be there.
            floating: Whether its root moves freely in the ground, as if a floating joint `base` carried it.
            locked: Joints that do not move, by their names in the file, and where they stay; those that mimic them stay
                with them.
            name: A name for reports; that of the file's robot if left out.
            description: What it is and where it comes from.
            start: A suggested starting state.
            until: A suggested length of a run.

        Returns:
            The chain.
        """
        robot = read_urdf(source, meshes, floating, locked)
        carrier, at = (tool, None) if tool is None else robot.place(tool)
        return cls(
            robot,
            gravity=gravity,
            tool=at,
            tool_link=carrier,
            name=name or robot.name,
            description=description,
            start=start,
            until=until,
        )

    def __repr__(self) -> str:
        kinds = "".join(link.kind[0].upper() for link in self.links)
        bound = len(self.links) - len(self.coupling.free)
        joints = f"{counted(self.links, 'joint')} {kinds}" + f" ({bound} mimic)" * bool(bound)
        return f"Chain {self.name!r}: {joints}, {self.content}"

    @property
    def links(self) -> tuple[Link, ...]:
        """The moving links with their joints, parents before children."""
        return self.linkage.links

    @property
    def coupling(self) -> Coupling:
        """How the variables of all joints follow from the coordinates: the same, unless a joint mimics another."""
        return self.linkage.coupling

    @property
    def markers(self) -> Mapping[str, tuple[int, Placement]]:
        """Frames on the links: number of the link that carries each (-1 the ground) and place."""
        return self.linkage.markers

    @property
    def meshes(self) -> Mapping[str, tuple[MeshFile, ...]]:
        """For each link that a file draws with meshes what it names, in the axes of the link."""
        return self.linkage.meshes

    def index(self, link: str | int) -> int:
        """The number of a link, from 0.

        Args:
            link: Name of the link or of its joint, or the number itself.
        """
        return self.linkage.index(link)

    def frame(self, link: str | int) -> Frame:
        """The frame of a link or of a marker, to attach forces, constraints and other bodies to.

        Args:
            link: Name of a link, a joint or a marker, or the number of a link.
        """
        if isinstance(link, str) and link in self.markers:
            carrier, place = self.markers[link]
            return place.frame(self.frames[carrier] if carrier >= 0 else self.ground, link)
        return self.frames[self.index(link)]

    def _seat(self, link: str | int, dtype: np.dtype) -> tuple[int, np.ndarray]:
        """The moving link that carries a link or marker (-1 the ground), and the pose of its frame on that."""
        if isinstance(link, str) and link in self.markers:
            carrier, place = self.markers[link]
            return carrier, np.array(place.matrix.tolist(), dtype=dtype)
        return self.index(link), np.eye(4, dtype=dtype)

    @property
    def efforts(self) -> dict[str, float]:
        """The largest force of each drive whose joint declares one above zero, by the name of the input."""
        free = [self.links[i] for i in self.coupling.free]
        return {drive_name(link.joint): link.effort for link in free if link.effort}

    @property
    def tool_frame(self) -> Frame:
        """The frame of the tool; its origin is the tool point."""
        return self.tool.frame(self.frames[self.tool_link], "tool")

    @property
    def tool_point(self) -> Vector:
        """The tool point."""
        return self.tool_frame.origin

    @cached_property
    def symbolic(self) -> ChainData:
        """All data as SymPy formulas, for kinematics in symbols."""
        return self.linkage.symbolic(self.gravity, self.tool, self.tool_link)

    def numbers(self, values: Mapping[Any, float] | None = None) -> ChainData:
        """All data as arrays of floats.

        Args:
            values: Numbers of parameters; the suggested ones where none is given.
        """
        if values is None:
            return self._suggested_numbers
        return self._weighed(known := self._known(values), self.symbolic.moving(known))

    @property
    def constant(self) -> bool:
        """Whether its masses, lengths and gravity are numbers and parameters, so that none of them changes."""
        formulas = (*self.linkage.formulas, *self.gravity)
        return all(isinstance(s, Parameter) for e in formulas for s in e.free_symbols)

    def _known(self, values: Mapping[Any, float] | None) -> dict[str, float]:
        """Numbers of letters; refuses unknown letters and what is no number."""
        letters = {s.name for s in (*self.parameters, *self.inputs, *self.tool.matrix.free_symbols)}
        given = numbers(values)
        for name in given:
            if name not in letters:
                there = ", ".join(p.name for p in self.parameters) or "none"
                raise ModelError(f"The chain has no parameter {name!r}; it has: {there}.")
        return {**self.values, **self.spare_values, **given}

    def _weighed(self, known: Mapping[str, float], data: ChainData) -> ChainData:
        data = data.weighed(known)
        for link, mass in zip(self.links, data.pseudo[:, 3, 3], strict=True):
            if mass < 0:
                raise ModelError(f"The mass of {link.name!r} must not be negative, got {mass:g}.")
        return data

    @cached_property
    def _suggested_numbers(self) -> ChainData:
        return self._weighed(self._known(None), self._suggested_moving)

    @cached_property
    def _suggested_moving(self) -> ChainData:
        return self.symbolic.moving(self._known(None))

    def series(self, order: int) -> np.ndarray:
        """The letters q, q', ... up to an order in the columns, to be given to the kinematics of `symbolic`.

        One row for each joint; that of a joint that mimics another is a formula.

        Args:
            order: The highest derivative.
        """
        whole("The order", order, 0)
        letters = [[q.derivative(k) for k in range(order + 1)] for q in self.coordinates]
        return np.array(self.coupling.rows(letters), dtype=object)

    def poses(self, q: Any = None, values: Mapping[Any, float] | None = None) -> np.ndarray:
        """T_i, the poses of all link frames in the ground, of shape (..., n, 4, 4).

        Args:
            q: The coordinates, of shape (..., n); left out: formulas in them.
            values: Numbers of parameters.
        """
        data, Q = self._asked(q, values)
        return data.poses(Q)[0]

    def pose(self, q: Any = None, link: str | int | None = None, values: Mapping[Any, float] | None = None) -> Any:
        """The pose of the tool, or of a link, in the ground, of shape (..., 4, 4).

        Args:
            q: As for `poses`.
            link: Name of a link, a joint or a marker, or the number of a link; the tool if left out.
            values: Numbers of parameters.
        """
        data, Q = self._asked(q, values)
        poses = data.poses(Q)[0]
        if link is None:
            return poses[..., self.tool_link, :, :] @ data.tool
        body, place = self._seat(link, poses.dtype)
        return poses[..., body, :, :] @ place if body >= 0 else np.broadcast_to(place, (*poses.shape[:-3], 4, 4)).copy()

    def jacobian(
        self,
        q: Any = None,
        link: str | int | None = None,
        point: Iterable[Any] = (0, 0, 0),
        values: Mapping[Any, float] | None = None,
    ) -> np.ndarray:
        r"""$J_j = (v_j + \omega_j\times p;\ \omega_j)$, of shape (..., 6, n): velocity of a point, angular velocity.

        Both are in ground axes.

        Args:
            q: As for `poses`.
            link: As for `pose`.
            point: A point of the link, in its frame.
            values: Numbers of parameters.
        """
        data, Q = self._asked(q, values)
        p, body = np.array(triple(point, "The point of a Jacobian")), None
        if link is not None:
            body, place = self._seat(link, np.dtype(object))
            p = place[:3, :3] @ p + place[:3, 3]
        if body == -1:
            return np.zeros((*Q.shape[:-2], 6, len(self.coordinates)), Q.dtype)
        J = data.jacobian(Q, body, p)[0]
        return J if self.coupling.trivial else J @ self.coupling.matrix

    def differential(
        self,
        link: str | int,
        joints: str | int | Iterable[str | int],
        q: Any = None,
        values: Mapping[Any, float] | None = None,
    ) -> np.ndarray:
        r"""$A_{i;j_1\ldots j_s} = \partial^s T_i/\partial q_{j_1}\cdots\partial q_{j_s}$ of any order s.

        Args:
            link: Name of a link, a joint or a marker, or the number i of a link, from 0.
            joints: Names or numbers of the joints to differentiate by, in any order, repetitions allowed; one alone is
                a first derivative. Joints that mimic one of them move with it.
            q: As for `poses`.
            values: Numbers of parameters.

        Returns:
            An array of shape (..., 4, 4).
        """
        data, Q = self._asked(q, values)
        ways = joints if isinstance(joints, Iterable) and not isinstance(joints, str) else (joints,)
        listed, found = [self.index(j) for j in ways], self.coupling
        for j in listed:
            if j not in found.free:
                leader = self.links[found.free[found.columns[j]]].joint
                raise ModelError(f"The joint {self.links[j].joint!r} moves with {leader!r}; differentiate by that one.")
        body, place = self._seat(link, Q.dtype)
        if body == -1:
            still = np.zeros_like(place) if listed else place
            return np.broadcast_to(still, (*Q.shape[:-2], 4, 4)).copy()
        terms = [(share, data.differential(Q, body, way)[0]) for share, way in found.ways(listed)]
        whole = sum((e if share == 1 else share * e for share, e in terms), np.zeros((4, 4), dtype=int))
        return whole @ place

    def _asked(self, q: Any, values: Mapping[Any, float] | None) -> tuple[ChainData, np.ndarray]:
        """Numbers or formulas, whichever the joint variables are, with a column of order zero."""
        if q is None:
            return self.symbolic, self.series(0)
        q = joint_variables(q, [s.name for s in self.coordinates])
        if q.dtype == object:
            return self.symbolic, self.coupling.motion(q[..., None])
        data = self._suggested_moving if values is None else self.symbolic.moving(self._known(values))
        return data, self.coupling.motion(q[..., None])


def _tool(tool: Placement, frame: Frame, known: Mapping[str, float]) -> dict[str, Vector]:
    """The tool, whose path drawings trace; letters that only it has are no parameters, and stand as their numbers."""
    numbers = {s: known[s.name] for s in tool.matrix.free_symbols if s.name in known}
    return {"tool": frame.point(*(e.subs(numbers) for e in tool.shift))}
