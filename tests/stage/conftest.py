"""What tests share: systems to sweep and to control, and lanes also where few runs would go one by one."""

import pytest

import appell as ap
from appell.ensemble import plan


@pytest.fixture
def lanes_for_few(monkeypatch):
    """A few runs are enough to test lanes with."""
    monkeypatch.setattr(plan, "FEW", 0)


@pytest.fixture(scope="module")
def pendulums():
    """Lanes as machine code, however few steps they make."""
    return ap.compile(ap.derive(ap.library.pendulum_chain(2)), "heyoka").bind()


@pytest.fixture(scope="module")
def rod():
    """A driven pendulum with an input."""
    theta, tau = ap.coordinates("theta", "rad"), ap.inputs("tau", "N*m")
    m, l, g = ap.parameters("m l g", "kg m m/s^2")
    ground = ap.Frame("ground")
    bob = ap.Particle("bob", m, ground.pin(theta).point(0, -l))
    forces = [ap.Gravity(-g * ground.y), ap.Generalized({theta: tau}, "motor")]
    values = {m: 1.0, l: 1.0, g: 9.81, tau: 0.0}
    return ap.compile(ap.derive(ap.Model(ground, theta, [bob], forces, name="rod", values=values))).bind()


@pytest.fixture
def cart_with_pole():
    """A cart with a pole upright, and a force on the cart alone."""
    x, theta = ap.coordinates("x theta")
    force = ap.inputs("force")
    ground = ap.Frame("ground")
    pole = ground.rotate("y", theta)
    cart = ap.Particle("cart", 1.0, ground.point(x, 0, 0))
    bob = ap.Particle("bob", 0.2, ground.point(x, 0, 0) + 0.5 * pole.z)
    forces = [ap.Gravity(-9.81 * ground.z), ap.Force(force * ground.x, cart)]
    return ap.Model(ground, (x, theta), [cart, bob], forces, name="cart with pole")


@pytest.fixture
def vehicle():
    """A car in the place of its rear axle, driven and steered, with a trailer hitched there."""
    x, y, heading, steer, trailer = ap.coordinates("x y heading steer trailer")
    push, turn = ap.inputs("push turn")
    ground = ap.Frame("ground")
    car = ground.at(ground.point(x, y, 0)).rotate("z", heading)
    front, behind = car.at(car.point(2.5, 0, 0)).rotate("z", steer), car.rotate("z", trailer)
    body = ap.RigidBody("body", 2000, car.point(1.2, 0, 0), car, (0, 0, 2500))
    fork = ap.RigidBody("fork", 60, front.origin, front, (0, 0, 4))
    load = ap.RigidBody("load", 900, behind.point(-2.5, 0, 0), behind, (0, 0, 900))
    axles = [
        ap.Rolling(body, car.origin, along=[car.y], name="rear"),
        ap.Rolling(fork, front.origin, along=[front.y], name="front"),
        ap.Rolling(load, behind.point(-3, 0, 0), along=[behind.y], name="axle"),
    ]
    drives = [ap.Force(push * car.x, body, name="engine"), ap.Torque(turn * ground.z, fork, body, name="steering")]
    return ap.Model(ground, (x, y, heading, steer, trailer), [body, fork, load], drives, axles, name="vehicle")
