"""Modes of a first approximation: natural frequencies, damping, shapes, and how they look."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.linalg

from appell.analysis.roots import ROUNDING, SPREAD, blurred
from appell.code.state import State
from appell.errors import EquilibriumError, InconsistentStartError
from appell.model.values import number
from appell.motion.drive import Drive
from appell.motion.motion import Motion
from appell.motion.outcome import Outcome
from appell.motion.stretch import Stretch

if TYPE_CHECKING:
    from appell.analysis.linearize import Linearization

WIDE = 0.2  # of natural units, 0.2 rad of an angle: how far a shape is shown to move
SLOW = 2.0  # seconds in which a shape that does not oscillate is shown to go and come back
FRAMES = 60  # moments of a cycle
UNMOVED = 1e-9  # share of the largest displacement, in natural units, that is none


@dataclass(frozen=True, eq=False, kw_only=True)
class Mode:
    r"""One root $\lambda$ of $\dot\eta = A\eta$ with its shape: $q = q_0 + a\,\mathrm{Re}(s\,e^{\lambda t})$.

    Attributes:
        lin: The first approximation.
        root: $\lambda$; of a pair the one that is above the real axis.
        shape: s for every coordinate and extra state, dependent ones too; the largest displacement is 1.
        eta: The same for every state of the first approximation, rates too.
    """

    lin: Linearization
    root: complex
    shape: Mapping[str, complex]
    eta: Mapping[str, complex]

    @property
    def frequency(self) -> float:
        """Oscillations a second, in Hz; 0 if it does not oscillate."""
        return abs(self.root.imag) / (2 * np.pi)

    @property
    def damping(self) -> float:
        """The damping ratio: 0 without damping, 1 where nothing oscillates any more, negative if it grows."""
        return -self.root.real / abs(self.root)

    def start(self, amplitude: float | None = None) -> State:
        """A state on the constraints from which a run oscillates in this mode, the better the smaller it is.

        Args:
            amplitude: Of the largest displacement; two tenths of a radian, or of what lengths are like, if left out.
        """
        lin, size = self.lin, self._amplitude(amplitude)
        rest = lin.at.state
        keep = {name: lin.tangent.value(name) + size * e.real for name, e in self.eta.items()}
        keep |= {name: rest[name] for name in lin.dropped}
        near = State(lin.model, self._states(size, self.root, np.zeros(1))[0], rest.t).to_dict()
        try:
            return lin.at.system.consistent(keep, {name: e for name, e in near.items() if name not in keep}, rest.t)
        except InconsistentStartError:
            raise InconsistentStartError(
                f"The constraints do not let {lin.model.name!r} be moved by {size:.3g} along this shape; give a "
                f"smaller amplitude, start({size / 10:.1g})."
            ) from None

    def animate(self, path: str | Path | None = None, amplitude: float | None = None, look: Any = None) -> Any:
        """The shape in motion, neither growing nor dying away, on the constraints.

        Args:
            path: A file to write: .html, .gif, .mp4, or a still .png .svg .pdf.
            amplitude: Of the largest displacement; two tenths of a radian, or of what lengths are like, if left out.
            look: Hints for drawing, as for a motion.
        """
        return self._shown(self._amplitude(amplitude)).animate(path, look=look, forces=False)

    def _amplitude(self, given: float | None) -> float:
        if given is not None:
            return number("amplitude", given)
        return WIDE / max(abs(s) / self.lin.unit(name) for name, s in self.shape.items())

    def _states(self, amplitude: complex, root: complex, times: np.ndarray) -> np.ndarray:
        """q, q', z at some times, one row each."""
        model, state = self.lin.model, self.lin.at.state
        names = [s.label for s in (*model.coordinates, *model.states)]
        n = len(model.coordinates)
        moved = amplitude * np.exp(root * times)[:, None] * np.array([self.shape.get(name, 0.0) for name in names])
        q = state.q + np.outer(times, state.v) + moved[:, :n].real
        return np.hstack([q, state.v + (root * moved[:, :n]).real, state.z + moved[:, n:].real])

    def _shown(self, amplitude: float) -> Motion:
        """A cycle of the shape as a motion to be drawn."""
        system, model = self.lin.at.system, self.lin.model
        pace = abs(self.root.imag) or 2 * np.pi / SLOW
        times = np.linspace(0.0, 2 * np.pi / pace, FRAMES + 1)

        def dense(t: np.ndarray) -> np.ndarray:  # farthest out after a quarter, of which stills are made
            states = self._states(-1j * amplitude, 1j * pace, np.atleast_1d(t))
            return np.array([system.to_x(State(model, row)) for row in states]).T

        w = np.array([self.lin.at.inputs.get(s.label, 0.0) for s in system.equations.inputs])
        stretch = Stretch(code=system.code, w=w, p=system.p, times=times, dense=dense, final=dense(times[-1:])[:, 0])
        return Motion.of_run(
            system,
            [stretch],
            Outcome.DONE,
            detail="",
            method="mode",
            reason="a shape of the first approximation",
            occurrences=[],
            switches=[],
            seconds=0.0,
            grid=times,
            outputs={},
            drive=Drive(),
        )

    def __repr__(self) -> str:
        if self.root.imag:
            ratio = 0.0 if abs(self.damping) < ROUNDING else self.damping
            words = f"{self.frequency:.6g} Hz, damping ratio {ratio:.3g}"
        else:
            words = f"{'grows' if self.root.real > 0 else 'dies away'} by e in {1 / abs(self.root.real):.6g} s"
        return f"{words}: " + ", ".join(f"{name} {_turned(s)}" for name, s in self._moved.items())

    @property
    def _moved(self) -> dict[str, complex]:
        """What moves, without traces of rounding."""
        sizes = {name: abs(s) / self.lin.unit(name) for name, s in self.shape.items()}
        return {name: s for name, s in self.shape.items() if sizes[name] > UNMOVED * max(sizes.values())}


