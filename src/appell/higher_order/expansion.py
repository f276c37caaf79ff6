"""The expansion of acceleration energies by partitions: M, V, D and what follows them, term by term."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from appell.kinematics.skeleton import Skeleton
from appell.kinematics.skeleton_energies import directional, paired, partitions, weight


def term_names(p: int) -> list[str]:
    """Names of the terms of the expansion of E_A^(p): `2|2`, `2|11`, `11|11`."""
    listed = partitions(p + 1)
    return [f"{_word(a)}|{_word(b)}" for i, a in enumerate(listed) for b in listed[i:]]


def expansion(skeleton: Skeleton, q: Sequence[Sequence[Any]], p: int, only: str | None = None) -> dict[str, Any]:
    """The terms of E_A^(p) with their coefficients, in any algebra.

    Args:
        skeleton: The tree.
        q: q, q', ..., q^(p+1) of every joint.
        p: The order.
        only: Name of the one term that is wanted.
    """
    columns = [[row[r] for row in q] for r in range(p + 2)]
    listed = partitions(p + 1)
    moved: dict[tuple[int, ...], Any] = {}
    found: dict[str, Any] = {}
    for i, a in enumerate(listed):
        for b in listed[i:]:
            name = f"{_word(a)}|{_word(b)}"
            if only is not None and name != only:
                continue
            for parts in (a, b):
                if parts not in moved:
                    moved[parts] = directional(skeleton, columns[0], [columns[r] for r in parts])
            factor, form = weight(a) * weight(b), paired(skeleton, moved[a], moved[b])
            found[name] = factor * form if a != b else factor * form / 2
    return found


def _word(parts: tuple[int, ...]) -> str:
    return "".join(str(k) if k < 10 else f"({k})" for k in parts)
