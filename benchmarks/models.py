"""The same chain of pendulums for each side, and the proof that all sides give the same accelerations."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import casadi as ca
import numpy as np
import sympy as sp
import sympy.physics.mechanics as me

import appell as ap
from appell.graph.replay import operations
from appell.graph.solve import solve_spd

MASS, LENGTH, GRAVITY = 1.0, 1.0, 9.81
Rhs = Callable[[float, np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Chain:
    """A planar chain of pendulums: how many links, `relative` or `absolute` angles, uniform `rods` or `points`."""

    links: int
    angles: str = "relative"
    mass: str = "rods"

    def __str__(self) -> str:
        return f"{self.links} {self.mass if self.mass == 'rods' else 'point masses'}, {self.angles} angles"

    def states(self, count: int, seed: int = 1) -> np.ndarray:
        """Random states x = (q, u), one in each column."""
        return np.random.default_rng(seed).uniform(-1, 1, (2 * self.links, count))


def appell_system(chain: Chain) -> ap.System:
    """From nothing to functions by appell."""
    model = ap.library.pendulum_chain(chain.links, chain.angles, chain.mass)
    return ap.compile(ap.derive(model)).bind({"m": MASS, "l": LENGTH, "g": GRAVITY})


@dataclass(frozen=True)
class Kane:
    """SymPy's equations M u' = F as a NumPy function of the numbers q, u, m, l, g."""

    matrices: Callable[..., Any]
    M: sp.Matrix
    F: sp.Matrix
    links: int

    def rhs(self, t: float, x: np.ndarray) -> np.ndarray:
        """x' of x = (q, u), with the linear solve."""
        # Python's own floats are quicker in lambdified code than NumPy's.
        M, F = self.matrices(*x.tolist(), MASS, LENGTH, GRAVITY)
        return np.concatenate([x[self.links :], np.linalg.solve(M, F[:, 0])])

    @property
    def operations(self) -> int:
        """Operations of M and F after elimination of common parts, and of the solve."""
        return counted(self.M, self.F)


def kane_system(chain: Chain) -> Kane:
    """From nothing to functions by SymPy: KanesMethod, then lambdify with common parts eliminated."""
    n = chain.links
    q, u = me.dynamicsymbols(f"q1:{n + 1}"), me.dynamicsymbols(f"u1:{n + 1}")
    m, l, g = sp.symbols("m l g")
    ground, end = me.ReferenceFrame("N"), me.Point("O")
    end.set_vel(ground, 0)
    frame, bodies, loads = ground, [], []
    for i in range(n):
        parent = frame if chain.angles == "relative" else ground
        frame = parent.orientnew(f"A{i}", "Axis", (q[i], ground.z))
        frame.set_ang_vel(parent, u[i] * ground.z)
        start, end = end, end.locatenew(f"P{i}", -l * frame.y)
        end.v2pt_theory(start, ground, frame)
        if chain.mass == "points":
            center = end
            bodies.append(me.Particle(f"B{i}", end, m))
        else:
            center = start.locatenew(f"C{i}", -l / 2 * frame.y)
            center.v2pt_theory(start, ground, frame)
            inertia = me.inertia(frame, m * l**2 / 12, 0, m * l**2 / 12)
            bodies.append(me.RigidBody(f"B{i}", center, frame, m, (inertia, center)))
        loads.append((center, -m * g * ground.y))
    method = me.KanesMethod(ground, q_ind=q, u_ind=u, kd_eqs=[u[i] - q[i].diff() for i in range(n)])
    method.kanes_equations(bodies, loads)
    M, F = method.mass_matrix, method.forcing
    return Kane(sp.lambdify([*q, *u, m, l, g], [M, F], cse=True), M, F, n)


def counted(M: sp.Matrix, F: sp.Matrix, *further: sp.Matrix) -> int:
    """Arithmetic operations of SymPy matrices after elimination of common parts, and of the solve that appell uses."""
    shared, rest = sp.cse([M, F, *further])
    n = M.shape[0]
    A, b = ca.SX.sym("A", ca.Sparsity.upper(n)), ca.SX.sym("b", n)
    solving = ca.Function("solving", [A, b], [solve_spd(ca.triu2symm(A), b)])
    return int(sum(sp.count_ops(e) for e in (*(e for _, e in shared), *rest))) + operations(solving)


def pydy_rhs(chain: Chain) -> Rhs:
    """SymPy's equations through PyDy's C code by Cython; raises ImportError if PyDy or Cython is not there."""
    for needed in ("pydy", "Cython"):
        if find_spec(needed) is None:
            raise ImportError(f"{needed} is not installed")
    from pydy.codegen.ode_function_generators import generate_ode_function

    kane, n = kane_system(chain), chain.links
    q, u = me.dynamicsymbols(f"q1:{n + 1}"), me.dynamicsymbols(f"u1:{n + 1}")
    f = generate_ode_function(
        kane.F,
        q,
        u,
        sp.symbols("m l g"),
        mass_matrix=kane.M,
        coordinate_derivatives=sp.Matrix(u),
        generator="cython",
        linear_sys_solver="numpy",
        constants_arg_type="array",
    )
    constants = np.array([MASS, LENGTH, GRAVITY])
    return lambda t, x: f(x, t, constants)


