"""Rows on velocities that say one thing twice: whether the same ones always do, and axes in which they do.

The two wheels of an axle forbid the same sideways motion. Along the ground's axes no row can be spared for good then:
which one follows from the others changes with the heading. Along the axes of the axle two rows are always the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import casadi as ca
import numpy as np
import sympy as sp

from appell.graph.lower import Lowering
from appell.graph.numeric import Numeric
from appell.model.constraint import AbstractConstraint, Rolling
from appell.model.frame import Frame
from appell.model.symbols import Parameter, Rate, letters_in

STATES = 8
SMALL = 1e-9  # singular value of rows of length one at which they say nothing new

# Axes in which rolling is written, the first first.
AXES: tuple[Callable[[Rolling], Frame | None], ...] = (
    lambda rolling: rolling.contact.frame,
    lambda rolling: rolling.body.frame.axes.parent,
    lambda rolling: rolling.body.frame.axes,
    lambda rolling: rolling.on.frame.axes if rolling.on is not None else None,
)


def ranks(rows: Sequence[sp.Expr]) -> tuple[int, int]:
    """How many rows are independent at ordinary states, and how many are in constant combinations.

    Where the two are equal some rows can be spared at all states. No constraint on positions is looked at.

    Args:
        rows: Formulas in coordinates and their rates.
    """
    letters = sorted({s for e in rows for s in letters_in(e)}, key=lambda s: s.name)
    graph = {s: ca.SX.sym(s.name) for s in letters}
    rates = ca.vertcat(*[graph[s] for s in letters if isinstance(s, Rate)])
    J = ca.densify(ca.jacobian(Lowering(graph).column(list(rows)), rates))
    function = Numeric(ca.Function("rows", [ca.vertcat(*graph.values())], [J]))
    random = np.random.default_rng(2)
    span = np.array([(0.3, 1.2) if isinstance(s, Parameter) else (-2.0, 2.0) for s in letters]).T
    found = [function(random.uniform(*span))[0] for _ in range(STATES)]
    states = np.array([j for j in found if np.isfinite(j).all()])
    if not len(states):
        return len(rows), len(rows)
    states = states / np.maximum(np.sqrt((states**2).sum(axis=2, keepdims=True)).max(axis=0), 1e-300)
    sizes = np.linalg.svd(states, compute_uv=False)
    together = np.linalg.svd(np.concatenate(states, axis=1), compute_uv=False)
    return int((sizes > SMALL).sum(axis=1).max()), int((together > SMALL).sum())


def in_regular_axes(constraints: tuple[AbstractConstraint, ...]) -> tuple[AbstractConstraint, ...]:
    """The same constraints, rolling along axes in which some rows can be spared for good if any can be at all."""
    rolling = [c for c in constraints if isinstance(c, Rolling) and c.along is None]
    if not rolling or sum(len(c.rows) for c in rolling) < 2 or _settled(constraints):
        return constraints
    for axes in AXES:
        others = tuple(c.in_axes(axes(c) or c.axes) if c in rolling else c for c in constraints)
        if _settled(others):
            return others
    return constraints


def _settled(constraints: tuple[AbstractConstraint, ...]) -> bool:
    rows = [row.expression for c in constraints for row in c.rows if row.order == 1 and not row.programmed]
    return _plainly_independent(rows) or len(set(ranks(rows))) == 1


def _plainly_independent(rows: Sequence[sp.Expr]) -> bool:
    """Whether each row has the rate of a coordinate as a summand that stands nowhere else."""
    summands = [sp.Add.make_args(e) for e in rows]
    letters = [[letters_in(part) for part in parts] for parts in summands]
    everywhere = [letter for row in letters for part in row for letter in part]
    return all(any(isinstance(part, Rate) and everywhere.count(part) == 1 for part in parts) for parts in summands)
