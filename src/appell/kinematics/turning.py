r"""Angular velocities in place of the rates of quaternions.

The four rates of a quaternion e of length one are the angular velocity and the rate of its length,
$$ \omega = C \dot e, \qquad \dot e = \tfrac14 C^T \omega + e\,(e\cdot\dot e), \qquad C C^T = 4, \quad C e = 0, $$
and its norm is a row on the last of them alone: whatever other rows there are, no angular velocity is dependent because
of it, in any attitude.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

import casadi as ca
import sympy as sp

from appell.kinematics.split import Split
from appell.kinematics.variables import Variables
from appell.model.body import RigidBody
from appell.model.frame import Frame, Vector, angular_velocity
from appell.model.model import Model
from appell.model.symbols import Coordinate, Letter, Rate, Speed

AXES = ("own", "carrier")  # those that a quaternion turns, and those that carry them
ARM = 0.1  # m: an angular velocity counts as the velocity at this arm, where dependent velocities are chosen


@dataclass(frozen=True)
class Turning:
    """The velocities of a model with quaternions, one for each coordinate: angular velocities, and rates of all else.

    In the place of the first component of a quaternion stands the rate of its length, in those of the others the
    components of the angular velocity.

    Attributes:
        variables: The letters of the model on the graph.
        axes: `own` or `carrier`: along which axes the components are.
    """

    variables: Variables
    axes: str

    @cached_property
    def _turns(self) -> dict[tuple[int, ...], dict[Speed, sp.Expr]]:
        """Angular velocities by the places of their quaternions."""
        model, found = self.variables.model, dict[tuple[int, ...], dict[Speed, sp.Expr]]()
        places = {q: i for i, q in enumerate(model.coordinates)}
        for name, frame, quaternion in _turned(model):
            assert frame.parent is not None
            axes = frame if self.axes == "own" else frame.parent
            own = tuple(places[e] for e in quaternion)
            if not {*own} & {i for other in found for i in other}:
                besides = [speed for speeds in found.values() for speed in speeds]
                found[own] = angular_speeds(model, name, frame, frame.parent, axes, besides)
        return found

    @cached_property
    def formulas(self) -> list[tuple[Speed | Rate, sp.Expr]]:
        """The velocities with their formulas in coordinates and rates, in the order of the coordinates."""
        found: list[tuple[Speed | Rate, sp.Expr]] = [(q.rate, q.rate) for q in self.variables.model.coordinates]
        for own, speeds in self._turns.items():
            for i, speed in zip(own[1:], speeds.items(), strict=True):
                found[i] = speed
        return found

    def free(self, split: Split) -> dict[Speed | Rate, sp.Expr]:
        """Those that are not dependent, as speeds with their formulas."""
        return dict(self.formulas[i] for i in split.free(len(self.formulas)))

    def dependent(self, split: Split) -> tuple[Letter, ...]:
        """Angular velocities, and coordinates whose rates, the rows give; lengths of quaternions go without saying."""
        letters = (self.formulas[i][0] for i in split.dependent if i not in self.lengths)
        return tuple(s.base if isinstance(s, Rate) else s for s in letters)

    @cached_property
    def lengths(self) -> tuple[int, ...]:
        """The places of the rates of lengths."""
        return tuple(sorted(own[0] for own in self._turns))

    @cached_property
    def quaternions(self) -> list[set[Coordinate]]:
        """The coordinates of every quaternion whose rates are replaced."""
        return [{self.variables.model.coordinates[i] for i in own} for own in self._turns]

    @cached_property
    def basis(self) -> ca.SX:
        """The rates by these velocities."""
        x = self.variables
        found = ca.SX.eye(x.v.numel())
        for own, speeds in self._turns.items():
            here = list(own)
            C = ca.jacobian(x.lower.column(list(speeds.values())), x.v[here])
            found[here, here] = ca.horzcat(x.q[here], ARM / 4 * C.T)
        return found


def _turned(model: Model) -> Iterator[tuple[str, Frame, tuple[Coordinate, ...]]]:
    """The frames that quaternions of coordinates turn, each with the name of the first body from there outwards."""
    own = [(body.name, body.frame) for body in model.bodies if isinstance(body, RigidBody)]
    others = [(body.name, frame) for body in model.bodies for frame in body.center.parts]
    nearest = (sorted(placed, key=lambda pair: len(pair[1].path)) for placed in (own, others))
    for name, outermost in chain.from_iterable(nearest):
        for frame in outermost.path:
            quaternion = () if frame.rotation is None else frame.rotation.quaternion or ()
            if quaternion and all(isinstance(e, Coordinate) for e in quaternion):
                yield name, frame, quaternion


def angular_speeds(
    model: Model, name: str, frame: Frame, base: Frame, axes: Frame, besides: Iterable[Letter] = ()
) -> dict[Speed, sp.Expr]:
    """The angular velocity of a frame against another one as speeds, `w_ball_x` and so on.

    Args:
        model: Whose letters have other names.
        name: Of the body that turns.
        frame: What turns.
        base: What it turns against.
        axes: Along which the components are taken.
        besides: Other speeds, which have other names as well.
    """
    turn = angular_velocity(frame, base)
    return component_speeds(model, f"w_{name}", turn, axes, ("rad/s", "angular velocity"), besides)


def component_speeds(
    model: Model, name: str, vector: Vector, axes: Frame, what: tuple[str, str], besides: Iterable[Letter] = ()
) -> dict[Speed, sp.Expr]:
    """The components of a vector as speeds, `v_car_x` and so on.

    Args:
        model: Whose letters have other names.
        name: What the names begin with.
        vector: A velocity or an angular velocity.
        axes: Along which the components are taken.
        what: Its unit, and what it is.
        besides: Other speeds, which have other names as well.
    """
    taken = {s.name for s in (*model.coordinates, *model.parameters, *model.inputs, *model.states, *besides)}
    (unit, meaning), found = what, dict[Speed, sp.Expr]()
    for axis, part in zip("xyz", axes.components(vector), strict=True):
        word = f"{re.sub(r'[^A-Za-z0-9]+', '_', name).strip('_')}_{axis}"
        while word in taken:
            word += "_"
        found[Speed(word, unit, f"{meaning} along {axis} of {axes.name}")] = part
    return found
