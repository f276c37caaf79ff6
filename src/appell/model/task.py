"""Tasks as programmed constraints: what a point, a path or a body shall do, in the words of the task.

Each function returns a `Programmed` constraint. `differentiate=k` demands only the k-th derivative, as there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import sympy as sp

from appell.errors import ModelError
from appell.model.frame import Frame, Vector, check_point
from appell.model.programme import Programmed
from appell.model.symbols import Coordinate, letters_in, time_derivative
from appell.model.values import check_kind, formula_of, whole

Realization = str | Iterable[Coordinate]


def _components(point: Any, frame: Frame | None, start: Any = None) -> tuple[sp.Expr, sp.Expr, sp.Expr]:
    """The components of a point, counted from another one if there is one."""
    for given in (point, *(() if start is None else (start,))):
        check_point(given, "What a task is about")
    point = point if start is None else point - start
    if not point.parts:
        raise ModelError("A task needs a point that can move, got the origin of the ground.")
    if frame is not None:
        check_kind(frame, Frame, "frame= of a task as an appell.Frame, or leave it out for the ground")
    axes = frame or next(iter(point.parts)).path[0]
    x, y, z = axes.components(point)
    return x, y, z


def follow(
    point: Vector,
    target: Vector,
    axes: str = "xyz",
    name: str = "follow",
    frame: Frame | None = None,
    differentiate: int = 0,
    realization: Realization = "ideal",
) -> Programmed:
    """A point follows a moving target: r - r_target = 0 along some axes.

    Args:
        point: A point of a body.
        target: Where it shall be, a point whose components may contain `appell.t`.
        axes: The axes along which it follows; along one in which it never leaves the target there is no row.
        name: Name of the programme; its rows are `name.x`, ...
        frame: The frame of the axes; the ground if left out.
        differentiate: Demand only this derivative.
        realization: As for `Programmed`.
    """
    if not isinstance(axes, str) or not axes or set(axes) - set("xyz"):
        raise ModelError(f"axes= takes letters of 'xyz', got {axes!r}.")
    gap = dict(zip("xyz", _components(point, frame, target), strict=True))
    axes = "".join(axis for axis in axes if gap[axis] != 0)
    made = Programmed([gap[axis] for axis in axes], name, None, differentiate, realization, point)
    made.rows = tuple(replace(row, name=f"{name}.{axis}") for axis, row in zip(axes, made.rows, strict=True))
    return made


def surface(
    point: Vector,
    formula: Callable[[sp.Expr, sp.Expr, sp.Expr], Any],
    name: str = "surface",
    frame: Frame | None = None,
    differentiate: int = 0,
    realization: Realization = "ideal",
) -> Programmed:
    """A point stays on a surface (or, in a plane, on a curve): f(x, y, z) = 0.

    Args:
        point: A point of a body.
        formula: Takes the coordinates x, y, z of the point and returns what vanishes; it may contain `appell.t`.
        name: Name of the programme.
        frame: The frame of x, y, z; the ground if left out.
        differentiate: Demand only this derivative.
        realization: As for `Programmed`.

    Example:
        >>> import appell as ap
        >>> x, y = ap.coordinates("x y")
        >>> surface(ap.Frame("ground").point(x, y), lambda x, y, z: x**2 + y**2 - 1)
        Programmed(x**2 + y**2 - 1 = 0)
    """
    check_kind(formula, Callable, "what vanishes as a function of x, y, z: lambda x, y, z: x**2 + y**2 - 1")
    return Programmed(formula(*_components(point, frame)), name, None, differentiate, realization, point)


def path_speed(
    point: Vector,
    speed: Any,
    name: str = "speed",
    frame: Frame | None = None,
    differentiate: int = 0,
    realization: Realization = "ideal",
) -> Programmed:
    """The speed of a point along its path: (v.v - speed^2)/2 = 0, of order one and nonlinear.

    Args:
        point: A point of a body.
        speed: The speed wanted, a number or a formula in `appell.t`.
        name: Name of the programme.
        frame: The frame against which the speed is taken; the ground if left out.
        differentiate: Demand only this derivative; 1 is a programme on the tangential acceleration.
        realization: As for `Programmed`.
    """
    v = [time_derivative(e) for e in _components(point, frame)]
    wanted = formula_of(speed, f"The speed of {name!r}")
    return Programmed((sum(e**2 for e in v) - wanted**2) / 2, name, None, differentiate, realization, point)


def direction(
    axis: Vector,
    along: str,
    name: str = "direction",
    frame: Frame | None = None,
    differentiate: int = 0,
    realization: Realization = "ideal",
) -> Programmed:
    """An axis of a body keeps along an axis of a frame: its two other components vanish.

    Args:
        axis: A direction fixed in a body, such as `tool.z`.
        along: `"x"`, `"y"` or `"z"`.
        name: Name of the programme.
        frame: The frame of that axis; the ground if left out.
        differentiate: Demand only this derivative.
        realization: As for `Programmed`.
    """
    if not isinstance(along, str) or along not in ("x", "y", "z"):
        raise ModelError(f"along= takes 'x', 'y' or 'z', got {along!r}.")
    listed = _components(axis, frame)
    rows = [e for letter, e in zip("xyz", listed, strict=True) if letter != along and letters_in(e)]
    if not rows:
        raise ModelError(f"The direction {axis!r} cannot turn away from {along!r}; nothing is left to programme.")
    return Programmed(rows if len(rows) > 1 else rows[0], name, None, differentiate, realization)


def curvature(
    point: Vector,
    kappa: Any,
    plane: str = "xy",
    name: str = "curvature",
    frame: Frame | None = None,
    differentiate: int = 0,
    realization: Realization = "ideal",
) -> Programmed:
    r"""The curvature of a point's path in a plane: $\dot x\ddot y - \dot y\ddot x - \kappa v^3 = 0$.

    With `differentiate=1` the rate of the curvature, $\frac{d}{dt}(\kappa_{path} - \kappa) = 0$, of order three.

    Args:
        point: A point of a body; it must not stand still.
        kappa: The curvature wanted, positive to the left, a number or a formula in `appell.t`.
        plane: Two letters, `"xy"`, `"yz"` or `"zx"`.
        name: Name of the programme.
        frame: The frame of the plane; the ground if left out.
        differentiate: Demand only this derivative of the curvature.
        realization: As for `Programmed`.
    """
    if not isinstance(plane, str) or plane not in ("xy", "yz", "zx"):
        raise ModelError(f"plane= takes 'xy', 'yz' or 'zx', got {plane!r}.")
    place = dict(zip("xyz", _components(point, frame), strict=True))
    x1, y1 = (time_derivative(place[letter]) for letter in plane)
    x2, y2 = time_derivative(x1), time_derivative(y1)
    kappa = formula_of(kappa, f"The curvature of {name!r}")
    turn, cube = x1 * y2 - y1 * x2, (x1**2 + y1**2) ** sp.Rational(3, 2)
    formula = turn / cube - kappa if differentiate else turn - kappa * cube
    return Programmed(formula, name, None, differentiate, realization, point)


def distance(
    point: Vector,
    center: Vector,
    length: Any,
    name: str = "distance",
    differentiate: int = 0,
    realization: Realization = "ideal",
) -> Programmed:
    """A point keeps its distance from another, which may move: |r - c| - d = 0.

    Args:
        point: A point of a body.
        center: The other point; its components may contain `appell.t`.
        length: The distance, a number or a formula in `appell.t`.
        name: Name of the programme.
        differentiate: Demand only this derivative.
        realization: As for `Programmed`.
    """
    x, y, z = _components(point, None, center)
    length = formula_of(length, f"The length of {name!r}")
    return Programmed(sp.sqrt(x**2 + y**2 + z**2) - length, name, None, differentiate, realization, point)


def profile(
    quantity: Any, order: int, value: Any, name: str = "profile", realization: Realization = "ideal"
) -> Programmed:
    """A derivative of a quantity follows a profile: d^k/dt^k quantity - value = 0 (2: acceleration, 3: jerk).

    Args:
        quantity: A coordinate or a formula.
        order: k.
        value: What the derivative shall be, a number or a formula in `appell.t`.
        name: Name of the programme.
        realization: As for `Programmed`.

    Example:
        >>> import appell as ap
        >>> x = ap.coordinates("x")
        >>> profile(x, 3, ap.t, "jerk")
        Programmed(x''' - t = 0)
    """
    formula = formula_of(quantity, f"The quantity of {name!r}")
    for _ in range(whole("The order of a profile", order, 0)):
        formula = time_derivative(formula)
    return Programmed(formula - formula_of(value, f"The value of {name!r}"), name, None, 0, realization)
