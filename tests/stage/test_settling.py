"""Kinks that switch together: the modes in which a motion goes on, against closed forms and Moreau's time stepping."""

import numpy as np
import pytest
import sympy as sp

import appell as ap
from appell.ensemble import plan

METHODS = ["taylor", "dop853", "RK45", "DOP853", "Radau", "BDF", "LSODA"]
SOME = ["taylor", "dop853", "Radau"]
x, y = ap.coordinates("x y")
u = ap.inputs("u")
A = ap.parameters("A")
ground = ap.Frame("ground")
t = ap.t
block = ap.Particle("block", 1.0, ground.point(x, 0))


def run(model, start, until, values=None, **options):
    return ap.simulate(ap.compile(ap.derive(model)).bind(values), start, until=until, **options)


def last(motion):
    return motion.at(motion.times[-1]).array


def stack(force):
    """0.5 kg on 1 kg, friction up to 1 N between them and 3 N below, the lower one driven."""
    lower, upper = ap.Particle("lower", 1.0, ground.point(x, 0)), ap.Particle("upper", 0.5, ground.point(y, 1))
    model = ap.Model(ground, (x, y), [lower, upper], [ap.Force(force * ground.x, lower)])
    model = ap.friction.Coulomb(x, kinetic=3.0).on(model)
    return ap.friction.Coulomb(y.rate - x.rate, kinetic=1.0, name="between").on(model)


def held(over):
    """A block that friction of 1 N holds against (1 + over) sin t."""
    model = ap.Model(ground, x, [block], [ap.Force((1 + over) * sp.sin(t) * ground.x, block)])
    return ap.friction.Coulomb(x, kinetic=1.0).on(model)


def on_a_belt_that_turns():
    belt = sp.Piecewise((0.5, t < 1), (-0.5, True))
    return ap.friction.Coulomb(x.rate - belt, kinetic=1.0).on(ap.Model(ground, x, [block]))


def moreau(masses, rows, friction, force, until, steps):
    """Velocities by M (v+ - v) = h (F + G' s), s in -friction Sgn(G v+), solved row by row (Moreau 1988)."""
    h, q, v, s = until / steps, np.zeros(len(masses)), np.zeros(len(masses)), np.zeros(len(friction))
    W = rows / masses
    D = W @ rows.T
    for k in range(steps):
        free = v + h * force((k + 0.5) * h) / masses
        for _ in range(100):
            before = s.copy()
            for i, most in enumerate(friction):
                slip = rows[i] @ free + h * D[i] @ s
                s[i] = np.clip(s[i] - slip / (h * D[i, i]), -most, most)
            if np.max(np.abs(s - before)) < 1e-13:
                break
        after = free + h * W.T @ s
        q, v = q + h * (v + after) / 2, after
    return np.concatenate([q, v])


STACKS = {"4 sin(t)": (4.0, 1), "3.5 sin(t)": (3.5, 1), "6 sin(2 t)": (6.0, 2), "beyond": (6 + 1e-6, 2)}


@pytest.fixture(scope="module")
def stepped():
    rows = np.array([[1.0, 0.0], [-1.0, 1.0]])
    return {
        name: moreau(
            np.array([1.0, 0.5]), rows, (3.0, 1.0), lambda s, a=a, n=n: np.array([a * np.sin(n * s), 0]), 5, 5000
        )
        for name, (a, n) in STACKS.items()
    }


@pytest.mark.parametrize("method", SOME)
@pytest.mark.parametrize("name", STACKS)
def test_stacked_blocks_that_rub_move_as_by_time_stepping(name, method, stepped):
    amplitude, often = STACKS[name]
    motion = run(stack(amplitude * sp.sin(often * t)), {}, 5.0, method=method)
    np.testing.assert_allclose(last(motion), stepped[name], rtol=0, atol=2e-3)
    check = motion.check()
    assert check.ok
    assert check.work["between"] <= 1e-12


def test_stacked_blocks_that_stick_together_move_as_one():
    """1.5 kg from sin t = 3/4 on until 4 sin t - 3 has braked them, and so on: closed form of the first slip."""
    begin = np.arcsin(0.75)
    motion = run(stack(4 * sp.sin(t)), {}, 2.0)
    v = (4 * (np.cos(begin) - np.cos(2.0)) - 3 * (2.0 - begin)) / 1.5
    np.testing.assert_allclose(last(motion)[2:], [v, v], rtol=1e-12, atol=0)


