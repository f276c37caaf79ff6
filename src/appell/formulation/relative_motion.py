"""Relative motion: Gibbs-Appell equations in a carrier whose motion is prescribed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import casadi as ca
import sympy as sp

from appell.equations import Equations
from appell.errors import FormulationError
from appell.formulation.abstract import AbstractFormulation, dependent_ones, speed_formulas
from appell.formulation.gibbs_appell import differentiated, written
from appell.graph.sparse import dense, dense_matrix, total
from appell.kinematics.chart import Chart
from appell.kinematics.geometry import Geometry
from appell.kinematics.mechanics import Mechanics
from appell.kinematics.split import Split
from appell.model.body import Body, RigidBody
from appell.model.frame import Frame
from appell.model.model import Model
from appell.model.symbols import Coordinate, Parameter, Speed, Time, letters_in, t
from appell.reading.short import short_formulas


class RelativeMotion(AbstractFormulation):
    r"""Gibbs-Appell equations of motion relative to a carrier (Qiao's form VI).

    $$ \frac{\partial R_r}{\partial\dot u_j} = \Psi_j + Z_j + \sum_\beta Z_{\varepsilon+\beta}
       \frac{\partial\varphi_\beta}{\partial\dot q_j}, \qquad
       Z_s = -\frac{\partial (V^0+V^\omega)}{\partial q_s} + Q_s^{\dot\omega} + \Gamma_s $$
    with $R_r = S_r - U$ from relative accelerations alone, and, the masses frozen,

    - $V^0 = \sum m\,a_0\cdot r'$ (the carrier's translation),
    - $V^\omega = -\tfrac12\sum m|\omega\times r'|^2$ (centrifugal),
    - $Q^{\dot\omega}_s = -\sum m(\dot\omega\times r')\cdot\partial r'/\partial q_s$ (Euler),
    - $\Gamma_s = -2\sum m(\omega\times\dot r')\cdot\partial r'/\partial q_s$ (Coriolis, gyroscopic).

    Sums over a rigid body are taken by its inertia tensor.

    Accepts: every kind of constraint; every body must be placed from the carrier, and the carrier must move as a given
    function of time.

    Args:
        carrier: The carrier's frame, with its origin.
        speeds: Quasi-velocities, as for `GibbsAppell`.
        dependent: Instead: dependent coordinates, as for `GibbsAppell`.

    Reference: Qiao 1990, eq. (6.15), corrected: masses are frozen in V, and Gamma has a part from r'(q, t).
    """

    name = "relative motion"
    accepts = frozenset({"holonomic", "linear", "nonlinear", "acceleration"})
    reference = "Qiao 1990, form VI"

    def __init__(
        self,
        carrier: Frame,
        speeds: Mapping[Speed, Any] | None = None,
        dependent: Iterable[Coordinate | str] | None = None,
    ) -> None:
        if not isinstance(carrier, Frame):
            got = f"the body {carrier.name!r}" if isinstance(carrier, Body) else repr(carrier)
            raise FormulationError(f"The carrier must be an appell.Frame, such as body.frame, got {got}.")
        self.carrier = carrier
        self.speeds, self.dependent = speed_formulas(speeds), dependent_ones(dependent)

    def check(self, mechanics: Mechanics) -> None:
        """Refuse bodies that are not placed from the carrier, and carriers that do not move as given."""
        super().check(mechanics)
        carrier = self.carrier
        for frame in carrier.path[1:]:
            rotation = frame.rotation
            formulas = (rotation.angle, *(rotation.quaternion or ())) if rotation is not None else ()
            _only_time([e for e in formulas if e is not None], carrier)
        for frame, part in carrier.origin.parts.items():
            _only_time(list(part), carrier)
            for turned in frame.path[1:]:
                if turned.rotation is not None and turned.rotation.angle is not None:
                    _only_time([turned.rotation.angle], carrier)
        for body in mechanics.model.bodies:
            frames = [
                *(body.center - carrier.origin).parts,
                *([body.frame.axes] if isinstance(body, RigidBody) else []),
            ]
            if any(carrier.axes not in frame.path for frame in frames):
                raise FormulationError(
                    f"{body.name!r} is not placed from the carrier {carrier.name!r}; build it with carrier.point(...) "
                    "and frames turned from the carrier; a carrier whose origin moves is frame.at(point)."
                )

    def derive(self, mechanics: Mechanics, split: Split) -> Equations:
        """Relative acceleration energy, and the inertial forces of the carrier as generalized forces."""
        chart, S = self._energy(mechanics, split)
        Z = total(self.terms_on_graph(mechanics).values())
        return differentiated(self, chart, S, mechanics.Q + Z)

    def _energy(self, mechanics: Mechanics, split: Split) -> tuple[Chart, ca.SX]:
        """The chart, and the relative acceleration energy in its speeds and unknowns."""
        chart = Chart.of(mechanics, split, self.speeds)
        relative = Geometry(mechanics.variables, chart.frozen_derivative, chart.K, self.carrier)
        return chart, sum((relative.acceleration_energy(body) for body in mechanics.model.bodies), ca.SX(0))

    def function(self, model: Model) -> sp.Expr:
        r"""$R_r = S_r - U$ as a formula in q, u, u' and t, eq. (6.12); its slopes by u' are the thrust and Z.

        Args:
            model: A small model, as for `GibbsAppell.function`.
        """
        mechanics = Mechanics(model)
        self.check(mechanics)
        return written(*self._energy(mechanics, self.choose(mechanics)))

    def terms_on_graph(self, mechanics: Mechanics) -> dict[str, ca.SX]:
        """The inertial forces of the carrier along each coordinate, each by itself, in q, v, t at frozen mass."""
        x, carrier = mechanics.variables, self.carrier.axes
        relative = Geometry(x, mechanics.frozen_derivative, x.v, self.carrier)
        moved = mechanics.geometry.frame(carrier)
        omega, omega_rate = dense(moved.omega), dense(moved.alpha)
        a0 = dense(mechanics.geometry.resolve(self.carrier.origin, carrier, 2))
        translation = centrifugal = euler = ca.SX(0)
        coriolis = ca.SX.zeros(x.q.numel())
        for body in mechanics.model.bodies:
            m, center = x.masses[body], relative.center(body)
            r, rate = (dense(relative.resolve(center, carrier, order)) for order in (0, 1))
            turning = ca.cross(omega, r)
            translation = translation + m * ca.dot(a0, r)
            centrifugal = centrifugal - m / 2 * ca.dot(turning, turning)
            euler = euler - m * ca.dot(omega_rate, ca.cross(r, rate))
            coriolis = coriolis + ca.jtimes(rate, x.v, -2 * m * ca.cross(omega, rate), True)
            if isinstance(body, RigidBody) and x.inertias[body]:
                turn = dense_matrix(relative.turn(carrier, body.frame.axes))
                inertia = turn @ dense_matrix(x.inertias[body]) @ turn.T
                spin = dense(relative.rotation_rates(body.frame.axes, carrier)[0])
                planar = turn @ x.central_planar(body) @ turn.T
                centrifugal = centrifugal - ca.dot(omega, inertia @ omega) / 2
                euler = euler - ca.dot(omega_rate, inertia @ spin)
                couple = -2 * ca.cross(planar @ omega, spin)
                coriolis = coriolis + ca.jtimes(spin, x.v, couple, True)
        return {
            "translation": -ca.gradient(translation, x.q),
            "centrifugal": -ca.gradient(centrifugal, x.q),
            "Euler": ca.gradient(euler, x.v),
            "Coriolis": coriolis,
        }

    def terms(self, model: Model) -> dict[str, sp.Matrix]:
        """The inertial forces of the carrier along each coordinate as formulas, kind by kind."""
        mechanics = Mechanics(model)
        self.check(mechanics)
        x = mechanics.variables
        rates = [q.rate for q in model.coordinates]
        letters = [[t], model.coordinates, rates, tuple(model.states), model.inputs, model.parameters]
        terms = self.terms_on_graph(mechanics)
        return {name: short_formulas(x.thaw(term), x.arguments, letters) for name, term in terms.items()}


def _only_time(formulas: list[sp.Expr], carrier: Frame) -> None:
    for formula in formulas:
        for symbol in letters_in(formula):
            if not isinstance(symbol, Time | Parameter):
                raise FormulationError(
                    f"The carrier {carrier.name!r} moves with {symbol}; its motion must be a given function of time."
                )
