"""What follows where lanes stop: at events, at kinks, where other dependent velocities are better.

The rules are those of single runs; a lane is asked alone where they cannot be applied to many at once.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from appell.code import heyoka_code
from appell.code.code import Code
from appell.code.system import System
from appell.ensemble.kernel import Kernel
from appell.ensemble.kinks import Kinks
from appell.ensemble.lanes import Graphs, lane_graphs
from appell.ensemble.settings import Settings
from appell.ensemble.switching import best_growths, jacobians
from appell.errors import AppellError
from appell.graph.kinks import has_jumps, has_kinks
from appell.kinematics.split import Split, growths
from appell.motion.events import Event
from appell.motion.projection import Projection
from appell.motion.reset import Reset
from appell.motion.speeds import beyond, calmer, next_calm
from appell.once import lately


@lately(8)
def _kernels(code: Code, *looked_for: Any) -> dict[bool, Kernel]:
    """Kernels, compiled or not, as an earlier sweep of the same system left them."""
    return {}


@dataclass(frozen=True, eq=False)
class Looked:
    """What to do with lanes whose dependent velocities were looked at.

    Attributes:
        calm: Those that go on look again beyond this growth.
        moves: The others go on with another choice: for each kernel which of the lanes, their states and modes in it.
    """

    calm: np.ndarray
    moves: Mapping[Kernel, tuple[np.ndarray, np.ndarray, np.ndarray]] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class LaneRules:
    """What is looked for along lanes, and what follows where one of them stops.

    Attributes:
        system: The system.
        settings: How every run goes.
        columns: What is tabulated.
        masses: Formulas of masses that must stay positive.
        lock: For what is made once; `kernel` is called by who holds it.
        given: The functions of lanes, if they came from elsewhere.
    """

    system: System
    settings: Settings
    columns: tuple[Any, ...]
    masses: tuple[Any, ...]
    lock: threading.Lock
    given: Graphs | None = None
    _resets: dict[tuple[Code, int], Reset] = field(default_factory=dict, init=False)

    @property
    def events(self) -> tuple[Event, ...]:
        """The events."""
        return self.settings.events

    @cached_property
    def guards(self) -> tuple[int, ...]:
        """For each guard of an event which one it belongs to."""
        return tuple(i for i, event in enumerate(self.events) for _ in event.signs)

    @property
    def length(self) -> float:
        """Of the runs."""
        return self.settings.until - self.settings.t0

    @cached_property
    def kinks(self) -> Kinks:
        """The kinks of the equations."""
        rhs = self.system.code.rhs.function
        located = has_kinks(rhs) and (self.settings.corners == "locate" or has_jumps(rhs))
        return Kinks(self.events, located, self.length)

    # The functions of lanes.

    @property
    def simd(self) -> bool:
        """Whether lanes are machine code."""
        return self.system.code.simd and self.settings.compiled and heyoka_code.available()

    def graphs(self, code: Code | None = None, family: tuple[int, ...] = ()) -> Graphs:
        """The functions of lanes in one choice of speeds, where some kinks may slide."""
        code = self.system.code if code is None else code
        resets = {i: self._reset(code, i) for i, event in enumerate(self.events) if event.reset}
        plain = {i: reset.function for i, reset in resets.items() if reset.plain}
        flow = self.kinks.flow(code, family)
        return lane_graphs(code, flow, family, self.columns, self.masses, plain)

    def kernel(self, code: Code | None = None, family: tuple[int, ...] = ()) -> Kernel:
        """The compiled functions of one choice of speeds, where some kinks may slide; made once."""
        code = self.system.code if code is None else code
        events = tuple((event.expression, event.direction, tuple(event.reset.items())) for event in self.events)
        known = _kernels(code, events, self.columns, self.kinks.located, family)
        compiled = self.settings.compiled
        if compiled not in known:
            given = self.given
            if given is not None and (given.split, given.family) != (code.equations.split, family):
                given = None
            graphs = next((kernel.graphs for kernel in known.values()), given)
            known[compiled] = Kernel(graphs or self.graphs(code, family), self.simd)
        return known[compiled]

    def families(self, kernel: Kernel, modes: np.ndarray) -> dict[tuple[int, ...], np.ndarray]:
        """Lanes by the kinks that may slide in the kernel that serves their modes, one column each."""
        with self.lock:
            return self.kinks.families(self._code(kernel), modes)

    def sliding(self, kernel: Kernel, family: tuple[int, ...]) -> Kernel | None:
        """The kernel in which other kinks may slide; None where that cannot be resolved."""
        with self.lock, suppress(AppellError):
            return self.kernel(self._code(kernel), family)
        return None

    def _code(self, kernel: Kernel) -> Code:
        """The equations of a kernel."""
        return self.system.code.with_split(kernel.graphs.split)

    # Events and kinks.

    def name(self, kernel: Kernel, guard: int) -> str:
        """The name of the kink that a guard belongs to."""
        with self.lock:
            return self.kinks.name(self._code(kernel), int(kernel.kinks[guard - len(self.guards)]))

    def switch(
        self, kernel: Kernel, t: np.ndarray, x: np.ndarray, P: np.ndarray, fired: np.ndarray | None, seen: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """States and modes of lanes whose guards fell, or whose state was reset.

        Args:
            kernel: Their kernel.
            t: Times.
            x: States.
            P: Numbers.
            fired: Which guards fell, one column for each lane; None behind a reset.
            seen: The largest size that every switching function had.
        """
        where = self._code(kernel), t, x, P[kernel.w], P[kernel.p]
        with self.lock:
            if fired is None:
                return x, self.kinks.start(*where)
            return x, self.kinks.switch(*where, before=P[kernel.modes], fired=fired, seen=seen)

    def behind(self, kernel: Kernel, event: int, t: np.ndarray, x: np.ndarray, P: np.ndarray) -> np.ndarray:
        """The states of some lanes right behind an event, NaN where only a single run can say.

        Args:
            kernel: Their kernel.
            event: The number of the event.
            t: Times.
            x: States.
            P: Numbers.
        """
        machine = kernel.machines.get(f"reset{event}")
        if machine is not None:
            return machine.some(np.concatenate([x, t[None, :]]), P)
        found = np.full(x.shape, np.nan)
        with self.lock:
            code = self._code(kernel)
            reset = self._reset(code, event)
            for i in range(t.size):
                p = P[kernel.p, i]
                with suppress(AppellError):
                    found[:, i] = reset(float(t[i]), x[:, i], P[kernel.w, i], p)
                    Projection(code, p)(float(t[i]), found[:, i])
        return found

    def _reset(self, code: Code, event: int) -> Reset:
        """What an event does, in one choice of speeds; made once."""
        key = code, event
        if key not in self._resets:
            self._resets[key] = Reset(code, self.events[event])
        return self._resets[key]

    # Dependent velocities.

    def look(self, kernel: Kernel, t: np.ndarray, x: np.ndarray, P: np.ndarray, calm: np.ndarray) -> Looked:
        """Whether other dependent velocities are better at the states of some lanes.

        Args:
            kernel: Their kernel.
            t: Times.
            x: States.
            P: Numbers.
            calm: The growth up to which nobody had to look; 0 where it is the first time.
        """
        split, patience = kernel.graphs.split, self.system.equations.formulation.patience
        moves: dict[Kernel, tuple[list[int], list[np.ndarray], list[np.ndarray]]] = {}
        with self.lock:
            jacobian = jacobians(kernel, t, x, P)
            growth = growths(split.rows, [split.dependent], jacobian)[:, 0]
            best = np.full(t.size, np.nan)
            searched = beyond(growth, calm)
            for i in np.flatnonzero(searched):
                choice = calmer(split, jacobian[i], growth[i])
                if choice is None:
                    continue
                other, moved, sides = self._moved(kernel, choice, float(t[i]), x[:, i], P[:, i])
                members, states, modes = moves.setdefault(other, ([], [], []))
                members.append(i)
                states.append(moved)
                modes.append(sides)
            first = np.flatnonzero(~searched & (calm == 0.0))
            best[first] = best_growths(split, jacobian[first])
            for i in first[np.isnan(best[first])]:
                best[i] = Split.at(jacobian[i], rows=split.rows).growth(jacobian[i])
        new = next_calm(growth, best, patience, calm)
        return Looked(new, {other: (np.array(i), np.array(s).T, np.array(m).T) for other, (i, s, m) in moves.items()})

    def _moved(
        self, kernel: Kernel, split: Split, t: float, x: np.ndarray, P: np.ndarray
    ) -> tuple[Kernel, np.ndarray, np.ndarray]:
        """The kernel of another choice of speeds, and a state with its modes in it."""
        values = dict(zip([s.label for s in self.system.model.parameters], P[kernel.p], strict=True))
        state = System(self._code(kernel), values).from_x(t, x)
        other = self.system.code.with_split(split)
        moved = System(other, values).to_x(state)[:, None]
        modes = self.kinks.start(other, np.array([t]), moved, P[kernel.w, None], P[kernel.p, None])
        (family,) = self.kinks.families(other, modes)
        return self.kernel(other, family), moved[:, 0], modes[:, 0]
