"""Verify: every pair of formulations, at states on the constraints; and it notices when one of them is wrong."""

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest
import sympy as sp

import appell as ap
from appell.errors import FormulationError, ModelError


@pytest.mark.parametrize("name", ap.library.names())
def test_library_models_agree(name):
    found = ap.verify(ap.library.model(name), states=3)
    assert found.ok
    assert found.worst < 1e-10
    assert found.states == 3
    assert found.residual < 1e-9
    assert len(found.pairs) >= 1


def test_every_pair_is_there_and_printed():
    found = ap.verify(ap.library.rolling_disk(), states=2)
    names = {name for pair in found.pairs for name in pair}
    assert {"Gibbs-Appell", "Voronets", "Lagrange multipliers", "Udwadia-Kalaba"} <= names
    assert len(found.pairs) == len(names) * (len(names) - 1) // 2
    assert "rolling disk: 2 random consistent states" in repr(found)
    assert "all agree: worst" in repr(found)


def test_nonlinear_models_leave_out_what_does_not_accept_them():
    found = ap.verify(ap.library.appell_hamel(), states=2)
    assert "Voronets" not in {name for pair in found.pairs for name in pair}
    assert found.ok


def test_quasi_velocities_of_the_user_are_compared_too():
    model = ap.library.rolling_disk()
    (disk,) = model.bodies
    speeds = dict(zip(ap.speeds("w1 w2 w3"), disk.frame.components(disk.angular_velocity), strict=True))
    found = ap.verify(model, ap.GibbsAppell(speeds=speeds), states=2)
    assert any("w1, w2, w3" in name for pair in found.pairs for name in pair)
    assert found.ok


def test_several_formulations_of_the_user_are_compared():
    sleigh = ap.library.chaplygin_sleigh()
    own = [ap.GibbsAppell(), ap.GibbsAppell(dependent=["x"]), ap.Voronets(dependent=["x"]), ap.Voronets(dependent="x")]
    found = ap.verify(sleigh, *own, states=2)
    names = [name for name in found.formulations if "(y'" in name]
    assert [name.split(" (")[0] for name in names] == ["Gibbs-Appell", "Voronets", "Voronets"]
    assert names[2] == f"{names[1]} no. 2"
    assert found.ok


def test_a_wrong_formulation_is_found_out(monkeypatch):
    """Voronets without its nonholonomic terms is Lagrange's equation misapplied: smooth, plausible and wrong."""
    original = ap.Voronets.derive

    def without_theta(self, mechanics, split):
        equations = original(self, mechanics, split)
        extra = 0.01 * ca.sin(mechanics.variables.q[0]) * ca.SX.ones(equations.b.shape)
        return replace(equations, right=equations.b + extra)

    monkeypatch.setattr(ap.Voronets, "derive", without_theta)
    found = ap.verify(ap.library.snakeboard(), states=3)
    assert not found.ok
    assert "DISAGREEMENT" in repr(found)
    wrong = {pair for pair, value in found.pairs.items() if value > 1e-6}
    assert wrong
    assert all("Voronets" in pair for pair in wrong)


def test_the_seed_decides():
    model = ap.library.four_bar()
    one, again, other = (ap.verify(model, states=2, seed=s) for s in (1, 1, 2))
    assert one.pairs == again.pairs
    assert one.pairs != other.pairs


def test_values_are_heeded():
    """A model without suggested numbers takes random ones; given ones are taken as they are."""
    x = ap.coordinates("x")
    m, k = ap.parameters("m k")
    ground = ap.Frame()
    model = ap.Model(ground, x, [ap.Particle("p", m, ground.point(x, 0))], [ap.Generalized({x: -k * x})])
    assert ap.verify(model, states=2).ok
    assert ap.verify(model, states=2, values={m: 2.0, "k": 1e6}).ok
    with pytest.raises(ModelError, match="'mm' is not a parameter or input of 'model'"):
        ap.verify(model, values={"mm": 1.0})


def under(force, mass=1, values=None):
    """A point on a line."""
    x, c = ap.coordinates("x"), ap.parameters("c")
    ground = ap.Frame()
    point = ap.Particle("p", mass, ground.point(x, 0))
    return ap.Model(ground, x, [point], [ap.Generalized({x: force(x, c)})], values={c: 1.0, **(values or {})})


