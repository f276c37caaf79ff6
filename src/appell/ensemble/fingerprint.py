"""Checksums of Python functions: of what they do and of the values they hold, so that another one is told apart."""

from __future__ import annotations

import builtins
import dataclasses
import functools
import hashlib
import sys
import sysconfig
import traceback
import types
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np
import sympy as sp

from appell.code.state import State
from appell.code.system import System
from appell.errors import ModelError

PLAIN = (type(None), bool, int, float, complex, str, bytes, type(Ellipsis))
FUNCTIONS = (types.FunctionType, staticmethod, classmethod, property)
CONSTANTS = (*PLAIN, np.ndarray, list, tuple, dict)
OWN = __name__.partition(".")[0]
INSTALLED = (
    *(sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")),
    str(Path(__file__).parent.parent),
)


def fingerprint(thing: Any) -> str:
    """A checksum of a function with all it holds: code, defaults, variables from around it, the functions it calls.

    Functions of installed packages count by their names. What has no values that could be compared, an open file for
    example, is an error.

    Args:
        thing: The function, or an object that can be called.
    """
    walk = _Walk()
    walk(thing)
    return walk.digest.hexdigest()


class _Walk:
    """Goes through an object and what it refers to, once."""

    def __init__(self) -> None:
        self.digest = hashlib.sha256()
        self.seen: dict[int, int] = {}
        self.kept: list[Any] = []

    def say(self, *words: Any) -> None:
        for word in words:
            self.digest.update(word if isinstance(word, bytes) else str(word).encode())
            self.digest.update(b"\0")

    def __call__(self, thing: Any) -> None:
        if isinstance(thing, PLAIN):
            self.say(type(thing).__name__, repr(thing))
            return
        if id(thing) in self.seen:
            self.say("again", self.seen[id(thing)])
            return
        self.seen[id(thing)] = len(self.seen)
        self.kept.append(thing)  # no other object may take its place
        self.say(type(thing).__module__, type(thing).__qualname__)
        self.inside(thing)

    def inside(self, thing: Any) -> None:
        if isinstance(thing, np.ndarray | np.generic):
            array = np.asarray(thing)
            self.say(array.dtype, array.shape)
            if array.dtype.hasobject:
                self.all(array.ravel().tolist())
            else:
                self.say(array.tobytes())
        elif isinstance(thing, list | tuple):
            self.all(thing)
        elif isinstance(thing, set | frozenset):
            self.say(*sorted(fingerprint(e) for e in thing))
        elif isinstance(thing, Mapping):
            self.all(part for pair in thing.items() for part in pair)
        elif isinstance(thing, sp.Basic | sp.MatrixBase):
            self.say(sp.srepr(thing))
        elif isinstance(thing, ca.Function):
            self.say(thing.serialize())
        elif isinstance(thing, ca.DM | ca.SX):
            self.say(thing.shape, thing)
        elif isinstance(thing, types.FunctionType):
            self.function(thing)
        elif isinstance(thing, types.CodeType):
            self.say(thing.co_code, thing.co_names, thing.co_varnames, thing.co_freevars)
            self.all(thing.co_consts)
        elif isinstance(thing, types.MethodType):
            self.all((thing.__func__, thing.__self__))
        elif isinstance(thing, functools.partial):
            self.all((thing.func, thing.args, thing.keywords))
        elif isinstance(thing, types.CellType):
            self.all([thing.cell_contents])
        elif isinstance(thing, types.ModuleType):
            self.say(thing.__name__)
        elif isinstance(thing, type):
            self.kind(thing)
        elif isinstance(thing, types.BuiltinFunctionType | np.ufunc):
            self.say(thing.__module__ if hasattr(thing, "__module__") else "", thing.__name__)
        elif isinstance(thing, System):
            self.say(thing.code.rhs.function.serialize(), sorted(thing.values.items()))
        elif isinstance(thing, State):
            self.all((thing.names, thing.array, thing.t))
        elif isinstance(thing, np.random.Generator):
            self.all([thing.bit_generator.state])
        else:
            self.object(thing)

    def all(self, things: Any) -> None:
        count = 0
        for thing in things:
            self(thing)
            count += 1
        self.say(count)

    def function(self, f: types.FunctionType) -> None:
        self.say(f.__module__, f.__qualname__)
        self.all((f.__defaults__, f.__kwdefaults__, f.__closure__))
        if installed(f.__code__.co_filename):
            return
        self(f.__code__)
        for name in sorted(_names(f.__code__)):
            if name in f.__globals__:
                self.say(name)
                self(f.__globals__[name])
            elif not hasattr(builtins, name):
                self.say(name)

    def kind(self, cls: type) -> None:
        self.say(cls.__module__, cls.__qualname__)
        module = sys.modules.get(cls.__module__)
        if cls.__module__ == "builtins" or installed(getattr(module, "__file__", None) or ""):
            return
        self.all(cls.__bases__)
        for name, value in sorted(vars(cls).items()):
            if isinstance(value, FUNCTIONS) or (isinstance(value, CONSTANTS) and not name.startswith("__")):
                self.say(name)
                self.all([getattr(value, "__func__", getattr(value, "fget", value))])

    def object(self, thing: Any) -> None:
        cls = type(thing)
        self(cls)
        if cls.__module__.partition(".")[0] == OWN:  # what starts with _ are results that it keeps
            fields = dataclasses.fields(thing) if dataclasses.is_dataclass(thing) else ()
            names = [f.name for f in fields] or [name for name in vars(thing) if not name.startswith("_")]
            self({name: getattr(thing, name, None) for name in sorted(names)})
            return
        try:
            reduced = thing.__reduce_ex__(4)
        except Exception as error:  # whatever an object says that cannot be written down
            name = f"{cls.__module__}.{cls.__qualname__}"
            raise ModelError(f"{name} has no values of which a checksum could be made.") from error
        if isinstance(reduced, str):
            self.say(reduced)
            return
        self.all(list(part) if hasattr(part, "__next__") else part for part in reduced)


def _names(code: types.CodeType) -> set[str]:
    """Names that a function and the functions in it look up."""
    inner = (e for e in code.co_consts if isinstance(e, types.CodeType))
    return set(code.co_names).union(*(_names(e) for e in inner))


def installed(path: str) -> bool:
    """Whether a file belongs to a package rather than to the user."""
    return path.startswith((*INSTALLED, "<frozen"))


def own_line(error: BaseException) -> str:
    """Where in a file of the user's an error arose, `" (laws.py, line 3)"`; empty if it arose in packages alone."""
    frames = [e for e in traceback.extract_tb(error.__traceback__) if not installed(e.filename)]
    return f" ({Path(frames[-1].filename).name}, line {frames[-1].lineno})" if frames else ""
