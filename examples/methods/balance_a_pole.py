"""A pole on a cart, balanced by a force within limits.

Aim: equilibrium, first approximation, optimal gains, and the proof; then the nonlinear loop with a force that
saturates, and how far the pole may lean at the start.
Source: the textbook example of state feedback.
"""

import sys

import numpy as np

import appell as ap

x, lean = ap.coordinates("x lean", "m rad")
force = ap.inputs("force", "N")
M, m, l, g = ap.parameters("M m l g", "kg kg m m/s^2")

ground = ap.Frame("ground")
hinge = ground.point(x, 0)
stick = ground.rotate("z", -lean)
cart = ap.Particle("cart", M, hinge)
pole = ap.RigidBody("pole", m, hinge + l / 2 * stick.y, stick, (0, 0, m * l**2 / 12))
forces = [ap.Gravity(-g * ground.y), ap.Force(force * ground.x, cart, name="motor")]
values = {M: 1.0, m: 0.2, l: 1.0, g: 9.81}
model = ap.Model(ground, (x, lean), [cart, pole], forces, name="pole on a cart", values=values)

upright = ap.equilibrium(model, {x: 0, lean: 0})
lin = ap.linearize(upright)
print(ap.stability(lin).sentence)
feedback = ap.control.lqr(lin, {"x": 10, "lean": 10, "x.rate": 1, "lean.rate": 1}, 0.1)
print("gains", feedback.K.round(3), "roots", feedback.roots.round(3))
print(feedback.certificate.sentence, "\n")

limited = feedback.saturated(10.0)
leans = np.linspace(0.1, 0.9, 33)
study = ap.sweep(limited.system, {lean: leans}, until=8.0, points=201, progress=False)
caught = np.abs(study["lean"].values[:, -1]) < 1e-2
print(f"with 10 N the pole is caught from {leans[caught].max():.3f} rad, and lost from {leans[~caught].min():.3f} rad")
motion = ap.simulate(limited.system, {lean: 0.45}, until=8.0)
print(motion.check())

if len(sys.argv) > 1:
    motion.plot(x, lean, path=sys.argv[1])
