"""Krasinskiy 2025 (Shulgin's equations), corrected: ball and beam, Delta robot, pendulum, slider-crank.

The source prints no numbers. The references here were computed once by Lagrange's equations with multipliers in mpmath
with 25 to 40 digits, from the kinetic and potential energies written below, independently of this program.
"""

import numpy as np
import pytest

import appell as ap

G = 9.81


def system_of(model, formulation):
    return ap.compile(ap.derive(model, formulation)).bind()


def splits(model, *listed):
    """Formulations without multipliers, Shulgin's with every split that is asked for and by both routes."""
    named = {q.name: q for q in model.coordinates}
    found = [ap.GibbsAppell(), ap.Voronets(), ap.LyapunovElimination(), ap.Shulgin(), ap.Shulgin(drift=20.0)]
    for dependent in listed:
        chosen = [named[name] for name in dependent.split()]
        found += [ap.Shulgin(dependent=chosen), ap.Shulgin(dependent=chosen, explicit=False)]
    return found


def label(system):
    formulation = system.equations.formulation
    dependent = ",".join(map(str, system.equations.dependent))
    return (
        f"{formulation.name} ({dependent}) {getattr(formulation, 'explicit', '')} {getattr(formulation, 'drift', '')}"
    )


# Ball and beam.

BALL = ap.library.ball_and_beam()
# theta, xi, theta', xi', tau -> alpha, alpha'; theta'', xi'', alpha''; multiplier of (6)
BALL_ACCELERATIONS = [
    (
        (0.3, 0.25, 1.0, -0.2, 0.1),
        (0.029526773520748, 0.0951831585864586),
        (53.200251260075, -0.105558355711676, 5.0305856793301),
        9.89311984689601,
    ),
    (
        (-0.8, 0.1, 4.0, 0.5, 0.0),
        (-0.0731947009807932, 0.306238915211411),
        (-204.143034939177, 0.248216467611254, -14.8534874486184),
        4.88033061990824,
    ),
    (
        (2.0, 0.3, -10.0, 0.3, -0.05),
        (0.0525099203769892, 0.987281081541639),
        (55.4468079939945, -0.395720403517977, -17.127907532443),
        5.59175965447933,
    ),
]
# t -> theta, xi, theta', xi' from theta = 0.1, xi = 0.22 at rest with tau = 0.07891164
BALL_OPEN_LOOP = {
    0.1: (0.09851623165847, 0.2196554514119, -0.02760190334236, -0.0068429855943),
    0.5: (0.07793216556725, 0.2120639759096, -0.05722099586419, -0.02973020574603),
    0.8: (0.06750643383519, 0.2012529492485, 0.001754909018086, -0.04180342368744),
}


@pytest.fixture(
    scope="module",
    params=[*splits(BALL, "alpha", "theta"), ap.Multipliers()],
    ids=lambda f: f"{f.name} {getattr(f, 'dependent', None)} {getattr(f, 'explicit', '')} {getattr(f, 'drift', '')}",
)
def ball(request):
    return system_of(BALL, request.param)


def ball_state(system, theta, xi, theta_rate, xi_rate):
    given = {"theta": theta, "xi": xi, "theta.rate": theta_rate, "xi.rate": xi_rate}
    return system.consistent(given, near={"alpha": 0.05 * np.sign(theta)})


@pytest.mark.parametrize(("given", "beam", "expected", "multiplier"), BALL_ACCELERATIONS)
def test_ball_and_beam_accelerations(ball, given, beam, expected, multiplier):
    system = ball.bind({"tau": given[4]})
    state = ball_state(system, *given[:4])
    np.testing.assert_allclose([state["alpha"], state["alpha.rate"]], beam, rtol=2e-13, atol=0)
    np.testing.assert_allclose(system.accelerations(state), expected, rtol=1e-11, atol=0)
    if system.equations.formulation.multipliers:
        at = (0.0, system.to_x(state))
        unknowns = np.linalg.solve(system.mass_matrix(*at), system.forcing(*at))
        assert unknowns[-1] == pytest.approx(multiplier, rel=1e-12)


