"""Certificates: every kind of verdict, zero roots counted, and the motion off the constraints that they foretell."""

import numpy as np
import pytest
import scipy.integrate
import sympy as sp

import appell as ap
from appell.errors import ControlError


def oscillators(stiffness, damping=(0, 0), gyro=0.0, circulating=0.0):
    """Two unit masses with given stiffness, damping, gyroscopic and circulatory coupling."""
    x, y = ap.coordinates("x y")
    ground = ap.Frame("ground")
    forces = {
        x: -damping[0] * x.rate + gyro * y.rate - circulating * y,
        y: -damping[1] * y.rate - gyro * x.rate + circulating * x,
    }
    return ap.Model(
        ground, (x, y), [ap.Particle("body", 1, ground.point(x, y))],
        [ap.Potential(stiffness[0] * x**2 / 2 + stiffness[1] * y**2 / 2), ap.Generalized(forces)],
    )  # fmt: skip


@pytest.mark.parametrize(
    ("model", "verdict", "remark"),
    [
        (oscillators((1, 2)), "LYAPUNOV", "nothing dissipates"),
        (oscillators((1, 2), (0.1, 0.1)), "ASYMPTOTIC", "dissipation is complete: asymptotically"),
        (oscillators((1, 2), (0.1, 0)), "LYAPUNOV", "dissipation acts on some"),
        (oscillators((-1, 2), (0.1, 0.1)), "UNSTABLE", "no gyroscopic forces can stabilise"),
        (oscillators((-1, 2), gyro=5.0), "UNSTABLE", "odd number"),
        (oscillators((-1, -2), gyro=5.0), "CRITICAL", "gyroscopic stabilisation"),
        (oscillators((-1, -2), (0.01, 0.01), gyro=5.0), "UNSTABLE", "no gyroscopic forces can stabilise"),
        (oscillators((1, 1), circulating=0.5), "UNSTABLE", "Circulatory"),
    ],
)
def test_kelvin_tait_and_chetaev(model, verdict, remark):
    proof = ap.stability(ap.equilibrium(model))
    assert proof.verdict.name == verdict
    assert remark in proof.forces.remark
    assert proof.zeros == proof.zeros_found == 0


@pytest.mark.parametrize("fast", [1e2, 1e6, 1e8])
def test_what_is_slow_beside_what_is_fast_is_held_as_well(fast):
    """A libration of a thousandth of a radian a second is no family of places, however stiff something else is."""
    model = oscillators((fast, 1e-6), (np.sqrt(fast), 1e-3))
    proof = ap.stability(ap.equilibrium(model))
    assert proof.verdict.name == "ASYMPTOTIC"
    loose = ap.stability(ap.equilibrium(oscillators((fast, 0), (np.sqrt(fast), 1e-3))))
    assert loose.verdict.name == "FAMILY"


def test_a_flat_potential_is_critical():
    x = ap.coordinates("x")
    ground = ap.Frame("ground")
    body = ap.Particle("body", 1, ground.point(x, 0))
    model = ap.Model(ground, x, [body], [ap.Potential(x**4), ap.Generalized({x: -x.rate})])
    proof = ap.stability(model, ap.compile(ap.derive(model)).bind().state({}))
    assert proof.verdict.name == "CRITICAL"
    assert proof.stable is None


def cart(friction=0.0):
    """A pendulum below a cart that nothing holds in place: the cart's position is cyclic."""
    x, angle = ap.coordinates("x angle")
    ground = ap.Frame("ground")
    place = ground.point(x, 0)
    arm = ground.rotate("z", angle)
    force = ap.Generalized({x: -friction * x.rate, angle: -0.1 * angle.rate})
    bodies = [ap.Particle("cart", 2, place), ap.Particle("bob", 1, place - 0.5 * arm.y)]
    return ap.Model(ground, (x, angle), bodies, [ap.Gravity(-9.81 * ground.y), force])


def test_a_free_cyclic_coordinate_drifts_and_can_be_ignored():
    model = cart()
    at = ap.compile(ap.derive(model)).bind().state({})
    drifting = ap.stability(model, at)
    assert drifting.verdict.name == "UNSTABLE"
    assert "ignore=['x']" in drifting.sentence
    proof = ap.stability(ap.linearize(model, at, ignore=["x"]))
    assert proof.verdict.name == "FAMILY"
    assert proof.momentum_zeros == ("x",)
    assert proof.zeros == proof.zeros_found == 1


