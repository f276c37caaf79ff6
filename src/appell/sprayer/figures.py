"""Pictures of a study: figures 4-8 of Dehkordi 2025 anew, and the map of what the field got."""

from __future__ import annotations

from pathlib import Path as File
from typing import TYPE_CHECKING, Any

import numpy as np

from appell.files import write_figure
from appell.sprayer.coverage import Strip, placed
from appell.view.paper import STYLE
from appell.view.plot import COLORS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from appell.sprayer.study import Drive, Study

OF_PATH = dict(zip(("straight", "circular", "zigzag"), COLORS, strict=False))
GREY, SPRAY = "0.55", COLORS[5]
DPI = 150
LEAST = 0.02  # span of an axis


def draw(study: Study, folder: File) -> list[File]:
    """Write all pictures to a folder, which is made if need be; returns the files.

    Args:
        study: What to draw.
        folder: Where to.
    """
    import matplotlib as mpl

    folder.mkdir(exist_ok=True)
    pictures = {
        "figure-4-mass.png": mass,
        "figure-5-speed.png": speed,
        "figure-6-paths.png": paths,
        "figure-7-states.png": states,
        "figure-8-errors-and-inputs.png": errors_and_inputs,
        "coverage.png": coverage,
    }
    with mpl.rc_context(STYLE):
        return [write_figure(drawn(study), folder / name, DPI) for name, drawn in pictures.items()]


def _figure(width: float, height: float) -> Figure:
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def _field(width: float, height: float) -> tuple[Figure, dict[str, Any]]:
    """Panels for the three paths seen from above, all of about the same scale."""
    figure = _figure(width, height)
    rows = [["straight", "straight"], ["zigzag", "circular"]]
    return figure, figure.subplot_mosaic(rows, height_ratios=[0.32, 1], width_ratios=[1.55, 1])


def _off(metres: float) -> str:
    return f"{1e3 * metres:.3g} mm" if metres >= 1e-4 else "< 0.1 mm"


def _plain(axis: Axes, x: str = "", y: str = "", title: str = "") -> None:
    axis.grid(alpha=0.25, linewidth=0.6)
    axis.spines[["top", "right"]].set_visible(False)
    axis.set_xlabel(x)
    axis.set_ylabel(y)
    if title:
        axis.set_title(title, loc="left", fontsize=10)


def mass(study: Study) -> Figure:
    """Figure 4: the mass over time, to the end of the tank and beyond."""
    figure = _figure(7, 3.6)
    axis = figure.subplots()
    motion, driven = study.open_loop, study.held[0].motion
    axis.plot(motion.times, motion["m"], color=COLORS[0], linewidth=1.8, label="corrected: flow ends with the tank")
    flow = len(study.printed[0].robot.nozzles) * motion.system.values["mu"]
    printed = np.maximum(driven["m"].values[0] - flow * motion.times, 50.0)
    axis.plot(
        motion.times, printed, color=GREY, linestyle="--", linewidth=1.2, label="as printed: floor 50 kg", zorder=1
    )
    end = driven.times[-1]
    axis.plot(end, driven["m"].values[-1], "o", color=COLORS[0], markersize=5)
    place, words = (end, driven["m"].values[-1]), f"{driven['m'].values[-1]:g} kg at {end:g} s"
    axis.annotate(words, place, (-8, -4), textcoords="offset points", ha="right", va="top")
    for event in motion.occurrences[:1]:
        axis.axvline(event.t, color="0.75", linewidth=0.8, zorder=0)
        place = (event.t, motion["m"].values[0])
        style = {"textcoords": "offset points", "ha": "right", "va": "top", "color": "0.35"}
        axis.annotate(f"empty at {event.t:.4g} s", place, (-6, -4), **style)
    _plain(axis, "t [s]", "m [kg]", "Mass of chassis and liquid")
    axis.legend(frameon=False, fontsize=9, loc="lower left")
    return figure


