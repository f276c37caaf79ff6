"""Small sparse vectors and matrices of scalars, each a float or a scalar graph.

For many small products this is some ten times quicker than CasADi's matrices, whose calls cost more than the sums in
them, and what is zero or one costs nothing and is never seen again. A vector is {row: scalar}, a matrix
{row: {column: scalar}}; what is not there is zero.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import casadi as ca

Scalar = float | ca.SX
Column = dict[int, Scalar]
Matrix = dict[int, Column]

_SX = ca.SX
# CasADi's operators try all kinds of arguments first; named with their kind they are seven times quicker.
_binary, _unary, _ADD, _MUL = ca.SX.binary, ca.SX.unary, ca.OP_ADD, ca.OP_MUL
DEEP = 20  # operations one upon the other up to which formulas are compared
ONE: Matrix = {i: {i: 1.0} for i in range(3)}
_USUAL = {number: ca.SX(number) for number in (-2.0, -1.0, -0.5, 0.5, 1.0, 2.0)}


def scalar(value: ca.SX) -> Scalar:
    """A graph as a scalar; a float if it is constant."""
    if value.nnz() == 0:
        return 0.0
    return float(value) if value.is_constant() else value


def column(value: ca.SX) -> Column:
    """A CasADi column as a sparse vector."""
    return nonzero((i, scalar(e)) for i, e in zip(value.sparsity().row(), value.nonzeros(), strict=True))


def nonzero(entries: Iterable[tuple[int, Scalar]]) -> Column:
    """A vector of those entries that are not zero."""
    return {i: e for i, e in entries if not (isinstance(e, float) and e == 0.0)}


def to_sx(value: Scalar) -> ca.SX:
    """A scalar as a graph."""
    return _constant(value) if isinstance(value, float) else value


def _constant(value: float) -> ca.SX:
    return _USUAL[value] if value in _USUAL else ca.SX(value)


def densified(value: ca.SX) -> ca.SX:
    """A graph with all its entries; asking first is much quicker where they are all there."""
    return value if value.is_dense() else ca.densify(value)


def stacked(parts: Iterable[ca.SX]) -> ca.SX:
    """Graphs one below the other; where there are none an empty graph, not the empty numbers that CasADi gives."""
    listed = list(parts)
    return ca.vertcat(*listed) if listed else ca.SX(0, 1)


def fresh(letters: Iterable[Any]) -> ca.SX:
    """New letters of the graph, called like those of SymPy, one below the other."""
    return stacked(ca.SX.sym(letter.name) for letter in letters)


def total(values: Iterable[ca.SX], start: ca.SX | None = None) -> ca.SX:
    """The sum of graphs of one shape, from `start` on; zero if there is none."""
    result = start
    for value in values:
        result = value if result is None else _binary(_ADD, result, value)
    return ca.SX(0) if result is None else result


def dense(value: Column, size: int = 3) -> ca.SX:
    """A sparse vector as a CasADi column."""
    return ca.vertcat(*[to_sx(value.get(i, 0.0)) for i in range(size)])


def dense_matrix(value: Matrix) -> ca.SX:
    """A sparse 3 by 3 matrix as a CasADi matrix; what is not there is no part of its pattern."""
    result = ca.SX(3, 3)
    for i, row in value.items():
        for j, e in row.items():
            result[i, j] = e
    return result


def add(a: Scalar, b: Scalar) -> Scalar:
    """a + b."""
    if type(a) is _SX and type(b) is _SX:
        return _binary(_ADD, a, b)
    if isinstance(a, float):
        if a == 0.0:
            return b
        return a + b if isinstance(b, float) else _binary(_ADD, _constant(a), b)
    return a if b == 0.0 else _binary(_ADD, a, _constant(b))


def mul(a: Scalar, b: Scalar) -> Scalar:
    """a b."""
    if type(a) is _SX:
        if type(b) is _SX:
            return _binary(_MUL, a, b)
        a, b = b, a
    elif isinstance(b, float):
        return a * b
    if a == 1.0:
        return b
    return -b if a == -1.0 else 0.0 if a == 0.0 else _binary(_MUL, _constant(a), b)


def inverted(a: Scalar) -> Scalar:
    """1 / a."""
    return 1.0 / a if isinstance(a, float) else _binary(ca.OP_DIV, _constant(1.0), a)


def power_product(number: float, factors: Iterable[tuple[ca.SX, int]]) -> Scalar:
    """A number times factors with whole exponents, those below zero under one line."""
    above, below = number, 1.0
    for factor, exponent in factors:
        for _ in range(exponent):
            above = mul(above, factor)
        for _ in range(-exponent):
            below = mul(below, factor)
    return above if isinstance(below, float) else to_sx(above) / below


def neg(a: Scalar) -> Scalar:
    """-a."""
    return -a


def same(a: Scalar, b: Scalar) -> bool:
    """Whether two scalars are the same formula, written in the same way."""
    if isinstance(a, float) or isinstance(b, float):
        return isinstance(a, float) and isinstance(b, float) and a == b
    return ca.is_equal(a, b, DEEP)


def accumulate(target: dict[int, Scalar], i: int, value: Scalar) -> None:
    """target[i] += value, where something that cancels is no longer there."""
    if type(value) is _SX:
        old = target.get(i)
        if old is None or type(old) is _SX:
            target[i] = value if old is None else _binary(_ADD, old, value)
            return
    elif value == 0.0:
        return
    total = add(target[i], value) if i in target else value
    if isinstance(total, float) and total == 0.0:
        del target[i]
    else:
        target[i] = total


def plus(a: Column, *others: Column) -> Column:
    """The sum of vectors."""
    total = dict(a)
    for other in others:
        for i, value in other.items():
            accumulate(total, i, value)
    return total


def scaled(a: Column, factor: Scalar) -> Column:
    """A vector times a scalar."""
    return nonzero((i, mul(value, factor)) for i, value in a.items())


def apply(A: Matrix, v: Column) -> Column:
    """A v."""
    total: Column = {}
    for i, row in A.items():
        for k, value in row.items():
            if k in v:
                accumulate(total, i, mul(value, v[k]))
    return total


def product(A: Matrix, B: Matrix) -> Matrix:
    """A B."""
    result: Matrix = {}
    for i, row in A.items():
        total: Column = {}
        for k, value in row.items():
            if k in B:
                for j, other in B[k].items():
                    accumulate(total, j, mul(value, other))
        if total:
            result[i] = total
    return result


def gram(A: Matrix, B: Matrix) -> Matrix:
    """A' B where it is known to be symmetric: one triangle is computed and put on both sides."""
    result: Matrix = {}
    for k, row in A.items():
        for i, value in row.items():
            for j, other in B.get(k, {}).items():
                if i <= j:
                    accumulate(result.setdefault(i, {}), j, mul(value, other))
    for i, row in list(result.items()):
        for j, value in row.items():
            if i < j:
                result.setdefault(j, {})[i] = value
    return {i: row for i, row in result.items() if row}