def test_nothing_is_proved_where_no_number_is_finite():
    found = ap.verify(under(lambda x, c: sp.log(-c - x**2)), states=4)
    assert not found.ok
    assert found.states == 0
    assert np.isnan(found.worst)
    assert found.pairs == {}
    assert "at 20 random states accelerations are not finite: a force" in repr(found)
    assert "NOTHING COMPARED: none of 20 random states gave finite accelerations" in repr(found)
    assert "all agree" not in found._repr_html_().lower()


def test_states_outside_the_domain_of_a_root_are_left_out_and_counted():
    found = ap.verify(under(lambda x, c: c * sp.sqrt(x)))
    (count,) = found.left_out.values()
    assert found.ok
    assert found.states == 20
    assert count > 5
    assert f"at {count} random states accelerations are not finite: a force" in repr(found)
    few = ap.verify(under(lambda x, c: c * sp.sqrt(x - 0.95)))
    assert 0 < few.states < 20
    assert not few.ok
    assert "TOO LITTLE COMPARED" in repr(few)


@pytest.mark.parametrize("links", [2, 30])
def test_a_singular_mass_matrix_is_no_agreement(links):
    found = ap.verify(ap.library.pendulum_chain(links), values={"l": 0.0}, states=2)
    assert not found.ok
    assert "the mass matrix is singular" in repr(found)


def test_a_rod_that_may_spin_about_itself_has_no_inertia_there():
    """Rounding leaves 1e-16 of it, by which formulations differ as they like; no fault of theirs."""
    ground = ap.Frame("ground")
    e = ap.coordinates("e0 e1 e2 e3")
    rod = ap.RigidBody("rod", 1, (frame := ground.spherical(*e)).point(0.4, 0), frame, (0, 0.05, 0.05))
    model = ap.Model(ground, e, [rod], [ap.Gravity(-9.81 * ground.z)], start={"e0": 0.5, "e1": -0.5, "e2": 0.1})
    found = ap.verify(model, states=4)
    assert found.states == 0
    assert "the mass matrix is singular; e0, e1, e2, e3 have no inertia" in repr(found)


def test_what_has_no_inertia_at_all_is_named_beside_a_row():
    """A coordinate in no equation: the pattern of the matrix is singular, not only its numbers."""
    ground = ap.Frame("ground")
    *e, idle = ap.coordinates("e0 e1 e2 e3 idle")
    body = ap.RigidBody("body", 1, (frame := ground.spherical(*e)).point(0.4, 0), frame, (0.1, 0.2, 0.2))
    axle = ap.Particle("axle", 1, frame.pin(idle, at=(0.1, 0, 0)).point(0, 0, 0.1))
    model = ap.Model(ground, (*e, idle), [body, axle], start={"e0": 1.0})
    assert "the mass matrix is singular; idle has no inertia" in repr(ap.verify(model, states=2))
    for formulation in (ap.Multipliers(), ap.GPME(), ap.GibbsAppell()):
        motion = ap.simulate(ap.compile(ap.derive(model, formulation)).bind(), until=0.1)
        assert motion.outcome is ap.Outcome.SINGULAR, motion.detail


def test_rounding_is_not_blamed_on_the_formulations_where_masses_are_far_apart():
    """A weight a metre off on a frame whose own inertia is a ten-millionth of what it then has."""
    ground = ap.Frame("ground")
    x, y, turn, u, v = ap.coordinates("x y turn u v")
    frame = ground.planar(x, y, turn)
    plate = ap.RigidBody("plate", 1, frame.origin, frame, (0, 0, 1e-7))
    model = ap.Model(ground, (x, y, turn, u, v), [plate, ap.Particle("weight", 1.6, frame.point(u, v))])
    found = ap.verify(model)
    assert found.ok, found
    assert 1e-15 < found.rounding < 1e-6


def test_a_formulation_without_numbers_is_named(monkeypatch):
    original = ap.Voronets.derive

    def broken(self, mechanics, split):
        equations = original(self, mechanics, split)
        return replace(equations, right=equations.b + ca.SX(np.nan))

    monkeypatch.setattr(ap.Voronets, "derive", broken)
    found = ap.verify(ap.library.snakeboard(), states=2)
    assert not found.ok
    assert "accelerations are not finite: Voronets alone has no finite value" in repr(found)


