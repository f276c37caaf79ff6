"""The proof of a motion: constraints kept, power balanced, formulations in agreement along it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from appell.code.agreement import Rivals
from appell.errors import AppellError
from appell.kinematics.consistency import jacobian_at
from appell.kinematics.split import Split
from appell.motion.flow import RESTING_ANYWAY
from appell.motion.ledger import Ledger, along
from appell.motion.method import accuracy
from appell.motion.projection import LEAST
from appell.motion.reactions import forces_in_modes

if TYPE_CHECKING:
    from appell.motion.motion import Motion
    from appell.motion.stretch import Stretch

NODES, WEIGHTS = np.polynomial.legendre.leggauss(10)
FEW, MANY = 50, 4000  # panels of each stretch at first, and how many are looked at together
INSIDE = 1e-13  # share of a stretch by which its ends are moved inside, off corners
CLOSED = 1e-4  # a balance that is closed to this share of what is expected needs no more panels; of many, to a tenth
NOTHING = 1e-15  # work that is no more than this share of the energy that went through is none
LITTLE = 1e-6  # share of what coordinates exchange; rounding of so much may be all there is of less
LOOKS = 15
HEAVY = 8000  # operations of a right-hand side from which on few formulations are derived for a proof
NEAR = 10.0  # growth of the rates up to which others are compared in a choice of speeds made before


@dataclass(frozen=True, kw_only=True)
class Check:
    """What a motion was checked for.

    Attributes:
        position: Largest residual of a position row.
        velocity: Largest residual of a velocity row.
        acceleration: Largest residual of a row on accelerations; None where there is none.
        balance: Largest error of the power balance, relative to the energy that went through the system, or to a
            millionth of what its coordinates exchanged if that is more.
        work: Energy put in by each force, drive and reaction over the motion; zero where rounding is all there is.
        energy: Kinetic energy at the first and the last moment.
        agreement: Largest relative disagreement of q'' with each other formulation along the motion; nan where
            accelerations are not finite.
        expected: What the tolerances of the run let one expect of the balance.
        shares: The largest residuals of position rows and of velocity rows as shares of what the rows are made of.
    """

    position: float
    velocity: float
    balance: float
    work: Mapping[str, float]
    energy: tuple[float, float]
    agreement: Mapping[str, float]
    expected: float
    acceleration: float | None = None
    shares: tuple[float, float] = (0.0, 0.0)

    @property
    def ok(self) -> bool:
        """Whether everything is as it should be."""
        return (
            all(share < 1e-9 for share in self.shares)
            and (self.acceleration is None or self.acceleration < 1e-8)
            and self.balance < self.expected
            and all(value < 1e-8 for value in self.agreement.values())
        )

    def __repr__(self) -> str:
        lines = [
            f"constraints: positions kept to {self.position:.1e}, velocities to {self.velocity:.1e}"
            + (f", accelerations to {self.acceleration:.1e}" if self.acceleration is not None else ""),
            f"power balance: closed to {self.balance:.1e} of the energy that went through",
            *(f"  work of {name}: {value:.9g} J" for name, value in self.work.items()),
            *(
                f"agreement with {name}: "
                + ("none, accelerations are not finite" if np.isnan(value) else f"{value:.1e}")
                for name, value in self.agreement.items()
            ),
            "all is well" if self.ok else "NOT WELL: look at what is above its tolerance",
        ]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        from appell.reporting.notebook import check_html

        return check_html(self)


def check(motion: Motion) -> Check:
    """Check a motion that was computed here."""
    if not motion.stretches:
        raise AppellError("Only a motion that was computed in this process can be checked; run simulate again.")
    (position, velocity), shares = _residuals(motion)
    expected = accuracy(motion.info["method"])
    balance, work, energy = _balance(motion, expected)
    agreement = _agreement(motion)
    return Check(
        position=position,
        velocity=velocity,
        balance=balance,
        work=work,
        energy=energy,
        agreement=agreement,
        expected=expected,
        acceleration=_on_accelerations(motion),
        shares=shares,
    )


def _parts(motion: Motion, array: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    n = len(motion.system.model.coordinates)
    return array[:n], array[n : 2 * n], array[2 * n :]


def _residuals(motion: Motion) -> tuple[tuple[float, float], tuple[float, float]]:
    """The largest residuals of position and velocity rows, as they are and as shares of the largest terms of each row.

    Rates count as what covers the positions within the run, if they are slower; components of quaternions as 1, since
    all terms of a row in which two axes stay at right angles may vanish.
    """
    system, times = motion.system, motion.times
    mechanics = system.equations.mechanics
    if mechanics.striking and mechanics.row_names:  # at a corner itself the rows are on neither side
        ends = np.array([stretch.times[0] for stretch in motion.stretches[1:]])
        apart = np.abs(times[:, None] - ends[None, :]).min(axis=1, initial=np.inf)
        times = times[apart > INSIDE * max(1.0, float(np.max(np.abs(times))))]
    q, v, z = _parts(motion, motion.states(times).T)
    whole, span = np.zeros(q.shape), (times[-1] - times[0]) or 1.0
    whole[[i for own in mechanics.variables.quaternions for i in own]] = 1.0
    reach = {"position": whole, "velocity": np.maximum(np.abs(q), whole) / span}
    found, shares = {"position": 0.0, "velocity": 0.0}, {"position": 0.0, "velocity": 0.0}
    for name, terms in mechanics.row_terms.items():
        arguments = (times, q, system.p) if name == "position" else (times, q, v, z, system.p)
        rows, slopes = along(mechanics.functions[name], *arguments)
        sizes = along(terms, *arguments)[0]
        sizes = sizes + np.einsum("ikj,jk->ik", np.abs(slopes).reshape(len(rows), times.size, -1), reach[name])
        sizes = np.max(np.where(np.isfinite(sizes), sizes, 0.0), axis=1, initial=0.0)
        largest = np.max(np.abs(rows), axis=1)
        found[name] = float(np.max(largest))
        shares[name] = float(np.max(np.where(largest > 0, largest / np.maximum(sizes, LEAST), 0.0)))
    return (found["position"], found["velocity"]), (shares["position"], shares["velocity"])


def _on_accelerations(motion: Motion) -> float | None:
    """The rows on accelerations, with the accelerations of the equations, as a share of their size."""
    if not motion.system.equations.mechanics.acceleration_rows:
        return None
    worst = 0.0
    for stretch in motion.stretches:
        times = stretch.times[np.unique(np.linspace(0, stretch.times.size - 1, 50).astype(int))]
        x, w = motion.sample(stretch, times), motion.open_inputs(stretch, times)
        left = stretch.code.branch.side_by_side(times.size, times[:, None], x.T, w, motion.system.p)[0]
        worst = float(np.maximum(worst, np.max(np.abs(left))))
    return worst


def _balance(motion: Motion, expected: float) -> tuple[float, dict[str, float], tuple[float, float]]:
    """T(t) - T(0) against the work of everything: over few panels, over more where they do not close the balance."""
    ledger = Ledger(motion.system.equations.mechanics, motion.system.equations.split.rows)
    panels, most = FEW, max((stretch.times.size for stretch in motion.stretches), default=0)
    if ledger.working:
        most = min(most, MANY)  # reactions are asked for moment by moment, which takes long
    while True:
        found = _balanced(motion, ledger, panels)
        if panels >= most or found[0] <= expected * (CLOSED if panels < MANY else 0.1):
            return found
        panels *= 4


@np.errstate(invalid="ignore", over="ignore")
def _balanced(motion: Motion, ledger: Ledger, panels: int) -> tuple[float, dict[str, float], tuple[float, float]]:
    """The same by Gauss quadrature over the integrator's own steps, joined until so many panels are left."""
    total = np.zeros(len(ledger.names))
    error, through, exchanged, jumps = 0.0, 0.0, 0.0, 0.0
    first = last = before = None
    for stretch in motion.stretches:
        edges = stretch.times
        if edges.size < 2:
            continue
        if edges.size > panels:
            edges = edges[np.unique(np.linspace(0, edges.size - 1, panels).astype(int))]
        edges = _within(edges) if ledger.mechanics.striking or ledger.mechanics.leaping else edges
        for begin in range(0, edges.size - 1, MANY):
            part = edges[begin : begin + MANY + 1]
            values = _account(motion, stretch, ledger, part)[0]
            if first is None:
                first = values[0]
            elif before is not None and not begin:
                jumps += values[0] - before  # what a reset did, or a mass that jumped
            middle, half = (part[1:] + part[:-1]) / 2, np.diff(part) / 2
            nodes = (middle[:, None] + half[:, None] * NODES[None, :]).ravel()
            _, powers, terms = _account(motion, stretch, ledger, nodes)
            works = np.einsum("kij,i,k->kj", powers.reshape(half.size, NODES.size, -1), WEIGHTS, half)
            exchanged += float(np.einsum("ki,i,k", terms.reshape(half.size, NODES.size), WEIGHTS, half))
            sums = total + np.cumsum(works, axis=0)
            total = sums[-1]
            through += float(np.sum(np.abs(works)))
            error = np.maximum(error, np.max(np.abs(values[1:] - first - jumps - np.sum(sums, axis=1))))
            before = last = values[-1]
    scale = max(through, abs(first or 0.0), abs(last or 0.0))
    if np.isfinite(scale):
        total[np.abs(total) <= NOTHING * scale] = 0.0
    else:
        error = np.nan
    scale = max(scale, LITTLE * exchanged)
    return (
        float(error / scale) if scale else float(error),
        dict(zip(ledger.names, total.tolist(), strict=True)),
        (float(first or 0.0), float(last or 0.0)),
    )


