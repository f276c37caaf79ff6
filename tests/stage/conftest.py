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
