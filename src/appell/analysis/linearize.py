"""Linearise: the first approximation about an equilibrium or a steady motion."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np

from appell.analysis.attitude import attitudes, in_angular_velocities, in_velocities_of_a_body
from appell.analysis.blocks import Blocks, Jets, first_approximation, jets
from appell.analysis.corners import check_smooth
from appell.analysis.equilibrium import Equilibrium, as_system, equilibrium
from appell.analysis.ignorable import blind, changing, ignorable, left_out, shows
from appell.analysis.roots import clusters, in_words
from appell.analysis.steady import Steady
from appell.analysis.tangent import Tangent
from appell.code.state import State, check_state
from appell.code.system import System
from appell.code.violation import violated
from appell.errors import ControlError, EquilibriumError, ModelError
from appell.kinematics.consistency import jacobian_at
from appell.kinematics.split import Split
from appell.model.model import Model
from appell.model.symbols import Letter, key, letters_in, listed
from appell.model.values import chosen, formula_of, unknown

if TYPE_CHECKING:
    from appell.analysis.mode import Mode

    StateSpace = Any

OFF = 10.0  # how many times what a start may leave of a row, a point that is linearised about may
STILL = 1e-12  # rates below this are none


@dataclass(frozen=True, eq=False, kw_only=True)
class Linearization:
    r"""$\dot\eta = A\eta + B\,\delta u$ on the constraints.

    Attributes:
        at: The equilibrium or steady motion.
        states: Names of $\eta$: independent coordinates, their rates (or speeds), extra states.
        inputs: Names of u.
        A: Matrix of the states.
        B: Matrix of the inputs.
        named: The blocks where the system is holonomic, else None; see `blocks`.
        dropped: Coordinates that are no part of $\eta$ because they run, or because it was asked for.
        multiplier_terms: Whether C^B is in it.
        tangent: The full equations and their tangent space.
    """

    at: Equilibrium
    states: tuple[str, ...]
    inputs: tuple[str, ...]
    A: np.ndarray
    B: np.ndarray
    named: Blocks | None
    dropped: tuple[str, ...]
    multiplier_terms: bool
    tangent: Tangent

    @property
    def model(self) -> Model:
        """The model."""
        return self.at.model

    @property
    def blocks(self) -> Blocks:
        """The named blocks A, G, D, C1 ... C4, CB, P, B0, a, b, h, V."""
        if self.named is None:
            raise EquilibriumError(
                f"{self.model.name!r} has constraints on velocities, forces with accelerations, masses that depend on "
                "positions, or an attitude that is left out: its linearisation has A and B, but no blocks of a "
                "holonomic system."
            )
        return self.named

    @cached_property
    def eigenvalues(self) -> np.ndarray:
        """Roots of A, by real and imaginary part."""
        return ordered(np.linalg.eigvals(self.A))

    @cached_property
    def modes(self) -> tuple[Mode, ...]:
        """Natural frequencies, damping and shapes, the slowest oscillation first; see `Mode`."""
        from appell.analysis.mode import modes

        return modes(self)

    @cached_property
    def units(self) -> np.ndarray:
        """Natural sizes of the states, powers of two: matrices in these units do not know those of the model."""
        places = [self.tangent.names.index(s) for s in self.states]
        return 2.0 ** np.round(np.log2(self.tangent.units[places]))

    def unit(self, name: str) -> float:
        """The natural size of an entry of (q, u, z).

        Args:
            name: Its name.
        """
        return float(self.tangent.units[self.tangent.names.index(name)])

    @cached_property
    def ignorable(self) -> tuple[str, ...]:
        """What could be left out by `ignore`, coordinates and whole attitudes; empty if that is left out already."""
        found = {*ignorable(self.tangent), *self.dropped}
        for group in attitudes(self.model):
            more = found.union(group)
            hidden = more > found and not shows(self.tangent, more)
            if hidden and _turned(self.at, self.tangent.split, more) is not None:
                found = more
        return tuple(q.label for q in self.model.coordinates if q.label in found) if found - {*self.dropped} else ()

    def output_matrix(self, outputs: Iterable[Any]) -> np.ndarray:
        """C of y = C eta for quantities: coordinates, rates, extra states, or formulas of them.

        Args:
            outputs: Letters, names or formulas.
        """
        asked = [
            self.tangent.letter(e) if isinstance(e, str) else formula_of(e, "What is measured") for e in listed(outputs)
        ]
        gone = sorted({str(s) for e in asked for s in letters_in(e) if getattr(s, "label", "") in self.dropped})
        if gone:
            what = "is not a state" if len(gone) == 1 else "are not states"
            raise ControlError(f"{', '.join(gone)} {what} of this linearisation: ignore= left them out.")
        return self.tangent.output(asked, self.states)

    def to_control(self, outputs: Iterable[Any] | None = None) -> StateSpace:
        """The same as a `control.StateSpace` (python-control), with names; x.rate is called x_rate there.

        Args:
            outputs: Measured quantities; all states if left out.
        """
        try:
            import control
        except ImportError:
            raise ModelError('python-control is not installed; `pip install "appell[control]"`.') from None
        measured = list(self.states) if outputs is None else listed(outputs)
        C = self.output_matrix(measured)

        def plain(names: Iterable[Any]) -> list[str]:  # python-control allows no dots in names
            return [(key(e) if isinstance(e, str | Letter) else str(e)).replace(".", "_") for e in names]

        return control.ss(
            self.A, self.B, C, np.zeros((len(measured), len(self.inputs))), states=plain(self.states),
            inputs=plain(self.inputs), outputs=plain(measured),
        )  # fmt: skip

    def to_scipy(self, outputs: Iterable[Any] | None = None) -> Any:
        """The same as a `scipy.signal.StateSpace`.

        Args:
            outputs: Measured quantities; all states if left out.
        """
        from scipy.signal import StateSpace as Plain

        measured = list(self.states) if outputs is None else listed(outputs)
        return Plain(self.A, self.B, self.output_matrix(measured), np.zeros((len(measured), len(self.inputs))))

    def _repr_html_(self) -> str:
        from appell.reporting.notebook import linearization_html

        return linearization_html(self)

    def __repr__(self) -> str:
        roots = ordered(np.array([root for root, count in clusters(self.A) for _ in range(count)]))
        text = (
            f"linearisation of {self.model.name!r}: {len(self.states)} states ({', '.join(self.states)}), "
            f"inputs {', '.join(self.inputs) or 'none'}\n  roots {in_words(roots)}"
        )
        return text if self.multiplier_terms else text + "\n  WITHOUT the multiplier terms C^B: wrong where they matter"


def ordered(roots: np.ndarray) -> np.ndarray:
    """Roots by real part, then imaginary part, rounding apart."""
    size = max(float(np.max(np.abs(roots), initial=0.0)), 1e-300)
    return np.array(sorted(roots, key=lambda e: (round(e.real / size, 9), e.imag)))


def linearize(
    system: System | Model | Equilibrium,
    at: Equilibrium | State | None = None,
    *,
    dependent: Iterable[Any] | None = None,
    inputs: Iterable[Any] | None = None,
    ignore: Iterable[Any] = (),
    multiplier_terms: bool = True,
) -> Linearization:
    r"""The first approximation $A\ddot x + (G + D)\dot x + Cx = N'Q_u\,\delta u$, eqs. (19) to (35), corrected.

    Holonomic systems get every block by name, $C^B$ with the multipliers of the holding forces in it; the blocks come
    from T, W, Q, F by differentiation of the graph. Others (rolling, quasi-velocities, steady motions) are reduced from
    the compiled equations: the Jacobian of x' on the tangent space of the constraints. Cyclic coordinates that run
    are left out of the states.

    Args:
        system: An equilibrium; or a system or model together with `at`.
        at: Equilibrium or state to linearise about; the model's own equilibrium (`equilibrium(system)`) if left out.
        dependent: Dependent coordinates, one for each independent constraint row; the best choice if left out.
        inputs: Inputs of B; all open ones if left out.
        ignore: Coordinates to leave out of the states as well because nothing else depends on them: cyclic ones at
            rest, or a whole attitude (the quaternion of a ball), whose rates are then replaced by rates of all else and
            components of the angular velocity, `w_ball_z`.
        multiplier_terms: Whether C^B is taken into account. False shows what common practice gives.

    Returns:
        A, B, names and blocks.

    Example:
        >>> import appell as ap
        >>> rest = ap.equilibrium(ap.library.slider_crank(), {"theta": 1.0})
        >>> lin = ap.linearize(rest, dependent=["phi", "x_s"])
        >>> lin.states, lin.A.shape, round(float(lin.blocks.CB[0, 0]), 4)
        (('theta', 'theta.rate'), (2, 2), -0.1121)

    Reference: Krasinskiy 2025, section 6, with the corrections of `docs/theory/first-approximation.md`.
    """
    point = _point(system, at)
    equations = point.system.equations
    steady = Steady(equations)
    split = split_at(steady, point, dependent)
    ignored = [*dict.fromkeys([*(key(q) for q in listed(ignore)), *point.aside])]
    tangent = _tangent(steady, point, split, ignored)
    point, steady = tangent.at, tangent.steady
    opened = [w.label for w in equations.inputs]
    driving = tuple(opened) if inputs is None else chosen(inputs, opened, f"open input of {point.model.name!r}")
    holonomic = not steady.velocity_rows and not steady.mechanics.acceleration_rows
    plain = holonomic and not steady.mechanics.accelerating and not _masses_depend_on_positions(steady)
    jet = jets(steady, point) if plain and not np.any(point.state.v) and not ignored else None
    tangent = tangent.without(left_out(tangent, ignored, jet))
    if jet is None or not jet.smooth:
        check_smooth(tangent)
    if jet is not None:
        blocks = first_approximation(steady, point, split, driving, multiplier_terms, jet)
        states, A, B = _assembled(point, blocks, jet, driving)
    elif not multiplier_terms:
        raise EquilibriumError(
            "multiplier_terms=False is for holonomic systems at rest, where C^B is a block by itself."
        )
    else:
        states, A, B = _reduced(tangent, driving)
        blocks = _of_routh(tangent, driving) if plain else None
    return Linearization(
        at=point,
        states=states,
        inputs=driving,
        A=A,
        B=B,
        named=blocks,
        dropped=tangent.dropped,
        multiplier_terms=multiplier_terms,
        tangent=tangent,
    )


def _reduced(tangent: Tangent, inputs: tuple[str, ...]) -> tuple[tuple[str, ...], np.ndarray, np.ndarray]:
    """Names of the states, A and B from the compiled equations."""
    A, B, states = tangent.reduced(inputs)
    if not (np.all(np.isfinite(A)) and np.all(np.isfinite(B))):
        raise EquilibriumError(
            f"The equations of {tangent.at.model.name!r} have no finite linearisation here: the inertia is singular, "
            "as where polar coordinates meet their axis. Use other coordinates for this configuration."
        )
    return states, A, B


def _of_routh(tangent: Tangent, inputs: tuple[str, ...]) -> Blocks | None:
    """The blocks of Routh's function, where all that is left out is cyclic and something remains."""
    steady, point = tangent.steady, tangent.at
    coordinates = point.model.coordinates
    cyclic = {coordinates[i].label for i in steady.cyclic(point.system.p)}
    if not set(tangent.dropped) <= cyclic or len(tangent.dropped) == len(coordinates):
        return None
    return first_approximation(steady, point, tangent.split, inputs, True, jets(steady, point, tangent.dropped))


