"""Moving a state back onto its constraints: one function where it arrives, least squares where it does not."""

import numpy as np
import pytest

import appell as ap
from appell.code.code import Code
from appell.motion.projection import GOOD, Projection

MODELS = ["four-bar", "spherical-pendulum", "slider-crank", "five-bar"]


def off(system, seed):
    """A state on the constraints, and one a little beside it."""
    x = system.to_x(system.consistent(near=system.model.start))
    return x, x + 1e-7 * np.random.default_rng(seed).normal(size=x.size)


def worst(system, x):
    mechanics = system.equations.mechanics
    n = len(mechanics.model.coordinates)
    return float(np.max(np.abs(np.array(mechanics.functions["position"](0.0, x[:n], system.p)[0]))))


@pytest.fixture(scope="module", params=MODELS)
def system(request):
    return ap.compile(ap.derive(ap.library.model(request.param))).bind()


def test_both_ways_lead_to_the_same_place(system):
    fast, slow = (Projection(system.code, system.p) for _ in range(2))
    assert fast.settle is not None
    slow.settle = None
    for seed in range(3):
        _, beside = off(system, seed)
        one, other = beside.copy(), beside.copy()
        assert fast(0.0, one)
        assert slow(0.0, other)
        assert worst(system, one) <= 2 * GOOD * max(1.0, np.max(np.abs(one)))
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-12)
        assert np.max(np.abs(one - beside)) < 1e-5


def test_what_is_on_the_constraints_stays_as_it_is(system):
    projection = Projection(system.code, system.p)
    x, beside = off(system, 0)
    projection(0.0, x)
    kept = x.copy()
    assert not projection(0.0, x)
    np.testing.assert_array_equal(x, kept)
    assert projection(0.0, beside)


def test_where_the_function_does_not_arrive_least_squares_do():
    """Where a cylinder touches its tangent plane the two rows are dependent: J J' is singular."""
    r, s, z = ap.coordinates("r s z")
    ground = ap.Frame("ground")
    bead = ap.Particle("bead", 1, ground.point(r, s, z))
    rows = [ap.Holonomic(r**2 + s**2 - 1, name="cylinder"), ap.Holonomic(r - 1, name="plane")]
    model = ap.Model(ground, (r, s, z), [bead], [ap.Force(ground.z, bead)], rows)
    projection = Projection(Code(ap.derive(model, ap.UdwadiaKalaba())), np.zeros(0))
    x = np.array([1.0 + 3e-8, 0.0, 0.5, 0.0, 0.0, 1.0])
    assert projection(0.0, x)
    np.testing.assert_allclose(x, [1, 0, 0.5, 0, 0, 1], rtol=0, atol=1e-13)


def test_speeds_that_are_the_rates_are_not_computed_again():
    chain = ap.compile(ap.derive(ap.library.pendulum_chain(2))).bind()
    disk = ap.compile(ap.derive(ap.library.model("rolling-disk"))).bind()
    assert chain.code.direct
    assert not disk.code.direct
    motion = ap.simulate(chain, {"q1": 1.0}, 1.0, points=5)
    for t, row in zip(motion.times, motion.states(motion.times), strict=True):
        x = np.concatenate([row[:2], row[2:4]])
        np.testing.assert_array_equal(chain.code.rates.flat(t, x, chain.w, chain.p), row[2:4])


def test_without_rows_there_is_nothing_to_keep():
    """Formulations that keep all rates have redundant speeds, but no rows to put them on."""
    system = ap.compile(ap.derive(ap.library.pendulum_chain(2), ap.UdwadiaKalaba())).bind()
    projection = Projection(system.code, system.p)
    assert not projection.active
    assert not projection(0.0, np.ones(4))
