"""Motions of the joints over time, smooth enough for drives: polynomials and splines with bounded derivatives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from math import factorial
from typing import Any

import numpy as np
import sympy as sp
from scipy.interpolate import BSpline, PPoly, make_interp_spline

from appell.errors import ModelError
from appell.model.values import by_name, floats, number, whole

HIGHEST = 15  # beyond, rounding of the powers of time shows in the motion
BOUNDS = {"velocity": 1, "acceleration": 2, "jerk": 3, "snap": 4}


@dataclass(frozen=True, eq=False)
class Trajectory:
    """q(t) of every joint, piecewise polynomial in time.

    Made by `polynomial` or `spline`. `trajectory(t, K)` gives the motion Q that `Dynamics` takes.

    Attributes:
        pieces: The polynomials, as SciPy's PPoly with the joints on the last axis.
    """

    pieces: PPoly

    @property
    def start(self) -> float:
        """When it begins."""
        return float(self.pieces.x[0])

    @property
    def end(self) -> float:
        """When it ends."""
        return float(self.pieces.x[-1])

    @property
    def n(self) -> int:
        """Number of joints."""
        return self.pieces.c.shape[2]

    def __repr__(self) -> str:
        return (
            f"Trajectory of {self.n} joint{'s' * (self.n > 1)}, {self.start:g} to {self.end:g} s, "
            f"{len(self.pieces.x) - 1} piece{'s' * (len(self.pieces.x) > 2)} of degree {self.pieces.c.shape[0] - 1}"
        )

    def __call__(self, t: Any, K: int = 2) -> np.ndarray:
        """Q, of shape (..., n, K+1): q and its derivatives up to order K at the times t.

        Args:
            t: Times.
            K: The highest derivative.
        """
        t = floats(t, "Times")
        K = whole("The highest derivative K", K, 0)
        if np.any(t < self.start - 1e-12) or np.any(t > self.end + 1e-12) or not np.all(np.isfinite(t)):
            raise ModelError(f"The trajectory is known from {self.start:g} to {self.end:g} s only.")
        t = np.clip(t, self.start, self.end)
        return np.stack([self.pieces(t, nu=r) for r in range(K + 1)], axis=-1)

    def peaks(self, order: int) -> np.ndarray:
        """The largest |q^(order)| of every joint, exactly: at ends of pieces and zeros of the next derivative.

        Args:
            order: Which derivative.
        """
        rate = self.pieces.derivative(order) if whole("The order", order, 0) else self.pieces
        widths = np.diff(rate.x)
        largest = np.zeros(self.n)
        for piece, width in enumerate(widths):
            for j in range(self.n):
                polynomial = np.polynomial.Polynomial(rate.c[::-1, piece, j])
                zeros = np.atleast_1d(polynomial.deriv().roots()) if polynomial.degree() > 1 else np.zeros(0)
                inside = zeros[np.abs(zeros.imag) < 1e-9].real
                times = np.concatenate([[0.0, width], inside[(inside > 0) & (inside < width)]])
                largest[j] = max(largest[j], float(np.max(np.abs(polynomial(times)))))
        return largest

    def slowed(self, factor: float) -> Trajectory:
        """The same path in `factor` times the time; q^(r) shrinks by factor^r.

        Args:
            factor: Above zero; below one it is quicker.
        """
        if not number("factor", factor) > 0:
            raise ModelError(f"The factor must be a number above zero; got {factor!r}.")
        degree = self.pieces.c.shape[0] - 1
        scale = factor ** -np.arange(degree, -1, -1.0)
        begin = self.pieces.x[0]
        return Trajectory(PPoly(self.pieces.c * scale[:, None, None], begin + (self.pieces.x - begin) * factor))

    def within(self, limits: Mapping[str, Any]) -> Trajectory:
        """The same path, as quick as bounds on its derivatives allow.

        Args:
            limits: `{"velocity": ..., "acceleration": ..., "jerk": ..., "snap": ...}`, any of them, one number for all
                joints or one for each.
        """
        factor = 0.0
        for name, bound in by_name(limits, "Bounds", "{'velocity': 1.0, 'jerk': 20.0}").items():
            if name not in BOUNDS:
                raise ModelError(f"{name!r} is not a bound of a trajectory; there are: {', '.join(BOUNDS)}.")
            bound = floats(bound, f"The bound on {name}")
            if bound.shape not in ((), (self.n,)) or not np.all(bound > 0):
                raise ModelError(
                    f"The bound on {name} must be above zero, one number or {self.n}; got {bound.tolist()}."
                )
            order = BOUNDS[name]
            factor = max(factor, float(np.max(self.peaks(order) / bound)) ** (1 / order))
        if factor == 0.0:
            raise ModelError("Nothing limits this trajectory: give a bound, and a trajectory that moves.")
        return self.slowed(factor)


def polynomial(
    start: Any, end: Any, duration: float | None = None, degree: int = 5, limits: Mapping[str, Any] | None = None
) -> Trajectory:
    """The polynomial from one position to another, with as many derivatives zero at both ends as its degree allows.

    Degree 5 begins and ends with zero acceleration (bounded jerk), 7 with zero jerk (bounded snap), 9 with zero snap.

    Args:
        start: Joint variables at the beginning; or an array of shape (n, (degree+1)/2) with derivatives in the columns.
        end: The same at the end.
        duration: Seconds it takes; left out: as short as the limits allow.
        degree: An odd number up to 15.
        limits: Bounds as for `Trajectory.within`, in place of a duration.

    Example:
        >>> move = polynomial([0.0, 0.0], [1.0, -0.5], limits={"jerk": 20.0})
        >>> round(move.end, 6), move.peaks(3).round(6).tolist()
        (1.44225, [20.0, 10.0])
    """
    degree = whole("The degree", degree)
    if degree > HIGHEST or degree % 2 == 0:
        raise ModelError(f"The degree must be an odd number (3, 5, 7, 9, ... up to {HIGHEST}); got {degree!r}.")
    if (duration is None) == (limits is None):
        raise ModelError("Give either the duration of the motion or limits={...} on its derivatives.")
    T = 1.0 if duration is None else _positive(duration)
    half = (degree + 1) // 2
    ends = [_ends(values, half) for values in (start, end)]
    if ends[0].shape != ends[1].shape:
        raise ModelError(f"Start and end have {len(ends[0])} and {len(ends[1])} joints; they must be the same.")
    if limits is not None and any(np.any(e[:, 1:]) for e in ends):
        raise ModelError("A motion that does not begin and end at rest needs a duration.")
    scale = np.array([T**k / factorial(k) for k in range(half)])
    low, right = (e.T * scale[:, None] for e in ends)  # Taylor coefficients in x = t/T at both ends
    there, inverse = _meeting(half)
    coefficients = np.concatenate([low, inverse @ (right - there @ low)]) * T ** -np.arange(degree + 1.0)[:, None]
    made = Trajectory(PPoly(coefficients[::-1, None, :], [0.0, T]))
    return made if limits is None else made.within(limits)


def spline(times: Any, points: Any, degree: int = 5, limits: Mapping[str, Any] | None = None) -> Trajectory:
    """The spline through points, at rest at both ends; all derivatives below its degree are continuous.

    Degree 5 has continuous snap and degree 7 two more; q' and q'' (and for degree 7 also q''') are zero at both ends.

    Args:
        times: Times of the points.
        points: Joint variables, one row for each time.
        degree: 3, 5 or 7.
        limits: Bounds as for `Trajectory.within`: the path is then gone through as quickly as they allow.
    """
    times, points = floats(times, "The times of a spline"), floats(points, "The points of a spline")
    if points.ndim == 1:
        points = points[:, None]
    if degree not in (3, 5, 7):
        raise ModelError(f"The degree of a spline is 3, 5 or 7; got {degree!r}.")
    if (
        times.ndim != 1
        or points.ndim < 2
        or len(times) != len(points)
        or len(times) < 2
        or not np.all(np.diff(times) > 0)
    ):
        raise ModelError("A spline needs at least two points and as many times, each later than the one before.")
    if not (np.all(np.isfinite(times)) and np.all(np.isfinite(points))):
        raise ModelError("Times and points of a spline must be finite numbers.")
    still = [(r, np.zeros(points.shape[1])) for r in range(1, (degree + 1) // 2)]
    curve = make_interp_spline(times, points, k=degree, bc_type=(still, still))
    made = Trajectory(_pieces(curve, times))
    return made if limits is None else made.within(limits)


def _pieces(curve: BSpline, times: np.ndarray) -> PPoly:
    """The spline as polynomials between its knots."""
    knots = np.unique(curve.t[(curve.t >= times[0]) & (curve.t <= times[-1])])
    orders = [curve.derivative(r)(knots[:-1]) / factorial(r) if r else curve(knots[:-1]) for r in range(curve.k + 1)]
    return PPoly(np.stack(orders[::-1]), knots)


@cache
def _meeting(half: int) -> tuple[np.ndarray, np.ndarray]:
    """What 1 ... x^(half-1) are at x = 1, as Taylor coefficients, and the inverse of what the next powers are there.

    Both are matrices of binomials with determinant one: their inverses are whole numbers, and exact.
    """
    lower, upper = (
        sp.Matrix([[sp.binomial(first + j, s) for j in range(half)] for s in range(half)]) for first in (0, half)
    )
    return np.array(lower.tolist(), dtype=float), np.array(upper.inv().tolist(), dtype=float)


def _positive(duration: Any) -> float:
    if not number("duration", duration) > 0:
        raise ModelError(f"The duration must be above zero; got {duration!r}.")
    return float(duration)


def _ends(values: Any, half: int) -> np.ndarray:
    given = floats(values, "The ends of a motion")
    given = given[:, None] if given.ndim == 1 else given
    if given.ndim != 2 or given.shape[1] > half or not np.all(np.isfinite(given)):
        raise ModelError(
            f"Each end of the motion needs finite joint variables, with at most {half - 1} derivatives in further "
            f"columns at this degree; got shape {np.shape(values)}."
        )
    return np.pad(given, ((0, 0), (0, half - given.shape[1])))
