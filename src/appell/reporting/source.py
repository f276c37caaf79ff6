"""Python code that makes a model and its motion again."""

from __future__ import annotations

import inspect
import keyword
import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

import sympy as sp
from sympy.printing.str import StrPrinter

from appell.kinematics.differentiated import Differentiated
from appell.model.body import Body, Particle, RigidBody
from appell.model.constraint import AbstractConstraint, Holonomic, Nonholonomic, Rolling
from appell.model.force import Damper, Force, Generalized, Gravity, Potential, Torque
from appell.model.frame import Frame, Vector
from appell.model.mass_flow import Stream
from appell.model.model import Model, QuaternionNorm
from appell.model.symbols import READABLE, Input, Letter, Parameter, Rate, Time, inside_out, length, letters_in

BROAD = 84  # letters of a line of numbers
STEP = 60  # nodes of one step of a long formula
TAKEN = set("ap sp ground model bodies forces constraints system start motion equations print".split())


def word(name: str) -> str:
    """A letter's name as a name in Python; names that the code needs for itself get a _, and those with it another."""
    bare = name.rstrip("_")
    own = bare in TAKEN or keyword.iskeyword(bare) or re.fullmatch(r"(frame_|body_|Z)\d+", bare)
    return f"{name}_" if own else name


class _Python(StrPrinter):
    """Formulas as one types them, nothing turned into floats."""

    printmethod = "_appell_source"  # letters have a way of their own to be printed, which is not code

    def __init__(self, names: Mapping[sp.Basic, str] | None = None) -> None:
        super().__init__()
        self.names = names or {}

    def _print(self, expr: Any, **options: Any) -> str:
        return self.names[expr] if expr in self.names else super()._print(expr, **options)

    def _print_Rate(self, expr: Rate) -> str:
        return f"{self._print(expr.base)}" + ".rate" * expr.order

    def _print_Symbol(self, expr: sp.Symbol) -> str:
        if isinstance(expr, Rate):
            return self._print_Rate(expr)
        return "ap.t" if isinstance(expr, Time) else word(expr.name)

    def _print_Rational(self, expr: sp.Rational) -> str:
        return f"sp.Rational({expr.p}, {expr.q})" if expr.q != 1 else str(expr.p)

    def _print_Half(self, expr: Any) -> str:
        return "sp.Rational(1, 2)"

    def _print_Pi(self, expr: Any) -> str:
        return "sp.pi"

    def _print_Float(self, expr: sp.Float) -> str:
        return repr(float(expr))

    def _print_Function(self, expr: Any) -> str:
        return f"sp.{expr.func.__name__}({self.stringify(expr.args, ', ')})"

    _print_Max = _print_Min = _print_Function

    def _print_Piecewise(self, expr: Any) -> str:
        pieces = ", ".join(f"({self._print(e)}, {self._print(c)})" for e, c in expr.args)
        return f"sp.Piecewise({pieces})"

    def _print_Pow(self, expr: sp.Pow, rational: bool = False) -> str:
        if expr.exp == sp.Rational(1, 2):
            return f"sp.sqrt({self._print(expr.base)})"
        if expr.exp == -sp.Rational(1, 2):
            return f"1/sp.sqrt({self._print(expr.base)})"
        if expr.exp.is_Rational and expr.exp.q != 1:
            return f"({self._print(expr.base)})**{self._print(expr.exp)}"
        return super()._print_Pow(expr, rational)


def formula(expression: Any) -> str:
    """A formula in Python."""
    return _written(sp.sympify(expression))


@lru_cache(maxsize=2_000)  # a model is written beside that of the library it may be
def _written(expression: sp.Basic) -> str:
    return _Python().doprint(expression)


def in_steps(expression: sp.Expr, lines: list[str], names: dict[sp.Basic, str]) -> str:
    """A formula in Python; one that would fill pages in steps, lines Z1 = ..., Z2 = ... that go before it."""
    if length(expression) <= READABLE:
        return formula(expression)
    sizes: dict[sp.Basic, int] = {}
    for node in inside_out(expression):
        sizes[node] = 1 if node in names else 1 + sum(sizes[e] for e in node.args)
        if sizes[node] > STEP:
            lines.append(f"Z{len(names) + 1} = {_Python(names).doprint(node)}")
            names[node] = f"Z{len(names) + 1}"
            sizes[node] = 1
    return _Python(names).doprint(expression)


