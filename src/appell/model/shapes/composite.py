"""Several shapes taken together: material with sign +1, cavities with sign -1."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import sympy as sp

from appell.errors import ModelError
from appell.model.inertia import MassDistribution
from appell.model.placement import Placement
from appell.model.shapes.abstract import AbstractPrimitive, AbstractShape
from appell.model.shapes.outside import check_cut
from appell.model.values import formula_of


@dataclass(frozen=True, eq=False, init=False)
class Composite(AbstractShape):
    r"""$I_{ps} = \sum_j \sigma_j T_j I_{ps,j} T_j^T$: shapes added (+1) and cut out (-1).

    `box + sphere - hole` makes one. Primitives without density or mass take the density of the composite if it has
    one; else a cavity takes that of the material before it, if there is a single one.

    Args:
        members: Shapes, or pairs of sign and shape.
        density: Density of all primitives that have none.
        mass: Total mass; scales what the densities give.
        pose: Where it is.

    Example:
        >>> from appell.model import shapes
        >>> plate = shapes.Box(4, 2, 1, density=3) - shapes.Cylinder(1, 1).at(1, 0, 0)
        >>> plate.mass
        24 - 3*pi
    """

    members: tuple[tuple[int, AbstractShape], ...]
    pose: Placement
    factor: sp.Expr

    def __init__(
        self,
        members: Iterable[AbstractShape | tuple[int, AbstractShape]],
        density: Any = None,
        mass: Any = None,
        pose: Any = None,
    ) -> None:
        if not isinstance(members, Iterable):
            raise ModelError(f"A composite is made of a list of shapes, got {members!r}.")
        listed = []
        for member in members:
            sign, shape = member if isinstance(member, tuple) else (1, member)
            if not isinstance(shape, AbstractShape) or sign not in (1, -1):
                raise ModelError(f"A composite is made of shapes with signs +1 or -1, got {member!r}.")
            listed.append((int(sign), _dense(shape, density)))
        if not listed:
            raise ModelError("A composite needs at least one shape.")
        place = Placement.of(pose, "The pose of a composite")
        vars(self).update(members=_inherited(listed), pose=place, factor=sp.Integer(1))
        if mass is not None:
            if any(part.mass is None for _, part in self.parts):
                vars(self).update(members=tuple((s, _dense(shape, 1)) for s, shape in self.members))
            if self._sum.mass.is_zero:
                raise ModelError("A composite of which nothing is left cannot be given a mass.")
            vars(self).update(factor=formula_of(mass, "The mass of a composite") / vars(self).pop("_sum").mass)

    @property
    def mass(self) -> Any:
        """Total mass; None if a part has neither density nor mass."""
        if any(part.mass is None for _, part in self.parts):
            return None
        return self.distribution.mass

    @property
    def parts(self) -> tuple[tuple[int, AbstractPrimitive], ...]:
        """Pairs of sign and primitive, each primitive with its final pose and mass."""
        found = []
        for sign, shape in self.members:
            for inner, part in shape.parts:
                mass, density = (
                    None if amount is None else amount * self.factor for amount in (part.mass, part.density)
                )
                found.append((sign * inner, part.changed(mass, density, self.pose.after(part.pose))))
        return tuple(found)

    @property
    def formulas(self) -> tuple[Any, ...]:
        """Those of its members, and its pose."""
        return (*(e for _, shape in self.members for e in shape.formulas), *self.pose.matrix)

    def placed(self, place: Any) -> Composite:
        """The same shape moved by a rigid transform. Arguments as for `AbstractShape.placed`."""
        twin = Composite(self.members, pose=Placement.of(place, "A placement").after(self.pose))
        vars(twin).update(factor=self.factor)
        return twin

    def with_mass(self, mass: Any) -> Composite:
        """The same shape with this mass in all; the densities keep their ratios."""
        return Composite(self.members, mass=mass, pose=self.pose)

    @cached_property
    def distribution(self) -> MassDistribution:
        """The signed sum, in the axes the composite is placed in."""
        check_cut(self.parts, self._sum)
        return self._sum

    @cached_property
    def _sum(self) -> MassDistribution:
        """The signed sum, unchecked: a member may well be cut out of others that stand behind it."""
        total = MassDistribution(sp.zeros(4, 4))
        for sign, shape in self.members:
            total = total + sign * (shape._sum if isinstance(shape, Composite) else shape.distribution)
        return (self.factor * total).moved(self.pose)


def _dense(shape: AbstractShape, density: Any) -> AbstractShape:
    """The shape with a density for the primitives that have none."""
    if density is None:
        return shape
    if isinstance(shape, AbstractPrimitive):
        return shape if shape.mass is not None else shape.with_density(density)
    if not isinstance(shape, Composite):
        return Composite([(sign, _dense(inner, density)) for sign, inner in shape.parts])
    twin = Composite([(sign, _dense(inner, density)) for sign, inner in shape.members], pose=shape.pose)
    vars(twin).update(factor=shape.factor)
    return twin


def _inherited(members: list[tuple[int, AbstractShape]]) -> tuple[tuple[int, AbstractShape], ...]:
    """Cavities without density take that of the material before them, if it has a single one."""
    result: list[tuple[int, AbstractShape]] = []
    for sign, shape in members:
        if sign < 0 and any(part.mass is None for _, part in shape.parts):
            around = [part for s, inner in result for t, part in inner.parts if s * t > 0]
            extents = {part.extent for _, part in shape.parts}
            found = {part.density for part in around if part.extent in extents}
            if len(found) == 1 and None not in found and len(extents) == 1:
                shape = _dense(shape, found.pop())
            elif found - {None}:
                raise ModelError(
                    "A cavity without density was cut out of several materials; give it the density of what it is cut "
                    "out of."
                )
        result.append((sign, shape))
    return tuple(result)
