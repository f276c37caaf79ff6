"""From the graph to heyoka expressions: the door to LLVM machine code. Without heyoka everything runs on CasADi."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import casadi as ca

from appell.code import circular
from appell.code.kept import LARGEST_STORE, folder, recalled
from appell.graph import replay as graph_replay
from appell.graph.replay import ARITHMETIC, Algebra, replay, shared

COMPACT = 12_000  # instructions above which a function is compiled in heyoka's compact mode
WHOLE = 20_000  # the same for whole steps
PAYS = 300  # instructions from which loading machine code takes less time than heyoka takes to find it


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
    """Whether there is a store; one that cannot be read is begun anew, one that the user wants elsewhere is theirs.

    One that others use at the moment is left to them.
    """
    if "HEYOKA_CACHE_DIR" in os.environ:
        return state.get_diskcache_enabled()
    store = folder("heyoka")
    if store is None:
        return False
    for _ in range(2):
        try:
            state.set_diskcache_path(store)
            state.set_diskcache_limit(LARGEST_STORE)
            return True
        except RuntimeError as error:
            if "locked" in str(error):
                return False
            for file in store.glob("cache.db*"):
                file.unlink(missing_ok=True)
    return False


@cache
def _algebra() -> Algebra:
    hy = module()
    zero, one = hy.expression(0.0), hy.expression(1.0)

    def choose(condition: Any, yes: Any, no: Any) -> Any:
        return hy.select(condition, yes, no)

    def floor(a: Any) -> Any:
        nearest = (a + circular.ROUND) - circular.ROUND
        below = nearest - choose(hy.lt(a, nearest), one, zero)
        return choose(hy.lt(a * a, hy.expression(2.0**102)), below, a)  # beyond 2^51 there are halves at most

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
        "copysign": lambda a, b: choose(hy.lt(b, zero), -a, a),
        "fmin": lambda a, b: choose(hy.lt(a, b), a, b),
        "fmax": lambda a, b: choose(hy.lt(a, b), b, a),
        "floor": floor,
        "ceil": lambda a: -floor(-a),
        "expm1": lambda a: hy.exp(a) - 1.0,
        "log1p": lambda a: hy.log(a + 1.0),
    }


@cache
def _inlined() -> Algebra:
    return {**_algebra(), "sin": circular.sine, "cos": circular.cosine}


def expressions(function: ca.Function, arguments: Sequence[Sequence[Any]]) -> list[list[Any]]:
    """The nonzeros of each output of a CasADi function as heyoka expressions.

    Args:
        function: The function.
        arguments: For each input the list of its nonzeros.
    """
    return replay(shared(function), arguments, _algebra(), module().expression)


def variables(count: int) -> list[Any]:
    """heyoka variables whose names sort in the order of their positions."""
    hy = module()
    return [hy.expression(f"x{i:05d}") for i in range(count)]


def parameters(count: int, start: int = 0) -> list[Any]:
    """heyoka run-time parameters."""
    hy = module()
    return [hy.par[start + i] for i in range(count)]


def machine_code(function: ca.Function, state: int = 0, inlined: bool = False, whole: int = WHOLE) -> Any:
    """SIMD code for many columns at once; its variables are one input, its parameters the others one after the other.

    Args:
        function: A CasADi function with one dense output.
        state: Which input.
        inlined: Whether sines and cosines become plain arithmetic: faster code, which takes longer to make.
        whole: Instructions above which it is compiled in heyoka's compact mode.
    """

    def make() -> Any:
        letters, arguments, count = variables(function.nnz_in(state)), [], 0
        for i in range(function.n_in()):
            arguments.append(letters if i == state else parameters(function.nnz_in(i), count))
            count += 0 if i == state else function.nnz_in(i)
        outputs = replay(function, arguments, _inlined() if inlined else _algebra(), module().expression)[0]
        return module().cfunc(outputs, vars=letters, compact_mode=function.n_instructions() > whole)

    if function.n_instructions() < PAYS:
        return make()
    return recalled((_origin(), str((state, inlined, whole)), function.serialize()), make)


@cache
def _origin() -> str:
    """Which heyoka makes the code, and the text that says what operations become."""
    texts = (Path(str(source.__file__)).read_text(encoding="utf-8") for source in (circular, graph_replay))
    return "\0".join((module().__version__, str(module().__file__), Path(__file__).read_text(encoding="utf-8"), *texts))
