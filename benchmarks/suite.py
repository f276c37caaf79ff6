"""All topics in one run: the machine that was measured, results as tables, JSON, Markdown and curves."""

from __future__ import annotations

import json
import os
import platform
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from rich.console import Console

from benchmarks.table import Comparisons, Counts, duration, scoreboard, times

TOPICS = (
    "first_value", "machine_code", "single_call", "batch", "triple_pendulum", "seven_links", "disk_motion",
    "ensembles", "million", "rolling_disk", "growth", "big_trees", "sprayer", "robots", "robot_growth",
    "reports", "smoothness", "delta", "planning",
)  # fmt: skip
PACKAGES = (
    "appell",
    "casadi",
    "heyoka",
    "numpy",
    "scipy",
    "sympy",
    "pin",
    "mujoco",
    "pydy",
    "Cython",
    "jax",
    "diffrax",
)
Results = Mapping[str, Comparisons | Counts]


def surroundings() -> dict[str, Any]:
    """The machine and the versions that were measured."""
    versions = {}
    for name in PACKAGES:
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            versions[name] = "missing"
    return {
        "python": platform.python_version(),
        "machine": _processor(),
        "cores": os.cpu_count(),
        "load": os.getloadavg()[0] if hasattr(os, "getloadavg") else None,
        "versions": versions,
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.machine())


def unknown(names: Sequence[str]) -> str:
    """Words about names that are no topics; empty if all are."""
    wrong = [name for name in names if name not in TOPICS]
    return f"No benchmark is called {', '.join(wrong)}; there are: {', '.join(TOPICS)}" if wrong else ""


def measured(names: Sequence[str], quick: bool, console: Console) -> tuple[dict[str, Any], Results]:
    """Run topics, all if none is named, and print each as it comes."""
    about = surroundings()
    console.print(f"{about['machine']}, {about['cores']} cores, Python {about['python']}")
    console.print(", ".join(f"{name} {number}" for name, number in about["versions"].items()) + "\n", style="dim")
    if about["load"] is not None and about["load"] > 0.5 * about["cores"]:
        console.print(f"Others use this machine too (load {about['load']:.1f}): ratios are rough.\n", style="yellow")
    results: dict[str, Comparisons | Counts] = {}
    for name in names or TOPICS:
        with console.status(name):
            results[name] = import_module(f"benchmarks.{name}").run(quick)
        results[name].show(console)
    console.print(f"{scoreboard(results.values())}; a ratio is how many times longer the peer takes.")
    return about, results


def saved(about: Mapping[str, Any], results: Results, quick: bool) -> str:
    """Everything as JSON."""
    topics = {name: result.to_json() for name, result in results.items()}
    return json.dumps({"about": about, "quick": quick, "topics": topics}, indent=1) + "\n"


def markdown(about: Mapping[str, Any], results: Results) -> str:
    """The comparisons as one table for a page, with the machine named."""
    lines = ["| work | against | appell | ratio | target |", "| --- | --- | --- | --- | --- |"]
    for result in results.values():
        for row in result.rows if isinstance(result, Comparisons) else ():
            title = result.title.partition(". ")[2] or result.title
            cells = (f"{title}: {row.what}", row.peer, duration(row.ours), times(row.ratio), times(row.target))
            lines.append("| " + " | ".join(cells) + " |")
    packages = ", ".join(f"{n} {v}" for n, v in about["versions"].items() if v != "missing")
    lines.append(f"\n{about['machine']}, {about['cores']} cores, load {about['load'] or 0:.1f}; Python "
                 f"{about['python']}, {packages}.")  # fmt: skip
    return "\n".join(lines) + "\n"


def curves(results: Results, path: Path) -> None:
    """Operations over the length of a chain, by formulation, on logarithmic axes."""
    import numpy as np

    from appell.view import Line, Panel, Plot
    from appell.view.plot import COLORS

    counts = results["growth"]
    assert isinstance(counts, Counts)
    lengths = [int(name.removeprefix("n = ")) for name in counts.columns if name.startswith("n = ")]
    drawn: list[tuple[str, list[int], list[str]]] = []  # formulations that hardly differ share a curve
    for row in counts.rows:
        chain, _, formulation = str(row[0]).partition(": ")
        numbers = [e for e in row[1:] if isinstance(e, int)][: len(lengths)]
        near = (names for of, known, names in drawn if of == chain and _near(known, numbers))
        found = next(near, None)
        if found is not None:
            found.append(formulation)
        elif numbers:
            drawn.append((chain, numbers, [formulation]))
    lines, colors = list[Line](), dict[str, str]()  # one colour for a formulation, dashed for the other chain
    for chain, numbers, names in drawn:
        color = colors.setdefault(", ".join(names), COLORS[len(colors) % len(COLORS)])
        x, y = np.array(lengths[: len(numbers)]), np.array(numbers)
        lines.append(Line(f"{chain}: {', '.join(names)}", x, y, color=color, dashed=chain != drawn[0][0]))
        lines.append(Line("", x, y, points=True, color=color))
    panel = Panel(tuple(lines), "links n", "operations of one right-hand side", "xy")
    Plot("growth of the equations", (panel,)).save(path)


def _near(one: Sequence[int], other: Sequence[int]) -> bool:
    """Whether two curves cannot be told apart."""
    return len(one) == len(other) and all(abs(a - b) <= 0.01 * a for a, b in zip(one, other, strict=True))


def console() -> Console:
    """As wide as the terminal, or wide enough for a file."""
    return Console(width=None if sys.stdout.isatty() else 160)
