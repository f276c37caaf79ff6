"""A motion: what a run gave, by name, at any time, with proofs and pictures."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np
import sympy as sp

from appell.code.code import Code
from appell.code.state import State
from appell.code.system import System
from appell.equations import Equations
from appell.errors import AppellError, ModelError
from appell.files import path_of, refuse_paths
from appell.graph.numeric import SideBySide
from appell.model.symbols import ExtraState, Letter, Rate, key, quoted, t, unit_of
from appell.model.values import formula_of, unknown, whole
from appell.motion.drive import Drive, Law
from appell.motion.events import Occurrence
from appell.motion.formula import energy_function, formula_function, order_of, refuse_unknown_rates, with_rates
from appell.motion.modes import as_it_slides, laws_along
from appell.motion.outcome import Outcome
from appell.motion.projection import project
from appell.motion.stretch import Stretch
from appell.motion.table import between, moments
from appell.motion.versions import versions

if TYPE_CHECKING:
    from appell.motion.check import Check

    DataArray = Dataset = DataFrame = Any

SWITCHES = 6  # changes of speeds that a summary tells one by one


class Motion:
    """The result of a run: a trajectory.

    `motion[x]`, `motion["x.rate"]` and `motion[any formula]` give labelled arrays over time; `motion.at(t)` a state.

    Args:
        times: Times of the table.
        columns: Name -> values at those times.
        units: Name -> unit.
        info: Everything else one should know, as plain data.
        system: The system that moved; None after loading a file.
        stretches: Dense output; empty after loading a file.
        outcome: How the run ended.
        occurrences: Events that happened.
        law: The Python function that gave the inputs, if one did.
    """

    def __init__(
        self,
        times: np.ndarray,
        columns: Mapping[str, np.ndarray],
        units: Mapping[str, str],
        info: Mapping[str, Any],
        outcome: Outcome,
        system: System | None = None,
        stretches: Sequence[Stretch] = (),
        occurrences: Sequence[Occurrence] = (),
        law: Law | None = None,
    ) -> None:
        self.times, self.columns, self.units, self.info = times, dict(columns), dict(units), dict(info)
        self.outcome, self.occurrences = outcome, tuple(occurrences)
        self._system, self.stretches, self.law = system, tuple(stretches), law
        self._check: Check | None = None

    @classmethod
    def of_run(
        cls,
        system: System,
        stretches: list[Stretch],
        outcome: Outcome,
        detail: str,
        method: str,
        reason: str,
        occurrences: list[Occurrence],
        switches: list[str],
        seconds: float,
        grid: np.ndarray,
        outputs: Mapping[str, Any],
        drive: Drive,
    ) -> Motion:
        """Tabulate a run."""
        end = stretches[-1].times[-1]
        times = grid[grid <= end]
        early = not outcome.ok or outcome is Outcome.EVENT
        if early and (times.size == 0 or times[-1] < end):
            times = np.append(times, end)
        equations = system.equations
        info = {
            "model": equations.model.name,
            "description": equations.model.description,
            "formulation": equations.formulation.name,
            "method": method,
            "reason": reason,
            "outcome": outcome.name,
            "detail": detail,
            "steps": int(sum(s.times.size - 1 for s in stretches)),
            "seconds": seconds,
            "law": drive.asks,
            "switches": switches,
            "events": [{"name": o.name, "t": o.t} for o in occurrences],
            "values": dict(system.values),
            "equations": equations.summary(),
            "versions": versions(),
        }
        motion = cls(
            times=times,
            columns={},
            units={},
            info=info,
            outcome=outcome,
            system=system,
            stretches=stretches,
            occurrences=occurrences,
            law=drive.law,
        )
        motion._tabulate(outputs)
        return motion

    # Values.

    @property
    def system(self) -> System:
        """The system that moved."""
        if self._system is None:
            raise AppellError(
                "This motion was loaded from a file without its model; use appell.load(path, system=...)."
            )
        return self._system

    @property
    def detail(self) -> str:
        """Where and why it ended, if early."""
        return self.info.get("detail", "")

    def located(self, times: np.ndarray) -> list[tuple[Stretch, np.ndarray]]:
        """Which stretch each time belongs to; a boundary belongs to what follows. Times outside are refused."""
        self._refuse_outside(times, self.stretches[0].times[0], self.stretches[-1].times[-1])
        if len(self.stretches) == 1:
            return [(self.stretches[0], np.arange(times.size))]
        starts = np.array([s.times[0] for s in self.stretches])
        which = np.clip(np.searchsorted(starts, times, side="right") - 1, 0, len(self.stretches) - 1)
        return [(self.stretches[k], np.flatnonzero(which == k)) for k in np.unique(which)]

    @staticmethod
    def _refuse_outside(times: np.ndarray, first: float, last: float) -> None:
        rounding = 1e-12 * max(abs(first), abs(last))
        if not np.all((times >= first - rounding) & (times <= last + rounding)):
            asked = f"{times.min():g}" + (f" .. {times.max():g}" if times.min() < times.max() else "")
            raise ModelError(f"The motion covers t = {first:g} .. {last:g}; got t = {asked}.")

    def states(self, times: Any) -> np.ndarray:
        """q, q', z at any times, one row each, from the dense output; of a file, between the rows of its table."""
        times = moments(times)
        if self._system is None or not self.stretches:
            self._refuse_outside(times, self.times[0], self.times[-1])
            happened = [occurrence.t for occurrence in self.occurrences]
            return between(self.times, self.columns, self.info["state"], happened, times)
        model = self.system.model
        n, k = len(model.coordinates), len(model.states)
        result = np.empty((times.size, 2 * n + k))
        for stretch, here in self.located(times):
            x = self.sample(stretch, times[here])
            m = len(stretch.code.equations.speeds)
            result[here, :n], result[here, 2 * n :] = x[:n].T, x[n + m :].T
            if stretch.code.direct:
                result[here, n : 2 * n] = x[n : n + m].T
                continue
            rates = stretch.code.rates.side_by_side  # they never contain inputs
            result[here, n : 2 * n] = rates(here.size, times[here, None], x.T, 0.0, self.system.p)[0][:, :, 0]
        return result

    def sample(self, stretch: Stretch, times: np.ndarray) -> np.ndarray:
        """x on the constraints within a stretch."""
        x = np.array(stretch.dense(np.clip(times, stretch.times[0], stretch.times[-1])))
        project(stretch.code, times, x.T, self.system.p)
        return x

    def at(self, t: float) -> State:
        """The state at any time of the motion."""
        times = moments(t)
        if times.size != 1:
            raise ModelError(f"at takes one time, got {times.size}; motion.states(times) takes several.")
        return State(self.system.model, self.states(times)[0], float(times[0]))

    def inputs_at(self, times: np.ndarray) -> np.ndarray:
        """Values of all inputs of the model at some times, one row each."""
        model, system, times = self.system.model, self.system, moments(times)
        if not self.stretches:
            kept = [self._kept_input(w.label, times) for w in model.inputs]
            return np.array(kept).reshape(len(kept), times.size).T
        equations = system.equations
        result = np.zeros((times.size, len(model.inputs)))
        order = {w: i for i, w in enumerate(model.inputs)}
        free, closed = ([order[w] for w in inputs] for inputs in (equations.inputs, equations.closed))
        for stretch, here in self.located(times):
            result[np.ix_(here, free)] = w = self.open_inputs(stretch, times[here])
            if closed:
                laws = laws_along(stretch.code, stretch.family)
                x, p = self.sample(stretch, times[here]), stretch.p[: laws.function.nnz_in(3)]
                result[np.ix_(here, closed)] = laws(here.size, times[here, None], x.T, w, p)[0][:, :, 0]
        return result

    def _kept_input(self, label: str, times: np.ndarray) -> np.ndarray:
        """An input of a motion from a file, which tabulates those that change and has the values of the others."""
        if label in self.columns:
            return np.interp(times, self.times, self.columns[label])
        return np.full(times.size, self.info["values"][label])

    def evaluate(self, formula: Any, times: Any = None) -> np.ndarray:
        """Values of a formula along the motion.

        Args:
            formula: In coordinates, rates, accelerations, jerks and higher rates, speeds, extra states, rates of these,
                inputs, parameters and time.
            times: Where; the times of the table if left out.
        """
        formula = formula_of(formula, "What is evaluated along a motion")
        if not self.stretches:
            raise AppellError(
                f"A file keeps only the table of a motion, without {quoted(formula)}; give it to simulate as an output."
            )
        if self.law is not None:
            refuse_unknown_rates(self.system.equations, order_of(formula))
        return self._along(lambda equations: formula_function(equations, formula), times, formula)

    def acceleration_energy(self, p: int = 1) -> DataArray:
        r"""The acceleration energy of order p along the motion, $E_A^{(p)} = \tfrac12\int|x^{(p+1)}|^2\,dm$.

        For p = 0 kinetic energy, for p = 1 the function of Gibbs and Appell with all its terms, for p = 2 an energy of
        jerks. Of any model: loops, wheels, masses that change. Of a robot at given q, q', ... without a run:
        `appell.higher_order.Dynamics.energy`.

        Args:
            p: The order, from 0 on.

        Reference: Negrean et al. 2025, eq. (82), corrected.
        """
        import xarray

        p = whole("The order p", p, 0)
        if not self.stretches:
            raise AppellError("A file keeps only the table of a motion; simulate again for its acceleration energies.")
        if self.law is not None:
            refuse_unknown_rates(self.system.equations, p + 1)
        values = self._along(lambda equations: energy_function(equations, p))
        attributes = {"units": f"J/s^{2 * p}" if p else "J"}
        return xarray.DataArray(values, {"t": ("t", self.times, {"units": "s"})}, ["t"], f"E_A^({p})", attributes)

    def _along(
        self, function_of: Callable[[Equations], ca.Function], times: Any = None, letter: sp.Expr | None = None
    ) -> np.ndarray:
        """Values of a function of t, x, w, p, q'', ... along the motion; a letter of the state is read off."""
        times = self.times if times is None else moments(times)
        result = np.empty(times.size)
        # A run with many events has many stretches of the same code.
        made: dict[tuple[Code, tuple[int, ...]], SideBySide] = {}
        for stretch, here in self.located(times):
            x = self.sample(stretch, times[here])
            equations = stretch.code.equations
            if letter in equations.states:
                result[here] = x[equations.states.index(letter)]
                continue
            w = self.open_inputs(stretch, times[here])
            way = stretch.code, stretch.family
            if way not in made:
                function = function_of(equations)
                if function.n_in() > len(equations.arguments) + 1:
                    function = with_rates(function, stretch.code, stretch.flow)
                else:
                    function = as_it_slides(stretch.code, function, stretch.family)
                made[way] = SideBySide(function)
            function, t = made[way], times[here]
            p = stretch.p[: function.function.nnz_in(3)]
            more = [] if function.function.n_in() == len(equations.arguments) else [stretch.accelerations(t, x.T, w)]
            result[here] = function(here.size, t[:, None], x.T, w, p, *more)[0][:, 0, 0]
        return result

    def open_inputs(self, stretch: Stretch, times: np.ndarray) -> np.ndarray:
        """Values of the open inputs at some times of a stretch, one row each."""
        if self.law is None:
            return np.repeat(stretch.w[None, :], times.size, axis=0)
        model, states = self.system.model, self.states(times)
        return np.array([self.law(float(t), State(model, row, float(t))) for t, row in zip(times, states, strict=True)])

    def _tabulate(self, outputs: Mapping[str, Any]) -> None:
        model, equations = self.system.model, self.system.equations
        table = self.states(self.times)
        letters: list[Letter] = [*model.coordinates, *(q.rate for q in model.coordinates), *model.states]
        self.info["state"] = [s.label for s in letters]
        for i, letter in enumerate(letters):
            self.columns[letter.label], self.units[letter.label] = table[:, i], letter.unit
        for speed in (*equations.speeds, *(equations.formulation.speeds or ())):
            if speed.label not in self.columns:
                self.columns[speed.label], self.units[speed.label] = self.evaluate(speed), speed.unit
        held = self.law is None and any(s.w is not self.stretches[0].w for s in self.stretches)
        if model.inputs and (self.law is not None or equations.closed or held):
            values = self.inputs_at(self.times)
            for j, w in enumerate(model.inputs):
                self.columns[w.label], self.units[w.label] = values[:, j], w.unit
        for name, formula in outputs.items():
            self.columns[str(name)], self.units[str(name)] = self.evaluate(formula), unit_of(formula)

    # Labelled data.

    def __getitem__(self, name: Any) -> DataArray:
        """A quantity over time, by name, symbol or formula."""
        import xarray

        if isinstance(name, sp.Basic) and not isinstance(name, Letter):
            label, values, unit = str(name), self.evaluate(name), unit_of(name)
        else:
            label = key(name)
            if label in self.columns:
                values, unit = self.columns[label], self.units.get(label, "")
            else:
                letter = self._letter(name, label)
                if letter is None:
                    raise ModelError(unknown(label, list(self.columns), "quantity of this motion"))
                values, unit = self.evaluate(letter), letter.unit
        return xarray.DataArray(values, {"t": ("t", self.times, {"units": "s"})}, ["t"], label, {"units": unit})

    def _letter(self, name: Any, label: str) -> Letter | None:
        """What has no column: a rate of any order, an input that has one value, a parameter, time."""
        if not self.stretches:
            beyond = isinstance(name, Rate) and name.order >= (1 if isinstance(name.base, ExtraState) else 2)
            return name if beyond else None
        model = self.system.model
        order = max(2, label.count(".rate"))
        letters: list[Letter] = [*(q.derivative(order) for q in model.coordinates), *(z.rate for z in model.states)]
        letters += [s for u in self.system.equations.quasi_velocities for s in (u, u.rate)]
        return {letter.label: letter for letter in (*letters, *model.inputs, *model.parameters, t)}.get(label)

    @cached_property
    def dataset(self) -> Dataset:
        """Everything tabulated, as an xarray Dataset with units and the description of the run."""
        import xarray

        variables = {name: ("t", values, {"units": self.units.get(name, "")}) for name, values in self.columns.items()}
        attributes = {"appell": json.dumps(self.info, sort_keys=True)}
        return xarray.Dataset(variables, {"t": ("t", self.times, {"units": "s"})}, attributes)

    def to_pandas(self) -> DataFrame:
        """A pandas table with time as its index."""
        return self.dataset.to_dataframe()

    def save(self, path: str | Path) -> Path:
        """Write the table to a file, with the description of the run and the versions of what computed it.

        Args:
            path: A name that ends in .nc (NetCDF) or .zarr; in .csv for the numbers alone.
        """
        from appell.motion.file import write

        return write(self, path_of(path))

    # Proofs and pictures.

    def check(self) -> Check:
        """Constraint residuals, power balance, agreement of formulations along the motion."""
        from appell.motion.check import check

        if self._check is None:
            self._check = check(self)
        return self._check

    def reactions(self, constraint: str | None = None) -> Dataset:
        """Forces of constraint along the motion: multipliers and generalized forces.

        Args:
            constraint: Name of a constraint or of one of its rows; all if left out.
        """
        from appell.motion.reactions import reactions

        return reactions(self, constraint)

    def sensitivities(self, by: Any, of: Any = None) -> Dataset:
        r"""How quantities change with numbers: slopes along the motion to the accuracy of its integration.

        $$ \dot S = f_x S + f_\theta, \qquad S = \partial x / \partial\theta $$
        beside the motion, through its events, kinks and changes of speeds, whose moments move as well.

        Args:
            by: What is varied: parameters, constant inputs and, by their own names, starting values of coordinates,
                speeds and extra states that are free at the start. Other free values stay as they are, and
                dependent ones follow from the constraints.
            of: Quantities by name, symbol or formula; all coordinates, their rates and extra states if left out.

        Returns:
            Slopes of each over `by` and t, where a starting value is called `angle.start`, and `event_time`, slopes of
            the moments of events.

        Example:
            >>> import appell as ap
            >>> system = ap.compile(ap.derive(ap.library.pendulum_chain(1))).bind()
            >>> motion = ap.simulate(system, {"q1": 0.1}, until=2.0)
            >>> slopes = motion.sensitivities(["l", "q1"])
            >>> float(slopes["q1"].sel(by="q1.start", t=0.0))
            1.0
        """
        from appell.motion.sensitivities import sensitivities

        return sensitivities(self, by, of)

    def plot(self, *names: Any, path: str | Path | None = None) -> Any:
        """Quantities over time, one panel per unit.

        Args:
            names: What to draw, by name, symbol or formula; all that is tabulated if left out.
            path: A file to write: .html (interactive), .svg, .pdf or .png.

        Returns:
            The plot: in a notebook it shows itself; `figure()` is Matplotlib's, `plotly()` Plotly's.
        """
        from appell.view.motions import over_time

        refuse_paths(names)
        return over_time(self, names).written(path)

    def phase(self, x: Any, y: Any = None) -> Any:
        """A phase portrait of one quantity against another, its rate if left out."""
        from appell.view.motions import phase

        return phase(self, x, y)

    def animate(
        self,
        path: str | Path | None = None,
        *,
        look: Any = None,
        forces: bool = True,
        field: Any = None,
        frames: int | None = None,
    ) -> Any:
        """An animation: a scene, with `save` and `show`; in a notebook it shows itself.

        Args:
            path: A file to write: .html (self-contained), .gif, .mp4, .png, .svg, .pdf.
            look: Hints for drawing, an `appell.view.Look`; those of the model if left out.
            forces: Whether forces and reactions are drawn.
            field: A map on the floor: a `Coverage` of the sprayer, or an `appell.view.Field`.
            frames: How many moments; chosen from the length of the run if left out.
        """
        from appell.view.stage import scene_of_motion

        scene = scene_of_motion(self, look, forces, field, frames)
        if path is not None:
            scene.save(path)
        return scene

    def summary(self) -> str:
        """A few lines: what moved, how it was computed, how it ended."""
        info = self.info
        steps = f"{info['steps']} step{'s' * (info['steps'] != 1)}"
        lines = [
            f"{info['model']}: t = {self.times[0]:g} .. {self.times[-1]:g} s, {steps} by "
            f"{info['method']} ({info['reason']}), {info['seconds']:.3g} s",
            self.outcome.value + (f" {self.detail}" if self.detail else ""),
        ]
        switches = info["switches"]
        shown = switches if len(switches) <= SWITCHES else switches[: SWITCHES - 1]
        lines += [f"speeds changed at {line}" for line in shown]
        if len(shown) < len(switches):
            lines.append(f"speeds changed at {len(switches) - len(shown)} more times, the last {switches[-1]}")
        if self.occurrences:
            shown = ", ".join(f"{o.name} at {o.t:.9g} s" for o in self.occurrences[:6])
            count = f"{len(self.occurrences)} event{'s' * (len(self.occurrences) != 1)}"
            lines.append(f"{count}: {shown}{' ...' if len(self.occurrences) > 6 else ''}")
        return "\n".join(lines)

    def __repr__(self) -> str:
        return self.summary()

    def _repr_html_(self) -> str:
        from appell.reporting.notebook import motion_html

        return motion_html(self)
