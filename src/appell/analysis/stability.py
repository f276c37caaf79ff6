"""Stability: what the roots of the first approximation prove, with every root accounted for."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg
from scipy.optimize import minimize_scalar

from appell.analysis.balance import balanced
from appell.analysis.certificate import Certificate, Condition, Forces, Verdict
from appell.analysis.continuation import leads_on
from appell.analysis.drift import beside, conserved, direction_in_words, drifts, joined, rigid, unfelt
from appell.analysis.equilibrium import Equilibrium
from appell.analysis.ignorable import ignorable
from appell.analysis.kelvin import conservative, forces_at
from appell.analysis.linearize import Linearization, linearize, ordered
from appell.analysis.roots import blurred
from appell.analysis.routes import disagreement
from appell.analysis.sampling import differences, exponents
from appell.code.state import State
from appell.code.system import System
from appell.errors import ControlError
from appell.model.model import Model
from appell.motion.clock import check_rate

EPS = float(np.finfo(float).eps)
BLURRED = (
    1e-6  # roots smaller than this against the largest are zero, where a multiple equilibrium is known to few digits
)


def stability(
    subject: Linearization | Equilibrium | System | Model,
    at: Equilibrium | State | None = None,
    *,
    gains: Any = None,
    rate: float | None = None,
) -> Certificate:
    r"""What the roots of $\lambda^m\det[A\lambda^2 + (G + D)\lambda + C] = 0$, eq. (24), prove.

    The m zero roots belong to the first integrals F = c and no feedback moves them; they are counted apart, as are
    those of momenta that nothing changes and of families of equilibria. If all other roots have negative real parts the
    equilibrium is asymptotically stable on F = 0 and Lyapunov stable otherwise (Lyapunov and Malkin); a positive real
    part proves instability, and so does a drift that goes on for ever, of a cyclic coordinate or of a free chain as a
    rigid body; roots on the imaginary axis decide nothing, unless the energy does (Lagrange and Dirichlet, Routh).

    Args:
        subject: A linearisation, an equilibrium, or a system or model together with `at`.
        at: Where, for systems and models.
        gains: K of a feedback u = u0 - K eta on the states of the linearisation, or an object that has such a K.
        rate: Samples per second of a feedback whose inputs are held in between; continuous if left out. A sampled loop
            is judged from sample to sample: what no input changes keeps its root 1 there, all others must be inside the
            unit circle. Its roots are told as exponents, rate times the logarithm.

    Returns:
        The certificate.

    Example:
        >>> import appell as ap
        >>> system = ap.compile(ap.derive(ap.library.slider_crank())).bind({"tau": 0})
        >>> [ap.stability(rest).verdict.name for rest in ap.equilibrium(system).branches[:4]]
        ['ON_CONSTRAINTS', 'UNSTABLE', 'UNSTABLE', 'ON_CONSTRAINTS']

    Reference: Krasinskiy 2025, the theorem of section 6 as corrected in `docs/theory/first-approximation.md`;
    Lyapunov 1892; Malkin 1952; Chetaev 1955.
    """
    lin = subject if isinstance(subject, Linearization) else linearize(subject, at)
    K, rate = gains_of(lin, gains), getattr(gains, "rate", None) if rate is None else rate
    if rate is not None:
        check_rate(rate)
        if K is None:
            raise ControlError("rate= is of a feedback; give its gains=, too.")
    tangent = lin.tangent
    A, full = lin.A, tangent.full
    if K is not None:
        A = _closed(A, lin.B, K, rate)
        full = _closed(full, tangent.pushed(lin.inputs), K @ tangent.selection(lin.states), rate)
    m = tangent.bonds.shape[0]
    directions = rigid(lin) if _singular(A) else np.zeros((0, len(lin.model.coordinates)))
    kept, gradients = conserved(lin, directions, full)
    idle = unfelt(lin, directions, A)
    labels = [q.label for q in lin.model.coordinates]
    momenta = tuple(direction_in_words(k, labels) for k in kept)
    family = _family(lin, A, idle, K is not None)
    structural = len(momenta) + family
    roots, tolerance = _roots(A)
    if lin.at.degenerate:
        tolerance = np.maximum(tolerance, BLURRED * np.max(np.abs(roots), initial=0.0))
    order = np.argsort(np.abs(roots), kind="stable")
    left, slack = roots[order[structural:]], tolerance[order[structural:]]
    spare = _continued(lin, A, left, slack, structural, K)
    family += spare
    structural += spare
    left, slack = roots[order[structural:]], tolerance[order[structural:]]
    if rate is not None:
        slack = rate * np.log1p(slack / rate / np.maximum(np.abs(1 + left / rate), EPS))
        left = exponents(left, rate)
    left = np.where(np.abs(left.real) <= slack, 1j * left.imag, left)  # on the axis, as far as rounding can tell
    left = np.where(np.abs(left) <= slack, 0.0, left)
    awake = tangent.awake
    full_roots, full_tolerance = _roots(full[np.ix_(awake, awake)])
    reach = 1e-11 * float(np.max(np.abs(full_roots), initial=0.0))
    zeros = int(np.sum(np.abs(full_roots) <= np.maximum(full_tolerance, reach)))
    margin = float(np.min(-left.real, initial=np.inf)) + 0.0
    pure = K is None and not lin.model.states  # a current or an integral is a force of no kind
    held = set(lin.dropped) <= set(momenta)  # the blocks are those of Routh's function, at constant momenta
    forces = forces_at(lin.named) if pure and held and lin.named is not None else None
    xdot = None if K is None else tangent.fed_back(lin.inputs, lin.states, K)
    loop = lin.A if K is None else lin.A - lin.B @ K  # samples do not matter to what changes nothing that is fed back
    going = joined(drifts(lin, idle, loop, xdot), unfelt(lin, kept, A), tangent.units[: len(labels)])
    others = beside(lin, A, idle, xdot) if np.any(left == 0) and not np.any(left.real > slack) else ""
    verdict, why = _verdict(
        lin=lin,
        left=left,
        slack=slack,
        m=m,
        momenta=momenta,
        family=family,
        forces=forces,
        going=going,
        others=others,
    )
    conditions = _conditions(lin, np.vstack([tangent.bonds, gradients]), full, zeros, m + structural, margin)
    return Certificate(
        verdict=verdict,
        roots=ordered(left),
        constraint_zeros=m,
        momentum_zeros=momenta,
        family_zeros=family,
        full_roots=ordered(full_roots if rate is None else exponents(full_roots, rate)),
        zeros_found=zeros,
        margin=margin,
        damping=_damping(left),
        distance=_distance(A, structural, rate) if verdict is not Verdict.UNSTABLE else 0.0,
        conditions=conditions,
        forces=forces,
        sentence=_sentence(lin, verdict, why, m, momenta, family, _by(K, rate)),
        rate=rate,
    )


def _closed(A: np.ndarray, B: np.ndarray, K: np.ndarray, rate: float | None) -> np.ndarray:
    """A - B K, or the same of differences from sample to sample."""
    A, B = (A, B) if rate is None else differences(A, B, rate)
    return A - B @ K


def _by(K: np.ndarray | None, rate: float | None) -> str:
    """What holds, in words."""
    if K is None:
        return ""
    return " under the feedback" + (f", sampled {rate:g} times a second," if rate else "")


def gains_of(lin: Linearization, gains: Any) -> np.ndarray | None:
    """K as a matrix of the right shape."""
    if gains is None:
        return None
    try:
        K = np.atleast_2d(np.asarray(getattr(gains, "K", gains), dtype=float))
    except (TypeError, ValueError):
        raise ControlError(f"Got {gains!r} as gains; give a matrix K, or a feedback.") from None
    if not np.all(np.isfinite(K)):
        raise ControlError("The gains K have entries that are not finite.")
    if K.shape != (len(lin.inputs), len(lin.states)):
        raise ControlError(
            f"K has shape {K.shape}; {len(lin.inputs)} inputs ({', '.join(lin.inputs)}) and {len(lin.states)} states "
            f"({', '.join(lin.states)}) need {(len(lin.inputs), len(lin.states))}."
        )
    return K


def _roots(A: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Roots, and how far rounding may have moved each."""
    return blurred(A, 1e-7)[:2] if A.size else (np.zeros(0, complex), np.zeros(0))


