"""Kinds of force and what they can do: the theorems of Kelvin, Tait and Chetaev."""

from __future__ import annotations

import numpy as np

from appell.analysis.blocks import Blocks
from appell.analysis.certificate import Forces
from appell.analysis.linearize import Linearization

SMALL = 1e-9  # against the size of the matrix


def forces_at(blocks: Blocks) -> Forces:
    """Sort the forces of a first approximation by what they do.

    Args:
        blocks: Its blocks.

    Reference: Thomson and Tait 1879, art. 345; Chetaev 1955, ch. 5.
    """
    scale = float(np.linalg.norm(blocks.C)) or 1.0
    stiffness = np.linalg.eigvalsh((blocks.C + blocks.C.T) / 2)
    signs = (
        int(np.sum(stiffness > SMALL * scale)),
        int(np.sum(np.abs(stiffness) <= SMALL * scale)),
        int(np.sum(stiffness < -SMALL * scale)),
    )
    circulatory = bool(np.linalg.norm(blocks.C - blocks.C.T) > 1e-7 * scale)
    rate = float(np.sqrt(scale * np.linalg.norm(blocks.A)))
    gyroscopic = bool(np.linalg.norm(blocks.G + (blocks.D - blocks.D.T) / 2) > SMALL * rate)
    damping = np.linalg.eigvalsh((blocks.D + blocks.D.T) / 2)
    edge = SMALL * max(float(np.max(np.abs(damping), initial=0.0)), SMALL * rate)
    if np.any(damping < -edge):
        dissipation = "accelerating"
    elif np.all(np.abs(damping) <= edge):
        dissipation = "none"
    else:
        dissipation = "complete" if np.all(damping > edge) else "partial"
    return Forces(signs, gyroscopic, dissipation, circulatory, _remark(signs, gyroscopic, dissipation, circulatory))


def _remark(signs: tuple[int, int, int], gyroscopic: bool, dissipation: str, circulatory: bool) -> str:
    _, zero, negative = signs
    if circulatory:
        return (
            "Circulatory forces act (C is not symmetric): neither the sign of C nor dissipation alone decides, the "
            "roots do."
        )
    if zero:
        return f"The stiffness C has {zero} zero eigenvalue{'s' * (zero > 1)}: a critical case of the potential."
    if not negative:
        return {
            "none": "Potential forces alone are stable and nothing dissipates: stable, not asymptotically, with or "
            "without gyroscopic forces (Kelvin, Tait and Chetaev).",
            "partial": "Potential forces are stable and dissipation acts on some motions: asymptotic stability depends "
            "on whether it reaches all of them, which the roots show.",
            "complete": "Potential forces are stable and dissipation is complete: asymptotically stable, whatever "
            "gyroscopic forces are added (Kelvin, Tait and Chetaev).",
            "accelerating": "Potential forces are stable, but a velocity force feeds energy in: the roots decide.",
        }[dissipation]
    degree = f"degree of instability {negative}"
    author = "(Kelvin, Tait and Chetaev)"
    if dissipation == "complete":
        return (
            f"Potential forces are unstable ({degree}) and dissipation is complete: no gyroscopic forces can stabilise "
            f"{author}."
        )
    if negative % 2:
        return f"Potential forces are unstable, {degree}, an odd number: no gyroscopic forces can stabilise {author}."
    if gyroscopic and dissipation == "none":
        return (
            f"Potential forces are unstable, {degree}: stable roots here are gyroscopic stabilisation, and complete "
            f"dissipation however small would destroy it {author}."
        )
    return f"Potential forces are unstable, {degree}."


def conservative(lin: Linearization) -> bool:
    """Whether, beside the potential, only forces that have one too and linear damping act: energy never grows.

    A spring that is written as a force has a potential: the slopes of its force by places are symmetric.
    """
    n = len(lin.model.coordinates)
    if lin.model.states:
        return False
    slopes, rounding = lin.tangent.steady.applied_slopes(lin.at)
    by_place, by_rate = slopes[:, :, :n], slopes[:, :, n:]
    curl = np.abs(by_place - by_place.transpose(0, 2, 1))
    if np.any(curl > rounding[:, :n] + rounding[:, :n].T) or np.any(np.abs(by_rate - by_rate[0]) > rounding[:, n:]):
        return False
    units = lin.at.units.unknowns[:n]
    damping = (by_rate[0] + by_rate[0].T) * units * units[:, None]
    return bool(np.all(np.linalg.eigvalsh(damping) <= 1e-12 * np.max(np.abs(damping), initial=0.0)))
