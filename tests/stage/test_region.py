"""Regions of attraction: runs that come back, and the level set that vouches for them."""

import numpy as np
import pytest

import appell as ap
from appell.errors import ModelError


@pytest.fixture(scope="module")
def pendulum():
    """A pendulum held upright, in redundant coordinates, with a torque that is too weak to swing it up."""
    x, y = ap.coordinates("x y")
    f = ap.inputs("f")
    ground = ap.Frame("ground")
    place = ground.point(x, y)
    model = ap.Model(
        ground, (x, y), [ap.Particle("bob", 1, place)], [ap.Gravity(-9.81 * ground.y), ap.Force(f * ground.x, place)],
        [ap.Holonomic(x**2 + y**2 - 1, "rod")], start={x: 0.0, y: 1.0},
    )  # fmt: skip
    rest = next(e for e in ap.equilibrium(model, {"x": 0.0}).branches if e["y"] > 0)
    return ap.control.lqr(ap.linearize(rest, dependent=["y"]), [10, 1], 0.1)


def test_level_set_and_runs_agree(pendulum):
    region = ap.ensemble.region_of_attraction(
        pendulum, {"x": 0.6, "x.rate": 2.0}, runs=120, samples=400, progress=False
    )
    assert region.level > 0
    assert region.vouched(region.starts).sum() > 5
    assert np.all(region.converged[region.vouched(region.starts)])


def test_a_weak_motor_attracts_less(pendulum):
    box = {"x": 0.8, "x.rate": 3.0}
    strong = ap.ensemble.region_of_attraction(pendulum, box, runs=100, grid=True, samples=300, progress=False)
    weak = ap.ensemble.region_of_attraction(
        pendulum.saturated({"f": 3.0}), box, runs=100, grid=True, samples=300, progress=False
    )
    assert strong.starts.shape == (100, 2)
    assert weak.converged.sum() < strong.converged.sum()
    assert weak.level < strong.level
    assert weak.reasons["came to rest elsewhere"] > 0  # it hangs down, where x = 0 as well
    assert np.all(weak.converged[weak.vouched(weak.starts)])


def test_the_picture_is_drawn(pendulum, tmp_path):
    region = ap.ensemble.region_of_attraction(pendulum, {"x": 0.3, "x.rate": 1.0}, runs=16, samples=50, progress=False)
    (panel,) = region.plot(tmp_path / "region.png").panels
    assert panel.x.startswith("deviation of x")
    assert panel.y.startswith("deviation of x'")
    assert sum(line.x.size for line in panel.items if line.points) == 16
    assert (tmp_path / "region.png").stat().st_size > 5000
    assert "16 starts" in repr(region)


def test_bad_boxes_are_refused(pendulum):
    for box, message in (({"y": 0.1}, "not a state"), ({"x": -1.0}, "positive"), ({}, "at least one")):
        with pytest.raises(ModelError, match=message):
            ap.ensemble.region_of_attraction(pendulum, box, runs=2)


def test_the_split_of_the_linearisation_may_be_any():
    rest = ap.equilibrium(ap.library.slider_crank(), {"theta": 0.9})
    for dependent, state in ((["phi", "x_s"], "theta"), (["theta", "phi"], "x_s"), (["theta", "x_s"], "phi")):
        feedback = ap.control.lqr(ap.linearize(rest, dependent=dependent))
        region = ap.ensemble.region_of_attraction(feedback, {state: 1e-3}, runs=4, samples=20, progress=False)
        assert region.level > 0
        assert np.all(region.converged)


def test_runs_that_are_gone_are_not_followed(cart_with_pole):
    """A pole that falls under linear gains spins ever faster: runs to the end would take hours."""
    lin = ap.linearize(ap.equilibrium(cart_with_pole, {"x": 0, "theta": 0}))
    feedback = ap.control.lqr(lin, {"x": 1, "theta": 10}, 0.1)
    region = ap.ensemble.region_of_attraction(feedback, {"theta": 1.4, "theta.rate": 6}, runs=60, samples=200)
    assert region.reasons == {"came back": region.converged.sum(), "went far out": 60 - region.converged.sum()}
    for kind in (True, False):
        for k in np.flatnonzero(region.converged == kind)[:3]:
            start = feedback.start(dict(zip(region.names, region.starts[k], strict=True)))
            motion = ap.simulate(feedback.system, start, until=region.until, max_steps=3000)
            assert (motion.times[-1] == region.until and abs(motion.columns["theta"][-1]) < 1e-2) == kind


def test_a_weak_drive_takes_longer_than_the_slowest_root():
    """It can stop the cart from anywhere: in the first 14 s 5 of 40 come back, and of those ten times as weak none."""
    x, f = ap.coordinates("x"), ap.inputs("f")
    ground = ap.Frame("ground")
    cart = ap.Model(ground, x, [ap.Particle("cart", 1, ground.point(x, 0))], [ap.Generalized({x: f})], name="cart")
    feedback = ap.control.lqr(ap.linearize(ap.equilibrium(cart, {"x": 0})))
    for limit in (0.1, 0.01):
        region = ap.ensemble.region_of_attraction(feedback.saturated(limit), {x: 10}, runs=40, samples=20)
        assert region.share == 1


def test_runs_that_circle_are_given_up(cart_with_pole):
    """A pole that fell swings on beside a cart that a weak drive cannot hold: no length of run says more."""
    lin = ap.linearize(ap.equilibrium(cart_with_pole, {"x": 0, "theta": 0}))
    feedback = ap.control.lqr(lin, {"x": 1, "theta": 10}, 0.1).saturated(2.0)
    region = ap.ensemble.region_of_attraction(feedback, {"theta": 1.0}, runs=30, samples=20)
    assert 0 < region.converged.sum() < 30
    assert region.reasons["were still away"] + region.reasons.get("went far out", 0) == 30 - region.converged.sum()
    assert region.until < 16 * 12 / -max(feedback.roots.real)