def model_source(model: Model) -> str:
    """A model in Python, whatever it was made by."""
    return _ModelSource(model).text()


class _ModelSource:
    """Writes a model, with a line for every frame, body and long formula when it is first needed.

    Args:
        model: The model.
    """

    def __init__(self, model: Model) -> None:
        self.model = model
        self.lines: list[str] = []  # of frames, further bodies and steps of long formulas
        self.frames: dict[Frame, str] = {model.ground: "ground"}
        self.bodies = {body: f"bodies[{i}]" for i, body in enumerate(model.bodies)}
        self.steps: dict[sp.Basic, str] = {}
        self.used: set[sp.Symbol] = set()

    def text(self) -> str:
        """All of it."""
        model = self.model
        parts = {
            "bodies": [self.written(body) for body in model.bodies],
            "forces": [self.force(force) for force in model.forces],
            "constraints": [row for constraint in model.constraints for row in self.rows(constraint)],
        }
        known = {*model.coordinates, *model.states, *model.parameters, *model.inputs}
        further = {s for s in self.used if isinstance(s, Parameter | Input) and s not in known}
        lines = ["import sympy as sp", "", "import appell as ap", ""]
        lines += [_letter(s, "coordinates") for s in model.coordinates] + [_letter(s, "states") for s in model.states]
        lines += [_letter(s, f"{s.kind}s") for s in (*model.parameters, *model.inputs)]
        lines += [_letter(s, f"{s.kind}s") for s in sorted(further, key=lambda s: s.name)]
        lines += ["", f"ground = ap.Frame({model.ground.name!r})", *self.lines]
        for title, entries in parts.items():
            lines += [f"{title} = [", *(f"    {entry}," for entry in entries), "]"] if entries else [f"{title} = []"]
        states = ", ".join(f"{word(z.name)}: {formula(rate)}" for z, rate in model.states.items())
        order = ", ".join(word(q.name) for q in model.coordinates)
        lines += [
            "model = ap.Model(",
            f"    ground, ({order},), bodies, forces, constraints, {{{states}}},",
            f"    name={model.name!r}, description={model.description!r},",
            f"    values={dict(model.values)!r},",
            f"    start={dict(model.start)!r}, until={model.until!r},",
            ")",
        ]
        return "\n".join(lines)

    def formula(self, expression: sp.Expr) -> str:
        """A formula, its letters noted."""
        self.used.update(letters_in(expression))
        return formula(expression)

    def frame(self, given: Frame) -> str:
        """The name of a frame."""
        for step in given.axes.path[1:]:
            if step in self.frames:
                continue
            name = f"frame_{len(self.frames)}"
            assert step.parent is not None
            assert step.rotation is not None
            rotation = step.rotation
            if rotation.quaternion is not None:
                turn = f"rotate_quaternion({', '.join(map(self.formula, rotation.quaternion))}, {step.name!r})"
            else:
                axis = ", ".join(map(self.formula, rotation.axis or ()))
                turn = f"rotate(({axis}), {self.formula(rotation.angle)}, {step.name!r})"
            self.lines.append(f"{name} = {self.frames[step.parent]}.{turn}")
            self.frames[step] = name
        return self.frames[given.axes]

    def vector(self, given: Vector) -> str:
        """A vector, part by part."""
        words = [f"{self.frame(f)}.vector({', '.join(map(self.formula, part))})" for f, part in given.parts.items()]
        return " + ".join(words) or "ground.vector(0, 0, 0)"

    def written(self, body: Body) -> str:
        """What makes a body."""
        if isinstance(body, Particle):
            return f"ap.Particle({body.name!r}, {self.formula(body.mass)}, {self.vector(body.center)})"
        rows = [[self.formula(body.inertia[i, j]) for j in range(3)] for i in range(3)]
        tensor = ", ".join(f"[{', '.join(row)}]" for row in rows)
        return (
            f"ap.RigidBody({body.name!r}, {self.formula(body.mass)}, {self.vector(body.center)}, "
            f"{self.frame(body.frame)}, sp.Matrix([{tensor}]))"
        )

    def body(self, body: Body) -> str:
        """The name of a body; one that is not in the model, such as a driven turntable, gets a line of its own."""
        if body not in self.bodies:
            name = f"body_{len(self.bodies) - len(self.model.bodies) + 1}"
            self.lines.append(f"{name} = {self.written(body)}")
            self.bodies[body] = name
        return self.bodies[body]

    def thing(self, given: Any) -> str:
        """A place, a frame or a body."""
        if isinstance(given, Vector):
            return self.vector(given)
        return self.frame(given) if isinstance(given, Frame) else self.body(given)

    def force(self, force: Any) -> str:
        """What makes a force."""
        name, vector = f"name={force.name!r}", self.vector
        if isinstance(force, Gravity):
            return f"ap.Gravity({vector(force.acceleration)}, {name})"
        if isinstance(force, Force):
            body = f", {self.body(force.body)}" if force.body is not None else ""
            return f"ap.Force({vector(force.vector)}, {self.thing(force.at)}{body}, {name})"
        if isinstance(force, Torque):
            other = f", {self.thing(force.reaction)}" if force.reaction is not None else ""
            return f"ap.Torque({vector(force.vector)}, {self.thing(force.on)}{other}, {name})"
        if isinstance(force, Potential):
            return f"ap.Potential({formula(force.energy)}, {name})"
        if isinstance(force, Generalized):
            pairs = ", ".join(f"{word(q.name)}: {formula(e)}" for q, e in force.forces.items())
            return f"ap.Generalized({{{pairs}}}, {name})"
        if isinstance(force, Damper):
            return f"ap.Damper({vector(force.a)}, {vector(force.b)}, {formula(force.coefficient)}, {name})"
        if isinstance(force, Stream):
            rate = "None" if force.rate is None else formula(force.rate)
            at = f", at={vector(force.at)}" if isinstance(force.body, RigidBody) else ""
            source = f", source={vector(force.source)}" if force.source is not None else ""
            absolute = ", absolute=True" if force.absolute else ""
            body = self.body(force.body)
            return f"ap.Stream({body}, {vector(force.velocity)}, {rate}{at}{absolute}{source}, {name})"
        return f"# {type(force).__name__} {force.name!r} is not written here"

    def rows(self, constraint: AbstractConstraint) -> list[str]:
        """What makes a constraint; norms of quaternions come by themselves."""
        if isinstance(constraint, QuaternionNorm):
            return []
        if not isinstance(constraint, Rolling):
            return _rows(constraint, lambda e: in_steps(e, self.lines, self.steps))
        along = "" if constraint.along is None else f", along=[{', '.join(map(self.vector, constraint.along))}]"
        on = "" if constraint.on is None else f", on={self.body(constraint.on)}"
        where = f"{self.body(constraint.body)}, {self.vector(constraint.contact)}{on}{along}"
        return [f"ap.Rolling({where}, name={constraint.name!r})"]


