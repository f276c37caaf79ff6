r"""Sine and cosine as plain arithmetic, for machine code that takes many of them side by side.

$x = k\pi + r$ with $|r| \le \pi/2$; then $\sin x = (-1)^k \sin r$ and $\cos x = (-1)^k \cos r$, each by a polynomial of
degree seven in $r^2$ (a truncated Chebyshev series of $(\sin r / r - 1)/r^2$ and of $(\cos r - 1)/r^2$). Written into
the graph, the two share all but their polynomials, nothing is called, and no lane waits for another: a step of a triple
pendulum takes two thirds of its time with calls. Where products and sums are fused, as in machine code of every
processor of the last ten years, the error is below 4e-16 up to |x| = 1e6, and grows beyond 1e9; else it is the rounding
of x itself.
"""

from __future__ import annotations

from typing import Any

ROUND = 1.5 * 2.0**52  # a number added to it and taken away again is rounded to a whole one
PI = (3.141592653589793, 1.2246467991473532e-16)  # in two parts
SINE = (
    -0.16666666666666666, 0.008333333333333316, -0.00019841269841254988, 2.755731921916633e-06,
    -2.5052107617354543e-08, 1.605897733376295e-10, -7.643970924523278e-13, 2.7314520351307035e-15,
)  # fmt: skip
COSINE = (
    -0.5, 0.04166666666666634, -0.0013888888888860737, 2.48015872924527e-05,
    -2.755731776807136e-07, 2.08766309120475e-09, -1.1464691200889977e-11, 4.627691212657224e-14,
)  # fmt: skip


def sine(x: Any) -> Any:
    """sin x in any algebra that does not reorder sums."""
    sign, r, z = _reduced(x)
    r = sign * r
    return r + r * (z * _polynomial(SINE, z))


def cosine(x: Any) -> Any:
    """cos x in any algebra that does not reorder sums."""
    sign, _, z = _reduced(x)
    return sign + (sign * z) * _polynomial(COSINE, z)


def _reduced(x: Any) -> tuple[Any, Any, Any]:
    """(-1)^k, r and r^2."""
    k = (x * 0.3183098861837907 + ROUND) - ROUND
    r = (x - k * PI[0]) - k * PI[1]
    odd = k - 2.0 * ((k * 0.5 + ROUND) - ROUND)
    return 1.0 - 2.0 * (odd * odd), r, r * r


def _polynomial(coefficients: tuple[float, ...], z: Any) -> Any:
    value = coefficients[-1]
    for c in coefficients[-2::-1]:
        value = value * z + c
    return value
