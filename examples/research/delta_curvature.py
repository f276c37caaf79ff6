"""Why C^B matters: roots and motions of a Delta robot held by constant torques.

Aim: the first approximation with and without the curvature of the constraints under load, and the nonlinear motion.
Source: Krasinskiy 2025, section 6, with corrected multiplier terms.
"""

import sys

import numpy as np
from scipy.linalg import expm

import appell as ap

rest = ap.equilibrium(ap.library.delta_robot(), {"x": 0, "y": 0, "z": -0.9})
with_cb = ap.linearize(rest, dependent=["x", "y", "z"])
without = ap.linearize(rest, dependent=["x", "y", "z"], multiplier_terms=False)
print("roots with C^B:   ", with_cb.eigenvalues.round(4))
print("roots without C^B:", without.eigenvalues.round(4))

push = {"phi1": 0.005, "phi2": 0.005, "phi3": 0.005}
start = ap.control.lqr(with_cb).start(push)
times = np.linspace(0, 2.5, 126)
motion = ap.simulate(rest.system, start, until=2.5, at=times)
eta = np.array([push.get(s, 0.0) for s in with_cb.states])
foretold = {
    name: [(lin.blocks.B0 @ (expm(lin.A * t) @ eta)[:3])[2] for t in times]
    for name, lin in (("with C^B", with_cb), ("without C^B", without))
}
fall = motion.columns["z"] - rest["z"]
print(f"platform after 2.5 s: nonlinear {1e3 * fall[-1]:.1f} mm, "
      + ", ".join(f"{name} {1e3 * z[-1]:.1f} mm" for name, z in foretold.items()))  # fmt: skip

if len(sys.argv) > 1:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9.6, 3.8), layout="constrained")
    left, right = figure.subplots(1, 2)
    left.axvspan(0, 1.6, color="#c8553d", alpha=0.10, linewidth=0)
    for lin, marker, color, name in (
        (with_cb, "o", "#c8553d", "with $C^B$"),
        (without, "x", "#666666", "without $C^B$"),
    ):
        left.scatter(lin.eigenvalues.real, lin.eigenvalues.imag, marker=marker, color=color, label=name, s=42)
    left.axvline(0, color="black", linewidth=0.8)
    left.set(xlabel="real part [1/s]", ylabel="imaginary part [1/s]", title="roots", xlim=(-1.8, 1.6))
    left.legend(frameon=False)
    right.plot(times, 1e3 * fall, color="black", linewidth=2.2, label="nonlinear motion")
    right.plot(times, 1e3 * np.array(foretold["with C^B"]), "--", color="#c8553d", label="foretold with $C^B$")
    right.plot(times, 1e3 * np.array(foretold["without C^B"]), ":", color="#666666", label="foretold without $C^B$")
    right.set(
        xlabel="time [s]", ylabel="platform, deviation of z [mm]", title="held by constant torques, pushed by 0.005 rad"
    )
    right.legend(frameon=False)
    figure.savefig(sys.argv[1], dpi=160)