def pinocchio_accelerations(chain: Chain) -> Callable[[np.ndarray], np.ndarray]:
    """Accelerations of all columns of states by the articulated-body algorithm, one call each."""
    import pinocchio as pin

    model, data, torque = _pinocchio(chain)
    n = chain.links

    def accelerations(states: np.ndarray) -> np.ndarray:
        columns = np.ascontiguousarray(states.T)
        result = np.empty((columns.shape[0], n))
        for k, x in enumerate(columns):
            result[k] = pin.aba(model, data, x[:n], x[n:], torque)
        return result.T

    return accelerations


def _pinocchio(chain: Chain) -> tuple[Any, Any, np.ndarray]:
    """The chain for Pinocchio: model, data, torques."""
    import pinocchio as pin

    _only_rods(chain)
    model = pin.Model()
    model.gravity = pin.Motion(np.array([0, -GRAVITY, 0]), np.zeros(3))
    inertia = np.diag([MASS * LENGTH**2 / 12, 0, MASS * LENGTH**2 / 12])
    parent = 0
    for i in range(chain.links):
        place = pin.SE3(np.eye(3), np.array([0, -LENGTH if i else 0, 0]))
        parent = model.addJoint(parent, pin.JointModelRZ(), place, f"joint{i}")
        rod = pin.Inertia(MASS, np.array([0, -LENGTH / 2, 0]), inertia)
        model.appendBodyToJoint(parent, rod, pin.SE3.Identity())
    return model, model.createData(), np.zeros(chain.links)


def pinocchio_rhs(chain: Chain) -> Rhs:
    """x' of one state by the articulated-body algorithm, called from Python."""
    import pinocchio as pin

    model, data, torque = _pinocchio(chain)
    n = chain.links
    return lambda t, x: np.concatenate([x[n:], pin.aba(model, data, x[:n], x[n:], torque)])


def mujoco_accelerations(chain: Chain) -> Callable[[np.ndarray], np.ndarray]:
    """Accelerations of all columns of states by mj_forward."""
    _only_rods(chain)
    moment, n = MASS * LENGTH**2 / 12, chain.links
    # MuJoCo wants a positive moment about the rod; nothing turns about it.
    rod = f'<inertial pos="0 {-LENGTH / 2} 0" mass="{MASS}" diaginertia="{moment!r} 1e-9 {moment!r}"/>'
    bodies = "".join(f'<body pos="0 {-LENGTH if i else 0} 0"><joint type="hinge" axis="0 0 1"/>{rod}' for i in range(n))
    return mujoco_forward(f"0 {-GRAVITY} 0", bodies + "</body>" * n)


def mujoco_forward(gravity: str, bodies: str, more: str = "") -> Callable[[np.ndarray], np.ndarray]:
    """The same of bodies in MuJoCo's own words, one call each, contacts and constraints switched off."""
    import mujoco

    flags = '<flag contact="disable" constraint="disable" sensor="disable" actuation="disable"/>'
    options = f'<option gravity="{gravity}">{flags}</option>{more}'
    model = mujoco.MjModel.from_xml_string(f"<mujoco>{options}<worldbody>{bodies}</worldbody></mujoco>")
    data, n = mujoco.MjData(model), model.nv
    qpos, qvel, qacc, forward = data.qpos, data.qvel, data.qacc, mujoco.mj_forward

    def accelerations(states: np.ndarray) -> np.ndarray:
        columns = np.ascontiguousarray(states.T)
        result = np.empty((columns.shape[0], n))
        for k, x in enumerate(columns):
            qpos[:], qvel[:] = x[:n], x[n:]
            forward(model, data)
            result[k] = qacc
        return result.T

    return accelerations


def _only_rods(chain: Chain) -> None:
    if (chain.angles, chain.mass) != ("relative", "rods"):
        raise ValueError(f"Only a chain of rods in relative angles is built for this peer, got: {chain}.")


def same(who: str, ours: np.ndarray, theirs: np.ndarray, tolerance: float = 1e-9) -> None:
    """Raise unless two sides give the same numbers: nothing is timed that does not compute the same thing."""
    worst = float(np.max(np.abs(ours - theirs)) / np.max(np.abs(ours)))
    if not worst < tolerance:
        raise AssertionError(f"{who} and appell differ by {worst:.2g} (relative), more than {tolerance:g}.")
