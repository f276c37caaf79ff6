"""Several principles on one model: the same accelerations, or one of them is wrong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import casadi as ca
import numpy as np

from appell.code.machine import Machine
from appell.equations import Equations
from appell.errors import AppellError, FormulationError
from appell.formulation import FORMULATIONS
from appell.formulation.abstract import kinds
from appell.formulation.multipliers import Multipliers
from appell.formulation.recursive import Recursive
from appell.graph.terms import term_sizes
from appell.kinematics.mechanics import Mechanics
from appell.kinematics.saddle import REGULAR, accelerations_and_multipliers, condition, measured, without_inertia
from appell.kinematics.split import Split

ROOTS = "a division by zero, the root or the logarithm of a negative number"
MISSED = 1e-8  # share of the accelerations by which a row on them may be missed
SINGULAR = REGULAR * float(np.finfo(float).eps)  # where rounding does so much to accelerations, there are none
BIG = 24  # coordinates from which on dense elimination in the graph takes too long to be worth it


class Rivals:
    """q'' by every formulation that accepts a model.

    Of big models only recursive elimination, and Lagrange's equations with their matrices at numbers.

    Args:
        mechanics: The model on the graph.
        split: Independent rows and dependent coordinates for those that need them.
        also: Equations of the user's own, compared as well where they are by other options than those.
        big: Whether to treat the model as big, however few its coordinates are.
    """

    def __init__(self, mechanics: Mechanics, split: Split, also: Sequence[Equations] = (), big: bool = False) -> None:
        self.mechanics, self.rows = mechanics, list(split.rows)
        self.big = big or len(mechanics.model.coordinates) > BIG
        self._codes: dict[str, tuple[Equations, Machine, ca.Function]] = {}
        got = kinds(mechanics)
        for formulation in FORMULATIONS:
            if not got <= formulation.accepts or (self.big and formulation is not Recursive):
                continue
            try:
                equations = formulation().derive(mechanics, split)
            except FormulationError:
                continue  # it refuses the model for another reason than the kind of its constraints
            self._add(formulation.name, equations)
        for equations in also:
            if equations.formulation.name not in self._codes or equations.formulation.given:
                name = f"{equations.formulation.name} ({', '.join(map(str, equations.speeds))})"
                alike = sum(other.startswith(name) for other in self._codes)
                self._add(f"{name} no. {alike + 1}" if alike else name, equations)

    def _add(self, name: str, equations: Equations) -> None:
        x = equations.mechanics.variables
        speeds = ca.Function("speeds", [x.t, x.q, x.v, x.z, x.p], [equations.chart.formulas])
        accelerations = ca.Function(
            "accelerations", [x.t, equations.x, x.w, x.p], [ca.densify(_open(equations))], {"cse": True}
        )
        self._codes[name] = equations, Machine(accelerations, simd=False), speeds

    @property
    def names(self) -> tuple[str, ...]:
        """The formulations compared."""
        return (*self._codes, *((Multipliers.name,) if self.big else ()))

    def accelerations(
        self, t: float, q: np.ndarray, v: np.ndarray, z: np.ndarray, w: np.ndarray, p: np.ndarray
    ) -> dict[str, np.ndarray]:
        """q'' by each formulation at a state on the constraints; what is not defined there is left out.

        Formulations that need a regular mass matrix of the free system have no value where it is singular, and none has
        one where Newton's method finds no accelerations for a row.
        """
        if self._missed(t, q, v, z, w, p) is not None:
            return dict.fromkeys(self.names, np.full(q.size, np.nan))
        found = {}
        for name, (equations, machine, speeds) in self._codes.items():
            u = np.array(speeds(t, q, v, z, p)).ravel()
            value = machine.flat(t, np.concatenate([q, u, z]), w, p)
            if self.mechanics.model.rows and equations.formulation.inertial:
                M, _, J, _, _ = (np.array(e) for e in self.mechanics.functions["multiplier"](t, q, v, z, w, p))
                inertia = equations.formulation.inertia(self.mechanics, M, J)
                if not (np.all(np.isfinite(inertia)) and condition(inertia) < REGULAR):
                    continue
            found[name] = value
        if self.big:
            found[Multipliers.name] = self._by_multipliers(t, q, v, z, w, p)
        return found

    def _missed(self, *state: object) -> str | None:
        """The first row on accelerations that those found for it do not satisfy."""
        if not self.mechanics.curved:
            return None
        f, slope, a = (np.array(e) for e in self._solved(*state))
        good = np.abs(f[:, 0]) <= MISSED * np.linalg.norm(slope, axis=1) * (1 + np.linalg.norm(a))
        rows = (self.mechanics.row_names[i] for i in self.mechanics.acceleration_rows)
        return next((row for row, met in zip(rows, good, strict=True) if not met), None)

    @cached_property
    def _solved(self) -> ca.Function:
        """Rows on accelerations, their slopes, and the accelerations found for them."""
        m = self.mechanics
        rows = ca.substitute([m.f, ca.jacobian(m.f, m.a)], [m.a], [m.solved])
        return ca.Function("solved", m.variables.arguments, [*map(ca.densify, rows), m.solved], {"cse": True})

    def _by_multipliers(self, *state: object) -> np.ndarray:
        M, J, C, F, gamma = self._lagrange(*state)
        if not all(np.all(np.isfinite(e)) for e in (M, J, C, F, gamma)):
            return np.full(F.size, np.nan)
        return accelerations_and_multipliers(M, J, C, F, gamma, self.mechanics.variables.quaternions)[0]

    def _lagrange(self, *state: object) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """M, J, C, F and gamma of Lagrange's equations with multipliers and the independent rows."""
        M, F, J, gamma, C = (np.array(e) for e in self.mechanics.functions["multiplier"](*state))
        return M, J[self.rows], C[self.rows], F[:, 0], gamma[self.rows, 0]

    def measure(
        self, pace: float, t: float, q: np.ndarray, v: np.ndarray, z: np.ndarray, w: np.ndarray, p: np.ndarray
    ) -> Measure:
        """What accelerations at a state are measured by.

        Those are the terms of the forces and of what the rows ask for, and what would change the rates at a pace.

        Args:
            pace: Of the motion, in one over seconds.
            t: Time.
            q: Positions.
            v: Velocities.
            z: Extra states.
            w: Inputs.
            p: Parameters.
        """
        state = t, q, v, z, w, p
        _, units, _, asks = measured(*self._lagrange(*state)[:3], self.mechanics.variables.quaternions)
        terms = np.array(self._terms(*state)).ravel() * np.concatenate([units, 1 / asks])
        size = np.max(terms[np.isfinite(terms)], initial=0.0)
        return Measure(units, float(max(size, pace * np.max(np.abs(v) / units, initial=0.0))))

    @cached_property
    def _terms(self) -> ca.Function:
        """Sizes of the terms of F and gamma in M q'' - J' lambda = F, C q'' = gamma.

        Where Newton's method finds the accelerations of a row, they count as given: its steps correct what they round.
        """
        m = self.mechanics
        arguments, a, gamma = m.variables.arguments, ca.SX(0, 1), m.gamma
        if m.curved:
            a, gamma = m.a, m.tangents(m.a)[1]
        right = ca.densify(ca.vertcat(m.lagrange[1], gamma[self.rows, :]))
        sizes = term_sizes(ca.Function("right", [*arguments, a], [right]))(*arguments, m.solved if m.curved else a)
        return ca.Function("terms", arguments, [sizes], {"cse": True})

    def cause(self, found: Mapping[str, np.ndarray], *state: object) -> str:
        """Why accelerations found at a state are not finite."""
        if (row := self._missed(*state)) is not None:
            return f"the constraint {row!r} has no real solution for them, or none is found"
        M, J, C, F, gamma = self._lagrange(*state)
        if not all(np.all(np.isfinite(e)) for e in (M, J, C)):
            return f"an inertia or a constraint is not finite ({ROOTS})"
        if not all(np.all(np.isfinite(e)) for e in (F, gamma)):
            return f"a force or a constraint is not finite ({ROOTS})"
        if not self.rounding(*state) < SINGULAR:
            idle = without_inertia(
                measured(M, J, C, self.mechanics.variables.quaternions)[0], self.mechanics.model.coordinates
            )
            have = "have" if "," in idle else "has"
            return f"the mass matrix is singular; {idle} {have} no inertia (a mass or a length of zero?)"
        names = [name for name, value in found.items() if not np.all(np.isfinite(value))]
        return f"{', '.join(names)} alone has no finite value"

    def rounding(self, *state: object) -> float:
        """What rounding alone may make of accelerations at a state."""
        M, J, C, _, _ = self._lagrange(*state)
        if not all(np.all(np.isfinite(e)) for e in (M, J, C)):
            return float("inf")
        return float(np.finfo(float).eps * np.linalg.cond(measured(M, J, C, self.mechanics.variables.quaternions)[0]))


def _open(equations: Equations) -> ca.SX:
    if equations.closed:
        raise AppellError("Formulations are compared with open inputs; give equations before close(...).")
    return equations.qddot


@dataclass(frozen=True, eq=False)
class Measure:
    """What accelerations at a state are measured by.

    Attributes:
        units: For each coordinate the unit in which its own inertia is one.
        size: In these units, how large accelerations are before they cancel.
    """

    units: np.ndarray
    size: float

    def disagreement(self, a: np.ndarray, b: np.ndarray) -> float:
        """Largest difference of two accelerations, relative to their size and to what they are made of.

        Of numbers that are not finite there is none to tell: it is nan, which is below no tolerance.
        """
        if not np.all(np.isfinite([*a, *b])):
            return float("nan")
        apart, *sizes = (float(np.max(np.abs(e / self.units), initial=0.0)) for e in (a - b, a, b))
        return apart / max(self.size, *sizes) if apart else 0.0
