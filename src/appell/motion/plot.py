"""A motion drawn over time with Matplotlib."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from appell.motion.motion import Motion


def plot(motion: Motion, names: tuple[Any, ...], path: str | Path | None) -> Any:
    """One panel per unit, rates below coordinates."""
    from matplotlib.figure import Figure

    curves = [motion[name] for name in names] if names else [motion[name] for name in motion.columns]
    panels: dict[str, list[Any]] = {}
    for curve in curves:
        kind = "" if names else ("rate" if str(curve.name).endswith(".rate") else "")
        panels.setdefault(f"{kind}|{curve.attrs.get('units', '')}", []).append(curve)
    figure = Figure(figsize=(8, 1.2 + 1.9 * len(panels)), layout="constrained")
    axes = figure.subplots(len(panels), 1, sharex=True, squeeze=False)[:, 0]
    for axis, (label, group) in zip(axes, panels.items(), strict=True):
        unit = label.split("|")[1]
        for curve in group:
            axis.plot(motion.times, curve.values, linewidth=1.2, label=str(curve.name).replace(".rate", "'"))
        axis.set_ylabel(f"[{unit}]" if unit else "")
        axis.grid(alpha=0.3)
        axis.spines[["top", "right"]].set_visible(False)
        axis.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False, fontsize=9)
    for occurrence in motion.occurrences[:50]:
        for axis in axes:
            axis.axvline(occurrence.t, color="0.7", linewidth=0.6, zorder=0)
    axes[-1].set_xlabel("t [s]")
    figure.suptitle(motion.info["model"])
    if path is not None:
        figure.savefig(path, dpi=150)
    return figure