def _turned(value: complex) -> str:
    """A displacement, with its phase unless that is 0 or 180 degrees."""
    if abs(value.imag) <= 1e-6 * abs(value):
        return f"{value.real:.4g}"
    return f"{abs(value):.4g} at {np.degrees(np.angle(value)):.4g}°"


def modes(lin: Linearization) -> tuple[Mode, ...]:
    """The modes of a first approximation, the slowest oscillation first, then what does not oscillate.

    Zero roots, of rigid displacements and families, have no shape of their own and are left out.

    Args:
        lin: The first approximation.
    """
    if not lin.states:
        raise EquilibriumError(f"{lin.model.name!r} has no freedom here, so there are no modes.")
    model, units = lin.model, lin.units
    kept = [s.label for s in (*model.coordinates, *model.states) if s.label not in lin.dropped]
    C = lin.output_matrix(kept) * units
    A = lin.A / units[:, None] * units
    roots, shapes = scipy.linalg.eig(A)
    blur = blurred(A, SPREAD)
    sizes, found = np.array([lin.unit(name) for name in kept]), []
    for root, vector in zip(roots, shapes.T, strict=True):
        near = int(np.argmin(np.abs(blur[0] - root)))
        if abs(root) <= blur[1][near] or root.imag < 0:
            continue
        s = C @ vector
        largest = int(np.argmax(np.abs(s) / sizes))
        if s[largest] == 0:
            continue
        shape = dict(zip(kept, (s / s[largest]).tolist(), strict=True))
        eta = dict(zip(lin.states, (units * vector / s[largest]).tolist(), strict=True))
        found.append(Mode(lin=lin, root=complex(root), shape=shape, eta=eta))
    return tuple(sorted(found, key=lambda mode: (mode.root.imag == 0, abs(mode.root))))