def _singular(A: np.ndarray) -> bool:
    """Whether there is a zero root."""
    values = np.linalg.svd(balanced(A)[0], compute_uv=False)
    return bool(values.size and values[-1] <= 1e-9 * values[0])


def _family(lin: Linearization, A: np.ndarray, idle: np.ndarray, closed: bool) -> int:
    """Parameters of the known families of equilibria: those of rolling at rest, and displacements that nothing feels.

    Args:
        lin: The linearisation.
        A: The reduced matrix, with a feedback if there is one.
        idle: Rigid displacements that nothing feels.
        closed: Whether there is one.
    """
    labels = [q.label for q in lin.model.coordinates]
    limit = 1e-12 * np.max(np.abs(A), initial=1.0)
    unfelt = [s for s, column in zip(lin.states, A.T, strict=True) if s in labels and np.all(np.abs(column) <= limit)]
    alone = [np.eye(len(labels))[labels.index(s)] for s in unfelt if s in ignorable(lin.tangent)]
    count = int(np.linalg.matrix_rank(np.array([*idle, *alone]))) if len(idle) or alone else 0
    if closed or not lin.tangent.steady.velocity_rows or np.any(lin.at.state.v):
        return count
    return max(count, sum(s in labels for s in lin.states) - len(lin.tangent.equations.speeds))


