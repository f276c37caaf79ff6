"""Families of equilibria: how many parameters one has, and whether two equilibria are members of the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from appell.analysis.equilibrium_search import Problem, Root

FLAT = 1e-8  # singular value, in scaled equations and unknowns, of a direction that could lead along a family
PROBE = 1e-3  # how far a direction is followed to see whether it does
STRIDE = 0.2  # how far to go at once from one member to another
SAME = 1e-6  # equilibria nearer than this, against their size, are one
BLURRED = 1e-4  # likewise for multiple roots, which are known to fewer digits


def measured(problem: Problem, root: Root) -> Root:
    """A root with the number of parameters of its family.

    Directions along which the equations do not change to first order are followed a little way: where the corrected
    point has moved, there is a family; where it falls back, as on the bottom of x^4, the root is only degenerate.

    Args:
        problem: What it is a root of.
        root: The root.
    """
    along, _ = _directions(problem, root.y)
    ends = [problem.corrected(_moved(problem, root.y, PROBE * step)) for step in along.T]
    if not ends:
        return root
    gone = np.array([_gap(problem, root.y, end.y if end.ok else root.y) for end in ends]) / PROBE
    return replace(root, flat=len(ends), freedom=int(np.sum(np.linalg.svd(gone, compute_uv=False) > 0.5)))


def sorted_out(problem: Problem, roots: Sequence[Root]) -> list[Root]:
    """Isolated equilibria, and of every family the member nearest to the guess.

    Args:
        problem: What they are roots of.
        roots: Different roots in any order.
    """
    single: list[Root] = []
    families: list[list[Root]] = []
    for root in roots:
        if not root.freedom:
            if not any(same(problem, root, other) for other in single):
                single.append(root)
            continue
        for family in sorted(families, key=lambda family: _distance(problem, [root], family)):
            if _joined(problem, [root], family):
                family.append(root)
                break
        else:
            families.append([root])
    apart: list[list[Root]] = []  # families that later members have brought together
    for family in families:
        near = [other for other in apart if _joined(problem, family, other, round_about=True)]
        apart = [other for other in apart if other not in near] + [[*family, *(root for f in near for root in f)]]
    return sorted([*single, *(min(f, key=problem.distance) for f in apart)], key=problem.distance)


def _distance(problem: Problem, one: list[Root], other: list[Root]) -> float:
    return min(float(np.linalg.norm(_gap(problem, a.y, b.y))) for a in one for b in other)


def _joined(problem: Problem, one: list[Root], other: list[Root], round_about: bool = False) -> bool:
    """Whether the nearest members of two families of the same dimension are connected."""
    pairs = [(a, b) for a in one for b in other]
    a, b = min(pairs, key=lambda pair: float(np.linalg.norm(_gap(problem, pair[0].y, pair[1].y))))
    if a.freedom != b.freedom:
        return False
    return _connected(problem, a, b) or (round_about and a.freedom == 1 and _traced(problem, a, b))


def same(problem: Problem, one: Root, other: Root) -> bool:
    """Whether two roots are one, turns of angles apart."""
    gap = _wrapped(problem, other.y - one.y)[: sum(problem.sizes[:4])]
    near = BLURRED if one.flat > one.freedom and other.flat > other.freedom else SAME
    return bool(np.all(np.abs(gap) <= near * (1 + np.abs(one.y[: gap.size]))))


def _connected(problem: Problem, one: Root, other: Root) -> bool:
    """Whether a walk among equilibria leads from one to the other: straight on, as far as the family allows."""
    here, left = one, np.inf
    for _ in range(200):
        gap = _gap(problem, here.y, other.y)
        distance = float(np.linalg.norm(gap))
        if distance <= SAME * (1 + float(np.linalg.norm(here.y))):
            return True
        if distance > 0.99 * left:
            return False
        left, (along, seen) = distance, _directions(problem, here.y)
        shares = seen.T @ gap
        if np.linalg.norm(shares) < 0.1 * distance:
            return False
        shares *= min(1.0, STRIDE / float(np.linalg.norm(shares)))
        here = problem.corrected(_moved(problem, here.y, along @ shares))
        if not here.ok:
            return False
    return False


def _traced(problem: Problem, one: Root, other: Root) -> bool:
    """Whether the curve of equilibria through one leads to the other, also where it first leads away from it."""
    here, heading, first = one, None, float(np.linalg.norm(_gap(problem, one.y, other.y)))
    for _ in range(80):
        gap = _gap(problem, here.y, other.y)
        distance = float(np.linalg.norm(gap))
        if heading is not None and distance <= STRIDE and _connected(problem, here, other):
            return True
        along, seen = _directions(problem, here.y)
        if seen.shape[1] != 1 or distance > 3 * first:
            return False
        side = 1.0 if seen[:, 0] @ (gap if heading is None else heading) > 0 else -1.0
        heading = side * seen[:, 0]
        here = problem.corrected(_moved(problem, here.y, STRIDE * side * along[:, 0]))
        if not here.ok:
            return False
    return False


def _visible(problem: Problem) -> np.ndarray:
    """Which unknowns are no multipliers; those of redundant rows are no freedom."""
    return problem.unknown < sum(problem.sizes[:4])


def _directions(problem: Problem, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """What the equations leave free at y: columns of scaled unknowns, and without multipliers, where orthonormal."""
    matrix = problem.scaled(y)
    if not matrix.shape[1]:
        return np.zeros((0, 0)), np.zeros((0, 0))
    _, values, vh = np.linalg.svd(matrix)
    kernel = vh[int(np.sum(values > FLAT * max(1.0, float(np.max(values, initial=0.0))))) :].T
    u, sizes, wh = np.linalg.svd(kernel[_visible(problem)], full_matrices=False)
    kept = sizes > FLAT
    return kernel @ wh[kept].T / sizes[kept], u[:, kept]


def _moved(problem: Problem, y: np.ndarray, step: np.ndarray) -> np.ndarray:
    y = y.copy()
    y[problem.unknown] += problem.scale * step
    return y


def _gap(problem: Problem, here: np.ndarray, there: np.ndarray) -> np.ndarray:
    """From one point to another in scaled unknowns, angles the short way round."""
    seen = _visible(problem)
    return _wrapped(problem, there - here)[problem.unknown[seen]] / problem.scale[seen]


def _wrapped(problem: Problem, gap: np.ndarray) -> np.ndarray:
    n = problem.sizes[0]
    turned = np.where(problem.angles, (gap[:n] + np.pi) % (2 * np.pi) - np.pi, gap[:n])
    return np.concatenate([turned, gap[n:]])
