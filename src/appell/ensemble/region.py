"""The region of attraction of a closed loop: which starts come back, and how far a Lyapunov function vouches for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import sympy as sp

from appell.analysis.certificate import Verdict
from appell.code.bindings import Bindings, side_by_side
from appell.code.starting import consistent_states
from appell.code.state import State
from appell.code.system import System, compile
from appell.control.feedback import Feedback
from appell.ensemble.sweep import sweep
from appell.errors import ControlError, ModelError
from appell.kinematics.consistency import project_positions
from appell.model.values import check_kind, floats, number, numbers, unknown, whole
from appell.motion.events import Event

HOME = 1e-3  # of the box, within which a run counts as come back
FAR = 1e3  # times as far out as the farthest start, where a run counts as gone for good


@dataclass(frozen=True, eq=False, kw_only=True)
class Region:
    r"""What was found about the region of attraction.

    Attributes:
        feedback: The closed loop.
        names: The states whose starts were varied.
        starts: Deviations from the equilibrium, a row for each run.
        converged: Which runs came back.
        reasons: How the others ended, counted.
        level: Largest c with $\dot V < 0$ on $0 < V = \eta'S\eta \le c$ at all sampled places, on the constraints.
        samples: How many places that estimate rests on.
        until: Length of the runs.
    """

    feedback: Feedback
    names: tuple[str, ...]
    starts: np.ndarray
    converged: np.ndarray
    reasons: Mapping[str, int]
    level: float
    samples: int
    until: float

    @property
    def share(self) -> float:
        """Which share of the runs came back."""
        return float(np.mean(self.converged)) if self.converged.size else float("nan")

    def vouched(self, deviations: np.ndarray) -> np.ndarray:
        """Whether starts lie in the level set of the Lyapunov function.

        Args:
            deviations: Of the varied states, a row for each start; the others are at rest.
        """
        deviations = np.atleast_2d(floats(deviations, "Deviations"))
        if deviations.shape[1:] != (len(self.names),):
            raise ModelError(
                f"A start has deviations of {', '.join(self.names)}; got rows of shape {deviations.shape[1:]}."
            )
        columns = [self.feedback.lin.states.index(s) for s in self.names]
        S = self.feedback.S[np.ix_(columns, columns)]
        return np.einsum("ij,jk,ik->i", deviations, S, deviations) <= self.level

    def __repr__(self) -> str:
        ended = ", ".join(f"{count} {reason}" for reason, count in self.reasons.items())
        return (
            f"region of attraction: {int(np.sum(self.converged))} of {self.converged.size} starts in "
            f"{', '.join(self.names)} came back within {self.until:g} s ({ended})\n"
            f"  V = eta'S eta decreases up to V = {self.level:.6g} at all {self.samples} sampled places"
        )

    def plot(self, path: str | Path | None = None) -> Any:
        """Draw the starts over the first two varied states: those that came back, and the level set.

        Args:
            path: A file to write: .html (interactive), .svg, .pdf or .png.

        Returns:
            The plot: in a notebook it shows itself; `figure()` is Matplotlib's, `plotly()` Plotly's.
        """
        from appell.view.studies import region_plot

        return region_plot(self).written(path)


def region_of_attraction(
    feedback: Feedback,
    box: Mapping[Any, float],
    *,
    runs: int = 1000,
    grid: bool = False,
    until: float | None = None,
    samples: int = 2000,
    seed: int = 0,
    progress: bool | None = None,
) -> Region:
    r"""Simulate the nonlinear closed loop from many starts, and find how far $V = \eta'S\eta$ decreases.

    The runs are made side by side as machine code. A run has come back if at its end every state is within a thousandth
    of the box, or has shrunk as the slowest root lets it; one that is a thousand times as far out as the farthest start
    is not followed further. The level set is an estimate: it is checked at samples of
    directions and radii, not proved between them.

    Args:
        feedback: The closed loop, saturated or not.
        box: For each state to vary the largest deviation from the equilibrium.
        runs: How many starts.
        grid: Whether the starts are an even grid instead of random.
        until: Length of the runs; what the slowest root needs to shrink by 10^5 if left out.
        samples: How many directions the Lyapunov function is tried in.
        seed: Seed of the random numbers.
        progress: Whether to show a bar; on terminals by default.

    Returns:
        The region.
    """
    check_kind(feedback, Feedback, "a feedback, control.lqr(lin, ...) or control.place(lin, ...)")
    if feedback.rate is not None:
        raise ControlError(
            "The region of attraction is that of a continuous feedback; run a sampled one from many starts by "
            "sweep(feedback.plant, {'start': [...]}, control=feedback)."
        )
    sizes = _sizes(feedback, box)
    slowest = _slowest(feedback)
    end = 12.0 / slowest if until is None else number("until", until)
    runs, samples, rng = whole("runs", runs), whole("samples", samples), np.random.default_rng(whole("seed", seed, 0))
    largest = np.array(list(sizes.values()))
    starts = _grid(sizes, runs) if grid else rng.uniform(-largest, largest, (runs, largest.size))
    converged, reasons = _returns(feedback, sizes, starts, end, progress)
    level, tried = lyapunov_level(feedback, samples, rng)
    return Region(
        feedback=feedback,
        names=tuple(sizes),
        starts=starts,
        converged=converged,
        reasons=reasons,
        level=level,
        samples=tried,
        until=end,
    )


def _sizes(feedback: Feedback, box: Mapping[Any, float]) -> dict[str, float]:
    """The largest deviation of each varied state."""
    sizes = numbers(box)
    for s in sizes:
        if s not in feedback.lin.states:
            raise ModelError(unknown(s, feedback.lin.states, "state of the linearisation"))
    if not sizes or min(sizes.values()) <= 0:
        raise ModelError(f"box= needs at least one state with a positive deviation, got {box!r}.")
    return sizes


def _slowest(feedback: Feedback) -> float:
    """The rate at which the slowest root decays."""
    slowest = float(np.min(-feedback.roots.real))
    if slowest > 0:
        return slowest
    if feedback.certificate.verdict is Verdict.FAMILY:
        raise ControlError(
            "The closed loop tends to a family of steady motions, not to one of them: it has no region of attraction. "
            f"{feedback.certificate.sentence}"
        )
    raise ControlError("The closed loop is not asymptotically stable in the first approximation: nothing to attract.")


def _grid(sizes: Mapping[str, float], runs: int) -> np.ndarray:
    """About so many starts, evenly spread over the box."""
    side = max(2, round(runs ** (1 / len(sizes))))
    lines = [np.linspace(-size, size, side) for size in sizes.values()]
    return np.stack([e.ravel() for e in np.meshgrid(*lines, indexing="ij")], axis=1)


def _returns(
    feedback: Feedback, sizes: Mapping[str, float], starts: np.ndarray, end: float, progress: bool | None
) -> tuple[np.ndarray, dict[str, int]]:
    """Which starts come back, and how many runs ended in which way."""
    lin, names = feedback.lin, tuple(sizes)
    states, members, system = [], [], lin.at.system
    for some in side_by_side(np.arange(len(starts))):
        moved = dict(zip(names, starts[some].T, strict=True))
        these = Bindings(system.code, system.values, np.tile(system.p, (some.size, 1)))
        found = consistent_states(these, *feedback.kept_and_near(moved), 0.0)
        states += [State(system.model, found.array[i]) for i in found.good]
        members += some[found.good].tolist()
    reasons = {"cannot be assembled": len(starts) - len(members)} if len(members) < len(starts) else {}
    converged = np.zeros(len(starts), dtype=bool)
    if members:
        last, ended = _ends(feedback, states, end, far_out(feedback, names, starts), progress)
        gaps = np.abs(last - [lin.tangent.value(s) for s in lin.states])
        scale = np.array([sizes.get(s, max(sizes.values())) for s in lin.states])
        converged[members] = np.all(gaps <= HOME * scale, axis=1)
        reasons |= {outcome: count for outcome, count in ended.items() if outcome not in ("DONE", "EVENT")}
    reasons = {"came back": int(np.sum(converged)), **reasons}
    away = len(starts) - sum(reasons.values())
    return converged, {**reasons, **({"did not": away} if away else {})}


def _ends(
    feedback: Feedback, states: list[Any], end: float, away: Event, progress: bool | None
) -> tuple[np.ndarray, Mapping[str, int]]:
    """The last states of runs, and how they ended."""
    names, options = feedback.lin.states, {"until": end, "points": 2, "rtol": 1e-8, "atol": 1e-10}
    study = sweep(feedback.system, {"start": states}, corners="cross", progress=progress, events=[away], **options)
    return np.stack([np.asarray(study[s])[:, -1] for s in names], axis=1), study.outcomes


def far_out(feedback: Feedback, names: tuple[str, ...], starts: np.ndarray) -> Event:
    """Where a run is FAR times as far out, by V, as the farthest start: a pole that fell may spin ever faster.

    Args:
        feedback: The closed loop.
        names: The states in which the starts deviate.
        starts: Deviations, a row for each start.
    """
    tangent, states = feedback.lin.tangent, feedback.lin.states
    letters = {s.label: s for s in tangent.equations.states}
    gaps = sp.Matrix([tangent.in_rates(letters[s]) - tangent.value(s) for s in states])
    moved = [states.index(s) for s in names]
    S = feedback.S[np.ix_(moved, moved)]
    farthest = float(np.max(np.einsum("bi,ij,bj->b", starts, S, starts)))
    farthest = max(farthest, 1e-9 * float(np.linalg.norm(S) * np.max(starts**2)))  # along a family V is rounding
    return Event((gaps.T * sp.Matrix(feedback.S) * gaps)[0] - FAR**2 * farthest, 1, stop=True, name="far out")


def lyapunov_level(feedback: Feedback, samples: int, rng: np.random.Generator) -> tuple[float, int]:
    """The largest sampled level of V = eta'S eta below which V' < 0 along the nonlinear closed loop, on F = 0.

    Args:
        feedback: The closed loop.
        samples: How many directions.
        rng: Random numbers.
    """
    lin, system = feedback.lin, _in_its_states(feedback)
    root = np.linalg.cholesky(feedback.S + 1e-14 * np.linalg.norm(feedback.S) * np.eye(len(lin.states)))
    directions = rng.normal(size=(samples, len(lin.states)))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    rays = np.linalg.solve(root.T, directions.T)  # V = radius^2 along each
    names = [s.label for s in system.equations.states]
    rest = system.to_x(lin.at.state)
    rows = [names.index(s) for s in lin.states]
    places = _OnConstraints(feedback, names)
    tried = 0

    def decreases(radius: float) -> bool:
        x, on = places(rest, rays * radius)
        rate = system.rhs(0.0, x)[rows]
        growth = np.einsum("ib,ij,jb->b", x[rows] - rest[rows][:, None], feedback.S, rate)
        return bool(np.all(on & np.isfinite(growth) & (growth < 0)))

    low = smallest = high = 1e-3 * float(np.sqrt(np.min(np.linalg.eigvalsh(feedback.S))))
    while high < 1e6 * smallest:  # outwards, until somewhere V no longer decreases
        tried += samples
        if not decreases(high):
            break
        low, high = high, 1.15 * high
    for _ in range(12):  # the place between
        tried += samples
        middle = (low + high) / 2
        low, high = (middle, high) if decreases(middle) else (low, middle)
    return (float(low**2) if low > smallest else 0.0), tried


def _in_its_states(feedback: Feedback) -> System:
    """The closed loop in speeds that are states of the linearisation, which may be in another split."""
    system, equations = feedback.system, feedback.lin.tangent.equations
    names = {s.label for s in system.equations.states}
    if names.issuperset(feedback.lin.states):
        return system
    return compile(equations.close(feedback.laws)).bind(system.values)


class _OnConstraints:
    """States x = (q, u, z) with given deviations of the independent ones, dependent positions by Newton's method."""

    def __init__(self, feedback: Feedback, names: list[str]) -> None:
        self.lin, self.names = feedback.lin, names
        self.mechanics, self.p = feedback.system.equations.mechanics, feedback.system.p
        labels = [s.label for s in self.mechanics.model.coordinates]
        self.n = len(labels)
        held = {*self.lin.states, *self.lin.dropped}
        self.free = np.array([i for i, s in enumerate(labels) if s not in held], dtype=int)

    def __call__(self, rest: np.ndarray, deviations: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """x, a column for each deviation, and which of them lie on the constraints."""
        count = deviations.shape[1]
        x = np.repeat(rest[:, None], count, axis=1)
        for row, s in enumerate(self.lin.states):
            x[self.names.index(s)] += deviations[row]
        found, left = project_positions(self.mechanics, 0.0, x[: self.n].T, self.p, self.free, reach=0.5)
        x[: self.n] = found.T
        return x, left < 1e-10
