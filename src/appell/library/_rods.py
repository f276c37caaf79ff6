"""Thin rods between two points, for mechanisms whose rods have no coordinates of their own."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import sympy as sp

from appell.model.body import Particle
from appell.model.frame import Vector


def squared_length(components: Iterable[sp.Expr]) -> sp.Expr:
    """The sum of squares; a sum is squared as it stands, which SymPy's power would search through first.

    Args:
        components: Of the vector.
    """
    return sp.Add(*[sp.Pow(e, 2, evaluate=not e.is_Add) for e in components])


def thin_rod(name: str, mass: Any, a: Vector, b: Vector) -> list[Particle]:
    """A thin uniform rod from a to b as three particles, m/6, 4m/6, m/6.

    T = m/6 (v_a^2 + v_a.v_b + v_b^2) and V are exactly those of the rod: velocities are linear along it, so Simpson's
    rule makes no error. No frame, hence no angle, of the rod is needed.

    Args:
        name: What the names of the particles begin with.
        mass: Mass of the rod.
        a: One end.
        b: The other end.
    """
    m = sp.sympify(mass)
    places = (
        ("begin", sp.Rational(1, 6), a),
        ("middle", sp.Rational(2, 3), (a + b) / 2),
        ("end", sp.Rational(1, 6), b),
    )
    return [Particle(f"{name}, {place}", share * m, point) for place, share, point in places]
