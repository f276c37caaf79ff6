r"""Mass distributions: mass, centre and second moments in one 4 by 4 matrix, and what bodies can exist at all.

$$ I_{ps} = \int \binom{r}{1}\binom{r}{1}^T dm = \begin{pmatrix} I_p & m c\\ m c^T & m\end{pmatrix}, \qquad
   I_{ps}' = T I_{ps} T^T, \qquad I = \mathrm{tr}(I_p)\,1 - I_p . $$
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import sympy as sp

from appell.errors import ImpossibleBodyWarning, ModelError, warn
from appell.model.placement import Placement
from appell.model.rotation import Triple, triple
from appell.model.symbols import quoted
from appell.model.values import by_name, formula_of, number


@dataclass(frozen=True, eq=False)
class MassDistribution:
    r"""Mass, centre and second moments of a body, or of several taken together.

    Sums and differences of distributions are those of the matrices; `moved` is $T I_{ps} T^T$.

    Args:
        pseudo: The 4 by 4 pseudo-inertia about an origin.

    Reference: Negrean et al. 2025, (1)-(70), corrected; see the page of errata.
    """

    pseudo: sp.Matrix

    @classmethod
    def of(cls, mass: Any, center: Iterable[Any], inertia: sp.Matrix) -> MassDistribution:
        """From mass, centre and central inertia tensor.

        Args:
            mass: Mass.
            center: Mass centre from the origin.
            inertia: Central inertia tensor, 3 by 3.
        """
        tensor = _tensor(inertia, "An inertia tensor")
        return cls.from_moments(mass, center, tensor.trace() / 2 * sp.eye(3) - tensor)

    @classmethod
    def from_moments(cls, mass: Any, center: Iterable[Any], central: sp.Matrix) -> MassDistribution:
        """From mass, centre and central planar-centrifugal tensor.

        Args:
            mass: Mass.
            center: Mass centre from the origin.
            central: The integral of r r' dm about the centre, 3 by 3.
        """
        m, c = formula_of(mass, "A mass"), sp.Matrix(triple(center, "A centre"))
        central = settled(_tensor(central, "A planar-centrifugal tensor"))
        pseudo = sp.zeros(4, 4)
        pseudo[:3, :3] = central + m * c * c.T
        pseudo[:3, 3], pseudo[3, :3], pseudo[3, 3] = m * c, m * c.T, m
        return cls(settled(pseudo))._knowing(c, central)

    def _knowing(self, center: sp.Matrix, central: sp.Matrix) -> MassDistribution:
        """The same, with the centre as it was given and not by a division: it exists also where the mass is zero."""
        self.__dict__["center"] = triple(settled(center), "A centre")
        self.__dict__["central_planar"] = settled(central)
        return self

    def __add__(self, other: MassDistribution) -> MassDistribution:
        return MassDistribution(settled(self.pseudo + other.pseudo))

    def __sub__(self, other: MassDistribution) -> MassDistribution:
        return MassDistribution(settled(self.pseudo - other.pseudo))

    def __mul__(self, factor: Any) -> MassDistribution:
        return MassDistribution(settled(self.pseudo * formula_of(factor, "The factor of a distribution of mass")))

    __rmul__ = __mul__

    def moved(self, place: Any) -> MassDistribution:
        """The same body placed elsewhere: T I_ps T'.

        Args:
            place: Three components of a shift, a 4 by 4 matrix, or a `Placement`.
        """
        place = Placement.of(place, "A placement")
        if place.trivial:
            return self
        T, R = place.matrix, place.rotation
        moved = MassDistribution(settled(T * self.pseudo * T.T))
        if self.mass == 0 and "center" not in self.__dict__:
            return moved
        center = sp.Matrix(place.shift) + R * sp.Matrix(self.center)
        return moved._knowing(center, R * self.central_planar * R.T)

    @property
    def mass(self) -> sp.Expr:
        """Total mass."""
        return self.pseudo[3, 3]

    @cached_property
    def center(self) -> Triple:
        """Mass centre from the origin."""
        if self.mass == 0:
            raise ModelError("A distribution without mass has no centre.")
        return triple((_short(e / self.mass) for e in list(self.pseudo[:3, 3])), "A centre")

    @property
    def planar(self) -> sp.Matrix:
        """I_p, planar-centrifugal tensor about the origin: the integral of r r' dm."""
        return self.pseudo[:3, :3]

    @property
    def inertia(self) -> sp.Matrix:
        """I, inertia tensor about the origin (off the diagonal its entries are minus the products of inertia)."""
        return settled(self.planar.trace() * sp.eye(3) - self.planar)

    @cached_property
    def central_planar(self) -> sp.Matrix:
        """Planar-centrifugal tensor about the mass centre."""
        c = sp.Matrix(self.center)
        return settled((self.planar - self.mass * c * c.T).applyfunc(_short))

    @cached_property
    def central_inertia(self) -> sp.Matrix:
        """Inertia tensor about the mass centre, in the same axes."""
        return settled(self.central_planar.trace() * sp.eye(3) - self.central_planar)

    def inertia_about(self, point: Iterable[Any] = (0, 0, 0), axes: Any = None) -> sp.Matrix:
        """The inertia tensor about any point and axes.

        Args:
            point: The point, from the origin.
            axes: 3 by 3 matrix whose columns are the axes; left out: the axes of the origin.
        """
        return _about(self, point, axes).inertia

    def planar_about(self, point: Iterable[Any] = (0, 0, 0), axes: Any = None) -> sp.Matrix:
        """The planar-centrifugal tensor about any point and axes. Arguments as for `inertia_about`."""
        return _about(self, point, axes).planar

    def principal(self, values: Any = None) -> tuple[np.ndarray, np.ndarray]:
        """Central principal moments in ascending order, and the principal axes as columns, right-handed.

        Args:
            values: Numbers of parameters, `{m: 2.0}`, where there are letters.
        """
        known = {str(s): number(str(s), e) for s, e in by_name(values, "Values", "{m: 2.0}").items()}
        tensor = self.central_inertia.subs({s: known[s.name] for s in self.pseudo.free_symbols if s.name in known})
        try:
            moments, axes = np.linalg.eigh(np.array(tensor.tolist(), dtype=float))
        except TypeError as error:
            letters = ", ".join(sorted(str(s) for s in tensor.free_symbols))
            raise ModelError(f"Principal axes are numbers; give values of {letters}.") from error
        if np.linalg.det(axes) < 0:
            axes[:, 0] = -axes[:, 0]
        return moments, axes

    @property
    def spatial(self) -> sp.Matrix:
        """G = [[I, [h x]], [-[h x], m 1]] about the origin, with h = m c."""
        h = list(self.pseudo[:3, 3])
        cross = sp.Matrix([[0, -h[2], h[1]], [h[2], 0, -h[0]], [-h[1], h[0], 0]])
        return sp.Matrix(sp.BlockMatrix([[self.inertia, cross], [-cross, self.mass * sp.eye(3)]]).as_explicit())


