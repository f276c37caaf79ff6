r"""What the field gets: litres per square metre on a grid, from a motion.

Footprint: the jet of nozzle k wets a strip fixed to the robot, from `near` to `far` along its direction and `width`
across it, with the same share of its flow on every part of the strip,

    dose(P) = sum_k \int mu_k(t)/(rho (far - near) width) [P in the strip of nozzle k at time t] dt.

The drops land at once: their flight, wind and drift, a fan's thinner edges and the height of the nozzle are left out.
The strip is sampled by points, a strip's share of each short interval is spread over them, and each point gives what it
has to the four cells around it in proportion to their nearness, so that nothing is lost between nozzle and field.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from appell.errors import ModelError
from appell.library._sprayer import m, theta, x, y
from appell.model.symbols import letters_in
from appell.motion.motion import Motion
from appell.sprayer.robot import Sprayer, omega, v

CHUNK = 200_000  # points that are spread at once


@dataclass(frozen=True, eq=False)
class Strip:
    """What one jet wets, in metres.

    Args:
        near: Distance from the nozzle at which it begins.
        far: Distance at which it ends.
        width: Across the jet.
    """

    near: float = 0.0
    far: float = 1.0
    width: float = 0.3

    def __post_init__(self) -> None:
        if not (0 <= self.near < self.far and self.width > 0):
            raise ModelError(f"A strip needs 0 <= near < far and width > 0, got {self.near}, {self.far}, {self.width}.")

    def points(self, spacing: float) -> np.ndarray:
        """Places along and across the jet, of equal weight, no farther apart than `spacing`."""
        counts = [max(1, int(np.ceil(length / spacing))) for length in (self.far - self.near, self.width)]
        along = self.near + (np.arange(counts[0]) + 0.5) / counts[0] * (self.far - self.near)
        across = ((np.arange(counts[1]) + 0.5) / counts[1] - 0.5) * self.width
        return np.stack([e.ravel() for e in np.meshgrid(along, across, indexing="ij")])


@dataclass(frozen=True, eq=False)
class Coverage:
    """A map of what was sprayed.

    Attributes:
        x: Centres of the cells.
        y: Centres of the cells.
        dose: Litres per square metre, over y and x.
        cell: Side of a cell.
        sprayed: Litres that left the nozzles.
        moments: Times of earlier maps; None if they were not asked for.
        history: The map at those times.
    """

    x: np.ndarray
    y: np.ndarray
    dose: np.ndarray
    cell: float
    sprayed: float
    moments: np.ndarray | None = None
    history: np.ndarray | None = None

    @property
    def landed(self) -> float:
        """Litres on the map."""
        return float(self.dose.sum()) * self.cell**2

    @property
    def lost(self) -> float:
        """Share of what was sprayed that is not on the map."""
        return abs(self.landed / self.sprayed - 1) if self.sprayed else 0.0

    @property
    def wetted(self) -> np.ndarray:
        """Cells that got a quarter of the usual dose (the median) or more; those the rim only grazed do not count."""
        some = self.dose[self.dose > 1e-3 * self.dose.max(initial=0.0)]
        return self.dose >= 0.25 * (np.median(some) if some.size else np.inf)

    def _doses(self, where: Any) -> np.ndarray:
        chosen = self.dose[self.wetted if where is None else np.asarray(where, dtype=bool)]
        if chosen.size == 0 or not chosen.mean() > 0:
            raise ModelError("No part of the chosen area was sprayed, so it has no uniformity.")
        return chosen

    @property
    def area(self) -> float:
        """Wetted square metres."""
        return float(self.wetted.sum()) * self.cell**2

    def christiansen(self, where: Any = None) -> float:
        """Christiansen's coefficient of uniformity, 1 - mean |dose - mean| / mean; 1 is even.

        Args:
            where: Cells to look at, an array of booleans; the wetted ones if left out, whose ragged edges count too.
        """
        doses = self._doses(where)
        return float(1 - np.mean(np.abs(doses - doses.mean())) / doses.mean())

    def variation(self, where: Any = None) -> float:
        """Coefficient of variation: standard deviation over mean; 0 is even. Argument as for `christiansen`."""
        doses = self._doses(where)
        return float(doses.std() / doses.mean())

    def summary(self) -> str:
        """One line."""
        if not self.area:
            return "nothing sprayed"
        return (
            f"{self.sprayed:.6g} l sprayed, {self.landed:.6g} l on the map, {self.area:.4g} m2 wetted, mean "
            f"{self.dose[self.wetted].mean():.3g} l/m2, Christiansen {self.christiansen():.3f}, variation "
            f"{self.variation():.3f}"
        )

    def __repr__(self) -> str:
        return self.summary()


def cover(
    robot: Sprayer,
    motion: Motion,
    strip: Strip | None = None,
    cell: float = 0.1,
    density: float = 1.0,
    maps: int = 0,
) -> Coverage:
    """The map of a motion.

    Args:
        robot: The robot that moved.
        motion: Its motion, as simulated.
        strip: What a jet wets.
        cell: Side of a cell of the map, in metres.
        density: Kilograms per litre.
        maps: How many earlier maps to keep, for an animation.
    """
    strip = strip or Strip()
    if not (cell > 0 and density > 0):
        raise ModelError(f"The map needs cell > 0 and density > 0, got {cell} and {density}.")
    times = _times(robot, motion, strip, cell)
    middle = (times[1:] + times[:-1]) / 2
    labels = [s.label for s in motion.system.model.coordinates]
    states = motion.states(middle)
    pose = {s: states[:, labels.index(s.label)] for s in (x, y, theta)}
    litres = _litres(robot, motion, times, middle) / density
    points = placed(robot, motion, strip.points(cell / 2))
    # All the robot can reach, with a rim for the four neighbours.
    reach = max(float(np.hypot(*p).max()) for p in points)
    low = np.array([pose[e].min() - reach - cell for e in (x, y)])
    high = np.array([pose[e].max() + reach + cell for e in (x, y)])
    counts = np.ceil((high - low) / cell).astype(int) + 2
    cells, stages = int(counts[0] * counts[1]), max(1, maps)
    moments = np.linspace(times[0], times[-1], stages + 1)
    stage = np.clip(np.searchsorted(moments, middle) - 1, 0, stages - 1)
    dose = np.zeros(cells * stages)
    for k, local in enumerate(points):
        step = max(1, CHUNK // local.shape[1])
        for first in range(0, middle.size, step):
            part = slice(first, first + step)
            c, s = np.cos(pose[theta][part])[:, None], np.sin(pose[theta][part])[:, None]
            places = np.stack(
                [
                    pose[x][part][:, None] + c * local[0] - s * local[1],
                    pose[y][part][:, None] + s * local[0] + c * local[1],
                ]
            )
            share = np.repeat(litres[k, part] / local.shape[1], local.shape[1])
            offset = np.repeat(stage[part] * cells, local.shape[1])
            _spread(dose, (places.reshape(2, -1) - low[:, None]) / cell, share, counts, offset)
    grown = np.cumsum(dose.reshape(stages, counts[1], counts[0]), axis=0) / cell**2
    history = np.concatenate([np.zeros_like(grown[:1]), grown]) if maps else None
    grid = grown[-1]
    axes = [low[i] + cell * (np.arange(counts[i]) + 0.5) for i in range(2)]
    return Coverage(axes[0], axes[1], grid, cell, float(litres.sum()), moments if maps else None, history)


def _spread(dose: np.ndarray, places: np.ndarray, share: np.ndarray, counts: np.ndarray, offset: np.ndarray) -> None:
    """Give each share to the four cells around its place; weights add up to one."""
    corner = np.floor(places - 0.5).astype(int)
    beyond = places - 0.5 - corner
    for i in (0, 1):
        for j in (0, 1):
            weight = (beyond[0] if i else 1 - beyond[0]) * (beyond[1] if j else 1 - beyond[1])
            cells = offset + (corner[1] + j) * counts[0] + corner[0] + i
            dose += np.bincount(cells, share * weight, dose.size)


def _times(robot: Sprayer, motion: Motion, strip: Strip, cell: float) -> np.ndarray:
    """Times between which nothing moves farther than half a cell, and no flow jumps."""
    reach = max(np.hypot(float(_number(motion, k.x)), float(_number(motion, k.y))) for k in robot.nozzles) + strip.far
    first, last = motion.stretches[0].times[0], motion.stretches[-1].times[-1]
    look = np.linspace(first, last, 400)
    speed = np.max(np.abs(motion.evaluate(v, look)) + reach * np.abs(motion.evaluate(omega, look)))
    count = int(np.ceil((last - first) * max(float(speed), 1e-6) / (cell / 2)))
    jumps = [o.t for o in motion.occurrences if first < o.t < last]
    return np.unique(np.concatenate([np.linspace(first, last, max(100, count) + 1), jumps]))


def _number(motion: Motion, formula: Any) -> float:
    values = motion.system.values
    return float(formula.subs({s: values[s.label] for s in letters_in(formula)}))


def _litres(robot: Sprayer, motion: Motion, times: np.ndarray, middle: np.ndarray) -> np.ndarray:
    """Mass from each nozzle in each interval: what the tank lost there, shared as the flows are at its middle."""
    label = len(motion.system.model.coordinates) * 2 + list(motion.system.model.states).index(m)
    lost = -np.diff(motion.states(times)[:, label])
    flows: dict[Any, np.ndarray] = {}
    for k in robot.nozzles:
        formula = k.open_flow
        if formula not in flows:
            flows[formula] = motion.evaluate(formula, middle)
    each = np.array([flows[k.open_flow] for k in robot.nozzles])
    total = each.sum(axis=0)
    return each / np.where(total > 0, total, 1.0) * np.where(total > 0, lost, 0.0)


def placed(robot: Sprayer, motion: Motion, points: np.ndarray) -> list[np.ndarray]:
    """Points given along and across a jet, for each nozzle in the axes of the robot.

    Args:
        robot: The robot.
        motion: A motion of it, for the numbers of its parameters.
        points: Two rows: along the jet from its nozzle, and to the left of it.
    """
    listed = []
    for k in robot.nozzles:
        px, py, angle = (_number(motion, e) for e in (k.x, k.y, k.angle))
        c, s = np.cos(angle), np.sin(angle)
        listed.append(np.stack([px + c * points[0] - s * points[1], py + s * points[0] + c * points[1]]))
    return listed