def congruent(T: Matrix, S: Matrix) -> Matrix:
    """T' S T of a symmetric matrix.

    Where T turns about a coordinate axis, with T = [[c, p], [-p, c]] in the plane and S = [[x, e], [e, y]] there, it is
    [[x - p a, c a - e], [c a - e, y + p a]] with a = p (x - y) + 2 c e: half of the operations.
    """
    plane = _turning(T)
    if plane is None:
        return gram(T, product(S, T))
    i, j = plane
    c, p = T[i][i], T[i][j]
    x, y, e = S.get(i, {}).get(i, 0.0), S.get(j, {}).get(j, 0.0), S.get(i, {}).get(j, 0.0)
    a = add(0.0 if same(x, y) else mul(p, add(x, neg(y))), mul(c, mul(2.0, e)))
    t, off = mul(p, a), add(mul(c, a), neg(e))
    entries = {(i, i): add(x, neg(t)), (j, j): add(y, t), (i, j): off, (j, i): off}
    for k, row in ((k, S.get(k, {})) for k in T if k not in plane):
        entries[k, k] = row.get(k, 0.0)
        u, v = row.get(i, 0.0), row.get(j, 0.0)
        entries[i, k] = entries[k, i] = add(mul(c, u), neg(mul(p, v)))
        entries[j, k] = entries[k, j] = add(mul(p, u), mul(c, v))
    result: Matrix = {}
    for (row, column), value in entries.items():
        accumulate(result.setdefault(row, {}), column, value)
    return {row: found for row, found in result.items() if found}


