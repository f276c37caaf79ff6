"""Straight lengths that stand in the rows of a model, as formulas: of a rod, of the pieces of a rope over pulleys."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import sympy as sp

from appell.model.constraint import Row
from appell.model.symbols import letters_in, t


@dataclass(frozen=True, eq=False)
class Length:
    """What may be a length in a row.

    Attributes:
        row: The row.
        share: How often it stands there: two strands of a tackle count twice.
        square: Its square, or what differs from that by a factor and a constant.
        sides: Components whose squares add to `square`, none if that is no such sum.
        alone: Whether nothing else in the row moves.
    """

    row: Row
    share: sp.Expr
    square: sp.Expr
    sides: tuple[sp.Expr, ...]
    alone: bool


def lengths_in(row: Row, moving: frozenset[sp.Symbol]) -> Iterator[Length]:
    """The roots and moduli that a row is a sum of, or else all of it as the square of a length.

    A rope may also be wound up or paid out by what has letters of its own: a sum of multiples of these.

    Args:
        row: The row.
        moving: Letters that move things, and not time.
    """
    roots = [e for e in row.expression.atoms(sp.Pow, sp.Abs) if _rooted(e) is not None and moving & letters_in(e)]
    outer = [e for e in roots if not any(e is not other and other.has(e) for other in roots)]
    places = {e: sp.Dummy() for e in outer}
    rest = row.expression.xreplace(places)
    shares = [sp.diff(rest, place) for place in places.values()]
    rest = rest.xreplace(dict.fromkeys(places.values(), sp.Integer(0)))
    others = moving & letters_in(rest)
    rates = [*shares, *(sp.diff(rest, letter) for letter in others)]
    apart = not any(others & letters_in(e) for e in outer)
    if outer and apart and not any((moving | {t} | {*places.values()}) & e.free_symbols for e in rates):
        for root, share in zip(outer, shares, strict=True):
            square = _rooted(root)
            assert square is not None
            yield Length(row, share, square, _sides(square, moving), len(outer) == 1 and not others)
    else:
        yield Length(row, sp.Integer(1), row.expression, (), True)


def _rooted(e: sp.Expr) -> sp.Expr | None:
    """What it is the root of."""
    if isinstance(e, sp.Abs):
        return e.args[0] ** 2
    return e.base if isinstance(e, sp.Pow) and e.exp == sp.Rational(1, 2) else None


def _sides(square: sp.Expr, moving: frozenset[sp.Symbol]) -> tuple[sp.Expr, ...]:
    """Formulas whose squares add to another one; none if it is no sum of squares."""
    found = [_side(e, moving) for e in sp.Add.make_args(square)]
    real = tuple(e for e in found if e is not None and not e.has(sp.I))
    return real if len(real) == len(found) else ()


def _side(e: sp.Expr, moving: frozenset[sp.Symbol]) -> sp.Expr | None:
    powers = [factor.as_base_exp() for factor in sp.Mul.make_args(e)]
    if any(exponent % 2 != 0 and moving & letters_in(base) for base, exponent in powers):
        return None
    return sp.Mul(*(base ** (exponent / 2) for base, exponent in powers))
