"""A sweep as data: what a worker elsewhere needs to make runs, without any code of the user.

Models are made of appell's own words and SymPy's, so they travel as a description of a few kilobytes; the functions of
the lanes travel as CasADi's text of their graphs. Reading accepts nothing but these words.
"""

from __future__ import annotations

import hashlib
import io
import pickle
import platform
import threading
import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from appell.code.code import Code
from appell.code.native import native
from appell.code.system import System
from appell.ensemble.engine import unwatched
from appell.ensemble.lane_machine import on_cores
from appell.ensemble.lanes import Graphs
from appell.ensemble.outcomes import Outcomes
from appell.ensemble.plan import Plan, made
from appell.ensemble.runner import Runner
from appell.errors import AppellError, ModelError
from appell.formulation.derive import derive
from appell.motion.versions import in_words, maker

WORDS = ("appell", "sympy", "numpy", "mpmath", "copyreg")
PLAIN = frozenset("complex dict frozenset int float list set slice str tuple bytes bytearray bool object".split())
KEPT = 8  # blueprints whose machine code a worker keeps


class Refusal(AppellError):
    """A worker cannot make the runs as they were planned.

    Attributes:
        words: Why.
        address: Of the worker.
    """

    def __init__(self, words: str, address: str) -> None:
        super().__init__(words)
        self.words, self.address = words, address

    def __reduce__(self) -> Any:
        return Refusal, (self.words, self.address)


class _Reader(pickle.Unpickler):
    """Reads descriptions made of known words only."""

    def find_class(self, module: str, name: str) -> Any:
        if module.partition(".")[0] in WORDS or (module == "builtins" and name in PLAIN):
            return super().find_class(module, name)
        raise ModelError(
            f"{module}.{name} is not one of appell's own words and cannot travel to other machines; sweep without "
            "cluster=..., or say it with appell's forces, constraints, formulations and SymPy's functions."
        )


def written(plan: Plan, lanes: bool = True) -> bytes:
    """A plan as bytes.

    Args:
        plan: The plan.
        lanes: Whether with the functions of lanes.
    """
    cases = []
    graphs_of = plan.graphs if lanes else [None] * len(plan.runners)
    for runner, graphs in zip(plan.runners, graphs_of, strict=True):
        if runner.law is not None:
            raise ModelError(
                "A Python function gives inputs, and functions do not travel to other machines; give the law as a "
                "formula, inputs={...: formula}, or sweep without cluster=..."
            )
        equations, code = runner.system.equations, runner.system.code
        cases.append({
            "model": equations.model, "formulation": equations.formulation, "closed": dict(equations.closed),
            "simd": code.simd, "native": code.build is not None, "steps": code.steps,
            "values": dict(runner.system.values), "settings": runner.settings, "shown": tuple(runner.shown),
            "graphs": graphs,
        })  # fmt: skip
    try:
        data = pickle.dumps({"maker": maker(), "varied": plan.varied, "cases": cases})
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise ModelError(f"The model cannot travel to other machines ({error}); sweep without cluster=...") from error
    _Reader(io.BytesIO(data)).load()
    return zlib.compress(data)


def read(blueprint: bytes) -> list[Runner]:
    """What makes the runs of each case."""
    data = _Reader(io.BytesIO(zlib.decompress(blueprint))).load()
    theirs, ours = data["maker"], maker()
    if theirs != ours:
        raise AppellError(
            f"The sweep was planned with {in_words(theirs)}; the worker on {platform.node()} has {in_words(ours)}; "
            "install the same versions there, of appell the same files."
        )
    runners, lock = [], threading.Lock()
    for case in data["cases"]:
        equations = derive(case["model"], case["formulation"])
        if case["closed"]:
            equations = equations.close(case["closed"])
        code = Code(equations, case["simd"], native if case["native"] else None, case["steps"])
        system = System(code, case["values"])
        graphs = None if case["graphs"] is None else Graphs.from_data(case["graphs"])
        runners.append(Runner(system, case["settings"], data["varied"], case["shown"], graphs=graphs, lock=lock))
    return runners


_LOCK = threading.Lock()
_KNOWN: dict[str, list[Runner]] = {}  # of this process: a blueprint is compiled once


def work(blueprint: bytes, columns: Mapping[str, np.ndarray], which: np.ndarray) -> Outcomes:
    """Make some runs of a blueprint: what a worker is asked to do."""
    name = hashlib.sha256(blueprint).hexdigest()
    with _LOCK:
        if name not in _KNOWN:
            while len(_KNOWN) >= KEPT:
                _KNOWN.pop(next(iter(_KNOWN)))
            try:
                _KNOWN[name] = read(blueprint)
            except AppellError as error:
                raise Refusal(str(error), _own_address()) from error
            for runner in _KNOWN[name]:
                runner.prepare()
        runners = _KNOWN[name]
    with on_cores(1):  # the worker has a thread for each
        return made(runners, columns, which, unwatched)


def _own_address() -> str:
    """Of the worker that asks."""
    from distributed import get_worker

    return get_worker().address


class _Asked:
    def __init__(self, *arguments: Any) -> None:
        self.arguments = arguments

    def __reduce__(self) -> Any:
        return work, self.arguments


def asked(blueprint: bytes, columns: Mapping[str, np.ndarray], which: np.ndarray) -> bytes:
    """`work` of these as bytes; whoever unpickles them makes the runs.

    Bytes go through a scheduler that has no appell, and a worker that has none says so instead of dying over them.
    """
    return pickle.dumps(_Asked(blueprint, columns, which))
