"""The least value of a quadratic form over variables that hang together like a tree, without its big matrix.

Given vectors X_i = sum_j T_ij X_j + sum_k C_ik y_k + b_i, each from earlier ones, and a form

    R = sum (X' H X / 2 + h' X) + sum (y_k H_kl y_l / 2 + h_k y_k),

the y that make R least are wanted. One vector after the other is expressed by the earlier ones it hangs from, and one
scalar after the other is eliminated at its least value: along a tree each of these touches only a few neighbours, so
the work grows with the number of vectors and not with its cube. What happens to the matrix of R in the scalars is
LDL' in a good order. The right-hand side h may have several columns.

Two orders are of use. Scalars as early as possible: what is left of R belongs to articulated bodies, and the work is
linear. Vectors first: it belongs to composite bodies, whose masses just add up, and a matrix of all scalars comes out;
for few of them that is less work.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import casadi as ca

from appell.graph.sparse import (
    Column,
    Matrix,
    Scalar,
    accumulate,
    apply,
    congruent,
    gram,
    inverted,
    merge,
    mul,
    neg,
    product,
    same,
    to_sx,
    transposed,
)


@dataclass(frozen=True, eq=False)
class Affine:
    """X = sum T_j X_j + b of earlier vectors j and scalars; a scalar k counts as the vector -1-k of one component.

    Attributes:
        terms: The matrices T_j.
        bias: b.
        turned: Whether X is a single earlier vector, with what is known of it, in other axes.
    """

    terms: dict[int, Matrix]
    bias: Column
    turned: bool = False

    @property
    def rows(self) -> set[int]:
        """The components that vary."""
        return {row for T in self.terms.values() for row in T}


class Form:
    """A quadratic form in vectors and scalars, in blocks; bias and first right-hand side belong together."""

    def __init__(self) -> None:
        self.H: dict[int, dict[int, Matrix]] = {}
        self.h: dict[int, Matrix] = {}

    def add(self, i: int, j: int, block: Matrix) -> None:
        """X_i' block X_j joins the form (half of it if i is j, where the block must be symmetric)."""
        if not block:
            return
        merge(self.H.setdefault(i, {}).setdefault(j, {}), block)
        if i != j:
            merge(self.H.setdefault(j, {}).setdefault(i, {}), transposed(block))

    def add_linear(self, i: int, h: Matrix) -> None:
        """X_i' h joins the form, a column for each right-hand side."""
        merge(self.h.setdefault(i, {}), h)

    def substitute(self, i: int, affine: Affine) -> None:
        """Express X_i by what it hangs from."""
        coupled, h = self.H.pop(i, {}), self.h.pop(i, {})
        own = coupled.pop(i, {})
        terms = affine.terms
        if affine.turned and _alike(own, affine.rows):  # a length is the same in all axes
            ((j, T),), (mass, *_) = terms.items(), (entries[row] for row, entries in own.items())
            self.add(j, j, {row: {row: mass} for row in {c for entries in T.values() for c in entries}})
            own = {}
        if affine.bias:
            for row, value in apply(own, affine.bias).items():
                accumulate(h.setdefault(row, {}), 0, value)
            for other, block in coupled.items():
                self.add_linear(other, {r: {0: e} for r, e in apply(transposed(block), affine.bias).items()})
        listed = list(terms.items())
        for position, (j, T) in enumerate(listed):
            if own and affine.turned:
                self.add(j, j, congruent(T, own))
            elif own:
                pushed = product(own, T)
                self.add(j, j, gram(T, pushed))
                for k, later in listed[position + 1 :]:
                    self.add(j, k, product(transposed(pushed), later))
            if h:
                self.add_linear(j, product(transposed(T), h))
        for other, block in coupled.items():
            del self.H[other][i]
            for j, T in listed:
                pushed = product(transposed(T), block)
                if j == other:
                    merge(pushed, transposed(pushed))
                self.add(j, other, pushed)

    def minimize(self, k: int) -> Affine:
        """Eliminate a scalar at its least value: y_k = bias + sum T_j X_j, with h in the first row of the bias."""
        coupled, h = self.H.pop(k), self.h.pop(k, {}).get(0, {})
        inverse = inverted(coupled.pop(k)[0][0])
        listed = [(j, block[0]) for j, block in coupled.items() if block]
        weights = {j: {c: neg(mul(value, inverse)) for c, value in row.items()} for j, row in listed}
        for j in coupled:
            del self.H[j][k]
        for position, (j, row) in enumerate(listed):
            self.add(j, j, gram({0: weights[j]}, {0: row}))
            for other, later in listed[position + 1 :]:
                self.add(j, other, product(transposed({0: weights[j]}), {0: later}))
            if h:
                self.add_linear(j, product(transposed({0: weights[j]}), {0: h}))
        return Affine({j: {0: row} for j, row in weights.items()}, {c: neg(mul(e, inverse)) for c, e in h.items()})

    def only_length(self, i: int, affine: Affine) -> bool:
        """Whether X_i is an earlier vector in other axes, and its own part of R a multiple of its square."""
        return affine.turned and _alike(self.H.get(i, {}).get(i, {}), affine.rows)

    def neighbours(self, i: int) -> set[int]:
        """What a variable is coupled with."""
        return {j for j, block in self.H.get(i, {}).items() if block and j != i}


