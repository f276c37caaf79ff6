"""The chain behind `appell stabilize`: each step uses the one before."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from appell.analysis.equilibrium import equilibrium
from appell.analysis.linearize import Linearization, linearize
from appell.analysis.stability import stability
from appell.code.system import compile
from appell.control.controllability import controllability, smallest_actuators
from appell.control.feedback import Feedback, lqr
from appell.control.invariants import minimum_controls
from appell.errors import ControlError, EquilibriumError, IntegrationError
from appell.files import write_text
from appell.formulation.abstract import AbstractFormulation, derive
from appell.kinematics.chart import Split
from appell.kinematics.consistency import jacobian_at
from appell.model.model import Model
from appell.motion.run import simulate
from appell.view.plot import Line, Panel, Plot, unit_words
from appell.view.plots import roots


@dataclass(eq=False, kw_only=True)
class Stabilization:
    """Equilibrium, first approximation, controllability, gains, certificate, closed loop.

    Attributes:
        model: The model.
        formulation: How to derive it; Gibbs-Appell if None.
        values: Numbers of parameters and inputs.
        guess: Where to look for the equilibrium.
        wanted: The wanted configuration; the model's suggested start says it if nothing is given.
        weights: Weights of states; by Bryson's rule if empty.
        price: Weight of the inputs; by their holding values if None, or what holds a deviation if these are 0.
        dependent: Dependent coordinates, or None.
        inputs: Inputs to use, or None for all.
        ignore: Coordinates on which nothing else depends, to be left out.
        limits: Of inputs, as for `saturated`; None for none.
        push: Deviations at the start of the closed-loop run.
        until: Length of that run.
        runs: Starts for the region of attraction.
        region: What they found; None without them.
    """

    model: Model
    formulation: AbstractFormulation | None
    values: dict[str, float]
    guess: dict[str, float]
    wanted: dict[str, float]
    weights: dict[str, float]
    price: float | None
    dependent: list[str] | None
    inputs: list[str] | None
    ignore: list[str]
    limits: Any
    push: dict[str, float]
    until: float | None
    runs: int
    region: Any = field(default=None, init=False)

    def run(self) -> dict[str, Any]:
        """Do it all; returns plain data."""
        if not self.model.inputs:
            raise ControlError(
                f"{self.model.name!r} has no input to hold or control it by; add a force that has one: "
                f"u = appell.inputs('u'), appell.Generalized({{{self.model.coordinates[0].label}: u}})."
            )
        system = compile(derive(self.model, self.formulation)).bind(self.values)
        self.rest = equilibrium(system, self.wanted or self._suggested(system), guess=self.guess)
        self.lin = linearize(self.rest, dependent=self.dependent, ignore=self.ignore)
        self.open = stability(self.lin)
        self.without = self._without()
        self.reach = controllability(self.lin, inputs=self.inputs)
        self.least = minimum_controls(self.lin)
        try:
            self.subsets = smallest_actuators(self.lin)
        except ControlError:
            self.subsets = ()
        unknown = [s for s in self.weights if s not in self.lin.states]
        if unknown:
            raise ControlError(f"{', '.join(unknown)} cannot be weighed; the states are: {', '.join(self.lin.states)}.")
        feedback = self._designed()
        self.feedback: Feedback = feedback.saturated(self.limits)
        self.proof = feedback.certificate
        self._simulate()
        if self.runs:
            from appell.ensemble.region import region_of_attraction

            box, few = self._box(), min(self.runs, 64)
            for _ in range(5):  # until the border is in sight
                pilot = region_of_attraction(self.feedback, box, runs=few, samples=10, progress=False)
                if np.mean(pilot.converged) < 0.8:
                    break
                box = {s: 2 * size for s, size in box.items()}
            self.region = region_of_attraction(self.feedback, box, runs=self.runs)
        return self._data()

    def _designed(self) -> Feedback:
        """The gains; a refusal says what to type here."""
        try:
            return lqr(self.lin, *self._costs(), inputs=self.inputs)
        except ControlError as refusal:
            names = re.search(r"linearize\(\.\.\., ignore=\[(.*?)\]\)", str(refusal))
            if names is None:
                raise
            typed = "--ignore " + re.sub(r"[' ]", "", names[1])
            raise ControlError(str(refusal).replace(names[0], typed)) from None

    def _costs(self) -> tuple[dict[str, float], Any]:
        """Weights as given, or by Bryson's rule: one over the square of what is still acceptable."""
        sizes = {s: 0.05 * size for s, size in self._sizes().items()}
        bryson = {s: sizes[s] ** -2 if s in sizes else 0.1 for s in self.lin.states}
        bryson.update({s: 0.1 * sizes[s[:-5]] ** -2 for s in self.lin.states if s[:-5] in sizes})
        weights = {s: self.weights.get(s, 1.0) for s in self.lin.states} if self.weights else bryson
        if self.price is not None:
            return weights, self.price
        used = self.inputs or self.lin.inputs
        moved = self._moving_inputs(bryson)
        largest = max((abs(e) for e in self.rest.inputs.values()), default=0.0)
        if largest <= 1e-6 * max(moved.values()):  # zero, as far as rounding can tell
            return weights, [moved[w] ** -2 for w in used]
        return weights, [max(abs(self.rest.inputs[w]), 0.1 * largest) ** -2 for w in used]

    def _moving_inputs(self, weights: dict[str, float]) -> dict[str, float]:
        """For each input what it takes to hold a coordinate at its acceptable deviation.

        Where nothing pulls it back or away: what changes a state by as much within a second.
        """
        lin, unit = self.lin, np.array([weights[s] for s in self.lin.states]) ** -0.5
        A, B = lin.A / unit[:, None] * unit, lin.B / unit[:, None]
        coordinates = {q.label for q in self.model.coordinates}
        places = [i for i, s in enumerate(lin.states) if s in coordinates]
        extra = [i for i, s in enumerate(lin.states) if s not in coordinates and s[:-5] not in coordinates]
        holding = -np.linalg.pinv(np.hstack([A[:, extra], B]))[len(extra) :] @ A[:, places]
        pull = np.max(np.abs(holding), axis=1, initial=0.0)
        push = 1 / np.maximum(np.linalg.norm(B, axis=0), 1e-300)
        return {w: float(a if a > 1e-9 * b else b) for w, a, b in zip(lin.inputs, pull, push, strict=True)}

    def _suggested(self, system: Any) -> dict[str, float]:
        """As many coordinates of the suggested start as can be wanted: the independent ones, fewer if need be."""
        labels = [s.label for s in self.model.coordinates]
        split = self._split(system)
        free = [s for i, s in enumerate(labels) if i not in split.dependent]
        count = min(len(free), len(self.model.inputs))
        where = {**{s: 0.0 for s in labels}, **self.model.start, **self.guess}
        tries = [free] if count == len(free) else [[s] for s in free]
        for chosen in tries:
            wanted = {s: where[s] for s in chosen}
            try:
                equilibrium(system, wanted, guess=self.guess, starts=6)
            except EquilibriumError:
                continue
            return wanted
        raise EquilibriumError(
            f"Say which configuration of {self.model.name!r} to hold, for example --want {free[0]}={where[free[0]]:g}; "
            f"its suggested start is none that {', '.join(map(str, self.model.inputs))} can hold."
        )

    def _split(self, system: Any) -> Split:
        """Which coordinates are dependent; formulations that keep all of them do not say."""
        split = system.equations.split
        if split.dependent or not split.rows:
            return split
        start = system.consistent({}, near=self.guess)
        return Split.at(jacobian_at(system.equations.mechanics, 0.0, start.q, start.v, start.z, system.p))

    def _without(self) -> Linearization | None:
        if self.lin.named is None or not self.lin.named.dependent or self.lin.dropped:
            return None
        return linearize(self.rest, dependent=self.lin.named.dependent, multiplier_terms=False)

    def _box(self) -> dict[str, float]:
        coordinates = [s for s in self.lin.states if s in self.rest.positions]
        return {s: 4 * abs(self._pushes().get(s, 0.05)) for s in coordinates[:2]}

    def _pushes(self) -> dict[str, float]:
        if self.push:
            return self.push
        sizes = self._sizes()
        coordinates = [s for s in self.lin.states if s in sizes]
        return {s: 0.05 * sizes[s] * (-1) ** k for k, s in enumerate(coordinates)}

    def _sizes(self) -> dict[str, float]:
        """How large coordinates are: their values, or a fifth of their natural units."""
        units = zip(self.model.coordinates, self.rest.units.unknowns, strict=False)
        return {s.label: max(abs(self.rest[s]), 0.2 * float(unit)) for s, unit in units}

    def _simulate(self) -> None:
        slowest = self.proof.margin  # structural zeros apart
        end = self.until if self.until is not None else float(f"{10 / max(slowest, 1e-3):.2g}")
        state = self.feedback.start(self._pushes())
        system = self.feedback.system
        outputs = {f"law of {w.label}": law for w, law in self.feedback.laws.items()}
        self.motion = simulate(system, state, end, outputs=outputs)
        if not self.motion.outcome.ok:
            raise IntegrationError(f"The closed loop could not be run to its end: {self.motion.summary()}")
        self.gap = {s: float(self.motion[s].values[-1]) - self.lin.tangent.value(s) for s in self.lin.states}
        self.residual = max((abs(e) for e in system.residual(self.motion.at(end)).values()), default=0.0)

    @property
    def came_back(self) -> bool:
        """Whether the run ended nearer to the equilibrium than it began, by a factor of a hundred."""
        began = max(abs(e) for e in self._pushes().values())
        return max(abs(e) for e in self.gap.values()) <= max(0.01 * began, 1e-9)

    def _data(self) -> dict[str, Any]:
        def pairs(values: np.ndarray) -> list[list[float]]:
            return [[float(e.real), float(e.imag)] for e in values]

        rest, proof = self.rest, self.proof
        data: dict[str, Any] = {
            "model": self.model.name,
            "equilibrium": {
                "positions": rest.positions,
                "rates": rest.rates,
                "states": rest.states,
                "inputs": dict(rest.inputs),
                "multipliers": dict(rest.multipliers),
                "residual": rest.residual,
                "branches": len(rest.branches),
            },
            "states": list(self.lin.states),
            "inputs": list(self.feedback.lin.inputs),
            "A": self.lin.A.tolist(),
            "B": self.lin.B.tolist(),
            "open": {
                "verdict": self.open.verdict.name,
                "sentence": self.open.sentence,
                "roots": pairs(self.open.roots),
                "without multiplier terms": None if self.without is None else pairs(self.without.eigenvalues),
            },
            "controllability": {
                "rank": self.reach.rank,
                "of": self.reach.size,
                "margin": self.reach.margin,
                "least controls": self.least.number,
                "smallest actuators": [list(e) for e in self.subsets],
            },
            "K": self.feedback.K.tolist(),
            "closed": {
                "verdict": proof.verdict.name,
                "sentence": proof.sentence,
                "roots": pairs(proof.roots),
                "zero roots": {
                    "constraints": proof.constraint_zeros,
                    "momenta": list(proof.momentum_zeros),
                    "families": proof.family_zeros,
                    "found": proof.zeros_found,
                },
                "margin": proof.margin,
                "distance": proof.distance,
            },
            "run": {
                "until": float(self.motion.times[-1]),
                "pushed": self._pushes(),
                "left": self.gap,
                "constraint residual": self.residual,
                "came back": self.came_back,
            },
            "ok": bool(proof.asymptotic and self.came_back),
        }
        if self.region is not None:
            data["region"] = {"runs": int(self.region.converged.size), "came back": int(self.region.converged.sum()),
                              "level": self.region.level}  # fmt: skip
        return data

    def show(self, table: Callable[[str, list[str], list[list[str]]], None]) -> None:
        """Print what was found."""

        def root(e: complex) -> str:
            real = 0.0 if abs(e.real) < 1e-12 * abs(e) else e.real
            return f"{real:.6g}" + (f"{e.imag:+.6g}i" if e.imag else "")

        def listed(proof: Any) -> list[str]:
            return [root(e) for e in proof.roots] + ["0 (structural)"] * proof.zeros

        print(self.rest, "\n")
        print("without control: " + self.open.sentence)
        if self.open.forces is not None:
            print("  " + self.open.forces.remark)
        print(f"{self.reach}; {self.least}")
        if self.subsets and len(self.subsets[0]) < len(self.lin.inputs):
            print("enough alone: " + " or ".join("+".join(s) for s in self.subsets))
        print(self.feedback, "\n")
        columns = {"open loop": listed(self.open), "closed loop": listed(self.proof)}
        if self.without is not None:
            columns["open loop if C^B were left out"] = [root(e) for e in self.without.eigenvalues]
        rows = max(len(e) for e in columns.values())
        table("roots", list(columns), [[e[k] if k < len(e) else "" for e in columns.values()] for k in range(rows)])
        print("\n" + repr(self.proof), "\n")
        print(
            f"nonlinear run of {self.motion.times[-1]:g} s from "
            + ", ".join(f"{s}{v:+.4g}" for s, v in self._pushes().items())
            + f": {'came back' if self.came_back else 'DID NOT COME BACK'}, left "
            + f"{max(abs(e) for e in self.gap.values()):.2e}, constraints {self.residual:.1e}"
        )
        if self.region is not None:
            print(self.region)

    def roots_plot(self) -> Plot:
        """Where the roots were, and where the feedback puts them."""
        sets: dict[str, Any] = {"open loop": self.open, "closed loop": self.proof}
        if self.without is not None:
            sets["open loop if C^B were left out"] = self.without.eigenvalues
        return roots(sets, title=f"roots of {self.model.name}")

    def run_plot(self) -> Plot:
        """The nonlinear run: deviations, a panel for each unit, and what the inputs do."""
        motion, panels = self.motion, dict[str, list[Line]]()
        for s in (s for s in self.lin.states if not s.endswith(".rate")):
            line = Line(s, motion.times, motion[s].values - self.lin.tangent.value(s))
            panels.setdefault(motion.units.get(s, ""), []).append(line)
        rows = [Panel(tuple(lines), "t [s]", f"deviation [{unit}]" if unit else "deviation")
                for unit, lines in panels.items()]  # fmt: skip
        inputs = self.feedback.lin.inputs
        laws = tuple(Line(w, motion.times, np.asarray(motion.columns[f"law of {w}"])) for w in inputs)
        units = list(dict.fromkeys(w.unit for w in self.model.inputs if w.label in inputs))
        named = f"inputs [{', '.join(map(unit_words, units))}]" if all(units) else "inputs"
        return Plot(f"closed loop of {self.model.name}", (*rows, Panel(laws, "t [s]", named)))

    def write(self, folder: Path) -> list[Path]:
        """Pictures and numbers into a folder."""
        files = [folder / "stabilize.json"]
        write_text(files[0], json.dumps(self._data(), indent=1) + "\n")
        plots = {"roots": self.roots_plot(), "closed_loop": self.run_plot()}
        if self.region is not None and len(self.region.names) > 1:
            plots["region"] = self.region.plot()
        for name, plot in plots.items():
            for kind in ("png", "svg", "html"):
                files.append(folder / f"{name}.{kind}")
                plot.save(files[-1])
        return files
