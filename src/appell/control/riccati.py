"""The algebraic Riccati equation of optimal feedback and of the steady Kalman filter, continuous and from samples."""

from __future__ import annotations

import warnings

import numpy as np
import scipy.linalg

from appell.analysis.sampling import held, held_cost

ENOUGH = 1e-10  # of the terms of the equation, which a solution may miss it by
NEWTON = 2  # steps of Newton's method, for the last digits
NOT_STABLE = "The Riccati equation has no stabilising solution within rounding."


def riccati(A: np.ndarray, B: np.ndarray, Q: np.ndarray, R: np.ndarray) -> np.ndarray:
    r"""The stabilising S of $A'S + SA - SBR^{-1}B'S + Q = 0$, by Schur vectors of the Hamiltonian matrix.

    $$ H = \begin{pmatrix} A & -BR^{-1}B'/\rho\\ -\rho\,Q & -A'\end{pmatrix}, \qquad S = U_{21}U_{11}^{-1}/\rho $$
    with $\rho$ such that both blocks have the same size, then Kleinman's form of Newton's method; where that is not
    good enough once more in states in which all of H is balanced (Benner). SciPy's own solution loses its digits where
    units make states or inputs very unlike in size.

    Args:
        A: Matrix of the states.
        B: Matrix of the inputs.
        Q: Weights of the states, positive semidefinite.
        R: Weights of the inputs, positive definite.

    Raises:
        numpy.linalg.LinAlgError: If there is no stabilising solution.

    Reference: Laub 1979; Kleinman 1968; Benner 2001.
    """
    G = B @ np.linalg.solve(R, B.T)
    found: list[np.ndarray] = []
    for d in (np.ones(A.shape[0]), _sizes(A, G, Q)):
        try:
            S = _stabilizing(A * d / d[:, None], B / d[:, None], Q * d * d[:, None], R)
        except np.linalg.LinAlgError:
            continue
        found.append(S / d / d[:, None])
        if _missed(A, G, Q, found[-1]) < ENOUGH:
            return found[-1]
    if not found:
        raise np.linalg.LinAlgError(NOT_STABLE)
    return min(found, key=lambda S: _missed(A, G, Q, S))


def _stabilizing(A: np.ndarray, B: np.ndarray, Q: np.ndarray, R: np.ndarray) -> np.ndarray:
    """S in given states."""
    n, gain = A.shape[0], np.linalg.solve(R, B.T)
    G = B @ gain
    size = np.linalg.norm(G)
    rho = np.sqrt(size / np.linalg.norm(Q)) if np.any(Q) and size else 1.0
    _, U, stable = scipy.linalg.schur(np.block([[A, -G / rho], [-rho * Q, -A.T]]), sort="lhp")
    if stable != n:
        raise np.linalg.LinAlgError("The Hamiltonian matrix has roots on the imaginary axis.")
    S = np.linalg.solve(U[:n, :n].T, U[n:, :n].T) / rho
    S = (S + S.T) / 2
    for _ in range(NEWTON):
        K = gain @ S
        closed = A - B @ K
        if np.max(np.linalg.eigvals(closed).real) >= -1e-15 * np.linalg.norm(closed):
            raise np.linalg.LinAlgError(NOT_STABLE)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that a root is near the axis, which was looked at
            S = scipy.linalg.solve_continuous_lyapunov(closed.T, -(Q + K.T @ R @ K))
        S = (S + S.T) / 2
    return S


def _missed(A: np.ndarray, G: np.ndarray, Q: np.ndarray, S: np.ndarray) -> float:
    """What S leaves of the equation, against the sizes of terms in its row and column, which no units change."""
    left = A.T @ S + S @ A - S @ G @ S + Q
    terms = 2 * np.abs(S) @ np.abs(A) + np.abs(S) @ np.abs(G) @ np.abs(S) + np.abs(Q)
    size = np.sqrt(np.diag(terms))
    return float(np.max(np.abs(left) / np.maximum(np.outer(size, size), 1e-300), initial=0.0))