def test_ball_and_beam_without_motor(ball):
    """The open loop at the exact times, whatever is independent."""
    motion = ap.simulate(ball, until=0.8, at=sorted(BALL_OPEN_LOOP), method="dop853", rtol=1e-13, atol=1e-14)
    assert motion.outcome is ap.Outcome.DONE
    for t, expected in BALL_OPEN_LOOP.items():
        state = motion.at(t)
        found = [state[name] for name in ("theta", "xi", "theta.rate", "xi.rate")]
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=2e-12)
    assert motion.at(0.5)["alpha"] == pytest.approx(0.007785273295612, rel=1e-9)


def test_reaction_of_the_lever():
    """The multiplier of (5), from a motion that never knew it."""
    given, _, _, multiplier = BALL_ACCELERATIONS[0]
    system = system_of(BALL, ap.Shulgin()).bind({"tau": given[4]})
    motion = ap.simulate(system, ball_state(system, *given[:4]), until=0.01, points=3)
    assert float(motion.reactions("lever")["lever"][0]) == pytest.approx(multiplier, rel=1e-10)


@pytest.mark.parametrize(
    ("degrees", "alpha", "slope"),
    [(30, 0.0497515389293918, 0.0846806248759188), (90, 0.0825715852990582, -0.038849470997585)],
)
def test_lever_constraint(degrees, alpha, slope):
    system = system_of(BALL, ap.Shulgin())
    state = system.consistent({"theta": np.radians(degrees), "theta.rate": 1.0}, near={"alpha": 0.05})
    assert state["alpha"] == pytest.approx(alpha, rel=1e-12)
    assert state["alpha.rate"] == pytest.approx(slope, rel=1e-12)


def test_the_beam_follows_from_the_wheel_all_around():
    """|F_alpha| along the branch of the rig over a full turn, every 5 degrees; the constraint is |A - B|^2 = l^2."""
    mechanics = ap.derive(BALL).mechanics
    p = mechanics.sample_values(np.random.default_rng(0))
    alpha, slopes = 0.0, []
    for theta in np.radians(np.arange(0, 361, 5)):
        for _ in range(20):
            F, J = (np.array(e) for e in mechanics.functions["position"](0.0, [theta, 0.2, alpha], p))
            alpha -= F[0, 0] / J[0, 2]
        slopes.append(abs(J[0, 2]))
    assert min(slopes) == pytest.approx(0.065385237, rel=1e-8)


@pytest.mark.parametrize(
    ("theta", "alpha"), [(1.31145054694511, 0.0875711176773721), (-2.12443296708011, -0.12647878030254)]
)
def test_dead_centres_of_the_crank(theta, alpha):
    """There theta' no longer follows from alpha'."""
    mechanics = ap.derive(BALL).mechanics
    p = mechanics.sample_values(np.random.default_rng(0))
    F, J = (np.array(e) for e in mechanics.functions["position"](0.0, [theta, 0.2, alpha], p))
    assert abs(F[0, 0]) < 1e-15
    assert abs(J[0, 0]) < 1e-15
    assert abs(J[0, 2]) > 0.06