def _within(edges: np.ndarray) -> np.ndarray:
    """The same with both ends a little inside, where conditions on time say what they say all along the stretch."""
    hair = INSIDE * (edges[-1] - edges[0]) + 4 * np.spacing(np.max(np.abs(edges)))
    return np.clip(edges, min(edges[0] + hair, edges[1]), max(edges[-1] - hair, edges[-2]))


def _account(
    motion: Motion, stretch: Stretch, ledger: Ledger, times: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """T, all powers, and the terms of these added up, a row for each of some times of a stretch.

    Forces with kinks are those in the modes of the stretch.
    """
    system = motion.system
    n, m = len(system.model.coordinates), len(stretch.code.equations.speeds)
    x, w_open = motion.sample(stretch, times), motion.open_inputs(stretch, times).T
    w_all = motion.inputs_at(times).T
    if stretch.flow is None:
        v = along(stretch.code.rates.function, times, x, w_open, system.p)[0]
        a = along(stretch.code.accelerations.function, times, x, w_open, system.p)[0]
    else:
        rate = along(stretch.flow.machine.function, times, x, w_open, stretch.p)[0]
        v = rate[:n]
        a = along(stretch.code.second.function, times, x, w_open, system.p, rate)[0]
    forces = along(stretch.powers.function, times, x, w_open, stretch.p)[0] if stretch.powers is not None else None
    pushes = forces_in_modes(stretch, times, x.T, w_open.T) if ledger.working else None
    T, powers, terms = ledger.along(
        times, q=x[:n], v=v, a=a, z=x[n + m :], w=w_all, p=system.p, forces=forces, pushes=pushes
    )
    return T, powers.T, terms


def _on_a_kink(motion: Motion, stretch: Stretch, t: float) -> bool:
    """Whether a switching function is zero without sticking there: at the very limit of what friction holds."""
    if stretch.flow is None or not stretch.flow.count:
        return False
    now = np.array([t])
    x, w = motion.sample(stretch, now)[:, 0], motion.open_inputs(stretch, now)[0]
    values, size = (m(t, x, w, stretch.p)[0] for m in (stretch.flow.guard_machine, stretch.flow.size_machine))
    return bool(np.any(np.abs(values) <= RESTING_ANYWAY * size))


def _agreement(motion: Motion) -> dict[str, float]:
    system = motion.system
    equations = system.equations
    mechanics = equations.mechanics
    # Not at the ends nor at round times: there the motion may stand on a kink, whose formula has a value of its own.
    share = (np.arange(LOOKS) + 0.3819660113) / LOOKS
    span = float(motion.times[-1] - motion.times[0])
    times, pace = motion.times[0] + share * span, 1 / (span or 1.0)
    w = motion.inputs_at(times)
    found: dict[str, float] = {}
    rivals: dict[Split, Rivals] = {}
    for (t, row), inputs in zip(zip(times, motion.states(times), strict=True), w, strict=True):
        q, v, z = _parts(motion, row)
        stretch = motion.located(np.array([t]))[0][0]
        if stretch.family or _on_a_kink(motion, stretch, t):
            continue  # what sticks is held by a force between those of the two modes, which no formula says
        split = stretch.code.equations.coordinate_split
        if not split.dependent and split.rows:
            mine = equations.coordinate_split
            split = mine if mine.dependent else Split.at(jacobian_at(mechanics, t, q, v, z, system.p))
        if split not in rivals:
            jacobian = jacobian_at(mechanics, t, q, v, z, system.p)
            near = (r for s, r in rivals.items() if s.rows == split.rows and s.growth(jacobian) < NEAR)
            rivals[split] = next(near, None) or Rivals(mechanics, split, big=equations.operations > HEAVY)
        now = np.array([t])
        mine = stretch.accelerations(now, motion.sample(stretch, now).T, motion.open_inputs(stretch, now))[0]
        state = t, q, v, z, inputs, system.p
        measure = rivals[split].measure(pace, *state)
        for name, other in rivals[split].accelerations(*state).items():
            if name != equations.formulation.name:
                found[name] = float(np.maximum(found.get(name, 0.0), measure.disagreement(mine, other)))
    return found
