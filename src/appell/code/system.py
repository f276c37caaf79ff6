"""A system: equations as functions, bound to numbers."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any

import casadi as ca
import numpy as np

from appell.code import heyoka_code
from appell.code.c_source import write_c
from appell.code.code import Code, function_of
from appell.code.constants import check_masses
from appell.code.described import check_identifier
from appell.code.fitting import fitting_code
from appell.code.native import native
from appell.code.starting import consistent_state, given_state, starting_state
from appell.code.state import State, check_state
from appell.equations import Equations
from appell.errors import CompileError, MissingValueError, ModelError
from appell.files import path_of
from appell.model.model import Model
from appell.model.rules import numbers_of
from appell.model.symbols import Letter
from appell.model.values import by_name, check_kind, floats, number, numbers

STRAINED = 1e3  # growth of speeds into rates, against the best choice, from which accelerations are taken in the best


class System:
    """Compiled equations with values of parameters and inputs.

    Args:
        code: The functions.
        values: Numbers by name; suggested values of the model fill what is not given.
    """

    def __init__(self, code: Code, values: Mapping[str, float] | None = None) -> None:
        check_kind(code, Code, "equations to appell.compile, which makes a system of them")
        self.code = code
        self.values: Mapping[str, float] = MappingProxyType({**code.equations.model.values, **(values or {})})

    def __reduce__(self) -> tuple[Any, ...]:
        return System, (self.code, dict(self.values))

    @property
    def equations(self) -> Equations:
        """The equations behind it."""
        return self.code.equations

    @property
    def model(self) -> Model:
        """The model behind it."""
        return self.equations.model

    def __repr__(self) -> str:
        missing = self.missing
        return f"System of {self.equations.summary().splitlines()[0]}" + (
            f", without values for {', '.join(missing)}" if missing else ""
        )

    def bind(self, values: Mapping[Any, float] | None = None) -> System:
        """The same code with other numbers; nothing is compiled again.

        Args:
            values: Numbers of parameters and inputs, by symbol or by name.
        """
        system = System(self.code, {**self.values, **numbers_of(self.model, values)})
        if not system.missing:
            check_masses(self.equations.mechanics, system.p)
        return system

    @property
    def missing(self) -> list[str]:
        """Parameters and open inputs that have no number yet."""
        letters = (*self.model.parameters, *self.equations.inputs)
        return [s.label for s in letters if s.label not in self.values]

    @cached_property
    def p(self) -> np.ndarray:
        """Values of the parameters, in order."""
        return self.numbers_of(self.model.parameters)

    @cached_property
    def w(self) -> np.ndarray:
        """Values of the open inputs, in order."""
        return self.numbers_of(self.equations.inputs)

    def numbers_of(self, letters: Sequence[Letter]) -> np.ndarray:
        """The values of parameters or inputs; refused where one has none, with the parameters that have none either.

        Args:
            letters: The letters, of one kind.
        """
        if any(s.label not in self.values for s in letters):
            absent = dict.fromkeys(s for s in (*letters, *self.model.parameters) if s.label not in self.values)
            kinds = {s.kind: [e.label for e in absent if e.kind == s.kind] for s in absent}
            words = " and ".join(f"the {kind}{'s' * (len(e) > 1)} {', '.join(e)}" for kind, e in kinds.items())
            listed = ", ".join(f"{s.label}: ..." for s in absent)
            error = MissingValueError(f"No value for {words}; write system.bind({{{listed}}}).")
            error.names = tuple(s.label for s in absent)
            raise error
        found = np.array([self.values[s.label] for s in letters], dtype=float)
        found.flags.writeable = False
        return found

    # Functions of the state x = (q, u, z).

    @cached_property
    def rhs(self) -> Callable[..., np.ndarray]:
        """The right-hand side x' = f(t, x); `system.rhs` fits `scipy.integrate.solve_ivp`.

        Called as `system.rhs(t, x)` with time and a state (q, u, z) of shape (n,), (n, B) for B states at once, or a
        `State`; as `system.rhs(t, x, w)` with other values of the open inputs than those that are bound.
        """
        if self.missing:
            return self._rhs
        return self.code.single.bound(self.w, self.p, self._rhs)

    def _rhs(self, t: float, x: Any, w: Any = None) -> np.ndarray:
        t = number("t", t)
        x = self._x(t, x, (1, 2))
        w = self.w if w is None else self._columns(w, self.equations.inputs, "input")
        if x.ndim == w.ndim == 1:
            return self.code.single.flat(t, x, w, self.p)
        return self.code.rhs.batch(t, x.reshape(len(x), -1), w, self.p)

    def _x(self, t: float, x: Any, axes: tuple[int, ...] = (1,)) -> np.ndarray:
        """x = (q, u, z), of one state or also of columns of them; that of a `State`, which has rates, at this time."""
        if isinstance(x, State):
            return self.to_x(replace(x, t=t))
        return self._columns(x, self.equations.states, "state", axes)

    @staticmethod
    def _columns(given: Any, letters: Sequence[Letter], what: str, axes: tuple[int, ...] = (1, 2)) -> np.ndarray:
        """A number for each of some letters, or columns of them; refused if there are fewer or more."""
        found = floats(given, f"The entries of the {what}")
        if found.ndim not in axes or found.shape[0] != len(letters):
            got = str(found.shape[0]) if found.ndim in axes else f"an array of shape {found.shape}"
            names = ", ".join(map(str, letters)) or "none"
            raise ModelError(f"The {what} has {len(letters)} entries ({names}), got {got}.")
        return found

    def jacobian(self, t: float, x: Any) -> np.ndarray:
        """The Jacobian df/dx of the right-hand side at a time and a state x = (q, u, z) or `State`."""
        t = number("t", t)
        return self.code.jacobian(t, self._x(t, x), self.w, self.p)[0]

    def mass_matrix(self, t: float, x: Any) -> np.ndarray:
        """A of A y = b at a time and a state x = (q, u, z) or `State`."""
        t = number("t", t)
        return self.code.linear_system(t, self._x(t, x), self.w, self.p)[0]

    def forcing(self, t: float, x: Any) -> np.ndarray:
        """b of A y = b at a time and a state x = (q, u, z) or `State`."""
        t = number("t", t)
        return self.code.linear_system(t, self._x(t, x), self.w, self.p)[1][:, 0]

    def accelerations(self, state: State) -> np.ndarray:
        """q'' at a state, also where other rates than those in use must be taken as speeds."""
        check_state(state, self.model)
        code = fitting_code(self.code, state, self.p, STRAINED)
        system = self if code is self.code else System(code, self.values)
        return code.accelerations.flat(state.t, system.to_x(state), self.w, self.p)

    def residual(self, state: State) -> dict[str, float]:
        """What each constraint row leaves at a state: positions under its name, velocities under name.rate."""
        check_state(state, self.model)
        mechanics = self.equations.mechanics
        found: dict[str, float] = {}
        if mechanics.position_rows:
            c = np.array(mechanics.functions["position"](state.t, state.q, self.p)[0]).ravel()
            found.update(
                {mechanics.row_names[i]: float(value) for i, value in zip(mechanics.position_rows, c, strict=True)}
            )
        if mechanics.row_names:
            e = np.array(mechanics.functions["velocity"](state.t, state.q, state.v, state.z, self.p)[0]).ravel()
            for i, value in enumerate(e):
                if i in mechanics.acceleration_rows:
                    continue
                suffix = ".rate" if i in mechanics.position_rows else ""
                found[mechanics.row_names[i] + suffix] = float(value)
        return found

    def energy(self, state: State) -> dict[str, float]:
        """Kinetic and potential energy and their sum."""
        check_state(state, self.model)
        w = [self.values.get(s.label, 0.0) for s in self.model.inputs]
        values = self.equations.mechanics.functions["energy"](state.t, state.q, state.v, state.z, w, self.p)
        kinetic, potential = (float(e) for e in values)
        return {"kinetic": kinetic, "potential": potential, "total": kinetic + potential}

    # States.

    def state(self, given: Mapping[Any, float] | None = None, t: float = 0.0) -> State:
        """A starting state: positions as given (else zero), rates or speeds as given, the rest from the constraints.

        A quaternion whose scalar part is not given has what it lacks of length one: it turns nothing if left out.
        Positions that do not satisfy the constraints are an error, unless the formulation lets them be (Shulgin's with
        `drift` a number); `consistent` finds some that do.

        Args:
            given: Values by symbol or name: coordinates, extra states, and rates or speeds.
            t: Time.
        """
        return given_state(self, numbers(given), number("t", t))

    def consistent(
        self, keep: Mapping[Any, float] | None = None, near: Mapping[Any, float] | None = None, t: float = 0.0
    ) -> State:
        """A state on the constraints.

        Args:
            keep: Values that must stay as they are.
            near: Guesses for the others (zero, or the model's suggested start, if left out).
            t: Time.
        """
        return consistent_state(self, numbers(keep), numbers(near), number("t", t))

    def to_x(self, state: State) -> np.ndarray:
        """x = (q, u, z) of a state."""
        check_state(state, self.model)
        u = self.code.speeds(state.t, state.q, state.v, state.z, self.p)[0][:, 0]
        return np.concatenate([state.q, u, state.z])

    def from_x(self, t: float, x: Any) -> State:
        """The state of x = (q, u, z)."""
        t = number("t", t)
        x = self._x(t, x)
        n, m = len(self.model.coordinates), len(self.equations.speeds)
        v = self.code.rates.flat(t, x, np.zeros(len(self.equations.inputs)), self.p)  # rates never contain inputs
        return State(self.model, np.concatenate([x[:n], v, x[n + m :]]), t)

    # Other machines.

    def to_casadi(self) -> ca.Function:
        """The right-hand side as a CasADi function f(t, x, w, p)."""
        return function_of(self.equations, "rhs")

    def to_c(self, path: str | os.PathLike[str]) -> list[Path]:
        """Write the right-hand side, its Jacobian, A and b as C source with a header; returns the two files."""
        return write_c(self, path_of(path))

    def to_matlab(self, path: str | os.PathLike[str]) -> Path:
        """Write the right-hand side, its Jacobian and the way back onto the constraints as a function of MATLAB."""
        from appell.code.matlab import write_matlab

        return write_matlab(self, path_of(path))

    def to_python(self, path: str | os.PathLike[str]) -> Path:
        """Write the same as a module of Python that needs NumPy only."""
        from appell.code.python_source import write_python

        return write_python(self, path_of(path))

    def to_fmu(
        self,
        path: str | os.PathLike[str],
        start: State | Mapping[Any, float] | None = None,
        *,
        outputs: Mapping[str, Any] | None = None,
    ) -> Path:
        """Write an FMU (FMI 2.0, model exchange and co-simulation) for Simulink, Dymola, OpenModelica, FMPy and others.

        Open inputs are its inputs; states, the rates of all coordinates and `outputs` its outputs. It is built by the
        system's C compiler for this kind of machine and contains its source for others.

        Args:
            path: The file, `name.fmu`; the name is that of the model there.
            start: As for `simulate`; other values can be given to the FMU before it starts.
            outputs: Further outputs: name -> formula, as for `simulate`.
        """
        from appell.code.fmu import write_fmu

        check_identifier(path_of(path), ".fmu")
        further = by_name(outputs, "Outputs", "{'tip': l * sin(theta)}")
        return write_fmu(self, path_of(path), starting_state(self, start), further)


def compile(equations: Equations, machine: str = "auto") -> System:
    """Compile equations into functions.

    Args:
        equations: What `derive` gave.
        machine: `"auto"` (machine code for batches and Taylor series where heyoka is installed), `"heyoka"`: as
            auto, and the steps of single runs by `dop853` as machine code, which pays for many or long runs; `"casadi"`
            for CasADi's own alone, or `"c"`: as auto, and single calls as native code built by the system's C compiler.

    Returns:
        A system; bind numbers to it before use.

    Example:
        >>> import appell as ap
        >>> system = ap.compile(ap.derive(ap.library.knife_edge())).bind({"m": 3.0})
        >>> system.rhs(0.0, [0.0, 0.0, 0.0, 1.0, 2.0]).round(6) + 0.0  # x, y, phi and the rates of x and phi
        array([1.      , 0.      , 2.      , 6.936718, 0.      ])
    """
    if machine not in ("auto", "heyoka", "casadi", "c"):
        raise CompileError(f"Got machine={machine!r}; use 'auto', 'heyoka', 'casadi' or 'c'.")
    if machine == "heyoka" and not heyoka_code.available():
        raise CompileError("heyoka is not installed; `pip install heyoka` (Linux), or use machine='casadi'.")
    if not isinstance(equations, Equations):
        raise CompileError(
            f"Only equations can be compiled, got {type(equations).__name__}; write compile(derive(model))."
        )
    return System(Code(equations, machine != "casadi", native if machine == "c" else None, machine == "heyoka"))