def test_ball_and_beam_energies_are_those_of_the_source():
    """T, V and the generalized forces against their formulas, also off the constraint."""
    mechanics = ap.derive(BALL).mechanics
    p = {s.name: BALL.values[s.name] for s in BALL.parameters} | {"beta": 0.3}
    numbers = [p[s.name] for s in BALL.parameters]
    L, d, m, h, R, g, beta = (p[name] for name in ("L", "d", "m", "h", "R", "g", "beta"))
    rng = np.random.default_rng(1)
    offsets = []
    for q, v in rng.uniform(-1, 1, (6, 2, 3)):
        (theta, xi, alpha), (dtheta, dxi, dalpha) = q, v
        T = (
            p["J_b"] * dalpha**2 / 2
            + m / 2 * ((dxi - h * dalpha) ** 2 + xi**2 * dalpha**2)
            + p["J_s"] / 2 * (dalpha - dxi / R) ** 2
            + p["J_w"] / 2 * dtheta**2
            + p["m_l"] / 6 * (L**2 * dalpha**2 + L * d * dalpha * dtheta * np.cos(alpha - theta) + d**2 * dtheta**2)
        )
        V = (
            p["M_b"] * g * L / 2 * np.sin(alpha + beta)
            + m * g * (xi * np.sin(alpha + beta) + h * np.cos(alpha + beta))
            + p["m_l"] * g / 2 * (L * np.sin(alpha + beta) + d * np.sin(theta + beta))
        )
        found = [float(e) for e in mechanics.functions["energy"](0.0, q, v, [], [0.0], numbers)]
        assert found[0] == pytest.approx(T, rel=1e-13)
        offsets.append(found[1] - V)  # the source leaves out the constant height of the axle
        w = 0.7
        Q = sum(f.Q for f in mechanics.forces if f.potential is None)
        x = mechanics.variables
        import casadi as ca

        force = np.array(ca.Function("Q", x.arguments, [ca.densify(Q)])(0.0, q, v, [], [w], numbers)).ravel()
        expected = [w - p["b_theta"] * dtheta, -p["b_xi"] * dxi, -p["b_alpha"] * dalpha]
        np.testing.assert_allclose(force, expected, rtol=1e-13, atol=0)
    assert np.ptp(offsets) < 1e-15


# Delta robot.

DELTA = ap.library.delta_robot()
D1_TORQUE = -17.6633064869428808
# pose; phi'; tau -> phi; velocity of the platform; phi''; acceleration of the platform; multipliers
DELTA_ACCELERATIONS = [
    (
        ((0.0, 0.0, -0.9), (1.0, -0.5, 0.3), (10.0, 10.0, 10.0)),
        (0.114629043788892,) * 3,
        (-0.45416718784411, 0.286051143446064, -0.12062122656133),
        (20.6262293675824, 21.4781069634006, 21.1117239009219),
        (0.0856309964906139, -0.08318092261454, -9.25618050245895),
        (-0.422006768509526, -0.53196590544223, -0.584509693077654),
    ),
    (
        ((0.15, -0.1, -0.95), (2.0, 1.0, -3.0), (5.0, -8.0, 12.0)),
        (0.0314302150491147, 0.493308660644727, 0.244613523705774),
        (-1.26449281304004, -1.5803992978457, -0.0433880564339913),
        (19.721912437488, 10.6780148556453, 21.9553249133868),
        (-0.169333739419279, 4.50907762150029, -4.62564341320574),
        (-5.6800022414666, -10.9959391758838, 2.94355992921193),
    ),
    (
        ((-0.2, 0.2, -1.0), (-4.0, 5.0, 1.0), (0.0, 0.0, 0.0)),
        (0.684320924167691, 0.0191728162430509, 0.520991030305166),
        (3.32586734389579, -1.27741802210486, -1.29742959252381),
        (19.5242277293582, 17.6660050919325, 20.3813724259254),
        (1.67863759649892, -3.02836009582015, 3.46394693273201),
        None,
    ),
]
# t -> phi, phi', pose from phi0 + (.05, -.03, .02) at rest under the torques that hold phi0
DELTA_OPEN_LOOP = {
    0.5: (
        (0.1422042019561, 0.115269071191, 0.1323252372016),
        (-0.07251196093087, 0.1044839858832, -0.005473990136456),
        (-0.007680619104781, 0.006151528394448, -0.9069023260057),
    ),
    1.0: (
        (0.1138685022141, 0.1652145676327, 0.1335510583105),
        (-0.0218803142582, 0.07318864184559, 0.013814395919),
        (0.01487950512624, -0.01153290352318, -0.9102506425538),
    ),
}


