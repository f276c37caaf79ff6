"""Stability: what the roots of the first approximation prove, with every root accounted for."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg
from scipy.optimize import minimize_scalar

from appell.analysis.certificate import Certificate, Condition, Verdict
from appell.analysis.drift import direction_in_words
from appell.analysis.equilibrium import Equilibrium
from appell.analysis.ignorable import ignorable
from appell.analysis.kelvin import conservative
from appell.analysis.linearize import Linearization, linearize, ordered
from appell.analysis.routes import disagreement
from appell.analysis.spectrum import Spectrum
from appell.code.state import State
from appell.code.system import System
from appell.errors import ControlError
from appell.model.model import Model
from appell.motion.clock import check_rate


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
    if isinstance(subject, Linearization) and at is not None:
        raise ControlError("A linearisation has its own equilibrium; leave out at=, or give the system in its place.")
    if hasattr(subject, "certificate"):
        name = type(subject).__name__
        raise ControlError(f"Got a {name}, which has a certificate already: write {name.lower()}.certificate.")
    lin = subject if isinstance(subject, Linearization) else linearize(subject, at)
    K, rate = gains_of(lin, gains), getattr(gains, "rate", None) if rate is None else rate
    if rate is not None:
        check_rate(rate)
        if K is None:
            raise ControlError("rate= is for a sampled feedback; give its gains= as well.")
    spectrum = Spectrum(lin, K, rate)
    verdict, why = _verdict(spectrum)
    left = spectrum.left[0]
    return Certificate(
        verdict=verdict,
        roots=ordered(left),
        constraint_zeros=spectrum.constraints,
        momentum_zeros=spectrum.momenta,
        family_zeros=spectrum.family,
        full_roots=ordered(spectrum.full_roots),
        zeros_found=spectrum.zeros,
        margin=spectrum.margin,
        damping=_damping(left),
        distance=_distance(spectrum.A, spectrum.structural, rate) if verdict is not Verdict.UNSTABLE else 0.0,
        conditions=_conditions(spectrum),
        forces=spectrum.forces,
        sentence=_sentence(spectrum, verdict, why),
        rate=rate,
    )


def gains_of(lin: Linearization, gains: Any) -> np.ndarray | None:
    """K as a matrix of the right shape."""
    if gains is None:
        return None
    try:
        K = np.atleast_2d(np.asarray(getattr(gains, "K", gains), dtype=float))
    except (TypeError, ValueError, OverflowError):
        raise ControlError(f"Got {gains!r} as gains; give a matrix K, or a feedback.") from None
    if not np.all(np.isfinite(K)):
        raise ControlError("The gains K have entries that are not finite.")
    if K.shape != (len(lin.inputs), len(lin.states)):
        raise ControlError(
            f"K has shape {K.shape}; {len(lin.inputs)} inputs ({', '.join(lin.inputs)}) and {len(lin.states)} states "
            f"({', '.join(lin.states)}) need {(len(lin.inputs), len(lin.states))}."
        )
    return K


def _verdict(spectrum: Spectrum) -> tuple[Verdict, str]:
    """What is proved, and why."""
    lin, (left, slack) = spectrum.lin, spectrum.left
    if np.any(left.real > slack):
        worst = left[np.argmax(left.real)]
        return Verdict.UNSTABLE, f"the root {worst.real:.6g}{f'{abs(worst.imag):+.6g}i' if worst.imag else ''}"
    critical = left[np.abs(left.real) <= slack]
    shown = ", ".join(f"{abs(e.imag):.6g}i" if e.imag else "0" for e in critical if e.imag >= 0) + spectrum.others
    if len(spectrum.going):
        return Verdict.UNSTABLE, _drift(lin, spectrum.going, shown)
    if not critical.size:
        alone = Verdict.ON_CONSTRAINTS if spectrum.constraints else Verdict.ASYMPTOTIC
        return (Verdict.FAMILY if spectrum.structural else alone), ""
    sharp = spectrum.forces is not None and spectrum.forces.potential[1:] == (0, 0) and not lin.at.degenerate
    if sharp and not spectrum.family and conservative(lin):
        return Verdict.LYAPUNOV, "the energy has a strict minimum here (Lagrange and Dirichlet, Routh)"
    idle = list(lin.ignorable)
    hint = f"; nothing depends on {', '.join(idle)}: linearize(..., ignore={idle}) judges the rest" if idle else ""
    return Verdict.CRITICAL, f"roots on the imaginary axis: {shown}{hint}"


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


def _conditions(spectrum: Spectrum) -> tuple[Condition, ...]:
    """The hypotheses of the theorem as numbers."""
    lin, tangent, integrals, full = spectrum.lin, spectrum.lin.tangent, spectrum.integrals, spectrum.full
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
    zeros, expected = spectrum.zeros, spectrum.constraints + spectrum.structural
    found.append(Condition(f"zero roots of the full matrix, {expected} expected", float(zeros), zeros == expected))
    found.append(Condition("all other roots have negative real parts, margin", spectrum.margin, spectrum.margin > 0))
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


def _sentence(spectrum: Spectrum, verdict: Verdict, why: str) -> str:
    """The verdict in plain words."""
    lin, m, momenta, family = spectrum.lin, spectrum.constraints, spectrum.momenta, spectrum.family
    what = "steady motion" if np.any(lin.at.state.v) else "equilibrium"
    aside = f", {', '.join(lin.dropped)} left aside," if lin.dropped else ""
    text = f"The {what} of {lin.model.name!r}{aside}{spectrum.by} is "
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
