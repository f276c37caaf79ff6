"""Draws periodic.png: a limit cycle, a resonance that folds back, and a gait, each found by `ap.periodic`."""

import runpy
import sys
from pathlib import Path

import numpy as np
import sympy as sp
from matplotlib.figure import Figure

import appell as ap

HERE = Path(__file__).parent
INK, FAINT, BLUE, RED, ORANGE = "#22303c", "#9aa7b2", "#2f6f9f", "#c8553d", "#e08a2e"
ground = ap.Frame("ground")


def clock(axes):
    """A pendulum with a drive: two motions tend to the periodic one, from inside and from outside."""
    angle = ap.coordinates("angle", "rad")
    bob = ap.Particle("bob", 1.0, ground.pin(angle).point(0, -1.0))
    drive = ap.Generalized({angle: 0.5 * sp.tanh(5 * angle.rate) - 0.3 * angle.rate})
    system = ap.compile(ap.derive(ap.Model(ground, angle, [bob], [ap.Gravity(-9.81 * ground.y), drive])))
    for start in (0.15, 1.3):
        near = ap.simulate(system, {angle: start}, 11.0, points=2000)
        axes.plot(near["angle"], near["angle.rate"], color=FAINT, lw=0.8)
    swing = ap.periodic(system, {angle: 0.7}, 2.0).motion
    axes.plot(swing["angle"], swing["angle.rate"], color=BLUE, lw=2.4)
    axes.set(title="a clock and its limit cycle", xlabel="angle [rad]", ylabel="rate [rad/s]")


def resonance(axes):
    """Duffing's oscillator: stable branches from both sides, the unstable one between the folds."""
    x, w = ap.coordinates("x"), ap.parameters("w")
    pull = ap.Generalized({x: -0.1 * x.rate - x - x**3 + 0.3 * sp.cos(w * ap.t)})
    system = ap.compile(ap.derive(ap.Model(ground, x, [ap.Particle("mass", 1.0, ground.point(x))], [pull])))

    def branch(rates, first):
        found, guess = [], first
        for rate in rates:
            try:
                now = ap.periodic(system.bind({w: rate}), guess, 2 * np.pi / rate, points=201)
            except ap.AppellError:
                break
            guess = now.state.array if len(found) < 1 else 2 * now.state.array - found[-1][3]
            guess = {x: guess[0], x.rate: guess[1]}
            found.append((rate, np.ptp(now.motion["x"].values) / 2, now.stable, now.state.array))
        return found

    up = branch(np.arange(0.5, 2.6, 0.01), {x: 0.4})
    down = branch(np.arange(2.6, 1.2, -0.01), {x: -0.05})
    rate = 0.5 * (up[-1][0] + down[-1][0])
    high, low = (min(side, key=lambda e: abs(e[0] - rate)) for side in (up, down))
    middle = []
    for share in np.linspace(0.2, 0.8, 13):
        start = share * high[3] + (1 - share) * low[3]
        tried = branch([rate], {x: start[0], x.rate: start[1]})
        if tried and tried[0][2] is False:
            middle = branch(np.arange(rate, 0.5, -0.005), {x: tried[0][3][0], x.rate: tried[0][3][1]})[::-1]
            middle += branch(np.arange(rate, 2.6, 0.005), {x: tried[0][3][0], x.rate: tried[0][3][1]})
            break
    for side in (up, down):
        axes.plot([e[0] for e in side if e[2]], [e[1] for e in side if e[2]], color=BLUE, lw=2)
    middle = [e for e in middle if e[2] is False]
    axes.plot([e[0] for e in middle], [e[1] for e in middle], color=RED, lw=1.6, ls=(0, (3, 2)))
    axes.set(title="resonance of a stiffening spring", xlabel="angular frequency of the drive [rad/s]")
    axes.set_ylabel("amplitude [m]")


def gait(axes):
    """The walker of the examples over five steps, drawn at equal times."""
    sys.argv = ["walker.py"]
    made = runpy.run_path(str(HERE.parents[1] / "examples" / "research" / "walker.py"))
    found, steps = made["gait"], 5
    walk = ap.simulate(made["system"], found.state, steps * found.period, events=[made["strike"]], points=2)
    place, legs, slope = 0.0, np.array([0, 1]), made["values"][made["slope"]]
    strikes = [o.t for o in walk.occurrences]
    for t in np.arange(0, steps * found.period, found.period / 4):
        while strikes and t >= strikes[0]:
            behind = walk.at(strikes[0])
            place += 2 * np.sin(abs(behind["a"]))
            legs, strikes = legs[::-1], strikes[1:]
        now = walk.at(t)
        hip = np.array([place - np.sin(now["a"]), np.cos(now["a"])])
        foot = hip + np.array([np.sin(now["b"]), -np.cos(now["b"])])
        ends = ((place, 0.0), foot)
        turn = np.array([[np.cos(slope), np.sin(slope)], [-np.sin(slope), np.cos(slope)]])
        for leg, end in zip(legs, ends, strict=True):
            line = np.array([hip, end]) @ turn.T
            axes.plot(*line.T, color=(BLUE, ORANGE)[leg], lw=1.3, alpha=0.8, solid_capstyle="round")
        axes.plot(*(turn @ hip), "o", color=INK, ms=3.5)
    reach = np.array([[-0.15, 0.0], [place + 0.25, 0.0]]) @ turn.T
    axes.plot(*reach.T, color=INK, lw=1)
    axes.set(title="a gait down a slope", aspect="equal")
    axes.set_axis_off()


if __name__ == "__main__":
    figure = Figure(figsize=(12, 3.6), layout="constrained")
    for draw, axes in zip((clock, resonance, gait), figure.subplots(1, 3, width_ratios=(1, 1, 1.6)), strict=True):
        draw(axes)
        axes.spines[["top", "right"]].set_visible(False)
        axes.title.set(fontsize=11, color=INK)
    figure.savefig(HERE / "periodic.png", dpi=110)
