"""The inputs that give a mechanism wanted accelerations: M u - F at zero input, shared out among the inputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np
import sympy as sp

from appell.code.machine import Machine
from appell.code.state import State
from appell.errors import MissingValueError, ModelError
from appell.kinematics.mechanics import Mechanics
from appell.kinematics.split import unit_rows
from appell.kinematics.typical import sample_split
from appell.model.model import Model
from appell.model.rules import numbers_of
from appell.model.symbols import Input, letters_in

FEEBLE = 1e-9  # share of what an input moves below which it does not move a joint
DEPENDENT = 1e-10  # singular value of the inputs, each of unit strength, below which they are dependent


class InverseDynamics:
    r"""The inputs w with $N^T(M u - F_0 - S w) = 0$, where $N$ spans what the constraints allow.

    Args:
        model: The mechanism as the controller knows it. Its inputs act linearly.
        values: Numbers for its parameters, the model's own where left out, and for inputs that are not commanded.

    Attributes:
        labels: Names of the commanded inputs, in the order of `inputs_for`.
        held: Numbers of the others.
    """

    def __init__(self, model: Model, values: Mapping[Any, float] | None = None) -> None:
        if not isinstance(model, Model):
            raise ModelError(f"A controller needs a model of the mechanism, got {type(model).__name__}.")
        self.model, self.mechanics = model, Mechanics(model)
        told = numbers_of(model, values)
        given = {**model.values, **told}
        missing = [s.label for s in model.parameters if s.label not in given]
        if missing:
            raise MissingValueError(
                f"The controller's model needs a value for {', '.join(missing)}; give values={{...}}."
            )
        self.p = np.array([given[s.label] for s in model.parameters])
        if not model.inputs:
            raise ModelError(f"{model.name!r} has no inputs, so nothing can drive it; declare some by appell.inputs.")
        self.held = {s.label: told[s.label] for s in model.inputs if s.label in told}
        self.labels = [s.label for s in model.inputs if s.label not in told]
        if not self.labels:
            raise ModelError(f"Every input of {model.name!r} has a given value, so nothing is left to drive it by.")
        x = self.mechanics.variables
        self.graph = self._graph()
        M, F, S, J = self.graph
        self._machine = Machine(
            ca.Function("inverse", [x.t, x.q, x.v, x.z, x.p], [ca.densify(e) for e in (M, F, S, J)], {"cse": True}),
            simd=False,
        )

    def _graph(self) -> tuple[ca.SX, ca.SX, ca.SX, ca.SX]:
        """M, F without commands, S = dF/dw, J."""
        x, (M, F) = self.mechanics.variables, self.mechanics.lagrange
        w = ca.SX.sym("w", len(self.labels))
        F = ca.substitute(F, x.w, self.all_inputs(w))
        S = ca.jacobian(F, w)
        if ca.depends_on(ca.vec(S), w):
            raise ModelError(f"An input of {self.model.name!r} does not act linearly; computed torque needs that.")
        return M, ca.substitute(F, w, ca.SX.zeros(w.numel())), S, self.mechanics.J

    def all_inputs(self, commanded: ca.SX) -> ca.SX:
        """The inputs of the model, in its order, from the commanded ones.

        Args:
            commanded: In the order of `labels`.
        """
        found = dict(zip(self.labels, ca.vertsplit(commanded), strict=True))
        return ca.vertcat(*[found.get(s.label, self.held.get(s.label, 0.0)) for s in self.model.inputs])

    @cached_property
    def rows(self) -> tuple[int, ...]:
        """The independent rows of constraints; the others follow from them."""
        return sample_split(self.mechanics).rows

    @cached_property
    def indirect(self) -> dict[str, list[str]]:
        """Inputs that enter no force but rates of extra states, such as voltages those of currents: these states."""
        acting = set(self.graph[2].sparsity().get_col()) if self.graph[2].nnz() else set()
        rates = {z.label: {s.label for s in letters_in(sp.sympify(e)) if isinstance(s, Input)}
                 for z, e in self.model.states.items()}  # fmt: skip
        idle = [label for k, label in enumerate(self.labels) if k not in acting]
        found = {label: [z for z, held in rates.items() if label in held] for label in idle}
        return {label: held for label, held in found.items() if held}

    def order(self, state: State) -> Sequence[int]:
        """Where in a state of the plant this model's q, q', z stand."""
        names = [
            *(q.label for q in self.model.coordinates),
            *(q.rate.label for q in self.model.coordinates),
            *(z.label for z in self.model.states),
        ]
        missing = [name for name in names if name not in state.names]
        if missing:
            raise ModelError(
                f"The controller's model needs {', '.join(missing)}, which {state.model.name!r} does not have."
            )
        return [state.names.index(name) for name in names]

    def matrices(self, t: float, q: np.ndarray, v: np.ndarray, z: np.ndarray) -> list[np.ndarray]:
        """M, F, S, J at a state."""
        return self._machine(t, q, v, z, self.p)

    def inputs_for(
        self, t: float, q: np.ndarray, v: np.ndarray, z: np.ndarray, u: np.ndarray, nearly: bool = False
    ) -> np.ndarray:
        """The inputs that give the accelerations u; nearly: those that come nearest if there are too few of them."""
        M, F, S, J = self.matrices(t, q, v, z)
        return self.shared_out(M @ u - F[:, 0], S, J, nearly)

    def inputs_along(
        self, joints: Sequence[int], t: float, q: np.ndarray, v: np.ndarray, z: np.ndarray, u: np.ndarray
    ) -> np.ndarray:
        """The smallest inputs that give some coordinates the accelerations u, while the others move as they must.

        Args:
            joints: Which coordinates.
            t: The time.
            q: Coordinates.
            v: Rates.
            z: Extra states.
            u: Accelerations of the joints.
        """
        M, F, S, J = self.matrices(t, q, v, z)
        n, rows = M.shape[0], J.shape[0]
        bent = self._bent(t, q, v, z, self.p)[0] if rows else np.zeros((0, 1))
        whole = np.block([[M, -J.T], [J, np.zeros((rows, rows))]])
        moved = np.linalg.lstsq(whole, np.block([[F, S], [bent, np.zeros((rows, S.shape[1]))]]), rcond=1e-12)[0][:n]
        free, pushed = moved[joints, 0], moved[joints, 1:]
        sizes = np.linalg.norm(moved[:, 1:], axis=0)
        shares = pushed / np.where(sizes > 0, sizes, 1.0)
        rank = np.linalg.matrix_rank(shares, tol=FEEBLE)
        if rank < len(joints):
            names = ", ".join(self.model.coordinates[i].label for i in joints)
            raise ModelError(
                f"{', '.join(self.labels)} of {self.model.name!r} cannot give {names} any accelerations at t = {t:g} "
                f"(rank {rank} of {len(joints)}): as many independent inputs are needed as joints= are followed."
            )
        return np.linalg.lstsq(shares, u - free, rcond=None)[0] / np.where(sizes > 0, sizes, 1.0)

    @cached_property
    def _bent(self) -> Machine:
        """Gamma of the rows J q'' = gamma."""
        x, nothing = self.mechanics.variables, self.all_inputs(ca.SX.zeros(len(self.labels)))
        gamma = ca.substitute(self.mechanics.gamma, x.w, nothing)
        return Machine(ca.Function("bent", [x.t, x.q, x.v, x.z, x.p], [ca.densify(gamma)]), simd=False)

    def shared_out(self, force: np.ndarray, S: np.ndarray, J: np.ndarray, nearly: bool = False) -> np.ndarray:
        """The smallest inputs whose generalized force is the wanted one, along what the constraints allow."""
        if J.shape[0]:
            N = allowed(J, len(self.rows))
            if not N.size:
                raise ModelError(f"The constraints of {self.model.name!r} leave nothing free that a law could move.")
            force, S = N.T @ force, N.T @ S
        if S.shape[1] >= S.shape[0]:
            units = np.where((norms := np.linalg.norm(S, axis=0)) > 0, norms, 1.0)
            shares = S / units  # inputs of comparable strength: newtons and kilonewtons are both good
            if np.linalg.svd(shares, compute_uv=False)[-1] > DEPENDENT:
                if S.shape[0] == S.shape[1]:
                    return np.linalg.solve(S, force)
                return np.linalg.lstsq(S, force, rcond=None)[0]
        if nearly:
            return np.linalg.lstsq(S, force, rcond=None)[0]
        if self.indirect:
            through = sorted({z for held in self.indirect.values() for z in held})
            raise ModelError(
                f"{self.model.name!r} is driven through {', '.join(through)}: no value of "
                f"{', '.join(self.indirect)} gives an acceleration at once. Give the law a model with the same inputs "
                "in which they do, such as motors with inductance=0."
            )
        raise ModelError(
            f"{self.model.name!r} has {S.shape[0]} degrees of freedom and {np.linalg.matrix_rank(S)} independent "
            f"inputs ({', '.join(self.labels)}); computed torque needs one for each. Add inputs, constrain what is not "
            "driven, or name the coordinates that follow: ComputedTorque(..., joints=[...])."
        )


def allowed(J: np.ndarray, rank: int) -> np.ndarray:
    """An orthonormal basis of the velocities that rows allow.

    Between the steps of an integrator a state is beside the constraints, where rows that follow from others on them
    seem to forbid more.

    Args:
        J: The rows.
        rank: How many of them are independent on the constraints.
    """
    return np.linalg.svd(unit_rows(J))[2][rank:].T