def test_friction_turns_the_momentum_into_a_family_of_places():
    model = cart(friction=0.5)
    proof = ap.stability(model, ap.compile(ap.derive(model)).bind().state({}))
    assert proof.verdict.name == "FAMILY"
    assert (proof.momentum_zeros, proof.family_zeros, proof.zeros_found) == ((), 1, 1)


def chain(*forces):
    """Three masses on a line, springs between them and to nothing else."""
    x = ap.coordinates("x1 x2 x3")
    ground = ap.Frame("ground")
    masses = [ap.Particle(f"mass {i}", i + 1, ground.point(e, 0)) for i, e in enumerate(x)]
    springs = ap.Potential(50 * (x[1] - x[0] - 1) ** 2 + 80 * (x[2] - x[1] - 1) ** 2)
    slips = x[0].rate - x[1].rate, x[1].rate - x[2].rate
    inner = ap.Generalized({x[0]: -2 * slips[0], x[1]: 2 * slips[0] - 2 * slips[1], x[2]: 2 * slips[1]})
    return ap.Model(ground, x, masses, [springs, inner, *forces], name="chain", start={"x2": 1.0, "x3": 2.0})


def test_a_free_chain_drifts_as_a_rigid_body():
    proof = ap.stability(ap.equilibrium(chain()))
    assert proof.verdict.name == "UNSTABLE"
    assert "nothing holds x1 + x2 + x3, a rigid-body motion: after the smallest push" in proof.sentence
    assert "all else decays" in proof.sentence
    assert (proof.momentum_zeros, proof.family_zeros, proof.zeros_found) == (("x1 + x2 + x3",), 1, 2)
    assert np.all(proof.roots.real < -0.5)


def test_what_brakes_one_mass_ends_the_drift_of_all():
    x1 = ap.coordinates("x1")
    proof = ap.stability(ap.equilibrium(chain(ap.Generalized({x1: -x1.rate}))))
    assert (proof.verdict.name, proof.momentum_zeros, proof.family_zeros) == ("FAMILY", (), 1)
    slowly = ap.stability(ap.equilibrium(chain(ap.Generalized({x1: -(x1.rate**3)}))))
    assert slowly.verdict.name == "CRITICAL"  # the brake is seen by no linear term, and no drift goes on for ever


def test_a_feedback_that_feels_only_distances_lets_a_chain_drift():
    x, u = ap.coordinates("x1 x2 x3"), ap.inputs("u")
    lin = ap.linearize(ap.equilibrium(chain(ap.Generalized({x[0]: u, x[2]: -u})), {"x1": 0.0}))
    K = [[3.0, 0.0, -3.0, 1.0, 0.0, -1.0]]
    for rate in (None, 50):
        proof = ap.stability(lin, gains=K, rate=rate)
        assert (proof.verdict.name, proof.momentum_zeros) == ("UNSTABLE", ("x1 + x2 + x3",))
        assert "nothing holds x1 + x2 + x3" in proof.sentence
    held = ap.stability(lin, gains=[[3.0, 0.0, -2.0, 1.0, 0.0, -1.0]])
    assert "nothing holds" not in held.sentence


def test_a_free_rod_moves_and_turns():
    """Two masses in a plane at a constant distance: zero roots of both displacements, and of the turn."""
    q = ap.coordinates("a1 b1 a2 b2")
    ground = ap.Frame("ground")
    masses = [ap.Particle("one", 1, ground.point(q[0], q[1])), ap.Particle("two", 1, ground.point(q[2], q[3]))]
    rod = ap.Holonomic((q[0] - q[2]) ** 2 + (q[1] - q[3]) ** 2 - 1, "rod")
    proof = ap.stability(ap.equilibrium(ap.Model(ground, q, masses, [], [rod], start={"a2": 1.0})))
    assert proof.momentum_zeros == ("a1 + a2", "b1 + b2")
    assert "nothing holds a1 + a2, b1 + b2" in proof.sentence
    assert "zero roots are of motions along b1 - b2, to other equilibria" in proof.sentence


