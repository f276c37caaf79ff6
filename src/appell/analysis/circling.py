"""Steady motions that turn: a disk or a vehicle that rolls in a circle, whose place changes at changing rates.

Nothing else depends on the place and the heading, so that they are left aside; all else keeps its value. The equations
are those of the first approximation, in speeds in which what is left aside does not show.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import casadi as ca
import numpy as np
from scipy.optimize import least_squares

from appell.analysis.attitude import in_velocities_of_a_body
from appell.analysis.equilibrium import Equilibrium
from appell.analysis.equilibrium_search import ENOUGH, NOTHING, Wishes
from appell.analysis.ignorable import blind
from appell.analysis.linearize import split_at
from appell.analysis.steady import Steady
from appell.analysis.tangent import Tangent, kept
from appell.code.code import Code
from appell.code.state import State
from appell.code.system import System
from appell.errors import InconsistentStartError
from appell.graph.numeric import Numeric

STARTS = 12  # places to begin at, at most
APART = 1e-6  # distance in natural units from which on two motions are not the same
RUNNING = 1e-9  # rates and accelerations, in natural units, below which a coordinate rests


def circling(system: System, wishes: Wishes, starts: int, rng: np.random.Generator) -> Equilibrium | None:
    """The steady motion with wanted rates of coordinates on which nothing else depends; None if there is none.

    Args:
        system: The system.
        wishes: What is wanted; rates may be those of coordinates that are not cyclic.
        starts: How many places to begin at.
        rng: Random numbers.
    """
    point = _begin(system, wishes)
    asked = {name.removesuffix(".rate") for name, value in wishes.fixed.items() if name.endswith(".rate") and value}
    for tangent in _choices(Steady(system.equations), point):
        aside = blind(tangent, set(tangent.names))
        search = _Search(point, tangent, wishes, aside)
        found = search.roots(min(starts, STARTS), rng) if asked <= aside else []
        if found:
            first, *others = [search.made(root) for root in found]
            return replace(first, branches=(first, *(e for e in others if not e.freedom)))  # one of each family
    return None


def _choices(steady: Steady, point: Equilibrium) -> Iterator[Tangent]:
    """The equations in several speeds: places and headings do not show in some of them."""
    split, coordinates = split_at(steady, point, None), point.model.coordinates
    yield Tangent(steady, point, split)
    cyclic = {coordinates[i].label for i in steady.cyclic(point.system.p)}
    for same in in_velocities_of_a_body(point, split, cyclic):
        yield Tangent(Steady(same.system.equations), same, split, own_speeds=True)


def _begin(system: System, wishes: Wishes) -> Equilibrium:
    """A state on the constraints near what is wanted."""
    model = system.model
    places = {s.label for s in (*model.coordinates, *model.states)}
    kept = {name: value for name, value in wishes.fixed.items() if name in places or name.endswith(".rate")}
    try:
        state = system.consistent(kept, near=wishes.begin)
    except InconsistentStartError:
        state = system.consistent(
            {name: value for name, value in kept.items() if name in places}, near={**wishes.begin, **kept}
        )
    values = {**wishes.values, **{name: wishes.fixed.get(name, wishes.begin.get(name, 0.0)) for name in wishes.opened}}
    opened = [w.label for w in system.equations.inputs]
    inputs = {name: float(values.get(name, 0.0)) for name in opened}
    return Equilibrium(
        system=system.bind(inputs), state=state, inputs=inputs, found=wishes.free, multipliers={}, residual=np.nan,
        freedom=0,
    )  # fmt: skip


class _Search:
    """Find y = (x, w) where nothing changes but what is left aside.

    Args:
        point: Where it begins.
        tangent: The equations.
        wishes: What is given.
        aside: Coordinates that are left aside.
    """

    def __init__(self, point: Equilibrium, tangent: Tangent, wishes: Wishes, aside: set[str]) -> None:
        self.point, self.tangent, self.aside = point, tangent, aside
        eqs, self.names = tangent.equations, tangent.names
        n = len(eqs.coordinates)
        opened = [w.label for w in eqs.inputs]
        rates = {name.removesuffix(".rate"): value for name, value in wishes.fixed.items() if name.endswith(".rate")}
        self.kept = np.array([i for i, name in enumerate(self.names) if name not in aside or name in rates])
        self.wanted = np.array([rates.get(self.names[i], 0.0) if i < n else 0.0 for i in self.kept])
        gone = aside | set(wishes.fixed)
        loose = [i for i, name in enumerate(self.names) if i >= n or name not in gone]
        self.unknown = np.array([*loose, *(len(self.names) + opened.index(w) for w in opened if w in wishes.free)])
        t, x, w, p = eqs.arguments
        column = ca.substitute(ca.densify(ca.vertcat(eqs.xdot, kept(eqs))), t, ca.SX(0.0))
        both = ca.vertcat(x, w)
        self.function = Numeric(ca.Function("turning", [both, p], [column, ca.densify(ca.jacobian(column, both))]))
        _, x0, w0, self.p = tangent.numbers
        self.begin = np.concatenate([x0, w0])
        self.units = np.concatenate([tangent.units, np.maximum(np.abs(w0), 1.0)])

    def natural(self, y: np.ndarray) -> np.ndarray:
        """The unknowns of a difference in natural units."""
        return (y / self.units)[self.unknown]

    def roots(self, starts: int, rng: np.random.Generator) -> list[np.ndarray]:
        """Where searches end, near what is wanted and around it, the nearest first."""
        found: list[np.ndarray] = []
        for k in range(max(starts, 1)):
            y = self.begin.copy()
            sizes = np.maximum(np.abs(y), self.units)[self.unknown]
            y[self.unknown] += (k > 0) * sizes * rng.normal(size=self.unknown.size)
            root = self.solve(y)
            if root is not None and all(np.max(np.abs(self.natural(root - other))) > APART for other in found):
                found.append(root)
        return sorted(found, key=lambda root: float(np.linalg.norm(self.natural(root - self.begin))))

    def left(self, y: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """What is left of the equations, its derivative by the unknowns, and the sizes of the equations."""
        value, slope = self.function(y, self.p)
        rows = np.concatenate([self.kept, np.arange(len(self.names), value.size)])
        value = value[rows, 0]
        value[: self.kept.size] -= self.wanted
        sizes = np.linalg.norm(slope[rows] * np.maximum(np.abs(y), 0.1 * self.units), axis=1)
        return value, slope[np.ix_(rows, self.unknown)], np.maximum(sizes, 1e-300)

    def solve(self, y: np.ndarray) -> np.ndarray | None:
        """The root that a search leads to; None if there is none."""

        def whole(part: np.ndarray) -> np.ndarray:
            full = y.copy()
            full[self.unknown] = part
            return full

        value, slope, sizes = self.left(y)
        if not (np.all(np.isfinite(value)) and np.all(np.isfinite(slope))):
            return None
        unit = self.units[self.unknown]
        try:
            found = least_squares(
                lambda part: self.left(whole(part))[0] / sizes, y[self.unknown],
                lambda part: self.left(whole(part))[1] / sizes[:, None], x_scale=unit, xtol=1e-15, ftol=1e-15,
                gtol=1e-15,
            )  # fmt: skip
        except ValueError:  # numbers that are none on the way
            return None
        root = whole(found.x)
        for _ in range(3):  # the last digits
            value, slope, _ = self.left(root)
            root[self.unknown] -= np.linalg.lstsq(slope / sizes[:, None], value / sizes, rcond=1e-11)[0]
        return root if self.miss(root) <= ENOUGH else None

    def miss(self, y: np.ndarray) -> float:
        """What is left, against the size of the terms."""
        value, _, sizes = self.left(y)
        return float(np.max(np.abs(value) / sizes)) if np.all(np.isfinite(value)) else np.inf

    def made(self, y: np.ndarray) -> Equilibrium:
        """A root as a result."""
        eqs, at = self.tangent.equations, self.point
        x, w = np.split(np.where(np.abs(y) > NOTHING * self.units, y, 0.0), [len(self.names)])
        inputs = {s.label: float(value) for s, value in zip(eqs.inputs, w, strict=True)}
        held = at.system.bind(inputs)
        state = System(Code(eqs, False), held.values).from_x(0.0, x)
        _, slope, sizes = self.left(y)
        carried = _carried(self.tangent, _running(at, held, state) & self.aside, self.aside)
        rank = np.linalg.matrix_rank(slope * self.units[self.unknown] / sizes[:, None], tol=1e-9)
        return replace(
            at, system=held, state=state, inputs=inputs, multipliers=_multipliers(held, state), residual=self.miss(y),
            freedom=int(self.unknown.size - rank),
            aside=tuple(q.label for q in at.model.coordinates if q.label in carried),
        )  # fmt: skip


def _multipliers(system: System, state: State) -> dict[str, float]:
    """Lambda of M q'' = F + J' lambda, the smallest."""
    m = system.equations.mechanics
    w = np.array([system.values.get(s.label, 0.0) for s in system.model.inputs])
    M, F, J, *_ = (np.array(e) for e in m.functions["multiplier"](0.0, state.q, state.v, state.z, w, system.p))
    loads = np.linalg.lstsq(J.T, M @ system.accelerations(state) - F[:, 0], rcond=1e-12)[0]
    return dict(zip(m.row_names, loads.tolist(), strict=True))


def _running(at: Equilibrium, system: System, state: State) -> set[str]:
    """Coordinates that run or are about to."""
    n, time = len(state.q), at.units.time
    places = at.units.unknowns[:n]
    moved = np.abs(state.v) * time + np.abs(system.accelerations(state)) * time**2 > RUNNING * places
    return {q.label for q, runs in zip(at.model.coordinates, moved, strict=True) if runs}


def _carried(tangent: Tangent, running: set[str], aside: set[str]) -> set[str]:
    """What must be left aside so that nothing else depends on what runs: the rates of a place depend on the heading."""
    found = set(aside)
    for name in sorted(aside - running):
        if running <= blind(tangent, found - {name}):
            found.remove(name)
    return found
