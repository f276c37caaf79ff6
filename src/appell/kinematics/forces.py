"""Generalized forces, each by itself: Q = (dv/dq')' F, and what each contributes to the power balance."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import casadi as ca

from appell.errors import ModelError
from appell.graph.sparse import (
    Column,
    Scalar,
    add,
    apply,
    cross,
    dense,
    densified,
    dot,
    mul,
    neg,
    plus,
    scalar,
    scaled,
    to_sx,
    total,
)
from appell.kinematics.geometry import AbstractGeometry
from appell.kinematics.variables import Variables
from appell.model.body import RigidBody
from appell.model.force import AbstractForce, Damper, Force, Generalized, Gravity, Potential, Torque
from appell.model.frame import Frame, Vector
from appell.model.mass_flow import Stream
from appell.model.symbols import Coordinate, Parameter, Rate, Time, letters_in

Power = Callable[[], ca.SX]


def _nothing() -> ca.SX:
    return ca.SX(0)


@dataclass(frozen=True, eq=False)
class GeneralizedForce:
    """One force on the graph.

    Attributes:
        name: Its name.
        Q: Its components along the coordinates.
        potential: Its potential energy if it has one.
        carried: Its power by what moves by itself in time, at held coordinates; Q . q' is the rest of its power.
    """

    name: str
    Q: ca.SX
    potential: ca.SX | None = None
    carried: Power = _nothing


def generalized_force(
    force: AbstractForce, geometry: AbstractGeometry, derivative: Callable[[ca.SX], ca.SX]
) -> GeneralizedForce:
    """What a force does along each coordinate, in q, v, z, w, p, t (and a, for streams that need it).

    Args:
        force: The force.
        geometry: The motion in terms of q and v.
        derivative: Total time derivative, extra states included.
    """
    match force:
        case Gravity():
            return _gravity(force, geometry)
        case Force():
            return _point_force(force, geometry)
        case Torque():
            return _torque(force, geometry)
        case Potential():
            return _potential(force, geometry)
        case Generalized():
            return _generalized(force, geometry)
        case Damper():
            return _damper(force, geometry)
        case Stream():
            return _stream(force, geometry, derivative)
        case _:
            raise ModelError(f"No rule is known for a force of kind {type(force).__name__}.")


def _point_force(force: Force, geometry: AbstractGeometry) -> GeneralizedForce:
    """Q = (dv/dq')' F with v of the point, or of the place of a body that is there."""
    point, body, v = force.point, force.body, geometry.variables.v
    home = geometry.home(point)
    velocity = geometry.resolve(point, home, 1)
    if body is not None:
        velocity = _material_velocity(geometry, body, point, home)
    push = _components(geometry, force.vector, home)
    Q = _along(velocity, push, v)
    return GeneralizedForce(force.name, densified(Q), carried=_carried(v, (velocity, push)))


def _torque(force: Torque, geometry: AbstractGeometry) -> GeneralizedForce:
    """Q = (d omega/dq')' M, and minus that of what it reacts on."""
    v, parts, couples = geometry.variables.v, [], []
    for end, sign in ((force.on, 1), (force.reaction, -1)):
        if end is None:
            continue
        frame = (end if isinstance(end, Frame) else end.frame).axes
        omega, _ = geometry.rotation_rates(frame, frame)
        couple = _components(geometry, force.vector, frame)
        part = _along(omega, couple, v)
        parts.append(part if sign == 1 else -part)
        couples.append((omega, scaled(couple, float(sign))))
    return GeneralizedForce(force.name, densified(total(parts)), carried=_carried(v, *couples))


def _potential(force: Potential, geometry: AbstractGeometry) -> GeneralizedForce:
    """Q = -dV/dq."""
    variables = geometry.variables
    for symbol in letters_in(force.energy):
        if not isinstance(symbol, Coordinate | Parameter | Time):
            raise ModelError(
                f"The potential {force.name!r} contains {symbol}; a potential is a formula in coordinates, "
                "parameters and time. Use Generalized for forces that depend on velocities, states or inputs."
            )
    potential = variables.lower(force.energy)

    def lost() -> ca.SX:
        """The work of a spring is what its energy loses."""
        return -ca.gradient(potential, variables.t)

    carried = _nothing if force.ends is None else lost
    return GeneralizedForce(force.name, -ca.gradient(potential, variables.q), potential, carried)


def _generalized(force: Generalized, geometry: AbstractGeometry) -> GeneralizedForce:
    """Q itself."""
    variables = geometry.variables
    order = {s: i for i, s in enumerate(variables.model.coordinates)}
    Q = ca.SX.zeros(variables.q.numel())
    for coordinate, formula in force.forces.items():
        Q[order[coordinate]] = variables.lower(formula)
    return GeneralizedForce(force.name, densified(Q))


def _damper(force: Damper, geometry: AbstractGeometry) -> GeneralizedForce:
    """Q = (dl'/dq')' (-c l') with l' = r.r'/|r| the rate of its length."""
    variables = geometry.variables
    v, gap = variables.v, force.b - force.a
    home = geometry.home(gap)
    r, rate = geometry.resolve(gap, home, 0), geometry.resolve(gap, home, 1)
    stretch = to_sx(dot(r, rate)) / ca.sqrt(to_sx(dot(r, r)))
    pull = -variables.lower(force.coefficient) * stretch
    Q = ca.jtimes(stretch, v, pull, True)

    def carried() -> ca.SX:
        return pull * ca.substitute(stretch, v, ca.SX.zeros(v.numel()))

    return GeneralizedForce(force.name, densified(Q), carried=carried)


def _carried(v: ca.SX, *pushes: tuple[Column, Column]) -> Power:
    """The power of forces on what moves by itself in time, from the velocity of each place and the force on it."""
    still = ca.SX.zeros(v.numel())
    return lambda: total(ca.dot(ca.substitute(dense(moved), v, still), dense(push)) for moved, push in pushes)


def _along(velocity: Column, force: Column, v: ca.SX) -> ca.SX:
    """(dv/dq')' F; components in which one of both is zero are left out."""
    both = [i for i in sorted(velocity) if i in force]
    if not both:
        return ca.SX.zeros(v.numel())
    columns = [[to_sx(e[i]) for i in both] for e in (velocity, force)]
    moved, push = (column[0] if len(column) == 1 else ca.vertcat(*column) for column in columns)
    return ca.jtimes(moved, v, push, True)


def _components(geometry: AbstractGeometry, vector: Vector, target: Frame) -> Column:
    """Components of a force in `target`."""
    parts = geometry.variables.directed(vector)
    return plus({}, *(apply(geometry.between(target, frame), part) for frame, part in parts))


def _material_velocity(geometry: AbstractGeometry, body: RigidBody, point: Vector, home: Frame) -> Column:
    omega, _ = geometry.rotation_rates(body.frame.axes, home)
    arm = geometry.resolve(point - body.center, home, 0)
    return plus(geometry.resolve(body.center, home, 1), cross(omega, arm))


def _stream(stream: Stream, geometry: AbstractGeometry, derivative: Callable[[ca.SX], ca.SX]) -> GeneralizedForce:
    """Q = (dv/dq')' mu u with u relative to the body; the body's mass keeps its formula here, it is not frozen."""
    variables = geometry.variables
    if stream.rate is not None:
        mu = variables.lower(stream.rate)
    else:
        others = (
            f for f in variables.model.forces if isinstance(f, Stream) and f.body is stream.body and f is not stream
        )
        mu = derivative(variables.lower(stream.body.mass))
        mu = mu - sum((variables.lower(f.rate) for f in others), ca.SX(0))
    home = geometry.home(stream.at)
    velocity = geometry.resolve(stream.at, home, 1)
    if isinstance(stream.body, RigidBody):
        velocity = _material_velocity(geometry, stream.body, stream.at, home)
    relative = _components(geometry, stream.velocity, home)
    if stream.absolute:
        relative = plus(relative, scaled(velocity, -1.0))
    Q = ca.jtimes(dense(velocity), variables.v, mu * dense(relative), True)
    pairs = [(velocity, scaled(relative, scalar(mu)))]
    if stream.source is not None and isinstance(stream.body, RigidBody):
        omega, _ = geometry.rotation_rates(stream.body.frame.axes, home)
        path = geometry.resolve(stream.at - stream.source, home, 0)
        middle = _material_velocity(geometry, stream.body, stream.source + (stream.at - stream.source) / 2, home)
        push = scaled(cross(omega, path), scalar(2 * mu))
        if stream.rate is not None or not any(isinstance(s, Rate) for s in letters_in(stream.body.mass)):
            push = plus(push, scaled(path, scalar(derivative(mu))))  # what flows gets faster, along the pipe
        Q = Q + ca.jtimes(dense(middle), variables.v, dense(push), True)
        pairs.append((middle, push))
    return GeneralizedForce(stream.name, densified(Q), carried=_carried(variables.v, *pairs))


def _gravity(force: Gravity, geometry: AbstractGeometry) -> GeneralizedForce:
    """-dV/dq of V = -sum m g.r at frozen masses; V counts as potential energy where the masses are constant."""
    variables: Variables = geometry.variables
    ground = variables.model.ground

    def carried() -> ca.SX:
        pushes = []
        for body in variables.model.bodies:
            home = geometry.home(body.center)
            pull = _components(geometry, force.acceleration, home)
            pushes.append((geometry.resolve(body.center, home, 1), scaled(pull, scalar(variables.masses[body]))))
        return _carried(variables.v, *pushes)()

    constant = all(
        frame is ground and all(isinstance(s, Parameter) for e in part for s in letters_in(e))
        for frame, part in force.acceleration.parts.items()
    )
    if constant:
        g = geometry.lowered(ground.components(force.acceleration))
        lift: Scalar = 0.0
        for body in variables.model.bodies:
            work = mul(scalar(variables.masses[body]), dot(g, geometry.resolve(body.center, ground, 0)))
            lift = add(lift, neg(work))
        potential = to_sx(lift)
        Q = -ca.gradient(potential, variables.q)
        changing = ca.vertcat(variables.frozen, variables.z)
        steady = changing.numel() == 0 or not ca.depends_on(potential, changing)
        return GeneralizedForce(force.name, densified(Q), potential if steady else None, carried)
    Q = ca.SX.zeros(variables.q.numel())
    for body in variables.model.bodies:
        home = geometry.home(body.center)
        weight = variables.masses[body] * dense(_components(geometry, force.acceleration, home))
        Q = Q + ca.jtimes(dense(geometry.resolve(body.center, home, 1)), variables.v, weight, True)
    return GeneralizedForce(force.name, densified(Q), carried=carried)