@pytest.fixture(
    scope="module",
    params=[*splits(DELTA, "x y z", "phi1 phi2 phi3", "phi1 y z"), ap.Multipliers()],
    ids=lambda f: f"{f.name} {getattr(f, 'dependent', None)} {getattr(f, 'explicit', '')} {getattr(f, 'drift', '')}",
)
def delta(request):
    return system_of(DELTA, request.param)


def delta_pose(system, pose, rates=(0.0, 0.0, 0.0)):
    given = dict(zip(("x", "y", "z", "phi1.rate", "phi2.rate", "phi3.rate"), (*pose, *rates), strict=True))
    return system.consistent(given, near=dict.fromkeys(("phi1", "phi2", "phi3"), 0.2))


@pytest.mark.parametrize(("given", "phi", "velocity", "arms", "platform", "multipliers"), DELTA_ACCELERATIONS)
def test_delta_accelerations(delta, given, phi, velocity, arms, platform, multipliers):
    pose, rates, torques = given
    system = delta.bind(dict(zip(("tau1", "tau2", "tau3"), torques, strict=True)))
    state = delta_pose(system, pose, rates)
    np.testing.assert_allclose(state.q[:3], phi, rtol=1e-12, atol=0)
    np.testing.assert_allclose(state.v[3:], velocity, rtol=1e-12, atol=0)
    np.testing.assert_allclose(system.accelerations(state), (*arms, *platform), rtol=2e-12, atol=5e-12)
    if system.equations.formulation.multipliers and multipliers is not None:
        at = (0.0, system.to_x(state))
        unknowns = np.linalg.solve(system.mass_matrix(*at), system.forcing(*at))
        np.testing.assert_allclose(unknowns[-3:], multipliers, rtol=1e-11, atol=0)


def test_delta_open_loop(delta):
    phi0 = 0.114629043788892274
    given = {"phi1": phi0 + 0.05, "phi2": phi0 - 0.03, "phi3": phi0 + 0.02}
    rest = dict.fromkeys(("phi1.rate", "phi2.rate", "phi3.rate"), 0.0)
    state = delta.consistent({**given, **rest}, near={"x": 0.0, "y": 0.0, "z": -0.9})
    motion = ap.simulate(delta, state, until=1.0, at=sorted(DELTA_OPEN_LOOP), method="dop853", rtol=1e-13, atol=1e-14)
    for t, (phi, rates, pose) in DELTA_OPEN_LOOP.items():
        found = motion.at(t)
        np.testing.assert_allclose(found.q, (*phi, *pose), rtol=1e-9, atol=0)
        np.testing.assert_allclose(found.v[:3], rates, rtol=1e-9, atol=0)
    assert motion.check().position < (1e-11 if getattr(delta.equations.formulation, "drift", 0) == 20.0 else 1e-12)


def test_delta_holding_torques():
    """Both poses of the source are equilibria, and their multipliers."""
    system = system_of(DELTA, ap.Multipliers())
    poses = {
        (0.0, 0.0, -0.9): ((D1_TORQUE,) * 3, (-8.61868508456381,) * 3, -6.8561866388577, -0.45784071391907),
        (0.15, -0.1, -0.95): (
            (-20.8769049277655537, -13.3501758285410384, -17.8451153190045985),
            (-12.2506702200713, -4.21765133967216, -8.70461024546444),
            -6.6328232976803,
            -0.55173033574528,
        ),
    }
    for pose, (torques, multipliers, det_pose, det_arms) in poses.items():
        bound = system.bind(dict(zip(("tau1", "tau2", "tau3"), torques, strict=True)))
        state = delta_pose(bound, pose)
        at = (0.0, bound.to_x(state))
        unknowns = np.linalg.solve(bound.mass_matrix(*at), bound.forcing(*at))
        np.testing.assert_allclose(unknowns[:6], 0, rtol=0, atol=1e-11)
        np.testing.assert_allclose(unknowns[6:], multipliers, rtol=1e-12, atol=0)
        J = np.array(bound.equations.mechanics.functions["position"](0.0, state.q, bound.p)[1])
        assert np.linalg.det(J[:, 3:]) == pytest.approx(det_pose, rel=1e-12)
        assert np.linalg.det(J[:, :3]) == pytest.approx(det_arms, rel=1e-11)


