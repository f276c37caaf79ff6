"""Turns: axes, angles, quaternions, and the rows of their matrices, which are added and multiplied as plain tuples."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import sympy as sp

from appell.errors import ModelError
from appell.model.symbols import Letter, quoted, time_derivative
from appell.model.values import formula_of

AXES = {"x": (1, 0, 0), "y": (0, 1, 0), "z": (0, 0, 1)}
Triple = tuple[sp.Expr, sp.Expr, sp.Expr]
Rows = tuple[Triple, Triple, Triple]
ZERO, ONE = sp.S.Zero, sp.S.One
NOTHING: Triple = (ZERO, ZERO, ZERO)
UNIT: Rows = ((ONE, ZERO, ZERO), (ZERO, ONE, ZERO), (ZERO, ZERO, ONE))


def triple(values: Iterable[Any], what: str) -> Triple:
    """Three SymPy numbers or formulas; two are completed by a zero."""
    try:
        listed = None if isinstance(values, str) else list(values)
    except TypeError:
        listed = None
    if listed is None:
        raise ModelError(f"{what} needs two or three components such as (0, 0, 1), got {quoted(values)}.")
    given = [exact_zero(formula_of(value, f"A component of {what[0].lower()}{what[1:]}")) for value in listed]
    if len(given) == 2:
        given.append(sp.Integer(0))
    if len(given) != 3:
        raise ModelError(f"{what} needs two or three components, got {len(given)}: {quoted(given)}.")
    return given[0], given[1], given[2]


def exact_zero(value: sp.Expr) -> sp.Expr:
    """The same formula, with the float 0.0 as the number zero, which SymPy tells apart."""
    return sp.Integer(0) if value.is_Float and not value else value


def unit_axis(axis: Any) -> Triple:
    """A unit vector from `"x"`, `"-z"` or three components."""
    if isinstance(axis, str):
        return lettered_axis(axis, f"Got axis {quoted(axis)}; use 'x', 'y', 'z', '-x' or three components: (1, 1, 0).")
    k = triple(axis, "An axis")
    length = sp.sqrt(k[0] ** 2 + k[1] ** 2 + k[2] ** 2)
    if length == 0:
        raise ModelError("An axis of rotation must not be the zero vector.")
    return triple((c / length for c in k), "An axis")


def lettered_axis(axis: str, otherwise: str) -> Triple:
    """The unit vector of `"x"` or `"-z"`; a message for another text."""
    sign, letter = (-1, axis[1:]) if axis.startswith("-") else (1, axis)
    if letter not in AXES:
        raise ModelError(otherwise)
    return triple((sign * c for c in AXES[letter]), "An axis")


@dataclass(frozen=True, eq=False)
class Rotation:
    """From parent to child axes: about a fixed unit `axis` by `angle`, or by a unit `quaternion` (w, x, y, z)."""

    axis: Triple | None = None
    angle: sp.Expr | None = None
    quaternion: tuple[sp.Expr, ...] | None = None

    def __str__(self) -> str:
        if self.quaternion is not None:
            return f"by ({', '.join(map(str, self.quaternion))})"
        letter = next((name for name, axis in AXES.items() if self.axis == axis), None)
        return f"by {self.angle} about {letter or self.axis}"

    @cached_property
    def matrix(self) -> sp.Matrix:
        """R with v_parent = R v_child."""
        if self.quaternion is not None:
            w, x, y, z = self.quaternion
            return sp.Matrix(
                [
                    [w**2 + x**2 - y**2 - z**2, 2 * (x * y - w * z), 2 * (x * z + w * y)],
                    [2 * (x * y + w * z), w**2 - x**2 + y**2 - z**2, 2 * (y * z - w * x)],
                    [2 * (x * z - w * y), 2 * (y * z + w * x), w**2 - x**2 - y**2 + z**2],
                ]
            )
        return sp.Matrix(self._turned)

    @cached_property
    def rows(self) -> Rows:
        """The same as plain rows, in which sums and products are much quicker than in SymPy's matrices."""
        return self._turned if self.quaternion is None else as_rows(self.matrix)

    @cached_property
    def _turned(self) -> Rows:
        """Cos a 1 + sin a [k x] + (1 - cos a) k k'."""
        assert self.axis is not None
        k, zero = self.axis, sp.Integer(0)
        c, s = _cos_and_sin(self.angle)
        along = [i for i in range(3) if k[i] != 0]
        if len(along) == 1 and k[along[0]] ** 2 == 1:
            i, j = (along[0] + 1) % 3, (along[0] + 2) % 3
            rows = [[zero] * 3 for _ in range(3)]
            rows[along[0]][along[0]] = sp.Integer(1)
            rows[i][i] = rows[j][j] = c
            rows[i][j], rows[j][i] = (-s, s) if k[along[0]] is ONE else (s, -s)
            return as_rows(rows)
        cross = ((zero, -k[2], k[1]), (k[2], zero, -k[0]), (-k[1], k[0], zero))
        return as_rows([c * int(i == j) + s * cross[i][j] + (1 - c) * k[i] * k[j] for j in range(3)] for i in range(3))

    @cached_property
    def angular_velocity(self) -> Triple:
        """Angular velocity of the child against the parent, in child components."""
        if self.quaternion is not None:
            w, x, y, z = self.quaternion
            dw, dx, dy, dz = (time_derivative(e) for e in self.quaternion)
            return (
                2 * (w * dx - x * dw - y * dz + z * dy),
                2 * (w * dy + x * dz - y * dw - z * dx),
                2 * (w * dz - x * dy + y * dx - z * dw),
            )
        rate = time_derivative(self.angle)
        assert self.axis is not None
        return triple((times(rate, k) for k in self.axis), "an axis")


