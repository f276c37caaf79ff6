"""How a model shall be drawn, where its own description does not say enough."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import sympy as sp

from appell.errors import ModelError
from appell.model.frame import Vector
from appell.model.rotation import Triple, triple, unit_axis
from appell.model.shapes.abstract import AbstractShape
from appell.model.symbols import letters_in, listed, quoted
from appell.model.values import by_name, check_kind, formula_of

HEX = re.compile(r"#[0-9a-fA-F]{6}")
KINDS = {"box": 3, "ellipsoid": 3, "cylinder": 2, "wheel": 2, "capsule": 2, "cone": 2, "sphere": 1, "ball": 1}


@dataclass(frozen=True, eq=False, init=False)
class Solid:
    """A shape fixed in a body, for the eye only.

    Args:
        kind: "box" (lengths along x, y, z), "ellipsoid" (half axes along x, y, z), "cylinder", "wheel" (with spokes),
            "capsule" or "cone" (radius, length), "sphere" or "ball" (with a pattern that shows how it turns; radius).
        size: Its dimensions: numbers, or formulas in parameters.
        at: Its middle from the centre of the body, in the body's axes.
        axis: The axis of a cylinder, wheel, capsule or cone in the body's axes.
        color: A colour such as "#336699" or "red"; that of the body if left out.
    """

    kind: str
    size: tuple[sp.Expr, ...]
    at: Triple
    axis: Triple
    color: str

    def __init__(self, kind: str, size: Any, at: Iterable[Any] = (0, 0, 0), axis: Any = "z", color: str = "") -> None:
        if not isinstance(kind, str) or kind not in KINDS:
            raise ModelError(f"A Solid is one of {', '.join(KINDS)}; got {kind!r}.")
        sizes = tuple(
            formula_of(e, f"A dimension of a {kind}") for e in (size if isinstance(size, tuple | list) else (size,))
        )
        if len(sizes) != KINDS[kind]:
            raise ModelError(f"A {kind} needs {KINDS[kind]} dimension{'s' * (KINDS[kind] > 1)}, got {len(sizes)}.")
        vars(self).update(kind=kind, size=sizes, at=triple(at, "A place"), axis=unit_axis(axis), color=color_of(color))


def color_of(given: Any) -> str:
    """A colour as #rrggbb, of one given in any way that Matplotlib knows; empty for none."""
    if given == "" or (isinstance(given, str) and HEX.fullmatch(given)):
        return given
    from matplotlib.colors import is_color_like, to_hex

    if not is_color_like(given):
        raise ModelError(f'A colour is written "#336699" or by its name, such as "red"; got {given!r}.')
    return to_hex(given)


@dataclass(frozen=True, eq=False)
class Look:
    """Hints for drawing; everything left out is found from the model itself.

    Args:
        shapes: For a body's name its `Solid`, or several.
        rods: Pairs of points joined by a rod.
        hide: Names of bodies and forces that are not drawn.
        traces: Names of bodies, or points by a name, whose paths are traced.
        curves: By a name: a point as a formula in coordinates and time, whose whole path is drawn, such as a programmed
            motion.
        colors: For a body's name a colour such as "#336699" or "red".
        up: The direction shown upwards.
        ground: What stands still around the model, such as a table, a wall or the foot of a robot: `Solid` or shapes
            (`appell.shapes`), placed in the axes of the ground.
    """

    shapes: Mapping[str, Solid | Iterable[Solid]] = field(default_factory=dict)
    rods: Iterable[tuple[Vector, Vector]] = ()
    hide: Iterable[str] = ()
    traces: Iterable[str] | Mapping[str, Vector] | None = None
    curves: Mapping[str, Vector] = field(default_factory=dict)
    colors: Mapping[str, str] = field(default_factory=dict)
    up: Vector | None = None
    ground: AbstractShape | Solid | Iterable[AbstractShape | Solid] = ()

    def __post_init__(self) -> None:
        """Colours as pages and stills know them, and points that are points."""
        for words in ("shapes", "curves", "colors"):
            vars(self)[words] = by_name(getattr(self, words), f"The {words} of a Look", f"{words}={{'wheel': ...}}")
        given = self.traces
        vars(self).update(
            rods=tuple(listed(self.rods)),
            hide=tuple(listed(self.hide)),
            traces=given if given is None or isinstance(given, Mapping) else tuple(listed(given)),
            colors={name: color_of(e) for name, e in self.colors.items()},
        )
        named = {**(given if isinstance(given, Mapping) else {}), **self.curves}
        for rod in self.rods:
            if not isinstance(rod, tuple | list) or len(rod) != 2:
                raise ModelError(f"A rod of a Look is a pair of points, rods=[(a, b)]; got {quoted(rod)}.")
        ends = [("a rod", end) for rod in self.rods for end in rod]
        ends += [] if self.up is None else [("up, a direction", self.up)]
        for what, point in (*ends, *((repr(name), point) for name, point in named.items())):
            if not isinstance(point, Vector):
                raise ModelError(f"A Look needs points such as frame.point(x, y) for {what}; got {quoted(point)}.")
        for solid in (e for name in self.shapes for e in self.solids(name)):
            check_kind(solid, Solid, "appell.view.Solid(...) for a shape of a Look, or a list of them")
        for thing in self.still:
            check_kind(thing, Solid | AbstractShape, "shapes such as appell.shapes.Box(...) for the ground of a Look")

    def solids(self, name: str) -> tuple[Solid, ...]:
        """The shapes of a body."""
        return _several(self.shapes.get(name, ()))

    @property
    def still(self) -> tuple[AbstractShape | Solid, ...]:
        """What stands still."""
        return _several(self.ground)

    @property
    def letters(self) -> frozenset[sp.Symbol]:
        """What its formulas contain."""
        solids = [solid for name in self.shapes for solid in self.solids(name)]
        solids += [thing for thing in self.still if isinstance(thing, Solid)]
        shapes = [thing for thing in self.still if isinstance(thing, AbstractShape)]
        named = self.traces.values() if isinstance(self.traces, Mapping) else ()
        up = () if self.up is None else (self.up,)
        vectors = [*(end for rod in self.rods for end in rod), *named, *self.curves.values(), *up]
        formulas = [e for solid in solids for e in (*solid.size, *solid.at, *solid.axis)]
        formulas += [e for vector in vectors for part in vector.parts.values() for e in part]
        formulas += [e for shape in shapes for e in shape.formulas]
        return frozenset(s for e in formulas for s in letters_in(sp.sympify(e)))


def _several(given: Any) -> tuple[Any, ...]:
    """One thing or several."""
    one = isinstance(given, str | Solid | AbstractShape) or not isinstance(given, Iterable)
    return (given,) if one else tuple(given)
