"""The region of attraction of a closed loop: which starts come back, and how far a Lyapunov function vouches for it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
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
from appell.ensemble.outcomes import OUTCOMES
from appell.ensemble.sweep import sweep
from appell.errors import ControlError, ModelError
from appell.kinematics.consistency import project_positions
from appell.model.values import check_kind, floats, number, numbers, unknown, whole
from appell.motion.events import Event

HOME = 1e-3  # of the box, within which a run counts as come back
FAR = 1e3  # times as far out as the farthest start, where a run counts as gone for good
LENGTHS = 8  # of runs, each twice the one before, that are tried while a run comes nearer
PATIENCE = 3  # lengths at which a run comes no nearer, after which it is given up: one may be less than a swing
LOOKS = 65  # times of a run at which is seen whether it does
NEARER = 0.99  # of the largest V in its second quarter: what it may reach in its second half
SAME = 1e-6  # difference of positions on one branch
AWAY = "were still away"
WAYS = {"DONE": AWAY, "EVENT": "went far out"}


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
        until: Length of the longest runs.
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
    of the box, and the dependent coordinates are on the branch of the equilibrium. A run a thousand times as far out as
    the farthest start is not followed further. Runs are as long as the slowest root needs to shrink by 10^5. With
    saturated inputs it may take longer: a run that is then neither back nor far out is followed for twice as long, and
    so on, at most 128 times as long, while it comes nearer. The level is an estimate: it is checked at sampled
    directions and radii, not proved between them.

    Args:
        feedback: The closed loop, saturated or not.
        box: For each state to vary the largest deviation from the equilibrium.
        runs: How many starts.
        grid: Whether the starts are an even grid instead of random.
        until: Length of all runs; as said above if left out.
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
    ends = [number("until", until)] if until is not None else [2**k * 12.0 / slowest for k in range(LENGTHS)]
    runs, samples, rng = whole("runs", runs), whole("samples", samples), np.random.default_rng(whole("seed", seed, 0))
    largest = np.array(list(sizes.values()))
    starts = _grid(sizes, runs) if grid else rng.uniform(-largest, largest, (runs, largest.size))
    converged, reasons, end = _returns(feedback, sizes, starts, ends, progress)
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
    feedback: Feedback, sizes: Mapping[str, float], starts: np.ndarray, ends: Sequence[float], progress: bool | None
) -> tuple[np.ndarray, dict[str, int], float]:
    """Which starts come back, how many runs ended in which way, and the last of the ends that was needed."""
    names, lin = tuple(sizes), feedback.lin
    wish = feedback.kept_and_near(dict(zip(names, starts.T, strict=True)))
    good, states = _consistent(feedback, wish, len(starts))
    ways = np.full(len(starts), "cannot be assembled", dtype=object)
    scale = np.array([sizes.get(s, max(sizes.values())) for s in lin.states])
    away, end = far_out(feedback, names, starts), ends[0]
    under, idle = np.flatnonzero(good), np.zeros(len(starts), dtype=int)
    for end in ends:
        options = {"until": end, "points": LOOKS, "rtol": 1e-8, "atol": 1e-10, "events": [away], "progress": progress}
        begin = [State(lin.model, states[i]) for i in under]
        if not begin:
            break
        study = sweep(feedback.system, {"start": begin}, corners="cross", **options)
        gaps = np.stack([np.asarray(study[s]) - lin.tangent.value(s) for s in lin.states], axis=2)
        ways[under] = [WAYS.get(OUTCOMES[k].name, OUTCOMES[k].name) for k in study.codes]
        done = ways[under] == AWAY
        home = done & np.all(np.abs(gaps[:, -1]) <= HOME * scale, axis=1)
        last = {s: np.asarray(study[s])[home, -1] for s in (*lin.states, *(q.label for q in lin.model.coordinates))}
        ways[under[home]] = np.where(_beside(feedback, last), "came back", "came to rest elsewhere")
        V = np.einsum("bti,ij,btj->bt", gaps, feedback.S, gaps)
        nearer = np.max(V[:, LOOKS // 2 :], axis=1) < NEARER * np.max(V[:, LOOKS // 4 : LOOKS // 2], axis=1)
        idle[under] = np.where(nearer, 0, idle[under] + 1)
        under = under[done & ~home & (idle[under] < PATIENCE)]
    converged = ways == "came back"
    return converged, {"came back": int(np.sum(converged)), **Counter(ways)}, end


def _consistent(feedback: Feedback, wish: tuple[Any, Any], count: int) -> tuple[np.ndarray, np.ndarray]:
    """States on the constraints that keep some columns of numbers and are near to the rest, and where there are any."""
    keep, near = wish
    system = feedback.lin.at.system
    good, rows = np.zeros(count, dtype=bool), np.zeros((count, feedback.lin.at.state.array.size))
    for some in side_by_side(np.arange(count)):
        these = Bindings(system.code, system.values, np.tile(system.p, (some.size, 1)))
        kept = {s: np.broadcast_to(value, count)[some] for s, value in keep.items()}
        found = consistent_states(these, kept, near, 0.0)
        good[some[found.good]], rows[some] = True, found.array
    return good, rows


def _beside(feedback: Feedback, last: Mapping[str, np.ndarray]) -> np.ndarray:
    """Whether states are on the branch of the equilibrium: dependent coordinates as they would be near it."""
    lin, labels = feedback.lin, [q.label for q in feedback.lin.model.coordinates]
    q = np.stack([last[s] for s in labels], axis=1)
    keep, near = feedback.kept_and_near({s: last[s] - lin.tangent.value(s) for s in lin.states})
    good, rows = _consistent(feedback, ({s: last.get(s, value) for s, value in keep.items()}, near), len(q))
    return good & np.all(np.abs(rows[:, : len(labels)] - q) <= SAME * (1 + np.abs(q)), axis=1)


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
