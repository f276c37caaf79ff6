"""The study behind `appell run sprayer`: mass, paths, errors, tyre force, proofs and coverage.

Every path is driven with its speeds held by the PID of Dehkordi 2025 (as printed and corrected, gains fitted to the
errors of that paper's Table 2, which gives none) and followed by the two outer loops.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np
import sympy as sp

from appell.code.system import System, compile
from appell.control.pid import PID
from appell.errors import ModelError
from appell.formulation.derive import derive
from appell.library._sprayer import x, y
from appell.model.symbols import key
from appell.motion.check import Check
from appell.motion.keyboard import uninterrupted
from appell.motion.motion import Motion
from appell.motion.run import simulate
from appell.sprayer.coverage import Coverage, cover
from appell.sprayer.laws import Law, drive, follow_by_linearization, follow_by_pid, hold_speeds, start
from appell.sprayer.momentum import Momentum, momentum
from appell.sprayer.paths import Path, circle, straight, zigzag
from appell.sprayer.robot import Sprayer, corners, irregular

POINTS = 200
PRINTED = {"straight": (18.2378, 0.0), "circular": (0.2346, 0.0039), "zigzag": (0.201, 0.0523)}
"""Mean tracking and orientation errors as Table 2 prints them."""

FITTED = {
    "straight": (8.0747, 16.1494, 650.99, 1301.98),
    "circular": (8.0747, 16.1494, 650.99, 1301.98),
    "zigzag": (193.99, 387.98, 28.361, 56.722),
}
"""Gains (Kp, Ki of v; Kp, Ki of omega) with which the printed equations come closest to Table 2."""

OUTER = (PID(1.5, 0.3, clamp=1, limit=1.5), PID(3, 1, 3, clamp=1, limit=1))
INNER = (PID(600, 300, clamp=1, limit=300), PID(300, 300, clamp=1, limit=150))
BESIDE = (-0.5, 1.0, -0.3)
"""Start of the runs that must find the path: metres behind, metres to the left, radians."""


@dataclass(frozen=True, eq=False)
class Drive:
    """One path driven once.

    Attributes:
        path: The reference.
        law: What controlled the robot.
        robot: The robot.
        motion: What it did.
    """

    path: Path
    law: Law
    robot: Sprayer
    motion: Motion

    @cached_property
    def tracking(self) -> np.ndarray:
        """Distance from the reference."""
        gap = [self.motion.evaluate(s - e) for s, e in zip((x, y), self.path.position, strict=True)]
        return np.hypot(*gap)

    @cached_property
    def orientation(self) -> np.ndarray:
        """Heading minus that of the reference."""
        return self.motion["theta"].values - self.motion.evaluate(self.path.heading)

    @property
    def errors(self) -> tuple[float, float]:
        """Means over the table of the distance and of the size of the heading's error."""
        return float(self.tracking.mean()), float(np.abs(self.orientation).mean())

    @cached_property
    def inputs(self) -> tuple[np.ndarray, np.ndarray]:
        """Driving force and yaw moment."""
        return self.motion.evaluate(self.law.drive), self.motion.evaluate(self.law.turn)

    @cached_property
    def side_force(self) -> np.ndarray:
        """Sideways force of the ground on the tyres."""
        return self.motion.reactions("no side slip")["no side slip"].values

    @cached_property
    def coverage(self) -> Coverage:
        """What the field got."""
        return cover(self.robot, self.motion)


@dataclass(frozen=True, eq=False, kw_only=True)
class Study:
    """Everything the study found.

    Attributes:
        printed: Speeds held, by the equations as printed; one for each path.
        held: Speeds held, corrected equations.
        pid: Path followed by PID.
        linearized: Path followed by feedback linearization.
        found: The same two, begun beside the path: PID and linearization for each path.
        open_loop: Constant torques, through the end of the tank.
        checks: Proofs of the open run and of each linearized one.
        momentum: Balance of linear momentum of the open run, with internal flow.
        uneven: The circle with flows that jump at random, followed by PID, which knows nothing of them.
    """

    printed: tuple[Drive, ...]
    held: tuple[Drive, ...]
    pid: tuple[Drive, ...]
    linearized: tuple[Drive, ...]
    found: tuple[tuple[Drive, Drive], ...]
    open_loop: Motion
    checks: Mapping[str, Check]
    momentum: Momentum
    uneven: Drive

    @property
    def drives(self) -> Iterator[Drive]:
        """All runs along paths."""
        yield from (*self.printed, *self.held, *self.pid, *self.linearized, self.uneven)
        for pair in self.found:
            yield from pair

    @property
    def agreement(self) -> float:
        """Largest disagreement of any formulation in any proof."""
        return max(value for check in self.checks.values() for value in check.agreement.values())

    @property
    def balance(self) -> float:
        """Largest error of the power balance in any proof."""
        return max(check.balance for check in self.checks.values())

    @property
    def ok(self) -> bool:
        """Whether every run ended as it should and every proof holds."""
        return (
            all(e.motion.outcome.ok for e in self.drives)
            and all(check.ok for check in self.checks.values())
            and self.momentum.error < 1e-9
            and all(e.coverage.lost < 1e-3 for e in self.linearized)
        )

    def to_json(self) -> dict[str, Any]:
        """The numbers as plain data."""

        def row(e: Drive, kind: str) -> dict[str, Any]:
            tracking, orientation = e.errors
            return {
                "path": e.path.name, "law": e.law.name, "equations": e.robot.mode, "kind": kind, "tracking": tracking,
                "orientation": orientation, "tracking_at_end": float(e.tracking[-1]),
                "largest_force": float(np.abs(e.inputs[0]).max()), "largest_moment": float(np.abs(e.inputs[1]).max()),
            }  # fmt: skip

        mass = self.held[0].motion["m"].values
        rows = [row(e, "on the path") for e in (*self.printed, *self.held, *self.pid, *self.linearized)]
        rows += [row(e, "begun beside the path") for pair in self.found for e in pair]
        rows.append(row(self.uneven, "irregular flow"))
        empty = [o.t for o in self.open_loop.occurrences]
        return {
            "ok": self.ok,
            "mass": {"first": float(mass[0]), "last": float(mass[-1]), "empty_at": empty[0] if empty else None},
            "runs": rows,
            "side_force": {
                e.path.name: [float(e.side_force.min()), float(e.side_force.max())] for e in self.linearized
            },
            "agreement": self.agreement,
            "power_balance": self.balance,
            "momentum_balance": self.momentum.error,
            "coverage": {
                e.path.name: {
                    "sprayed": e.coverage.sprayed, "landed": e.coverage.landed, "area": e.coverage.area,
                    "christiansen": e.coverage.christiansen() if e.coverage.area else None,
                    "variation": e.coverage.variation() if e.coverage.area else None,
                }
                for e in self.linearized
            },
        }  # fmt: skip


