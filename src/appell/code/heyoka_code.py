"""From the graph to heyoka expressions: the door to LLVM machine code. Without heyoka everything runs on CasADi."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import casadi as ca
import numpy as np

from appell.graph.replay import ARITHMETIC, Algebra, replay, shared


@cache
def available() -> bool:
    """Whether heyoka can be imported."""
    try:
        import heyoka  # noqa: F401
    except ImportError:
        return False
    return True


@cache
def _module() -> Any:
    import heyoka

    heyoka.set_logger_level_critical()
    return heyoka


@cache
def _algebra() -> Algebra:
    hy = _module()
    zero, one = hy.expression(0.0), hy.expression(1.0)

    def choose(condition: Any, yes: Any, no: Any) -> Any:
        return hy.select(condition, yes, no)

    direct = "sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh exp log sqrt erf".split()
    return {
        **{name: getattr(hy, name) for name in direct},
        **ARITHMETIC,
        "atan2": hy.atan2,
        "hypot": lambda a, b: hy.sqrt(a * a + b * b),
        "lt": lambda a, b: choose(hy.lt(a, b), one, zero),
        "le": lambda a, b: choose(hy.lte(a, b), one, zero),
        "eq": lambda a, b: choose(hy.eq(a, b), one, zero),
        "ne": lambda a, b: choose(hy.neq(a, b), one, zero),
        "not": lambda a: choose(hy.eq(a, zero), one, zero),
        "and": lambda a, b: choose(hy.neq(a, zero), choose(hy.neq(b, zero), one, zero), zero),
        "or": lambda a, b: choose(hy.neq(a, zero), one, choose(hy.neq(b, zero), one, zero)),
        "if_else_zero": lambda c, a: choose(hy.neq(c, zero), a, zero),
        "fabs": lambda a: choose(hy.lt(a, zero), -a, a),
        "sign": lambda a: choose(hy.lt(a, zero), -one, choose(hy.lt(zero, a), one, zero)),
        "fmin": lambda a, b: choose(hy.lt(a, b), a, b),
        "fmax": lambda a, b: choose(hy.lt(a, b), b, a),
        "expm1": lambda a: hy.exp(a) - 1.0,
        "log1p": lambda a: hy.log(a + 1.0),
    }


def expressions(function: ca.Function, arguments: Sequence[Sequence[Any]]) -> list[list[Any]]:
    """The nonzeros of each output of a CasADi function as heyoka expressions."""
    hy = _module()
    return replay(shared(function), arguments, _algebra(), lambda value: hy.expression(value))


def variables(count: int, prefix: str = "x") -> list[Any]:
    """heyoka variables whose names sort in the order of their positions."""
    hy = _module()
    return [hy.expression(f"{prefix}{i:05d}") for i in range(count)]


def parameters(count: int, start: int = 0) -> list[Any]:
    """heyoka run-time parameters."""
    hy = _module()
    return [hy.par[start + i] for i in range(count)]


COMPACT = 12_000
WHOLE = 20_000  # the same for functions that are called one state at a time and for lanes


def batch_function(function: ca.Function) -> Any:
    """A SIMD function of many states at once: variables are x, parameters t, w, p one after the other.

    Args:
        function: f(t, x, w, p) with one dense output.
    """
    hy = _module()
    sizes = [function.nnz_in(i) for i in range(4)]
    x = variables(sizes[1])
    t, w, p = (parameters(n, start) for n, start in ((1, 0), (sizes[2], 1), (sizes[3], 1 + sizes[2])))
    outputs = expressions(function, [t, x, w, p])[0]
    return hy.cfunc(outputs, vars=x, compact_mode=function.n_instructions() > COMPACT)


class SingleStep:
    """A step (t, x, w, P) -> (x1, error) as machine code, called with one state.

    Args:
        step: The step as a graph.
    """

    def __init__(self, step: ca.Function) -> None:
        hy = _module()
        sizes = [step.nnz_in(i) for i in range(4)]
        letters, width = variables(sizes[1]), hy.recommended_simd_size(float)
        numbers = parameters(1 + sizes[2] + sizes[3])
        ends = (1, 1 + sizes[2])
        outputs = expressions(step, [numbers[:1], letters, numbers[1 : ends[1]], numbers[ends[1] :]])
        listed = [e for output in outputs for e in output]
        self._call = hy.cfunc(listed, vars=letters, compact_mode=step.n_instructions() > WHOLE)
        # All lanes of a register carry the same state: the same code, and so the same bits, as in a sweep.
        self._x, self._out = np.zeros((sizes[1], width)), np.zeros((len(listed), width))
        self._numbers = np.zeros((len(numbers), width))
        self._used, self._inputs, self._n = self._numbers[: self._call.nparams], ends[1], sizes[1]
        self.results = [self._out[: self._n, 0], self._out[self._n :, 0]]

    def flat(self, t: float, x: np.ndarray, w: np.ndarray, p: np.ndarray) -> np.ndarray:
        """x1 as a new array; the error stands in `results[1]`."""
        self._x.T[:] = x
        self._numbers[0] = t
        if w.size:
            self._numbers[1 : self._inputs].T[:] = w
        self._numbers[self._inputs :].T[:] = p
        self._call(self._x, outputs=self._out, pars=self._used)
        return self.results[0].copy()
