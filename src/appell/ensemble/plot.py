"""A study drawn with Matplotlib."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from appell.errors import ModelError
from appell.files import write_figure
from appell.model.symbols import key
from appell.model.values import unknown

if TYPE_CHECKING:
    from appell.ensemble.study import Study

SHOWN = 12  # runs drawn one by one behind the bands
BLUE = "#2b6cb0"


def plot(study: Study, names: list[str], against: Any, path: str | Path | None) -> Any:
    """Bands of quantiles over time, or values at the end over what was varied."""
    chosen = names or [n for n in study.info["columns"] if not n.endswith(".rate")] or study.info["columns"]
    for name in chosen:
        study[name]
    figure = _figure()(figsize=(8, 0.8 + 2.3 * len(chosen)), layout="constrained")
    axes = figure.subplots(len(chosen), 1, squeeze=False)[:, 0]
    varied = [] if against is None else [_varied(study, name) for name in _listed(against)]
    for axis, name in zip(axes, chosen, strict=True):
        if not study.ok.any():
            axis.text(0.5, 0.5, f"no run of {len(study)} ended as wished", ha="center", transform=axis.transAxes)
            axis.set(xticks=[], yticks=[])
            axis.set_ylabel(_unit(study, name))
        elif not varied:
            _bands(study, axis, name)
        elif len(varied) == 1:
            _scatter(study, axis, name, varied[0])
        else:
            _map(study, axis, name, varied, figure)
        axis.spines[["top", "right"]].set_visible(False)
    figure.suptitle(f"{study.info['model']}: {len(study)} runs, {study.info['words']}", fontsize=10)
    if path is not None:
        write_figure(figure, path, 150)
    return figure


@cache
def _figure() -> type:
    """Matplotlib's figure, one that shows itself in a notebook without Matplotlib's own interface to it."""
    import io

    from matplotlib.figure import Figure

    class Drawing(Figure):
        def _repr_png_(self) -> bytes:
            drawn = io.BytesIO()
            self.savefig(drawn, format="png", dpi=100)
            return drawn.getvalue()

    return Drawing


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


def _unit(study: Study, name: str) -> str:
    unit = study[name].attrs.get("units", "")
    return f"{name} [{unit}]" if unit else name


def _bands(study: Study, axis: Any, name: str) -> None:
    found = study.statistics(name)[name]
    t = found["t"].values
    rows = {str(kind): found.sel(statistic=kind).values for kind in found["statistic"].values}
    axis.fill_between(t, rows["5% quantile"], rows["95% quantile"], color=BLUE, alpha=0.18, lw=0, label="90 % of runs")
    axis.fill_between(t, rows["25% quantile"], rows["75% quantile"], color=BLUE, alpha=0.3, lw=0, label="50 %")
    some = np.flatnonzero(study.ok)
    for run in some[np.unique(np.linspace(0, max(some.size - 1, 0), SHOWN).astype(int))] if some.size else ():
        axis.plot(t, study[name][int(run)].values, color="0.45", lw=0.5, alpha=0.6)
    axis.plot(t, rows["50% quantile"], color=BLUE, lw=1.6, label="median")
    axis.set_ylabel(_unit(study, name))
    axis.set_xlabel("t [s]")
    axis.grid(alpha=0.3)
    axis.legend(frameon=False, fontsize=8, loc="upper left", bbox_to_anchor=(1.0, 1.0))


def _scatter(study: Study, axis: Any, name: str, varied: str) -> None:
    ok = study.ok
    axis.plot(study[varied].values[ok], study[f"{name}.end"].values[ok], ".", color=BLUE, ms=3, alpha=0.6)
    axis.set_xlabel(varied)
    axis.set_ylabel(_unit(study, name) + " at the end")
    axis.grid(alpha=0.3)


def _map(study: Study, axis: Any, name: str, varied: list[str], figure: Any) -> None:
    ok = study.ok
    x, y, c = (study[e].values[ok] for e in (*varied, f"{name}.end"))
    drawn = axis.scatter(x, y, c=c, s=12, cmap="viridis", linewidths=0)
    figure.colorbar(drawn, ax=axis, label=_unit(study, name) + " at the end")
    axis.set_xlabel(varied[0])
    axis.set_ylabel(varied[1])
