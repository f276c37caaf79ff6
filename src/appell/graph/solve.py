"""Linear systems as straight-line graphs that divide by nothing which vanishes while the matrix is regular.

No pivot is chosen by looks: positive definite matrices go by LDL^T, those that become it by the scale of their columns
by Gauss; others are taken apart into their irreducible blocks, and a block is solved by its determinant (up to three
rows), by its transpose where its rows are orthogonal to each other, as those of a quaternion's rates are, or by
orthogonalisation.
"""

from __future__ import annotations

from collections.abc import Callable

import casadi as ca
import numpy as np

from appell.graph.kinks import has_kinks
from appell.graph.numeric import Numeric
from appell.graph.pythagoras import reduced
from appell.graph.sparse import Scalar, add, densified, mul, scalar, to_sx
from appell.graph.sparse import matrix as sparse_matrix

WRITTEN_OUT = 5  # rows of a block whose determinant is written out
POINTS = 3  # at which rows must be orthogonal to each other

Settle = Callable[[list[int], list[ca.SX]], list[ca.SX]]


def solve_spd(matrix: ca.SX, right: ca.SX) -> ca.SX:
    """x with A x = b for a symmetric positive definite A."""
    if matrix.shape[0] == 0:
        return ca.SX(0, right.shape[1])
    if matrix.shape[0] == 1:
        return right / matrix
    # One triangle decides: where an entry cancels in the other one only, the pattern would not be symmetric.
    factors = ca.ldl(ca.sparsify(ca.triu2symm(ca.triu(matrix))))
    return ca.ldl_solve(ca.densify(right), *factors)


def solve_scaled(matrix: ca.SX, right: ca.SX) -> ca.SX:
    """x with A x = b for A = S C, S symmetric positive definite and C diagonal: elimination without pivots."""
    rows, b = sparse_matrix(ca.sparsify(matrix)), list[Scalar](densified(right).nonzeros())
    n = len(b)
    for k in range(n):
        pivot = to_sx(rows[k][k])
        for i in (i for i in range(k + 1, n) if k in rows[i]):
            share = -ca.SX.binary(ca.OP_DIV, to_sx(rows[i][k]), pivot)
            for j in (j for j in rows[k] if j > k):
                rows[i][j] = add(rows[i].get(j, 0.0), mul(share, rows[k][j]))
            b[i] = add(b[i], mul(share, b[k]))
    for k in reversed(range(n)):
        known = ca.SX(0)
        for j in (j for j in rows[k] if j > k):
            known = add(known, mul(rows[k][j], b[j]))
        b[k] = (to_sx(b[k]) - known) / to_sx(rows[k][k])
    return ca.vertcat(*map(to_sx, b))


def solve(matrix: ca.SX, right: ca.SX, sizes: ca.SX | None = None, settle: Settle | None = None) -> ca.SX:
    """x with A x = b for any regular A; not a number where the pattern of A alone makes it singular.

    Args:
        matrix: A.
        right: b, of one or several columns.
        sizes: How large the rows of A are, where they may be of very different size.
        settle: For one column: given the places of some unknowns and these, says how else to write them before others
            are solved for.
    """
    n = matrix.shape[0]
    if n == 0:
        return ca.SX(0, right.shape[1])
    matrix, right = ca.sparsify(matrix), densified(right)
    if ca.sprank(matrix) < n:
        return ca.SX(ca.DM.nan(n, right.shape[1]))
    blocks, rows, columns, row_starts, _, _, _ = matrix.sparsity().btf()
    if right.shape[1] == 1:
        return _solve_column(matrix, right.nonzeros(), [
            [(rows[k], columns[k]) for k in range(row_starts[block], row_starts[block + 1])] for block in range(blocks)
        ], sizes, settle)  # fmt: skip
    unknown: list[ca.SX | None] = [None] * n
    # Block lower triangular: the first block stands alone, each later one knows the earlier unknowns.
    for block in range(blocks):
        here = range(row_starts[block], row_starts[block + 1])
        i, j = [rows[k] for k in here], [columns[k] for k in here]
        earlier = [columns[k] for k in range(row_starts[block])]
        remainder = right[i, :]
        if earlier:
            known = ca.vertcat(*[_of(unknown[k]) for k in earlier])
            remainder = remainder - matrix[i, earlier] @ known
        solution, _ = _solve_block(ca.densify(matrix[i, j]), remainder, None if sizes is None else sizes[i])
        for position, k in enumerate(j):
            unknown[k] = solution[position, :]
    return ca.densify(ca.vertcat(*[_of(row) for row in unknown]))