@pytest.mark.parametrize("method", METHODS)
def test_what_sticks_to_a_belt_that_turns_at_once_slips_until_it_moves_with_it(method):
    """0.5 up to t = 1, then braked by 1 N: x' = -0.5 from t = 2 on."""
    motion = run(on_a_belt_that_turns(), {x.rate: 0.5}, 3.0, method=method)
    np.testing.assert_allclose(last(motion), [0, -0.5], rtol=0, atol=1e-8)
    assert motion.check().ok


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("over", [0.0, 1e-14, 1e-10, 1e-9, 1e-8, 1e-6, 1e-3])
def test_a_slip_ends_however_short_it_is(over, method):
    """Each half period lasts a slip of some sqrt(over) seconds; those to the two sides are equal."""
    np.testing.assert_allclose(last(run(held(over), {}, 4 * np.pi, method=method)), 0, rtol=0, atol=1e-8)


@pytest.mark.parametrize("machine", ["casadi", "heyoka"])
def test_lanes_settle_as_single_runs_do(machine, monkeypatch, stepped):
    if machine == "heyoka":
        pytest.importorskip("heyoka")
    monkeypatch.setattr(plan, "FEW", 0)

    def ends(model, rows, until):
        system = ap.compile(ap.derive(model), machine).bind({A: 1.0} if A in model.parameters else None)
        study = ap.sweep(system, rows, until=until, points=2, progress=False)
        assert study["lane"].values.all()
        return np.array([study[name].values[:, -1] for name in study.info["columns"]]).T

    slow = ends(stack(A * sp.sin(t)), {"A": [4.0, 3.5]}, 5.0)
    np.testing.assert_allclose(slow, [stepped["4 sin(t)"], stepped["3.5 sin(t)"]], rtol=0, atol=2e-3)
    quick = ends(stack(A * sp.sin(2 * t)), {"A": [6.0, 6 + 1e-6]}, 5.0)
    np.testing.assert_allclose(quick, [stepped["6 sin(2 t)"], stepped["beyond"]], rtol=0, atol=2e-3)
    turned = ends(on_a_belt_that_turns(), {"x.rate": [0.5, 0.4]}, 3.0)
    np.testing.assert_allclose(turned, [[0, -0.5], [-0.005, -0.5]], rtol=0, atol=1e-8)
    brief = ends(held(A), {"A": [0.0, 1e-14, 1e-10, 1e-8, 1e-6, 1e-3]}, 12.0)
    np.testing.assert_allclose(brief, 0, rtol=0, atol=1e-8)


def test_three_contacts_on_two_blocks_hold_what_they_can():
    """Both blocks rub on the ground and on each other: which force holds is open, the motion is not."""
    bodies = [ap.Particle("one", 1.0, ground.point(x, 0)), ap.Particle("other", 1.0, ground.point(y, 0))]
    model = ap.Model(ground, (x, y), bodies, [ap.Generalized({x: 2 * sp.sin(t)})])
    for name, slip in (("one", x.rate), ("other", y.rate), ("between", y.rate - x.rate)):
        model = ap.friction.Coulomb(slip, kinetic=0.75, name=name).on(model)
    rows = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 1.0]])
    stepped = moreau(np.ones(2), rows, (0.75,) * 3, lambda s: np.array([2 * np.sin(s), 0]), 5, 5000)
    np.testing.assert_allclose(last(run(model, {}, 5.0)), stepped, rtol=0, atol=2e-3)


@pytest.mark.parametrize("drift", [0.0, 0.5, -0.9])
def test_kinks_that_chase_each_other_slide_together(drift):
    """From the origin a' = sign b + drift, b' = -sign a goes nowhere: no two signs agree, the modes 0, -drift do."""
    a, b = ap.states("a b")
    model = ap.Model(ground, x, [block], states={a: sp.sign(b) + drift, b: -sp.sign(a)})
    motion = run(model, {}, 2.0)
    np.testing.assert_allclose(last(motion), 0, rtol=0, atol=1e-12)


