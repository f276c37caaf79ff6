"""What sampling loses: swings that look alike at the samples."""

from __future__ import annotations

import numpy as np

from appell.analysis.sampling import exponents
from appell.control.controllability import Reach, reached
from appell.errors import ControlError

LASTING = 1e-9  # what decays by less from sample to sample does not decay by itself


def check_sampling(continuously: Reach, A: np.ndarray, B: np.ndarray, rate: float, who: str, every: bool) -> None:
    """Raise if less is reached from sample to sample than continuously.

    Args:
        continuously: What is reached continuously.
        A: Matrix of differences.
        B: Matrix of what reaches them.
        rate: Samples per second.
        who: Who reaches, in words.
        every: Whether modes count that decay by themselves; many fast ones look alike because nothing is left of them.

    Reference: Kalman, Ho and Narendra 1963.
    """
    names = tuple(f"x{i + 1}" for i in range(A.shape[0]))
    sampled = reached(A, B, names, "")
    lost = continuously.rank - sampled.rank
    if not every:
        decays = exponents(np.array([mode.root for mode in sampled.missed]), rate).real
        after = sum(mode.missed for mode, e in zip(sampled.missed, decays, strict=True) if e > -LASTING * rate)
        lost = after - sum(mode.missed for mode in continuously.missed if mode.root.real > -LASTING * rate)
    if lost > 0:
        swings = [str(mode) for mode in continuously.modes if mode.root.imag > 0.99 * np.pi * rate]
        raise ControlError(
            f"Sampled {rate:g} times a second, {who} miss modes that they reach continuously: "
            f"{'; '.join(swings) or 'fast modes'} and slower ones look alike at the samples. Take another rate."
        )
