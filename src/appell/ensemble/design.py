"""Which runs: products of values, random samples, or a table; the same for the same seed, on any machine."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from numbers import Real
from typing import Any

import numpy as np

from appell.errors import ModelError
from appell.model.symbols import key
from appell.model.values import whole

SAMPLINGS = ("random", "latin", "sobol")
MOST = 100_000_000  # runs of one study, whose table is held in memory


@dataclass(frozen=True)
class Uniform:
    """Values between two numbers, all equally likely.

    Args:
        low: The smallest.
        high: The largest.

    Example:
        >>> Uniform(1, 3).at(0.25)
        1.5
    """

    low: float
    high: float

    def __post_init__(self) -> None:
        if not (_finite(self.low, self.high) and self.low < self.high):
            raise ModelError(f"Uniform(low, high) needs two finite numbers, low < high; got {self.low}, {self.high}.")

    def at(self, share: Any) -> Any:
        """The value below which the given share of all values lies."""
        return self.low + (self.high - self.low) * share


@dataclass(frozen=True)
class Normal:
    """Values about a mean, normally distributed.

    Args:
        mean: The mean.
        deviation: The standard deviation.
    """

    mean: float
    deviation: float

    def __post_init__(self) -> None:
        if not (_finite(self.mean, self.deviation) and self.deviation > 0):
            raise ModelError(
                f"Normal(mean, deviation) needs finite numbers, deviation > 0; got {self.mean}, {self.deviation}."
            )

    def at(self, share: Any) -> Any:
        """The value below which the given share of all values lies."""
        from scipy.special import ndtri

        return self.mean + self.deviation * ndtri(share)


@dataclass(frozen=True)
class LogUniform:
    """Positive values whose logarithm is equally likely between two ends: for scales that are not known.

    Args:
        low: The smallest, positive.
        high: The largest.
    """

    low: float
    high: float

    def __post_init__(self) -> None:
        if not (_finite(self.low, self.high) and 0 < self.low < self.high):
            raise ModelError(f"LogUniform(low, high) needs 0 < low < high; got {self.low}, {self.high}.")

    def at(self, share: Any) -> Any:
        """The value below which the given share of all values lies."""
        return self.low * (self.high / self.low) ** share


def _finite(*values: Any) -> bool:
    """Whether these are finite numbers."""
    try:
        return not any(isinstance(e, str) for e in values) and bool(np.isfinite([float(e) for e in values]).all())
    except (TypeError, ValueError):
        return False


DISTRIBUTIONS = (Uniform, Normal, LogUniform)


@dataclass(frozen=True, eq=False)
class Design:
    """A table of runs.

    Attributes:
        columns: For each varied name its value in every run; positions in a list of choices as whole numbers.
        choices: For names that are varied over things other than numbers: label -> thing.
        shape: The lengths of the axes of a product, in order; empty for samples and tables.
        axes: The names along each of those axes.
        words: How it was made.
    """

    columns: Mapping[str, np.ndarray]
    choices: Mapping[str, Mapping[str, Any]]
    shape: tuple[int, ...]
    axes: tuple[str, ...]
    words: str

    @property
    def runs(self) -> int:
        """How many."""
        return next(iter(self.columns.values())).size

    def part(self, first: int, last: int) -> dict[str, np.ndarray]:
        """The columns of some runs."""
        return {name: column[first:last] for name, column in self.columns.items()}


def design(
    over: Mapping[Any, Any] | Sequence[Mapping[Any, float]], runs: int | None, sampling: str, seed: int
) -> Design:
    """The runs that are asked for.

    Args:
        over: For each name values, choices or a distribution; or the runs one by one.
        runs: How many samples.
        sampling: How they are drawn.
        seed: Of the random numbers.
    """
    if sampling not in SAMPLINGS:
        raise ModelError(f"Unknown sampling {sampling!r}; use {', '.join(map(repr, SAMPLINGS))}.")
    seed = whole("The seed", seed, 0)
    if not isinstance(over, Mapping):
        _check_undrawn(runs, sampling, seed, "here the runs are listed one by one")
        return _listed(over)
    given = {key(name): value for name, value in over.items()}
    if len(given) < len(over):
        raise ModelError(f"The same name occurs twice in the sweep: {', '.join(sorted(map(key, over)))}.")
    if not given:
        raise ModelError('The sweep is empty: give what to vary, for example {"m": [1.0, 2.0, 3.0]}.')
    drawn = {name: value for name, value in given.items() if isinstance(value, DISTRIBUTIONS)}
    axes: dict[str, np.ndarray] = {}
    choices: dict[str, Mapping[str, Any]] = {}
    for name, value in given.items():
        if name in drawn:
            continue
        values, things = _axis(name, value)
        axes[name] = values
        if things:
            choices[name] = things
    shape = tuple(values.size for values in axes.values())
    if drawn:
        if runs is None:
            words = f"{', '.join(drawn)} {'is' if len(drawn) == 1 else 'are'}"
            raise ModelError(f"{words} drawn at random: say how many runs, for example runs=1000 (--runs 1000).")
        shape += (whole("The number of runs", runs),)
    else:
        _check_undrawn(runs, sampling, seed, f"the values given here make {prod(shape)} runs")
    check_size(prod(shape))
    samples = _samples(drawn, shape[-1], sampling, seed) if drawn else {}
    grids = np.meshgrid(*axes.values(), *([np.arange(shape[-1])] if drawn else []), indexing="ij")
    found = {name: grid.ravel() for name, grid in zip(axes, grids, strict=False)}
    if drawn:
        found.update({name: values[grids[-1].ravel()] for name, values in samples.items()})
    several = {name: v.size for name, v in axes.items() if v.size > 1}
    held = {name: f"{v[0]:.6g}" for name, v in axes.items() if name not in several}
    held |= {name: label for name in held if name in choices for label in choices[name]}
    words = [f"{sampling} samples of {', '.join(drawn)}, seed {seed}"] if drawn else []
    if drawn and several:
        words.append(f"at each of {', '.join(several)}")
    elif several:
        counts = ", ".join(f"{count} values of {name}" for name, count in several.items())
        words.append(f"all combinations of {counts}" if len(several) > 1 else counts)
    if held:
        words.append("with " + ", ".join(f"{name} = {value}" for name, value in held.items()))
    columns = {name: found[name] for name in given}
    names = (*axes, "sample") if drawn else tuple(axes)
    return Design(columns, choices, shape if len(shape) > 1 or not drawn else (), names, ", ".join(words))


def _check_undrawn(runs: int | None, sampling: str, seed: int, instead: str) -> None:
    """Refuse what is asked of random samples where none are drawn."""
    asked = {"runs": runs, "sampling": None if sampling == SAMPLINGS[0] else sampling, "seed": seed or None}
    if given := {name: value for name, value in asked.items() if value is not None}:
        words = ", ".join(f"{name}={value}" for name, value in given.items())
        raise ModelError(
            f"{words} goes with distributions, and {instead}. Leave {' and '.join(given)} out, or draw from "
            "appell.ensemble.Uniform(low, high) (--over NAME=uniform(low,high))."
        )


def check_size(runs: int) -> None:
    """Raise if there are more runs than one study holds."""
    if runs > MOST:
        raise ModelError(f"{runs:,} runs are more than one study holds, {MOST:,}; make several studies of them.")


def _axis(name: str, value: Any) -> tuple[np.ndarray, Mapping[str, Any]]:
    """The values along one axis; things that are no numbers become positions in a list of choices."""
    if hasattr(value, "rvs"):
        raise ModelError(
            f"{name!r} is given by {type(value).__name__} of SciPy; the distributions of a sweep are appell.ensemble."
            "Uniform, Normal and LogUniform. Or give values: distribution.rvs(100, random_state=0)."
        )
    if isinstance(value, Mapping):
        things = {str(label): thing for label, thing in value.items()}
    else:
        if isinstance(value, np.ndarray):
            check_size(value.size)
        several = isinstance(value, list | tuple | Iterator) or np.ndim(value) > 0
        listed = list(value) if several else [value]
        try:
            numbers = np.array([float(e) for e in listed])
        except (TypeError, ValueError):
            things = {}
            for thing in listed:
                label = getattr(thing, "__name__", None) or str(thing)
                things[label if label not in things else f"{label} ({len(things)})"] = thing
        else:
            if not numbers.size:
                raise ModelError(f"The sweep is empty: no values for {name!r}.")
            if not np.all(np.isfinite(numbers)):
                raise ModelError(f"The values of {name!r} must be finite, got {numbers[~np.isfinite(numbers)][0]}.")
            return numbers, {}
    if not things:
        raise ModelError(f"The sweep is empty: no values for {name!r}.")
    return np.arange(len(things)), things


def _samples(drawn: Mapping[str, Any], count: int, sampling: str, seed: int) -> dict[str, np.ndarray]:
    """Shares of each distribution by the wanted sampling, turned into values."""
    rng = np.random.default_rng(seed)
    if sampling == "random":
        shares = rng.random((count, len(drawn)))
    elif sampling == "latin":
        from scipy.stats import qmc  # takes a second to import

        shares = qmc.LatinHypercube(len(drawn), rng=rng).random(count)
    else:
        from scipy.stats import qmc

        whole = 1 << max(0, (count - 1).bit_length())  # the sequence is balanced at powers of two
        shares = qmc.Sobol(len(drawn), rng=rng).random(whole)[:count]
    shares = np.clip(shares, 2.0**-53, 1 - 2.0**-53)
    return {name: np.asarray(law.at(shares[:, i]), dtype=float) for i, (name, law) in enumerate(drawn.items())}


def _listed(over: Any) -> Design:
    """Runs given one by one: a list of dictionaries, or a pandas table."""
    if hasattr(over, "to_dict") and hasattr(over, "columns"):
        over = over.to_dict("records")
    if not isinstance(over, Sequence) or not all(isinstance(row, Mapping) for row in over):
        raise ModelError(
            'Give what to vary by name, for example {"m": [1.0, 2.0, 3.0]}, or the runs one by one, [{"m": 1.0}, ...]; '
            f"got {over!r}."
        )
    rows = list(over)
    if not rows or not rows[0]:
        raise ModelError('The sweep is empty: give at least one run, for example [{"m": 1.0}].')
    names = [key(name) for name in rows[0]]
    as_first = list(rows[0])
    for i, row in enumerate(rows):
        if list(row) == as_first:
            continue
        rows[i] = {key(name): value for name, value in row.items()}
        if set(rows[i]) != set(names):
            raise ModelError(
                f"Run {i} varies {', '.join(rows[i])}, run 0 varies {', '.join(names)}; give the same names."
            )
        rows[i] = {given: rows[i][name] for given, name in zip(as_first, names, strict=True)}
    columns = {}
    for given, name in zip(as_first, names, strict=True):
        values, things = _axis(name, [row[given] for row in rows])
        if things:
            run, thing = next((i, e) for i, e in enumerate(things.values()) if not isinstance(e, Real))
            raise ModelError(f"Run by run only numbers can be given; {name!r} is {thing!r} in run {run}.")
        columns[name] = values
    return Design(columns, {}, (), (), "as listed")
