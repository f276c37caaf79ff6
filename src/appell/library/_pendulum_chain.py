"""A chain of pendulums."""

from __future__ import annotations

from math import pi

import sympy as sp

from appell.errors import ModelError
from appell.model.body import Body, Particle, RigidBody
from appell.model.force import Gravity
from appell.model.frame import Frame
from appell.model.model import Model
from appell.model.symbols import coordinates, parameters
from appell.model.values import whole


def pendulum_chain(links: int = 3, angles: str = "relative", mass: str = "rods") -> Model:
    r"""A planar chain of equal pendulums, hung at the origin and swinging in the x-y plane.

    No constraints: the angles are free, and every formulation gives the same mass matrix. Two links are the double
    pendulum; from about 2 rad on its motion is chaotic, so neighbouring runs separate like $e^{\lambda t}$. With
    relative angles the mass matrix is full and heavier to write, with absolute angles it depends on differences of
    angles only; the motion is the same. The usual yardstick for the growth of equations with the number of bodies.

    Parameters of the model: m, mass of each link; l, length of each link; g.
    Coordinates: q1, q2, ..., zero when the chain hangs down, positive counterclockwise.

    Args:
        links: How many links.
        angles: `"relative"`, each angle against the link before (joint angles), or `"absolute"`, against the vertical.
        mass: `"rods"`, uniform thin rods, or `"points"`, a particle at the end of each massless link.

    Reference: D. Bernoulli 1738 (small swings of the hanging chain); one link of mass 1 at length 1 is problem A01 of
        the IFToMM library of multibody benchmarks.
    """
    links = whole("links", links)
    if angles not in ("relative", "absolute"):
        raise ModelError(f"Got angles={angles!r}; use 'relative' or 'absolute'.")
    if mass not in ("rods", "points"):
        raise ModelError(f"Got mass={mass!r}; use 'rods' or 'points'.")
    q = [coordinates(f"q{i}", "rad", f"angle of link {i}") for i in range(1, links + 1)]
    m, l, g = parameters("m l g", "kg m m/s^2", "mass of a link; length of a link; acceleration of gravity")

    half, inertia = sp.Rational(1, 2) * l, sp.Mul(sp.Rational(1, 12), m, l**2)  # SymPy takes long over a division
    ground = Frame("ground")
    frame, end = ground, ground.point(0, 0)
    bodies: list[Body] = []
    for i, angle in enumerate(q, 1):
        frame = (frame if angles == "relative" else ground).rotate("z", angle, f"link {i}")
        start, end = end, end - l * frame.y
        if mass == "rods":
            bodies.append(RigidBody(f"link {i}", m, start - half * frame.y, frame, (inertia, 0, inertia)))
        else:
            bodies.append(Particle(f"bob {i}", m, end))
    return Model(
        ground,
        q,
        bodies,
        [Gravity(-g * ground.y)],
        name="pendulum chain",
        description=f"{links} equal {mass if mass == 'rods' else 'point masses'} in a chain, {angles} angles",
        values={m: 1.0, l: 1.0, g: 9.81},
        start={angle: pi / 2 if i == 0 or angles == "absolute" else 0.0 for i, angle in enumerate(q)},
        until=10.0,
    )