def _alike(block: Matrix, rows: set[int]) -> bool:
    """Whether a block multiplies all rows by one and the same number."""
    if set(block) != rows or not all(list(entries) == [row] for row, entries in block.items()):
        return False
    first, *others = (block[row][row] for row in rows)
    return all(same(first, other) for other in others)


def least(
    form: Form, vectors: list[Affine], scalars: int, missing: Callable[[int], Exception], composite: bool = False
) -> list[Column]:
    """The scalars y that make a form least: for each of them {right-hand side: value}.

    Args:
        form: The form; used up.
        vectors: How each vector hangs from earlier ones and from the scalars.
        scalars: How many there are.
        missing: What to raise for a scalar that the form does not contain.
        composite: Whether vectors come first.
    """
    vectors, differences = _varied(form, vectors)
    waiting = dict.fromkeys([*(-1 - k for k in range(scalars)), *range(len(vectors))], 0)
    for vector in vectors:
        for j in vector.terms:
            waiting[j] += 1
    ready = [i for i, count in waiting.items() if count == 0]
    done: list[tuple[int, Affine]] = []

    def cost(i: int) -> tuple[bool, int, int]:
        """How many variables are coupled when this one is gone; among equals the latest, which stands outermost.

        What costs nothing comes first: a vector that only enters by its length, in other axes.
        """
        late = i < 0 if composite else i < 0 or not form.only_length(i, vectors[i])
        hangs = vectors[i].terms if i >= 0 else ()
        return late, len((form.neighbours(i) | set(hangs)) - {i}), -i

    while ready:
        i = min(ready, key=cost)
        ready.remove(i)
        if i < 0:
            if not form.H.get(i, {}).get(i):
                raise missing(-1 - i)
            done.append((i, form.minimize(i)))
            continue
        form.substitute(i, vectors[i])
        done.append((i, vectors[i]))
        for j in vectors[i].terms:
            waiting[j] -= 1
            if waiting[j] == 0:
                ready.append(j)
    values = _outward(done)
    for k, difference in differences.items():
        merge(values[k], _evaluated(difference, values))
    return [values[-1 - k].get(0, {}) for k in range(scalars)]


def _varied(form: Form, vectors: list[Affine]) -> tuple[list[Affine], dict[int, Affine]]:
    """The same problem with components of vectors instead of scalars, and what must be added to get the scalars.

    A scalar that does nothing but move one component of one vector, X_r = y_k + T_r X + b_r, may give its place to that
    component: then this component hangs from nothing, and far less is coupled.
    """
    used = Counter(j for vector in vectors for j in vector.terms)
    varied, differences = [], {}
    for vector in vectors:
        rows = {}
        for k, T in vector.terms.items():
            if k < 0 and used[k] == 1 and not form.H.get(k) and len(T) == 1:
                ((row, entries),) = T.items()
                if same(entries[0], 1.0) and row not in rows.values():
                    rows[k] = row
        freed = set(rows.values())
        for k, row in rows.items():
            terms = {j: {0: _negative(T[row])} for j, T in vector.terms.items() if j != k and row in T}
            difference = Affine(terms, _negative({0: vector.bias[row]}) if row in vector.bias else {})
            differences[k], h = difference, form.h.get(k)
            for j, T in terms.items() if h else ():
                form.add_linear(j, product(transposed(T), h))
        terms = {j: T if j in rows else {r: e for r, e in T.items() if r not in freed} for j, T in vector.terms.items()}
        bias = {r: e for r, e in vector.bias.items() if r not in freed}
        varied.append(Affine({j: T for j, T in terms.items() if T}, bias, vector.turned) if rows else vector)
    return varied, differences


def _negative(row: Column) -> Column:
    return {c: neg(e) for c, e in row.items()}


def _outward(done: list[tuple[int, Affine]]) -> dict[int, Matrix]:
    """Values from the first variables outwards, in the opposite order of their elimination."""
    values: dict[int, Matrix] = {}
    for i, made in reversed(done):
        if i < 0:  # the bias of a scalar is a row, one entry for each right-hand side
            values[i] = {0: dict(made.bias)}
            merge(values[i], _evaluated(Affine(made.terms, {}), values))
        else:
            values[i] = _evaluated(made, values)
    return values


def _evaluated(made: Affine, values: Mapping[int, Matrix]) -> Matrix:
    """A vector from the earlier ones; its bias belongs to the first right-hand side."""
    total: Matrix = {row: {0: e} for row, e in made.bias.items()}
    for j, T in made.terms.items():
        merge(total, product(T, values[j]))
    return total


def column_of(values: list[Column], which: int) -> ca.SX:
    """One right-hand side's values as a CasADi column."""
    zero: Scalar = 0.0
    return ca.vertcat(*[to_sx(row.get(which, zero)) for row in values])
