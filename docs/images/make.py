"""The picture of the README, from real runs: `python docs/images/make.py`.

A disk that rolls and wobbles (left), balls thrown onto a turning table, whose centres run on circles (middle), and the
eigenvalues of the upright bicycle against its speed (right).
"""

import sys
from pathlib import Path

import numpy as np
from matplotlib import colormaps
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.patches import Circle, Polygon
from scipy.optimize import brentq

import appell as ap

INK, FAINT, TRACK = "#22303c", "#9aa7b2", colormaps["viridis"]
BLUE, ORANGE, GREEN, RED, VIOLET = "#2f6f9f", "#e08a2e", "#3d9970", "#c8553d", "#7a5195"


class Camera:
    """A parallel projection of the ground and what stands on it.

    Args:
        azimuth: Turn of the view about the vertical, in degrees.
        elevation: Height of the view above the ground, in degrees.
    """

    def __init__(self, azimuth, elevation):
        a, e = np.radians(azimuth), np.radians(elevation)
        self.right = np.array([-np.sin(a), np.cos(a), 0])
        self.up = np.array([-np.sin(e) * np.cos(a), -np.sin(e) * np.sin(a), np.cos(e)])

    def __call__(self, points):
        """Places in the picture."""
        return np.stack([points @ self.right, points @ self.up], axis=-1)


def draw_disk(axis):
    """A uniform disk of radius 0.3 m: the track of its contact, and the last moments."""
    model = ap.library.rolling_disk()
    (disk,) = model.bodies
    plane = disk.frame.parent
    omega = plane.components(disk.angular_velocity)
    speeds = dict(zip(ap.speeds("w1 w2 w3"), omega, strict=True))
    system = ap.compile(ap.derive(model, ap.GibbsAppell(speeds=speeds))).bind({"m": 1.0, "r": 0.3, "g": 9.81})
    start = system.state({"lean": 0.6, "w1": 0.0, "w2": -3.0, "w3": -1.0})
    motion = ap.simulate(system, start, until=9.45, points=8001)
    proof = motion.check()
    assert proof.ok

    see, radius, steps = Camera(-62, 36), 0.3, len(motion.times)
    yaw, lean, spin, x, y = (motion[name].values for name in ("yaw", "lean", "spin", "x", "y"))
    track = see(np.stack([x, y, 0 * x], axis=-1))
    age = np.linspace(0, 1, steps - 1)
    pieces = np.stack([track[:-1], track[1:]], axis=1)
    axis.add_collection(LineCollection(pieces, colors=TRACK(0.08 + 0.8 * age), linewidths=0.7 + 1.1 * age, zorder=1))
    circle = np.linspace(0, 2 * np.pi, 181)
    for back in (640, 480, 320, 160, 0):
        k = steps - 1 - back
        ahead, side = np.array([np.cos(yaw[k]), np.sin(yaw[k]), 0]), np.array([-np.sin(yaw[k]), np.cos(yaw[k]), 0])
        up = -np.sin(lean[k]) * side + np.cos(lean[k]) * np.array([0, 0, 1])
        center = np.array([x[k], y[k], 0]) + radius * up
        rim = center + radius * (np.cos(circle)[:, None] * ahead + np.sin(circle)[:, None] * up)
        fresh, colour = 1 - back / 800, TRACK(0.08 + 0.8 * k / steps)
        if back:
            axis.add_patch(Polygon(see(rim), facecolor=colour, alpha=0.2 * fresh, edgecolor="none", zorder=3))
            axis.plot(*see(rim).T, color=colour, linewidth=1.1, alpha=0.9 * fresh, zorder=3)
            continue
        axis.add_patch(Polygon(see(rim * [1, 1, 0]), facecolor=INK, alpha=0.14, edgecolor="none", zorder=2))
        axis.add_patch(Polygon(see(rim), facecolor="#dfe9c8", alpha=0.75, edgecolor="none", zorder=5))
        axis.plot(*see(rim).T, color=INK, linewidth=2.0, zorder=6)
        for angle in np.arange(6) * np.pi / 6 + spin[k]:
            spoke = radius * (np.sin(angle) * ahead + np.cos(angle) * up)
            axis.plot(
                *see(np.array([center - spoke, center + spoke])).T, color=INK, linewidth=0.6, alpha=0.55, zorder=6
            )
        axis.plot(*see(np.array([[x[k], y[k], 0]])).T, "o", color=INK, markersize=4, zorder=7)
    axis.set_aspect("equal")
    axis.autoscale_view()
    axis.axis("off")
    return f"track of the contact over {motion.times[-1]:g} s, power balance closed to {proof.balance:.0e}"


