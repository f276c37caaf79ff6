"""Several principles on one model: the same accelerations, or one of them is wrong."""

from __future__ import annotations

from collections.abc import Mapping

import casadi as ca
import numpy as np

from appell.code.machine import Machine
from appell.equations import Equations
from appell.errors import AppellError, FormulationError
from appell.formulation import FORMULATIONS
from appell.formulation.abstract import AbstractFormulation, kinds
from appell.formulation.multipliers import Multipliers
from appell.formulation.recursive import Recursive
from appell.kinematics.chart import Split
from appell.kinematics.mechanics import Mechanics
from appell.kinematics.saddle import REGULAR, condition, without_inertia

ROOTS = "a division by zero, the root or the logarithm of a negative number"
BIG = 24  # coordinates from which on dense elimination in the graph takes too long to be worth it


class Rivals:
    """q'' by every formulation that accepts a model.

    Of big models only recursive elimination, and Lagrange's equations with their matrices at numbers.

    Args:
        mechanics: The model on the graph.
        split: Independent rows and dependent coordinates for those that need them.
        also: Equations of the user's own, compared as well.
        big: Whether to treat the model as big, however few its coordinates are.
    """

    def __init__(self, mechanics: Mechanics, split: Split, also: Equations | None = None, big: bool = False) -> None:
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
        if also is not None and (also.formulation.name not in self._codes or _chosen(also.formulation)):
            speeds = ", ".join(map(str, also.speeds))
            self._add(f"{also.formulation.name} ({speeds})", also)

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

        Formulations that need a regular mass matrix of the free system have no value where it is singular.
        """
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

    def _by_multipliers(self, *state: object) -> np.ndarray:
        whole, right = self._lagrange(*state)
        try:
            return np.linalg.solve(whole, right)[: len(self.mechanics.model.coordinates), 0]
        except np.linalg.LinAlgError:
            return np.full(len(self.mechanics.model.coordinates), np.nan)

    def _lagrange(self, *state: object) -> tuple[np.ndarray, np.ndarray]:
        """Lagrange's equations with multipliers and the independent rows below them: matrix and right-hand side."""
        M, F, J, gamma, C = (np.array(e) for e in self.mechanics.functions["multiplier"](*state))
        J, C, gamma = J[self.rows], C[self.rows], gamma[self.rows]
        return np.block([[M, -J.T], [C, np.zeros((J.shape[0], J.shape[0]))]]), np.concatenate([F, gamma])

    def cause(self, found: Mapping[str, np.ndarray], *state: object) -> str:
        """Why accelerations found at a state are not finite."""
        whole, right = self._lagrange(*state)
        if not np.all(np.isfinite(whole)):
            return f"an inertia or a constraint is not finite ({ROOTS})"
        if not np.all(np.isfinite(right)):
            return f"a force or a constraint is not finite ({ROOTS})"
        if not _condition(whole) < REGULAR:
            idle = without_inertia(whole, self.mechanics.model.coordinates)
            return f"the mass matrix is singular; {idle} has no inertia (a mass or a length of zero?)"
        names = [name for name, value in found.items() if not np.all(np.isfinite(value))]
        return f"{', '.join(names)} alone has no finite value"

    def rounding(self, *state: object) -> float:
        """What rounding alone may make of accelerations at a state; nothing to speak of unless the model is big."""
        if not self.big:
            return 0.0
        return float(np.finfo(float).eps * _condition(np.array(self.mechanics.functions["multiplier"](*state)[0])))


def _chosen(formulation: AbstractFormulation) -> bool:
    """Whether anything about a formulation differs from what it is by itself."""
    return vars(formulation) != vars(type(formulation)())


def _open(equations: Equations) -> ca.SX:
    if equations.closed:
        raise AppellError("Formulations are compared with their inputs open.")
    return equations.qddot


def _condition(matrix: np.ndarray) -> float:
    """The condition number; infinite for a matrix that is not finite."""
    return float(np.linalg.cond(matrix)) if np.all(np.isfinite(matrix)) else float("inf")


def disagreement(a: np.ndarray, b: np.ndarray) -> float:
    """Largest difference of two accelerations, relative to their size (absolute where they are below 1).

    Of numbers that are not finite there is none to tell: it is nan, which is below no tolerance.
    """
    if not np.all(np.isfinite([*a, *b])):
        return float("nan")
    size = max(1.0, float(np.max(np.abs(a), initial=0.0)), float(np.max(np.abs(b), initial=0.0)))
    return float(np.max(np.abs(a - b), initial=0.0) / size)
