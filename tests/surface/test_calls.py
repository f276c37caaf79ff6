"""Calls of appell's own functions and classes: who passes many arguments names them.

Two numbers that have changed places pass every check of types. Names in the call can be read.
"""

import ast
from dataclasses import dataclass
from pathlib import Path

import pytest

import appell as ap

SOURCE = Path(ap.__file__).parent
MOST = 7  # arguments by position

Definition = ast.FunctionDef | ast.ClassDef


@dataclass(frozen=True)
class Signature:
    """How many arguments by position a definition has names for, and whether it takes any number of others."""

    places: int
    any_number: bool


class Calls(ast.NodeVisitor):
    """The calls in one file to what the package defines, with the arguments that each passes by position."""

    def __init__(self, module: str, package: "Package"):
        self.module, self.package = module, package
        self.known = package.names[module]
        self.classes: list[ast.ClassDef] = []
        self.found: dict[str, int] = {}

    def visit_ClassDef(self, node):
        self.classes.append(node)
        self.generic_visit(node)
        self.classes.pop()

    def visit_Call(self, node):
        signatures = self._signatures(node.func, len(node.args))
        if signatures:
            given = max(_by_position(node, signature) for signature in signatures)
            place = f"{self.module}:{node.lineno} {ast.unparse(node.func)}"
            self.found[place] = max(given, self.found.get(place, 0))
        self.generic_visit(node)

    def _signatures(self, called, count):
        """What a call may reach: one definition by its name, or all behind a dot that can take so many arguments."""
        if isinstance(called, ast.Call) and ast.unparse(called.func) == "type":
            return [Signature(0, False)]
        if isinstance(called, ast.Name):
            own = self.classes[-1] if called.id == "cls" and self.classes else self.known.get(called.id)
            return [_signature(own)] if isinstance(own, Definition) else []
        if isinstance(called, ast.Attribute):
            root = called.value
            while isinstance(root, ast.Attribute | ast.Subscript | ast.Call):
                root = root.func if isinstance(root, ast.Call) else root.value
            if isinstance(root, ast.Name) and self.known.get(root.id) == "foreign":
                return []
            return [e for e in self.package.behind_a_dot.get(called.attr, ()) if e.any_number or count <= e.places]
        return []


class Package:
    """The definitions of a package: by module and name, and by the name behind a dot."""

    def __init__(self, texts: dict[str, str]):
        self.trees = {module: ast.parse(text) for module, text in texts.items()}
        self.top = {m: {e.name: e for e in t.body if isinstance(e, Definition)} for m, t in self.trees.items()}
        self.names = {module: self._names(module) for module in self.trees}
        self.behind_a_dot: dict[str, list[Signature]] = {}
        for name, definition in (entry for named in self.top.values() for entry in named.items()):
            self.behind_a_dot.setdefault(name, []).append(_signature(definition))
        for tree in self.trees.values():
            for owner in (e for e in ast.walk(tree) if isinstance(e, ast.ClassDef)):
                for method in (e for e in owner.body if isinstance(e, ast.FunctionDef)):
                    if not {"property", "cached_property"} & set(map(ast.unparse, method.decorator_list)):
                        self.behind_a_dot.setdefault(method.name, []).append(_signature(method, bound=True))

    def _names(self, module):
        """What the names of a file stand for: a definition of the package, or "foreign"."""
        named: dict[str, Definition | str] = {}
        for node in ast.walk(self.trees[module]):
            if isinstance(node, ast.Import):
                named.update({(e.asname or e.name).split(".")[0]: "foreign" for e in node.names})
            elif isinstance(node, ast.ImportFrom):
                theirs = self.top.get(node.module or "", {})
                other = None if (node.module or "").split(".")[0] == "appell" else "foreign"
                named.update({e.asname or e.name: theirs.get(e.name, other) for e in node.names})
        methods = {e for c in ast.walk(self.trees[module]) if isinstance(c, ast.ClassDef) for e in c.body}
        inner = {e.name: e for e in ast.walk(self.trees[module]) if isinstance(e, Definition) and e not in methods}
        return {**named, **inner, **self.top[module]}

    def calls(self) -> dict[str, int]:
        """Every call of an own name and how many arguments it passes by position."""
        found: dict[str, int] = {}
        for module, tree in self.trees.items():
            visitor = Calls(module, self)
            visitor.visit(tree)
            found.update(visitor.found)
        return found


