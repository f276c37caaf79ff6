r"""Tanks that run dry, or full, along a motion that is sought: flows and amounts without jumps.

The rate of an amount that ends at c, $\dot z = f$ for z > c and 0 from there on, jumps where it ends, and no polynomial
follows it. What the amount would be without an end, $\dot y = f$, is smooth, and z = max(y, c), taken as

$$ z = c + \tfrac12\big(y - c + \sqrt{(y - c)^2 + \delta^2}\big), \qquad \dot z = \sigma\dot y, \quad
   \sigma = \frac{dz}{dy}. $$

Wherever else the flow stands, in a thrust or in another tank, it has the share σ. A tank that is filled is the mirror
image.
"""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca
import numpy as np

from appell.graph.kinks import Modal, ends, has_kinks

BLUNT = 0.01  # delta, as a share of the way to the end at the start


def blunted(
    rates: ca.SX, others: Sequence[ca.SX], letters: ca.SX, y: ca.SX, start: np.ndarray
) -> tuple[ca.Function, ca.SX, list[ca.SX]]:
    """y -> z, and formulas in z as formulas in y without the jumps where rates of z end.

    Args:
        rates: The rates of z.
        others: What else depends on z.
        letters: All other letters.
        y: Those of z, from now on of y.
        start: Values of z at the start.
    """
    nothing = ca.SX(0, 1)
    kinked = ca.Function("kinked", [nothing, ca.vertcat(letters, y), nothing, nothing], [rates, *others])
    if not start.size or not has_kinks(kinked):
        return ca.Function("amounts", [y], [y]), rates, list(others)
    modal = Modal.of(kinked)
    parts = ca.Function("parts", [modal.x, modal.s], [modal.g, modal.xdot, *modal.extras])
    g, rates, *_ = parts(ca.vertcat(letters, y), modal.s)
    z, flowing = ca.SX(y), {}
    for i, first in enumerate(start):
        for k, sign, way in ends(g, rates[i], modal.s, y[i], first):
            u = y[i] - (first - way)
            z[i] = y[i] - u / 2 + np.sign(way) * ca.sqrt(u**2 + (BLUNT * way) ** 2) / 2
            flowing[i] = k, sign
    places = ca.vertcat(letters, z)
    modes = ca.sign(parts(places, modal.s)[0])
    for i, (k, sign) in flowing.items():
        modes[k] = sign * (2 * ca.jacobian(z[i], y[i]) - 1)
    _, rates, *rest = parts(places, modes)
    for i, (k, sign) in flowing.items():
        unending = ca.SX(modes)
        unending[k] = sign
        rates[i] = parts(places, unending)[1][i]
    return ca.Function("amounts", [y], [z]), rates, list(rest)
