r"""The first variation on the graph: how states, guards and maps change with what is varied, and with time.

S' = f_x S + f_theta,    dg = g_x S + g_theta,    d(R(t, x, theta)) = R_t tau_theta + R_x S + R_theta
"""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca

from appell.code.code import Code
from appell.kinematics.mechanics import Mechanics
from appell.motion.flow import Flow
from appell.motion.stretch import Stretch
from appell.once import lately, once

Where = tuple[tuple[str, int], ...]
"""What is varied: of parameters "p", of inputs "w" and of the first state "x" which entries."""


class Seeds:
    """Directions in which t, x, w, (p, s) move, on the graph; sizes stand behind the parameters.

    Args:
        where: What is varied.
        arguments: t, x, w, (p, s) as letters.
    """

    def __init__(self, where: Where, arguments: Sequence[ca.SX]) -> None:
        self.t, self.x, self.w, self.p = arguments
        k = len(where)
        self.S, self.tau, self.sizes = ca.SX.sym("S", self.x.numel(), k), ca.SX(1, k), ca.SX.sym("size", k)
        self.dw, self.dp = (ca.SX(e.numel(), k) for e in (self.w, self.p))
        for j, (kind, place) in enumerate(where):
            if kind != "x":
                (self.dp if kind == "p" else self.dw)[place, j] = self.sizes[j]

    @property
    def numbers(self) -> ca.SX:
        """(p, s) and sizes."""
        return ca.vertcat(self.p, self.sizes)

    def pushed(self, expression: ca.SX, tau: ca.SX | None = None) -> ca.SX:
        """The slopes of an expression."""
        letters = ca.vertcat(self.t, self.x, self.w, self.p)
        directions = ca.vertcat(self.tau if tau is None else tau, self.S, self.dw, self.dp)
        return ca.jtimes(ca.densify(expression), letters, ca.densify(directions))


def flow_of(stretch: Stretch) -> Flow:
    """The smooth equations of a stretch."""
    return stretch.flow or _plain(stretch.code)


@once
def _plain(code: Code) -> Flow:
    """The flow of equations without modes."""
    nothing = ca.Function("nothing", code.equations.arguments, [ca.SX(0, 1)])
    return Flow(code.rhs.function, nothing, nothing)


@lately(4)
def variational(flow: Flow, where: Where) -> Flow:
    """The motion and its slopes, X = (x, S)."""
    t, x, w, _ = arguments = flow.rhs.sx_in()
    seeds = Seeds(where, arguments)
    f = flow.rhs(*arguments)
    inputs = [t, ca.vertcat(x, ca.vec(seeds.S)), w, seeds.numbers]
    rhs = ca.Function("variational", inputs, [ca.densify(ca.vertcat(f, ca.vec(seeds.pushed(f))))], {"cse": True})
    nothing = ca.Function("nothing", inputs, [ca.SX(0, 1)])
    return Flow(rhs, nothing, nothing)


@lately(4)
def crossing(flow: Flow, where: Where) -> ca.Function:
    """(t, x, w, (p, s, sizes), S) -> the rates of the guards, the rates of these, and the slopes of the guards."""
    t, x, w, _ = arguments = flow.rhs.sx_in()
    seeds, g = Seeds(where, arguments), ca.densify(flow.guards(*arguments))
    along, onwards = ca.vertcat(t, x), ca.vertcat(ca.SX(1), flow.rhs(*arguments))
    rate = ca.jtimes(g, along, onwards)
    results = [rate, ca.densify(ca.jtimes(rate, along, onwards)), seeds.pushed(g)]
    return ca.Function("crossing", [t, x, w, seeds.numbers, seeds.S], results)


def pushing(function: ca.Function, where: Where) -> ca.Function:
    """(t, x, w, (p, sizes), S, tau) -> a map (t, x, w, p), and what it makes of slopes at a moment that moves."""
    t, x, w, _ = arguments = function.sx_in()
    seeds, tau = Seeds(where, arguments), ca.SX.sym("tau", 1, len(where))
    there = function(*arguments)
    return ca.Function("pushed", [t, x, w, seeds.numbers, seeds.S, tau], [there, seeds.pushed(there, tau)])


@lately(8)
def converting(before: Code, after: Code, where: Where) -> ca.Function:
    """The same for the state in other speeds."""
    t, x, _, p = arguments = before.equations.arguments
    n, m = len(before.equations.coordinates), len(before.equations.speeds)
    q, z = x[:n], x[n + m :]
    u = after.speeds.function(t, q, before.rates.function(*arguments), z, p)
    return pushing(ca.Function("other", arguments, [ca.densify(ca.vertcat(q, u, z))]), where)


@lately(8)
def row_slopes(mechanics: Mechanics, what: str, where: Where) -> ca.Function:
    """(t, x, S, (p, sizes)) -> the slopes J of position or velocity rows, and what is varied upsets of them."""
    function = mechanics.functions[what]
    letters = function.sx_in()
    t, x, p = letters[0], ca.vertcat(*letters[1:-1]), letters[-1]
    seeds = Seeds(where, [t, x, mechanics.variables.w, p])  # inputs stand in no row
    residual, J = function(*letters)
    return ca.Function("rows", [t, x, seeds.S, seeds.numbers], [ca.densify(J), seeds.pushed(residual)])
