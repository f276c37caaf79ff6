"""What is found about a periodic motion."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from appell.analysis.floquet import verdict
from appell.analysis.roots import in_words
from appell.code.state import State
from appell.motion.motion import Motion


@dataclass(frozen=True, eq=False, kw_only=True)
class PeriodicMotion:
    """A motion that begins again after a period, and what becomes of those next to it.

    Attributes:
        motion: One period.
        period: How long it takes.
        missed: What it misses of its start, in natural units.
        steps: How many steps of Newton's method found it.
        multipliers: Those of Floquet, the largest first, without those that are one for a reason.
        ones: How many are: that of the shift in time, if equations do not depend on time, and those of what is
            conserved and of families.
        free: Whether it may be shifted in time.
        back: Names of the coordinates that come back, but for what they were said to gain.
        advance: By how much coordinates have gone on that need not come back and do not.
    """

    motion: Motion
    period: float
    missed: float
    steps: int
    multipliers: np.ndarray
    ones: int
    free: bool
    back: tuple[str, ...]
    advance: Mapping[str, float]

    @property
    def state(self) -> State:
        """The state it begins with; a run, or the next search, may start from here."""
        return self.motion.at(float(self.motion.times[0]))

    @property
    def stable(self) -> bool | None:
        """Whether near motions tend to it: True, False, or None where the first order does not decide it."""
        return verdict(self.multipliers, self.ones - self.free)

    @property
    def sentence(self) -> str:
        """The same in plain words."""
        others = self.ones - self.free
        if others and verdict(self.multipliers, 0):
            return "Nothing grows to first order; beside it are others, or something is conserved."
        tends = "Near motions tend to it, up to a shift in time." if self.free else "Near motions tend to it."
        return {True: tends, False: "It is unstable.", None: "The first order does not decide whether it is stable."}[
            self.stable
        ]

    def plot(self, *, path: str | Path | None = None) -> Any:
        """The phase portrait of each coordinate that comes back, and the multipliers about the unit circle.

        Args:
            path: A file to write: .html (interactive), .svg, .pdf or .png.
        """
        from appell.view.cycles import cycle

        return cycle(self).written(path)

    def _repr_html_(self) -> str:
        from appell.reporting.notebook import section_html

        return section_html(self)

    def __repr__(self) -> str:
        reasons = ["1 of the shift in time"] if self.free else []
        if more := self.ones - self.free:
            reasons.append(f"{more} of what is conserved or of a family")
        lines = [
            f"periodic motion of {self.motion.info['model']!r}, period {self.period:.9g} s, missed by "
            f"{self.missed:.1e} after {self.steps} steps",
            "  start: " + ", ".join(f"{name}={value:.9g}" for name, value in self.state.to_dict().items()),
            f"  multipliers: {in_words(self.multipliers) or 'none'}"
            + (f"; ones: {' and '.join(reasons)}" if reasons else ""),
        ]
        if self.advance:
            lines.append("  a period goes on by " + ", ".join(f"{n}={e:.9g}" for n, e in self.advance.items()))
        return "\n".join([*lines, f"  {self.sentence}"])