def draw_balls(axis):
    """Balls thrown onto a turning table; each of the circles is a run of the same compiled system."""
    model = ap.library.rolling_ball()
    x, y = model.coordinates[:2]
    rate = 2 / 7 * 3.5
    system = ap.compile(ap.derive(model)).bind({"Omega": 3.5})
    axis.add_patch(Circle((0, 0), 1.0, facecolor="#f3f5f7", edgecolor=FAINT, linewidth=1.2))
    for angle in np.arange(24) * np.pi / 12:
        inner, outer = np.outer((0.95, 1.0), (np.cos(angle), np.sin(angle)))
        axis.plot(*np.array([inner, outer]).T, color=FAINT, linewidth=1.0)
    worst = 0.0
    for center, radius, angle, colour in (
        ((0.08, 0.04), 0.60, 0.3, BLUE),
        ((-0.52, 0.42), 0.25, 2.6, ORANGE),
        ((-0.36, -0.42), 0.36, 3.6, GREEN),
        ((0.30, 0.24), 0.14, 1.2, RED),
        ((0.52, -0.46), 0.22, 5.2, VIOLET),
    ):
        place = np.array(center) + radius * np.array([np.cos(angle), np.sin(angle)])
        v = rate * radius * np.array([-np.sin(angle), np.cos(angle)])
        keep = {x: place[0], y: place[1], x.rate: v[0], y.rate: v[1], "e0": 1, "e1": 0, "e2": 0, "e3": 0}
        motion = ap.simulate(system, system.consistent(keep), until=2 * np.pi / rate, points=401)
        assert motion.check().ok
        worst = max(worst, np.ptp(np.hypot(motion[x] - center[0], motion[y] - center[1]).values))
        axis.plot(motion[x], motion[y], color=colour, linewidth=1.8)
        axis.plot(*place, "o", color=colour, markersize=8, markeredgecolor="white", markeredgewidth=1.2, zorder=5)
    bend = {"arrowstyle": "-|>", "color": FAINT, "lw": 1.6, "connectionstyle": "arc3,rad=0.2"}
    axis.annotate("", (0.58, 0.93), (0.9, 0.62), arrowprops=bend, annotation_clip=False)
    axis.set_aspect("equal")
    axis.set(xlim=(-1.05, 1.05), ylim=(-1.05, 1.05))
    axis.axis("off")
    return f"2/7 of the table's rate, round to {worst:.0e} m"


def draw_bicycle(axis):
    """Eigenvalues of lean and steer about upright running."""
    model = ap.library.bicycle()
    x, y, yaw, lean, pitch, steer, spin_r, spin_f = model.coordinates
    equations = ap.derive(model, ap.GibbsAppell(dependent=[x, y, yaw, pitch, spin_f]))
    system = ap.compile(equations).bind()
    block = np.ix_(*2 * [[equations.states.index(s) for s in (lean, steer, lean.rate, steer.rate)]])

    def eigenvalues(v):
        running = system.to_x(system.state({spin_r.rate: -v / 0.3}))
        return np.linalg.eigvals(system.jacobian(0.0, running)[block])

    speeds = np.linspace(0, 9.5, 951)
    roots = np.array([eigenvalues(v) for v in speeds])
    weave, capsize = (brentq(lambda v: eigenvalues(v).real.max(), *ends) for ends in ((4.0, 5.0), (5.5, 6.5)))
    axis.axvspan(weave, capsize, color=GREEN, alpha=0.15, linewidth=0)
    axis.axhline(0, color=INK, linewidth=0.8)
    waving = np.where(np.abs(roots.imag) > 1e-9, np.abs(roots.imag), np.nan)
    axis.plot(np.repeat(speeds, 4), waving.ravel(), ".", color=ORANGE, markersize=1.6)
    axis.plot(np.repeat(speeds, 4), roots.real.ravel(), ".", color=BLUE, markersize=1.6)
    for text, place, colour in (
        ("weave", (1.75, 3.3), BLUE),
        ("castering", (2.2, -8.2), BLUE),
        ("capsize", (7.2, 0.45), BLUE),
        ("weave, imaginary part", (2.3, 7.4), ORANGE),
    ):
        axis.text(*place, text, color=colour, fontsize=9)
    axis.text((weave + capsize) / 2, -9.3, "stable", color=GREEN, ha="center", fontsize=9)
    axis.set(xlim=(0, 9.5), ylim=(-10, 10), xticks=range(0, 10, 2), yticks=range(-10, 11, 5))
    axis.set_xlabel("speed [m/s]", color=INK)
    axis.set_ylabel("eigenvalue [1/s]", color=INK, labelpad=2)
    axis.tick_params(colors=INK, labelsize=9)
    axis.spines[["top", "right"]].set_visible(False)
    return f"stays upright by itself from {weave:.2f} to {capsize:.2f} m/s"


def main(path):
    """Draw the three pictures side by side."""
    figure = Figure(figsize=(13.2, 4.7), facecolor="white")
    panels = (
        ((0.005, 0.03, 0.40, 0.82), "a disk rolls and wobbles", draw_disk),
        ((0.405, 0.03, 0.275, 0.82), "balls on a turning table run on circles", draw_balls),
        ((0.735, 0.14, 0.255, 0.68), "a bicycle that steers itself", draw_bicycle),
    )
    for box, title, draw in panels:
        axis = figure.add_axes(box)
        caption = draw(axis)
        middle = box[0] + box[2] / 2
        figure.text(middle, 0.935, title, ha="center", color=INK, fontsize=12.5)
        figure.text(middle, 0.885, caption, ha="center", color="#6b7884", fontsize=9)
    figure.savefig(path, dpi=150)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).with_name("readme.png"))
