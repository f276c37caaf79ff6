"""Whether a planned motion can be executed: limits of joints and drives, singular configurations, first violations."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.optimize import minimize_scalar

from appell.code.system import System
from appell.errors import ModelError
from appell.kinematics.rank import DEPENDENT, TopRows, coinciding
from appell.kinematics.split import growths
from appell.model.chain import Chain
from appell.model.joint import drive_name
from appell.model.model import Model
from appell.model.symbols import key
from appell.model.values import check_kind, number, unknown
from appell.motion.motion import Motion

KINDS = ("position", "speed", "torque", "torque_rate")
JUMPS = {"torque": "velocities jump", "torque_rate": "forces jump"}  # why it is infinite
PARTITIONS = 60
SINGULAR = 1e-6  # smallest singular value or reach at which a configuration counts as singular


@dataclass(frozen=True)
class Limits:
    """What joints and drives can do, by coordinate.

    Attributes:
        position: Lowest and highest value.
        speed: Largest size of the rate, or a pair.
        torque: Largest size of the drive's generalized force, or a pair.
        torque_rate: Largest size of its rate, or a pair.
    """

    position: Mapping[Any, Any] = field(default_factory=dict)
    speed: Mapping[Any, Any] = field(default_factory=dict)
    torque: Mapping[Any, Any] = field(default_factory=dict)
    torque_rate: Mapping[Any, Any] = field(default_factory=dict)

    @classmethod
    def checked(cls, given: Any) -> Limits:
        """What was given as limits; none if nothing."""
        if given is not None and not isinstance(given, Limits):
            raise ModelError(f"limits= takes planning.Limits(position=..., speed=..., torque=...), got {given!r}.")
        return given or cls()

    @classmethod
    def of(cls, chain: Chain) -> Limits:
        """Ranges, speeds and efforts that the joints of a robot declare, as its URDF file does.

        Speeds and efforts of zero and ranges without width, which files write for what is not known, are no limits. A
        joint that mimics another limits that one.

        Args:
            chain: The robot.
        """
        check_kind(chain, Chain, "a robot, appell.Chain(...); limits of other models are written down")
        labels = [q.label for q in chain.coordinates]
        coupling = chain.coupling
        position: dict[str, tuple[float, float]] = {}
        speed: dict[str, float] = {}
        for i, link in enumerate(chain.links):
            label, ratio = labels[coupling.columns[i]], coupling.ratios[i]
            if link.limits is not None and link.limits[0] < link.limits[1] and ratio:
                low, high = sorted((e - coupling.offsets[i]) / ratio for e in link.limits)
                first = position.get(label, (low, high))
                position[label] = (max(low, first[0]), min(high, first[1]))
            if link.velocity and ratio:
                speed[label] = min(link.velocity / abs(ratio), speed.get(label, math.inf))
        drives = {drive_name(chain.links[i].joint): label for i, label in zip(coupling.free, labels, strict=True)}
        return cls(position, speed, {drives[name]: effort for name, effort in chain.efforts.items()})

    def pairs(self, model: Model) -> list[tuple[str, int, tuple[float, float]]]:
        """Kind, coordinate, and the pair of bounds, checked."""
        labels = [q.label for q in model.coordinates]
        found = []
        for kind in KINDS:
            check_kind(getattr(self, kind), Mapping, f"{kind} limits by coordinate, {kind}={{'q': ...}}")
            for name, bounds in getattr(self, kind).items():
                label = key(name)
                if label not in labels:
                    raise ModelError(unknown(label, labels, f"coordinate of {model.name!r} with a {kind} limit"))
                found.append((kind, labels.index(label), _pair(kind, label, bounds)))
        return found


def _pair(kind: str, label: str, bounds: Any) -> tuple[float, float]:
    if isinstance(bounds, tuple | list):
        if len(bounds) != 2:
            raise ModelError(f"The {kind} limit of {label} is one number or a pair (low, high), got {bounds!r}.")
        low, high = (number(f"{kind} limit of {label}", e) for e in bounds)
    elif kind == "position":
        raise ModelError(f"The position limit of {label} is a pair (low, high), got {bounds!r}.")
    else:
        high = number(f"{kind} limit of {label}", bounds)
        low = -high
    if not low < high:
        raise ModelError(f"The {kind} limit of {label} is empty: {low:g} .. {high:g}.")
    return low, high


@dataclass(frozen=True)
class Finding:
    """One limit, and how a motion stands to it.

    Attributes:
        kind: position, speed, torque, torque_rate; or distance.
        name: The coordinate; or the obstacle.
        bounds: Lowest and highest value allowed.
        worst: The value that is nearest to a bound, or farthest beyond it.
        at: When.
        first: When it is first violated; None if never.
        state: The positions at that time, by name.
    """

    kind: str
    name: str
    bounds: tuple[float, float]
    worst: float
    at: float
    first: float | None
    state: Mapping[str, float]

    @property
    def what(self) -> str:
        """What is limited, in words."""
        return (
            f"distance from {self.name}" if self.kind == "distance" else f"{self.kind.replace('_', ' ')} of {self.name}"
        )

    @property
    def allowed(self) -> str:
        """The bounds in words."""
        low, high = self.bounds
        return f"{low:g} .. {high:g}" if high < math.inf else f"{low:g} or more"

    @property
    def excess(self) -> float:
        """By how much the value that is farthest beyond a bound is beyond it; negative within."""
        return max(self.worst - self.bounds[1], self.bounds[0] - self.worst)

    def __repr__(self) -> str:
        jumps = "" if math.isfinite(self.worst) else f", where the {JUMPS[self.kind]}"
        text = f"{self.what}: {self.worst:.6g} at t = {self.at:.4g} s{jumps}, allowed {self.allowed}"
        if self.first is None:
            return text
        place = ", ".join(f"{n} = {v:.4g}" for n, v in self.state.items())
        return f"{text}: VIOLATED first at t = {self.first:.6g} s, {place}"


@dataclass(frozen=True, eq=False)
class Demand:
    """What a motion is to keep.

    Attributes:
        kind: Of what: as in `Finding`.
        name: Whose.
        bounds: Lowest and highest value allowed.
        along: times -> values.
        infinite: Moments at which it is plus or minus infinity, in order.
    """

    kind: str
    name: str
    bounds: tuple[float, float]
    along: Callable[[np.ndarray], np.ndarray]
    infinite: Mapping[float, float] = field(default_factory=dict)

    def finding(self, motion: Motion, times: np.ndarray) -> Finding:
        """How a motion, looked at at some times, stands to it."""
        low, high = self.bounds
        times, values = self._peaked(times, self.along(times))
        excess = np.maximum(values - high, low - values)
        k = int(np.argmax(excess))
        worst, at = float(values[k]), float(times[k])
        largest = max((abs(e) for e in self.bounds if math.isfinite(e)), default=0.0)
        over = np.flatnonzero(excess > 1e-9 * max(1.0, largest))
        first = self._first(times, int(over[0])) if over.size else None
        unbounded = next(((t, size) for t, size in self.infinite.items() if not low <= size <= high), None)
        if unbounded is not None:
            at, worst = unbounded
            first = at if first is None else min(first, at)
        place = motion.states(at if first is None else first)[0]
        state = {q.label: float(e) for q, e in zip(motion.system.model.coordinates, place, strict=False)}
        return Finding(self.kind, self.name, self.bounds, worst, at, first, state)

    def _peaked(self, times: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Times and values with the extreme one among them, which is between the worst of the times and a neighbour."""
        low, high = self.bounds
        k = int(np.argmax(np.maximum(values - high, low - values)))
        sign = 1.0 if values[k] - high >= low - values[k] else -1.0
        around = times[max(k - 1, 0)], times[min(k + 1, times.size - 1)]
        found = minimize_scalar(lambda t: -sign * self.along(np.array([t]))[0], bounds=around, method="bounded")
        if not -found.fun > sign * values[k]:
            return times, values
        place = int(np.searchsorted(times, found.x))
        return np.insert(times, place, found.x), np.insert(values, place, -sign * found.fun)

    def _first(self, times: np.ndarray, k: int) -> float:
        """When it is violated first, at the k-th time or since the one before."""
        if k == 0:
            return float(times[0])
        before, after = float(times[k - 1]), float(times[k])
        for _ in range(40):
            middle = (before + after) / 2
            (value,) = self.along(np.array([middle]))
            if self.bounds[0] <= value <= self.bounds[1]:
                before = middle
            else:
                after = middle
        return after


