"""Small sparse vectors and matrices of scalars, each a float or a scalar graph.

For many small products this is some ten times quicker than CasADi's matrices, whose calls cost more than the sums in
them, and what is zero or one costs nothing and is never seen again. A vector is {row: scalar}, a matrix
{row: {column: scalar}}; what is not there is zero.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import casadi as ca

Scalar = float | ca.SX
Column = dict[int, Scalar]
Matrix = dict[int, Column]

_binary, _ADD, _MUL = ca.SX.binary, ca.OP_ADD, ca.OP_MUL
ONE: Matrix = {i: {i: 1.0} for i in range(3)}


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
    return ca.SX(value) if isinstance(value, float) else value


def add(a: Scalar, b: Scalar) -> Scalar:
    """a + b."""
    if isinstance(a, float):
        if a == 0.0:
            return b
        return a + b if isinstance(b, float) else _binary(_ADD, ca.SX(a), b)
    if isinstance(b, float):
        return a if b == 0.0 else _binary(_ADD, a, ca.SX(b))
    return _binary(_ADD, a, b)


def mul(a: Scalar, b: Scalar) -> Scalar:
    """a b."""
    if isinstance(b, float):
        a, b = b, a
    if not isinstance(a, float):
        return _binary(_MUL, a, b)
    if isinstance(b, float):
        return a * b
    if a == 1.0:
        return b
    return -b if a == -1.0 else 0.0 if a == 0.0 else _binary(_MUL, ca.SX(a), b)


def inverted(a: Scalar) -> Scalar:
    """1 / a."""
    return 1.0 / a if isinstance(a, float) else _binary(ca.OP_DIV, ca.SX(1.0), a)


def neg(a: Scalar) -> Scalar:
    """-a."""
    return -a


def accumulate(target: dict[int, Scalar], i: int, value: Scalar) -> None:
    """target[i] += value, where something that cancels is no longer there."""
    if isinstance(value, float) and value == 0.0:
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
            for j, other in B.get(k, {}).items():
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
        entries.setdefault(j, {})[k] = -value
    return entries


def cross(a: Column, b: Column) -> Column:
    """a x b."""
    total: Column = {}
    for i, x in a.items():
        for j, y in b.items():
            if i != j:
                k = 3 - i - j
                value = mul(x, y)
                accumulate(total, k, value if (i + 1) % 3 == j else -value)
    return total
