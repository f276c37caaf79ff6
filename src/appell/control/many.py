"""Many tracked runs at once: computed torque compiled into the closed loop, all runs side by side."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import casadi as ca
import numpy as np

from appell.code.machine import Machine
from appell.code.system import System
from appell.control.laws import ComputedTorque
from appell.control.limits import bounds
from appell.control.reference import Reference
from appell.errors import ModelError
from appell.graph.kinks import has_kinks
from appell.graph.solve import solve
from appell.model.values import check_kind, number, whole


def track_many(
    system: System, reference: Any, law: ComputedTorque, starts: np.ndarray, until: float | None = None,
    *, limits: Any = None, step: float = 1e-3, every: int = 10,
) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """Errors of many runs under computed torque, by Runge-Kutta's classical method with a fixed step.

    Args:
        system: The mechanism: no constraints, no kinks, as many inputs as coordinates.
        reference: As for `track`.
        law: Computed torque without integral.
        starts: One row for each run: q, q', extra states, in the order of the system's state.
        until: The time at which to stop; the end of the reference if left out.
        limits: Of the inputs (saturation), as for `track`. A step across the moment at which one is reached has an
            error of second order in its length instead of the fifth.
        step: Of the integration, in seconds.
        every: How many steps from one row of the table to the next.

    Returns:
        Times, and errors of shape (times, coordinates, runs).

    Example:
        >>> import appell as ap, numpy as np, sympy as sp
        >>> x, u, ground = ap.coordinates("x"), ap.inputs("u"), ap.Frame("ground")
        >>> cart = ap.Particle("cart", 2.0, ground.point(x, 0))
        >>> model = ap.Model(ground, x, [cart], [ap.Force(u * ground.x, cart)])
        >>> starts = np.array([[0.1, 0.0], [0.2, 0.0]])
        >>> law = ap.control.ComputedTorque(model, 5.0)
        >>> _, e = track_many(ap.compile(ap.derive(model)), {x: sp.Float(0)}, law, starts, 2.0)
        >>> bool(np.all(np.abs(e[-1]) < 1e-3))
        True
    """
    check_kind(system, System, "a system, compile(derive(model))")
    check_kind(law, ComputedTorque, "control.ComputedTorque(model, rates)")
    every = whole("every", every)
    equations, dynamics = system.equations, law.dynamics
    model = system.model
    plain = equations.speeds == tuple(q.rate for q in model.coordinates) and not model.rows
    if not plain or law.sampled or dynamics.model.states or law.followed != dynamics.model.coordinates:
        raise ModelError(
            "Many runs at once are for mechanisms without constraints, in the rates of their coordinates, under "
            "computed torque of all coordinates without integral and without states of its own; use track for others."
        )
    if has_kinks(equations.rhs) or equations.mechanics.unbroken or equations.mechanics.striking:
        raise ModelError(f"{model.name!r} has kinks, which a fixed step would cut across; use track.")
    if [q.label for q in dynamics.model.coordinates] != [q.label for q in model.coordinates]:
        raise ModelError(f"The law's model must have the coordinates of {model.name!r} in the same order.")
    n = len(model.coordinates)
    try:
        starts = np.atleast_2d(np.asarray(starts, dtype=float))
    except (TypeError, ValueError):
        names = ", ".join(s.label for s in equations.states)
        raise ModelError(f"Starts are an array with a row for each run, {names}; got {starts!r}.") from None
    if starts.shape[1] != equations.x.numel() or not np.all(np.isfinite(starts)):
        raise ModelError(
            f"Each start needs {equations.x.numel()} finite numbers; got an array of shape {starts.shape}."
        )
    course = Reference.of(reference, model.coordinates)
    begin = course.start if np.isfinite(course.start) else 0.0
    if until is None and not np.isfinite(course.end):
        raise ModelError("The reference has no end of its own; say how long to track by until=.")
    until, step = number("until", course.end if until is None else until), number("step", step)
    if not (until > begin and step > 0):
        raise ModelError(f"Runs go from t = {begin:g} on by positive steps; got until = {until:g}, step = {step:g}.")
    low, high = bounds(limits, dynamics.labels)
    machine = Machine(_closed(system, law, low, high), simd=system.code.simd)
    count = max(1, round((until - begin) / step))
    h = (until - begin) / count
    points = np.hstack(course.at(begin + h / 2 * np.arange(2 * count + 1)))
    x, p = np.ascontiguousarray(starts.T), np.concatenate([system.p, dynamics.p])
    times, errors = [begin], [x[:n] - points[0][:n, None]]
    for k in range(count):
        t, wanted = begin + k * h, points[2 * k : 2 * k + 3]
        x = classical_step(lambda i, x, t=t, r=wanted: machine.batch(t + i * h / 2, x, r[i], p), x, h)
        if (k + 1) % every == 0 or k + 1 == count:
            times.append(t + h)
            errors.append(x[:n] - wanted[2][:n, None])
    return np.array(times), np.array(errors)


def classical_step(rate: Callable[[int, Any], Any], x: Any, h: float) -> Any:
    """x after a step of Runge and Kutta's classical method.

    Args:
        rate: From half steps that are over, 0, 1 or 2, and x to x'; graphs or numbers.
        x: Where it begins.
        h: Its length.
    """
    k1 = rate(0, x)
    k2 = rate(1, x + h / 2 * k1)
    k3 = rate(1, x + h / 2 * k2)
    k4 = rate(2, x + h * k3)
    return x + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


def _closed(system: System, law: ComputedTorque, low: np.ndarray, high: np.ndarray) -> ca.Function:
    """x' in t, x, (q^, q^', q^''), p with the inputs S^-1 (M u - F) put in, cut off at their limits."""
    equations, dynamics = system.equations, law.dynamics
    x, other = equations.mechanics.variables, dynamics.mechanics.variables
    n = x.q.numel()
    r, p = ca.SX.sym("r", 3 * n), ca.SX.sym("p", other.p.numel())
    u = r[2 * n :] - 2 * law.delta * (x.v - r[n : 2 * n]) - law.delta**2 * (x.q - r[:n])
    M, F, S, _ = (
        ca.substitute(e, ca.vertcat(other.q, other.v, other.p, other.t), ca.vertcat(x.q, x.v, p, x.t))
        for e in dynamics.graph
    )
    drives = [s.label for s in equations.inputs]
    if sorted(drives) != sorted(dynamics.labels):
        raise ModelError(f"The law commands {', '.join(dynamics.labels)}, but the mechanism has {', '.join(drives)}.")
    if len(drives) != n:
        raise ModelError(
            f"{system.model.name!r} has {n} coordinates and {len(drives)} inputs ({', '.join(drives)}); many runs at "
            "once need one input for each; use track for others."
        )
    w = solve(S, M @ u - F)
    if np.any(np.isfinite([low, high])):
        w = ca.fmin(ca.fmax(w, low), high)
    ordered = ca.vertcat(*[w[dynamics.labels.index(label)] for label in drives])
    xdot = ca.substitute(equations.xdot, equations.w, ordered)
    return ca.Function("closed", [x.t, equations.x, r, ca.vertcat(x.p, p)], [ca.densify(xdot)], {"cse": True})
