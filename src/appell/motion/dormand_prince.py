"""Dormand and Prince's method of order 8(5,3): a step, and what is within it, as graphs or as columns of numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, reduce
from typing import Any

import casadi as ca
import numpy as np

from appell.graph.kinks import roots
from appell.graph.quick import Quick, larger, root
from appell.graph.sparse import densified
from appell.graph.tableau import STAGES, table
from appell.motion.crossing import LOOKS, looked_graph

THIRD = table.E3[:STAGES] - table.B
WILD, MOST = 3.5, 16  # pace from which on the dense output of a step is made in parts, and so many at most

# CasADi's operators try all kinds of arguments first; named with their kind they are many times quicker.
_binary = ca.SX.binary


def stages(f: Callable[[Any, Any], Any], t: Any, x: Any, h: Any) -> list[Any]:
    """The slopes of the twelve stages, of graphs or of columns of numbers."""
    slopes: list[Any] = []
    for i in range(STAGES):
        slopes.append(f(_later(t, h, table.C[i]), _moved(x, h, table.A[i][:i], slopes) if i else x))
    return slopes


def stepped(x: Any, h: Any, slopes: list[Any]) -> Any:
    """The state at the end of a step, of graphs or of columns of numbers."""
    return _moved(x, h, table.B, slopes)


def columns_of(f: Callable[[Any, Any], Any], t: Any, x: Any, h: Any, slopes: list[Any]) -> list[Any]:
    """The polynomial of degree seven within a step, by three more stages."""
    new = stepped(x, h, slopes)
    slopes = [*slopes, f(t + h, new)]
    for i in range(STAGES + 1, table.N_STAGES_EXTENDED):
        slopes.append(f(_later(t, h, table.C[i]), _moved(x, h, table.A[i][:i], slopes)))
    difference = new - x
    first = [difference, h * slopes[0] - difference, 2 * difference - h * (slopes[STAGES] + slopes[0])]
    return first + [h * _weighted(row, slopes) for row in table.D]


def parts_of(pace: Any) -> Any:
    """In how many parts the dense output of a step is made so that it is as good as its end."""
    return np.where((pace > WILD) & (pace < np.inf), np.minimum(np.ceil(pace), MOST), 1)


def pace_of(x: Any, h: Any, slopes: list[Any], columns: list[Any], scale: Any) -> Any:
    """h |f(X) - f(Y)| / |X - Y| at the end of a step: the largest root of the flow times h (Hairer and Wanner 1996).

    X is the new state, Y that of the last stage. Where X and Y are the same up to the tolerance, nothing is known.
    """
    apart = (x + columns[0] - _moved(x, h, table.A[STAGES - 1][: STAGES - 1], slopes)) / scale
    turned = (columns[0] - columns[1] - columns[2] - h * slopes[STAGES - 1]) / scale
    if isinstance(apart, ca.SX):
        return ca.sqrt(ca.sumsqr(turned) / ca.fmax(1.0, ca.sumsqr(apart)))
    return np.sqrt((turned**2).sum(axis=0) / np.maximum(1.0, (apart**2).sum(axis=0)))


def _weighted(weights: np.ndarray, slopes: list[Any]) -> Any:
    """The sum of b_i k_i."""
    pairs = [(float(b), k) for b, k in zip(weights, slopes, strict=False) if b != 0]
    if not isinstance(slopes[0], ca.SX):
        return sum(b * k for b, k in pairs)
    terms = [_binary(ca.OP_MUL, _constant(b), k) for b, k in pairs]
    return reduce(lambda a, b: _binary(ca.OP_ADD, a, b), terms)


@cache
def _constant(coefficient: float) -> ca.SX:
    """A coefficient of the method on the graph."""
    return ca.SX(coefficient)


def _moved(x: Any, h: Any, weights: np.ndarray, slopes: list[Any]) -> Any:
    """x + h times the sum of b_i k_i."""
    slope = _weighted(weights, slopes)
    return _binary(ca.OP_ADD, x, _binary(ca.OP_MUL, h, slope)) if isinstance(slope, ca.SX) else x + h * slope


def _later(t: Any, h: Any, share: float) -> Any:
    """The time at a share of the step."""
    if isinstance(t, ca.SX):
        return _binary(ca.OP_ADD, t, _binary(ca.OP_MUL, _constant(float(share)), h))
    return t + float(share) * h


def step_functions(rhs: ca.Function) -> tuple[ca.Function, ca.Function]:
    """The step (t, x, w, P) -> (x1, error) and the dense output (t, x, w, P) -> F, with P = (p, h, rtol, atol)."""
    return step_function(rhs), dense_function(rhs)


def step_function(rhs: ca.Function) -> ca.Function:
    """The step (t, x, w, P) -> (x1, error), with P = (p, h, rtol, atol)."""
    t, x, w, p = rhs.sx_in()
    P = ca.vertcat(p, *(ca.SX.sym(name) for name in ("h", "rtol", "atol")))
    return ca.Function("step", [t, x, w, P], list(step_graph(rhs, t, x, w, P)))


def step_graph(rhs: ca.Function, t: ca.SX, x: ca.SX, w: ca.SX, P: ca.SX) -> tuple[ca.SX, ca.SX]:
    """The new state and the error of a step, with P = (p, h, rtol, atol); infinite where a root has no value behind it.

    What is within such a step would have none either, and no step could follow it.
    """
    p, (h, rtol, atol) = P[:-3], ca.vertsplit(P[-3:])
    slopes = stages(lambda time, state: rhs(time, state, w, p), t, x, h)
    slope = _weighted(table.B, slopes)
    new = _binary(ca.OP_ADD, x, _binary(ca.OP_MUL, h, slope))
    size = 1.0 / (Quick(atol) + Quick(rtol) * larger(abs(Quick(x)), abs(Quick(new))))
    # The formula of order three differs from that of order eight in three stages only.
    apart = _weighted(table.E5[:STAGES], slopes), _binary(ca.OP_ADD, slope, _weighted(THIRD, slopes))
    fifth, third = (Quick(ca.sumsqr((Quick(e) * size).graph)) for e in apart)
    error = Quick(h) * fifth / root(larger((fifth + 0.01 * third) * x.numel(), 1e-300))
    if (under := roots(rhs)).numel():
        arguments = ca.Function("under", rhs.sx_in(), [under])
        here, there = arguments(t, x, w, p), arguments(_binary(ca.OP_ADD, t, h), new, w, p)
        error = Quick(ca.if_else(ca.mmax(ca.logic_and(here >= 0, there < 0)), ca.inf, error.graph))
    return densified(new), error.graph


def dense_function(rhs: ca.Function) -> ca.Function:
    """The dense output (t, x, w, P) -> F of a step, with P as for the step, and its pace."""
    t, x, w, p = rhs.sx_in()
    h, tolerances = ca.SX.sym("h"), ca.SX.sym("tolerances", 2)

    def f(time: ca.SX, state: ca.SX) -> ca.SX:
        return rhs(time, state, w, p)

    slopes = stages(f, t, x, h)
    columns = columns_of(f, t, x, h, slopes)
    pace = pace_of(x, h, slopes, columns, tolerances[1] + tolerances[0] * ca.fabs(x))
    return ca.Function("dense", [t, x, w, ca.vertcat(p, h, tolerances)], [ca.densify(ca.vertcat(*columns)), pace])


def look_function(rhs: ca.Function, guards: ca.Function) -> ca.Function:
    """(t, x, w, P) -> guards, their rates and doubts at `LOOKS` + 1 places of the step from t to t + h, P as for it."""
    t, x, w, p = rhs.sx_in()
    h, tolerances = ca.SX.sym("h"), ca.SX.sym("tolerances", 2)

    def f(time: ca.SX, state: ca.SX) -> ca.SX:
        return rhs(time, state, w, p)

    columns = columns_of(f, t, x, h, stages(f, t, x, h))
    places = [k / LOOKS for k in range(LOOKS + 1)]
    seen = [guards(t + s * h, interpolate(columns, x, s) if s else x, w, p) for s in places]
    values, rates = (ca.densify(ca.horzcat(*e)) for e in zip(*seen, strict=True))
    results = [ca.densify(e) for e in looked_graph(values, rates, h / LOOKS)]
    return ca.Function("looks", [t, x, w, ca.vertcat(p, h, tolerances)], results)


def interpolate(coefficients: Any, start: Any, share: Any) -> Any:
    """x at a share (0..1) of a step, from the seven columns of its dense output."""
    value = 0.0
    for i, column in enumerate(reversed(coefficients)):
        value = (value + column) * (share if i % 2 == 0 else 1 - share)
    return value + start


@dataclass(frozen=True, eq=False)
class Parts:
    """The dense output of a step, in equal parts.

    Where stability limits a step, its stages are far from the motion, and so is the polynomial through them between the
    ends of the step. In shorter steps it is not.

    Attributes:
        states: Where the parts begin.
        columns: The coefficients of each.
        gap: What they miss the end of the step by, for each entry; spread over all of it.
    """

    states: list[np.ndarray]
    columns: list[np.ndarray]
    gap: Any

    def __call__(self, share: float) -> np.ndarray:
        """x at a share (0..1) of the step."""
        count = len(self.states)
        k = min(max(int(share * count), 0), count - 1)
        return interpolate(self.columns[k], self.states[k], share * count - k) + self.gap * share
