"""What `appell stabilize` found: as data, in words, in pictures."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from appell.analysis.certificate import Certificate
from appell.analysis.equilibrium import Equilibrium
from appell.analysis.roots import in_words
from appell.cli.stabilization import Stabilization, typed
from appell.files import json_text, write_text
from appell.terminal import print_table
from appell.view.plot import Line, Panel, Plot, labelled, shown, unit_words
from appell.view.plots import roots


def data(work: Stabilization) -> dict[str, Any]:
    """What was found, as plain data."""
    found = {
        "model": work.model.name,
        "equilibrium": _equilibrium(work.rest),
        "states": list(work.lin.states),
        "inputs": list(work.feedback.lin.inputs),
        "A": work.lin.A.tolist(),
        "B": work.lin.B.tolist(),
        "open": {
            "verdict": work.open.verdict.name,
            "sentence": work.open.sentence,
            "roots": _pairs(work.open.roots),
            "without multiplier terms": None if work.without is None else _pairs(work.without.eigenvalues),
        },
        "controllability": {
            "rank": work.reach.rank,
            "of": work.reach.size,
            "margin": work.reach.margin,
            "least controls": work.least.number,
            "smallest actuators": [list(e) for e in work.subsets],
        },
        "K": work.feedback.K.tolist(),
        "rate": work.rate,
        "closed": _closed(work.proof),
        "run": {
            "until": float(work.motion.times[-1]),
            "pushed": work.pushes,
            "left": work.left,
            "constraint residual": work.residual,
            "came back": work.came_back,
            "settled": work.settled,
        },
        "ok": work.ok,
    }
    if work.region is None:
        return found
    converged = work.region.converged
    region = {"runs": int(converged.size), "came back": int(converged.sum()), "level": work.region.level}
    return {**found, "region": region}


def _equilibrium(rest: Equilibrium) -> dict[str, Any]:
    return {
        "positions": rest.positions,
        "rates": rest.rates,
        "states": rest.states,
        "inputs": dict(rest.inputs),
        "multipliers": dict(rest.multipliers),
        "residual": rest.residual,
        "branches": len(rest.branches),
    }


def _closed(proof: Certificate) -> dict[str, Any]:
    return {
        "verdict": proof.verdict.name,
        "sentence": proof.sentence,
        "roots": _pairs(proof.roots),
        "zero roots": {
            "constraints": proof.constraint_zeros,
            "momenta": list(proof.momentum_zeros),
            "families": proof.family_zeros,
            "found": proof.zeros_found,
        },
        "margin": proof.margin,
        "distance": proof.distance,
    }


def _pairs(values: np.ndarray) -> list[list[float]]:
    return [[float(e.real), float(e.imag)] for e in values]


def show(work: Stabilization) -> None:
    """Print what was found."""

    def listed(roots: np.ndarray, zeros: int = 0) -> list[str]:
        return [*(in_words(roots).split(", ") if roots.size else ()), *["0 (structural)"] * zeros]

    print(work.rest, "\n")
    print("without control: " + typed(work.open.sentence))
    if work.open.forces is not None:
        print("  " + work.open.forces.remark)
    print(work.reach)
    print(work.least)
    if work.subsets and len(work.subsets[0]) < len(work.lin.inputs):
        print("enough alone: " + " or ".join("+".join(s) for s in work.subsets))
    print(work.feedback, "\n")
    columns = {
        "open loop": listed(work.open.roots, work.open.zeros),
        "closed loop": listed(work.proof.roots, work.proof.zeros),
    }
    if work.without is not None:
        columns["open loop if C^B were left out"] = listed(work.without.eigenvalues)
    rows = max(len(e) for e in columns.values())
    print_table("roots", list(columns), [[e[k] if k < len(e) else "" for e in columns.values()] for k in range(rows)])
    print("\n" + repr(work.proof), "\n")
    print(
        f"nonlinear run of {work.motion.times[-1]:g} s from "
        + ", ".join(f"{s}{v:+.4g}" for s, v in work.pushes.items())
        + f": {work.ended}; largest deviation left {max(abs(e) for e in work.left.values()):.2e}, constraints kept to "
        + f"{work.residual:.1e}"
    )
    if work.region is not None:
        print(work.region)


def roots_plot(work: Stabilization) -> Plot:
    """Where the roots were, and where the feedback puts them."""
    sets: dict[str, Any] = {"open loop": work.open, "closed loop": work.proof}
    if work.without is not None:
        sets["open loop if C^B were left out"] = work.without.eigenvalues
    return roots(sets, title=f"roots of {work.model.name}")


def run_plot(work: Stabilization) -> Plot:
    """The nonlinear run: deviations, a panel for each unit, and what the inputs do."""
    motion, panels = work.motion, dict[str, list[Line]]()
    for s in (s for s in work.lin.states if not s.endswith(".rate")):
        line = Line(shown(s), motion.times, motion[s].values - work.lin.tangent.value(s))
        panels.setdefault(motion.units.get(s, ""), []).append(line)
    rows = [Panel(tuple(lines), "t [s]", labelled("deviation", unit)) for unit, lines in panels.items()]
    inputs = work.feedback.lin.inputs
    said = {w: w if work.rate is not None else f"law of {w}" for w in inputs}
    laws = tuple(Line(shown(w), motion.times, np.asarray(motion.columns[name])) for w, name in said.items())
    units = list(dict.fromkeys(w.unit for w in work.model.inputs if w.label in inputs))
    named = f"inputs [{', '.join(map(unit_words, units))}]" if all(units) else "inputs"
    return Plot(f"closed loop of {work.model.name}", (*rows, Panel(laws, "t [s]", named)))


def write(work: Stabilization, folder: Path) -> list[Path]:
    """Pictures and numbers into a folder."""
    files = [folder / "stabilize.json"]
    write_text(files[0], json_text(data(work), indent=1) + "\n")
    plots = {"roots": roots_plot(work), "closed_loop": run_plot(work)}
    if work.region is not None and len(work.region.names) > 1:
        plots["region"] = work.region.plot()
    for name, plot in plots.items():
        for kind in ("png", "svg", "html"):
            files.append(folder / f"{name}.{kind}")
            plot.save(files[-1])
    return files
