"""A spatial four-bar of free bodies: seven coordinates for each body, and a few constraint rows for each joint.

Aim: 21 coordinates, 19 rows, two freedoms, two equations. Crank and rocker turn on hinges that are skew to each other,
the coupler sits between two ball joints and may spin about its own axis. Nothing was chosen by hand: dependent
velocities are found by pivoting, and the speeds are components of angular velocities. In joint coordinates, closed by
three rows, the same mechanism takes a third of the operations, and more thought.
Source: the RSSR linkage, for example McCarthy and Soh, Geometric Design of Linkages.
"""

import sys

import numpy as np

import appell as ap

ground, gravity = ap.Frame("ground"), 9.81
far = ground.point(1.2, 0.3, 0.2)
masses = {"crank": (1.0, (0.01, 0.02, 0.02)), "coupler": (1.5, (0.01, 0.3, 0.3)), "rocker": (1.2, (0.01, 0.1, 0.1))}
weight = ap.Gravity(-gravity * ground.z)


def bodies(frames, centers):
    """The three bars in these frames."""
    given = zip(masses.items(), frames, centers, strict=True)
    return [ap.RigidBody(name, mass, center, frame, inertia) for (name, (mass, inertia)), frame, center in given]


letters = [ap.coordinates(" ".join(f"{letter}{k}" for letter in ("x", "y", "z", "e", "f", "g", "h"))) for k in "123"]
crank, coupler, rocker = frames = [ground.free(*own) for own in letters]
joints = [
    ap.Holonomic(crank.point(-0.2, 0, 0), "pivot"),
    ap.Holonomic([crank.z.dot(ground.x), crank.z.dot(ground.y)], "hinge"),
    ap.Holonomic(crank.point(0.2, 0, 0) - coupler.point(-0.75, 0, 0), "ball"),
    ap.Holonomic(coupler.point(0.75, 0, 0) - rocker.point(0.5, 0, 0), "far ball"),
    ap.Holonomic(rocker.point(-0.5, 0, 0) - far, "far pivot"),
    ap.Holonomic([rocker.z.dot(ground.y), rocker.z.dot(ground.z)], "far hinge"),
]
free = ap.Model(ground, sum(letters, ()), bodies(frames, [f.origin for f in frames]), [weight], joints, name="RSSR")
system = ap.compile(ap.derive(free)).bind()
print(system.equations.summary(), "\n")

near = {"e1": 1.0, "e2": 0.9, "g2": 0.3, "h2": 0.3, "e3": 0.7, "f3": 0.2, "g3": 0.7, "h3": 0.2, "x2": 0.8, "x3": 1.2}
start = system.consistent({}, near={**near, "y3": 0.5, "h1.rate": 1.0, "f2.rate": 1.0})
motion = ap.simulate(system, start, until=5.0)
print(motion, motion.check(), "", sep="\n")

a, b, *turn = ap.coordinates("a b e f g h")
first, last = ground.pin(a), ground.rotate("y", np.pi / 2).pin(b, at=far)
middle = first.spherical(*turn, at=(0.4, 0, 0))
closed = ap.Holonomic(middle.point(1.5, 0, 0) - last.point(1, 0, 0), "loop")
centers = [first.point(0.2, 0, 0), middle.point(0.75, 0, 0), last.point(0.5, 0, 0)]
chain = ap.Model(ground, (a, b, *turn), bodies([first, middle, last], centers), [weight], [closed], name="chain")
print(ap.derive(chain).summary())

if len(sys.argv) > 1:
    motion.animate(sys.argv[1])