def _point(system: System | Model | Equilibrium, at: Equilibrium | State | None) -> Equilibrium:
    if isinstance(system, Equilibrium):
        if at is None:
            return system
        system = system.system
    system = as_system(system)
    if at is None:
        return equilibrium(system)
    if isinstance(at, Equilibrium):
        # The same point for another system of the same coordinates: with other laws, for instance.
        opened = {w.label for w in system.equations.inputs}
        held = system.bind({name: value for name, value in at.inputs.items() if name in opened})
        at = at.state
        system = held
    if not isinstance(at, State):
        raise ModelError(
            f"Got {type(at).__name__} as the point; give equilibrium(system, {{...}}) or system.state({{...}})."
        )
    check_state(at, system.model)
    if off := violated(system, at, OFF):
        raise EquilibriumError(
            f"The point violates {off}; give one made by equilibrium(...) or system.consistent(...)."
        )
    inputs = dict(zip((w.label for w in system.equations.inputs), system.w.tolist(), strict=True))
    point = Equilibrium(
        system=system, state=at, inputs=inputs, found=(), multipliers={}, residual=float("nan"), freedom=0
    )
    n = len(at.q)
    if np.any(at.v) and np.all(np.abs(at.v) < STILL * point.units.unknowns[n : 2 * n]):
        still = State(at.model, np.concatenate([at.q, np.zeros(n), at.z]), at.t)
        point = replace(point, state=still)
    return point