def speed(study: Study) -> Figure:
    """Figure 5: forward speed on the three paths, speeds held."""
    figure = _figure(8, 5.4)
    for axis, drive, printed in zip(figure.subplots(3, 1, sharex=True), study.held, study.printed, strict=True):
        name = drive.path.name
        axis.plot(drive.motion.times, drive.motion.evaluate(drive.path.speed), color=GREY, linewidth=1, label="wanted")
        axis.plot(printed.motion.times, printed.motion["v"], "--", color="0.2", linewidth=1.2, label="as printed")
        axis.plot(drive.motion.times, drive.motion["v"], color=OF_PATH[name], linewidth=1.6, label="corrected")
        _plain(axis, "", "v [m/s]", f"{name}: forward speed, held by PID")
        axis.legend(frameon=False, fontsize=8, loc="center left", bbox_to_anchor=(1.0, 0.5))
    axis.set_xlabel("t [s]")
    return figure


def paths(study: Study) -> Figure:
    """Figure 6: the paths with spray lines, nozzles, start and end."""
    figure, axes = _field(11.5, 8.2)
    for held, followed in zip(study.held, study.linearized, strict=True):
        name = held.path.name
        axis = axes[name]
        _spray(axis, followed)
        reference = [followed.motion.evaluate(e) for e in followed.path.position]
        axis.plot(*reference, color="0.15", linewidth=3.2, alpha=0.25, label="reference", zorder=3)
        axis.plot(held.motion["x"], held.motion["y"], "--", color="0.25", linewidth=1.3, label="speeds held", zorder=4)
        axis.plot(
            followed.motion["x"],
            followed.motion["y"],
            color=OF_PATH[name],
            linewidth=1.5,
            label="path followed",
            zorder=5,
        )
        where = [followed.motion[s].values for s in "xy"]
        axis.plot(
            where[0][0], where[1][0], "o", color="white", markeredgecolor="0.1", markersize=8, label="start", zorder=6
        )
        axis.plot(where[0][-1], where[1][-1], "s", color="0.1", markersize=7, label="end", zorder=6)
        _plain(
            axis,
            "x [m]",
            "y [m]",
            f"{name}: mean error {_off(held.errors[0])} held, {_off(followed.errors[0])} followed",
        )
        axis.set_aspect("equal")
    handles, labels = axes["straight"].get_legend_handles_labels()
    figure.legend(handles, labels, frameon=False, loc="outside lower center", ncols=len(labels))
    return figure


def _spray(axis: Axes, drive: Drive) -> None:
    """Nozzles and the middle line of each jet, each second."""
    motion, strip = drive.motion, Strip()
    times = np.arange(motion.times[0], motion.times[-1] + 1e-9, 1.0)
    x, y, theta = (motion.evaluate(s, times)[:, None] for s in motion.system.model.coordinates[:3])
    c, s = np.cos(theta), np.sin(theta)
    line = np.array([[strip.near, strip.far], [0.0, 0.0]])
    for i, (px, py) in enumerate(placed(drive.robot, motion, line)):
        ends = x + c * px - s * py, y + s * px + c * py
        axis.plot(ends[0].T, ends[1].T, color=SPRAY, linewidth=0.9, alpha=0.75, zorder=1)
        axis.plot(
            ends[0][:, 0],
            ends[1][:, 0],
            ".",
            color="#17527d",
            markersize=3,
            label="nozzles" if i == 0 else None,
            zorder=2,
        )
    axis.plot([], [], color=SPRAY, linewidth=0.9, label="spray lines, each second")


def states(study: Study) -> Figure:
    """Figure 7: pose and speeds on the three paths."""
    figure = _figure(10, 8.5)
    rows = (("x", "x [m]"), ("y", "y [m]"), ("theta", "theta [rad]"), ("v", "v [m/s]"), ("omega", "omega [rad/s]"))
    axes = figure.subplots(len(rows), 3, sharex=True)
    for column, (held, followed) in enumerate(zip(study.held, study.linearized, strict=True)):
        name, path = held.path.name, held.path
        wanted = (*path.position, path.heading, path.speed, path.turn)
        for row, ((label, words), formula) in enumerate(zip(rows, wanted, strict=True)):
            axis = axes[row, column]
            axis.plot(held.motion.times, held.motion.evaluate(formula), color="0.15", alpha=0.25, linewidth=3.2)
            axis.plot(held.motion.times, held.motion[label], "--", color="0.25", linewidth=1.2)
            axis.plot(followed.motion.times, followed.motion[label], color=OF_PATH[name], linewidth=1.4)
            _plain(
                axis, "t [s]" if row == len(rows) - 1 else "", words if column == 0 else "", name if row == 0 else ""
            )
            _calm(axis)
    _legend(figure, axes[0, 0], ("reference", "speeds held", "path followed"))
    return figure