def test_a_folded_arm_without_weight_drifts_though_no_turn_of_it_is_steady():
    """Its momentum stays; the elbow would open in any steady turn."""
    one, two = ap.coordinates("one two")
    ground = ap.Frame("ground")
    upper = ground.rotate("z", one)
    lower = upper.rotate("z", two)
    elbow = upper.point(0.5, 0)
    bodies = [
        ap.RigidBody("upper", 1, upper.point(0.25, 0), upper, [0, 0, 0.02]),
        ap.RigidBody("lower", 1, elbow + 0.25 * lower.x, lower, [0, 0, 0.02]),
    ]
    rest = ap.equilibrium(ap.Model(ground, (one, two), bodies, name="arm"), {"two": 1.0})
    proof = ap.stability(rest)
    assert (proof.verdict.name, proof.momentum_zeros) == ("UNSTABLE", ("one",))
    assert "nothing holds one" in proof.sentence


def test_two_wheels_with_a_clutch_keep_their_common_momentum():
    turn = ap.coordinates("f1 f2")
    ground = ap.Frame("ground")
    wheels = [
        ap.RigidBody(f, 1, ground.point(0, 0), ground.rotate("z", q), [1, 1, 2])
        for f, q in zip("ab", turn, strict=True)
    ]
    slip = turn[0].rate - turn[1].rate
    clutch = ap.Generalized({turn[0]: -0.3 * slip, turn[1]: 0.3 * slip})
    rest = ap.equilibrium(ap.Model(ground, turn, wheels, [clutch], name="clutch"))
    proof = ap.stability(rest)
    assert (proof.momentum_zeros, proof.family_zeros, proof.zeros_found) == (("f1 + f2",), 2, 3)
    aside = ap.stability(ap.linearize(rest, ignore=["f1", "f2"]))
    assert aside.verdict.name == "FAMILY"
    assert "The equilibrium of 'clutch', f1, f2 left aside, is" in aside.sentence


def test_rolling_at_rest_has_a_family_of_equilibria():
    proof = ap.stability(ap.equilibrium(ap.library.differential_drive(), {"x": 0.0}))
    assert proof.verdict.name == "FAMILY"
    assert proof.zeros_found == proof.family_zeros == 5  # five coordinates, none of which anything depends on


def test_gains_of_the_wrong_shape_are_refused():
    lin = ap.linearize(ap.equilibrium(ap.library.slider_crank(), {"theta": 1.0}))
    with pytest.raises(ControlError, match=r"K has shape \(1, 3\)"):
        ap.stability(lin, gains=[1.0, 2.0, 3.0])


def test_the_distance_to_instability_is_a_distance():
    lin = ap.linearize(ap.equilibrium(ap.library.slider_crank(), {"theta": 1.4}))
    proof = ap.stability(lin)
    for seed in range(20):
        change = np.random.default_rng(seed).normal(size=lin.A.shape)
        change *= 0.999 * proof.distance / np.linalg.norm(change, 2)
        assert np.max(np.linalg.eigvals(lin.A + change).real) < 0


def test_off_the_constraint_the_motion_tends_to_another_equilibrium():
    """The first integral F = c stays and the closed loop ends elsewhere (theory page shulgin, erratum 10)."""
    system = ap.compile(ap.derive(ap.library.ball_and_beam(), ap.Shulgin(dependent=[ap.coordinates("alpha")])))
    rest = ap.equilibrium(system.bind({"beta": -0.05}), {"xi": 0.2})
    lin = ap.linearize(rest, dependent=["alpha"])
    feedback = ap.control.lqr(lin, [1, 200, 0.01, 10], 50)
    closed = feedback.system
    names = [s.label for s in closed.equations.states]
    x = closed.to_x(rest.state)
    x[names.index("alpha")] += 0.002

    def F(x):
        q = [x[names.index(s.label)] for s in closed.model.coordinates]
        return float(closed.equations.mechanics.functions["position"](0.0, q, closed.p)[0])

    first = F(x)
    assert first == pytest.approx(1.75834e-4, rel=1e-5)
    run = scipy.integrate.solve_ivp(closed.rhs, (0, 15), x, method="DOP853", rtol=1e-12, atol=1e-13)
    end = run.y[:, -1]
    assert F(end) == pytest.approx(first, rel=0, abs=1e-13)
    moved = [end[names.index(s)] - rest[s] for s in ("theta", "xi")]
    np.testing.assert_allclose(moved, [-0.0234589496, -0.0026600641], rtol=1e-7, atol=0)
    blocks = lin.blocks
    stiff = blocks.a + blocks.h @ blocks.B0 - blocks.V @ feedback.K[:, :2]
    foretold = -np.linalg.solve(stiff, blocks.h @ [0.002])
    np.testing.assert_allclose(foretold, [-0.02366840, -0.00266827], rtol=1e-6, atol=0)


