"""Roots in words."""

from __future__ import annotations

import numpy as np

ROUNDING = 100 * np.finfo(float).eps  # of the largest root, below which a part of a root is shown as zero


def in_words(roots: np.ndarray) -> str:
    """Roots apart by commas, without traces of rounding.

    Args:
        roots: Complex numbers.

    Example:
        >>> in_words(np.array([-2, 1e-16 + 1j, 1e-16 - 1j, 1e-22 - 1e-15j]))
        '-2, 0+1i, 0-1i, 0'
    """
    least = ROUNDING * float(np.max(np.abs(roots), initial=0.0))
    parts = [[0.0 if abs(e) <= least else e for e in (root.real, root.imag)] for root in np.asarray(roots, complex)]
    return ", ".join(f"{real:.6g}{imag:+.6g}i" if imag else f"{real:.6g}" for real, imag in parts)
