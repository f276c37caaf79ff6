"""Which integrator: the automatic choice and its reason."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module

import numpy as np

from appell.code import heyoka_code
from appell.code.code import Code
from appell.errors import IntegrationError
from appell.graph.kinks import has_bent_powers
from appell.graph.replay import NAMES
from appell.model.values import number
from appell.motion.corners import over_the_first_corner
from appell.motion.flow import Flow
from appell.motion.leg import Leg, Task
from appell.once import once

OWN = ("taylor", "dop853", "cvodes")
SCIPY = ("RK23", "RK45", "DOP853", "Radau", "BDF", "LSODA")
LOOSE = frozenset(("cvodes", *SCIPY)) - {"DOP853"}  # of low order, or with looser tolerances of their own
STIFF = 3e4  # decay rate times length of the run above which equations are stiff
AHEAD = {  # what no series announces
    **dict.fromkeys(("exp", "tanh", "erf"), "may be flat and then steep"),  # far away all their derivatives vanish
    "atan2": "may jump by a turn",
}
EPSILON = float(np.finfo(float).eps)  # to which doubles are rounded
LARGE = 1000  # instructions above which compiling a Taylor integrator takes longer than most runs
TUMBLING = 700  # the same where a quaternion turns: each of its four dependent velocities is compiled in its turn


@dataclass(frozen=True)
class Method:
    """An integrator and why it was taken."""

    name: str
    reason: str

    def integrate(self, task: Task) -> Leg:
        """One leg, up to its first corner if the integrator does not see it or breaks off there."""
        return over_the_first_corner(task, self._leg(task), exact=self.name == "taylor")

    def _leg(self, task: Task) -> Leg:
        """Only the integrator that is used is imported, most of them bring much of SciPy along."""
        if self.name in SCIPY:
            from appell.motion import scipy_methods

            return scipy_methods.integrate(task, self.name)
        return import_module(f"appell.motion.{self.name}").integrate(task)


def check_method(wanted: str) -> None:
    """Refuse a method that there is not, or not here."""
    if not isinstance(wanted, str) or wanted not in ("auto", *OWN, *SCIPY):
        raise IntegrationError(f"Unknown method {wanted!r}; use 'auto', {', '.join(map(repr, (*OWN, *SCIPY)))}.")
    if wanted == "taylor" and not heyoka_code.available():
        raise IntegrationError("Taylor's method needs heyoka (Linux); use method='dop853' (--method dop853).")


def accuracy(method: str) -> float:
    """What a proof of a motion may leave, as a share, by the method that it was found with."""
    return 1e-6 if method in LOOSE else 1e-8


def check_tolerances(rtol: float | None, atol: float | None) -> None:
    """Refuse tolerances that are none, or that no double can tell; None is the default of a method."""
    for name, tolerance in (("rtol", rtol), ("atol", atol)):
        if tolerance is not None and (isinstance(tolerance, str) or not number(name, tolerance) > 0):
            raise IntegrationError(
                f"The tolerance {name} must be a positive number, got {tolerance!r}; 1e-9 is a common choice."
            )
    if rtol is not None and not EPSILON <= rtol < 1:
        raise IntegrationError(
            f"The relative tolerance rtol must be below 1, and not below {EPSILON:.2g}, to which numbers are rounded; "
            f"got {rtol!r}. 1e-9 is a common choice; `taylor` goes to rounding by itself. atol may be smaller."
        )


def choose(
    wanted: str,
    flow: Flow,
    t0: float,
    x0: np.ndarray,
    t1: float,
    w: np.ndarray,
    p: np.ndarray,
    simd: bool,
    by_python: bool,
    held: bool = False,
    tumbling: bool = False,
) -> Method:
    """The method the user wants, or the best for these equations.

    Args:
        wanted: Its name, or "auto".
        flow: Equations and guards.
        t0: The start.
        x0: The state there.
        t1: The end.
        w: Inputs.
        p: Parameters with modes.
        simd: Whether machine code is wanted.
        by_python: Whether an input is given by a Python function.
        held: Whether inputs are held between the samples of a control.
        tumbling: Whether a quaternion will make the speeds change again and again.
    """
    check_method(wanted)
    if by_python and wanted in OWN:
        raise IntegrationError(
            f"{wanted!r} needs equations without Python functions in them; use method='auto' or one of SciPy's, "
            "or give the law as a formula."
        )
    if wanted == "cvodes" and flow.count:
        raise IntegrationError(
            "CVODES does not locate events; use method='Radau' for stiff equations with events or kinks."
        )
    if wanted != "auto":
        caveat = _against_taylor(flow) if wanted == "taylor" else ""
        return Method(wanted, f"chosen by the caller, but {caveat}" if caveat else "chosen by the caller")
    if by_python:
        return Method("DOP853", "an input is given by a Python function")
    rate = _decay(flow, t0, x0, w, p)
    if rate * (t1 - t0) > STIFF:
        if flow.count:
            return Method("Radau", f"stiff (decay rate {rate:.3g}/s), with events")
        return Method("cvodes", f"stiff: decay rate {rate:.3g}/s over {t1 - t0:g} s")
    size = flow.rhs.n_instructions()
    if not (simd and heyoka_code.available()):
        why = (
            "CasADi's machine was asked for" if heyoka_code.available() else "heyoka is not installed, runs take longer"
        )
        return Method("dop853", why)
    if held:
        return Method("dop853", "inputs are held between the samples of a control")
    if why := _against_taylor(flow):
        return Method("dop853", why)
    if size > LARGE:
        return Method("dop853", f"large: {size} instructions, too many to compile a Taylor series of")
    if tumbling and size > TUMBLING:
        words = f"{size} instructions, too many to compile for every choice of speeds that a quaternion needs"
        return Method("dop853", words)
    return Method("taylor", f"smooth{' between located kinks and events' if flow.count else ''}, {size} instructions")


@once
def _against_taylor(flow: Flow) -> str:
    """What a series cannot do with these equations, whatever the state; empty if there is nothing."""
    if hidden := _hidden(flow):
        return f"{hidden}: a long Taylor step could pass over it"
    bent = "a root or fractional power of what comes to zero has no Taylor series there"
    return bent if has_bent_powers(flow.rhs) else ""


def _hidden(flow: Flow) -> str:
    """What operations of a flow may do without any sign of it before; empty if there are none of that kind."""
    names = {NAMES[flow.rhs.instruction_id(k)] for k in range(flow.rhs.n_instructions())}
    manners = {manner for name, manner in AHEAD.items() if name in names}
    return " and ".join(
        f"{', '.join(sorted(name for name in names if AHEAD.get(name) == manner))} {manner}"
        for manner in sorted(manners)
    )


def stiffness(code: Code, t: float, x: np.ndarray, w: np.ndarray, p: np.ndarray) -> float:
    """The fastest decay rate of equations at a state if nothing oscillates or grows as fast, else 0."""
    return decay(code.jacobian(t, x, w, p)[0]) if x.size <= 120 else 0.0


def _decay(flow: Flow, t: float, x: np.ndarray, w: np.ndarray, p: np.ndarray) -> float:
    """The same of a flow."""
    return decay(flow.jacobian_machine(t, x, w, p)[0]) if x.size <= 120 else 0.0


def decay(jacobian: np.ndarray) -> float:
    """The fastest decay rate of a linear system if nothing oscillates or grows as fast, else 0."""
    if not np.all(np.isfinite(jacobian)):
        return 0.0
    roots = np.linalg.eigvals(jacobian)
    fastest = float(np.max(-roots.real, initial=0.0))
    followed = float(np.max([np.abs(roots.imag), roots.real], initial=0.0))  # steps must be short for it all the same
    return fastest if fastest > 30 * followed else 0.0
