r"""Screws, twists and rigid transforms: plain arrays of numbers, or of SymPy formulas (arrays of objects).

A screw is six numbers, the angular part first: $\xi = (\omega, v)$ with $v = p\times\omega + h\,\omega$ for an axis of
direction $\omega$ through p with pitch h, and $(0, v)$ for a translation. Poses are 4 by 4 matrices T.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from appell.graph.series import sin_cos

Jet = np.ndarray
"""A Taylor series of arrays, its coefficients x^(k)/k! on the leading axis."""


def cauchy(times: Callable[[Any, Any], Any], a: Jet, b: Jet) -> Jet:
    """The jet of a product: sum_i a_i b_(k-i)."""
    return np.stack([sum(times(a[i], b[k - i]) for i in range(k + 1)) for k in range(len(a))])


def zeros(shape: tuple[int, ...], like: np.ndarray) -> np.ndarray:
    """Zeros of the kind of numbers of another array."""
    if like.dtype != object:
        return np.zeros(shape)
    import sympy as sp

    return np.full(shape, sp.Integer(0), dtype=object)


def identity(n: int, like: np.ndarray) -> np.ndarray:
    """The unit matrix in the kind of numbers of another array."""
    result = zeros((n, n), like)
    for i in range(n):
        result[i, i] = result[i, i] + 1
    return result


def skew(w: np.ndarray) -> np.ndarray:
    """[w x], the matrix with [w x] r = w x r; any number of leading axes."""
    m = zeros((*w.shape[:-1], 3, 3), w)
    m[..., 0, 1], m[..., 0, 2], m[..., 1, 2] = -w[..., 2], w[..., 1], -w[..., 0]
    m[..., 1, 0], m[..., 2, 0], m[..., 2, 1] = w[..., 2], -w[..., 1], w[..., 0]
    return m


def hat(screw: np.ndarray) -> np.ndarray:
    """X = [[w x, v], [0, 0]], the 4 by 4 operator of a screw."""
    m = zeros((*screw.shape[:-1], 4, 4), screw)
    m[..., :3, :3] = skew(screw[..., :3])
    m[..., :3, 3] = screw[..., 3:]
    return m


def adjoint(pose: np.ndarray) -> np.ndarray:
    """Ad(T) = [[R, 0], [[p x] R, R]]: a screw in the axes of T to the axes T is written in."""
    R, p = pose[..., :3, :3], pose[..., :3, 3]
    m = zeros((*pose.shape[:-2], 6, 6), pose)
    m[..., :3, :3] = m[..., 3:, 3:] = R
    m[..., 3:, :3] = skew(p) @ R
    return m


def inverse(pose: np.ndarray) -> np.ndarray:
    """The inverse of a rigid transform."""
    R = np.swapaxes(pose[..., :3, :3], -1, -2)
    m = zeros(pose.shape, pose)
    m[..., :3, :3] = R
    m[..., :3, 3] = -(R @ pose[..., :3, 3:])[..., 0]
    m[..., 3, 3] = m[..., 3, 3] + 1
    return m


def carried(pose: Jet, screw: np.ndarray) -> Jet:
    """The jet of Ad(T) xi for a jet of poses and a constant screw: (R w, R v + p x R w)."""
    R, p = pose[..., :3, :3], pose[..., :3, 3]
    w, v = R @ screw[:3], R @ screw[3:]
    return np.concatenate([w, v + cauchy(np.cross, p, w)], axis=-1)


def exponential(screw: np.ndarray, q: Jet) -> Jet:
    r"""The jet of $e^{Xq}$: $1 + \sin q\,X + (1-\cos q)X^2 + (q-\sin q)(X+X^3)$, with X + X^3 = 0 for zero pitch.

    Translations are 1 + qX. The same formula serves helical joints: for a unit direction $X^4 = -X^2$, so that the
    last term is the advance along the axis.

    Args:
        screw: Six numbers with a unit direction: |w| = 1, or w = 0 and |v| = 1.
        q: Jet of the joint variable, of shape (K+1, ...).
    """
    X = hat(screw)
    one = identity(4, screw)
    head = zeros((len(q), *q.shape[1:], 4, 4), q)
    head[0] = head[0] + one
    along = q[..., None, None]
    if _zero(screw[:3]):
        return head + along * X
    s, c = (np.stack(e)[..., None, None] for e in sin_cos(list(q)))
    X2 = X @ X
    turned = head + s * X - c * X2
    turned[0] = turned[0] + X2
    advance = X + X2 @ X
    return turned if _zero(advance) else turned + (along - s) * advance


def _zero(values: np.ndarray) -> bool:
    if values.dtype == object:
        return all(e == 0 for e in values.flat)
    return bool(np.abs(values).max() < 1e-15)


def spatial_inertia(pseudo: np.ndarray) -> np.ndarray:
    """G = [[I, [h x]], [-[h x], m 1]] about the origin, angular part first, from the 4 by 4 pseudo-inertia."""
    second, h, mass = pseudo[..., :3, :3], pseudo[..., :3, 3], pseudo[..., 3, 3]
    one = identity(3, pseudo)
    trace = second[..., 0, 0] + second[..., 1, 1] + second[..., 2, 2]
    G = zeros((*pseudo.shape[:-2], 6, 6), pseudo)
    G[..., :3, :3] = trace[..., None, None] * one - second
    G[..., :3, 3:] = skew(h)
    G[..., 3:, :3] = -skew(h)
    G[..., 3:, 3:] = mass[..., None, None] * one
    return G