def test_a_symbolic_law_is_the_feedback():
    lin = ap.linearize(ap.equilibrium(ap.library.slider_crank(), {"theta": 1.0}), dependent=["phi", "x_s"])
    feedback = ap.control.lqr(lin, 1.0, 1.0)
    ((tau, law),) = feedback.laws.items()
    theta = lin.model.coordinates[0]
    assert str(tau) == "tau"
    assert law.atoms(sp.Symbol) == {theta, theta.rate}
    assert float(sp.diff(law, theta)) == pytest.approx(-feedback.K[0, 0], rel=1e-14)
    assert float(law.subs({theta: 1.0, theta.rate: 0.0})) == pytest.approx(lin.at["tau"], rel=1e-14)


def test_the_weight_of_a_turning_body_is_conservative():
    """Weight acts through velocities and V through places: that they cancel shows in numbers only."""
    psi, theta, phi = ap.coordinates("psi theta phi")
    ground = ap.Frame("ground")
    frame = ground.rotate("z", psi).rotate("x", theta).rotate("z", phi)
    top = ap.RigidBody("top", 0.5, 0.1 * frame.z, frame, (0.015, 0.015, 0.005))
    model = ap.Model(ground, (psi, theta, phi), [top], [ap.Gravity(-9.81 * ground.z)], start={theta: 0.6})
    A, C, n, theta_0 = 0.02, 0.005, 60.0, 0.6
    slow = float(np.min(np.roots([A * np.cos(theta_0), -C * n, 0.5 * 9.81 * 0.1])))
    wish = {"psi.rate": slow, "phi.rate": n - slow * np.cos(theta_0)}
    proof = ap.stability(ap.equilibrium(model, wish, guess={"theta": theta_0}))
    assert proof.verdict.name == "LYAPUNOV"
    assert proof.momentum_zeros == ("psi", "phi")


@pytest.mark.parametrize(
    ("forces", "verdict"),
    [
        (lambda x, y: {x: -2 * x + y, y: x - 3 * y}, "LYAPUNOV"),
        (lambda x, y: {x: -2 * x + 3 * y * x**2 - x.rate, y: x**3 - 3 * y}, "LYAPUNOV"),
        (lambda x, y: {x: -2 * x, y: -3 * y + x**2}, "CRITICAL"),  # no potential, though none shows at rest
        (lambda x, y: {x: -2 * x * (1 + x.rate**2), y: -3 * y}, "CRITICAL"),
    ],
)
def test_springs_that_are_written_as_forces_have_an_energy_too(forces, verdict):
    x, y = ap.coordinates("x y")
    ground = ap.Frame("ground")
    body = ap.Particle("body", 1, ground.point(x, y))
    model = ap.Model(ground, (x, y), [body], [ap.Generalized(forces(x, y))])
    assert ap.stability(ap.equilibrium(model, guess={x: 0.0, y: 0.0}, starts=1)).verdict.name == verdict


def test_the_column_of_two_links_buckles_at_its_load():
    """k = l = 1: the straight column is stable below P = (3 - sqrt 5)/2."""
    a, b = ap.coordinates("a b")
    ground = ap.Frame("ground")
    upper = ground.point(sp.cos(a), sp.sin(a))
    joints = [ap.Particle("1", 1, upper), ap.Particle("2", 1, upper + ground.point(sp.cos(b), sp.sin(b)))]
    verdicts = []
    for load in (0.38, 0.3820):
        energy = a**2 / 2 + (b - a) ** 2 / 2 + load * (sp.cos(a) + sp.cos(b))
        model = ap.Model(ground, (a, b), joints, [ap.Potential(energy)])
        verdicts.append(ap.stability(ap.equilibrium(model, starts=1)).verdict.name)
    assert verdicts == ["LYAPUNOV", "UNSTABLE"]


