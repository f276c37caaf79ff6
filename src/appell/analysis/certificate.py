"""What a certificate of stability says."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import numpy as np

from appell.analysis.roots import in_words


class Verdict(Enum):
    """What is proved."""

    ASYMPTOTIC = "asymptotically stable"
    ON_CONSTRAINTS = (
        "exponentially asymptotically stable for perturbations with F(q) = 0; for others Lyapunov stable, the motion "
        "tending to a member of a family of equilibria"
    )
    FAMILY = "Lyapunov stable, every near motion tending to a member of a family of steady motions"
    LYAPUNOV = "Lyapunov stable, not asymptotically"
    UNSTABLE = "unstable"
    CRITICAL = "not decided by the first approximation"


@dataclass(frozen=True)
class Condition:
    """One hypothesis that was checked: what, the number found, whether it holds."""

    text: str
    value: float
    holds: bool


@dataclass(frozen=True, eq=False)
class Forces:
    """The kinds of force at work, after Kelvin, Tait and Chetaev.

    Attributes:
        potential: Signs of the stiffness C: numbers of positive, zero and negative eigenvalues.
        gyroscopic: Whether there are gyroscopic forces.
        dissipation: "none", "partial", "complete" or "accelerating" by the symmetric part of D.
        circulatory: Whether positional forces without potential act.
        remark: What the theorems say of this combination.
    """

    potential: tuple[int, int, int]
    gyroscopic: bool
    dissipation: str
    circulatory: bool
    remark: str


@dataclass(frozen=True, eq=False, kw_only=True)
class Certificate:
    """What the first approximation proves about an equilibrium or a steady motion.

    Attributes:
        verdict: The statement.
        roots: Roots of the second factor (25): all but the structural zeros. Of a sampled loop the exponents lambda of
            exp(lambda t) at the samples, those of structural zeros being zero there too.
        constraint_zeros: m, the zero roots that belong to the first integrals F = c.
        momentum_zeros: Rigid displacements along which nothing changes the momentum, one zero root each: cyclic
            coordinates, or sums such as `x1 + x2` of the masses of a free chain.
        family_zeros: Zero roots of families of equilibria: of rolling, of rigid displacements at rest.
        full_roots: All roots of the equations in (q, u, z), running cyclic coordinates left out.
        zeros_found: How many of the full roots vanish.
        margin: Distance of the roots from the imaginary axis, negative if unstable.
        damping: Smallest damping ratio of the oscillating roots.
        distance: Smallest perturbation of A, in norm, that makes a root cross the imaginary axis.
        conditions: What was checked.
        forces: Kinds of force, for holonomic systems without feedback and without extra states.
        sentence: The same in plain words.
        rate: Samples per second of a sampled loop; None for a continuous one.
    """

    verdict: Verdict
    roots: np.ndarray
    constraint_zeros: int
    momentum_zeros: tuple[str, ...]
    family_zeros: int
    full_roots: np.ndarray
    zeros_found: int
    margin: float
    damping: float
    distance: float
    conditions: tuple[Condition, ...]
    forces: Forces | None
    sentence: str
    rate: float | None = None

    def _repr_html_(self) -> str:
        from appell.reporting.notebook import section_html

        return section_html(self)

    @property
    def zeros(self) -> int:
        """The structural zero roots."""
        return self.constraint_zeros + len(self.momentum_zeros) + self.family_zeros

    @property
    def stable(self) -> bool | None:
        """True, False, or None where nothing is decided."""
        return None if self.verdict is Verdict.CRITICAL else self.verdict is not Verdict.UNSTABLE

    @property
    def asymptotic(self) -> bool:
        """Whether near motions on the constraints, with the momenta of the equilibrium, come back."""
        return self.verdict in (Verdict.ASYMPTOTIC, Verdict.ON_CONSTRAINTS, Verdict.FAMILY)

    def __repr__(self) -> str:
        lines = [
            self.sentence,
            f"  roots{'' if self.rate is None else ', as exponents at the samples'}: {in_words(self.roots)}",
            f"  structural zero roots: {self._zeros_in_words()}",
        ]
        lines.append(
            f"  margin {self.margin:.4g} 1/s, least damping ratio {self.damping:.3g}, distance to instability "
            f"{self.distance:.3g}"
        )
        if self.forces is not None:
            lines.append(f"  {self.forces.remark}")
        lines += [f"  {'holds' if c.holds else 'FAILS'}: {c.text} ({c.value:.3g})" for c in self.conditions]
        return "\n".join(lines)

    def _zeros_in_words(self) -> str:
        parts = [f"{self.constraint_zeros} of the first integrals F = c"]
        if self.momentum_zeros:
            parts.append(f"{len(self.momentum_zeros)} of the momenta of {', '.join(self.momentum_zeros)}")
        if self.family_zeros:
            parts.append(f"{self.family_zeros} of families of equilibria or steady motions")
        return " and ".join(parts) + f"; {self.zeros_found} found in the full matrix"
