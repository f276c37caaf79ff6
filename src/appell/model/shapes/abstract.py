"""What every shape has: a measure, a centroid, second moments, a place, and mass or density."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

import sympy as sp

from appell.errors import ModelError
from appell.model.inertia import MassDistribution
from appell.model.placement import Placement, finite_triple
from appell.model.rotation import Triple, exact_zero
from appell.model.symbols import quoted
from appell.model.values import formula_of

if TYPE_CHECKING:
    from appell.model.shapes.composite import Composite

KIND_OF_DENSITY = {0: "", 1: "length", 2: "area", 3: "volume"}


class Moments(NamedTuple):
    """What the form of a primitive says about its mass, in its own axes.

    Attributes:
        measure: Length, area or volume.
        spread: S, see `AbstractPrimitive.spread`.
        centroid: Its centre.
    """

    measure: sp.Expr
    spread: tuple[Any, ...] | sp.Matrix
    centroid: tuple[Any, Any, Any] = (0, 0, 0)


class AbstractShape(ABC):
    """Something that has mass and a place: a primitive or a composite.

    `parts` says what it is made of and where, for whoever draws it.
    """

    pose: Placement

    @property
    @abstractmethod
    def distribution(self) -> MassDistribution:
        """Mass, centre and second moments in the axes the shape is placed in."""

    @property
    @abstractmethod
    def parts(self) -> tuple[tuple[int, AbstractPrimitive], ...]:
        """Pairs of sign (+1 material, -1 cavity) and primitive, each primitive with its final pose."""

    @property
    @abstractmethod
    def formulas(self) -> tuple[Any, ...]:
        """What says how large it is and where, without its mass."""

    @abstractmethod
    def placed(self, place: Any) -> Self:
        """The same shape moved by a rigid transform, after whatever placed it before.

        Args:
            place: Three components of a shift, a 4 by 4 matrix, or a `Placement`.
        """

    @abstractmethod
    def with_mass(self, mass: Any) -> Self:
        """The same shape with this mass in all."""

    def at(self, x: Any, y: Any, z: Any = 0) -> Self:
        """The same shape shifted."""
        return self.placed((x, y, z))

    def turned(self, axis: Any, angle: Any) -> Self:
        """The same shape turned about an axis through the origin, with its place.

        Args:
            axis: `"x"`, `"-z"`, or three components.
            angle: In radians.
        """
        return self.placed(Placement.turned((0, 0, 0), (axis, angle)))

    def __add__(self, other: AbstractShape) -> Composite:
        return self._combined(other, 1)

    def __sub__(self, other: AbstractShape) -> Composite:
        return self._combined(other, -1)

    def _combined(self, other: AbstractShape, sign: int) -> Composite:
        from appell.model.shapes.composite import Composite

        if not isinstance(other, AbstractShape):
            raise ModelError(f"Only shapes can be added to a shape or cut out of it, got {other!r}.")
        return Composite(((1, self), (sign, other)))

    @property
    def center(self) -> Triple:
        """Mass centre in the axes the shape is placed in."""
        return self.distribution.center

    @property
    def inertia(self) -> sp.Matrix:
        """Inertia tensor about the origin of those axes."""
        return self.distribution.inertia

    @property
    def central_inertia(self) -> sp.Matrix:
        """Inertia tensor about the mass centre."""
        return self.distribution.central_inertia


@dataclass(frozen=True, eq=False, kw_only=True)
class AbstractPrimitive(AbstractShape):
    r"""A primitive in its own axes: measure, centroid c and $S = \int (r-c)(r-c)^T dm/m$.

    Args:
        density: Mass per length, area or volume, whichever the shape has.
        mass: Total mass, in place of the density. Without either it has a form only.
        pose: Where it is; left out: in its own axes.
    """

    density: Any = None
    mass: Any = None
    pose: Any = None

    kind: ClassVar[str]
    """The name of the primitive, for whoever draws it."""
    extent: ClassVar[int]
    """1 for a line, 2 for a surface, 3 for a solid, 0 for a point."""

    def __post_init__(self) -> None:
        vars(self).update({name: self._length(name, value) for name, value in self.dimensions.items()})
        self._check()
        vars(self).update(pose=Placement.of(self.pose, f"The pose of a {self.kind}"))
        if self.density is not None and self.mass is not None:
            raise ModelError(f"A {self.kind} has a density or a mass; give one of them, not both.")
        if self.density is not None:
            density = self._amount("density", self.density)
            vars(self).update(density=density, mass=density * self.measure)
        elif self.mass is not None:
            mass = self._amount("mass", self.mass)
            vars(self).update(mass=mass, density=mass / self.measure)

    @abstractmethod
    def _moments(self) -> Moments:
        """Measure, centroid and second moments in its own axes."""

    @cached_property
    def _own(self) -> Moments:
        return self._moments()

    @property
    def measure(self) -> sp.Expr:
        """Length, area or volume."""
        return self._own.measure

    @property
    def centroid(self) -> tuple[Any, Any, Any]:
        """Centre in its own axes."""
        return self._own.centroid

    @property
    def spread(self) -> tuple[Any, ...] | sp.Matrix:
        """S, second moments per unit of mass about the centroid: (Sxx, Syy, Szz), or a matrix if not diagonal."""
        return self._own.spread

    def _check(self) -> None:
        """Refuse dimensions that do not fit each other."""

    def _length(self, name: str, value: Any) -> Any:
        what = f"The {name.replace('_', ' ')} of a {self.kind}"
        value = exact_zero(formula_of(value, what))
        if value.is_number and not (value.is_real and value.is_finite and value > 0):
            raise ModelError(f"{what} must be positive and finite, got {quoted(value)}.")
        return value

    def _amount(self, name: str, value: Any) -> sp.Expr:
        value = exact_zero(formula_of(value, f"The {name} of a {self.kind}"))
        if value.is_number and not (value.is_real and value.is_finite and value >= 0):
            raise ModelError(f"The {name} of a {self.kind} must be finite and not negative, got {quoted(value)}.")
        return value

    @property
    def dimensions(self) -> dict[str, Any]:
        """Its dimensions by name."""
        return {f.name: getattr(self, f.name) for f in fields(self) if f.name not in ("density", "mass", "pose")}

    @property
    def lengths(self) -> dict[str, Any]:
        """Those of its dimensions that are numbers or formulas, and not arrays of corners."""
        return {name: e for name, e in self.dimensions.items() if isinstance(e, int | float | sp.Expr)}

    @property
    def formulas(self) -> tuple[Any, ...]:
        """Its lengths and its pose."""
        return (*self.lengths.values(), *self.pose.matrix)

    @property
    def parts(self) -> tuple[tuple[int, AbstractPrimitive], ...]:
        """Itself."""
        return ((1, self),)

    def placed(self, place: Any) -> Self:
        """The same shape moved by a rigid transform. Arguments as for `AbstractShape.placed`."""
        return self.changed(self.mass, self.density, Placement.of(place, "A placement").after(self.pose))

    def with_mass(self, mass: Any) -> Self:
        """The same shape with this mass."""
        return replace(self, density=None, mass=mass)

    def with_density(self, density: Any) -> Self:
        """The same shape with this density."""
        return replace(self, density=density, mass=None)

    def changed(self, mass: Any, density: Any, pose: Placement) -> Self:
        """A twin elsewhere; mass and density, which belong together, are not computed from each other again.

        Args:
            mass: Its mass.
            density: Its density.
            pose: Where it is.
        """
        twin = replace(self, density=None, mass=mass, pose=pose)
        vars(twin).update(density=density)
        return twin

    @cached_property
    def distribution(self) -> MassDistribution:
        """Mass, centre and second moments in the axes the shape is placed in."""
        if self.mass is None:
            raise ModelError(
                f"The {self.kind} has neither density nor mass; give density= (per {KIND_OF_DENSITY[self.extent]}) or "
                "mass=."
            )
        S = self.spread
        central = S if isinstance(S, sp.MatrixBase) else sp.diag(*[sp.sympify(e) for e in S])
        return MassDistribution.from_moments(self.mass, self.centroid, self.mass * central).moved(self.pose)


def points(values: Iterable[Any], kind: str, count: int) -> tuple[Triple, ...]:
    """A number of points, each of three finite components.

    Args:
        values: What was given.
        kind: Name of the shape, for messages.
        count: How many there must be.
    """
    if not isinstance(values, Iterable):
        raise ModelError(f"A {kind} has {count} vertices, a list of points such as (0, 0, 1); got {quoted(values)}.")
    listed = tuple(finite_triple(v, f"A vertex of a {kind}") for v in values)
    if len(listed) != count:
        raise ModelError(f"A {kind} has {count} vertices, got {len(listed)}.")
    return listed


def check_hollow(kind: str, outer: Any, inner: Any) -> None:
    """Refuse a hollow that is not within its shape."""
    gap = outer - inner
    if gap.is_number and not gap > 0:
        raise ModelError(f"The outer radius of the {kind} must exceed the inner one, got {outer}, {inner}.")