def _tangent(steady: Steady, point: Equilibrium, split: Split, ignored: list[str]) -> Tangent:
    """The equations about the point, in speeds in which what is left out does not show."""
    tangent = Tangent(steady, point, split)
    if not ignored and not np.any(point.state.v):
        return tangent
    labels = [q.label for q in point.model.coordinates]
    gone = {*ignored, *(s for s in changing(tangent) if s in labels)}
    if gone <= blind(tangent, gone):
        return tangent
    turned = _turned(point, split, gone) or _ahead(point, split, gone)
    if turned is not None:
        return turned
    for group in attitudes(point.model):
        more, whole = [name for name in group if name not in gone], gone.union(group)
        if more and gone & set(group) and _turned(point, split, whole) is not None:
            raise EquilibriumError(
                f"{', '.join(e for e in labels if e in gone)} cannot be left out without {', '.join(more)}: only the "
                f"attitude as a whole moves nothing else. Write ignore={[e for e in labels if e in whole]!r}."
            )
    return tangent


def _turned(point: Equilibrium, split: Split, gone: set[str]) -> Tangent | None:
    """The equations about the point in angular velocities, if coordinates do not show then."""
    return _hiding(split, gone, in_angular_velocities(point, split, gone))


def _ahead(point: Equilibrium, split: Split, gone: set[str]) -> Tangent | None:
    """The equations about the point in velocities along the axes of a vehicle, if its place does not show then."""
    rolling = bool(Steady(point.system.equations).velocity_rows)
    return _hiding(split, gone, in_velocities_of_a_body(point, split, gone)) if rolling else None


