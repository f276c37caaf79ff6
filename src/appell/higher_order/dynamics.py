"""Dynamics of a chain in every order: forces from motions, motions from forces, energies, reactions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import isfinite
from typing import Any

import casadi as ca
import numpy as np

from appell.code.machine import LONG, Machine
from appell.code.native import native
from appell.errors import CompileError, ModelError
from appell.graph.replay import operations
from appell.higher_order.expansion import term_names
from appell.higher_order.friction import Friction
from appell.higher_order.rules import Acting, Rules
from appell.kinematics.joint_frames import link_poses, skeleton_of
from appell.kinematics.skeleton_energies import pairing
from appell.model.chain import Chain
from appell.model.values import floats, whole

NOTHING = np.zeros(0)
FLOAT = np.dtype(float)


class Dynamics:
    r"""A chain as functions of its motion: $\tau, \dot\tau, \ddot\tau, \ldots$ in O(n K²), both ways, and $E_A^{(p)}$.

    A motion at an instant is an array Q of shape (..., n, K+1): row i for coordinate i, column r for its derivative
    $q_i^{(r)}$. Any number of leading axes are states at once; they run as SIMD machine code where heyoka is installed.
    Each joint is a coordinate, unless it mimics another one and moves with it.

    Args:
        chain: The robot.
        payload: Force and moment that the tool exerts on its surroundings, in the tool's axes: six numbers, or an array
            of shape (6, m) with their time derivatives in the columns.
        friction: Friction of the joints.
        values: Numbers of parameters; the chain's suggestions where none is given.
        machine: As for `appell.compile`: `"auto"`, `"casadi"` (no SIMD code), or `"c"` (single calls as native code,
            built by a C compiler when first asked for: a third of the time).

    Example:
        >>> import appell as ap
        >>> arm = ap.higher_order.Dynamics(ap.library.planar_2r())
        >>> Q = [[0.3, 0.7, -1.1, 2.0], [-0.8, 1.2, 0.9, -1.5]]
        >>> arm.inverse(Q).round(9).tolist()
        [[19.263709606, 1.292816663], [3.1984576, 4.020584106]]

    Reference: Negrean et al. 2025; Guarino Lo Bianco 2009; Müller 2021.
    """

    def __init__(
        self,
        chain: Chain,
        payload: Any = None,
        friction: Friction | None = None,
        values: Mapping[Any, float] | None = None,
        machine: str = "auto",
    ) -> None:
        if machine not in ("auto", "casadi", "c"):
            raise CompileError(f"Got machine={machine!r}; use 'auto', 'casadi' or 'c'.")
        if not isinstance(chain, Chain):
            raise ModelError(
                f"Higher-order dynamics is for an appell.Chain, got {type(chain).__name__}; for other models use "
                "appell.derive(model, appell.HigherOrder()), and along a motion motion.acceleration_energy(p)."
            )
        self.chain = chain
        self.data = chain.numbers(values)
        self.coupling = chain.coupling
        self.names = tuple(s.name for s in chain.coordinates)
        self.joints = tuple(link.joint for link in chain.links)
        self.skeleton = skeleton_of(self.data, self.joints)
        self.payload = None if payload is None else _wrench(payload)
        if friction is not None and not isinstance(friction, Friction):
            raise ModelError(f"Got friction={friction!r}; give appell.higher_order.Friction(viscous=..., dry=...).")
        self.friction = None if friction is None else friction.checked(self.joints)
        self._rules = Rules(self.skeleton, self.coupling, self.payload, self.friction)
        self._simd, self._build = machine != "casadi", native if machine == "c" else None
        self._machines: dict[Any, Machine] = {}
        self._ways: dict[Any, Callable[[float, np.ndarray], np.ndarray]] = {}

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_ways": {}}  # they point into memory

    def __repr__(self) -> str:
        extras = [w for w, there in (("payload", self.payload), ("friction", self.friction)) if there is not None]
        return f"Dynamics of {self.chain.name!r}: {len(self.joints)} joints" + (
            f", with {' and '.join(extras)}" if extras else ""
        )

    @property
    def n(self) -> int:
        """Number of coordinates."""
        return len(self.names)

    # Forces from motions.

    def inverse(
        self, Q: Any, *, inertia: bool = True, gravity: bool = True, payload: bool = True, friction: bool = True
    ) -> np.ndarray:
        r"""The driving forces $\tau = Q_{iF} + Q_g + Q_{SU} + Q_{fd}$ and their derivatives, (122), (133)-(141).

        The result has the shape (..., n, K-1), column k for $\tau^{(k)}$.

        Args:
            Q: The motion up to the derivative of order K, of shape (..., n, K+1).
            inertia: Whether masses resist acceleration.
            gravity: Whether weight acts.
            payload: Whether the payload acts, where there is one.
            friction: Whether friction acts, where there is some.
        """
        if type(Q) is np.ndarray and Q.dtype is FLOAT:
            way = self._ways.get((Q.shape, inertia, gravity, payload, friction))
            if way is not None and isfinite((state := Q.ravel()).dot(state)):
                return way(0.0, state).reshape(self.n, -1)
        x, K = self._motion(Q, 2, "Driving forces need")
        rub = friction and self.friction is not None
        if rub:
            self._check_moving(Q, K)
        acting = Acting(bool(inertia), bool(gravity), bool(payload) and self.payload is not None, rub)
        out = self._run(("inverse", K, acting), K, lambda q: self._rules.driving(q, K, acting), x)
        machine, asked = self._machines["inverse", K, acting], (np.shape(Q), inertia, gravity, payload, friction)
        if len(asked[0]) == 2 and not rub and (self._build or machine.function.n_instructions() <= LONG):
            self._ways[asked] = machine.bound(NOTHING, NOTHING, lambda t, x, w: machine.flat(t, x, NOTHING, NOTHING))
        if rub and not np.all(np.isfinite(out)):
            raise ModelError(_UNLOADED)
        return _restored(out, np.shape(Q)[:-2], (self.n, K - 1))

    def forces(self, Q: Any) -> dict[str, np.ndarray]:
        """Every part of the driving force by itself: inertia, gravity, payload, friction, and driving, their sum.

        Args:
            Q: As for `inverse`.
        """
        parts = {"inertia": self.inverse(Q, gravity=False, payload=False, friction=False)}
        parts["gravity"] = self.inverse(Q, inertia=False, payload=False, friction=False)
        if self.payload is not None:
            parts["payload"] = self.inverse(Q, inertia=False, gravity=False, friction=False)
        parts["driving"] = self.inverse(Q)
        if self.friction is not None:
            x, K = self._motion(Q, 2, "Friction needs")
            acting = self._rules.everything
            out = self._run(("friction", K), K, lambda q: self._rules.driving(q, K, acting, rubbing_only=True), x)
            parts["friction"] = _restored(out, np.shape(Q)[:-2], (self.n, K - 1))
        return parts

    def reactions(
        self, Q: Any, *, inertia: bool = True, gravity: bool = True, payload: bool = True
    ) -> tuple[np.ndarray, np.ndarray]:
        """Forces f_i and moments n_i that each link receives through its joint, with derivatives of their components.

        In the axes of the link, moments about the origin of its frame; both of shape (..., links, 3, K-1). Without
        inertia they are the static reactions.

        Args:
            Q: As for `inverse`.
            inertia: Whether masses resist acceleration.
            gravity: Whether weight acts.
            payload: Whether the payload acts, where there is one.
        """
        x, K = self._motion(Q, 2, "Reactions need")
        acting = Acting(bool(inertia), bool(gravity), bool(payload) and self.payload is not None, False)
        out = self._run(("reactions", K, acting), K, lambda q: self._rules.reacting(q, K, acting), x)
        both = _restored(out, np.shape(Q)[:-2], (len(self.joints), 6, K - 1))
        f, n = both[..., :3, :], both[..., 3:, :]
        poses = np.stack(link_poses(self.data))
        R, o = np.swapaxes(poses[:, :3, :3], 1, 2), poses[:, :3, 3]
        arm = np.cross(np.broadcast_to(o[:, :, None], f.shape), f, axis=-2)
        return R @ f, R @ (n - arm)

    def mass_matrix(self, q: Any) -> np.ndarray:
        """M(q), of shape (..., n, n).

        Args:
            q: Joint variables, of shape (..., n).
        """
        if np.shape(q)[-1:] != (self.n,):
            raise ModelError(f"The mass matrix needs q of shape (..., {self.n}), a number a joint; got {np.shape(q)}.")
        Q = np.asarray(q)[..., None]
        x, _ = self._motion(Q, 0, "The mass matrix needs")
        return _restored(self._run("mass", 0, self._rules.masses, x), Q.shape[:-2], (self.n, self.n))

    # Motions from forces.

    def forward(self, q: Any, v: Any, tau: Any) -> np.ndarray:
        r"""Accelerations, jerks, snaps, ... from forces and their rates: $M q^{(k+2)} = \tau^{(k)} - h_k$.

        With friction that depends on the load the accelerations are found by Newton's method; every higher derivative
        is linear with the same matrix.

        Args:
            q: Joint variables, of shape (..., n).
            v: Their rates, of the same shape.
            tau: Driving forces and their derivatives in the columns, of shape (..., n, m).

        Returns:
            The motion Q, of shape (..., n, m+2): q, q', q'', ...
        """
        tau = floats(tau, "Driving forces")
        if tau.ndim < 2 or tau.shape[-2] != self.n:
            raise ModelError(
                f"tau needs the shape (..., {self.n}, m): the force of each joint and its derivatives in the columns; "
                f"got {tau.shape}."
            )
        lead, m = tau.shape[:-2], tau.shape[-1]
        if m == 0:
            raise ModelError("tau needs at least one column, the driving forces themselves; got none.")
        columns = np.empty((self.n, m + 2, *((int(np.prod(lead)),) if lead else ())))
        for r, e in enumerate((q, v)):
            try:
                e = np.asarray(e, dtype=float)
                if e.shape[-1:] != (self.n,):
                    raise ValueError
                e = np.broadcast_to(e, tau.shape[:-1]) if e.shape != tau.shape[:-1] else e
            except (TypeError, ValueError):
                raise ModelError(
                    f"q and v need the shape {tau.shape[:-1]} of the forces; got {np.shape(e)} for {'qv'[r]}."
                ) from None
            columns[:, r] = np.moveaxis(e.reshape(-1, self.n), 0, -1) if lead else e
        columns[:, 2:] = np.moveaxis(tau.reshape(-1, self.n, m), 0, -1) if lead else tau
        found = np.moveaxis(columns, -1, 0).reshape((*lead, self.n, m + 2)) if lead else columns
        x, _ = self._motion(found, m + 1, "Forward dynamics needs")
        out = self._run(("forward", m), m + 1, lambda rows: self._rules.forward(rows, m), x)
        columns[:, 2:] = out.reshape(columns[:, 2:].shape)
        found = np.moveaxis(columns, -1, 0).reshape((*lead, self.n, m + 2)) if lead else columns
        return found if self.friction is None or not np.any(self.friction.dry) else self._with_dry(found, tau)

    def _with_dry(self, Q: np.ndarray, tau: np.ndarray) -> np.ndarray:
        """Put load-dependent friction into a motion found without it."""
        lead, n = Q.shape[:-2], self.n
        Q, going, before = Q.copy(), np.ones(lead, dtype=bool), np.full(lead, np.inf)
        for _ in range(50):
            start = np.ascontiguousarray(Q[..., :3])
            slope = _restored(self._run("slope", 2, self._rules.slope, self._motion(start, 2, "")[0]), lead, (n, n))
            miss = tau[..., 0] - self.inverse(start)[..., 0]
            step = np.where(going[..., None], np.linalg.solve(slope, miss[..., None])[..., 0], 0.0)
            Q[..., 2] += step
            size = np.max(np.abs(step), axis=-1) / np.maximum(1.0, np.max(np.abs(Q[..., 2]), axis=-1))
            # Rounding leaves steps that do not shrink any more, the larger the lighter the last links are.
            going &= (size > 1e-13) & ((size > 1e-6) | (size < before / 2))
            before = size
            if not np.any(going):
                break
        else:
            raise ModelError("No accelerations were found with this friction: the joints jam, or mu is too large.")
        for k in range(1, tau.shape[-1]):
            Q[..., k + 2] = 0.0
            miss = tau[..., k] - self.inverse(np.ascontiguousarray(Q[..., : k + 3]))[..., k]
            Q[..., k + 2] = np.linalg.solve(slope, miss[..., None])[..., 0]
        return Q

    # Energies.

    def energy(self, Q: Any, p: int) -> Any:
        r"""$E_A^{(p)} = \tfrac12\sum_i\mathrm{tr}[T_i^{(p+1)}I_{ps,i}T_i^{(p+1)T}]$, acceleration energy of order p.

        p = 0 is kinetic energy, p = 1 the energy of Gibbs and Appell with all its terms.

        Args:
            Q: The motion, at least up to q^(p+1).
            p: The order.
        """
        p = whole("The order p", p, 0)
        x, _ = self._motion(Q, p + 1, f"E_A^({p}) needs", cut=True)
        out = self._run(("energy", p), p + 1, lambda q: self._rules.energy(q, p), x)
        return _restored(out, np.shape(Q)[:-2], ())[()]

    def gradient(self, Q: Any, p: int, r: int) -> np.ndarray:
        r"""$\partial E_A^{(p)}/\partial q^{(r)} = \binom{p+1}{r} S_{p+1,p+1-r}$, of shape (..., n), in O(n).

        Args:
            Q: The motion, at least up to q^(p+1).
            p: Order of the energy.
            r: Order of the derivative of q, from 0 to p + 1.
        """
        p, r = whole("The order p", p, 0), whole("The order r", r, 0)
        if r > p + 1:
            raise ModelError(f"E_A^({p}) contains q ... q^({p + 1}); r must be from 0 to {p + 1}, got {r}.")
        x, _ = self._motion(Q, p + 1, f"E_A^({p}) needs", cut=True)
        out = self._run(("gradient", p, r), p + 1, lambda q: self._rules.gradient(q, p, r), x)
        return _restored(out, np.shape(Q)[:-2], (self.n,))

    def terms(self, Q: Any, p: int) -> dict[str, Any]:
        r"""The expansion of $E_A^{(p)}$: name -> value, one term for each pair of partitions of p + 1.

        `"2|2"` is $\tfrac12\ddot q^TM\ddot q$, `"2|11"` is $\ddot q^TV(\dot q,\dot q)$, `"21|111"` is
        $3D[21|111]$, and so on: coefficients $c_\lambda c_\mu$, and half of it where both are the same.

        Args:
            Q: The motion, at least up to q^(p+1).
            p: Order of the energy.
        """
        p = whole("The order p", p, 0)
        x, _ = self._motion(Q, p + 1, f"E_A^({p}) needs", cut=True)
        names, out = term_names(p), self._run(("terms", p), p + 1, lambda q: self._rules.terms(q, p), x)
        values = _restored(out, np.shape(Q)[:-2], (len(names),))
        return {name: values[..., i][()] for i, name in enumerate(names)}

    def pairing(self, q: Any, left: Sequence[Any], right: Sequence[Any]) -> float:
        r"""$\sum_i\mathrm{tr}[D^sT_i(a_1..a_s)\,I_{ps,i}\,D^rT_i(b_1..b_r)^T]$, (85)-(87).

        With unit vectors these are the entries of M (one direction each), of V (one and two) and of D (two and two).

        Args:
            q: Joint variables.
            left: Directions a_1 ... a_s, each of n numbers.
            right: Directions b_1 ... b_r.
        """
        try:
            listed = [np.asarray(a, dtype=float) for a in (q, *left, *right)]
        except (TypeError, ValueError):
            raise ModelError(f"Directions are lists of lists of {self.n} numbers; got {left!r}, {right!r}.") from None
        for a in listed:
            if a.shape != (self.n,):
                raise ModelError(f"Every direction needs {self.n} numbers, one for each joint; got {a.tolist()}.")
        q = [row[0] for row in self.coupling.rows([[x] for x in listed[0].tolist()])]
        directions = [(self.coupling.matrix @ a).tolist() for a in listed[1:]]
        return float(pairing(self.skeleton, q, directions[: len(left)], directions[len(left) :]))

    # Functions.

    def function(self, K: int) -> ca.Function:
        """tau, tau', ... as a CasADi function of t (not used), Q row by row, and two empty columns.

        Args:
            K: The highest derivative of q.
        """
        acting = self._rules.everything
        return self._machine(("inverse", K, acting), K, lambda q: self._rules.driving(q, K, acting)).function

    def operations(self, K: int = 2) -> int:
        """How many arithmetic operations `inverse` takes for one state.

        Args:
            K: The highest derivative of q.
        """
        return operations(self.function(K))

    def _run(self, key: Any, K: int, rule: Callable[[list[list[ca.SX]]], list[Any]], x: np.ndarray) -> np.ndarray:
        machine = self._machine(key, K, rule)
        if x.shape[1] == 1 and not machine.compiled:
            return machine.flat(0.0, x[:, 0], NOTHING, NOTHING)[:, None]
        return machine.batch(0.0, x, NOTHING, NOTHING)

    def _machine(self, key: Any, K: int, rule: Callable[[list[list[ca.SX]]], list[Any]]) -> Machine:
        """The function of a rule on the letters q ... q^(K) of every joint; made once."""
        whole("K", K, 0)
        if key not in self._machines:
            letters = ca.SX.sym("Q", self.n * (K + 1))
            rows = [[letters[i * (K + 1) + r] for r in range(K + 1)] for i in range(self.n)]
            column = ca.densify(ca.vertcat(*[ca.SX(e) for e in rule(rows)]))
            empty = [ca.SX.sym("t"), letters, ca.SX(0, 1), ca.SX(0, 1)]
            function = ca.Function("dynamics", empty, [column], {"cse": True})
            self._machines[key] = Machine(function, self._simd, self._build)
        return self._machines[key]

    # Arrays.

    def _motion(self, Q: Any, least: int, what: str, cut: bool = False) -> tuple[np.ndarray, int]:
        """Q as columns of states, and its order K."""
        try:
            Q = np.asarray(Q)
            Q = Q.astype(float, casting="unsafe" if Q.dtype == object else "same_kind", copy=False)
        except (TypeError, ValueError):
            raise ModelError(f"{what} numbers of shape (..., {self.n}, K+1); got {Q!r}.") from None
        K = Q.shape[-1] - 1 if Q.ndim else -1
        if Q.ndim < 2 or Q.shape[-2] != self.n or K < least:
            derivatives = ", ".join(["q", "q'", "q''", "q'''"][: least + 1]) + (
                f", ... q^({least})" if least > 3 else ""
            )
            raise ModelError(
                f"{what} {derivatives} of the joints {', '.join(self.names)} in the rows, at least: an array of shape "
                f"(..., {self.n}, {least + 1}); got {Q.shape}."
            )
        if cut and K > least:
            Q, K = Q[..., : least + 1], least
        if not isfinite(np.vdot(Q, Q) if Q.ndim == 2 else Q.sum()) and not np.all(np.isfinite(Q)):
            place = np.argwhere(~np.isfinite(Q))[0]
            raise ModelError(
                f"The derivative of order {place[-1]} of the joint {self.names[place[-2]]!r} is not a finite number."
            )
        if Q.ndim == 2:
            return np.ascontiguousarray(Q).reshape(-1, 1), K
        flat = np.moveaxis(Q.reshape(-1, self.n, K + 1), 0, -1)
        return np.ascontiguousarray(flat).reshape(self.n * (K + 1), -1), K

    def _check_moving(self, Q: Any, K: int) -> None:
        """Derivatives of dry friction without smoothing exist only while a joint moves."""
        assert self.friction is not None
        if self.friction.smoothing is not None or K == 2:
            return
        rates, mu = self.coupling.motion(np.asarray(Q, dtype=float))[..., 1], self.friction.column("dry", self.joints)
        stopped = np.argwhere((rates == 0) & (mu > 0))
        if stopped.size:
            raise ModelError(
                f"The joint {self.joints[stopped[0][-1]]!r} stands still, where dry friction has no derivative; give "
                "Friction(..., smoothing=0.01), or ask without friction."
            )


_UNLOADED = (
    "A joint carries no force across its axis, where friction in proportion to it has no derivative; ask for tau only "
    "(K = 2), or without friction."
)


def _wrench(payload: Any) -> list[list[float]]:
    try:
        given = np.asarray(payload, dtype=float)
    except (TypeError, ValueError):
        given = np.asarray(payload, dtype=object)
    if given.ndim == 2 and given.shape == (2, 3):
        given = given.reshape(6)
    if given.ndim not in (1, 2) or given.shape[0] != 6 or given.dtype == object or not np.all(np.isfinite(given)):
        raise ModelError(
            "A payload is six finite numbers, force and moment of the tool on its surroundings in the tool's axes (or "
            f"an array of shape (6, m) with derivatives in the columns); got {given.tolist()}."
        )
    return given.reshape(6, -1).tolist()


def _restored(out: np.ndarray, lead: tuple[int, ...], shape: tuple[int, ...]) -> np.ndarray:
    if not lead:
        return out.reshape(shape)
    return np.moveaxis(out.reshape((*shape, -1)), -1, 0).reshape((*lead, *shape))
