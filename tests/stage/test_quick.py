"""Quick operators: the same graphs as CasADi's own, number for number and name for name."""

import casadi as ca
import pytest

from appell.graph.quick import Quick, choose, larger, root, smaller

A, B, S = ca.SX.sym("a", 3), ca.SX.sym("b", 3), ca.SX.sym("s")
a, b, s = Quick(A), Quick(B), Quick(S)
PAIRS = {
    "sum": (a + b, A + B),
    "difference": (a - B, A - B),
    "difference from a number": (1 - a, 1 - A),
    "product": (2.0 * a * s, 2.0 * A * S),
    "quotient": (a / b, A / B),
    "quotient of a number": (0.9 / root(a), 0.9 / ca.sqrt(A)),
    "comparisons": ((a < b) & (s <= 2.0), ca.logic_and(A < B, S <= 2.0)),
    "turned comparisons": ((a > b) | (s >= 2.0), ca.logic_or(A > B, S >= 2.0)),
    "not": (~(a < 1), ca.logic_not(A < 1)),
    "extremes": (smaller(8.0, larger(abs(a), b)), ca.fmin(8.0, ca.fmax(ca.fabs(A), B))),
    "choice": (choose(s > 0, a, b), ca.if_else(S > 0, A, B)),
    "choice of numbers": (choose(s > 0, 3, 0), ca.if_else(S > 0, 3, 0)),
}


@pytest.mark.parametrize("what", PAIRS)
def test_graphs_are_those_of_the_general_operators(what):
    quick, general = PAIRS[what]
    functions = [ca.Function("f", [A, B, S], [graph]) for graph in (quick.graph, general)]
    assert functions[0].serialize() == functions[1].serialize()
