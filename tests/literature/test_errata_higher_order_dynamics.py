"""Errata of Negrean et al. 2025, energies, forces and theorems: proofs in exact rational arithmetic where it can be.

Angles have rational sines and cosines (3-4-5 and its like), everything else is a fraction, and the derivative by
q_j^(m) is the coefficient of epsilon when q_j(t) becomes q_j(t) + epsilon t^m/m!. Two sides of an identity are equal or
they are not: there are no tolerances.
"""

from fractions import Fraction as F
from functools import cache
from math import comb, factorial

import numpy as np
import pytest
import sympy as sp
from numpy.testing import assert_allclose

import appell as ap
from appell.graph.series import from_derivatives, to_derivatives
from appell.higher_order import Dynamics, catalan, unified
from appell.kinematics.joint_frames import skeleton_of
from appell.kinematics.newton_euler import inverse
from appell.kinematics.skeleton import Joint, Skeleton
from appell.kinematics.skeleton_energies import Sums, energy_series, pairing


class Dual:
    """a + b epsilon with epsilon^2 = 0."""

    def __init__(self, a, b=0):
        self.a, self.b = F(a), F(b)

    def __add__(self, other):
        other = other if isinstance(other, Dual) else Dual(other)
        return Dual(self.a + other.a, self.b + other.b)

    def __mul__(self, other):
        other = other if isinstance(other, Dual) else Dual(other)
        return Dual(self.a * other.a, self.a * other.b + self.b * other.a)

    def __neg__(self):
        return Dual(-self.a, -self.b)

    def __sub__(self, other):
        return self + -(other if isinstance(other, Dual) else Dual(other))

    def __rsub__(self, other):
        return -self + other

    def __truediv__(self, number):
        return Dual(self.a / number, self.b / number)

    __radd__, __rmul__ = __add__, __mul__


class Angle:
    """An angle known by its sine and cosine, moved by b epsilon."""

    def __init__(self, s, c, b=None):
        self.s, self.c, self.b = s, c, b

    def sin(self):
        return self.s if self.b is None else Dual(self.s, self.c * self.b)

    def cos(self):
        return self.c if self.b is None else Dual(self.c, -self.s * self.b)


def exact(chain):
    """The joint frames of a chain in fractions; gravity takes no part."""
    skeleton = skeleton_of(chain.symbolic, "abc")
    values = {s: sp.Rational(str(chain.values[s.label])) for s in chain.parameters}

    def fraction(e):
        if isinstance(e, list | tuple):
            return [fraction(x) for x in e]
        number = sp.nsimplify(sp.sympify(e).subs(values), rational=True)
        return F(int(number.p), int(number.q))

    joints = [
        Joint(
            name=j.name,
            parent=j.parent,
            turns=j.turns,
            advance=int(j.advance),
            E=fraction(j.E),
            r=fraction(j.r),
            mass=fraction(j.mass),
            h=fraction(j.h),
            planar=fraction(j.planar),
        )
        for j in skeleton.joints
    ]
    return Skeleton(tuple(joints), [0, 0, 0], (0, (), ()))


RATES = [
    [F(-9, 10), F(13, 10), F(-11, 5), F(3), F(-4), F(5, 2), F(1, 3), F(-2), F(7, 5), F(1, 2), F(2)],
    [F(4, 5), F(-17, 10), F(12, 5), F(-3, 5), F(11, 2), F(-1), F(3, 4), F(2, 7), F(-1, 2), F(3), F(-1)],
    [F(1, 2), F(-2, 5), F(8, 5), F(-14, 5), F(33, 10), F(2), F(-5, 6), F(1, 4), F(1), F(-1), F(1, 5)],
]
ANGLES = [Angle(F(3, 5), F(4, 5)), Angle(F(-5, 13), F(12, 13)), F(7, 20)]
ARMS = {name: exact(getattr(ap.library, name)()) for name in ("planar_2r", "rrp_arm")}


def series(arm, moved=None, order=0):
    rows = [[angle, *rates] for angle, rates in zip(ANGLES, RATES, strict=True)][: len(ARMS[arm].joints)]
    found = []
    for j, row in enumerate(rows):
        coefficients = [row[0], *from_derivatives([0, *row[1:]])[1:]]
        if j == moved:
            if order == 0 and isinstance(row[0], Angle):
                coefficients[0] = Angle(row[0].s, row[0].c, F(1))
            else:
                coefficients[order] = Dual(coefficients[order], F(1, factorial(order)))
        found.append(coefficients)
    return found


