"""A choice of speeds along a run: the equations in it, and all that looks after them."""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca
import numpy as np

from appell.code.system import System
from appell.motion.branch import Branch
from appell.motion.drive import Drive
from appell.motion.events import Event
from appell.motion.forks import Forks
from appell.motion.gradients import Gradients
from appell.motion.left_out import LeftOut
from appell.motion.masses import Masses
from appell.motion.modes import Modes
from appell.motion.projection import Projection
from appell.motion.reset import Reset
from appell.motion.speeds import SpeedWatch

Follower = Branch | Gradients | Forks | LeftOut
"""What looks along legs how far they mean something, with an outcome and words for where they do not."""


class Choice:
    """One choice of rows and speeds, made once in a run and taken again where the run comes back to it.

    Args:
        system: The equations in that choice, with their numbers.
        events: What the user looks for.
        drive: Where the inputs come from.
        began: When the run began.
        length: How long it shall go on.
        rtol: The relative tolerance of the run, if one was given.
        sizes: How long the rows are at ordinary states, where those left out may have to be others elsewhere.

    Attributes:
        code: The equations as functions.
        p: Values of the parameters.
        modes: On which side of its kinks the motion is.
        projection: Keeps it on its constraints.
        masses: Those that change.
        speeds: Whether others describe the motion better.
        branch: Of rows that are not linear in the accelerations, if there are any.
        gradients: Of rows that depend on the velocities, if there are any.
        forks: Of position rows, if they may become dependent.
        left_out: Rows that are not used, if they need not follow from the others.
    """

    def __init__(
        self,
        system: System,
        events: Sequence[Event],
        drive: Drive,
        began: float,
        length: float,
        rtol: float | None,
        sizes: np.ndarray | None,
    ) -> None:
        self.system, self.drive, self.sizes = system, drive, sizes
        self.code, self.p = code, p = system.code, system.p
        self.modes = Modes(code, events, length, drive.law is not None)
        self.projection = Projection(code, p, self.modes.rows)
        self.masses = Masses(code)
        self.branch = Branch(code, self.inputs, p) if code.equations.mechanics.curved else None
        self.gradients = Gradients.of(code, self.inputs, p, began, rtol)
        self.forks = Forks.of(code, p)
        self.left_out = LeftOut.of(code, p, rtol)
        self.speeds = self._speeds()
        self._resets: dict[Event, Reset] = {}

    def _speeds(self) -> SpeedWatch:
        return SpeedWatch(self.code, self.projection, self.any_inputs, self.p, self.sizes)

    def take_over(self, other: Choice) -> None:
        """Go on from another choice, with what was seen there; how good the speeds are is found out anew."""
        if self.gradients is not None and other.gradients is not None:
            self.gradients.take_over(other.gradients)
        if self.forks is not None and other.forks is not None:
            self.forks.take_over(other.forks)
        self.speeds = self._speeds()

    def inputs(self, t: float, x: np.ndarray) -> np.ndarray:
        """Values of the open inputs."""
        return self.drive.inputs(self.system, t, x)

    def any_inputs(self) -> np.ndarray:
        """Some values of the open inputs, for what does not depend on them."""
        return self.drive.any(self.system)

    def reset(self, event: Event, t: float, x: np.ndarray) -> np.ndarray:
        """x right behind an event, on the constraints."""
        if event not in self._resets:
            self._resets[event] = Reset(self.code, event)
        x = self._resets[event](t, x, self.inputs(t, x), self.p)
        self.projection(t, x)
        return x

    @property
    def followers(self) -> list[Follower]:
        """What looks along legs, those that there are."""
        return [e for e in (self.branch, self.gradients, self.forks, self.left_out) if e is not None]

    @property
    def idle(self) -> bool:
        """Whether no step needs attention."""
        return not (self._watched or self.code.equations.split.dependent)

    @property
    def alarm(self) -> ca.Function | None:
        """What tells when the speeds have to be looked at, where nothing else is to be looked at after every step."""
        return self.code.alarm if self.code.equations.split.dependent and not self._watched else None

    @property
    def _watched(self) -> bool:
        """Whether every step needs attention, whatever the speeds are."""
        looks = self.branch is not None or self.gradients is not None or self.sizes is not None
        return looks or self.projection.active or bool(self.masses.names)
