"""Inputs by Python functions: every run has its own copy of what they remember, so that no run depends on others.

A controller of the user's (an object with an integral, a function around a counter) is as new in every run. What it
refers to but does not belong to the user, such as a system or a table of SciPy's, is shared.
"""

from __future__ import annotations

import io
import pickle
import random
import sys
import types
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

import numpy as np

from appell.code.system import System
from appell.ensemble.fingerprint import installed
from appell.motion.run import driven

RANDOM = (np.random.Generator, np.random.RandomState, np.random.BitGenerator, np.random.SeedSequence, random.Random)
PLAIN = (list, dict, set, tuple, deque, bytearray, np.ndarray, *RANDOM)
MADE = 1 << 9  # of a class: made at run time, not built in
AROUND = (types.MethodType, partial)


class Law:
    """Python functions that give inputs.

    Args:
        functions: Functions of t, by input.
        control: A function of t and the state, or None.
        numbers: Inputs that have a number of their own in every run.
    """

    def __init__(self, functions: Mapping[Any, Any], control: Any, numbers: Iterable[str] = ()) -> None:
        self.functions, self.control, self.numbers = dict(functions), control, sorted(numbers)

    def anew(self, system: System) -> Callable[..., Any]:
        """The law of one run of a system with the numbers of that run: t, state -> inputs."""
        functions, control = own_copy((self.functions, self.control))
        numbers = {name: system.values[name] for name in self.numbers}
        law = driven(system, {**numbers, **functions}, control)[1]
        assert law is not None
        return law


def own_copy(thing: Any) -> Any:
    """A copy with its own lists, arrays, objects of the user's classes and variables around functions."""
    written, writer = io.BytesIO(), None
    try:
        writer = _Writer(written)
        writer.dump(thing)
        return _Reader(io.BytesIO(written.getvalue()), writer.shared).load()
    except (pickle.PicklingError, TypeError, AttributeError, ValueError):  # an open file: such things are shared
        return thing


class _Writer(pickle.Pickler):
    def __init__(self, file: io.BytesIO) -> None:
        super().__init__(file, pickle.HIGHEST_PROTOCOL)
        self.shared: list[Any] = []

    def persistent_id(self, thing: Any) -> int | None:
        if _remembers(thing):
            return None
        self.shared.append(thing)
        return len(self.shared) - 1

    def reducer_override(self, thing: Any) -> Any:
        if isinstance(thing, types.FunctionType):
            # a method of the variables of its module stands for these, which are shared
            code = (thing.__code__, thing.__globals__.get, thing.__name__, thing.__defaults__, thing.__kwdefaults__)
            return _function, code, [cell.cell_contents for cell in thing.__closure__ or ()], None, None, _put
        return NotImplemented


class _Reader(pickle.Unpickler):
    def __init__(self, file: io.BytesIO, shared: list[Any]) -> None:
        super().__init__(file)
        self.shared = shared

    def persistent_load(self, pid: Any) -> Any:
        return self.shared[pid]


def _remembers(thing: Any) -> bool:
    """Whether something may change between two calls and belongs to the user."""
    if isinstance(thing, type | types.ModuleType | types.CodeType):
        return False
    if isinstance(thing, types.FunctionType):
        return bool(thing.__closure__) and not installed(thing.__code__.co_filename)
    if isinstance(thing, (*AROUND, *PLAIN)):
        return True
    kind = type(thing)
    if kind.__module__ in sys.builtin_module_names and kind.__module__ != "builtins":  # a lock, an iterator
        return False
    module = sys.modules.get(kind.__module__)
    return bool(kind.__flags__ & MADE) and not installed(getattr(module, "__file__", None) or "")


def _function(code: Any, variables: Any, name: str, defaults: Any, named: Any) -> types.FunctionType:
    """A function with empty cells."""
    cells = tuple(types.CellType() for _ in code.co_freevars)
    made = types.FunctionType(code, variables.__self__, name, defaults, cells)
    made.__kwdefaults__ = named
    return made


def _put(function: types.FunctionType, values: list[Any]) -> None:
    """Fill the cells of a function."""
    for cell, value in zip(function.__closure__ or (), values, strict=True):
        cell.cell_contents = value