def _hiding(split: Split, gone: set[str], points: Iterable[Equilibrium]) -> Tangent | None:
    """The equations about the first of some points, the same in other speeds, in which coordinates do not show."""
    for same in points:
        tangent = Tangent(Steady(same.system.equations), same, split, own_speeds=True)
        if gone <= blind(tangent, gone):
            return tangent
    return None


def split_at(steady: Steady, point: Equilibrium, dependent: Iterable[Any] | None) -> Split:
    """The wanted split, or the one of the equations, or the best here."""
    equations, mechanics, model = steady.equations, steady.mechanics, point.model
    if not mechanics.row_names:
        if dependent is not None and listed(dependent):
            raise ModelError(
                f"{model.name!r} has no constraints, hence no dependent coordinates; leave dependent= out."
            )
        return Split()
    jacobian = jacobian_at(mechanics, 0.0, point.state.q, point.state.v, point.state.z, point.system.p)
    best = Split.at(jacobian, rows=equations.split.rows, rtol=1e-7)
    needed = len(equations.split.rows)
    rank, value = steady.rank(jacobian, point.system.p)
    if rank < needed or len(best.rows) < needed:
        raise EquilibriumError(
            f"At this pose of {model.name!r} the constraint Jacobian has rank {rank} where {needed} "
            f"independent rows are needed (smallest singular value {value:.1e} times its usual size): a singular pose, "
            "which has no first approximation. Choose another configuration."
        )
    if dependent is None:
        mine = equations.coordinate_split
        return mine if mine.dependent and mine.growth(jacobian) < 1e3 else best
    labels = [s.label for s in model.coordinates]
    wanted = [key(s) for s in listed(dependent)]
    for s in wanted:
        if s not in labels:
            raise ModelError(unknown(s, labels, f"coordinate of {model.name!r}"))
    if len(set(wanted)) != needed:
        raise EquilibriumError(
            f"dependent= takes as many coordinates as there are independent constraint rows; {model.name!r} has "
            f"{needed} row{'s' * (needed != 1)}, got {len(wanted)}. Give {needed} of: {', '.join(labels)}."
        )
    split = Split(best.rows, tuple(sorted(labels.index(s) for s in wanted)))
    if split.growth(jacobian) > 1e6:
        raise EquilibriumError(
            f"{', '.join(wanted)} cannot be dependent at this pose: det F_s = 0 there (a dead centre). Choose for "
            f"example {', '.join(labels[i] for i in best.dependent)}."
        )
    return split


def _masses_depend_on_positions(steady: Steady) -> bool:
    x = steady.mechanics.variables
    return x.frozen.numel() > 0 and bool(ca.depends_on(x.thawed, ca.vertcat(x.q, x.v)))


def _assembled(
    point: Equilibrium, blocks: Blocks, jet: Jets, inputs: tuple[str, ...]
) -> tuple[tuple[str, ...], np.ndarray, np.ndarray]:
    """A and B of (x, x1, z) from the blocks, eqs. (29), (35) and (38)."""
    model = point.model
    n, k = len(blocks.independent), len(model.states)
    labels = [s.label for s in model.coordinates]
    order = [labels.index(s) for s in (*blocks.independent, *blocks.dependent)]
    N = blocks.N
    columns = [[w.label for w in model.inputs].index(w) for w in inputs]
    A = np.block([
        [np.zeros((n, n)), np.eye(n), np.zeros((n, k))],
        [blocks.a + blocks.h @ blocks.B0, blocks.b, blocks.Vz],
        [jet.z_q[:, order] @ N, jet.z_v[:, order] @ N, jet.z_z],
    ])  # fmt: skip
    B = np.vstack([np.zeros((n, len(inputs))), blocks.V, jet.z_w[:, columns]])
    rates = tuple(f"{s}.rate" for s in blocks.independent)
    return (*blocks.independent, *rates, *(s.label for s in model.states)), A, B