def _signature(definition: Definition, bound: bool = False) -> Signature:
    if isinstance(definition, ast.FunctionDef):
        arguments = definition.args
        first = bound and "staticmethod" not in map(ast.unparse, definition.decorator_list)
        return Signature(len([*arguments.posonlyargs, *arguments.args]) - first, arguments.vararg is not None)
    for entry in definition.body:
        if isinstance(entry, ast.FunctionDef) and entry.name == "__init__":
            return _signature(entry, bound=True)
    fields = [
        e for e in definition.body if isinstance(e, ast.AnnAssign) and "ClassVar" not in ast.unparse(e.annotation)
    ]
    return Signature(len(fields), False)


def _by_position(call: ast.Call, signature: Signature) -> int:
    """How many named places a call fills by position; a starred argument fills all that are left."""
    if any(isinstance(e, ast.Starred) for e in call.args):
        return max(signature.places - len(call.keywords), 1 if signature.any_number else len(call.args))
    return min(len(call.args), signature.places) if signature.any_number else len(call.args)


@pytest.fixture(scope="module")
def calls():
    texts = {}
    for path in SOURCE.rglob("*.py"):
        parts = ("appell", *path.relative_to(SOURCE).with_suffix("").parts)
        texts[".".join(parts).removesuffix(".__init__")] = path.read_text()
    return Package(texts).calls()


def test_a_call_with_many_arguments_names_them(calls):
    assert len(calls) > 5000  # that there is something to count
    assert {call: count for call, count in calls.items() if count > MOST} == {}


OWN = """
import casadi as ca
import numpy as np
from sympy import Matrix

class Wide:
    a: int; b: int; c: int; d: int; e: int; f: int; g: int; h: int

    @classmethod
    def of(cls, numbers):
        return cls(1, *numbers)

    def turned(self, a, b, c, d, e, f, g, h):
        return Wide(a, b, c, d, e, f, g, h)

def many(*parts):
    return many(1, 2, 3, 4, 5, 6, 7, 8, *parts)

def solve(a):
    def inner(a, b, c, d, e, f, g, h):
        return type(a)(b, c)

    inner(1, 2, 3, 4, 5, 6, 7, 8)
    a.solve(1, 2)
    return ca.solve(1, 2, 3, 4, 5, 6, 7, 8), np.linalg.solve(1, 2, 3, 4, 5, 6, 7, 8), Matrix(1, 2, 3, 4, 5, 6, 7, 8)
"""
USER = """
from appell.own import Wide, many

def use(wide, kept, f):
    f(1, 2, 3, 4, 5, 6, 7, 8)
    wide.turned(1, 2, 3, 4, 5, 6, 7, 8)
    wide.turned(1, 2, 3, 4, *kept, h=8)
    wide.turned(1, *kept, f=6, g=7, h=8)
    many(1, 2, 3, 4, 5, 6, 7, 8)
    return Wide(a=1, b=2, c=3, d=4, e=5, f=6, g=7, h=8)
"""


def test_positions_are_counted_in_own_calls_only():
    found = Package({"appell.own": OWN, "appell.user": USER}).calls()
    assert found == {
        "appell.own:11 cls": 8,
        "appell.own:14 Wide": 8,
        "appell.own:17 many": 1,
        "appell.own:21 type(a)": 2,
        "appell.own:23 inner": 8,
        "appell.user:6 wide.turned": 8,
        "appell.user:7 wide.turned": 7,
        "appell.user:8 wide.turned": 5,
        "appell.user:9 many": 0,
        "appell.user:10 Wide": 0,
    }
