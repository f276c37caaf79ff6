"""How a run ended."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Outcome(Enum):
    """How a run ended, in sentences; everything computed up to there is kept."""

    DONE = "The end of the interval was reached."
    EVENT = "A stop event ended the run."
    INTERRUPTED = "The run was interrupted from the keyboard; what was computed is kept."
    NOT_FINITE = "The state stopped being finite."
    STEP_COLLAPSED = "The step size collapsed: the motion cannot be continued with the wanted accuracy."
    SINGULAR = "The mass matrix became singular."
    ROWS_SINGULAR = "The constraint rows became dependent on each other: a singular configuration."
    ROWS_CONTRADICT = "The constraint rows came to contradict each other: no motion obeys all of them."
    MASS_USED_UP = "A body lost all of its mass."
    BRANCH_LOST = "A constraint on accelerations stopped having a solution next to the motion."
    SPEEDS_SINGULAR = "The chosen speeds stopped describing the motion."
    ACCUMULATION = "Events pile up (Zeno) or something comes to rest, and the equations do not say how to go on."
    STEP_LIMIT = "The largest allowed number of steps was reached."
    NOT_STARTED = "The run could not begin."
    RAISED = "A Python function of the caller raised an error."
    JUMP = "A position, a mass in a stream, or what a programme differentiates jumps there; no finite rate follows it."
    UNBOUNDED = "A sampled control made the motion grow without bound."
    UNDECIDED = "The motion sticks to kinks, and the equations do not say how it goes on."

    @property
    def ok(self) -> bool:
        """Whether the run ended as wished."""
        return self in (Outcome.DONE, Outcome.EVENT)


@dataclass(frozen=True)
class Ending:
    """How a run ended; where and why, if there is more to say."""

    outcome: Outcome
    detail: str = ""
