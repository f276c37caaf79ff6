"""The roots of a first approximation, with a feedback or without, and what each of them belongs to."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import casadi as ca
import numpy as np

from appell.analysis.balance import balanced
from appell.analysis.certificate import Forces
from appell.analysis.continuation import leads_on
from appell.analysis.drift import beside, conserved, direction_in_words, drifts, joined, rigid, unfelt
from appell.analysis.ignorable import ignorable
from appell.analysis.kelvin import forces_at
from appell.analysis.linearize import Linearization
from appell.analysis.roots import EPS, blurred
from appell.analysis.sampling import differences, exponents

KNOWN = 1e-7  # of the norm, the farthest that rounding is thought to move a root
BLURRED = 1e-6  # of the largest root, below which roots are zero where an equilibrium is known to few digits


@dataclass(frozen=True, eq=False)
class Spectrum:
    """The roots of a linearisation under a feedback, or without one.

    Attributes:
        lin: The linearisation.
        K: Gains of u = u0 - K eta; None without a feedback.
        rate: Samples per second of the feedback; None if it acts continuously.
    """

    lin: Linearization
    K: np.ndarray | None
    rate: float | None

    @property
    def labels(self) -> list[str]:
        """Names of the coordinates."""
        return [q.label for q in self.lin.model.coordinates]

    def _closed(self, A: np.ndarray, B: np.ndarray, K: np.ndarray) -> np.ndarray:
        """A - B K, or the same of differences from sample to sample."""
        A, B = (A, B) if self.rate is None else differences(A, B, self.rate)
        return A - B @ K

    @cached_property
    def A(self) -> np.ndarray:
        """The reduced matrix, on the constraints."""
        return self.lin.A if self.K is None else self._closed(self.lin.A, self.lin.B, self.K)

    @cached_property
    def full(self) -> np.ndarray:
        """The matrix of the full equations in (q, u, z)."""
        tangent, lin = self.lin.tangent, self.lin
        if self.K is None:
            return tangent.full
        return self._closed(tangent.full, tangent.pushed(lin.inputs), self.K @ tangent.selection(lin.states))

    @cached_property
    def xdot(self) -> ca.SX | None:
        """The equations with the feedback; None without."""
        return None if self.K is None else self.lin.tangent.fed_back(self.lin.inputs, self.lin.states, self.K)

    # What zero roots belong to.

    @property
    def constraints(self) -> int:
        """m, how many first integrals F = c there are."""
        return self.lin.tangent.bonds.shape[0]

    @cached_property
    def _rigid(self) -> np.ndarray:
        """Rigid displacements, looked for where there is a zero root."""
        values = np.linalg.svd(balanced(self.A)[0], compute_uv=False)
        singular = bool(values.size and values[-1] <= 1e-9 * values[0])
        return rigid(self.lin) if singular else np.zeros((0, len(self.labels)))

    @cached_property
    def _conserved(self) -> tuple[np.ndarray, np.ndarray]:
        """Rigid displacements along which nothing changes the momentum, and the gradients of these momenta."""
        return conserved(self.lin, self._rigid, self.full)

    @cached_property
    def _idle(self) -> np.ndarray:
        """Rigid displacements that nothing feels."""
        return unfelt(self.lin, self._rigid, self.A)

    @property
    def integrals(self) -> np.ndarray:
        """Gradients of F and of the momenta that nothing changes."""
        return np.vstack([self.lin.tangent.bonds, self._conserved[1]])

    @cached_property
    def momenta(self) -> tuple[str, ...]:
        """What has a momentum that nothing changes, in words."""
        return tuple(direction_in_words(k, self.labels) for k in self._conserved[0])

    @cached_property
    def family(self) -> int:
        """How many parameters the families of steady motions have."""
        known = self._known_family
        return known + self._continued(len(self.momenta) + known)

    @property
    def _known_family(self) -> int:
        """Those of rolling at rest, and displacements that nothing feels."""
        lin, labels = self.lin, self.labels
        limit = 1e-12 * np.max(np.abs(self.A), initial=1.0)
        columns = zip(lin.states, self.A.T, strict=True)
        free = [s for s, column in columns if s in labels and np.all(np.abs(column) <= limit)]
        alone = [np.eye(len(labels))[labels.index(s)] for s in free if s in ignorable(lin.tangent)]
        count = int(np.linalg.matrix_rank(np.array([*self._idle, *alone]))) if len(self._idle) or alone else 0
        if self.K is not None or not lin.tangent.steady.velocity_rows or np.any(lin.at.state.v):
            return count
        return max(count, sum(s in labels for s in lin.states) - len(lin.tangent.equations.speeds))

    def _continued(self, known: int) -> int:
        """Further zero roots, whose directions lead to other steady motions."""
        left, slack = (e[known:] for e in self._roots)
        zeros = int(np.sum(np.abs(left) <= np.maximum(slack, 1e-9 * np.max(np.abs(left), initial=0.0))))
        if not zeros:
            return 0
        matrix, scale = balanced(self.A)
        _, values, vh = np.linalg.svd(matrix)
        kernel = vh[values <= 1e-9 * values[0]] * scale
        if kernel.shape[0] != zeros + known:
            return 0  # a Jordan block: no family of that dimension
        lin = self.lin
        return zeros if all(leads_on(lin.tangent, lin.states, direction, self.xdot) for direction in kernel) else 0

    @property
    def structural(self) -> int:
        """How many zero roots of A belong to momenta and families."""
        return len(self.momenta) + self.family

    # Roots.

    @cached_property
    def _roots(self) -> tuple[np.ndarray, np.ndarray]:
        """All roots of A, the smallest first, and how far rounding may have moved each."""
        roots, moved = _with_rounding(self.A)
        if self.lin.at.degenerate:
            moved = np.maximum(moved, BLURRED * np.max(np.abs(roots), initial=0.0))
        order = np.argsort(np.abs(roots), kind="stable")
        return roots[order], moved[order]

    @cached_property
    def left(self) -> tuple[np.ndarray, np.ndarray]:
        """The roots that are no structural zeros, and how far rounding may have moved each.

        Of a sampled loop they are exponents.
        """
        roots, slack = (e[self.structural :] for e in self._roots)
        if self.rate is not None:
            slack = self.rate * np.log1p(slack / self.rate / np.maximum(np.abs(1 + roots / self.rate), EPS))
            roots = exponents(roots, self.rate)
        roots = np.where(np.abs(roots.real) <= slack, 1j * roots.imag, roots)  # on the axis, as far as rounding tells
        return np.where(np.abs(roots) <= slack, 0.0, roots), slack

    @property
    def margin(self) -> float:
        """Distance of the roots from the imaginary axis, negative if one is beyond it."""
        return float(np.min(-self.left[0].real, initial=np.inf)) + 0.0

    @cached_property
    def _full_roots(self) -> tuple[np.ndarray, np.ndarray]:
        awake = self.lin.tangent.awake
        return _with_rounding(self.full[np.ix_(awake, awake)])

    @property
    def full_roots(self) -> np.ndarray:
        """All roots of the full equations; of a sampled loop as exponents."""
        roots = self._full_roots[0]
        return roots if self.rate is None else exponents(roots, self.rate)

    @property
    def zeros(self) -> int:
        """How many of them vanish."""
        roots, moved = self._full_roots
        reach = 1e-11 * float(np.max(np.abs(roots), initial=0.0))
        return int(np.sum(np.abs(roots) <= np.maximum(moved, reach)))

    # What else there is to say.

    @cached_property
    def forces(self) -> Forces | None:
        """The kinds of force, of holonomic systems without feedback and extra states at constant momenta."""
        pure = self.K is None and not self.lin.model.states  # a current or an integral is a force of no kind
        held = set(self.lin.dropped) <= set(self.momenta)  # the blocks are then those of Routh's function
        return forces_at(self.lin.named) if pure and held and self.lin.named is not None else None

    @cached_property
    def going(self) -> np.ndarray:
        """Directions of motions that begin as near as one likes and go away for ever."""
        lin, K = self.lin, self.K
        A = lin.A if K is None else lin.A - lin.B @ K  # samples do not matter to what changes nothing that is fed back
        away, kept = drifts(lin, self._idle, A, self.xdot), unfelt(lin, self._conserved[0], self.A)
        return joined(away, kept, lin.tangent.units[: len(self.labels)])

    @property
    def others(self) -> str:
        """Other steady motions beside rigid displacements that roots on the axis belong to, in words."""
        roots, slack = self.left
        critical = np.any(roots == 0) and not np.any(roots.real > slack)
        return beside(self.lin, self.A, self._idle, self.xdot) if critical else ""

    @property
    def by(self) -> str:
        """What holds it, in words."""
        if self.K is None:
            return ""
        return " under the feedback" + (f", sampled {self.rate:g} times a second," if self.rate else "")


def _with_rounding(A: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Roots, and how far rounding may have moved each."""
    return blurred(A, KNOWN)[:2] if A.size else (np.zeros(0, complex), np.zeros(0))
