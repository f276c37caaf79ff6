"""The chain behind `appell stabilize`: each step uses the one before."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from appell.analysis.certificate import Certificate, Verdict
from appell.analysis.equilibrium import Equilibrium, equilibrium
from appell.analysis.linearize import Linearization, linearize
from appell.analysis.stability import stability
from appell.code.system import System, compile
from appell.control.controllability import Reach, controllability
from appell.control.feedback import Feedback, lqr
from appell.control.invariants import MinimumControls, minimum_controls
from appell.control.smallest import smallest_actuators
from appell.ensemble.region import far_out
from appell.errors import ControlError, EquilibriumError, IntegrationError
from appell.formulation.abstract import AbstractFormulation
from appell.formulation.derive import derive
from appell.kinematics.consistency import jacobian_at
from appell.kinematics.split import Split
from appell.model.model import Model
from appell.model.values import chosen
from appell.motion.keyboard import uninterrupted
from appell.motion.motion import Motion
from appell.motion.outcome import Outcome
from appell.motion.run import simulate

PILOTS = 5  # boxes, each twice as large, that are looked through for the border of a region of attraction


@dataclass(frozen=True, eq=False, kw_only=True)
class Stabilization:
    """Equilibrium, first approximation, controllability, gains, certificate, closed loop.

    Attributes:
        model: The model.
        formulation: How to derive it; Gibbs-Appell if None.
        values: Numbers of parameters and inputs.
        guess: Where to look for the equilibrium.
        wanted: The wanted configuration; the model's suggested start says it if nothing is given.
        weights: Weights of states and of what depends on them; by Bryson's rule if empty.
        price: Weight of the inputs; by their holding values if None, or what holds a deviation if these are 0.
        dependent: Dependent coordinates, or None.
        inputs: Inputs to use, or None for all.
        ignore: Coordinates on which nothing else depends, to be left out.
        limits: Of inputs, as for `saturated`; None for none.
        push: Deviations at the start of the closed-loop run.
        until: Length of that run.
        runs: Starts for the region of attraction.
        rate: Samples per second of the feedback; None if it acts continuously.
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
    rate: float | None = None

    # The mechanism.

    @cached_property
    def rest(self) -> Equilibrium:
        """The equilibrium to hold."""
        if not self.model.inputs:
            raise ControlError(
                f"{self.model.name!r} has no input to hold or control it by; add a force that has one: "
                f"u = appell.inputs('u'), appell.Generalized({{{self.model.coordinates[0].label}: u}})."
            )
        if self.rate is not None and self.runs:
            raise ControlError("--runs is for a feedback that acts continuously; leave out --rate or --runs.")
        system = compile(derive(self.model, self.formulation)).bind(self.values)
        if self.model.degrees_of_freedom < 1:
            rows = ", ".join(row.name for row in (*self.model.rows, *self.model.programme))
            raise ControlError(
                f"The rows of {self.model.name!r} ({rows}) leave no freedom to control; leave some out. A programme is "
                "followed by `appell track`."
            )
        return equilibrium(system, self.wanted or self.suggested(system), guess=self.guess)

    @cached_property
    def lin(self) -> Linearization:
        """The first approximation."""
        return linearize(self.rest, dependent=self.dependent, ignore=self.ignore)

    @cached_property
    def used(self) -> tuple[str, ...]:
        """The inputs that the feedback gives."""
        known = self.lin.inputs
        return known if self.inputs is None else chosen(self.inputs, known, f"input of {self.model.name!r}")

    @cached_property
    def open(self) -> Certificate:
        """The stability without control."""
        return stability(self.lin)

    @cached_property
    def without(self) -> Linearization | None:
        """The first approximation if C^B were left out, where there are dependent coordinates."""
        if self.lin.named is None or not self.lin.named.dependent or self.lin.dropped:
            return None
        return linearize(self.rest, dependent=self.lin.named.dependent, multiplier_terms=False)

    @cached_property
    def reach(self) -> Reach:
        """What the inputs can reach."""
        return controllability(self.lin, inputs=self.used)

    @cached_property
    def least(self) -> MinimumControls:
        """How many controls would do."""
        return minimum_controls(self.lin)

    @cached_property
    def subsets(self) -> tuple[tuple[str, ...], ...]:
        """The smallest sets of inputs that would do."""
        try:
            return smallest_actuators(self.lin)
        except ControlError:
            return ()

    def suggested(self, system: System) -> dict[str, float]:
        """As many coordinates of the suggested start as can be wanted: the independent ones, fewer if need be."""
        labels = [s.label for s in self.model.coordinates]
        split = self._split(system)
        free = [s for i, s in enumerate(labels) if i not in split.dependent]
        count = min(len(free), len(self.model.inputs))
        where = {**{s: 0.0 for s in labels}, **self.model.start, **self.guess}
        wanted, reason = dict[str, float](), ""
        for more in [free] if count == len(free) else [[s] for s in free]:
            wish = {**wanted, **{s: where[s] for s in more}}
            try:
                equilibrium(system, wish, guess=self.guess, starts=6)
            except EquilibriumError as refusal:
                reason = reason or str(refusal)
                continue
            wanted = wish
            if len(wanted) >= count:
                break
        if wanted:
            return wanted
        raise EquilibriumError(
            f"Say which configuration of {self.model.name!r} to hold, for example --want {free[0]}={where[free[0]]:g}; "
            f"{', '.join(map(str, self.model.inputs))} cannot hold its suggested start. {reason}"
        )

    def _split(self, system: System) -> Split:
        """Which coordinates are dependent; formulations that keep all of them do not say."""
        split = system.equations.coordinate_split
        if split.dependent or not split.rows:
            return split
        start = system.consistent({}, near=self.guess)
        return Split.at(jacobian_at(system.equations.mechanics, 0.0, start.q, start.v, start.z, system.p))

    # The loop.

    @cached_property
    def unlimited(self) -> Feedback:
        """The gains; a refusal says what to type here."""
        try:
            return lqr(self.lin, *self._costs(), inputs=self.used, rate=self.rate)
        except ControlError as refusal:
            raise ControlError(typed(str(refusal))) from None

    @cached_property
    def feedback(self) -> Feedback:
        """The feedback within the limits of its inputs."""
        return self.unlimited.saturated(self.limits)

    @property
    def proof(self) -> Certificate:
        """The stability of the closed loop."""
        return self.unlimited.certificate

    def _costs(self) -> tuple[dict[str, float], Any]:
        """Weights as given, or by Bryson's rule: one over the square of what is still acceptable."""
        sizes = {s: 0.05 * size for s, size in self._sizes.items()}
        bryson = {s: sizes[s] ** -2 if s in sizes else 0.1 for s in self.lin.states}
        bryson |= {rate: 0.1 * size**-2 for s, size in sizes.items() if (rate := f"{s}.rate") in self.lin.states}
        weights = {**dict.fromkeys(self.lin.states, 1.0), **self.weights} if self.weights else bryson
        if self.price is not None:
            return weights, self.price
        return weights, [size**-2 for size in self._input_sizes(self._moving_inputs(bryson))]

    def _input_sizes(self, moved: dict[str, float]) -> Iterator[float]:
        """What is acceptable of each input: its holding value, or a tenth of the largest one in its unit.

        If nothing in its unit need be held: what moves the system.
        """
        units = {w.label: w.unit for w in self.rest.system.model.inputs}
        for w in self.used:
            alike = [v for v in self.rest.inputs if units[v] == units[w]]
            held = max(abs(self.rest.inputs[v]) for v in alike)
            still = held <= 1e-6 * max(moved[v] for v in alike if v in moved)  # zero, as far as rounding can tell
            yield moved[w] if still else max(abs(self.rest.inputs[w]), 0.1 * held)

    def _moving_inputs(self, weights: dict[str, float]) -> dict[str, float]:
        """For each input what it takes to hold a coordinate at its acceptable deviation.

        Where nothing pulls it back or away: what changes a state by as much within a second.
        """
        lin, unit = self.lin, np.array([weights[s] for s in self.lin.states]) ** -0.5
        A, B = lin.A / unit[:, None] * unit, lin.B / unit[:, None]
        coordinates = {q.label for q in self.model.coordinates}
        places = [i for i, s in enumerate(lin.states) if s in coordinates]
        extra = [i for i, s in enumerate(lin.states) if s.removesuffix(".rate") not in coordinates]
        holding = -np.linalg.pinv(np.hstack([A[:, extra], B]))[len(extra) :] @ A[:, places]
        pull = np.max(np.abs(holding), axis=1, initial=0.0)
        push = 1 / np.maximum(np.linalg.norm(B, axis=0), 1e-300)
        return {w: float(a if a > 1e-9 * b else b) for w, a, b in zip(lin.inputs, pull, push, strict=True)}

    @cached_property
    def _sizes(self) -> dict[str, float]:
        """How large coordinates are: their values, or a fifth of their natural units, which angles have always."""
        angles = self.rest.steady.periodic(self.rest.system.p)
        units = zip(self.model.coordinates, self.rest.units.unknowns, angles, strict=False)
        return {s.label: max(0.0 if angle else abs(self.rest[s]), 0.2 * float(unit)) for s, unit, angle in units}

    # Its motion.

    @cached_property
    def pushes(self) -> dict[str, float]:
        """Deviations at the start."""
        coordinates = [s for s in self.lin.states if s in self._sizes]
        return self.push or {s: 0.05 * self._sizes[s] * (-1) ** k for k, s in enumerate(coordinates)}

    @cached_property
    def motion(self) -> Motion:
        """The nonlinear closed loop from there."""
        slowest = self.proof.margin  # structural zeros apart
        end = self.until if self.until is not None else float(f"{10 / max(slowest, 1e-3):.2g}")
        start = self.feedback.start(self.pushes)
        away = far_out(self.feedback, tuple(self.pushes), np.array([list(self.pushes.values())]))
        if self.rate is None:
            outputs = {f"law of {w.label}": law for w, law in self.feedback.laws.items()}
            motion = simulate(self.looped, start, end, outputs=outputs, events=[away])
        else:
            motion = simulate(self.looped, start, end, control=self.feedback, events=[away])
        if not uninterrupted(motion).outcome.ok:
            raise IntegrationError(f"The closed loop could not be run to its end: {motion.summary()}")
        return motion

    @property
    def looped(self) -> System:
        """What is run: the closed loop, or the plant that a sampled feedback acts on."""
        return self.feedback.system if self.rate is None else self.feedback.plant

    @cached_property
    def gaps(self) -> dict[str, np.ndarray]:
        """Deviations from the equilibrium along it."""
        return {s: self.motion[s].values - self.lin.tangent.value(s) for s in self.lin.states}

    @property
    def left(self) -> dict[str, float]:
        """Deviations at its end."""
        return {s: float(gap[-1]) for s, gap in self.gaps.items()}

    @cached_property
    def residual(self) -> float:
        """The largest residual of a constraint at its end."""
        last = self.motion.at(self.motion.times[-1])
        return max((abs(e) for e in self.looped.residual(last).values()), default=0.0)

    @property
    def came_back(self) -> bool:
        """Whether every deviation ended as a hundredth of what it was at most."""
        return self._small(self.left)

    @property
    def settled(self) -> bool:
        """Whether the run came to rest near the equilibrium: at it, or where there is a family at one beside it."""
        late = {s: float(np.ptp(gap[-len(gap) // 10 :])) for s, gap in self.gaps.items()}
        return self.came_back or (self.proof.verdict is Verdict.FAMILY and self._small(late))

    def _small(self, values: dict[str, float]) -> bool:
        least = 1e-9 * max(abs(e) for e in self.pushes.values())
        return all(abs(e) <= max(0.01 * np.max(np.abs(self.gaps[s])), least) for s, e in values.items())

    @property
    def ended(self) -> str:
        """How the run ended, in words."""
        if self.came_back:
            return "came back"
        if self.settled:
            return "came to rest beside it, at another member of the family"
        if self.motion.outcome is Outcome.EVENT:
            return "DID NOT COME BACK and was followed until it was far out; try a smaller --push"
        return "DID NOT COME BACK"

    @cached_property
    def region(self) -> Any:
        """The region of attraction, over a box in which its border is in sight; None if no starts are wanted."""
        if not self.runs:
            return None
        from appell.ensemble.region import region_of_attraction

        coordinates = [s for s in self.lin.states if s in self.rest.positions]
        box = {s: 4 * abs(self.pushes.get(s, 0.05)) for s in coordinates[:2]}
        for _ in range(PILOTS):
            pilot = region_of_attraction(self.feedback, box, runs=min(self.runs, 64), samples=10, progress=False)
            if np.mean(pilot.converged) < 0.8:
                break
            box = {s: 2 * size for s, size in box.items()}
        return region_of_attraction(self.feedback, box, runs=self.runs)

    @property
    def ok(self) -> bool:
        """Whether the loop is proved stable and came to rest."""
        return bool(self.proof.asymptotic and self.settled)


def typed(words: str) -> str:
    """Words with what is typed on the command line in place of Python.

    Args:
        words: A sentence about some equations.
    """
    return re.sub(
        r"linearize\(\.\.\., ignore=\[(.*?)\]\)", lambda found: "--ignore " + re.sub("[' ]", "", found[1]), words
    )
