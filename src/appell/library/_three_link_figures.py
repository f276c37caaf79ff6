"""Figures 5 to 8 of the three-link manipulator, from four starting angles."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from appell.library._three_link import three_link

if TYPE_CHECKING:
    from appell.code.state import State
    from appell.code.system import System

ANGLES = (45, 60, 70, 80)


def three_link_figures(folder: str | Path) -> list[Path]:
    """Draw what the source's figures 5-8 show as far as it follows from plans.

    The reference dynamics from the four starting angles with Baumgarte's stabilisation (alpha = 100, beta = 50): path
    and height of the hand, joint coordinates, their differences from the start at 45 degrees, and the forces of the
    drives.
    The source's own data are incomplete and its figures 7 and 8 show a tracked plant, so only shapes compare.

    Args:
        folder: Where to write `figure-5.png` ... `figure-8.png`; made if it is not there.
    """
    from appell.code.system import compile
    from appell.formulation.derive import derive
    from appell.formulation.gpme import GPME
    from appell.motion.keyboard import uninterrupted
    from appell.motion.run import simulate
    from appell.view.plot import COLORS, Line, Panel, Plot

    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    times = np.linspace(0, 5, 1001)
    states: dict[int, np.ndarray] = {}
    forces: dict[int, np.ndarray] = {}
    system = compile(derive(three_link(), GPME(stabilize=(100.0, 50.0)))).bind()
    for angle in ANGLES:
        motion = uninterrupted(simulate(system, system.state(three_link(angle=angle).start), 5.0))
        states[angle] = motion.states(times)
        forces[angle] = np.array([_drives(system, motion.at(float(t))) for t in times])
    made, colors = list[Path](), dict(zip(ANGLES, COLORS, strict=False))

    def save(number: int, panels: list[tuple[str, str, dict[int, tuple[np.ndarray, np.ndarray]]]], title: str) -> None:
        made.append(folder / f"figure-{number}.png")
        drawn = []
        for across, up, curves in panels:
            lines = tuple(Line(f"{angle}°", x, y, color=colors[angle]) for angle, (x, y) in curves.items())
            drawn.append(Panel(lines, across, up, equal=across != "t [s]"))
        Plot(title, tuple(drawn), shared=not any(panel.equal for panel in drawn)).save(made[-1])

    hands = {angle: _hand(rows) for angle, rows in states.items()}
    path = {angle: (x, y) for angle, (x, y, _) in hands.items()}
    height = {angle: (times, z) for angle, (_, _, z) in hands.items()}
    save(5, [("x [m]", "y [m]", path), ("t [s]", "z [m]", height)], "hand")
    names = ("psi1 [rad]", "psi2 [rad]", "z3 [m]")
    joints = [("t [s]", n, {a: (times, s[:, i]) for a, s in states.items()}) for i, n in enumerate(names)]
    save(6, joints, "joint coordinates")
    gaps = [
        (
            "t [s]",
            "|Δ{}| [{}".format(*n.split(" [")),
            {a: (times, np.abs(states[a][:, i] - states[45][:, i])) for a in ANGLES[1:]},
        )
        for i, n in enumerate(names)
    ]
    save(7, gaps, "difference from the start at 45°")
    labels = ("torque 1 [N·m]", "torque 2 [N·m]", "force 3 [N]")
    save(8, [("t [s]", n, {a: (times, forces[a][:, i]) for a in ANGLES}) for i, n in enumerate(labels)], "drives")
    return made


def _drives(system: System, state: State) -> np.ndarray:
    """M q'' + b + g: what programme, stabilisation and flexible drive together exert."""
    M, F = (np.array(e) for e in system.equations.mechanics.functions["multiplier"](
        state.t, state.q, state.v, state.z, [], system.p)[:2])  # fmt: skip
    value = system.values
    tau, psi = state.t * value["pace"] / 5, value["psi_S"]
    turned, rate = psi * (tau - np.sin(2 * np.pi * tau) / (2 * np.pi)), psi / 5 * (1 - np.cos(2 * np.pi * tau))
    total = M @ system.accelerations(state) - F[:, 0]
    total[0] += value["s"] * (turned - state.q[0]) + value["d"] * (rate * value["pace"] - state.v[0])
    return total


def _hand(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    below = np.radians(270) - rows[:, 1]
    reach = rows[:, 2] + 0.3
    flat = reach * np.cos(below)
    return flat * np.cos(rows[:, 0]), flat * np.sin(rows[:, 0]), 1.0 - reach * np.sin(below)
