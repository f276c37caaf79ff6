"""Which rows of constraints are used and which coordinates follow from the others: chosen by pivoting on numbers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

WEAK = 0.3  # share of the best rows' smallest singular value below which others take the place of redundant rows


@dataclass(frozen=True)
class Split:
    """Which constraint rows are used and which coordinates have their rates given by them.

    Attributes:
        rows: Positions of the independent rows.
        dependent: Positions of as many coordinates.
    """

    rows: tuple[int, ...] = ()
    dependent: tuple[int, ...] = ()

    @classmethod
    def at(
        cls,
        jacobian: np.ndarray,
        rtol: float = 1e-8,
        rows: tuple[int, ...] | None = None,
        sizes: np.ndarray | None = None,
    ) -> Split:
        """The best split for a numeric Jacobian: rows by rank, columns by pivoting.

        Args:
            jacobian: de/dv at a state.
            rtol: Pivots below this share of the largest count as zero.
            rows: Rows to use if they are independent here.
            sizes: How long the rows are at ordinary states, so that one that vanishes here shows; with them the given
                rows must be not much worse than the best.
        """
        scaled = unit_rows(jacobian) if sizes is None else jacobian / sizes[:, None]
        chosen, share = independent_rows(scaled, rtol), 1e-3 if sizes is None else WEAK
        if (
            rows is not None
            and chosen not in ((), rows)
            and len(rows) == len(chosen)
            and smallest(scaled[list(rows)]) > share * smallest(scaled[list(chosen)])
        ):
            chosen = rows
        columns, _ = pivots(scaled[list(chosen)])
        return cls(chosen, tuple(sorted(columns)))

    def free(self, coordinates: int) -> list[int]:
        """Positions of the coordinates, of so many, that are not dependent."""
        return [i for i in range(coordinates) if i not in self.dependent]

    def growth(self, jacobian: np.ndarray) -> float:
        """How strongly independent rates are amplified into dependent ones; infinite where the split is singular."""
        if not self.rows:
            return 1.0
        if not np.all(np.isfinite(jacobian)):
            return np.inf
        used = jacobian[list(self.rows)]
        try:
            inverse = np.linalg.solve(used[:, list(self.dependent)], used)
        except np.linalg.LinAlgError:
            return np.inf
        return float(np.max(np.abs(inverse))) if np.all(np.isfinite(inverse)) else np.inf


def growths(rows: tuple[int, ...], choices: list[tuple[int, ...]], jacobians: np.ndarray) -> np.ndarray:
    """`Split.growth` of several choices of dependent columns for the same rows, at several Jacobians at once.

    Args:
        rows: The rows.
        choices: For each choice as many columns.
        jacobians: Shape (k, all rows, n).

    Returns:
        Shape (k, choices).
    """
    if not rows:
        return np.ones((len(jacobians), len(choices)))
    used = jacobians[:, None, list(rows), :]
    chosen = np.swapaxes(jacobians[:, list(rows)][:, :, np.array(choices)], 1, 2)
    with np.errstate(over="ignore", invalid="ignore"):
        singular = np.linalg.slogdet(chosen)[0] == 0
        chosen[singular] = np.eye(len(rows))
        largest = np.max(np.abs(np.linalg.solve(chosen, used)), axis=(2, 3))
    good = np.all(np.isfinite(jacobians), axis=(1, 2))[:, None] & ~singular & np.isfinite(largest)
    return np.where(good, largest, np.inf)


def unit_rows(jacobian: np.ndarray) -> np.ndarray:
    """Rows of length one; rows that are nothing but rounding beside the largest become zero."""
    norms = np.sqrt((jacobian * jacobian).sum(axis=1, keepdims=True))
    real = norms > 1e-10 * norms.max(initial=0.0)
    if real.all():
        return jacobian / norms
    return np.where(real, jacobian, 0.0) / np.where(real, norms, 1.0)


def independent_rows(scaled: np.ndarray, rtol: float = 1e-8) -> tuple[int, ...]:
    """Which rows of unit length are independent, by pivoting; pivots below a share of the largest count as zero."""
    if not scaled.any():
        return ()
    order, sizes = pivots(scaled.T)
    return tuple(sorted(order[: int(np.count_nonzero(sizes > rtol * sizes[0]))]))


def pivots(matrix: np.ndarray) -> tuple[list[int], np.ndarray]:
    """The columns of a matrix in the order of a pivoted QR decomposition, and the diagonal of R.

    SciPy has this as well; its import would take longer than all else that a small model needs.
    """
    rest, order, sizes = np.array(matrix, dtype=float), [], []
    count = min(rest.shape)
    for k in range(count):
        lengths = np.sqrt((rest * rest).sum(axis=0))
        lengths[order] = -1.0
        best = int(lengths.argmax())
        order.append(best)
        sizes.append(lengths[best])
        if lengths[best] > 0 and k < count - 1:
            direction = rest[:, best] / lengths[best]
            for _ in range(2):  # once more, for what rounding left
                rest -= direction[:, None] * (direction @ rest)
    return order, np.array(sizes)


def smallest(matrix: np.ndarray) -> float:
    """The smallest singular value."""
    return float(np.linalg.svd(matrix, compute_uv=False)[-1]) if matrix.size else 1.0
