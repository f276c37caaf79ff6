"""From a chain to its joint frames: z on the joint's axis, the rest chosen so that many constants vanish.

As in Denavit and Hartenberg's rule (Craig's variant) x is the common normal with the axis of the first child and the
origin its foot; what a joint is turned by at home goes into its angle. Numbers only; with formulas the axes of the
links are taken as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import sympy as sp

from appell.kinematics.skeleton import Joint, Skeleton
from appell.model.chain_data import ChainData
from appell.model.screws import inverse

ROUNDING = 1e-14
FAR = 30.0  # reaches of a joint; inertia about a point so far away has lost three digits


def skeleton_of(data: ChainData, names: Sequence[str]) -> Skeleton:
    """The joint frames of a chain.

    Args:
        data: The chain as arrays of floats, or of SymPy formulas.
        names: Names of the joints.
    """
    return _numeric(data, names) if data.screws.dtype != object else _formal(data, names)


def link_poses(data: ChainData) -> list[np.ndarray]:
    """For each joint the pose of its link's frame in its joint frame; floats."""
    return [inverse(J) @ T for J, T in zip(_chosen(data), data.home, strict=True)]


def _numeric(data: ChainData, names: Sequence[str]) -> Skeleton:
    chosen = _chosen(data)
    rests, inertias, joints = [], [], []
    for J, T, parent, pseudo in zip(chosen, data.home, data.parents, data.pseudo, strict=True):
        rests.append((inverse(chosen[parent]) if parent >= 0 else np.eye(4)) @ J)
        X = inverse(J) @ T
        inertias.append(X @ pseudo @ X.T)
    dust = 1e-16 * max(_length(rest, I) for rest, I in zip(rests, inertias, strict=True))
    for i, (rest, I) in enumerate(zip(rests, inertias, strict=True)):
        E, shift = _unturned(rest[:3, :3]) if data.revolute[i] else (rest[:3, :3], 0.0)
        joints.append(
            Joint(
                name=names[i],
                parent=data.parents[i],
                turns=int(data.revolute[i]),
                advance=float(data.pitch[i]) if data.revolute[i] else 1,
                E=_clean_turn(E),
                r=_clean(rest[:3, 3], dust),
                mass=float(I[3, 3]),
                h=_clean(I[:3, 3], dust * float(I[3, 3])),
                planar=_clean((I[:3, :3] + I[:3, :3].T) / 2, 1e-16 * float(np.abs(I[:3, :3]).max())),
                shift=shift,
            )
        )
    tool = inverse(chosen[data.tool_body]) @ data.home[data.tool_body] @ data.tool
    return Skeleton(
        tuple(joints),
        [float(g) for g in data.gravity],
        (data.tool_body, _clean_turn(tool[:3, :3]), _clean(tool[:3, 3], dust)),
    )


def _length(rest: np.ndarray, I: np.ndarray) -> float:
    """How far a joint is from the one that carries it, or the mass centre of its link from itself."""
    return max(float(np.linalg.norm(rest[:3, 3])), float(np.linalg.norm(I[:3, 3])) / (float(I[3, 3]) or 1.0))


def _chosen(data: ChainData) -> list[np.ndarray]:
    """Joint frames in the ground at home, tips first, since a foot is looked for from what a joint carries."""
    screws, n = data.home_screws, data.n
    k = [s[:3] if data.revolute[i] else s[3:] for i, s in enumerate(screws)]
    k = [axis / np.linalg.norm(axis) for axis in k]
    point = [np.cross(s[:3], s[3:]) for s in screws]
    centers = [
        (T @ I[:, 3])[:3] / I[3, 3] if I[3, 3] > 0 else T[:3, 3] for T, I in zip(data.home, data.pseudo, strict=True)
    ]
    frames: list[np.ndarray] = [np.eye(4)] * n
    for i in reversed(range(n)):
        child = next((j for j in range(n) if data.parents[j] == i), None)
        target = centers[i] if child is None else frames[child][:3, 3]
        origin = target if not data.revolute[i] else point[i] + k[i] * (k[i] @ (target - point[i]))
        x = None
        if child is not None:
            normal = np.cross(k[i], k[child])
            slant = np.linalg.norm(normal)
            x = normal / slant if slant > 1e-9 else None
            if x is not None and data.revolute[i] and data.revolute[child]:
                # Where the two axes are nearest: p_j - p_i - s k_i is in the plane of the normal and k_j.
                gap = point[child] - point[i]
                foot = point[i] + k[i] * (np.linalg.det([gap, k[child], normal]) / slant**2)
                reach = np.linalg.norm(target - origin) + np.linalg.norm(centers[i] - origin)
                if np.linalg.norm(foot - origin) <= FAR * reach + 1e-9 * np.linalg.norm(gap):
                    origin = foot
                else:  # all but parallel
                    x = None
        if x is None:
            away = target - origin
            x = away - k[i] * (k[i] @ away)
        if np.linalg.norm(x) < 1e-9:
            away = data.home[i][:3, 0] if abs(k[i] @ data.home[i][:3, 0]) < 0.9 else data.home[i][:3, 1]
            x = away - k[i] * (k[i] @ away)
        x = x / np.linalg.norm(x)
        x = x - k[i] * (k[i] @ x)  # the normal of axes that are nearly parallel has few digits
        x = x / np.linalg.norm(x)
        frame = np.eye(4)
        frame[:3, :3] = np.column_stack([x, np.cross(k[i], x), k[i]])
        frame[:3, 3] = origin
        frames[i] = frame
    return frames


