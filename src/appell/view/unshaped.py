"""What a body looks like of which only mass, inertia and the points fixed in it are known."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from appell.view.parts import Part, aligned, arms, of_inertia, part, through

ROD, STRIPE = "#8a94a0", "#2b333b"


@dataclass(frozen=True, eq=False, kw_only=True)
class Unshaped:
    """A body without a shape.

    Attributes:
        mass, inertia: Its mass, and its inertia about the centre.
        points: Points fixed in it, the centre first, in rows.
        rotor: The axis about which it turns by a coordinate of its own; None if there is none.
        loose: Whether three angles of its own, or a quaternion, turn it in any way.
        carried: Whether its centre is at rest or carried by others, and moved by no coordinates of its own.
        rolled: The radius on which it would roll as a row says; None if no row ties its turn to its way.
        edged: Whether it stands on knife edges.
    """

    mass: float
    inertia: np.ndarray
    points: np.ndarray
    rotor: np.ndarray | None
    loose: bool
    carried: bool
    rolled: float | None
    edged: bool

    def parts(self, unit: float) -> list[Part]:
        """What joins the points fixed in it, or a homogeneous body of its mass and inertia.

        Args:
            unit: A length that is small but visible.
        """
        if self.mass <= 0:
            shapes = [] if self.edged else through(self.points, unit)
            return shapes or ([] if self.rotor is None else [part("wheel", 1.2 * unit, 0.8 * unit, axis=self.rotor)])
        whole = self._wheel()
        if not whole:
            whole = self._whole(unit)
            if bars := self._bars(whole, unit):
                return bars
        return whole + arms(whole, self.points, 0.35 * unit, ROD)

    def _whole(self, unit: float) -> list[Part]:
        """A homogeneous body. What is held at a point and turns in any way spins about the line through its centre."""
        arm = self.points[1] - self.points[0] if len(self.points) == 2 and self.loose else self.rotor
        return [shape for e in of_inertia(self.mass, self.inertia, unit, arm) for shape in marked(e, arm)]

    def _wheel(self) -> list[Part]:
        """What rolls; pulleys and gears in a plane, given by one moment; a yo-yo is wider than its string says."""
        if self.rotor is None or self.edged:
            return []
        moment = float(self.rotor @ self.inertia @ self.rotor)
        if self.rolled is not None and moment <= (1 + 1e-9) * self.mass * self.rolled**2:
            ball = moment > 0 and np.allclose(self.inertia, moment * np.eye(3), rtol=1e-9, atol=1e-9 * moment)
            disk = part("wheel", self.rolled, 0.14 * self.rolled, axis=self.rotor)
            return [part("ball", self.rolled) if ball else disk]
        if moment <= 0 or abs(np.trace(self.inertia) - moment) > 1e-12 * moment:
            return []
        radius, held = np.sqrt(2 * moment / self.mass), self.carried or self.rolled is not None
        off = float(np.linalg.norm(self.points - self.points[0], axis=1).max())
        if not held or len(self.points) > 2 or off > radius / 2:
            return []
        return [part("wheel", radius, 0.12 * radius, axis=self.rotor)]

    def _bars(self, whole: list[Part], unit: float) -> list[Part]:
        """A bar, a plate or a hull through the points, where no drum or disk is told; none if there is one point."""
        points, inertia = self.points, self.inertia
        if self.edged or len(points) < 2:
            return []
        if len(points) == 2:
            arm = (points[1] - points[0]) / np.linalg.norm(points[1] - points[0])
            largest = float(np.linalg.eigvalsh(inertia)[2])
            flat = 0 < largest <= (1 + 1e-9) * float(arm @ inertia @ arm)  # a disk or a ball on a rod without mass
            if flat or (whole[0].kind == "cylinder" and whole[0].size[0] > 0.42 * unit):
                return []
            length = np.sqrt(12 * largest / self.mass)  # a rod of the same inertia about the centre
            points = np.vstack([points, *(points[0] + s * length / 2 * arm for s in (-1, 1))])
        return through(points, unit)


def marked(shape: Part, rotor: np.ndarray | None) -> list[Part]:
    """What turns about its own axis has marks, without which nothing would be seen of it: spokes or a stripe."""
    if not spins(shape, rotor):
        return [shape]
    radius, height = shape.size
    return [replace(shape, kind="wheel")] if height <= radius / 2 else [shape, *stripes(shape)]


def spins(shape: Part, rotor: np.ndarray | None) -> bool:
    """Whether it is a cylinder that turns about its own axis."""
    return rotor is not None and shape.kind == "cylinder" and aligned(rotor, shape.turn[:, 2])


def stripes(drum: Part) -> list[Part]:
    """Marks on a cylinder: from the axis outwards on both ends, and along its side."""
    radius, height = drum.size
    wide, thick = 0.08 * radius, 0.02 * radius
    marks = [((radius, wide, thick), (radius / 2, 0, end * height / 2)) for end in (-1, 1)]
    marks.append(((thick, wide, height), (radius, 0, 0)))
    return [Part("box", size, drum.at + drum.turn @ np.array(at), drum.turn, color=STRIPE) for size, at in marks]