def _letter(letter: Letter, maker: str) -> str:
    unit = f", {letter.unit!r}" if letter.unit else ""
    return f"{word(letter.name)} = ap.{maker}({letter.name!r}{unit})"


def _rows(constraint: AbstractConstraint, formula: Callable[[sp.Expr], str]) -> list[str]:
    orders = {row.order for row in constraint.rows}
    kind = Holonomic if orders == {0} else Nonholonomic
    if len(constraint.rows) == 1:
        return [f"ap.{kind.__name__}({formula(constraint.rows[0].expression)}, {constraint.name!r})"]
    if len(orders) == 1:
        listed = ", ".join(formula(row.expression) for row in constraint.rows)
        return [f"ap.{kind.__name__}([{listed}], {constraint.name!r})"]
    return [
        f"ap.{(Holonomic if r.order == 0 else Nonholonomic).__name__}({formula(r.expression)}, {r.name!r})"
        for r in constraint.rows
    ]


def library_name(model: Model) -> str | None:
    """The name in the library that gives this very model."""
    from appell import library

    label = model.name.strip().lower().replace(" ", "-")
    candidates = [n for n in library.names() if n == label or n.replace("-", "") == label.replace("-", "")]
    candidates += [n for n in library.names() if label.endswith(n) and n not in candidates]
    for name in candidates:
        try:
            if model_source(library.model(name)) == model_source(model):
                return name
        except (TypeError, ValueError):
            continue
    return None