def _continued(
    lin: Linearization, A: np.ndarray, left: np.ndarray, slack: np.ndarray, known: int, K: np.ndarray | None
) -> int:
    """Further zero roots of a family of steady motions: those whose directions lead to other steady motions."""
    zeros = int(np.sum(np.abs(left) <= np.maximum(slack, 1e-9 * np.max(np.abs(left), initial=0.0))))
    if not zeros:
        return 0
    matrix, scale = balanced(A)
    _, values, vh = np.linalg.svd(matrix)
    kernel = vh[values <= 1e-9 * values[0]] * scale
    if kernel.shape[0] != zeros + known:
        return 0  # a Jordan block: no family of that dimension
    xdot = None if K is None else lin.tangent.fed_back(lin.inputs, lin.states, K)
    return zeros if all(leads_on(lin.tangent, lin.states, direction, xdot) for direction in kernel) else 0


def _verdict(
    lin: Linearization,
    left: np.ndarray,
    slack: np.ndarray,
    m: int,
    momenta: tuple[str, ...],
    family: int,
    forces: Forces | None,
    going: np.ndarray,
    others: str,
) -> tuple[Verdict, str]:
    if np.any(left.real > slack):
        worst = left[np.argmax(left.real)]
        return Verdict.UNSTABLE, f"the root {worst.real:.6g}{f'{abs(worst.imag):+.6g}i' if worst.imag else ''}"
    critical = left[np.abs(left.real) <= slack]
    shown = ", ".join(f"{abs(e.imag):.6g}i" if e.imag else "0" for e in critical if e.imag >= 0)
    if len(going):
        return Verdict.UNSTABLE, _drift(lin, going, f"{shown}{others}")
    if not critical.size:
        return (Verdict.FAMILY if momenta or family else Verdict.ON_CONSTRAINTS if m else Verdict.ASYMPTOTIC), ""
    sharp = forces is not None and forces.potential[1:] == (0, 0) and not lin.at.degenerate
    if sharp and not family and conservative(lin):
        return Verdict.LYAPUNOV, "the energy has a strict minimum here (Lagrange and Dirichlet, Routh)"
    idle = list(lin.ignorable)
    hint = f"; nothing depends on {', '.join(idle)}: linearize(..., ignore={idle}) judges the rest" if idle else ""
    return Verdict.CRITICAL, f"roots on the imaginary axis: {shown}{others}{hint}"


def _drift(lin: Linearization, going: np.ndarray, critical: str) -> str:
    """What drifts away, and what there is to say of the rest, in words."""
    labels = [q.label for q in lin.model.coordinates]
    moved = [s for s, column in zip(labels, going.T, strict=True) if np.any(column)]
    alone = len(moved) == len(going)
    along = ", ".join(direction_in_words(k, labels) for k in going)
    several = len(going) > 1
    rigid_body = "" if alone else ", rigid-body motions" if several else ", a rigid-body motion"
    words = (
        f"nothing holds {along}{rigid_body}: after the smallest push {'they go' if several else 'it goes'} on for ever"
    )
    if set(moved) <= set(ignorable(lin.tangent)):
        aside = [s for s in labels if s in (*moved, *lin.dropped)]
        return f"{words}; linearize(..., ignore={aside}) judges the rest"
    return f"{words}; {f'all else has roots on the imaginary axis: {critical}' if critical else 'all else decays'}"