@dataclass(frozen=True)
class Regularity:
    """How far a motion stays from configurations in which its rows depend on each other.

    Attributes:
        smallest: The smallest singular value of the rows' coefficients over the motion, each row in units of its
            largest size on the way: one that vanishes, as at the edge of the workspace, is as singular as two that
            coincide.
        at: When.
        rows: The rows that come nearest to coinciding then.
        reach: How well drives along some coordinates reach what their rows demand, at worst; from 0, where they are
            powerless, to 1 (`TopRows.reach`).
        reach_at: When.
        times: When the motion was looked at.
        values: The smallest singular value at these times.
        partitions: For each choice of dependent coordinates its largest growth along the motion, and when.
    """

    smallest: float
    at: float
    rows: tuple[str, ...]
    reach: float
    reach_at: float
    times: np.ndarray
    values: np.ndarray
    partitions: tuple[tuple[tuple[str, ...], float, float], ...]

    @property
    def regular(self) -> bool:
        """Whether the motion meets no singular configuration."""
        return min(self.smallest, self.reach) > SINGULAR

    @property
    def words(self) -> tuple[str, ...]:
        """How near the motion comes to singular configurations, in words."""
        rows = f"smallest singular value {self.smallest:.4g} at t = {self.at:.4g} s (rows {', '.join(self.rows)})"
        drives = f"drives reach what their rows demand least at t = {self.reach_at:.4g} s: {self.reach:.4g} of 1"
        return (*([rows] if self.rows else []), *([drives] if self.reach < 1 else []))

    def table(self) -> str:
        """The partitions, best first: same motion, different conditioning."""
        lines = ["dependent                      growth of the dependent velocities, at most"]
        for names, growth, at in self.partitions:
            size = f"{growth:10.3g} at t = {at:.4g} s" if growth < 1e8 else f"  singular at t = {at:.4g} s"
            lines.append(f"{', '.join(names):30s} {size}")
        return "\n".join(lines)


