"""What drives enforce: programmed constraints of any order, in joint or task space.

A programme is a task written as an equation: a point follows a curve, a path has a given curvature, a jerk follows a
profile. Its rows may stand beside material constraints and beside each other, each with its own order.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import sympy as sp

from appell.errors import ModelError
from appell.model.constraint import AbstractConstraint, Row, formulas_of, order_of
from appell.model.frame import Frame, Vector
from appell.model.symbols import Coordinate, Evolving, ExtraState, Input, Rate, letters_in, listed, quoted
from appell.model.values import whole

REALIZATIONS = ("ideal", "gauss")


class Programmed(AbstractConstraint):
    r"""$f(t, q, \dot q, \dots, q^{(p)}) = 0$ for any p, enforced by drives (Jarzebowska, eq. (2.1)).

    A row of order p adds p numbers to the initial data of the motion and takes 2 away. For p >= 3 its multiplier and
    p - 3 rates of it are states of the system; the start then needs p - 2 more numbers for each such row, given as
    accelerations (`x.rate.rate`) and higher rates, or as the multiplier `lambda_<name>` itself.
    A row of order 2 or more that is not linear in its highest derivative is differentiated once.

    Args:
        expression: A formula that vanishes, a SymPy `Eq`, a vector, or a list of these.
        name: Its name in messages, tables and states.
        frame: For vectors: the frame of the components; the ground if left out.
        differentiate: Demand only this derivative of the formula. The formula itself then keeps the value it has at the
            start; states that `consistent` and `plan` find have it vanish at every level.
        realization: Who enforces it. `"ideal"`: a force along the gradient of the row, on all coordinates, the least
            that does it (generalised programmed motion equations). `"gauss"`: for p >= 3 the generalised principle of
            Gauss. Or the coordinates whose drives enforce it, one for each row (servo constraints).
        point: The point that it is about, whose path is drawn; none if left out.

    Example:
        >>> import appell as ap
        >>> x = ap.coordinates("x")
        >>> Programmed(x.rate.rate.rate - 6 * sp.cos(2 * ap.t), "jerk").rows[0].order
        3

    Reference: Jarzebowska 2008; Jarzebowska et al., Motion planning for task-based motions, section 2.
    """

    def __init__(
        self,
        expression: Any,
        name: str = "programme",
        frame: Frame | None = None,
        differentiate: int = 0,
        realization: str | Iterable[Coordinate] = "ideal",
        point: Vector | None = None,
    ) -> None:
        differentiate = whole("differentiate=", differentiate, 0)
        if not isinstance(point, Vector | None):
            raise ModelError(f"point= of {name!r} is a point such as frame.point(a, b), got {point!r}.")
        self.name, self.point = name, point
        formulas = formulas_of(expression, frame, name)
        drives = _drives(realization, name, [label for label, _ in formulas])
        self.rows = tuple(
            _row(label, e, differentiate, drive, realization == "gauss")
            for (label, e), drive in zip(formulas, drives, strict=True)
        )


def _drives(realization: Any, name: str, labels: list[str]) -> list[Coordinate | None]:
    if isinstance(realization, str):
        if realization not in REALIZATIONS:
            raise ModelError(
                f"realization={realization!r} of {name!r} is unknown; use 'ideal', 'gauss' or the driven coordinates."
            )
        return [None] * len(labels)
    drives = listed(realization)
    for q in drives:
        if not isinstance(q, Coordinate):
            raise ModelError(f"A drive of {name!r} acts along a coordinate, got {q!r}.")
    if len(drives) != len(labels) or len(set(drives)) != len(drives):
        rows, got = f"{len(labels)} row{'s' * (len(labels) != 1)} ({', '.join(labels)})", ", ".join(map(str, drives))
        raise ModelError(
            f"The programme {name!r} has {rows} and needs as many different driven coordinates, got {got or 'none'}."
        )
    return list(drives)


def _row(label: str, e: sp.Expr, differentiate: int, drive: Coordinate | None, gauss: bool) -> Row:
    for symbol in letters_in(e):
        if isinstance(symbol, Input):
            raise ModelError(
                f"The programme {label!r} contains the input {symbol}; let an extra state follow the input instead."
            )
        if isinstance(symbol, Rate) and isinstance(symbol.base, ExtraState):
            raise ModelError(f"The programme {label!r} contains {symbol}; write the formula of that rate instead.")
    if not any(isinstance(s, Evolving) and not isinstance(s, ExtraState) for s in letters_in(e)):
        raise ModelError(
            f"The programme {label!r} contains no coordinate: {quoted(e)} = 0 demands nothing or everything."
        )
    base = order_of(e)
    raised = differentiate + int(base >= 2 and differentiate == 0 and not _affine(e, base))
    order = base + raised
    return Row(label, e, order, raised=raised, programmed=True, drive=drive, gauss=gauss and order >= 3)


def _affine(e: sp.Expr, order: int) -> bool:
    """Whether a formula is linear in its derivatives of the highest order."""
    top = [s for s in letters_in(e) if isinstance(s, Rate) and s.order == order]
    return not any(letters_in(sp.diff(e, s)) & set(top) for s in top)


def state_names(row: Row) -> tuple[str, ...]:
    """Names of the states that a row of order 3 or more brings: its multiplier and p - 3 rates of it."""
    word = re.sub(r"\W+", "_", row.name).strip("_")
    return tuple(f"lambda_{word}" + (f"_{k}" if k else "") for k in range(row.order - 2))


def programme_states(rows: Iterable[Row], coordinates: Iterable[Coordinate]) -> dict[ExtraState, sp.Expr]:
    """The states of programmes of order 3 and more; the rate of the last in each chain is left open, z' = z.rate."""
    found: dict[ExtraState, sp.Expr] = {}
    owners: dict[ExtraState, str] = {}
    ordered = tuple(coordinates)
    for row in rows:
        for chain in chains(row, ordered):
            for here, following in zip(chain, (*chain[1:], None), strict=True):
                if here in owners:
                    raise ModelError(
                        f"The programmes {owners[here]!r} and {row.name!r} would both have a state {here}; give one of "
                        "them another name."
                    )
                owners[here] = row.name
                found[here] = here.rate if following is None else following
    return found


def chains(row: Row, coordinates: tuple[Coordinate, ...]) -> list[tuple[ExtraState, ...]]:
    """The states of a row of order 3 or more: one chain, or one for each coordinate under Gauss's principle."""
    names = state_names(row)
    ends = [f"_{q.name}" for q in coordinates] if row.gauss else [""]
    return [tuple(ExtraState(name + end, "", f"force of {row.name!r}") for name in names) for end in ends]