def _unturned(R: np.ndarray) -> tuple[np.ndarray, float]:
    """R = E Rz(shift) with as many zeros in E as can be had."""
    level = np.hypot(R[2, 0], R[2, 1])
    shift = float(np.arctan2(R[2, 0], R[2, 1])) if level > 1e-9 else float(np.arctan2(R[1, 0], R[0, 0]))
    c, s = np.cos(shift), np.sin(shift)
    E = R @ np.array([[c, s, 0], [-s, c, 0], [0, 0, 1]])
    return E, 0.0 if abs(shift) < ROUNDING else shift


def _clean(values: np.ndarray, tiny: float) -> Any:
    """Rounding that stands for 0 put right, as lists of floats."""
    return np.where(np.abs(values) <= tiny, 0.0, values).tolist()


def _clean_turn(R: np.ndarray) -> Any:
    """The same for 0, 1 and -1 in a rotation matrix."""
    return _clean(np.where(np.abs(np.abs(R) - 1) <= ROUNDING, np.sign(R), R), ROUNDING)


def _formal(data: ChainData, names: Sequence[str]) -> Skeleton:
    """With formulas: origins on the axes, and the axes of the link in another order where they allow that."""
    turns, places = [], []
    for i in range(data.n):
        k = data.screws[i][:3] if data.revolute[i] else data.screws[i][3:]
        turns.append(_basis([sp.sympify(e) for e in k]))
        place = (
            sp.Matrix(data.screws[i][:3]).cross(sp.Matrix(data.screws[i][3:])) if data.revolute[i] else sp.zeros(3, 1)
        )
        places.append(place)
    joints = []
    for i in range(data.n):
        parent = data.parents[i]
        B, o = (turns[parent], places[parent]) if parent >= 0 else (sp.eye(3), sp.zeros(3, 1))
        M = sp.Matrix(data.relative[i])
        X = sp.eye(4)  # the link's axes to those of the joint
        X[:3, :3], X[:3, 3] = turns[i].T, -turns[i].T * places[i]
        I = X * sp.Matrix(data.pseudo[i]) * X.T
        joints.append(
            Joint(
                name=names[i],
                parent=parent,
                turns=int(data.revolute[i]),
                advance=_number(data.pitch[i]) if data.revolute[i] else 1,
                E=_numbers(B.T * M[:3, :3] * turns[i]),
                r=[row[0] for row in _numbers(B.T * (M[:3, :3] * places[i] + M[:3, 3] - o))],
                mass=_number(I[3, 3]),
                h=[row[0] for row in _numbers(I[:3, 3])],
                planar=_numbers(I[:3, :3]),
            )
        )
    end, tool = data.tool_body, sp.Matrix(data.tool)
    rotation = _numbers(turns[end].T * tool[:3, :3])
    place = [row[0] for row in _numbers(turns[end].T * (tool[:3, 3] - places[end]))]
    return Skeleton(tuple(joints), [_number(g) for g in data.gravity], (end, rotation, place))


def _basis(k: Sequence[sp.Expr]) -> sp.Matrix:
    """Axes with k as the third."""
    z = sp.Matrix(k)
    for j in range(3):
        if z[j] in (1, -1):
            x = sp.eye(3)[:, (j + 1) % 3]
            return sp.Matrix.hstack(x, z.cross(x), z)
    side = sp.Matrix([1, 0, 0]) if z[0] == 0 else sp.Matrix([0, 0, 1]) if z[2] == 0 else sp.Matrix([-z[1], z[0], 0])
    x = side / sp.sqrt(side.dot(side))
    return sp.Matrix.hstack(x, z.cross(x), z)


def _number(x: Any) -> Any:
    """A whole number as an int, so that it drops out of products; floats as the fractions they stand for."""
    x = sp.nsimplify(x, rational=True) if sp.sympify(x).has(sp.Float) else sp.sympify(x)
    return int(x) if x.is_Integer else x


def _numbers(matrix: sp.Matrix) -> list[list[Any]]:
    return [[_number(e) for e in row] for row in matrix.tolist()]