def test_impossible_numbers_are_refused_as_by_a_run():
    with pytest.raises(ModelError, match=r"The mass of 'disk' is m = -1 with these values; it must be positive"):
        ap.verify(ap.library.rolling_disk(), values={"m": -1.0})
    with pytest.raises(ModelError, match="'m' must be a finite number, got nan"):
        ap.verify(ap.library.rolling_disk(), values={"m": np.nan})
    with pytest.raises(ModelError, match="states must be a whole number, 1 or more; got 0"):
        ap.verify(ap.library.rolling_disk(), states=0)


def test_what_cannot_be_verified_says_why():
    x, y = ap.coordinates("x y")
    ground = ap.Frame()
    bob = ap.Particle("bob", 1, ground.point(x, y))
    fixed = ap.Model(ground, (x, y), [bob], (), [ap.Holonomic(x - 1), ap.Holonomic(y)], name="fixed")
    with pytest.raises(FormulationError, match="'fixed' is over-constrained"):
        ap.verify(fixed)


def test_states_are_on_the_constraints():
    found = ap.verify(ap.library.bricard(), states=3)
    assert np.isfinite(found.residual)
    assert found.residual < 1e-9


def test_a_particle_without_forces_moves_straight_on_by_every_formulation():
    x, ground = ap.coordinates("x"), ap.Frame("ground")
    found = ap.verify(ap.Model(ground, x, [ap.Particle("ball", 2, ground.point(x))]))
    assert found.ok
    assert found.worst == 0.0


@pytest.mark.parametrize("seed", range(6))
def test_states_next_to_forks_are_not_blamed_on_the_formulations(seed):
    """A plate on three equal parallel cranks: where these stand upright another way to move begins."""
    ground = ap.Frame("ground")
    letters = x, y, phi, *turns = ap.coordinates("x y phi a b c")
    plate = ground.planar(x, y, phi)
    bodies, rows = [ap.RigidBody("plate", 2, plate.origin, plate, (0, 0, 0.5))], []
    for place, turn in zip((0.0, 1.3, 2.0), turns, strict=True):
        pivot, rod = ground.point(place, 0), ground.rotate("z", turn)
        bodies.append(ap.RigidBody(f"crank {turn}", 1, pivot + 0.5 * rod.x, rod, (0, 0, 0.1)))
        rows.append(ap.Holonomic(pivot + rod.x - plate.origin - place * plate.x, f"joint {turn}"))
    start = {x: np.cos(0.7), y: np.sin(0.7), **dict.fromkeys(turns, 0.7)}
    model = ap.Model(ground, letters, bodies, [ap.Gravity(-9.81 * ground.y)], rows, start=start)
    assert ap.verify(model, seed=seed).ok


def test_what_depends_on_time_is_compared_at_other_times_than_zero(monkeypatch):
    """A drive 0.1 sin(3 t) has no acceleration at t = 0: whoever forgets it is right there and nowhere else."""
    s, ground = ap.coordinates("s"), ap.Frame()
    model = ap.Model(ground, s, [ap.Particle("p", 2, ground.point(s + sp.sin(3 * ap.t) / 10, 0))], name="driven")
    assert ap.verify(model, states=3).ok
    original = ap.Voronets.derive

    def forgetful(self, mechanics, split):
        equations, t = original(self, mechanics, split), mechanics.variables.t
        return replace(equations, right=equations.b - ca.sin(3 * t))

    monkeypatch.setattr(ap.Voronets, "derive", forgetful)
    assert not ap.verify(model, states=3).ok


@pytest.mark.parametrize("row", [(), (ap.Holonomic(ap.coordinates("r") - sp.sqrt(1 - ap.t), "rope"),)])
def test_times_at_which_a_model_says_nothing_are_avoided(row):
    """A suggested run of 10 s, of which a root leaves 1 s."""
    r, s, ground = *ap.coordinates("r s"), ap.Frame()
    bob = ap.Particle("bob", 1 + sp.sqrt(1 - ap.t), ground.point(r, s))
    model = ap.Model(ground, (r, s), [bob], [ap.Stream(bob, -ground.y)], row)
    assert ap.verify(model).ok