def _conditions(
    lin: Linearization, integrals: np.ndarray, full: np.ndarray, zeros: int, expected: int, margin: float
) -> tuple[Condition, ...]:
    """The hypotheses of the theorem as numbers."""
    tangent = lin.tangent
    rest = tangent.rest()
    found = [Condition("the equations of rest are met, relative residual", rest, rest < 1e-7)]
    if tangent.bonds.shape[0]:
        own = tangent.bonds
        best = float(np.linalg.svd(own, compute_uv=False)[-1] / np.linalg.norm(own))
        found.append(Condition("F_q has full rank, smallest singular value against the norm", best, best > 1e-7))
    if integrals.shape[0]:
        kept = float(np.linalg.norm(integrals @ full) / max(np.linalg.norm(integrals) * np.linalg.norm(full), 1e-300))
        text = "F (and free momenta) are first integrals: their gradients times the full matrix"
        found.append(Condition(text, kept, kept < 1e-9))
    if lin.named is not None:
        inertia = float(np.min(np.linalg.eigvalsh((lin.named.A + lin.named.A.T) / 2)))
        found.append(Condition("the inertia A is positive definite, smallest eigenvalue", inertia, inertia > 0))
        if lin.multiplier_terms:
            two = disagreement(lin)
            text = "blocks and compiled equations agree, relative difference"
            found.append(Condition(text, two, two < 1e-8))
    found.append(Condition(f"zero roots of the full matrix, {expected} expected", float(zeros), zeros == expected))
    found.append(Condition("all other roots have negative real parts, margin", margin, margin > 0))
    return tuple(found)


def _damping(roots: np.ndarray) -> float:
    swinging = roots[np.abs(roots.imag) > 1e-12 * np.maximum(np.abs(roots), 1e-300)]
    return float(np.min(-swinging.real / np.abs(swinging), initial=1.0)) + 0.0


def _distance(A: np.ndarray, structural: int, rate: float | None) -> float:
    """min over omega of the smallest singular value of A - i omega, without the structural zeros.

    Differences from sample to sample grow where their roots leave the circle rate (exp(i omega/rate) - 1) instead.
    """
    if not A.size:
        return float("inf")
    triangle = scipy.linalg.schur(A, output="complex")[0]
    if structural:
        limit = np.sort(np.abs(np.diag(triangle)))[structural - 1] * (1 + 1e-9) + 1e-300
        triangle = scipy.linalg.schur(A, output="complex", sort=lambda e: abs(e) <= limit)[0][structural:, structural:]
    if not triangle.size:
        return float("inf")
    roots, unit = np.diag(triangle), np.eye(len(triangle))

    def gap(omega: float) -> float:
        border = 1j * omega if rate is None else rate * np.expm1(1j * omega / rate)
        return float(np.linalg.svd(triangle - border * unit, compute_uv=False)[-1])

    reach = float(np.max(np.abs(roots), initial=1.0)) if rate is None else np.pi * rate
    grid = np.unique(np.concatenate([np.abs(roots.imag), np.linspace(0, reach, 40), np.geomspace(1e-4, 1, 30) * reach]))
    values = np.array([gap(omega) for omega in grid])
    best = float(np.min(values))
    for k in np.argsort(values)[:3]:
        low, high = grid[max(k - 1, 0)], grid[min(k + 1, grid.size - 1)]
        if high > low:
            best = min(best, float(minimize_scalar(gap, bounds=(low, high), method="bounded").fun))
    return best


def _sentence(
    lin: Linearization, verdict: Verdict, why: str, m: int, momenta: tuple[str, ...], family: int, by: str
) -> str:
    """The verdict in plain words."""
    what = "steady motion" if np.any(lin.at.state.v) else "equilibrium"
    aside = f", {', '.join(lin.dropped)} left aside," if lin.dropped else ""
    text = f"The {what} of {lin.model.name!r}{aside}{by} is "
    warning = "" if lin.multiplier_terms else " This is NOT a proof: the multiplier terms C^B were left out."
    match verdict:
        case Verdict.ON_CONSTRAINTS:
            text += (
                "exponentially asymptotically stable for perturbations that keep the "
                f"{'constraint' if m == 1 else 'constraints'}, F(q) = 0. For perturbations that violate "
                f"{'it' if m == 1 else 'them'}, F(q) = c, it is Lyapunov stable and not asymptotically: c stays, and "
                f"the motion tends to another member of a family of equilibria with {m} parameter{'s' * (m > 1)}."
            )
        case Verdict.FAMILY:
            reasons = [f"the momenta of {', '.join(momenta)} keep their values"] if momenta else []
            reasons += [f"equilibria form a family with {family} parameter{'s' * (family > 1)}"] if family else []
            if m:
                reasons.append(
                    "the integral F = c keeps its value" if m == 1 else f"the {m} integrals F = c keep theirs"
                )
            text += (
                f"Lyapunov stable, and every near motion tends to a near steady motion: {', and '.join(reasons)}; for "
                "perturbations that change none of these it is exponentially asymptotically stable."
            )
        case Verdict.LYAPUNOV:
            text += f"Lyapunov stable, not asymptotically: {why}."
        case Verdict.UNSTABLE:
            text += f"unstable: {why}."
        case Verdict.CRITICAL:
            text += f"not decided by the first approximation, a critical case: {why}."
        case _:
            text += "exponentially asymptotically stable."
    return text + warning