def _calm(axis: Axes) -> None:
    """No picture of rounding errors: an axis spans at least so much."""
    low, high = axis.get_ylim()
    if high - low < LEAST:
        axis.set_ylim((low + high - LEAST) / 2, (low + high + LEAST) / 2)


def _legend(figure: Figure, axis: Axes, labels: tuple[str, ...]) -> None:
    """One legend below all panels; the coloured curves stand for their column."""
    figure.legend(axis.lines[: len(labels)], labels, frameon=False, loc="outside lower center", ncols=len(labels))


def errors_and_inputs(study: Study) -> Figure:
    """Figure 8: errors of position and heading above, driving force and yaw moment below."""
    figure = _figure(10, 8.0)
    axes = figure.subplots(4, 3, sharex=True)
    words = ("distance [m]", "heading error [rad]", "force [N]", "moment [N·m]")
    for column, (held, followed) in enumerate(zip(study.held, study.linearized, strict=True)):
        name = held.path.name
        curves = [(e.tracking, e.orientation, *e.inputs) for e in (held, followed)]
        for row in range(4):
            axis = axes[row, column]
            axis.plot(held.motion.times, curves[0][row], "--", color="0.25", linewidth=1.2)
            axis.plot(followed.motion.times, curves[1][row], color=OF_PATH[name], linewidth=1.4)
            _plain(axis, "t [s]" if row == 3 else "", words[row] if column == 0 else "", name if row == 0 else "")
            _calm(axis)
    _cut(axes[3, 1])
    _legend(figure, axes[0, 0], ("speeds held (paper's PID)", "path followed (feedback linearization)"))
    return figure


def _cut(axis: Axes) -> None:
    """Leave a first jump that would flatten the rest outside, and say how high it was."""
    values = np.concatenate([line.get_ydata() for line in axis.lines])
    usual = float(np.percentile(np.abs(values), 97))
    top = float(values.max())
    if usual > 0 and top > 3 * usual:
        axis.set_ylim(min(values.min(), 0) - 0.1 * usual, 2.2 * usual)
        axis.annotate(f"begins at {top:.3g}", (0.1, 0.97), xycoords="axes fraction", va="top", fontsize=8, color="0.25")


def coverage(study: Study) -> Figure:
    """Litres per square metre on the field."""
    figure, axes = _field(12, 7.6)
    wet = [e.coverage.dose[e.coverage.wetted] for e in study.linearized]
    top = max((float(np.percentile(doses, 99.5)) for doses in wet if doses.size), default=1.0)
    picture = None
    for drive in study.linearized:
        axis, field = axes[drive.path.name], drive.coverage
        edges = [np.append(e - field.cell / 2, e[-1] + field.cell / 2) for e in (field.x, field.y)]
        shown = np.ma.masked_less(field.dose, 1e-3 * top)
        picture = axis.pcolormesh(*edges, shown, cmap="YlGnBu", vmin=0, vmax=top, rasterized=True)
        axis.plot(drive.motion["x"], drive.motion["y"], color="0.2", linewidth=0.9)
        evenness = f", Christiansen {field.christiansen():.2f}, variation {field.variation():.2f}" if field.area else ""
        _plain(axis, "x [m]", "y [m]", f"{drive.path.name}: {field.landed:.3g} l{evenness}")
        axis.set_aspect("equal")
    figure.colorbar(picture, ax=list(axes.values()), label="l/m²", shrink=0.85, pad=0.02, extend="max")
    return figure