def _sizes(A: np.ndarray, G: np.ndarray, Q: np.ndarray) -> np.ndarray:
    """Sizes of the states, powers of two, in which the entries of the Hamiltonian matrix are comparable."""
    hamiltonian = np.abs(np.block([[A, G], [Q, A.T]]))
    _, (scale, _) = scipy.linalg.matrix_balance(hamiltonian, permute=False, separate=True)
    states, costates = np.split(np.log2(scale), 2)
    return 2.0 ** np.round((states - costates) / 2)


def optimal(A: np.ndarray, B: np.ndarray, Q: np.ndarray, R: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    r"""S, the cost to go $\eta'S\eta$, and the gains $K = R^{-1}B'S$; arguments and errors as of `riccati`."""
    S = riccati(A, B, Q, R)
    K = np.linalg.solve(R, B.T @ S)
    if np.max(np.linalg.eigvals(A - B @ K).real) >= 0:
        raise np.linalg.LinAlgError(NOT_STABLE)
    return S, K


def optimal_held(
    A: np.ndarray, B: np.ndarray, Q: np.ndarray, R: np.ndarray, rate: float
) -> tuple[np.ndarray, np.ndarray]:
    r"""The same for inputs that are held between samples: the exact cost of an interval is summed.

    Args:
        A: Matrix of the states.
        B: Matrix of the inputs.
        Q: Weights of the states, positive semidefinite.
        R: Weights of the inputs, positive definite.
        rate: Samples per second.

    Reference: Levis, Schlueter and Athans 1971.
    """
    states, inputs, both = held_cost(A, B, Q, R, rate)
    A, B = held(A, B, rate)
    S = discrete_riccati(A, B, states, inputs, both)
    K = np.linalg.solve(inputs + B.T @ S @ B, B.T @ S @ A + both.T)
    if np.max(np.abs(np.linalg.eigvals(A - B @ K))) >= 1:
        raise np.linalg.LinAlgError(NOT_STABLE)
    return S, K


def cheapest_rest(
    A: np.ndarray, B: np.ndarray, Q: np.ndarray, R: np.ndarray, moved: np.ndarray, weighed: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    r"""The states x and inputs u of the cheapest rest where something w that nothing changes acts as well.

    The least of $x'Qx + 2x'Nw + u'Ru$ under $Ax + Bu + Ew = 0$, with multipliers:
    $$ Qx + Nw + A'\lambda = 0, \qquad Ru + B'\lambda = 0, \qquad Ax + Bu + Ew = 0 . $$
    The optimal feedback leads there, $u - u_w = -K(x - x_w)$, since what is linear in the distance from it is
    $-2\lambda'$ times the rate of that distance, whose integral no input changes.

    Args:
        A: Matrix of the states.
        B: Matrix of the inputs.
        Q: Weights of the states.
        R: Weights of the inputs.
        moved: E, by which the states move, a column for each w.
        weighed: N, weights of the states with w.

    Returns:
        x and u, a column for each w.

    Reference: Carlson, Haurie and Leizarowitz 1991, on what is optimal where the cost is infinite.
    """
    n, m = B.shape
    if not moved.shape[1]:
        return np.zeros((n, 0)), np.zeros((m, 0))
    none = np.zeros
    left = np.block([[Q, none((n, m)), A.T], [none((m, n)), R, B.T], [A, B, none((n, n))]])
    found = np.linalg.solve(left, -np.vstack([weighed, none((m, moved.shape[1])), moved]))
    return found[:n], found[n : n + m]


def discrete_riccati(
    A: np.ndarray, B: np.ndarray, Q: np.ndarray, R: np.ndarray, N: np.ndarray | None = None
) -> np.ndarray:
    """The stabilising S of A'SA - S - (A'SB + N)(R + B'SB)^-1(B'SA + N') + Q = 0, in numbers of comparable size.

    Args:
        A: Matrix from sample to sample.
        B: Matrix of the inputs.
        Q: Weights of the states.
        R: Weights of the inputs.
        N: Weights of both.
    """
    size = float(np.linalg.norm(R)) or 1.0
    S = scipy.linalg.solve_discrete_are(A, B, Q / size, R / size, s=None if N is None else N / size) * size
    return (S + S.T) / 2