def _solve_column(
    matrix: ca.SX,
    right: list[ca.SX],
    blocks: list[list[tuple[int, int]]],
    sizes: ca.SX | None,
    settle: Settle | None,
) -> ca.SX:
    """The same for one right-hand side: scalar by scalar, which is much quicker than by pieces of matrices."""
    entries = sparse_matrix(matrix)
    known: dict[int, ca.SX] = {}
    shortened = False
    for block in blocks:
        i, j = [row for row, _ in block], [column for _, column in block]
        remainder = []
        for row in i:
            total: Scalar = 0.0
            for k, value in known.items():
                if k in entries[row]:
                    total = add(total, mul(entries[row][k], value))
            is_zero = isinstance(total, float)
            remainder.append(right[row] if is_zero else ca.SX.binary(ca.OP_SUB, right[row], total))
        if len(block) == 1:
            solution = [ca.SX.binary(ca.OP_DIV, remainder[0], to_sx(entries[i[0]][j[0]]))]
        else:
            own = None if sizes is None else sizes[i]
            column, short = _solve_block(densified(matrix[i, j]), ca.vertcat(*remainder), own)
            solution, shortened = column.nonzeros(), shortened or short
        known.update(zip(j, settle(j, solution) if settle else solution, strict=True))
    result = ca.vertcat(*[known[k] for k in range(len(known))])
    return reduced(result) if shortened else result  # where axes turn in the matrix they do so in the result


def determinant(matrix: ca.SX) -> ca.SX | None:
    """The determinant up to its sign, block by block; None where a block has more than five rows."""
    matrix = ca.sparsify(matrix)
    if ca.sprank(matrix) < matrix.shape[0]:
        return ca.SX(0)
    blocks, rows, columns, starts, _, _, _ = matrix.sparsity().btf()
    result: Scalar = 1.0
    for here in (range(starts[k], starts[k + 1]) for k in range(blocks)):
        if len(here) > WRITTEN_OUT:
            return None
        block = matrix[[rows[k] for k in here], [columns[k] for k in here]]
        result = mul(result, scalar(block if len(here) == 1 else ca.det(block)))
    return to_sx(result)


def _of(row: ca.SX | None) -> ca.SX:
    assert row is not None
    return row


def _solve_block(matrix: ca.SX, right: ca.SX, sizes: ca.SX | None) -> tuple[ca.SX, bool]:
    """The solution, and whether sin² + cos² = 1 made its determinant shorter."""
    n = matrix.shape[0]
    if n == 1:
        return right / matrix, False
    if n > 3:
        squares = _orthogonal(matrix)
        if squares is not None:
            return matrix.T @ (right / ca.repmat(squares, 1, right.shape[1])), False
        own = [e if sizes is None else e / ca.repmat(sizes, 1, e.shape[1]) for e in (matrix, right)]
        return _orthogonalize(*own), False
    above, whole = ca.adj(matrix) @ right, ca.det(matrix)
    below = reduced(whole)
    plain, short = above / whole, above / below
    shorter = below is not whole and ca.n_nodes(ca.cse(short)) < ca.n_nodes(ca.cse(plain))
    return short if shorter else plain, shorter


def _orthogonal(matrix: ca.SX) -> ca.SX | None:
    """The squared lengths of rows that are orthogonal to each other whatever the letters are; None if they are not."""
    letters = ca.vertcat(*ca.symvar(matrix))
    function = ca.Function("rows", [letters], [matrix])
    if has_kinks(function):  # what is so at some points need not be so at others
        return None
    numeric, random = Numeric(function), np.random.default_rng(5)
    values = np.array([numeric(random.uniform(0.3, 1.2, letters.numel()))[0] for _ in range(POINTS)])
    products = values @ values.swapaxes(1, 2)
    lengths = np.diagonal(products, axis1=1, axis2=2)
    sizes = np.sqrt(lengths[:, :, None] * lengths[:, None, :])
    if not np.all(np.abs(products - sizes * np.eye(len(lengths[0]))) <= 1e-13 * sizes):
        return None
    squares = [ca.sumsqr(matrix[i, :]) for i in range(matrix.shape[0])]
    same = np.all(np.abs(lengths[:, :, None] - lengths[:, None, :]) <= 1e-13 * sizes, axis=0)
    return ca.vertcat(*[min((squares[k] for k in np.flatnonzero(row)), key=ca.n_nodes) for row in same])


def _orthogonalize(matrix: ca.SX, right: ca.SX) -> ca.SX:
    """Modified Gram-Schmidt on [A | b]: taking b along makes it backward stable.

    Columns keep their lengths: a root of one would look like a length of the model that may come to zero.
    """
    n = matrix.shape[0]
    columns = [matrix[:, k] for k in range(n)]
    upper: list[list[ca.SX]] = []
    projected: list[ca.SX] = []
    for k, column in enumerate(columns):
        square = ca.sumsqr(column)
        shares = [ca.dot(column, columns[later]) / square for later in range(k + 1, n)]
        for later, share in enumerate(shares, k + 1):
            columns[later] = columns[later] - share * column
        known = column.T @ right / square
        right = right - column @ known
        upper.append(shares)
        projected.append(known)
    solution: list[ca.SX] = []
    for row, shares in zip(reversed(projected), reversed(upper), strict=True):
        for share, later in zip(shares, solution, strict=True):
            row = row - share * later
        solution.insert(0, row)
    return ca.vertcat(*solution)
