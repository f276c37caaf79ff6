r"""From sample to sample: a linear system whose inputs are held between regular times.

$$ \eta_{k+1} = \Phi\eta_k + \Gamma u_k, \qquad \exp\left(\begin{pmatrix} A & B\\ 0 & 0\end{pmatrix} h\right) =
   \begin{pmatrix} \Phi & \Gamma\\ 0 & 1\end{pmatrix}, \quad h = 1/\mathrm{rate} $$
Differences over h, $(\eta_{k+1} - \eta_k)/h = \Phi_\delta\eta_k + \Gamma_\delta u_k$, are what rates are in continuous
time: first integrals have the root zero in both, and all tends to A and B as the rate grows (Middleton and Goodwin).
"""

from __future__ import annotations

import numpy as np
import scipy.linalg

EPS = float(np.finfo(float).eps)


def held(A: np.ndarray, B: np.ndarray, rate: float) -> tuple[np.ndarray, np.ndarray]:
    """Phi and Gamma, exactly.

    Args:
        A: Matrix of the states.
        B: Matrix of the inputs.
        rate: Samples per second.

    Example:
        >>> held(np.array([[0.0, 1.0], [0.0, 0.0]]), np.array([[0.0], [1.0]]), 2.0)[1].ravel()
        array([0.125, 0.5  ])
    """
    n, m = B.shape
    whole = scipy.linalg.expm(np.block([[A, B], [np.zeros((m, n + m))]]) / rate)
    return whole[:n, :n], whole[:n, n:]


def differences(A: np.ndarray, B: np.ndarray, rate: float) -> tuple[np.ndarray, np.ndarray]:
    """Phi and Gamma of the differences over h, small ones to their last digits.

    Args:
        A: Matrix of the states.
        B: Matrix of the inputs.
        rate: Samples per second.
    """
    n, m = B.shape
    pair = np.block([[A, B], [np.zeros((m, n + m))]])
    # exp(M h) - 1 over h is M times the integral of exp(M t), which is found as a block of an exponential
    grown = scipy.linalg.expm(np.block([[pair / rate, np.eye(n + m)], [np.zeros((n + m, 2 * (n + m)))]]))
    change = pair @ grown[: n + m, n + m :]
    return change[:n, :n], change[:n, n:]


def held_cost(
    A: np.ndarray, B: np.ndarray, Q: np.ndarray, R: np.ndarray, rate: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    r"""What $\int(\eta'Q\eta + u'Ru)\,dt$ costs from one sample to the next: weights of states, inputs, and of both.

    Args:
        A: Matrix of the states.
        B: Matrix of the inputs.
        Q: Weights of the states.
        R: Weights of the inputs.
        rate: Samples per second.

    Reference: Van Loan 1978.
    """
    n, m = B.shape
    pair = np.block([[A, B], [np.zeros((m, n + m))]])
    weights = scipy.linalg.block_diag(Q, R)
    # Van Loan's exponential grows backwards as fast as anything decays: over a short time only, which is then doubled.
    doublings = max(0, int(np.ceil(np.log2(max(float(np.linalg.norm(pair)) / rate, 1e-300)))))
    grown = scipy.linalg.expm(np.block([[-pair.T, weights], [np.zeros_like(pair), pair]]) / (rate * 2**doublings))
    step = grown[n + m :, n + m :]
    cost = step.T @ grown[: n + m, n + m :]
    for _ in range(doublings):
        cost, step = cost + step.T @ cost @ step, step @ step
    cost = (cost + cost.T) / 2
    return cost[:n, :n], cost[n:, n:], cost[:n, n:]


def exponents(roots: np.ndarray, rate: float) -> np.ndarray:
    """lambda of exp(lambda t) that differences with such roots follow at the samples.

    What is gone after one sample has no such lambda; it gets the one that leaves nothing but rounding.

    Args:
        roots: Roots of differences over h.
        rate: Samples per second.
    """
    factors = 1 + np.asarray(roots, complex) / rate
    return rate * np.log(np.where(np.abs(factors) > EPS, factors, EPS))
