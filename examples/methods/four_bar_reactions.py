"""Joint forces of a four-bar linkage, computed afterwards from a motion without multipliers.

Aim: the equations contain one unknown and no multipliers; the forces of the closed loop are computed afterwards, on
demand. The last bar carries no mass, so the force at its end must point along it: a check by statics alone.
Source: Moore, Learn Multibody Dynamics, chapter Equations of Motion with Holonomic Constraints (the linkage).
"""

import sys

import numpy as np

import appell as ap

model = ap.library.four_bar()
q1, q2, q3 = model.coordinates
system = ap.compile(ap.derive(model)).bind()
print(system.equations.summary(), "\n")

start = system.consistent(keep={q1: np.radians(10)}, near={q2: 0.2, q3: -2.6})
print(start, "\n")
motion = ap.simulate(system, start, until=30.0)
print(motion)
print(motion.check(), "\n")

loop = motion.reactions("loop")
force = np.array([loop["loop.x"], loop["loop.y"]])
bar = motion.evaluate(q1 + q2 + q3)  # direction of the last bar against the ground
along = force[0] * np.cos(bar) + force[1] * np.sin(bar)
across = -force[0] * np.sin(bar) + force[1] * np.cos(bar)
print(f"largest force at the fixed joint {np.abs(along).max():.6f} N, across the bar {np.abs(across).max():.1e} N")

energy = [system.energy(motion.at(t))["total"] for t in motion.times[::10]]
print(f"energy {energy[0]:.11f} J, kept to {np.ptp(energy) / abs(energy[0]):.1e}")

if len(sys.argv) > 1:
    from appell.view import Line, Panel, Plot

    panel = Panel((Line("", motion.times, along),), "t [s]", "force along the last bar [N]")
    Plot(model.name, (panel,)).save(sys.argv[1])