def run_source(motion: Any, given: str = "") -> str:
    """The model and the run.

    Args:
        motion: The motion.
        given: Code that makes `model`; found or written from the model itself if empty.
    """
    system = motion.system
    model, equations = system.model, system.equations
    # Equations of higher order are derived from a model whose inputs are not yet states.
    told = equations.mechanics.base.model if isinstance(equations.mechanics, Differentiated) else model
    name = None if given else library_name(told)
    if given:
        lines = [given.rstrip()]
    elif name:
        lines = ["import sympy as sp", "", "import appell as ap", "", f"model = ap.library.model({name!r})"]
    else:
        lines = [model_source(told)]
    lines += ["", *_letters(told)] if (given or name) and _needs_letters(equations) else []
    given = getattr(equations.formulation, "speeds", None) or ()
    speeds = [word(s.name) for s in given if not isinstance(s, Rate)]  # a rate may stand for itself
    for name in speeds:
        lines.append(f"{name} = ap.speeds({name!r})")
    lines += ["", f"equations = ap.derive(model{_formulation(equations)})"]
    if equations.closed:
        places = [word(w.name) if w in told.inputs else f"equations.inputs[{i}]" for i, w in enumerate(model.inputs)]
        inputs = dict(zip(model.inputs, places, strict=True))
        laws = ", ".join(f"{inputs[w]}: {formula(e)}" for w, e in equations.closed.items())
        lines.append(f"equations = equations.close({{{laws}}})")
    numbers = {k: v for k, v in system.values.items() if k in {s.label for s in (*model.parameters, *model.inputs)}}
    lines.append(f"system = ap.compile(equations).bind({_listed(numbers)})")
    from appell.code.state import names_of

    start = motion.states(motion.times[:1])[0]
    state = {label: float(value) for label, value in zip(names_of(model), start, strict=True)}
    if motion.law is not None:
        lines.append("# The inputs of this run came from a Python function; give it as inputs=...")
    if motion.occurrences:
        lines.append("# Events of this run: give them as events=[...] if they were yours")
    lines += [
        f"start = system.state({_listed(state)})",
        f"motion = ap.simulate(system, start, until={float(motion.times[-1])!r}, method={motion.info['method']!r})",
        "print(motion.check())",
    ]
    return "\n".join(lines)


def _listed(numbers: dict[str, float]) -> str:
    """A dictionary of numbers, in lines that can be read without scrolling."""
    lines = [""]
    for word in (f"{name!r}: {value!r}, " for name, value in numbers.items()):
        if len(lines[-1]) + len(word) > BROAD:
            lines.append("")
        lines[-1] += word
    if len(lines) == 1 and len(lines[0]) <= BROAD // 2:
        return f"{{{lines[0].removesuffix(', ')}}}"
    return "{\n" + "".join(f"    {line.rstrip()}\n" for line in lines) + "}"


def _needs_letters(equations: Any) -> bool:
    return bool(equations.closed) or bool(getattr(equations.formulation, "speeds", None))


def _letters(model: Model) -> list[str]:
    def row(letters: Any, source: str) -> list[str]:
        words = [word(s.name) for s in letters]
        return [f"{', '.join(words)}{',' if len(words) == 1 else ''} = {source}"] if words else []

    return [
        *row(model.coordinates, "model.coordinates"), *row(tuple(model.states), "model.states"),
        *row(model.parameters, "model.parameters"), *row(model.inputs, "model.inputs"),
    ]  # fmt: skip


def _formulation(equations: Any) -> str:
    """The formulation as it was made: the options that are not its own defaults."""
    formulation, given = equations.formulation, []
    options = getattr(formulation, "options", None)
    for name, parameter in inspect.signature(type(formulation)).parameters.items():
        value = getattr(formulation, name, getattr(options, name, None))
        if value is None or value == parameter.default or value == frozenset():
            continue
        if name == "speeds":
            pairs = (f"{formula(s) if isinstance(s, Rate) else word(s.name)}: {formula(e)}" for s, e in value.items())
            words = f"{{{', '.join(pairs)}}}"
        elif name == "dependent":
            words = repr([str(q) for q in value])
        elif name == "literal":
            words = repr(sorted(value))
        elif name == "stabilize" or isinstance(value, bool | int | float | str):
            words = repr(value)
        else:
            words = "..."  # a frame or formulas that only the user has
        given.append(f"{name}={words}")
    return f", ap.{type(formulation).__name__}({', '.join(given)})"
