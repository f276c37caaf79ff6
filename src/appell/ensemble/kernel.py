"""The compiled functions of lanes in one choice of speeds, and who says what follows where they stop."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from appell.ensemble.lane_machine import LaneMachine
from appell.ensemble.lanes import ROWS, Graphs
from appell.motion.attempt import SETTINGS
from appell.motion.events import Event


class Kernel:
    """The compiled functions of lanes in one choice of speeds.

    Args:
        graphs: The functions.
        simd: Whether they become machine code.

    Attributes:
        t, h, rejected, stalled, steps, status: Rows of V behind the n of x.
        w, p, masses, modes, gates: Rows of P.
        setting: Rows of P with the settings of a run, by name.
        numbers: Rows of P in all.
        guarded: Whether there is anything to look for.
        sliding: Which kinks slide, as a column.
    """

    def __init__(self, graphs: Graphs, simd: bool) -> None:
        self.graphs, self.n = graphs, graphs.sizes["x"]
        self.machines = {name: LaneMachine(f, simd) for name, f in graphs.functions.items()}
        self.step = self.machines["step"]
        self.t, self.h, self.rejected, self.stalled, self.steps, self.status = (self.n + i for i in range(len(ROWS)))
        self.w = slice(0, graphs.sizes["w"])
        self.p = slice(self.w.stop, self.w.stop + graphs.sizes["p"])
        self.setting = {name: self.p.stop + i for i, name in enumerate(SETTINGS)}
        behind = self.p.stop + len(SETTINGS)
        self.masses = slice(behind, behind + graphs.sizes["masses"])
        self.modes = slice(self.masses.stop, self.masses.stop + graphs.sizes["modes"])
        self.numbers = self.modes.stop + graphs.sizes["guards"]
        self.gates = slice(self.modes.stop, self.numbers)
        self.guarded = bool(graphs.sizes["guards"])
        self.sliding = np.isin(np.arange(graphs.sizes["modes"]), graphs.slide)[:, None]

    def taken_over(self, P: np.ndarray, modes: np.ndarray) -> np.ndarray:
        """The numbers of lanes of another kernel, with their modes here."""
        own = np.ones((self.numbers, P.shape[1]))
        own[: self.masses.stop], own[self.modes] = P[: self.masses.stop], modes
        return own

    def table(self, V: np.ndarray, P: np.ndarray) -> np.ndarray:
        """The columns of the table at some states."""
        return self.machines["table"].some(V, P) if "table" in self.machines else V[: self.n]


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
class Watch:
    """What is looked for along runs, and who says what follows.

    Attributes:
        events: The events.
        guards: For each guard which event it belongs to.
        length: Of the runs.
        look: What becomes of lanes whose dependent velocities may be changed; of the kernel, times, states, numbers and
            limits of some lanes.
        reset: States right behind an event, NaN where only a single run can say; of the kernel, the number of the
            event, and times, states and numbers of some lanes.
        switch: States and modes where guards have fallen, or (None) behind a reset; of the kernel, times, states and
            numbers of some lanes, and which guards.
        kernel: That of other kinks that slide, None if there is none; of a kernel, and these.
        name: What a guard that is no event's belongs to; of the kernel and the guard.
    """

    events: tuple[Event, ...]
    guards: tuple[int, ...]
    length: float
    look: Callable[[Kernel, np.ndarray, np.ndarray, np.ndarray, np.ndarray], Looked]
    reset: Callable[[Kernel, int, np.ndarray, np.ndarray, np.ndarray], np.ndarray]
    switch: Callable[[Kernel, np.ndarray, np.ndarray, np.ndarray, np.ndarray | None], tuple[np.ndarray, np.ndarray]]
    kernel: Callable[[Kernel, tuple[int, ...]], Kernel | None]
    name: Callable[[Kernel, int], str]