def _tensor(given: Any, what: str) -> sp.Matrix:
    """A matrix of formulas, 3 by 3."""
    try:
        found = sp.Matrix(given.tolist() if isinstance(given, np.ndarray) else given)
    except (TypeError, ValueError, sp.SympifyError):
        found = sp.zeros(0, 0)
    if found.shape != (3, 3):
        raise ModelError(f"{what} must be a 3 by 3 matrix of numbers or formulas, got {quoted(given)}.")
    return found


def _about(body: MassDistribution, point: Iterable[Any], axes: Any) -> MassDistribution:
    R = sp.eye(3) if axes is None else _tensor(axes, "The axes, as columns,")
    T = sp.eye(4)
    T[:3, :3] = R.T
    T[:3, 3] = -R.T * sp.Matrix(triple(point, "A point"))
    return MassDistribution(settled(T * body.pseudo * T.T))


def settled(matrix: sp.Matrix) -> sp.Matrix:
    """The same matrix, with entries that contain floats and no letters as single floats."""
    return sp.Matrix(matrix).applyfunc(lambda e: sp.N(e) if e.is_number and e.has(sp.Float) else e)


def _short(e: sp.Expr) -> sp.Expr:
    """A fraction with common factors taken out, where there are letters to take out."""
    return sp.factor_terms(sp.cancel(e)) if e.free_symbols and not e.has(sp.Piecewise) and e.count_ops() < 300 else e


def violation(mass: Any, inertia: sp.Matrix) -> str:
    """The inequality that mass and central inertia tensor violate, in words; empty if a body can have them.

    A tensor with a single moment and nothing else is the shorthand of plane models, and passes; so does mass zero,
    for a body of which only the rotation counts.

    Args:
        mass: Mass; letters are not judged.
        inertia: Central inertia tensor; letters are not judged.
    """
    mass = sp.sympify(mass)
    if mass.is_number and mass.is_real and mass < 0:
        return f"m >= 0: the mass is {float(mass):.6g}"
    if inertia.free_symbols:
        return ""
    tensor = np.array(inertia.tolist(), dtype=float)
    if not np.isfinite(tensor).all() or np.count_nonzero(tensor) <= 1:
        return ""
    I1, I2, I3 = np.linalg.eigvalsh(tensor)
    slack = 1e-9 * max(abs(I1), abs(I3))
    words = f"the central principal moments are {I1:.6g}, {I2:.6g}, {I3:.6g}"
    if I1 < -slack:
        return f"I1 >= 0: {words}"
    if I1 + I2 < I3 - slack:
        return f"I1 + I2 >= I3: {words}"
    return ""


def warn_if_impossible(name: str, mass: Any, inertia: sp.Matrix) -> None:
    """Warn about a body that no mass distribution can have.

    Args:
        name: Name of the body.
        mass: Its mass.
        inertia: Its central inertia tensor.
    """
    broken = violation(mass, inertia)
    if broken:
        text = f"No distribution of mass gives the body {name!r} its inertia; it violates {broken}."
        warn(text, ImpossibleBodyWarning)
