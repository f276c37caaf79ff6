"""`python -m benchmarks [NAME ...] [--quick] [--json FILE]`."""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

if not __package__:  # run as `python benchmarks`: the folder above must be searched, not this one
    sys.path[0] = str(Path(__file__).resolve().parents[1])

from rich.console import Console

from benchmarks.table import scoreboard

TOPICS = (
    "first_value",
    "machine_code",
    "single_call",
    "batch",
    "triple_pendulum",
    "rolling_disk",
    "growth",
    "sprayer",
    "robots",
    "robot_growth",
)
PACKAGES = ("appell", "casadi", "heyoka", "numpy", "scipy", "sympy", "pin", "mujoco", "pydy", "Cython", "jax")


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


def main() -> None:
    """Run what is asked for and print it."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="appell and its peers side by side.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"what to run: {', '.join(TOPICS)}; all if left out")
    parser.add_argument("--quick", action="store_true", help="small sizes, no targets")
    parser.add_argument("--json", type=Path, metavar="FILE", help="save the numbers as well")
    asked = parser.parse_args()
    unknown = [name for name in asked.names if name not in TOPICS]
    if unknown:
        parser.error(f"no benchmark is called {', '.join(unknown)}; there are: {', '.join(TOPICS)}")
    console = Console(width=None if sys.stdout.isatty() else 160)
    about = surroundings()
    console.print(f"{about['machine']}, {about['cores']} cores, Python {about['python']}")
    console.print(", ".join(f"{name} {number}" for name, number in about["versions"].items()) + "\n", style="dim")
    if about["load"] is not None and about["load"] > 0.5 * about["cores"]:
        console.print(f"Others use this machine too (load {about['load']:.1f}): ratios are rough.\n", style="yellow")
    results = {}
    for name in asked.names or TOPICS:
        with console.status(name):
            results[name] = import_module(f"benchmarks.{name}").run(asked.quick)
        results[name].show(console)
    console.print(f"{scoreboard(results.values())}; a ratio is how many times longer the peer takes.")
    if asked.json:
        saved = {"about": about, "quick": asked.quick, "topics": {name: r.to_json() for name, r in results.items()}}
        asked.json.write_text(json.dumps(saved, indent=1) + "\n")


if __name__ == "__main__":
    main()
