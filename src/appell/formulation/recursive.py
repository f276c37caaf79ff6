"""The Gibbs-Appell equations by recursion along the tree of bodies: linear cost, for long chains and big trees."""

from __future__ import annotations

import casadi as ca
import numpy as np
import sympy as sp

from appell.equations import Equations
from appell.errors import FormulationError
from appell.formulation.abstract import AbstractFormulation
from appell.graph.elimination import Affine, Form, column_of, least
from appell.graph.replay import operations
from appell.graph.solve import solve_spd
from appell.graph.sparse import (
    ONE,
    Column,
    Matrix,
    Scalar,
    apply,
    cross,
    gram,
    matrix,
    merge,
    mul,
    neg,
    plus,
    product,
    scalar,
    scaled,
    skew,
    to_sx,
    transposed,
    whirled,
)
from appell.kinematics.chart import Chart
from appell.kinematics.forces import generalized_force
from appell.kinematics.mechanics import Mechanics
from appell.kinematics.split import Split
from appell.kinematics.tree import Moving, Tree
from appell.model.body import RigidBody, frames_of
from appell.model.force import AbstractForce, Force, Gravity, Torque
from appell.model.frame import Frame, Vector

FEW = 6  # coordinates up to which composite bodies are tried


class Recursive(AbstractFormulation):
    r"""Gibbs-Appell equations eliminated along the tree of frames and points, without a mass matrix.

    $$ \min_{\ddot q} R, \qquad R = S - U, \qquad
       S = \sum \tfrac12 m\,a^2 + \tfrac12\,\alpha\cdot I\alpha + \alpha\cdot(\omega\times I\omega) $$
    where every angular acceleration and every acceleration of a point is an affine function of those it hangs from and
    of the $\ddot q$ of its own joint. Starting from the tips, each vector is expressed by its parents and each
    $\ddot q$ is eliminated at the least value of R; what is left of R is a quadratic form in the accelerations of a few
    frames and points (for a chain of hinges Featherstone's articulated inertia). Then all values follow from the ground
    outwards. Operations grow linearly with the number of bodies: about 75 for a link in a plane and 200 to 770 for a
    joint in space, while the elimination of A y = b grows with the cube. For up to six coordinates composite bodies, of
    which all unknowns are solved for together, are tried as well.

    Accepts: every kind of constraint. Loops are closed on top: $\ddot q = a_0 + M^{-1}J^T\lambda$ with
    $JM^{-1}J^T\lambda = \gamma - Ja_0$, and $M^{-1}J^T$ by the same recursion, so constraints should be few. Every
    coordinate must move some mass by itself; thrusts that contain accelerations are refused.
    Unknowns: all accelerations; with constraints all rates are kept as speeds.

    Example:
        >>> import appell as ap
        >>> chain = ap.library.pendulum_chain(links=30)
        >>> ap.derive(chain, ap.Recursive()).operations // 30 < 80
        True

    Reference: Vereshchagin 1974 (Gauss's principle by dynamic programming); Featherstone 1983 (articulated bodies).
    """

    name = "recursive Gibbs-Appell"
    accepts = frozenset({"holonomic", "linear", "nonlinear", "acceleration"})
    reference = "Vereshchagin 1974; Featherstone 1983"
    inertial = True

    def inertia(self, mechanics: Mechanics, M: np.ndarray, J: np.ndarray) -> np.ndarray:
        """The mass matrix, with something along the norms of quaternions.

        Args:
            mechanics: The model on the graph.
            M: The mass matrix of the free system at a state.
            J: The constraint rows there.
        """
        norms = J[list(mechanics.norm_rows)]
        return M + norms.T * ((norms != 0) @ np.diag(M)) @ norms

    def derive(self, mechanics: Mechanics, split: Split) -> Equations:
        """The accelerations, solved."""
        x, rows = mechanics.variables, list(split.rows)
        J, gamma = mechanics.J[rows, :], mechanics.gamma[rows, :]
        values = _least(mechanics, J)
        solution, pull = column_of(values, 0), ca.SX(x.q.numel(), 1)
        if rows:
            free, response = solution, ca.horzcat(*[column_of(values, 1 + i) for i in range(len(rows))])
            multipliers = solve_spd(J @ response, gamma - J @ free)
            solution, pull = free + response @ multipliers, J.T @ x.thaw(multipliers)

        def matrices() -> tuple[ca.SX, ca.SX]:
            M, F = mechanics.lagrange
            return M, F + pull

        chart, solution = Chart.in_rates(mechanics, Split(split.rows)), x.thaw(ca.densify(solution))
        return Equations(self, chart, None, None, definite=True, solution=solution, matrices=matrices)


