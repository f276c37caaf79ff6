"""Walk the instruction list of a CasADi function in any other algebra: SymPy, heyoka, Taylor series, kink-free SX."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import casadi as ca

from appell.errors import CompileError
from appell.graph.sparse import stacked

NAMES: dict[int, str] = {getattr(ca, n): n[3:].lower() for n in dir(ca) if n.startswith("OP_")}
Algebra = Mapping[str, Callable[..., Any]]

ARITHMETIC: Algebra = {
    "assign": lambda a: a,
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b,
    "neg": lambda a: -a,
    "sq": lambda a: a * a,
    "twice": lambda a: a + a,
    "inv": lambda a: 1 / a,
    "pow": lambda a, b: a**b,
    "constpow": lambda a, b: a**b,
}
"""What is written with Python's own operators in every algebra."""


def _as_it_is(operation: int) -> Callable[..., ca.SX]:
    return lambda *e: (ca.SX.unary if len(e) == 1 else ca.SX.binary)(operation, *e)


SAME: Algebra = {name: _as_it_is(operation) for operation, name in NAMES.items()}
"""The graph itself: every operation stays as it is."""


def replay(
    function: ca.Function, arguments: Sequence[Sequence[Any]], algebra: Algebra, number: Callable[[float], Any]
) -> list[list[Any]]:
    """Evaluate an SX function with other objects in place of floats.

    Args:
        function: A CasADi function made of scalar operations.
        arguments: For each input the list of its nonzeros.
        algebra: What each operation (`"add"`, `"sin"`, ...) does.
        number: What a constant becomes.

    Returns:
        For each output the list of its nonzeros, column by column.
    """
    work: dict[int, Any] = {}
    results: list[list[Any]] = [[None] * function.nnz_out(i) for i in range(function.n_out())]
    constants: dict[float, Any] = {}
    rules: dict[int, Callable[..., Any]] = {}
    for k in range(function.n_instructions()):
        operation = function.instruction_id(k)
        inputs, outputs = function.instruction_input(k), function.instruction_output(k)
        if operation in rules:
            work[outputs[0]] = rules[operation](*[work[i] for i in inputs])
        elif operation == ca.OP_CONST:
            value = function.instruction_constant(k)
            if value not in constants:
                constants[value] = number(value)
            work[outputs[0]] = constants[value]
        elif operation == ca.OP_INPUT:
            work[outputs[0]] = arguments[inputs[0]][inputs[1]]
        elif operation == ca.OP_OUTPUT:
            results[outputs[0]][outputs[1]] = work[inputs[0]]
        else:
            rule = algebra.get(NAMES[operation])
            if rule is None:
                raise CompileError(f"The operation {NAMES[operation]!r} of {function.name()!r} is not available here.")
            rules[operation] = rule
            work[outputs[0]] = rule(*[work[i] for i in inputs])
    return results


def rewritten(function: ca.Function, algebra: Algebra) -> list[ca.SX]:
    """The outputs of a function as columns in its own letters, each operation done as an algebra on the graph does."""
    arguments = [letters.nonzeros() for letters in function.sx_in()]
    return [stacked(output) for output in replay(function, arguments, algebra, ca.SX)]


def shared(function: ca.Function) -> ca.Function:
    """The same function with equal parts computed once, for machines that do not look for them."""
    arguments = function.sx_in()
    results = function.call(arguments)
    return ca.Function(function.name(), arguments, results, {"cse": True})


def operations(function: ca.Function) -> int:
    """How many arithmetic operations a function takes, inputs, outputs and constants not counted."""
    free = (ca.OP_CONST, ca.OP_INPUT, ca.OP_OUTPUT)
    return sum(function.instruction_id(k) not in free for k in range(function.n_instructions()))