def test_delta_energies_are_those_of_the_source():
    mechanics = ap.derive(DELTA).mechanics
    p = {s.name: DELTA.values[s.name] for s in DELTA.parameters}
    numbers = [p[s.name] for s in DELTA.parameters]
    rng = np.random.default_rng(2)
    for q, v in rng.uniform(-1, 1, (5, 2, 6)):
        phi, dphi, velocity = q[:3], v[:3], v[3:]
        T = p["m_p"] / 2 * velocity @ velocity
        V = p["m_p"] * G * q[5]
        for i in range(3):
            angle = 2 * np.pi / 3 * i
            e = np.array([np.cos(angle), np.sin(angle), 0.0])
            elbow = p["L1"] * dphi[i] * (-np.sin(phi[i]) * e - np.cos(phi[i]) * np.array([0, 0, 1.0]))
            T += (p["I_a"] + p["I_g"]) / 2 * dphi[i] ** 2
            T += p["m_f"] / 6 * (p["L1"] ** 2 * dphi[i] ** 2 + elbow @ velocity + velocity @ velocity)
            V += -p["m_a"] * G * p["r_a"] * np.sin(phi[i]) + p["m_f"] * G / 2 * (q[5] - p["L1"] * np.sin(phi[i]))
        found = [float(e) for e in mechanics.functions["energy"](0.0, q, v, [], [0.0] * 3, numbers)]
        np.testing.assert_allclose(found, [T, V], rtol=1e-13, atol=0)


# Pendulum in x, y; slider-crank; a frame that turns.


def pendulum():
    x, y = ap.coordinates("x y", "m")
    m, l, g = ap.parameters("m l g", "kg m m/s^2")
    u = ap.inputs("u", "N")
    ground = ap.Frame("ground")
    bob = ap.Particle("bob", m, ground.point(x, y))
    return ap.Model(
        ground,
        (x, y),
        [bob],
        [ap.Gravity(-g * ground.y), ap.Force(u * ground.x, bob)],
        [ap.Holonomic(x**2 + y**2 - l**2, "length")],
        name="pendulum",
        values={m: 0.3, l: 0.5, g: G, u: 0.0},
        start={x: 0.3, y: -0.4},
    )


PENDULUM = pendulum()
VARIANTS = {
    "automatic": ap.Shulgin(),
    "y dependent": ap.Shulgin(dependent=PENDULUM.coordinates[1:]),
    "x dependent": ap.Shulgin(dependent=PENDULUM.coordinates[:1]),
    "(14)": ap.Shulgin(explicit=False),
    "drawn": ap.Shulgin(drift=20.0),
    "left alone": ap.Shulgin(drift=0),
}


@pytest.fixture(scope="module", params=VARIANTS.values(), ids=VARIANTS)
def swinging(request):
    return system_of(PENDULUM, request.param)


# x(t) of the pendulum released at rest from 1 rad, by elliptic functions
ELLIPTIC = {
    0.5: -0.236665094706383818,
    1.0: -0.256367468603206727,
    2.0: -0.215812813201486538,
    5.0: -0.170910202088928837,
}


def test_pendulum_released_from_one_radian(swinging):
    start = swinging.state({"x": np.sin(1) / 2, "y": -np.cos(1) / 2})
    motion = ap.simulate(swinging, start, until=5.0, method="taylor")
    for t, expected in ELLIPTIC.items():
        assert motion.at(t)["x"] == pytest.approx(expected, rel=1e-11)


