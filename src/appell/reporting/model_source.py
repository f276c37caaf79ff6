"""Python code that makes a model again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sympy as sp

from appell.model.body import Body, Particle, RigidBody
from appell.model.constraint import AbstractConstraint, Rolling, Row
from appell.model.force import Damper, Force, Generalized, Gravity, Potential, Torque
from appell.model.frame import Frame, Vector
from appell.model.mass_flow import Stream
from appell.model.model import Model, QuaternionNorm
from appell.model.programme import programme_states
from appell.model.symbols import Input, Letter, Parameter, letters_in
from appell.reporting.python import formula, in_steps, word


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
        own = {z: e for z, e in model.states.items() if z not in programme_states(model.programme, model.coordinates)}
        lines += [_letter(s, "coordinates") for s in model.coordinates] + [_letter(s, "states") for s in own]
        lines += [_letter(s, f"{s.kind}s") for s in (*model.parameters, *model.inputs)]
        lines += [_letter(s, f"{s.kind}s") for s in sorted(further, key=lambda s: s.name)]
        lines += ["", f"ground = ap.Frame({model.ground.name!r})", *self.lines]
        for title, entries in parts.items():
            lines += [f"{title} = [", *(f"    {entry}," for entry in entries), "]"] if entries else [f"{title} = []"]
        states = ", ".join(f"{word(z.name)}: {formula(rate)}" for z, rate in own.items())
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
        """What makes a constraint; norms of quaternions come by themselves, where not only rows turn with them."""
        turned = (quaternion for frame in self.frames for quaternion in frame.unit_quaternions)
        if isinstance(constraint, QuaternionNorm) and constraint.quaternion in turned:
            return []
        if not isinstance(constraint, Rolling):
            formulas = [in_steps(row.expression, self.lines, self.steps) for row in constraint.rows]
            written = formulas[0] if len(formulas) == 1 else f"[{', '.join(formulas)}]"
            return [f"ap.{_kind(constraint.rows)}({written}, {constraint.name!r}{_options(constraint.rows)})"]
        along = "" if constraint.along is None else f", along=[{', '.join(map(self.vector, constraint.along))}]"
        on = "" if constraint.on is None else f", on={self.body(constraint.on)}"
        where = f"{self.body(constraint.body)}, {self.vector(constraint.contact)}{on}{along}"
        return [f"ap.Rolling({where}, name={constraint.name!r})"]


def _letter(letter: Letter, maker: str) -> str:
    unit = f", {letter.unit!r}" if letter.unit else ""
    return f"{word(letter.name)} = ap.{maker}({letter.name!r}{unit})"


def _kind(rows: Sequence[Row]) -> str:
    """What makes rows."""
    if rows[0].programmed:
        return "Programmed"
    return "Holonomic" if all(row.order == 0 for row in rows) else "Nonholonomic"


def _options(rows: Sequence[Row]) -> str:
    """What is said of rows besides their formulas: who enforces them, how often they are differentiated, a branch."""
    words, raised = "", {row.raised for row in rows}
    if len(raised) == 1 and raised != {0}:  # else each is differentiated because of what it is, or not at all
        words += f", differentiate={raised.pop()}"
    if any(row.gauss for row in rows):
        words += ", realization='gauss'"
    elif drives := [word(row.drive.name) for row in rows if row.drive is not None]:
        words += f", realization=[{', '.join(drives)}]"
    if near := {rate: e for row in rows for rate, e in row.near.items()}:
        words += f", near={{{', '.join(f'{formula(rate)}: {formula(e)}' for rate, e in near.items())}}}"
    return words


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
