"""The front of a run: how far it has come, in which choice of speeds, and on which side of its kinks."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from appell.code.code import Code
from appell.code.fitting import fitting_code, spare_sizes
from appell.code.state import State
from appell.code.system import System
from appell.errors import InconsistentStartError, IntegrationError, ModelError
from appell.kinematics.split import Split
from appell.motion.choice import Choice
from appell.motion.drive import Drive
from appell.motion.events import Event


class Front:
    """Where a run is, and the ways from there that take no time: other modes, other velocities, other speeds.

    Args:
        system: The system with its numbers.
        start: Where the run begins.
        events: What the user looks for.
        drive: Where the inputs come from.
        length: How long it shall go on.
        rtol: The relative tolerance of the run, if one was given.

    Attributes:
        t, x: Time, and the state in the present choice of speeds.
        choice: That choice.
        switches: Changes of it, in words.
    """

    def __init__(
        self,
        system: System,
        start: State,
        events: Sequence[Event],
        drive: Drive,
        length: float,
        rtol: float | None,
    ) -> None:
        self.system, self.start, self.events, self.drive, self.rtol = system, start, events, drive, rtol
        self.length = length
        self.switches: list[str] = []
        self._sizes = spare_sizes(system.code)
        self._choices: dict[Code, Choice] = {}
        self.choice = self._chosen(fitting_code(system.code, start, system.p))
        self.t, self.x = start.t, self.choice.system.to_x(start)
        self._begin()

    def _begin(self) -> None:
        """Find the modes of the start and put it on the constraints; raise where it has no motion."""
        choice = self.choice
        if not np.all(np.isfinite(self.w)):
            raise ModelError(f"No finite value for the inputs at the start, t = {self.t:g}: got {self.w}.")
        finite = np.all(np.isfinite([*self.x, *self.state]))
        if not finite or choice.speeds.dependent(self.t, self.x):
            chosen = ", ".join(map(str, choice.code.equations.driven))
            raise IntegrationError(
                f"The speeds {chosen} are dependent at the start; choose others, or leave the choice to appell."
            )
        self._find_modes()
        if self.project():
            self._find_modes()
        if choice.branch is not None and (row := choice.branch.missed(self.t, self.x)) is not None:
            raise InconsistentStartError(
                f"At the start the constraint {row!r} has no real solution for the accelerations, or none is found "
                "next to those without it; say where they are by near=, or start elsewhere."
            )

    @property
    def w(self) -> np.ndarray:
        """Values of the open inputs."""
        return self.choice.inputs(self.t, self.x)

    @property
    def p(self) -> np.ndarray:
        """Values of the parameters, with the modes behind."""
        return self.choice.modes.parameters(self.choice.p)

    @property
    def state(self) -> State:
        """The state, whatever the choice of speeds."""
        return self.choice.system.from_x(self.t, self.x)

    def project(self) -> bool:
        """Move onto the constraints; returns whether that changed anything."""
        return self.choice.projection(self.t, self.x)

    # Modes.

    def _find_modes(self) -> None:
        self.choice.modes.start(self.t, self.x, self.choice.inputs, self.choice.p)

    def _settle(self, fired: Sequence[tuple[int, int]], was: np.ndarray | None = None) -> None:
        self.choice.modes.switch(fired, self.t, self.x, self.choice.inputs, self.choice.p, was)

    @property
    def _sides(self) -> np.ndarray:
        return self.choice.modes.sides(self.t, self.x, self.choice.inputs, self.choice.p)

    def tick(self) -> None:
        """Ask a sampled control again: what stuck may be pushed off."""
        assert self.drive.clock is not None
        was = self._sides
        self.drive.clock.tick(self.state)
        self._settle((), was)

    def flip(self, kinks: Sequence[tuple[int, int]]) -> tuple[list[int], str]:
        """Switch the modes of kinks whose guards fell, and velocities with them.

        Args:
            kinks: Each with the side that it has reached if it slid.

        Returns:
            The kinks that are in another mode now, but for those on which the motion stays all the same, as where one
            of two frictions takes over from the other; and which position jumps there, in words.
        """
        choice, modes = self.choice, self.choice.modes
        before, rested = modes.modes.copy(), modes.resting
        self._settle(kinks)
        x = modes.struck(before, self.t, self.x, choice.inputs, choice.p)
        if x is not self.x:  # where velocities jump, what stuck may be torn off
            was, self.x = self._sides, x
            self._settle((), was)
        jump = modes.jump(before, self.t, self.x, choice.inputs, choice.p)
        other = modes.modes != before
        if np.any(other & rested & (modes.modes == 0)):  # one holds what others held
            other &= ~(rested & modes.resting)
        return [which for which, _ in kinks if other[which]], jump

    def reset(self, event: Event) -> None:
        """Go where an event sends the motion."""
        self.x = self.choice.reset(event, self.t, self.x)
        self._find_modes()
        if self.choice.gradients is not None:  # other velocities, other gradients
            wish = self.choice.speeds.ask(self.t, self.x)
            if isinstance(wish, Split):
                self.switch(wish)

    # Choices of speeds.

    def _chosen(self, code: Code) -> Choice:
        """The choice that belongs to some code; made once."""
        if code not in self._choices:
            system = System(code, self.system.values)
            numbers = self.start.t, self.length, self.rtol, self._sizes
            self._choices[code] = Choice(system, self.events, self.drive, *numbers)
        return self._choices[code]

    def switch(self, split: Split) -> None:
        """Go on with other dependent velocities, or with other rows left out."""
        state, left = self.state, self.choice
        self.choice = self._chosen(left.code.with_split(split))
        self.choice.take_over(left)
        before, after = left.code.equations, self.choice.code.equations
        if before.split.dependent != after.split.dependent:
            old, new = (", ".join(map(str, e.dependent)) for e in (before, after))
            self.switches.append(f"t = {self.t:.6g}: dependent velocities {old} -> {new}")
        if before.split.rows != after.split.rows:
            old, new = (", ".join(e.redundant_rows) for e in (before, after))
            self.switches.append(f"t = {self.t:.6g}: rows left out {old} -> {new}")
        self.x = self.choice.system.to_x(state)
        self._find_modes()