def test_pendulum_over_the_top(swinging):
    """Each of x and y is dependent in turn; the total angle is counted from the track."""
    start = swinging.state({"x": 0.0, "y": -0.5, "x.rate": 5.2})
    motion = ap.simulate(swinging, start, until=2.0, method="taylor", points=2001)
    assert motion.outcome is ap.Outcome.DONE
    end = motion.at(2.0)
    np.testing.assert_allclose([end["x"], end["y"]], [0.091284283552979, 0.49159656180268], rtol=1e-11, atol=0)
    angle = np.unwrap(np.arctan2(motion["x"], -motion["y"]))
    assert angle[-1] == pytest.approx(15.52436497245, rel=1e-12)
    rate = (-end["y"] * end["x.rate"] + end["x"] * end["y.rate"]) / 0.25
    assert rate == pytest.approx(5.5081305203967, rel=1e-11)
    assert len(motion.info["switches"]) >= 7
    assert "speeds changed at" in motion.summary()
    assert motion.check().ok


SLIDER = ap.library.slider_crank()


@pytest.mark.parametrize("drift", ["projection", 20.0, 0])
def test_slider_crank_full_turns(drift):
    """theta = 1, theta' = 5, tau = 0.2: several turns of the crank, with theta independent throughout."""
    theta, phi, x_s = SLIDER.coordinates
    system = system_of(SLIDER, ap.Shulgin(dependent=[phi, x_s], drift=drift))
    motion = ap.simulate(system, until=1.0, method="taylor")
    for t, expected in {0.5: (5.47908074407064, 13.1723033728912), 1.0: (12.816580686008, 20.4380069985302)}.items():
        state = motion.at(t)
        np.testing.assert_allclose([state[theta], state[theta.rate]], expected, rtol=1e-11, atol=0)
    assert motion.check().position < 1e-13


@pytest.mark.parametrize("names", ["theta phi", "theta x_s"])
def test_slider_crank_through_its_dead_centres(names):
    """With the slider or the rod independent the choice must be changed at every dead centre."""
    dependent = [q for q in SLIDER.coordinates if q.name in names.split()]
    system = system_of(SLIDER, ap.Shulgin(dependent=dependent))
    motion = ap.simulate(system, until=1.0, method="taylor")
    state = motion.at(1.0)
    np.testing.assert_allclose(
        [state["theta"], state["theta.rate"]], [12.816580686008, 20.4380069985302], rtol=1e-10, atol=0
    )
    assert motion.info["switches"]
    assert motion.check().ok


def test_gyroscopic_matrix_in_a_frame_that_turns():
    """T with T2, T1 and T0: G = [[0, -2 m Omega], [2 m Omega, 0]], frequencies sqrt(g/l) +- Omega at the bottom."""
    import casadi as ca

    x, y, z = ap.coordinates("x y z", "m")
    m, l, g, Omega = ap.parameters("m l g Omega")
    ground = ap.Frame("ground")
    turning = ground.rotate("z", Omega * ap.t)
    bob = ap.Particle("bob", m, turning.point(x, y, z))
    model = ap.Model(
        ground,
        (x, y, z),
        [bob],
        [ap.Gravity(-g * ground.z)],
        [ap.Holonomic(x**2 + y**2 + z**2 - l**2, "length")],
        values={m: 0.3, l: 0.5, g: G, Omega: 2.0},
        start={x: 0.0, y: 0.0, z: -0.5},
    )
    for formulation in (ap.Shulgin(dependent=[z]), ap.Shulgin(dependent=[z], explicit=False)):
        system = system_of(model, formulation)
        equations, at = system.equations, [0.0, 0.0, -0.5, 0.0, 0.0]
        G_matrix = ca.Function("G", equations.arguments, [-ca.jacobian(equations.b, equations.chart.u)])
        np.testing.assert_allclose(
            np.array(G_matrix(0.0, at, [], system.p)), [[0, -1.2], [1.2, 0]], rtol=1e-14, atol=1e-16
        )
        roots = np.sort(np.abs(np.linalg.eigvals(system.jacobian(0.0, at)).imag))
        # 2n roots, and one zero root: the constraint is a first integral
        expected = [0, 2.42944691807002, 2.42944691807002, 6.42944691807002, 6.42944691807002]
        np.testing.assert_allclose(roots, expected, rtol=1e-13, atol=1e-12)
    assert ap.verify(model).ok