def _least(mechanics: Mechanics, J: ca.SX) -> list[Column]:
    """The accelerations, of articulated bodies or, where that takes fewer operations, of composite ones."""
    n = mechanics.variables.q.numel()

    def values(composite: bool) -> list[Column]:
        return least(*_problem(mechanics, J, runs=not composite), n, lambda k: _massless(mechanics, k), composite)

    def count(found: list[Column]) -> int:
        column = ca.SX(ca.vertcat(*[to_sx(e) for row in found for e in row.values()]))
        return operations(ca.Function("values", ca.symvar(column), [column], {"cse": True}))

    return min((values(False), values(True)), key=count) if n <= FEW else values(False)


def _massless(mechanics: Mechanics, k: int) -> FormulationError:
    return FormulationError(
        f"Recursive elimination needs mass behind every coordinate, and {mechanics.model.coordinates[k]} of "
        f"{mechanics.model.name!r} moves none by itself. Use GibbsAppell."
    )


def _problem(mechanics: Mechanics, J: ca.SX, runs: bool) -> tuple[Form, list[Affine]]:
    """R as a form in the vectors of a tree; right-hand sides: the forces, and one for each constraint row."""
    model = mechanics.model
    falling = [f for f in model.forces if isinstance(f, Gravity) and set(f.acceleration.parts) <= {model.ground}]
    acting = [f for f in model.forces if isinstance(f, Force | Torque)]
    frames, points = [model.ground], [body.center for body in model.bodies]
    frames += [body.frame for body in model.bodies if isinstance(body, RigidBody)]
    for force in acting:
        if isinstance(force, Force):
            points += [force.point] if force.body is None else []
        else:
            frames += [frame for frame, _ in _ends(force)]
    weight = plus({}, *(_load(mechanics, force.acceleration, model.ground, None) for force in falling))
    tree, form = Tree(mechanics, scaled(weight, -1.0), frames, points, runs), Form()
    _inertia(mechanics, tree, form)
    _forces(mechanics, tree, form, acting)
    Q = _other_forces(mechanics, [f for f in model.forces if f not in falling and f not in acting])
    for k, row in matrix(-ca.horzcat(Q, J.T)).items():
        form.add_linear(-1 - k, {0: row})
    _norms(mechanics, form)
    return form, tree.vectors


def _inertia(mechanics: Mechanics, tree: Tree, form: Form) -> None:
    """S of all bodies."""
    x = mechanics.variables
    for body in mechanics.model.bodies:
        m, heavy = scalar(x.masses[body]), not x.masses[body].is_zero()
        tensor = x.inertias.get(body, {})
        held = tree.held(body.center, body.frame.axes) if heavy and isinstance(body, RigidBody) else None
        if held is not None and isinstance(body, RigidBody):
            _held_body(tree, form, body, m, tensor, *held)
            continue
        center = tree.point(body.center)[0] if heavy else None
        if center is not None and center.index is not None:
            form.add(center.index, center.index, {i: {i: m} for i in center.rows})
        if tensor and isinstance(body, RigidBody):
            _rotation(tree, form, body, tensor, body.inertia_frame)


def _rotation(tree: Tree, form: Form, body: RigidBody, tensor: Matrix, same: Frame) -> None:
    """alpha.I alpha/2 + alpha.(omega x I omega), with the same I in all axes from those of `same` to the body's."""
    frame = body.frame.axes
    axes = tree.axes(frame)
    alpha, omega = tree.alpha(frame, axes), tree.omega(frame, axes)
    if alpha.index is None:
        return
    if same not in axes.path:
        tensor = tree.turned_tensor(tensor, frame, axes)
    inner = {i: {j: e for j, e in row.items() if j in alpha.rows} for i, row in tensor.items() if i in alpha.rows}
    form.add(alpha.index, alpha.index, gram(ONE, inner))
    _act(form, alpha, scaled(plus(cross(omega, apply(tensor, omega)), apply(tensor, alpha.known)), -1.0))


def _held_body(tree: Tree, form: Form, body: RigidBody, m: Scalar, tensor: Matrix, base: Moving, c: Column) -> None:
    """S of a body whose centre is at c from a point P of it.

    m a_P^2/2 + m a_P.(alpha x c + omega x (omega x c)), and the rotation with the tensor about P, which is constant in
    the body: less to compute than from the acceleration of the centre.
    """
    frame = body.frame.axes
    axes = tree.axes(frame)
    moment = scaled(c, m)
    about = {i: dict(row) for i, row in tensor.items()}
    merge(about, product(transposed(skew(c)), skew(moment)))
    _rotation(tree, form, body, about, frame)
    alpha, omega, moment = tree.alpha(frame, axes), tree.omega(frame, axes), tree.turned(moment, frame, axes)
    known = plus(whirled(omega, moment), cross(alpha.known, moment))
    if base.index is not None:
        form.add(base.index, base.index, {i: {i: m} for i in base.rows})
        _act(form, base, scaled(known, -1.0))
    if alpha.index is not None:
        _act(form, alpha, cross(base.known, moment))  # -U of the force -m a_P at the centre
    if base.index is not None and alpha.index is not None:
        block = transposed(skew(moment))  # a_P.(alpha x m c)
        form.add(
            base.index,
            alpha.index,
            {i: {j: e for j, e in row.items() if j in alpha.rows} for i, row in block.items() if i in base.rows},
        )