def as_rows(values: Any) -> Rows:
    """Three rows of three."""
    a, b, c = (tuple(row) for row in (values.tolist() if isinstance(values, sp.MatrixBase) else values))
    return a, b, c


def product(a: Rows, b: Rows, wanted: tuple[int, ...] = (0, 1, 2)) -> Rows:
    """A B, or only some of its columns with zeros in the others."""
    columns = tuple(zip(*b, strict=True))
    return as_rows([inner(row, columns[j]) if j in wanted else ZERO for j in range(3)] for row in a)


def inner(a: Triple, b: Triple) -> sp.Expr:
    """The sum of a_i b_i, without the terms that are zero."""
    terms = [times(x, y) for x, y in zip(a, b, strict=True) if x is not ZERO and y is not ZERO]
    return sp.Add(*terms) if len(terms) > 1 else terms[0] if terms else ZERO


def times(a: sp.Expr, b: sp.Expr) -> sp.Expr:
    """a b; SymPy takes longest over the products with zero and one, of which vectors are full."""
    if a is ZERO or b is ZERO:
        return ZERO
    return b if a is ONE else a if b is ONE else a * b


def plus(a: sp.Expr, b: sp.Expr) -> sp.Expr:
    """a + b, likewise."""
    return b if a is ZERO else a if b is ZERO else a + b


def added(a: Triple, b: Triple) -> Triple:
    """The sum of two triples."""
    return plus(a[0], b[0]), plus(a[1], b[1]), plus(a[2], b[2])


def minus(a: sp.Expr, b: sp.Expr) -> sp.Expr:
    """a - b, likewise."""
    return a if b is ZERO else -b if a is ZERO else a - b


def _cos_and_sin(angle: Any) -> tuple[sp.Expr, sp.Expr]:
    """Cosine and sine as SymPy would give them, which searches long where a bare letter or a known angle is given."""
    if isinstance(angle, Letter):
        return sp.cos(angle, evaluate=False), sp.sin(angle, evaluate=False)
    angle = exact_quarters(angle)
    share, rest = angle.as_coeff_Mul()
    twelfths = 12 * share
    if rest is sp.pi and twelfths.is_Integer and (twelfths % 2 == 0 or twelfths % 3 == 0):
        return _known_cosine(int(twelfths)), _known_cosine(int(twelfths) - 6)
    return sp.cos(angle), sp.sin(angle)


def exact_quarters(angle: sp.Expr) -> sp.Expr:
    """An angle; a decimal that is so many quarters of a turn within its rounding, such as `math.pi / 2`, as these."""
    if not angle.is_Float:
        return angle
    quarters = 2 * float(angle) / math.pi
    return sp.pi * round(quarters) / 2 if abs(quarters - round(quarters)) < 1e-15 * (1 + abs(quarters)) else angle


_COSINES = {0: sp.Integer(1), 2: sp.sqrt(3) / 2, 3: sp.sqrt(2) / 2, 4: sp.Rational(1, 2), 6: sp.Integer(0)}


def _known_cosine(twelfths: int) -> sp.Expr:
    """The cosine of some twelfths of pi."""
    half = min(twelfths % 24, -twelfths % 24)
    return _COSINES[half] if half <= 6 else -_COSINES[12 - half]


def transposed(rows: Rows) -> Rows:
    """Rows as columns."""
    return as_rows(zip(*rows, strict=True))