def test_the_side_of_a_held_input_is_looked_at_when_it_jumps():
    model = ap.Model(ground, x, [block], [ap.Generalized({x: sp.Max(u, 0)})])
    for sign, expected in ((1, [1.5, 1]), (-1, [0.5, 1])):
        motion = run(model, {}, 2.0, control=lambda s, _, sign=sign: sign if s < 0.95 else -sign, rate=10.0)
        np.testing.assert_allclose(last(motion), expected, rtol=0, atol=1e-9)


def test_what_sticks_to_a_held_belt_is_torn_off_when_it_turns():
    model = ap.Model(ground, x, [block], [ap.Generalized({x: -sp.sign(x.rate - u)})])
    motion = run(model, {x.rate: 0.5}, 3.0, control=lambda s, _: 0.5 if s < 0.95 else -0.5, rate=10.0)
    np.testing.assert_allclose(last(motion), [0, -0.5], rtol=0, atol=1e-9)


@pytest.mark.parametrize("method", SOME)
def test_what_sticks_to_a_driven_part_that_turns_a_corner_is_torn_off(method):
    cart = ap.Particle("cart", 1.0, ground.point(y, 0))
    model = ap.Model(ground, (y, x), [cart, block], [], [ap.Prescribed(y, (1 - sp.Abs(t - 1)) / 2, "drive")])
    motion = run(
        ap.friction.Coulomb(x.rate - y.rate, kinetic=1.0).on(model), {x.rate: 0.5, y.rate: 0.5}, 3.0, method=method
    )
    np.testing.assert_allclose([motion.at(3.0)["x"], motion.at(3.0)["x.rate"]], [0, -0.5], rtol=0, atol=1e-9)


SIZES = [1.0, 1e-6, 1e-9, 1e-10]


def one_sided():
    return ap.Model(ground, x, [block], [ap.Force((-x + 100 * sp.Max(0, -x)) * ground.x, block)]), {x: A}


def slow_belt():
    model = ap.Model(ground, x, [block], [ap.Force(-x * ground.x, block)])
    return ap.friction.Coulomb(x.rate - A / 2, kinetic=A).on(model), {}


@pytest.mark.parametrize("method", ["dop853", "DOP853"])
@pytest.mark.parametrize("case", [one_sided, slow_belt])
def test_kinks_do_not_depend_on_units(case, method):
    model, start = case()
    values = [{A: size} if A in model.parameters else None for size in SIZES]
    ends = [
        last(run(model, dict.fromkeys(start, size), 7.0, v, method=method, rtol=1e-9, atol=1e-10 * size)) / size
        for size, v in zip(SIZES, values, strict=True)
    ]
    np.testing.assert_allclose(ends, np.tile(ends[0], (len(SIZES), 1)), rtol=1e-6, atol=1e-7)


def test_kinks_in_lanes_do_not_depend_on_units(monkeypatch):
    monkeypatch.setattr(plan, "FEW", 0)
    for case, column in ((one_sided, "x"), (slow_belt, "A")):
        model, _ = case()
        system = ap.compile(ap.derive(model)).bind({A: 1.0} if A in model.parameters else None)
        study = ap.sweep(system, {column: SIZES}, until=7.0, points=2, rtol=1e-10, atol=1e-21, progress=False)
        ends = study["x"].values[:, -1] / SIZES
        np.testing.assert_allclose(ends, ends[0], rtol=1e-6, atol=0)


@pytest.mark.parametrize("method", ["taylor", "dop853"])
def test_friction_that_takes_over_from_other_friction_at_rest_is_no_event(method):
    """Floor and neighbour hold a block together; which of them holds how much nobody knows, and nothing slips."""
    if method == "taylor":
        pytest.importorskip("heyoka")
    x, y = ap.coordinates("x y")
    ground = ap.Frame("ground")
    blocks = [ap.Particle(q.name, 1.0, ground.point(q, 0)) for q in (x, y)]
    model = ap.Model(ground, (x, y), blocks, [ap.Generalized({x: 3 * sp.sin(ap.t)})])
    for slip in (x, y, x.rate - y.rate):
        model = ap.friction.Coulomb(slip, 2.0, name=f"at {slip}").on(model)
    motion = ap.simulate(ap.compile(ap.derive(model)), {}, until=6.0, method=method)
    assert not motion.occurrences
    assert not motion.states([6.0])[0].any()
