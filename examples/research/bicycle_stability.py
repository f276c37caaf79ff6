"""The self-stability of the bicycle: eigenvalues of upright running against speed.

Aim: the Whipple bicycle (eight coordinates, five constraints, nonlinear throughout), linearised about straight upright
running at each speed; the range of speeds at which it stays upright by itself.
Source: Meijaard, Papadopoulos, Ruina and Schwab 2007, Proc. R. Soc. A 463, 1955-1982: stable for
4.292382536 m/s < v < 6.024262015 m/s; at 5 m/s the roots are -14.0784, -0.7753 +- 4.4649 i, -0.3229 1/s.
"""

import sys

import numpy as np
from scipy.optimize import brentq

import appell as ap

model = ap.library.bicycle()
x, y, yaw, lean, pitch, steer, spin_r, spin_f = model.coordinates
radius = model.values["r_r"]

# Speeds lean', steer', spin_r': the linear equations of lean and steer then stand alone.
equations = ap.derive(model, ap.GibbsAppell(dependent=[x, y, yaw, pitch, spin_f]))
print(equations.summary(), "\n")
system = ap.compile(equations).bind()
block = [equations.states.index(s) for s in (lean, steer, lean.rate, steer.rate)]


def roots(v):
    """Eigenvalues of lean and steer at forward speed v."""
    running = system.state({spin_r.rate: -v / radius})
    return np.linalg.eigvals(system.jacobian(0.0, system.to_x(running))[np.ix_(block, block)])


def growth(v, oscillating):
    """The largest real part among the oscillating or the other roots."""
    return max(root.real for root in roots(v) if (abs(root.imag) > 1e-3) == oscillating)


for root in sorted(roots(5.0), key=lambda root: (root.real, root.imag)):
    print(f"root at 5 m/s: {root:.10f} 1/s")
weave = brentq(growth, 4.0, 5.0, args=(True,), xtol=1e-13)
capsize = brentq(growth, 5.5, 6.5, args=(False,), xtol=1e-13)
print(f"\nstable between {weave:.9f} m/s (weave) and {capsize:.9f} m/s (capsize)")

if len(sys.argv) > 1:
    from appell.view import Line, Panel, Plot

    speeds = np.repeat(np.linspace(0.0, 10.0, 401), 4)
    found = np.concatenate([roots(v) for v in speeds[::4]])
    real, waves = np.abs(found.real) < 10, (found.imag > 0) & (found.imag < 10)
    lines = (
        Line("real parts", speeds[real], found.real[real], points=True),
        Line("imaginary parts", speeds[waves], found.imag[waves], points=True),
    )
    stable = ((weave, "weave"), (capsize, "capsize"))
    panel = Panel(lines, "speed [m/s], stable between the dotted lines", "eigenvalue [1/s]", marks=stable)
    Plot("bicycle: self-stability", (panel,)).save(sys.argv[1])
