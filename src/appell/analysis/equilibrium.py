"""Equilibria and steady motions: positions, and the inputs that hold them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NoReturn

import numpy as np

from appell.analysis.equilibrium_search import Problem, Root, Wishes
from appell.analysis.families import measured, same, sorted_out
from appell.analysis.no_equilibrium import CIRCLE, explain
from appell.analysis.relaxation import relaxed
from appell.analysis.steady import Steady
from appell.analysis.units import Units
from appell.code.state import State
from appell.code.system import System, compile
from appell.errors import EquilibriumError, ModelError
from appell.formulation.derive import derive
from appell.model.model import Model
from appell.model.symbols import key, listed
from appell.model.values import numbers, unknown, whole
from appell.motion.masses import Masses

HOPELESS = 12  # starts from which the constraints must have been met once
MOVING = 1e-6  # accelerations, in natural units, from which on nothing is at rest
PLENTY = 12  # members of families with several parameters
RESTS = 12  # places to come to rest from, where no other search has found a root
ROUNDING = 1e-9  # share of its way by which a state may be behind the end of its flow


@dataclass(frozen=True, eq=False, kw_only=True)
class Equilibrium:
    """A configuration at rest, with the inputs and multipliers that hold it there.

    Attributes:
        system: The system with the holding inputs bound: `simulate(rest.system, rest)` stays where it is.
        state: Positions, rates (zero, but for cyclic coordinates of a steady motion) and extra states.
        inputs: Every open input with its holding value.
        found: Which inputs and rates were not given but found.
        multipliers: The multiplier of every constraint row, of the force J' lambda.
        residual: What the equations leave, against the size of their terms.
        freedom: How many parameters could still be chosen: 0 for an isolated equilibrium.
        degenerate: How many directions change nothing to first order and lead along no family, as at the bottom of x^4;
            the equilibrium is then known to half of the digits or less.
        aside: Coordinates of a motion that turns, as in rolling in a circle, on which nothing depends and whose rates
            may change.
        branches: All equilibria that were found for the same wish, one of each family, this one first.
    """

    system: System
    state: State
    inputs: Mapping[str, float]
    found: tuple[str, ...]
    multipliers: Mapping[str, float]
    residual: float
    freedom: int
    degenerate: int = 0
    aside: tuple[str, ...] = ()
    branches: tuple[Equilibrium, ...] = field(default=(), repr=False)

    @property
    def model(self) -> Model:
        """The model."""
        return self.system.model

    @property
    def positions(self) -> dict[str, float]:
        """Every coordinate with its value."""
        return {s.label: self.state[s] for s in self.model.coordinates}

    @property
    def states(self) -> dict[str, float]:
        """Every extra state with its value: currents, integrals, masses."""
        return {s.label: self.state[s] for s in self.model.states}

    @property
    def rates(self) -> dict[str, float]:
        """Rates that are not zero: those of the cyclic coordinates of a steady motion."""
        return {s.rate.label: self.state[s.rate] for s in self.model.coordinates if self.state[s.rate] != 0.0}

    @property
    def w(self) -> np.ndarray:
        """Values of all inputs; zero for closed ones, as they no longer occur."""
        return np.array([self.inputs.get(s.label, 0.0) for s in self.model.inputs])

    @cached_property
    def steady(self) -> Steady:
        """The equations that vanish here."""
        return Steady(self.system.equations)

    @cached_property
    def units(self) -> Units:
        """What everything is measured in here."""
        y = [*self.state.array, *self.w, *np.zeros(len(self.steady.mechanics.row_names))]
        return Units.of(self.steady, self.system.p, np.array(y))

    def __getitem__(self, name: Any) -> float:
        label = key(name)
        for values in (self.state.to_dict(), self.inputs, self.multipliers):  # a row may be called like a coordinate
            if label in values:
                return values[label]
        return self.state[label]  # which says what there is

    @property
    def remarks(self) -> tuple[str, ...]:
        """Whether there are others, in words."""
        family = f"one of a family with {self.freedom} parameter{'s' * (self.freedom > 1)}"
        others = f"{len(self.branches)} branches were found; this is the one nearest to the guess"
        if any(e.freedom > 1 for e in self.branches):
            others += ", and some may be parts of one family"
        return (*([family] if self.freedom else []), *([others] if len(self.branches) > 1 else []))

    def _repr_html_(self) -> str:
        from appell.reporting.notebook import equilibrium_html

        return equilibrium_html(self)

    def __repr__(self) -> str:
        kind = "steady motion" if self.rates else "equilibrium"
        lines = [f"{kind} of {self.model.name!r}, residual {self.residual:.1e}"]
        for what, values in (
            ("positions", self.positions),
            ("rates", self.rates),
            ("states", self.states),
            ("inputs", self.inputs),
            ("multipliers", self.multipliers),
        ):
            if values:
                shown = {name: value if abs(value) > 1e-50 else 0.0 for name, value in values.items()}
                lines.append(f"  {what}: " + ", ".join(f"{name}={value:.9g}" for name, value in shown.items()))
        return "\n".join([*lines, *(f"  {remark}" for remark in self.remarks)])


def as_system(subject: System | Model) -> System:
    """A system with its numbers: a model is derived and compiled."""
    if isinstance(subject, Model):
        return compile(derive(subject)).bind()
    if isinstance(subject, System):
        return subject
    raise ModelError(f"Got {type(subject).__name__}; give a Model or a System.")


def equilibrium(
    system: System | Model,
    wanted: Mapping[Any, float] | None = None,
    *,
    inputs: Iterable[Any] | None = None,
    guess: Mapping[Any, float] | None = None,
    starts: int = 60,
    seed: int = 0,
) -> Equilibrium:
    r"""The equilibrium $\partial_q W = Q(q, 0, u) + J^T\lambda$, $F(q) = 0$ with wanted values, eq. (17).

    It finds the other positions, the extra states and the inputs that hold the configuration. A wanted rate of a
    cyclic coordinate asks for a steady motion; where wheels roll, one of any coordinate on which nothing else
    depends, such as a heading, asks for one in a circle, in which all rates that follow are found as well. The search
    begins at the guess and at random places, so that other branches are found too; they are in `branches`.

    Args:
        system: A system or a model. Inputs that are not searched for keep the values they are bound to.
        wanted: Values of coordinates, extra states and rates of coordinates that run.
        inputs: What may be adjusted to get there: inputs, rates of cyclic coordinates. Left out: all open inputs if
            something is wanted, and none if nothing is.
        guess: Where to begin, by name; the model's suggested start where left out.
        starts: How many places to begin at.
        seed: Seed of the random places.

    Returns:
        The equilibrium nearest to the guess.

    Example:
        >>> import appell as ap
        >>> rest = ap.equilibrium(ap.library.slider_crank(), {"theta": 1.0})
        >>> round(rest["tau"], 6)
        -0.559392
        >>> len(ap.equilibrium(ap.compile(ap.derive(ap.library.slider_crank())).bind({"tau": 0})).branches)
        6

    Reference: Krasinskiy 2025, eq. (17), with the m equations F = 0 that it leaves unsaid.
    """
    system = as_system(system)
    if wanted is not None and not isinstance(wanted, Mapping):
        raise ModelError(f"Got {wanted!r} as wanted values; give them by name, such as {{'x': 0.5}}.")
    steady = Steady(system.equations)
    wishes = _read(system, steady, wanted, inputs, guess)
    starts, rng = whole("starts", starts, 0), np.random.default_rng(whole("seed", seed, 0))
    if turning := _turning(steady, system.p, wishes):
        return _in_a_circle(system, steady, wishes, starts, rng) or _not_cyclic(steady, system.p, turning)
    problem = Problem(steady, system.p, wishes)
    roots, nearest = _searched(problem, max(1, starts), rng)
    if not roots:
        turned = _in_a_circle(system, steady, wishes, starts, rng)
        if turned is not None:
            return turned
        raise EquilibriumError(explain(problem, nearest, rng))
    passed = _passed(problem, roots)
    if all(passed):
        return _at_the_ends(system, problem, passed[0], guess, starts, seed)
    roots = sorted_out(problem, [root for root, ends in zip(roots, passed, strict=True) if not ends])
    made = [_made(system, steady, problem, root) for root in roots]
    made = [e for e in made if e is not None] or [_refused(system, problem, roots[0])]
    branches = tuple(made)
    return replace(branches[0], branches=branches)


def _turning(steady: Steady, p: np.ndarray, wishes: Wishes) -> str:
    """A coordinate that is to run and is not cyclic, if there is one."""
    coordinates = steady.mechanics.model.coordinates
    others = [q for i, q in enumerate(coordinates) if i not in steady.cyclic(p)]
    asked = (q.label for q in others if q.rate.label in wishes.free or wishes.fixed.get(q.rate.label))
    return next(asked, "")


def _in_a_circle(
    system: System, steady: Steady, wishes: Wishes, starts: int, rng: np.random.Generator
) -> Equilibrium | None:
    """The steady motion in which coordinates run that others only follow; None if there is none."""
    from appell.analysis.circling import circling

    runs = any(name.endswith(".rate") and value for name, value in wishes.fixed.items())
    return circling(system, wishes, starts, rng) if runs and steady.velocity_rows else None


def _not_cyclic(steady: Steady, p: np.ndarray, name: str) -> NoReturn:
    others = [steady.mechanics.model.coordinates[i].label for i in steady.cyclic(p)]
    words = (
        f"'{name}.rate' must be zero in a motion without accelerations, which is what is looked for, because "
        f"{name} is not a cyclic coordinate; cyclic are: {', '.join(others) or 'none'}."
    )
    raise EquilibriumError(" ".join([words, *[CIRCLE] * bool(steady.velocity_rows)]))


def _searched(problem: Problem, starts: int, rng: np.random.Generator) -> tuple[list[Root], list[Root]]:
    """Roots, and where the searches without any ended."""
    roots: list[Root] = []
    nearest: list[Root] = []
    for k in range(starts):
        if k == HOPELESS and not roots and all(problem.apart(root) for root in nearest):
            break  # the wanted pose is out of reach, or the way there leads off the constraints
        if sum(root.freedom > 1 for root in roots) >= PLENTY:
            break  # every start leads to another member of wide families
        root = problem.solve(problem.place(None if k == 0 else rng))
        if not root.ok:
            nearest.append(root)
        elif not any(same(problem, root, other) for other in roots):
            roots.append(measured(problem, root))
    for k in range(0 if roots else min(starts, RESTS)):
        root = problem.solve(relaxed(problem, problem.place(None if k == 0 else rng)))
        if root.ok and not any(same(problem, root, other) for other in roots):
            roots.append(measured(problem, root))
    return roots, nearest


def _read(
    system: System,
    steady: Steady,
    wanted: Mapping[Any, float] | None,
    inputs: Iterable[Any] | None,
    guess: Mapping[Any, float] | None,
) -> Wishes:
    """What is fixed, what is searched for, and where to begin."""
    model, equations = system.model, system.equations
    places = [s.label for s in (*model.coordinates, *model.states)]
    rates = [s.rate.label for s in model.coordinates]
    opened = [w.label for w in equations.inputs]
    fixed, begin = numbers(wanted), numbers(guess)
    if inputs is None:
        free = opened if fixed else []
    else:
        free = [key(w) for w in listed(inputs)]
    free = [w for w in free if w not in fixed]
    cyclic = [model.coordinates[i].rate.label for i in steady.cyclic(system.p)]
    known = [*places, *rates, *opened]
    for label in (*fixed, *begin):
        if label not in known:
            raise ModelError(unknown(label, known, f"coordinate, state or input of {model.name!r}"))
    for label in free:
        if label not in (*opened, *rates):
            what = "input, or rate of a cyclic coordinate, that could be adjusted"
            raise ModelError(unknown(label, [*opened, *cyclic], what))
    values = {w: system.values[w] for w in opened if w in system.values}
    missing = [w for w in opened if w not in (*free, *fixed, *values)]
    if missing:
        raise EquilibriumError(
            f"{'The inputs' if len(missing) > 1 else 'The input'} {', '.join(missing)} "
            f"{'have no values and are' if len(missing) > 1 else 'has no value and is'} not searched for; write "
            f"inputs=[{', '.join(map(repr, missing))}], or bind numbers."
        )
    return Wishes(fixed, tuple(free), {**model.start, **begin}, values)


def _passed(problem: Problem, roots: list[Root]) -> list[dict[str, tuple[float, float]]]:
    """For each root the extra states that are behind the end of their flow, such as less than nothing in a tank.

    The name of each, with its value and its end.
    """
    wishes, model = problem.wishes, problem.steady.mechanics.model
    ends = problem.steady.ends(problem.p, wishes.begin)
    found = []
    for root in roots:
        z = dict(zip((s.label for s in model.states), problem.parts(root.y)[2].tolist(), strict=True))
        far = {s: (z[s] - first) / (end - first) for s, (first, end) in ends.items() if s not in wishes.fixed}
        found.append({s: (z[s], ends[s][1]) for s, share in far.items() if share > 1 + ROUNDING})
    return found


def _at_the_ends(
    system: System, problem: Problem, passed: Mapping[str, tuple[float, float]], guess: Any, starts: int, seed: int
) -> Equilibrium:
    """The equilibrium with the tanks run dry, where the flow is at rest as well."""
    wishes = problem.wishes
    wanted = {**wishes.fixed, **{name: end for name, (_, end) in passed.items()}}
    try:
        return equilibrium(system, wanted, inputs=wishes.free, guess=guess, starts=starts, seed=seed)
    except EquilibriumError:
        names = " and ".join(f"{name} = {value:.6g}, beyond {end:.6g}" for name, (value, end) in passed.items())
        raise EquilibriumError(
            f"{system.model.name!r} was found at rest only with {names}, where the flow ends. Ask for another "
            "configuration, or give its extra states in wanted=."
        ) from None


def _made(system: System, steady: Steady, problem: Problem, root: Root) -> Equilibrium | None:
    """A root as a result, or None where rows are singular, the motion is on another branch, or a mass is negative."""
    model, mechanics = system.model, steady.mechanics
    *_, w, multipliers = problem.parts(root.y)
    values = dict(zip((s.label for s in model.inputs), w.tolist(), strict=True))
    held, state = _held(system, problem, root)
    if mechanics.row_names:
        rank, _ = steady.rank(problem.jacobian(root.y), system.p)
        if rank < steady.independent:
            return None
    if _negative(held, state) or _elsewhere(held, state, problem):
        return None
    return Equilibrium(
        system=held,
        state=state,
        inputs={name: values[name] for name in (s.label for s in system.equations.inputs)},
        found=tuple(problem.wishes.free),
        multipliers=dict(zip(mechanics.row_names, multipliers.tolist(), strict=True)),
        residual=root.left,
        freedom=root.freedom + problem.idle,
        degenerate=root.flat - root.freedom,
    )


def _held(system: System, problem: Problem, root: Root) -> tuple[System, State]:
    """The system with the inputs of a root bound, and its state."""
    q, v, z, w, _ = problem.parts(root.y)
    values = zip((s.label for s in system.model.inputs), w.tolist(), strict=True)
    held = system.bind({name: value for name, value in values if name in problem.wishes.opened})
    return held, State(system.model, np.concatenate([q, v, z]))


def _negative(system: System, state: State) -> str:
    """The body whose mass is negative at a state, if there is one."""
    masses = Masses(system.code)
    found = masses(0.0, system.to_x(state), system.w, system.p)
    return next((name for name, mass in zip(masses.names, found, strict=True) if mass < 0), "")


def _elsewhere(system: System, state: State, problem: Problem) -> bool:
    """Whether the motion is on another branch of the rows on accelerations than the one without any."""
    if not system.equations.mechanics.curved:
        return False
    units = problem.units.unknowns[: len(state.q)] / problem.units.time**2
    return not bool(np.all(np.abs(system.accelerations(state)) <= MOVING * units))


def _refused(system: System, problem: Problem, root: Root) -> Equilibrium:
    if body := _negative(*_held(system, problem, root)):
        raise EquilibriumError(
            f"{system.model.name!r} was found at rest only where the mass of {body!r} is negative. Give its "
            "extra states in wanted=, or a nearer guess=."
        )
    jacobian, mechanics = problem.jacobian(root.y), system.equations.mechanics
    rank, value = problem.steady.rank(jacobian, system.p)
    rows = mechanics.row_names
    if _elsewhere(*_held(system, problem, root), problem):
        curved = " and ".join(repr(rows[i]) for i in mechanics.acceleration_rows)
        raise EquilibriumError(
            f"{system.model.name!r} could rest on one branch of {curved}, but its motion is on another, next to the "
            "acceleration without the row. To choose, give the row near={x.rate.rate: 0}."
        )
    u, _, _ = np.linalg.svd(jacobian)
    worst = rows[int(np.argmax(np.abs(u[:, -1])))]
    raise EquilibriumError(
        f"At the wanted configuration of {system.model.name!r} the constraint Jacobian has rank "
        f"{rank} where {len(system.equations.split.rows)} independent rows are needed (smallest singular value "
        f"{value:.1e} times its usual size, row {worst!r}): a singular pose or a branch point, where positions do not "
        "fix the motion. Choose another configuration."
    )
