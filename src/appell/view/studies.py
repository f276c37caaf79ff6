"""Plots of many runs: bands over time, values at the end over what was varied, regions of attraction."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from appell.errors import ModelError
from appell.model.symbols import key
from appell.model.values import unknown
from appell.view.plot import COLORS, GREY, Band, Cloud, Line, Map, Panel, Plot, labelled, shown

if TYPE_CHECKING:
    from appell.ensemble.region import Region
    from appell.ensemble.study import Study

FEW = 6  # runs that are drawn one by one, with their values, and not as bands
SHOWN = 12  # runs drawn one by one behind the bands
DECADES = 100.0  # how many times the least of varied values the greatest is on a logarithmic axis
BEYOND = 1.25  # of the starts, as far as the border of a level set is drawn


def study_plot(study: Study, names: list[str], against: Any) -> Plot:
    """Every run over time where there are few, else bands of quantiles; or values at the end over what was varied.

    Of what has one value for each run, as at its end, the distribution: below what a share of the runs is.

    Args:
        study: The study.
        names: What to draw; all coordinates if empty.
        against: One or two varied names; None for time.
    """
    chosen = names or [n for n in study.info["columns"] if not n.endswith(".rate")] or study.info["columns"]
    varied = [] if against is None else [_varied(study, name) for name in _listed(against)]
    for name in chosen:
        if study[name].dims not in (("run",), ("run", "t")) or study[name].dtype.kind not in "fiu":
            raise ModelError(f"{name!r} is not a number for every run and cannot be drawn.")
    in_time = {study[name].dims == ("run", "t") for name in chosen}
    if len(in_time) > 1 and not varied:
        raise ModelError(f"Some of {', '.join(chosen)} have a time axis and others have not; draw them one by one.")
    over_time = _runs if len(study) <= FEW else _bands
    alone = over_time if in_time == {True} else _distribution
    panel: Callable[[Study, str, list[str]], Panel] = (alone, _scatter, _cloud)[len(varied)]
    if not study.ok.any():
        panel = _nothing
    title = f"{study.info['model']}: {study.counted}, {study.info['words']}"
    return Plot(title, tuple(panel(study, name, varied) for name in chosen))


def _listed(against: Any) -> list[Any]:
    names = list(against) if isinstance(against, list | tuple) else [against]
    if len(names) > 2:
        raise ModelError(f"Draw against one or two varied names, got {len(names)}.")
    return names


def _varied(study: Study, name: Any) -> str:
    label = key(name)
    coordinate = study.info["varied"].get(label, label)
    if coordinate not in study.dataset.coords:
        raise ModelError(unknown(label, list(study.info["varied"]), "name varied in this study"))
    return coordinate


def _axis(study: Study, name: str, words: str = "") -> str:
    begun = name.removesuffix(".start")
    words = " at the start" if begun != name else words
    return labelled(shown(begun.removesuffix(".choice")) + words, study[name].attrs.get("units", ""))


def _logarithmic(study: Study, axes: dict[str, str]) -> str:
    """Which axes are logarithmic: those of values over decades whose middle one is nearer to the geometric mean."""

    def spread(values: np.ndarray) -> bool:
        if values.dtype.kind not in "fiu" or values.min() <= 0 or values.max() < DECADES * values.min():
            return False
        low, high = values.min(), values.max()
        return bool(np.median(values) ** 2 < np.sqrt(low * high) * (low + high) / 2)

    return "".join(letter for letter, name in axes.items() if spread(study[name].values))


def _nothing(study: Study, name: str, varied: list[str]) -> Panel:
    return Panel((), "", _axis(study, name), words=f"no run of {len(study)} ended as wished")


def _runs(study: Study, name: str, varied: list[str]) -> Panel:
    places = study.info["varied"].values()

    def words(run: int) -> str:
        """What was varied, in this run."""
        values = {place: study[place].values[run] for place in places}
        return ", ".join(
            f"{shown(place.removesuffix('.start').removesuffix('.choice'))} = "
            + (f"{value:.6g}" if isinstance(value, float | np.floating) else str(value))
            for place, value in values.items()
        )

    t = study["t"].values
    lines = tuple(Line(words(int(run)), t, study[name][int(run)].values) for run in np.flatnonzero(study.ok))
    return Panel(lines, "t [s]", _axis(study, name))


def _bands(study: Study, name: str, varied: list[str]) -> Panel:
    found = study.statistics(name)[name]
    t = found["t"].values
    rows = {str(kind): found.sel(statistic=kind).values for kind in found["statistic"].values}
    counts = [int(rows["runs"][0]), int(rows["runs"][-1])]
    whose = "runs" if counts[0] == counts[1] else f"{counts[0]} .. {counts[1]} runs"  # events end some
    some = np.flatnonzero(study.ok)
    drawn = some[np.unique(np.linspace(0, some.size - 1, SHOWN).astype(int))]
    return Panel(
        (
            Band(f"90 % of {whose}", t, rows["5% quantile"], rows["95% quantile"], opacity=0.16),
            Band("50 %", t, rows["25% quantile"], rows["75% quantile"], opacity=0.28),
            *(
                Line("" if i else "some runs", t, study[name][int(run)].values, color=GREY, thin=True)
                for i, run in enumerate(drawn)
            ),
            Line("median", t, rows["50% quantile"], color=COLORS[0]),
        ),
        "t [s]",
        _axis(study, name),
    )


def _at_the_end(study: Study, name: str) -> tuple[str, str]:
    """What there is one number of in each run: the quantity itself, or its value at the end; and how to call it."""
    last = name if study[name].dims == ("run",) else f"{name}.end"
    return last, _axis(study, last.removesuffix(".end"), " at the end" if last.endswith(".end") else "")


def _distribution(study: Study, name: str, varied: list[str]) -> Panel:
    last, words = _at_the_end(study, name)
    y = np.sort(study[last].values[study.ok])
    return Panel((Line("", (np.arange(y.size) + 0.5) / y.size, y),), "share of the runs that is below", words)


def _scatter(study: Study, name: str, varied: list[str]) -> Panel:
    last, words = _at_the_end(study, name)
    x, y = (study[e].values[study.ok] for e in (varied[0], last))
    choices = [e for e in study.info["varied"].values() if e.endswith(".choice") and e != varied[0]]
    labels = np.array([", ".join(map(str, e)) for e in zip(*(study[c].values[study.ok] for c in choices), strict=True)])
    lines = tuple(Line(e, x[labels == e], y[labels == e], points=True) for e in dict.fromkeys(labels.tolist()))
    if not choices:
        lines = (Line("", x, y, points=True),)
    return Panel(lines, _axis(study, varied[0]), words, log=_logarithmic(study, {"x": varied[0]}))


def _cloud(study: Study, name: str, varied: list[str]) -> Panel:
    """A map where the runs are all combinations of two lists, else a point for each run."""
    last, words = _at_the_end(study, name)
    across, upward = (_axis(study, e) for e in varied)
    x, y = (study[e].values for e in varied)
    values = np.where(study.ok, study[last].values, np.nan)
    log = _logarithmic(study, dict(zip("xy", varied, strict=True)))
    if x.dtype.kind in "fiu" and y.dtype.kind in "fiu":
        (columns, i), (rows, j) = (np.unique(e, return_inverse=True) for e in (x, y))
        if (
            min(columns.size, rows.size) > 1
            and np.unique(i + columns.size * j).size == x.size == columns.size * rows.size
        ):
            z = np.empty((rows.size, columns.size))
            z[j, i] = values
            return Panel((Map(words, columns, rows, z),), across, upward, log=log)
    return Panel((Cloud(words, x[study.ok], y[study.ok], values[study.ok]),), across, upward, log=log)


def region_plot(region: Region) -> Plot:
    """The starts over the first two varied states: those that came back, the others, and the level set.

    Args:
        region: The region of attraction.
    """
    if len(region.names) < 2:
        raise ModelError("The picture needs two varied states.")
    (x, y), good, names = region.starts[:, :2].T, region.converged, region.names[:2]
    lines = [
        Line(f"comes back ({np.sum(good)})", x[good], y[good], points=True, color=COLORS[2]),
        Line(f"does not ({np.sum(~good)})", x[~good], y[~good], points=True, color=COLORS[1]),
    ]
    lin = region.feedback.lin
    columns = [lin.states.index(s) for s in names]
    if region.level > 0:
        turn = np.linspace(0, 2 * np.pi, 721)
        root = np.linalg.cholesky(region.feedback.S[np.ix_(columns, columns)])
        a, b = np.sqrt(region.level) * np.linalg.solve(root.T, np.array([np.cos(turn), np.sin(turn)]))
        beyond = (np.abs(a) > BEYOND * np.abs(x).max()) | (np.abs(b) > BEYOND * np.abs(y).max())
        lines.append(Line("vouched for by V = η'Sη", np.where(beyond, np.nan, a), b, color="#22282e"))
    units = {s.label: s.unit for s in lin.tangent.equations.states}
    across, upward = (labelled(f"deviation of {shown(s)}", units.get(s, "")) for s in names)
    panel = Panel(tuple(line for line in lines if line.x.size), across, upward)
    return Plot(f"{region.feedback.system.model.name}: region of attraction", (panel,))