def _act(form: Form, on: Moving, load: Column) -> None:
    """-U of a force or couple."""
    if on.index is not None:
        form.add_linear(on.index, {i: {0: neg(e)} for i, e in load.items() if i in on.rows})


def _forces(mechanics: Mechanics, tree: Tree, form: Form, acting: list[AbstractForce]) -> None:
    """-U of forces at points and of torques."""
    for force in acting:
        if isinstance(force, Torque):
            for frame, sign in _ends(force):
                axes = tree.axes(frame)
                load = _load(mechanics, force.vector, axes, tree)
                _act(form, tree.alpha(frame, axes), scaled(load, float(sign)))
        elif isinstance(force, Force):
            body = force.body
            at, axes = tree.point(force.point if body is None else body.center)
            _act(form, at, _load(mechanics, force.vector, axes, tree))
            if body is not None:
                axes = tree.axes(body.frame.axes)
                arm, load = tree.arm(force.point - body.center, axes), _load(mechanics, force.vector, axes, tree)
                _act(form, tree.alpha(body.frame.axes, axes), cross(arm, load))


def _load(mechanics: Mechanics, vector: Vector, axes: Frame, tree: Tree | None) -> Column:
    """Components of a force."""
    parts = mechanics.variables.directed(vector)
    return plus({}, *(part if tree is None else tree.turned(part, frame, axes) for frame, part in parts))


def _ends(torque: Torque) -> list[tuple[Frame, int]]:
    ends = ((torque.on, 1), (torque.reaction, -1))
    return [((end if isinstance(end, Frame) else end.frame).axes, sign) for end, sign in ends if end is not None]


def _other_forces(mechanics: Mechanics, forces: list[AbstractForce]) -> ca.SX:
    """Generalized forces of everything that does not act at a point."""
    found = [generalized_force(force, mechanics.geometry, mechanics.derivative) for force in forces]
    if mechanics.model.programme:
        found += mechanics.forces[len(mechanics.model.forces) :]  # those of programmes stand last
    for force in found:
        if ca.depends_on(force.Q, mechanics.a):
            raise FormulationError(
                f"Recursive elimination takes forces that do not contain accelerations, and {force.name!r} of "
                f"{mechanics.model.name!r} does: through the rate of its mass, or as the force of a programme that is "
                "not linear in the accelerations. Use GibbsAppell."
            )
    return sum((force.Q for force in found), ca.SX.zeros(mechanics.variables.q.numel()))


def _norms(mechanics: Mechanics, form: Form) -> None:
    """Along its norm a quaternion has no inertia: I (J y - gamma)^2 / 2 gives it some and moves nothing, being zero."""
    for row in mechanics.norm_rows:
        J, gamma = list(matrix(mechanics.J[row, :])[0].items()), scalar(mechanics.gamma[row])
        inertia = _turned_inertia(mechanics, mechanics.model.rows[row].expression)
        for i, (k, slope) in enumerate(J):
            heavy = mul(inertia, slope)
            form.add(-1 - k, -1 - k, {0: {0: mul(heavy, slope)}})
            form.add_linear(-1 - k, {0: {0: neg(mul(heavy, gamma))}})
            for other, later in J[i + 1 :]:
                form.add(-1 - k, -1 - other, {0: {0: mul(heavy, later)}})


def _turned_inertia(mechanics: Mechanics, norm: sp.Expr) -> Scalar:
    """How much a quaternion of this norm turns: the traces of the tensors, or the masses if all of these are zero."""
    x, traces, masses = mechanics.variables, ca.SX(0), ca.SX(0)
    for body in mechanics.model.bodies:
        if norm in [sum(e**2 for e in q) - 1 for frame in frames_of(body) for q in frame.unit_quaternions]:
            traces += sum((to_sx(row.get(i, 0.0)) for i, row in x.inertias.get(body, {}).items()), ca.SX(0))
            masses += x.masses[body]
    return scalar(next((e for e in (traces, masses) if not e.is_zero()), ca.SX(1)))
