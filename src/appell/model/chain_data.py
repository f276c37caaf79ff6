"""The numbers (or formulas) of a chain as arrays, and its kinematics by products of exponentials."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import sympy as sp

from appell.errors import MissingValueError, ModelError
from appell.graph.series import from_derivatives, to_derivatives
from appell.model.screws import Jet, adjoint, carried, cauchy, exponential, hat, spatial_inertia, zeros
from appell.model.symbols import Evolving, Input, Time, letters_in, quoted
from appell.model.values import formula_of


@dataclass(frozen=True, eq=False, kw_only=True)
class ChainData:
    r"""A tree of one-freedom joints: $T_i = T_{parent(i)}\,M_i\,e^{\hat A_i q_i}$.

    All arrays have one entry per joint, parents before children; floats, or SymPy formulas in arrays of objects.
    Six-vectors have the angular part first.

    Attributes:
        parents: Index of the joint that carries each joint; -1 is the ground.
        revolute: 1 for a joint that turns (revolute, helical), 0 for a prismatic one: Delta of the source.
        pitch: Advance per radian; zero unless helical.
        relative: M_i, pose of body frame i in that of its parent at q = 0, of shape (n, 4, 4).
        screws: A_i, screw of joint i in the axes of its own body frame, of shape (n, 6).
        pseudo: I_ps, 4 by 4 pseudo-inertia of body i about the origin of its frame, in its axes.
        gravity: Acceleration of free fall in ground axes.
        tool: Pose of the tool in the frame of body `tool_body`.
        tool_body: Index of the body that carries the tool.
    """

    parents: tuple[int, ...]
    revolute: tuple[int, ...]
    pitch: np.ndarray
    relative: np.ndarray
    screws: np.ndarray
    pseudo: np.ndarray
    gravity: np.ndarray
    tool: np.ndarray
    tool_body: int

    @property
    def n(self) -> int:
        """Number of joints."""
        return len(self.parents)

    @cached_property
    def spatial(self) -> np.ndarray:
        """G_i = [[I, [h x]], [-[h x], m 1]], spatial inertia about the origin of body frame i, of shape (n, 6, 6)."""
        return spatial_inertia(self.pseudo)

    @cached_property
    def home(self) -> np.ndarray:
        """T_i0, poses of the body frames in the ground at q = 0, of shape (n, 4, 4)."""
        return self.poses(zeros((self.n, 1), self.screws))[0]

    @cached_property
    def home_screws(self) -> np.ndarray:
        """xi_i = Ad(T_i0) A_i, the screws at home in ground axes, of shape (n, 6)."""
        return np.stack([adjoint(T) @ A for T, A in zip(self.home, self.screws, strict=True)])

    @cached_property
    def paths(self) -> tuple[tuple[int, ...], ...]:
        """For each body the joints from the ground to it, itself included."""
        found: list[tuple[int, ...]] = []
        for i, parent in enumerate(self.parents):
            found.append((*(found[parent] if parent >= 0 else ()), i))
        return tuple(found)

    def moving(self, values: Mapping[str, float]) -> ChainData:
        """The same with numbers for all that kinematics needs; masses and gravity stay formulas.

        Args:
            values: Numbers of letters.
        """
        return replace(self, **{e: _floats(getattr(self, e), values) for e in ("pitch", "relative", "screws", "tool")})

    def weighed(self, values: Mapping[str, float]) -> ChainData:
        """The same with numbers for masses and gravity.

        Args:
            values: Numbers of letters.
        """
        return replace(self, **{e: _floats(getattr(self, e), values) for e in ("pseudo", "gravity")})

    # Kinematics. Q has shape (..., n, K+1), column r being q^(r); results have the order of the derivative first.

    def _pose_jets(self, q: Jet) -> list[Jet]:
        found: list[Jet] = []
        for i, parent in enumerate(self.parents):
            own = self.relative[i] @ exponential(self.screws[i], q[..., i])
            found.append(cauchy(np.matmul, found[parent], own) if parent >= 0 else own)
        return found

    def _jets(self, Q: Any) -> Jet:
        Q = _array(Q)
        if Q.ndim < 2 or Q.shape[-2] != self.n:
            raise ModelError(
                f"Q needs the shape (..., {self.n}, K+1): q and its derivatives in the columns, one row for each "
                f"joint; got {Q.shape}."
            )
        return np.stack(from_derivatives(np.moveaxis(Q, -1, 0)))

    def poses(self, Q: Any) -> np.ndarray:
        """T_i^(k), time derivatives of all poses, of shape (K+1, ..., n, 4, 4).

        Args:
            Q: Joint variables and their time derivatives in the columns, of shape (..., n, K+1).
        """
        return _derivatives(np.stack(self._pose_jets(self._jets(Q)), axis=-3))

    def jacobian(self, Q: Any, body: int | None = None, point: Any = (0, 0, 0)) -> np.ndarray:
        r"""$J_j = (v_j + \omega_j\times p;\ \omega_j)$ and its derivatives, of shape (K+1, ..., 6, n).

        Rows: velocity of the point, then angular velocity of the body, in ground axes.

        Args:
            Q: As for `poses`.
            body: Index of the body; the tool if left out.
            point: A point of that body in its frame (or of the tool in the tool's).
        """
        point = _array(point)
        if body is None:
            body, point = self.tool_body, self.tool[:3, :3] @ point + self.tool[:3, 3]
        poses = self._pose_jets(self._jets(Q))
        T = poses[body]
        p = T[..., :3, :3] @ point + T[..., :3, 3]
        columns = []
        for j in range(self.n):
            if j not in self.paths[body]:
                columns.append(zeros((*p.shape[:-1], 6), p))
                continue
            S = carried(poses[j], self.screws[j])
            w, v = S[..., :3], S[..., 3:]
            columns.append(np.concatenate([v + cauchy(np.cross, w, p), w], axis=-1))
        return _derivatives(np.stack(columns, axis=-1))

    def differential(self, Q: Any, body: int, joints: Iterable[int]) -> np.ndarray:
        r"""$A_{i;j_1\ldots j_s} = \partial^s T_i/\partial q_{j_1}\cdots\partial q_{j_s}$ and its time derivatives.

        $$ A_{i;j_1\ldots j_s} = \hat S_{j_1}\hat S_{j_2}\cdots\hat S_{j_s} T_i, \qquad j_1\le\ldots\le j_s . $$
        Zero if a joint does not carry the body; the order in which the joints are given does not matter.

        Args:
            Q: As for `poses`.
            body: Index i of the body.
            joints: The joints j_1 ... j_s, any number of them.

        Returns:
            An array of shape (K+1, ..., 4, 4).
        """
        poses = self._pose_jets(self._jets(Q))
        result = poses[body]
        for j in sorted(joints, reverse=True):
            if j not in self.paths[body]:
                return zeros(result.shape, result)
            result = cauchy(np.matmul, hat(carried(poses[j], self.screws[j])), result)
        return _derivatives(result)


def joint_variables(q: Any, names: Sequence[str]) -> np.ndarray:
    """Values of the coordinates of a chain, of shape (..., n): finite floats, or formulas.

    Args:
        q: What was given.
        names: The coordinates.
    """
    q = np.asarray(q)
    if q.ndim == 0 or q.shape[-1] != len(names):
        raise ModelError(f"This chain has {len(names)} coordinates, {', '.join(names)}; got shape {q.shape}.")
    if q.dtype == object:
        for name, e in zip(names, np.moveaxis(q, -1, 0), strict=True):
            for one in e.flat if isinstance(e, np.ndarray) else (e,):
                formula_of(one, f"The variable of the joint {name!r}")
    else:
        try:
            q = q.astype(float, casting="same_kind")
        except TypeError:
            raise ModelError(f"The coordinates {', '.join(names)} must be numbers; got {q.tolist()}.") from None
        if not np.isfinite(q).all():
            bad = names[int(np.argwhere(~np.isfinite(q))[0][-1])]
            raise ModelError(f"The variable of the joint {bad!r} must be a finite number.")
    return q


def _array(values: Any) -> np.ndarray:
    """Floats where possible, else an array of formulas."""
    try:
        return np.asarray(values, dtype=float)
    except TypeError:
        return np.vectorize(sp.sympify, otypes=[object])(np.asarray(values, dtype=object))


def _derivatives(jet: Jet) -> np.ndarray:
    return np.stack(to_derivatives(list(jet)))


def _floats(array: np.ndarray, values: Mapping[str, float]) -> np.ndarray:
    """Formulas as floats; refuses letters without a number and those that change."""
    result = np.empty(array.shape)
    for place, formula in np.ndenumerate(array):
        formula = sp.sympify(formula)
        for s in sorted(letters_in(formula), key=str):
            if isinstance(s, Evolving | Input | Time):
                raise ModelError(f"The chain has {quoted(formula)} in its data, which is not constant: {s} changes.")
            if getattr(s, "label", str(s)) not in values:
                raise MissingValueError(
                    f"The parameter {s} of the chain has no number; give values={{{str(s)!r}: ...}}."
                )
        if letters_in(formula):
            formula = formula.subs({s: values[s.label] for s in letters_in(formula)})
        result[place] = float(formula)
    return result