def _turning(T: Matrix) -> tuple[int, int] | None:
    """The plane in which a matrix turns, if it does nothing else."""
    rest = [k for k, row in T.items() if list(row) == [k] and same(row[k], 1.0)]
    plane = sorted(T.keys() - set(rest))
    if len(plane) != 2 or any(sorted(T[k]) != plane for k in plane):
        return None
    i, j = plane
    return (i, j) if same(T[i][i], T[j][j]) and same(T[j][i], neg(T[i][j])) else None


def transposed(A: Matrix) -> Matrix:
    """A'."""
    result: Matrix = {}
    for i, row in A.items():
        for j, value in row.items():
            result.setdefault(j, {})[i] = value
    return result


def merge(target: Matrix, A: Matrix) -> None:
    """target += A."""
    for i, row in A.items():
        mine = target.setdefault(i, {})
        for j, value in row.items():
            accumulate(mine, j, value)
        if not mine:
            del target[i]


def matrix(value: ca.SX) -> Matrix:
    """A CasADi matrix as a sparse one."""
    result: Matrix = {}
    for i, j, e in zip(*value.sparsity().get_triplet(), value.nonzeros(), strict=True):
        accumulate(result.setdefault(i, {}), j, scalar(e))
    return {i: row for i, row in result.items() if row}


def skew(c: Column) -> Matrix:
    """C with C v = c x v."""
    entries: Any = {}
    for i, value in c.items():
        j, k = (i + 1) % 3, (i + 2) % 3
        entries.setdefault(k, {})[j] = value
        entries.setdefault(j, {})[k] = neg(value)
    return entries


def dot(a: Column, b: Column) -> Scalar:
    """a . b."""
    total: Scalar = 0.0
    for i in sorted(a.keys() & b.keys()):
        total = add(total, mul(a[i], b[i]))
    return total


def rodrigues(k: Column, angle: Scalar) -> Matrix:
    """cos a 1 + sin a [k x] + (1 - cos a) k k' for a unit vector k; for a coordinate axis only the entries there are.

    A constant angle that is a whole number of right angles gives zeros and ones without rounding.
    """
    if isinstance(angle, float):
        s, c = (round(e) * 1.0 if abs(e - round(e)) < 1e-15 else e for e in (math.sin(angle), math.cos(angle)))
    else:
        s, c = _unary(ca.OP_SIN, angle), _unary(ca.OP_COS, angle)
    turn: Matrix = {}
    plain = len(k) == 1 and all(isinstance(e, float) and abs(e) == 1.0 for e in k.values())
    around, versed = skew(k), add(1.0, neg(c))
    for i in range(3):
        row = turn[i] = {}
        for j in range(3):
            accumulate(row, j, (1.0 if plain and i in k else c) if i == j else mul(around.get(i, {}).get(j, 0.0), s))
            if not plain and i in k and j in k:
                accumulate(row, j, mul(versed, mul(k[i], k[j])))
    return {i: row for i, row in turn.items() if row}


def cross(a: Column, b: Column) -> Column:
    """a x b."""
    total: Column = {}
    for i, x in a.items():
        for j, y in b.items():
            if i != j:
                k = 3 - i - j
                value = mul(x, y)
                accumulate(total, k, value if (i + 1) % 3 == j else neg(value))
    return total


def whirled(omega: Column, c: Column) -> Column:
    """omega x (omega x c), with the square of omega where it has one component."""
    if len(omega) != 1:
        return cross(omega, cross(omega, c))
    ((axis, w),) = omega.items()
    square = neg(mul(w, w))
    return {i: mul(square, e) for i, e in c.items() if i != axis}
