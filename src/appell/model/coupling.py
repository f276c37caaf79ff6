"""Joints that follow others: a gear, a gripper's second finger."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import prod
from typing import Any

import numpy as np

from appell.model.joint import Link


@dataclass(frozen=True)
class Coupling:
    r"""$\theta_i = r_i\,q_{c(i)} + o_i$: the variables of all joints from the coordinates of a chain.

    Attributes:
        columns: c(i), for each joint the position of its coordinate.
        ratios: r_i.
        offsets: o_i.
        free: The joints whose variables are the coordinates themselves.
    """

    columns: tuple[int, ...]
    ratios: tuple[float, ...]
    offsets: tuple[float, ...]
    free: tuple[int, ...]

    @classmethod
    def of(cls, links: Sequence[Link]) -> Coupling:
        """The coupling of a chain's joints.

        Args:
            links: Its links.
        """
        free = tuple(i for i, link in enumerate(links) if link.follows is None)
        place = {i: k for k, i in enumerate(free)}
        rules = [(i, 1.0, 0.0) if link.follows is None else link.follows for i, link in enumerate(links)]
        leaders, ratios, offsets = zip(*rules, strict=True)
        return cls(tuple(place[i] for i in leaders), ratios, offsets, free)

    @property
    def trivial(self) -> bool:
        """Whether no joint follows another."""
        return len(self.free) == len(self.columns)

    @cached_property
    def matrix(self) -> np.ndarray:
        """N with theta' = N q', of shape (joints, coordinates)."""
        N = np.zeros((len(self.columns), len(self.free)))
        N[np.arange(len(self.columns)), self.columns] = self.ratios
        return N

    def motion(self, Q: np.ndarray) -> np.ndarray:
        """The variables of all joints and their derivatives, (..., joints, K+1), from those of the coordinates.

        Args:
            Q: Coordinates and their derivatives in the columns.
        """
        if self.trivial:
            return Q
        found = Q[..., self.columns, :] * np.array(self.ratios)[:, None]
        found[..., 0] = found[..., 0] + np.array(self.offsets)
        return found

    def rows(self, rows: Sequence[Sequence[Any]]) -> list[list[Any]]:
        """The same for rows of any scalars.

        Args:
            rows: For each coordinate q, q', ...
        """
        if self.trivial:
            return [list(row) for row in rows]
        return [
            list(rows[k]) if i in self.free else [r * x + (o if n == 0 else 0) for n, x in enumerate(rows[k])]
            for i, (k, r, o) in enumerate(zip(self.columns, self.ratios, self.offsets, strict=True))
        ]

    def ways(self, joints: Sequence[int]) -> Iterator[tuple[float, tuple[int, ...]]]:
        """The chain rule for a derivative by coordinates: by which joints, each with the product of their ratios.

        Args:
            joints: For each differentiation the joint whose variable is the coordinate.
        """
        moved = [[i for i, k in enumerate(self.columns) if k == self.columns[j]] for j in joints]
        for way in product(*moved):
            yield prod(self.ratios[i] for i in way), way

    def forces(self, values: Sequence[Any]) -> list[Any]:
        """N' f: what acts along the coordinates, from what acts along all joints.

        Args:
            values: One for each joint.
        """
        if self.trivial:
            return list(values)
        found: list[Any] = [values[i] for i in self.free]
        for i, (k, r) in enumerate(zip(self.columns, self.ratios, strict=True)):
            if i not in self.free:
                found[k] = found[k] + r * values[i]
        return found
