"""Products of letters, sines and cosines are found from numbers, and nothing else is taken for one."""

import casadi as ca
import numpy as np
import pytest

from appell.graph.products import in_products

u, q, p = (ca.SX.sym(name, 2) for name in "uqp")
a, b = q[0], q[1]
m, r = p[0], p[1]


def scattered(count):
    random = np.random.default_rng(1)
    return [random.uniform(0.3, 3.0, (count, 2)) * random.choice((-1.0, 1.0), (count, 2)) for _ in range(2)]


def written(*entries):
    return in_products(ca.vertcat(*entries), u, [q, p], scattered)


def operations(column):
    return ca.Function("f", [u, q, p], [ca.cse(column)]).n_instructions()


def test_what_cancels_is_gone():
    long = r * (ca.sin(a) ** 2 + ca.cos(a) ** 2) * u[0] + (m * r * ca.sin(b) / m - r * ca.sin(b)) * u[1]
    assert operations(written(long)) == operations(r * u[0])


def test_sines_of_differences_and_quotients_are_found():
    long = (ca.sin(a) * ca.cos(b) - ca.cos(a) * ca.sin(b)) * m / (r * (ca.sin(b) ** 2 + ca.cos(b) ** 2)) * u[0]
    short = written(long)
    assert operations(short) < operations(long)
    both = ca.Function("both", [u, q, p], [long, short])
    for point in zip(*scattered(5), strict=True):
        one, other = both([0.7, -0.4], *point)
        assert float(one) == pytest.approx(float(other), rel=1e-13)


@pytest.mark.parametrize("root", [ca.sqrt(ca.sin(a) ** 2), ca.sqrt(ca.cos(a) ** 2), ca.sqrt(r**2), ca.fabs(a)])
def test_a_root_of_a_square_is_not_its_base(root):
    long = root * (ca.sin(b) ** 2 + ca.cos(b) ** 2) * u[0]
    assert written(long) is long or operations(written(long)) == operations(long)


def test_a_sum_of_two_products_stays():
    long = (m + r) * u[0]
    assert ca.is_equal(written(long), long, 5)