@cache
def gradient(arm, p, derivative, r):
    """d [E_A^(p)]^(derivative) / d q_j^(r) for every j."""
    found = []
    for j in range(len(ARMS[arm].joints)):
        value = energy_series(ARMS[arm], series(arm, j, r), p, derivative + 1)[derivative]
        found.append(factorial(derivative) * (value.b if isinstance(value, Dual) else F(0)))
    return found


@cache
def force(arm, k):
    """Q^(k-1) by Newton and Euler's recursion."""
    rows = inverse(ARMS[arm], [x[: k + 2] for x in series(arm)], gravity=False)
    return [to_derivatives(row)[k - 1] for row in rows]


def combined(*terms):
    """The sum of coefficient times column."""
    return [sum((c * column[j] for c, column in terms), F(0)) for j in range(len(terms[0][1]))]


# The unified equation.


@pytest.mark.parametrize(("arm", "k", "m"), [("planar_2r", 1, 2), ("planar_2r", 2, 3), ("planar_2r", 2, 5),
    ("planar_2r", 3, 4), ("planar_2r", 4, 5), ("planar_2r", 5, 6), ("rrp_arm", 1, 3), ("rrp_arm", 2, 3),
    ("rrp_arm", 3, 4), ("rrp_arm", 4, 5)])  # fmt: skip
def test_e140_the_coefficients_are_catalan_numbers(arm, k, m):
    factor = F(factorial(k - 1) * factorial(m), factorial(m + k - 1))
    terms = [(factor * catalan(p), gradient(arm, p, m + k - 2 * p - 1, m)) for p in range(1, k + 1)]
    assert combined(*terms) == force(arm, k)
    assert [float(factor * catalan(p)) for p in range(1, k + 1)] == pytest.approx([c for _, _, c in unified(k, m)])