def regularity(system: System, motion: Motion, times: np.ndarray) -> Regularity:
    """The rank of all rows along a motion, and the conditioning of every partition.

    Rows that say what others say all along are no sign of a singular configuration; a rank that is lost on the way is.
    """
    mechanics, model = system.equations.mechanics, system.model
    top, n = TopRows.of(mechanics), len(model.coordinates)
    if not top.rows:
        begin = float(times[0])
        return Regularity(
            smallest=1.0, at=begin, rows=(), reach=1.0, reach_at=begin, times=times, values=np.ones(times.size),
            partitions=(),
        )  # fmt: skip
    places = [
        (t, row[:n], row[n : 2 * n], system.accelerations(motion.at(float(t))), row[2 * n :], system.p)
        for t, row in zip(times, motion.states(times), strict=True)
    ]
    matrices = [top.raw(*place) for place in places]
    reach = np.array([top.reach(*place) for place in places])
    far = int(np.argmin(reach))
    largest = np.max(np.linalg.norm(matrices, axis=2), axis=0)[:, None]
    matrices = [B / np.where(largest > 0, largest, 1.0) for B in matrices]
    sizes = np.array([np.linalg.svd(B, compute_uv=False) for B in matrices])
    rank = max(1, int(np.max(np.count_nonzero(sizes > DEPENDENT, axis=1))))
    smallest = sizes[:, rank - 1]
    k = int(np.argmax(smallest <= np.min(smallest) * (1 + 1e-9)))  # the first of those that differ by rounding only
    names = [row.name for row in top.rows]
    near = coinciding(matrices[k]) if rank == len(names) else []
    shares = np.linalg.svd(matrices[k])[0][:, rank - 1]
    which = near[0] if near else np.flatnonzero(np.abs(shares) > 0.1)
    rows = tuple(names[i] for i in which)
    used = [*system.equations.split.rows, *range(len(model.rows), len(names))]
    parts = _partitions(model, [B[used] for B in matrices], times) if len(used) == rank else ()
    return Regularity(
        smallest=float(smallest[k]), at=float(times[k]), rows=rows, reach=float(reach[far]),
        reach_at=float(times[far]), times=times, values=smallest, partitions=parts,
    )  # fmt: skip


def _partitions(
    model: Model, matrices: list[np.ndarray], times: np.ndarray
) -> tuple[tuple[tuple[str, ...], float, float], ...]:
    n, K = len(model.coordinates), matrices[0].shape[0]
    if not K or K > n or math.comb(n, K) > PARTITIONS:
        return ()
    choices = list(itertools.combinations(range(n), K))
    found = growths(tuple(range(K)), choices, np.array(matrices))
    worst = found.argmax(axis=0)
    entries = [
        (tuple(model.coordinates[i].label for i in columns), float(found[k, choice]), float(times[k]))
        for choice, (columns, k) in enumerate(zip(choices, worst, strict=True))
    ]
    return tuple(sorted(entries, key=lambda entry: entry[1]))
