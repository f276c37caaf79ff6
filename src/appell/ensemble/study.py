"""A study: what a sweep gave, by name, with statistics, failures and pictures."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from appell.ensemble.outcomes import OUTCOMES, WORDS
from appell.ensemble.store import MEANINGS, check_whole, read_about, read_journal
from appell.errors import AppellError, ModelError, StoreError
from appell.files import check_zarr, path_of, refuse_paths, whole
from appell.model.symbols import key
from appell.model.values import unknown
from appell.model.values import whole as whole_number
from appell.motion.outcome import Outcome
from appell.motion.versions import in_words

if TYPE_CHECKING:
    from appell.motion.motion import Motion

    DataArray = Dataset = DataFrame = Any

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
NAMES = {-1: "NOT_MADE", **{i: outcome.name for i, outcome in enumerate(OUTCOMES)}}
STOPPED = OUTCOMES.index(Outcome.EVENT)
SAID = 3  # failures whose reasons a summary gives
BLOCK = 2**24  # numbers that statistics look at in one go


class Study:
    """The runs of a sweep as one labelled dataset.

    `study["q1"]` gives an array over run and time, `study.dataset` everything.

    Args:
        dataset: The labelled data.
        info: What was swept and how, as plain data.
        reasons: For each run why it failed, in words; empty for those that ended as wished.
        path: The folder on disk, if there is one.
        again: Makes one run again, by its number; None where only tables are left.
    """

    def __init__(
        self,
        dataset: Dataset,
        info: Mapping[str, Any],
        reasons: DataArray,
        path: Path | None = None,
        again: Callable[[int], Motion] | None = None,
    ) -> None:
        self.dataset, self.info, self.path = dataset, dict(info), path
        self._reasons, self._again = reasons, again

    def __len__(self) -> int:
        return int(self.dataset.sizes["run"])

    def __contains__(self, name: Any) -> bool:
        """Whether there is a quantity of this name or symbol."""
        return key(name) in self.dataset.variables

    def __getitem__(self, name: Any) -> DataArray:
        """A quantity by name or symbol."""
        label = key(name)
        if label not in self.dataset.variables:
            raise ModelError(unknown(label, list(map(str, self.dataset.variables)), "quantity of this study"))
        return self.dataset[label]

    @cached_property
    def codes(self) -> np.ndarray:
        """How each run ended, as positions in `appell.Outcome`; -1 if it was not made."""
        return np.asarray(self.dataset["outcome"].values)

    @property
    def outcomes(self) -> dict[str, int]:
        """How many runs ended in which way."""
        found, counts = np.unique(self.codes, return_counts=True)
        return {NAMES[int(code)]: int(count) for code, count in zip(found, counts, strict=True)}

    @property
    def ok(self) -> np.ndarray:
        """Which runs ended as wished."""
        good = [i for i, outcome in enumerate(OUTCOMES) if outcome.ok]
        return np.isin(self.codes, good)

    @property
    def failed(self) -> np.ndarray:
        """Which runs did not end as wished."""
        return (self.codes >= 0) & ~self.ok

    def select(self, which: Any) -> Study:
        """The study of some of its runs, which keep their numbers.

        Args:
            which: For each run whether it is one of them, or their numbers.

        Example:
            >>> study.select(study["l"] == 0.5).statistics("q1")  # doctest: +SKIP
        """
        asked = np.asarray(which)
        if asked.dtype == bool and asked.shape == (len(self),):
            places = np.flatnonzero(asked)
        elif asked.dtype.kind in "iu" and asked.ndim == 1:
            places = np.unique(self.dataset["run"].to_index().get_indexer(asked))
        else:
            raise ModelError(
                f"Give for each of {_runs(len(self))} whether it is chosen, study.select(study['m'] > 1), or the "
                f"numbers of some, study.select([3, 5]); got {type(which).__name__} of shape {asked.shape}."
            )
        if not places.size or places[0] < 0:
            raise ModelError(f"There are no such runs among the {_runs(len(self))} of this study.")
        words = f"{self.info['words']}, {len(places)} chosen of {len(self)}"
        info = {**self.info, "words": words, "shape": [], "axes": [], "reasons": {}}
        return Study(self.dataset.isel(run=places), info, self._reasons.isel(run=places), self.path, self._again)

    def motion(self, run: int) -> Motion:
        """One run made again, as a motion to check, plot, animate and report.

        Args:
            run: Its number.

        Example:
            >>> study.motion(study.failures["run"][0]).animate("why.html")  # doctest: +SKIP
        """
        number = whole_number("run", run, least=0)
        if number not in self.dataset["run"].to_index():
            raise ModelError(f"There is no run {number} among the {_runs(len(self))} of this study.")
        if self._again is None:
            raise StoreError(
                "A study that was opened holds tables, and not the system that made them. Make it again by the sweep "
                "that wrote it, sweep(..., out='study.zarr', resume=True), which takes what is there, and ask that."
            )
        return self._again(number)

    @property
    def counted(self) -> str:
        """Of how many runs there are statistics and plots, in words: those that ended as wished."""
        good = int(self.ok.sum())
        return _runs(good) if good == len(self) else f"{good} of {_runs(len(self))}"

    @property
    def complete(self) -> bool:
        """Whether every run was made."""
        return bool((self.codes >= 0).all())

    @property
    def failures(self) -> DataFrame:
        """The runs that did not end as wished: their varied values, outcome, time and reason."""
        import pandas

        failed = self.failed
        table = pandas.DataFrame(
            {name: self.dataset[name].values[failed] for name in ("run", *self.info["varied"].values())}
        )
        outcomes = [NAMES[int(code)] for code in self.codes[failed]]
        return table.assign(outcome=outcomes, t=self.dataset["end"].values[failed], reason=self._why(failed))

    def _why(self, which: np.ndarray) -> list[str]:
        """Why some runs failed; only their chunks are read."""
        return list(map(str, self._reasons.isel(run=which).values))

    @property
    def events(self) -> DataFrame:
        """Of every event: in how many runs it happened, when first, how often in all, and how many runs it stopped."""
        import pandas

        names = self.info["events"]
        table = pandas.DataFrame(index=pandas.Index(names, name="event"))
        if not names:
            return table
        first, counts = self.dataset["event_time"].values, self.dataset["event_count"].values
        happened, data = counts > 0, np.ma.masked_invalid(first)
        stopped = (first == self.dataset["end"].values[:, None]) & (self.codes == STOPPED)[:, None]
        return table.assign(
            runs=happened.sum(axis=0),
            earliest=data.min(axis=0).filled(np.nan),
            mean=data.mean(axis=0).filled(np.nan),
            latest=data.max(axis=0).filled(np.nan),
            times=np.where(happened, counts, 0).sum(axis=0),
            stopped=stopped.sum(axis=0),
        )

    def to_pandas(self) -> DataFrame:
        """A pandas table with a row for each run: what was varied, how and when it ended, and with which values.

        Of every event when it first happened, `name.time`, and how often, `name.count`.
        """
        import pandas

        names = [*self.info["varied"].values(), "outcome", "end", *(f"{label}.end" for label in self.info["columns"])]
        table = pandas.DataFrame({name: self.dataset[name].values for name in names}, self.dataset["run"].to_index())
        for k, event in enumerate(self.info["events"]):
            for what in ("time", "count"):
                table[f"{event}.{what}"] = self.dataset[f"event_{what}"].values[:, k]
        return table.assign(outcome=[NAMES[int(code)] for code in self.codes])

    @property
    def product(self) -> Dataset:
        """The dataset with one dimension for each varied name, where the runs are all combinations of values."""
        import xarray

        shape, axes = self.info["shape"], self.info["axes"]
        if len(shape) != len(axes) or not shape:
            raise AppellError("The runs are samples or a list; only all combinations of values have axes.")
        names = [self.info["varied"].get(axis, axis) for axis in axes]
        index = np.unravel_index(np.arange(len(self)), shape)
        levels = {}
        for name, position, length in zip(names, index, shape, strict=True):
            if name in self.dataset.coords:
                values = self.dataset[name].values
                along = [values[np.flatnonzero(position == i)[0]] for i in range(length)]
                levels[name] = (name, along, self.dataset[name].attrs)
            else:
                levels[name] = list(range(length))
        arrays = {}
        for name, array in self.dataset.variables.items():
            if "run" not in array.dims or name in (*names, "run"):
                continue
            values = array.values.reshape(*shape, *array.shape[1:])
            arrays[name] = ((*names, *array.dims[1:]), values, array.attrs)
        rest = {name: self.dataset[name] for name in self.dataset.coords if "run" not in self.dataset[name].dims}
        return xarray.Dataset(arrays, {**levels, **rest}, self.dataset.attrs)

    def statistics(self, *names: Any) -> Dataset:
        """Mean, deviation, least, greatest and quantiles over the runs that ended as wished, at every time.

        A run that an event stopped counts up to there.

        Args:
            names: What to look at; all quantities of the table if left out.
        """
        import xarray

        labels = [key(name) for name in names] or list(self.info["columns"])
        kinds = ["mean", "deviation", "least", "greatest", *(f"{q:.0%} quantile" for q in QUANTILES), "runs"]
        good, arrays = np.flatnonzero(self.ok), {}
        for label in labels:
            array = self[label]
            if array.dims != ("run", "t"):
                raise ModelError(
                    f"{label!r} has no time axis; there are statistics of: {', '.join(self.info['columns'])}. Those of "
                    "values at the end are study.to_pandas().describe()."
                )
            found = np.full((len(kinds), array.sizes["t"]), np.nan)
            width = max(1, BLOCK // max(1, len(self)))
            for first in range(0, array.sizes["t"], width):
                block = array[:, first : first + width].values[good]
                found[:, first : first + width] = _statistics(block)
            arrays[label] = (("statistic", "t"), found, array.attrs)
        return xarray.Dataset(arrays, {"statistic": kinds, "t": self.dataset["t"]})

    def plot(self, *names: Any, against: Any = None, path: str | Path | None = None) -> Any:
        """Draw quantities over time as bands of quantiles, or their last values against what was varied.

        Of what has one number for each run, as `q1.end` or `steps`, the distribution is drawn. Values varied over
        decades have a logarithmic axis.

        Args:
            names: What to draw; all coordinates if left out.
            against: A varied name: values at the end over it. Two names: a map.
            path: A file to write: .html (interactive), .svg, .pdf or .png.

        Returns:
            The plot: in a notebook it shows itself; `figure()` is Matplotlib's, `plotly()` Plotly's.
        """
        from appell.view.studies import study_plot

        refuse_paths(names)
        return study_plot(self, [key(name) for name in names], against).written(path)

    def save(self, path: str | Path) -> Path:
        """Write a study that is in memory to a file.

        Args:
            path: A name that ends in .nc (NetCDF), or in .csv for the table of `to_pandas` alone.
        """
        path = path_of(path)
        if path.suffix == ".csv":
            with whole(path) as part:
                self.to_pandas().to_csv(part)
            return path
        if path.suffix != ".nc":
            raise AppellError(
                f"Give a path that ends in .nc or .csv, got {path.name!r}; Zarr folders are written by out=..."
            )
        data = self.dataset.drop_vars("event", errors="ignore")  # its names are in the description
        for name, labels in self.info["labels"].items():
            data = data.assign_coords({name: ("run", [labels.index(e) for e in data[name].values])})
        failures = self.failures[["run", "reason"]].to_dict("records")
        described = {"appell": json.dumps(self.info), "failures": json.dumps(failures)}
        try:
            with whole(path) as part:
                data.assign_attrs(described).to_netcdf(part, engine="scipy")
        except ValueError as error:  # of names, mostly
            raise AppellError(f"The study cannot be written as NetCDF: {error}.") from error
        return path

    def summary(self) -> str:
        """A few lines: what was swept, how, how the runs ended."""
        info, counts = self.info, self.outcomes
        about = [f"t = {info['t0']:g} .. {info['until']:g} s", f"{info['points']} times", *self._integrator]
        lines = [f"{info['model']}: {_runs(len(self))}, {info['words']}"]
        lines.append(", ".join([*about, info["where"]] if info.get("where") else about))
        if len(makers := info.get("makers", [])) > 1:
            lines.append(f"begun by {in_words(makers[0])}; gone on with by {'; by '.join(map(in_words, makers[1:]))}")
        lines += [f"one by one, because {reason}: {_runs(count)}" for reason, count in info["reasons"].items()]
        lines.append(", ".join(f"{count} {name}" for name, count in counts.items()))
        for name, event in self.events.iterrows():
            lines.append(f"{name}: in {event['runs']:.0f} of {_runs(len(self))}")
            if event["runs"]:
                ends = dict.fromkeys(f"{event[end]:.6g}" for end in ("earliest", "latest"))
                lines[-1] += f", first at {' .. '.join(ends)} s"
                lines[-1] += f", {event['times']:.0f} times in all" if event["times"] > 1 else ", once in all"
            if event["stopped"]:
                lines[-1] += f"; stopped {_runs(int(event['stopped']))}"
        failed = np.flatnonzero(self.failed)
        said, numbers = failed[:SAID], self.dataset["run"].values
        lines += [f"run {run}: {reason}" for run, reason in zip(numbers[said], self._why(said), strict=True)]
        if failed.size > SAID:
            lines.append(f"... {failed.size - SAID} more in study.failures")
        return "\n".join(lines)

    @property
    def _integrator(self) -> list[str]:
        """Words about how the runs were made."""
        routes, method = self.dataset["lane"].values, self.info["method"]
        if (routes == 1).any():
            words = "lanes of dop853"
        elif method != "auto":
            words = f"method {method!r}"
        else:
            words = "run by run" if (routes == 0).any() else ""
        return [f"{words} at {self.info['rtol']:g}"] if words else []

    def __repr__(self) -> str:
        return self.summary()

    def _repr_html_(self) -> str:
        from appell.reporting.notebook import study_html

        return study_html(self)


def _runs(count: int) -> str:
    return f"{count} run" if count == 1 else f"{count} runs"


def _statistics(block: np.ndarray) -> np.ndarray:
    """Rows of statistics for the columns of a block of runs; what is not finite does not count."""
    import warnings

    if not len(block):
        block = np.full((1, block.shape[1]), np.nan)
    block = np.where(np.isfinite(block), block, np.nan)
    count = np.isfinite(block).sum(axis=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # of columns without any run
        rows = [
            np.nanmean(block, axis=0),
            np.nanstd(block, axis=0, ddof=1),
            np.nanmin(block, axis=0, initial=np.inf),
            np.nanmax(block, axis=0, initial=-np.inf),
            *np.nanquantile(block, QUANTILES, axis=0),
        ]
    found = np.array([*rows, count], dtype=float)
    found[:-1, count == 0] = np.nan
    return found


def assembled(
    read: Any, layout: Any, info: Mapping[str, Any], path: Path | None, again: Callable[[int], Motion] | None = None
) -> Study:
    """A study of arrays in memory or on disk."""
    import xarray

    if path is not None:
        data = _on_disk(path)
    else:
        arrays = {name: (dims, read(name), layout.attributes(name)) for name, (dims, *_) in layout.arrays().items()}
        columns = {name: ("run", values, layout.attributes(name)) for name, values in layout.columns.items()}
        data = xarray.Dataset(arrays, {"t": layout.grid, "run": np.arange(layout.runs), **columns})
        data.attrs["appell"] = json.dumps(info)
    return _labelled(data, info, path, again)


def _labelled(
    data: Dataset, info: Mapping[str, Any], path: Path | None, again: Callable[[int], Motion] | None = None
) -> Study:
    """A study of a dataset, with words for the numbers in it."""
    coordinates: dict[str, Any] = {name: data[name] for name in info["varied"].values()}
    for name, labels in info["labels"].items():
        coordinates[name] = ("run", np.array(labels)[data[name].values.astype(int)])
    if info["events"]:
        coordinates["event"] = info["events"]
    data = data.assign_coords(coordinates)
    for name in set(MEANINGS) & set(data.variables):
        data[name].attrs.update(MEANINGS[name])
    data["outcome"].attrs["flag_values"] = np.array(MEANINGS["outcome"]["flag_values"], dtype=np.int8)
    return Study(data.drop_vars("reason"), info, data["reason"], path, again)


def open_study(path: str | Path) -> Study:
    """A study that a sweep wrote to disk, also one that is not finished, or one that was saved.

    Args:
        path: The Zarr folder, or the file that `Study.save` wrote.
    """
    path = path_of(path)
    if path.is_file():
        return _saved(path)
    if not path.is_dir():
        raise StoreError(f"There is no study {path}.")
    about = read_about(path)
    check_zarr("open one that Study.save wrote as a .nc file")
    reasons: dict[str, int] = {}
    try:
        with _on_disk(path) as data:
            info = json.loads(data.attrs["appell"])
            check_whole(path, data)
        journal = read_journal(path)
    except Exception as error:  # whatever a decoder says about a damaged file
        raise StoreError(
            f"{path} is damaged ({type(error).__name__}: {error}). Go on with it by the sweep that made it and "
            "resume=True (--resume): what is damaged is found and made again."
        ) from error
    for line in journal:
        for reason, count in line["reasons"].items():
            reasons[reason] = reasons.get(reason, 0) + count
    info |= {"reasons": reasons, "makers": about["makers"]}
    return assembled(None, None, info, path)


def _on_disk(path: Path) -> Dataset:
    """A dataset that is read, chunk by chunk, where it is looked at."""
    import xarray

    from appell.ensemble.verified import Verified

    plain: dict[str, Any] = {
        "mask_and_scale": False,
        "decode_times": False,
        "decode_timedelta": False,
    }  # a unit may be "seconds"
    return xarray.open_zarr(Verified(path, read_only=True), consolidated=True, chunks=None, **plain)


def _saved(path: Path) -> Study:
    """A study that was saved as one file."""
    import xarray

    try:
        with xarray.open_dataset(path, engine="scipy", decode_times=False, decode_timedelta=False) as data:
            data = data.load()
        info = json.loads(data.attrs["appell"])
        reasons = {f["run"]: f["reason"] for f in json.loads(data.attrs.pop("failures", "[]"))}
    except (KeyError, ValueError, TypeError, OSError) as error:
        raise StoreError(
            f"{path} is not a study written by appell; give the folder .zarr of a sweep, or a .nc file of Study.save."
        ) from error
    if "varied" not in info:
        raise StoreError(f"{path} holds one motion; read it with appell.load({str(path)!r}).")
    words = np.array([reasons.get(run, "") for run in data["run"].values.tolist()], dtype=WORDS)
    numbers = data["run"].values.astype(np.int64)  # of a format that knows shorter ones only
    return _labelled(data.assign(reason=("run", words)).assign_coords(run=numbers), info, None)