@pytest.mark.parametrize("k", [1, 2, 3, 4])
def test_e140_as_printed_holds_up_to_the_third_order_only(k):
    """printed - true = -5 3! m!/(m+3)! dE4/dq^(5) at k = 4."""
    m, arm = k + 1, "planar_2r"
    factor = F(factorial(k - 1) * factorial(m), factorial(m + k - 1))
    printed = [p * (p + 1) // 2 - (p > 1) for p in range(1, k + 1)]
    found = combined(*[(factor * c, gradient(arm, p, m + k - 2 * p - 1, m)) for p, c in enumerate(printed, 1)])
    if k < 4:
        assert found == force(arm, k)
    else:
        assert printed == [1, 2, 5, 9]
        gap = [-5 * factor * x for x in gradient(arm, 4, 0, 5)]
        assert [a - b for a, b in zip(found, force(arm, k), strict=True)] == gap
        assert any(gap)


def _weights(k, m, p):
    """d [E_A^(p)]^(m+k-2p-1)/dq^(m) in the sums S_{a,b}, written as x^a y^b; a time derivative multiplies by x + y."""
    x, y = sp.symbols("x y")
    N, total = m + k - 2 * p - 1, 0
    for i in range(max(0, m - p - 1), min(N, m) + 1):
        total += comb(N, i) * comb(p + 1, m - i) * x ** (p + 1) * y ** (p + 1 - m + i) * (x + y) ** (N - i)
    return sp.Poly(sp.expand(total), x, y)


@pytest.mark.parametrize("k", [2, 3, 4, 5, 6])
def test_e140_catalan_numbers_are_the_only_ones_and_need_m_above_k(k):
    x, y = sp.symbols("x y")
    target = sp.Poly(sp.expand((x + y) ** (k - 1) * x**2), x, y)
    for m in (k, k + 1, k + 3):
        columns = [_weights(k, m, p) for p in range(1, k + 1) if m + k - 2 * p - 1 >= 0]
        powers = sorted({power for e in (*columns, target) for power in e.monoms()})
        matrix = sp.Matrix([[e.coeff_monomial(power) for e in columns] for power in powers])
        right = sp.Matrix([target.coeff_monomial(power) for power in powers])
        if m == k:
            assert matrix.row_join(right).rank() > matrix.rank()
            continue
        assert matrix.rank() == k
        factor = sp.Rational(factorial(k - 1) * factorial(m), factorial(m + k - 1))
        assert matrix * sp.Matrix([factor * catalan(p) for p in range(1, k + 1)]) == right


# The kinetic-energy form and the chain of (136).


@pytest.mark.parametrize("arm", ["planar_2r", "rrp_arm"])
@pytest.mark.parametrize(("k", "m"), [(1, 1), (1, 2), (1, 4), (2, 1), (2, 2), (3, 2), (4, 3)])
def test_e136_kinetic_energy_form(arm, k, m):
    raised, lower = gradient(arm, 0, m + k - 1, m), gradient(arm, 0, k - 1, 0)
    true = combined((F(1, comb(m + k - 1, m - 1)), raised), (-F(comb(m + k, m), comb(m + k - 1, m - 1)), lower))
    assert true == force(arm, k)
    printed = combined((F(1, m), raised), (-F(m + 1, m), lower))
    assert (printed == force(arm, k)) == (k == 1)


@pytest.mark.parametrize("k", [1, 2, 3, 4])
def test_e136_the_lines_are_not_equal_for_one_k(k):
    """The second is true for k = 1 only, the third for k = 2 only, and the last needs other exponents and k = 3."""
    arm, m = "planar_2r", 6

    def term(p, exponent, c):
        zero = [F(0)] * len(force(arm, k))
        return c, gradient(arm, p, exponent, m) if exponent >= 0 else zero

    second = combined(term(1, m + k - 3, F(1)))
    third = combined(*(term(p, e, F(c, m + 1)) for p, e, c in ((2, m + k - 5, 2), (1, m + k - 3, 1))))
    factor = F(2, (m + 1) * (m + 2))
    printed = combined(
        *(term(p, e, c * factor) for p, e, c in ((3, m + k - 5, 5), (2, m + k - 3, 2), (1, m + k - 1, 1)))
    )
    right = combined(*(term(p, e, c * factor) for p, e, c in ((3, m + k - 7, 5), (2, m + k - 5, 2), (1, m + k - 3, 1))))
    assert (second == force(arm, k)) == (k == 1)
    assert (third == force(arm, k)) == (k == 2)
    assert printed != force(arm, k)
    assert (right == force(arm, k)) == (k == 3)


@pytest.mark.parametrize("arm", ["planar_2r", "rrp_arm"])
def test_short_forms(arm):
    g = lambda p, r, derivative=0: gradient(arm, p, derivative, r)  # noqa: E731
    assert g(1, 2) == force(arm, 1)
    assert combined((1, g(2, 3)), (F(1, 2), g(1, 1))) == force(arm, 2)
    assert combined((F(2, 3), g(2, 3)), (F(1, 3), g(1, 2, 1))) == force(arm, 2)
    assert combined((1, g(3, 4)), (F(2, 3), g(2, 2)), (1, g(1, 0))) == force(arm, 3)
    assert combined((1, g(4, 5)), (F(3, 4), g(3, 3)), (F(2, 3), g(2, 1)), (1, g(1, 0, 1))) == force(arm, 4)


@pytest.mark.parametrize("arm", ["planar_2r", "rrp_arm"])
def test_gradients_and_forces_by_sums(arm):
    """dE_A^(p)/dq^(r) = C(p+1, r) S_{p+1, p+1-r}, and (133): Leibniz's rule, of order k - 1, with F^(k-m)."""
    rows = [[angle, *rates] for angle, rates in zip(ANGLES, RATES, strict=True)][: len(ARMS[arm].joints)]
    sums = Sums(ARMS[arm], rows)
    for p in range(4):
        for r in range(p + 2):
            assert sums.gradient(p, r) == gradient(arm, p, 0, r)
    for k in range(1, 5):
        assert sums.force(k) == force(arm, k)


# Expansions.


def test_e83_half_of_the_last_term():
    """One hinge: E1 = (J + m a^2)(q''^2 + q'^4)/2; as printed it has q'^4 whole."""
    m, a, J = 2.0, 0.3, 0.05
    arm = Dynamics(ap.Chain([ap.Joint("z", mass=m, center=(a, 0, 0), inertia=(0.01, 0.05, J))]))
    Q, moment = [[0.4, 1.5, -0.7]], J + m * a**2
    terms = arm.terms(Q, 1)
    assert_allclose(terms["11|11"], moment * 1.5**4 / 2, rtol=1e-14, atol=0)
    assert_allclose(arm.energy(Q, 1), moment * (0.7**2 + 1.5**4) / 2, rtol=1e-14, atol=0)
    printed = terms["2|2"] + terms["2|11"] + 2 * terms["11|11"]
    assert_allclose(printed - arm.energy(Q, 1), moment * 1.5**4 / 2, rtol=1e-13, atol=0)


def test_e88_the_last_term_is_of_higher_order_matrices():
    """As a polynomial in q' the last term of E2 is not D[11|11] times anything."""
    v = list(sp.symbols("v1 v2"))
    arm = ARMS["planar_2r"]
    rational = lambda e: sp.Rational(e.numerator, e.denominator)  # noqa: E731
    plain = Skeleton(
        tuple(
            Joint(
                name=j.name,
                parent=j.parent,
                turns=1,
                advance=0,
                E=j.E,
                r=[rational(e) for e in j.r],
                mass=rational(j.mass),
                h=[rational(e) for e in j.h],
                planar=[[rational(e) for e in row] for row in j.planar],
            )
            for j in arm.joints
        ),
        [0, 0, 0],
        (0, (), ()),
    )
    q = [sp.atan2(3, 4), sp.atan2(-5, 12)]
    second = sp.Poly(sp.expand(sp.nsimplify(pairing(plain, q, [v, v], [v, v]))), *v)
    third = sp.Poly(sp.expand(sp.nsimplify(pairing(plain, q, [v, v, v], [v, v, v]))), *v)
    assert second.total_degree() == 4
    assert third.total_degree() == 6
    assert not sp.rem(third, second).is_zero


def test_e93_the_head_has_the_derivative_of_order_p_plus_one():
    arm = Dynamics(ap.library.rrp_arm())
    Q = np.random.default_rng(1).normal(size=(3, 6))
    M = arm.mass_matrix(Q[:, 0])
    for p in (1, 2, 3, 4):
        top = Q[:, p + 1]
        assert_allclose(arm.terms(Q, p)[f"{p + 1}|{p + 1}"], top @ M @ top / 2, rtol=1e-12, atol=0)


def test_e82_needs_the_cross_term():
    """E1 about the origins of the link frames: m |p''|^2/2 + tr[R'' I_p R''^T]/2 + m p''.R'' r_C."""
    chain = ap.library.rrp_arm()
    Q = np.array([[0.4, -0.9, 1.3], [-0.6, 0.8, -1.7], [0.35, 0.5, -0.4]])
    data = chain.numbers()
    T = data.poses(Q)[2]
    R, p = T[:, :3, :3], T[:, :3, 3]
    mass, first, second = data.pseudo[:, 3, 3], data.pseudo[:, :3, 3], data.pseudo[:, :3, :3]
    printed = sum(mass[i] * p[i] @ p[i] + np.trace(R[i] @ second[i] @ R[i].T) for i in range(3)) / 2
    cross = sum(p[i] @ R[i] @ first[i] for i in range(3))
    assert_allclose(printed + cross, 1.63229483647406, rtol=1e-12, atol=0)
    assert abs(cross) > 0.01


# Forces.


def wrenches(chain, Q, of):
    """J_i, and for each joint the force and the moment about the tool point of what it carries."""
    data = chain.numbers()
    T = data.poses(Q)
    J = data.jacobian(Q)[0]
    centers = [(T[k] @ data.pseudo[..., 3:] / data.pseudo[:, 3:, 3:])[:, :3, 0] for k in (0, 2)]
    p = (T[0, -1] @ data.tool)[:3, 3]
    F_, N_ = [], []
    for i in range(data.n):
        mass = data.pseudo[i, 3, 3]
        pull = mass * (centers[1][i] if of == "inertia" else -data.gravity)
        F_.append(pull)
        N_.append(np.cross(centers[0][i] - p, pull))
        if of == "inertia":
            w, R = data.poses(Q)[1][i][:3, :3] @ T[0, i][:3, :3].T, T[0, i][:3, :3]
            second = data.pseudo[i, :3, :3] - mass * np.outer(*[data.pseudo[i, :3, 3] / mass] * 2)
            turned = T[2, i][:3, :3] @ second @ R.T
            N_[-1] = N_[-1] + np.array(
                [turned[2, 1] - turned[1, 2], turned[0, 2] - turned[2, 0], turned[1, 0] - turned[0, 1]]
            )
            assert_allclose(w, -w.T, rtol=0, atol=1e-12)
    carried = [[j for j in range(data.n) if i in data.paths[j]] for i in range(data.n)]
    return J, [(sum(F_[j] for j in c), sum(N_[j] for j in c)) for c in carried], data.revolute


@pytest.mark.parametrize("of", ["gravity", "inertia"])
def test_e110_e126_no_factors_before_the_force_and_the_moment(of):
    """The column of the Jacobian selects by itself; with (1 - Delta) and Delta the second joint gets another force."""
    chain = ap.library.rrp_arm()
    Q = np.array([[0.4, -0.9, 1.3], [-0.6, 0.8, -1.7], [0.35, 0.5, -0.4]])
    J, loads, turns = wrenches(chain, Q, of)
    true = [J[:3, i] @ f + J[3:, i] @ n for i, (f, n) in enumerate(loads)]
    printed = [
        J[:3, i] @ f * (1 - d) + J[3:, i] @ n * d for i, ((f, n), d) in enumerate(zip(loads, turns, strict=True))
    ]
    wanted = Dynamics(chain).forces(Q)[of][:, 0]
    assert_allclose(true, wanted, rtol=1e-12, atol=1e-12)
    assert abs(printed[1] - wanted[1]) > 0.1


def test_e94_e95_e118_the_payload_operator():
    """(-1)^D (1 - D)/(1 + 3 D) is 1, 1, 0 for D = -1, 0, 1; with 1 + D in the denominator it divides by zero."""
    right = [F((-1) ** abs(D) * (1 - D), 1 + 3 * D) for D in (-1, 0, 1)]
    assert right == [1, 1, 0]
    with pytest.raises(ZeroDivisionError):
        F((-1) ** 1 * 2, 1 - 1)


def test_e116_e97_signs_and_transposes():
    """Q_SU = J'F, and Q_g added is -M g0: lifting costs force."""
    chain = ap.library.rrp_arm()
    load = (-6, 3, 10, 0.2, 0.9, -0.4)
    Q = np.array([[0.4, -0.9, 1.3], [-0.6, 0.8, -1.7], [0.35, 0.5, -0.4]])
    R = chain.pose(Q[:, 0])[:3, :3]
    F_ = np.concatenate([R @ load[:3], R @ load[3:]])
    found = Dynamics(chain, load).forces(Q)
    assert_allclose(found["payload"][:, 0], chain.jacobian(Q[:, 0]).T @ F_, rtol=1e-12, atol=1e-12)
    h = 1e-6
    data = chain.numbers()

    def potential(q):
        centers = data.poses(q[:, None])[0] @ data.pseudo[..., 3:]
        return -sum(data.gravity @ c[:3, 0] for c in centers)

    slope = [(potential(Q[:, 0] + h * e) - potential(Q[:, 0] - h * e)) / (2 * h) for e in np.eye(3)]
    assert_allclose(found["gravity"][:, 0], slope, rtol=1e-7, atol=1e-7)


def test_e117_e131_joint_forces():
    """f_i is a 3-vector in the axes of link i that carries weight and inertia of a revolute joint too."""
    chain = ap.library.rrp_arm()
    Q = np.array([[0.4, -0.9, 1.3], [-0.6, 0.8, -1.7], [0.35, 0.5, -0.4]])
    data = chain.numbers()
    _, inertia, _ = wrenches(chain, Q, "inertia")
    _, weight, _ = wrenches(chain, Q, "gravity")
    poses = data.poses(Q)[0]
    f = Dynamics(chain).reactions(Q)[0][..., 0]
    for i in range(3):
        assert_allclose(f[i], poses[i, :3, :3].T @ (inertia[i][0] + weight[i][0]), rtol=1e-11, atol=1e-11)


def test_e133_to_e135_e141_derivatives_by_leibniz():
    """Q^(k-1) = sum_m C(k-1, m-1) [J^(m-1)]' F^(k-m), for the payload in the ground's axes."""
    chain = ap.library.rrp_arm()
    load = np.array([-6, 3, 10, 0.2, 0.9, -0.4])
    Q = np.random.default_rng(3).normal(size=(3, 6))
    data = chain.numbers()
    J, T = data.jacobian(Q), data.poses(Q)[:, -1]
    R = T[:, :3, :3]
    F_ = np.stack([np.concatenate([r @ load[:3], r @ load[3:]]) for r in R])
    found = Dynamics(chain, load).forces(Q)["payload"]
    for k in range(1, 5):
        total = sum(comb(k - 1, m - 1) * J[m - 1].T @ F_[k - m] for m in range(1, k + 1))
        assert_allclose(found[:, k - 1], total, rtol=1e-11, atol=1e-11)


def test_e86_starting_the_sum_earlier_is_harmless():
    """A_ki = 0 for k < i: the link before a joint does not feel it."""
    data = ap.library.rrp_arm().numbers()
    assert not data.differential(np.ones((3, 1)), 0, [1]).any()