def study(
    values: Mapping[Any, float] | None = None,
    until: float = 20.0,
    mass: float = 150.0,
    seed: int = 1,
    method: str = "auto",
) -> Study:
    """Drive all paths in all ways.

    Args:
        values: Numbers of parameters in place of those of Table 1.
        until: Seconds of each run along a path.
        mass: Chassis and liquid at the start.
        seed: Of the irregular flow.
        method: Integrator, as for `simulate`.
    """
    given = {key(name): value for name, value in (values or {}).items()}
    side = corners(given.pop("alpha", sp.pi / 2))
    # Table 1 has no wheel inertia, and what (49) sums without a mass is left out, as for the fitted gains.
    literal = Sprayer(side, "paper", values={"Iw": 0.0, "m_r": 0.0, **given})
    plain = Sprayer(side, values={"Iw": 0.0, **given})
    _check({**plain.model.values, **given}, until, mass)
    wheeled = Sprayer(side, drive="wheels", values=given)
    jumping = Sprayer(irregular(side, 0.3, until / 10, until, seed), drive="wheels", values=given)
    paths = (straight(), circle(), zigzag())

    def held(robot: Sprayer, path: Path) -> Law:
        kp_v, ki_v, kp_w, ki_w = FITTED[path.name]
        return hold_speeds(robot, path, PID(kp_v, ki_v, clamp=1), PID(kp_w, ki_w, clamp=1))

    def by_pid(robot: Sprayer, path: Path) -> Law:
        return follow_by_pid(robot, path, *OUTER, *INNER)

    def linearized(robot: Sprayer, path: Path) -> Law:
        return follow_by_linearization(robot, path, 0.5, 4.0, 4.0)

    @cache
    def ready(robot: Sprayer, path: Path, made: Any) -> tuple[Law, System]:
        law = made(robot, path)
        return law, drive(robot, path, law)

    def go(robot: Sprayer, path: Path, made: Any, beside: tuple[float, float, float] = (0.0, 0.0, 0.0)) -> Drive:
        law, system = ready(robot, path, made)
        state = start(system, path, mass, beside)
        motion = uninterrupted(simulate(system, state, until, points=POINTS, method=method, progress=False))
        return Drive(path, law, robot, motion)

    followed = tuple(go(wheeled, path, linearized) for path in paths)
    opened, balance = _open_loop(values or {}, mass, method)
    checks = {"open loop": opened.check(), **{e.path.name: e.motion.check() for e in followed}}
    return Study(
        printed=tuple(go(literal, path, held) for path in paths),
        held=tuple(go(plain, path, held) for path in paths),
        pid=tuple(go(wheeled, path, by_pid) for path in paths),
        linearized=followed,
        found=tuple((go(wheeled, path, by_pid, BESIDE), go(wheeled, path, linearized, BESIDE)) for path in paths),
        open_loop=opened,
        checks=checks,
        momentum=balance,
        uneven=go(jumping, circle(), by_pid),
    )


def _check(values: Mapping[str, float], until: float, mass: float) -> None:
    """Refuse what cannot be sprayed."""
    flow, empty = values["mu"], values["m_empty"]
    if not until > 0:
        raise ModelError(f"The paths must be driven for some time; got until = {until:g} s.")
    if flow < 0:
        raise ModelError(f"A nozzle sprays; give a flow mu >= 0 kg/s, got {flow:g}.")
    if mass < empty:
        raise ModelError(
            f"The robot with its liquid, m = {mass:g} kg, must not be lighter than without, m_empty = {empty:g} kg."
        )


def _open_loop(values: Mapping[Any, float], mass: float, method: str) -> tuple[Motion, Momentum]:
    """Constant torques through the end of the tank; and, with internal flow, the momentum."""
    robot = Sprayer(drive="wheels", values=values)
    system = compile(derive(robot.model, robot.formulation)).bind(values)
    state = system.state({"v": 1.0, "m": mass})
    motion = uninterrupted(simulate(system, state, 30.0, points=POINTS, method=method, progress=False))
    inner = Sprayer(drive="wheels", internal_flow=True, values=values)
    system = compile(derive(inner.model, inner.formulation)).bind(values)
    flowing = uninterrupted(simulate(system, {"v": 1.0, "m": mass}, 30.0, method=method, progress=False))
    return motion, momentum(inner, flowing)
