"""Bricard's mechanism: six hinges in a loop that moves although its freedoms count to none.

Aim: constraints that are redundant at every configuration. Five angles under five closure rows leave no freedom by
count; numbers show that one row follows from the others everywhere. It is found, named and left out; the loop runs.
Source: Bricard 1897; problem A04 of the IFToMM library of multibody benchmarks.
"""

import sys

import numpy as np

import appell as ap
from appell.errors import InconsistentStartError

model = ap.library.bricard()
print(model)
count = len(model.coordinates) - len(model.rows)
print(f"coordinates minus rows: {count}, degrees of freedom: {model.degrees_of_freedom}\n")

equations = ap.derive(model)
print(equations.summary(), "\n")
print(ap.verify(model), "\n")

system = ap.compile(equations).bind()
motion = ap.simulate(system, until=10.0)
print(motion, "\n")
print(motion.check(), "\n")

q = np.array([motion[f"q{i}"] for i in range(1, 6)])
symmetry = max(np.ptp(q[[0, 2, 4]], axis=0).max(), np.ptp(q[[1, 3]], axis=0).max())
print(f"threefold symmetry q1 = q3 = q5, q2 = q4 kept to {symmetry:.1e} rad")
energies = [system.energy(motion.at(t)) for t in motion.times]
total, kinetic = ([energy[kind] for energy in energies] for kind in ("total", "kinetic"))
print(f"energy kept to {np.ptp(total):.1e} J while up to {max(kinetic):.3f} J were kinetic")

try:
    system.consistent(keep={"q1": 0.4, "q2": 0.4})
except InconsistentStartError as error:
    print(f"\nan impossible start is refused: {error}")

if len(sys.argv) > 1:
    motion.plot(*model.coordinates, path=sys.argv[1])