def test_kinds_of_force_are_named_only_where_the_momenta_stay():
    """A governor whose engine answers to its sleeve: Routh's function is no judge of it, the roots are."""
    x, z, psi = ap.coordinates("x z psi")
    drive = ap.inputs("drive")
    m, length, g, J, b, k, w = 0.5, 0.3, 9.81, 0.2, 0.8, 3.0, 7.0
    ground = ap.Frame("ground")
    arms = ground.rotate("z", psi)
    balls = [ap.Particle(f"ball {i}", m, ground.point(0, 0, z) + side * x * arms.x) for i, side in enumerate((1, -1))]
    shaft = ap.RigidBody("shaft", 1.0, ground.point(0, 0, 0), arms, [0, 0, J])
    engine = ap.Generalized({z: -b * z.rate, psi: drive + k * z})
    model = ap.Model(
        ground, (x, z, psi), [*balls, shaft], [ap.Gravity(-g * ground.z), engine],
        constraints=[ap.Holonomic([x**2 + z**2 - length**2], "arm")], start={x: 0.2, z: -0.2},
    )  # fmt: skip
    steady = ap.equilibrium(model, {psi.rate: w}, starts=5)
    proof = ap.stability(steady)
    c = g / (length * w**2)
    s = np.sqrt(1 - c**2)
    inertia = J + 2 * m * (length * s) ** 2
    by_hand = np.array([
        [0, 1, 0],
        [(c**2 - s**2) * w**2 - g / length * c, -b * s**2 / (2 * m), 2 * s * c * w],
        [k * length * s / inertia, -4 * m * length**2 * s * c * w / inertia, 0],
    ])  # fmt: skip
    expected = np.sort_complex(np.linalg.eigvals(by_hand))
    np.testing.assert_allclose(np.sort_complex(proof.roots), expected, rtol=1e-9, atol=0)
    assert proof.verdict.name == "UNSTABLE"
    assert proof.forces is None


@pytest.mark.parametrize("order", ["zyx", "xyz", "quaternion"])
def test_a_free_cube_held_in_its_place_may_turn_as_it_likes(order):
    """Its angular velocity stays as it is, three zero roots in whatever angles, and all else comes to rest."""
    ground = ap.Frame("ground")
    places = ap.coordinates("x y z", "m")
    attitude = ap.coordinates("e0 e1 e2 e3") if order == "quaternion" else ap.coordinates("roll pitch yaw", "rad")
    frame = ground
    for axis in order if order != "quaternion" else ():
        frame = frame.rotate(axis, attitude["xyz".index(axis)])
    frame = ground.rotate_quaternion(*attitude) if order == "quaternion" else frame
    cube = ap.RigidBody("cube", 1.0, ground.point(*places), frame, [0.1] * 3)
    held = ap.Generalized({q: -10 * q - q.rate for q in places})
    start = {"e0": 1.0} if order == "quaternion" else {}
    model = ap.Model(ground, (*places, *attitude), [cube], [held], name="cube", start=start)
    proof = ap.stability(ap.linearize(ap.equilibrium(model), ignore=attitude))
    assert proof.verdict.name == "FAMILY"
    assert proof.zeros == proof.zeros_found == 3


def test_a_ring_of_equilibria_with_friction_is_a_family():
    """(r^2 - 1)^2: every near motion ends somewhere on the ring; without friction it may creep round for ever."""
    x, y = ap.coordinates("x y")
    ground = ap.Frame("ground")
    bead = ap.Particle("bead", 1.0, ground.point(x, y))
    for friction, verdict in ((1.0, "FAMILY"), (0.0, "CRITICAL")):
        forces = [ap.Potential((x**2 + y**2 - 1) ** 2), ap.Generalized({q: -friction * q.rate for q in (x, y)})]
        rest = ap.equilibrium(ap.Model(ground, (x, y), [bead], forces, start={x: 1.0}), {y: 0.3})
        assert ap.stability(rest).verdict.name == verdict


@pytest.mark.parametrize("begin", [1.0, -1.0])
@pytest.mark.parametrize("power", [3, 4])
def test_a_flat_place_is_not_judged_by_its_first_approximation(power, begin):
    """-x^3 and -x^4 with friction: the zero root leads to no other equilibria; of which sign it is found is luck."""
    x = ap.coordinates("x")
    ground = ap.Frame("ground")
    forces = [ap.Potential(-(x**power)), ap.Generalized({x: -x.rate})]
    model = ap.Model(ground, x, [ap.Particle("bead", 1.0, ground.point(x, 0))], forces, start={x: begin})
    rest = ap.equilibrium(model)
    assert rest.degenerate == 1
    assert ap.stability(rest).verdict.name == "CRITICAL"
