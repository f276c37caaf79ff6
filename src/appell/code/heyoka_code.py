"""From the graph to heyoka expressions: the door to LLVM machine code. Without heyoka everything runs on CasADi."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cache
from typing import Any

import casadi as ca

from appell.code.circular import cosine, sine
from appell.code.kept import folder
from appell.graph.replay import ARITHMETIC, Algebra, replay, shared

KEPT = 2**28  # bytes of machine code on disk
COMPACT = 12_000  # instructions above which a function is compiled in heyoka's compact mode
WHOLE = 20_000  # the same for whole steps


@cache
def available() -> bool:
    """Whether heyoka can be imported."""
    try:
        module()
    except ImportError:
        return False
    return True


@cache
def module() -> Any:
    """heyoka, with a store of machine code of our own.

    Its default one grows to 20 GB, and what is first compiled in a process waits until it was looked through: a second
    for every two GB.
    """
    import heyoka

    heyoka.set_logger_level_critical()
    if hasattr(heyoka.llvm_state, "set_diskcache_path"):
        heyoka.llvm_state.set_diskcache_enabled(_kept(heyoka.llvm_state))
    return heyoka


def _kept(state: Any) -> bool:
    """Whether there is a store; one that cannot be read is begun anew, one that the user wants elsewhere is theirs."""
    if "HEYOKA_CACHE_DIR" in os.environ:
        return state.get_diskcache_enabled()
    store = folder("heyoka")
    if store is None:
        return False
    for _ in range(2):
        try:
            state.set_diskcache_path(store)
            state.set_diskcache_limit(KEPT)
            return True
        except RuntimeError:
            for file in store.glob("cache.db*"):
                file.unlink(missing_ok=True)
    return False


@cache
def _algebra() -> Algebra:
    hy = module()
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


@cache
def _inlined() -> Algebra:
    return {**_algebra(), "sin": sine, "cos": cosine}


def expressions(function: ca.Function, arguments: Sequence[Sequence[Any]], inlined: bool = False) -> list[list[Any]]:
    """The nonzeros of each output of a CasADi function as heyoka expressions.

    Args:
        function: The function.
        arguments: For each input the list of its nonzeros.
        inlined: Whether sines and cosines become plain arithmetic: faster code, which takes longer to make.
    """
    hy = module()
    algebra = _inlined() if inlined else _algebra()
    return replay(shared(function), arguments, algebra, lambda value: hy.expression(value))


def variables(count: int, prefix: str = "x") -> list[Any]:
    """heyoka variables whose names sort in the order of their positions."""
    hy = module()
    return [hy.expression(f"{prefix}{i:05d}") for i in range(count)]


def parameters(count: int, start: int = 0) -> list[Any]:
    """heyoka run-time parameters."""
    hy = module()
    return [hy.par[start + i] for i in range(count)]


def batch_function(function: ca.Function) -> Any:
    """A SIMD function of many states at once: variables are x, parameters t, w, p one after the other.

    Args:
        function: f(t, x, w, p) with one dense output.
    """
    hy = module()
    sizes = [function.nnz_in(i) for i in range(4)]
    x = variables(sizes[1])
    t, w, p = (parameters(n, start) for n, start in ((1, 0), (sizes[2], 1), (sizes[3], 1 + sizes[2])))
    outputs = replay(function, [t, x, w, p], _algebra(), hy.expression)[0]  # equal parts are found by cfunc itself
    return hy.cfunc(outputs, vars=x, compact_mode=function.n_instructions() > COMPACT)
