"""The compiled functions of lanes in one choice of speeds, and where their numbers are."""

from __future__ import annotations

import numpy as np

from appell.ensemble.lane_machine import LaneMachine
from appell.ensemble.lanes import ROWS, Graphs
from appell.motion.attempt import SETTINGS
from appell.motion.modes import guarded


class Kernel:
    """The compiled functions of lanes in one choice of speeds.

    Args:
        graphs: The functions.
        simd: Whether they become machine code.

    Attributes:
        t, h, room, stalled, steps, status: Rows of V behind the n of x.
        w, p, masses, modes, gates: Rows of P.
        setting: Rows of P with the settings of a run, by name.
        numbers: Rows of P in all.
        guarded: Whether there is anything to look for.
        kinks, side: For each guard of a kink which one it is, and on which side of it.
    """

    def __init__(self, graphs: Graphs, simd: bool) -> None:
        self.graphs, self.n = graphs, graphs.sizes["x"]
        self.machines = {name: LaneMachine(f, simd) for name, f in graphs.functions.items()}
        self.step = self.machines["step"]
        self.t, self.h, self.room, self.stalled, self.steps, self.status = (self.n + i for i in range(len(ROWS)))
        self.w = slice(0, graphs.sizes["w"])
        self.p = slice(self.w.stop, self.w.stop + graphs.sizes["p"])
        self.setting = {name: self.p.stop + i for i, name in enumerate(SETTINGS)}
        behind = self.p.stop + len(SETTINGS)
        self.masses = slice(behind, behind + graphs.sizes["masses"])
        self.modes = slice(self.masses.stop, self.masses.stop + graphs.sizes["modes"])
        self.numbers = self.modes.stop + graphs.sizes["guards"]
        self.gates = slice(self.modes.stop, self.numbers)
        self.guarded = bool(graphs.sizes["guards"])
        self.kinks, self.side = guarded(graphs.sizes["modes"], graphs.family)

    def taken_over(self, P: np.ndarray, modes: np.ndarray) -> np.ndarray:
        """The numbers of lanes of another kernel, with their modes here."""
        own = np.ones((self.numbers, P.shape[1]))
        own[: self.masses.stop], own[self.modes] = P[: self.masses.stop], modes
        return own

    def table(self, V: np.ndarray, P: np.ndarray) -> np.ndarray:
        """The columns of the table at some states."""
        return self.machines["table"].some(V, P) if "table" in self.machines else V[: self.n]
