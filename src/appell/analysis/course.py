"""The course of a motion: q, q', z and inputs as functions of time, from a run or from a table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.interpolate import make_interp_spline

from appell.code.state import names_of
from appell.code.system import System
from appell.errors import ModelError
from appell.model.symbols import Rate
from appell.model.values import unknown
from appell.motion.method import accuracy
from appell.motion.motion import Motion
from appell.motion.stretch import Stretch

FEWEST, MOST = 16, 1000  # panels


@dataclass(frozen=True, eq=False)
class Course:
    """A motion as a function of time, whatever it came from.

    Attributes:
        pieces: Edges of the panels of each smooth piece.
        look: q, q', z (as many rows as times) and inputs that the motion was driven with.
        stuck: First and last times of stretches that slide along a kink.
        rtol: What its accuracy lets one expect.
        half: The course of every second row of a table, where there are enough.
    """

    system: System
    pieces: list[np.ndarray]
    look: Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]
    rtol: float
    stuck: tuple[tuple[float, float], ...] = ()
    half: Course | None = None

    @classmethod
    def of(cls, system: System, motion: Motion | Mapping[str, Any]) -> Course:
        """The course of a motion or a table, in the order of the system's letters."""
        if isinstance(motion, Motion) and motion.stretches:
            slides = [s.times.size > 1 and _slides(s, motion) for s in motion.stretches]
            pairs = list(zip(motion.stretches, slides, strict=True))
            edges = [stretch.times for stretch, slide in pairs if stretch.times.size > 1 and not slide]
            if not edges:
                raise ModelError("Nothing of the motion can be checked: it has no duration, or sticks all the time.")
            stuck = tuple((float(stretch.times[0]), float(stretch.times[-1])) for stretch, slide in pairs if slide)
            rtol = accuracy(motion.info["method"])
            return cls(system, _panels(edges), _dense(system, motion), rtol, stuck)
        if isinstance(motion, Motion):
            return cls.of_table(system, motion.times, motion.columns)
        if not hasattr(motion, "keys") or "t" not in motion:
            raise ModelError(
                f"Got {type(motion).__name__} as a motion; give a Motion, or name -> values with times 't'."
            )
        return cls.of_table(system, motion["t"], {str(name): motion[name] for name in motion})

    @classmethod
    def of_table(cls, system: System, times: Any, columns: Mapping[str, Any], thin: bool = True) -> Course:
        """The course of a table, and of every second row of it."""
        times = np.asarray(times, dtype=float)
        if times.ndim != 1 or times.size < 8 or not np.all(np.diff(times) > 0):
            raise ModelError(
                f"A table must have at least eight increasing times to be differentiated, got {times.size}."
            )
        half = None
        if thin and times.size >= 16:
            rows = np.unique(np.append(np.arange(0, times.size, 2), times.size - 1))
            fewer = {
                name: values[rows] for name, e in columns.items() if (values := np.asarray(e)).shape == times.shape
            }
            half = cls.of_table(system, times[rows], fewer, thin=False)
        return cls(system, _panels([times]), _table(system, times, columns), 1e-6, (), half)

    @property
    def start(self) -> float:
        """First time."""
        return float(self.pieces[0][0])

    @property
    def end(self) -> float:
        """Last time."""
        return float(self.pieces[-1][-1])

    def parts(self, row: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Columns q, v, z of what `look` gives."""
        n = len(self.system.model.coordinates)
        return row[..., :n], row[..., n : 2 * n], row[..., 2 * n :]

    def left_out(self) -> tuple[str, ...]:
        """Where the rates jump between two pieces, and where the motion sticks."""
        found = []
        for before, after in pairwise(self.pieces):
            h = 1e-9 * min(before[-1] - before[-2], after[1] - after[0])
            _, v, _ = self.parts(self.look(np.array([before[-1] - h, after[0] + h]))[0])
            if after[0] == before[-1] and np.max(np.abs(v[1] - v[0])) > 1e-6 * max(1.0, float(np.max(np.abs(v)))):
                found.append(f"rates jump at t = {after[0]:.6g}")
        return (*found, *(f"sticks from t = {a:.6g} to {b:.6g}" for a, b in self.stuck))


def _slides(stretch: Stretch, motion: Motion) -> bool:
    """Whether a kink rests on zero along a stretch: modes stand behind the parameters, 0 is the one in between."""
    return bool(np.any(stretch.p[len(motion.system.model.parameters) :] == 0))


def _panels(pieces: list[np.ndarray]) -> list[np.ndarray]:
    """Edges of panels: the motion's own steps, halved where they are long, joined where they are many."""
    longest = (pieces[-1][-1] - pieces[0][0]) / FEWEST
    share = max(1, int(np.ceil(sum(edges.size - 1 for edges in pieces) / MOST)))
    result = []
    for edges in pieces:
        kept = np.append(edges[:-1:share], edges[-1])
        counts = np.maximum(1, np.ceil(np.diff(kept) / longest - 1e-9).astype(int))
        fine = [np.linspace(a, b, k + 1)[:-1] for a, b, k in zip(kept, kept[1:], counts, strict=False)]
        result.append(np.append(np.concatenate(fine), kept[-1]))
    return result


def _dense(system: System, motion: Motion) -> Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]:
    """The dense output of a motion, ordered by the names of the system."""
    known = motion.info["state"]
    for name in names_of(system.model):
        if name not in known:
            raise ModelError(unknown(name, known, f"quantity of the motion, but {system.model.name!r} needs it"))
    order = [known.index(name) for name in names_of(system.model)]
    letters = [s.label for s in system.equations.inputs]
    driven = [label for label in letters if label in motion.columns]
    every = [s.label for s in motion.system.model.inputs]
    values = {**motion.system.values, **system.values}
    if missing := [s for s in system.equations.inputs if s.label not in driven and s.label not in values]:
        system.numbers_of(missing)  # says which

    def look(times: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        w = np.array([[values.get(label, 0.0) for label in letters]] * times.size).reshape(times.size, len(letters))
        if driven:
            along = motion.inputs_at(times)
            for label in driven:
                w[:, letters.index(label)] = along[:, every.index(label)]
        return motion.states(times)[:, order], w

    return look


def _table(
    system: System, times: np.ndarray, columns: Mapping[str, Any]
) -> Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]:
    """Splines of degree seven through a table."""

    def spline(name: str) -> Any:
        values = np.asarray(columns[name], dtype=float)
        if values.shape != times.shape or not np.all(np.isfinite(values)):
            raise ModelError(f"The column {name!r} needs one finite number for each of the {times.size} times.")
        return make_interp_spline(times, values, k=7)

    curves: list[Any] = []
    for letter in (*system.model.coordinates, *(q.rate for q in system.model.coordinates), *system.model.states):
        if letter.label in columns:
            curves.append(spline(letter.label))
        elif isinstance(letter, Rate) and letter.base.label in columns:
            curves.append(spline(letter.base.label).derivative())
        else:
            raise ModelError(unknown(letter.label, list(columns), "column of the table"))
    letters = system.equations.inputs
    drives = [spline(s.label) if s.label in columns else None for s in letters]
    constants = system.numbers_of([s for s, drive in zip(letters, drives, strict=True) if drive is None])

    def look(at: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        rest = iter(constants)
        w = [drive(at) if drive is not None else np.full(at.size, next(rest)) for drive in drives]
        return np.array([curve(at) for curve in curves]).T, np.array(w).reshape(len(letters), at.size).T

    return look
