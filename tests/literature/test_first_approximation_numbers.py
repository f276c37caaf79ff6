"""Equilibria, first approximations and optimal gains of ball and beam and Delta robot.

Numbers by Lagrange multipliers in mpmath, 25 to 40 digits (theory page on Shulgin's equations, sections 4.1 to 4.4);
the method is that of Krasinskiy 2025.
"""

import numpy as np
import pytest

import appell as ap

RTOL, ROOTS = 1e-9, 1e-8
WEIGHTS, PRICE = {"theta": 1, "xi": 200, "theta.rate": 0.01, "xi.rate": 10}, 50

E1 = {
    "beta": 0.0, "theta": 0.0, "alpha": 0.0, "tau": 0.07891164, "B": 0.1, "lever": 8.52132272727273, "CB": 0.0,
    "rows": [[0, -65.646757314729, -4.7697017156688, -0.022543366317838],
             [-0.69508040201005, -0.062364419448993, -0.0045312166298854, -0.25127769760504]],
    "V": [2372.98592819345, 2.25433663178377],
    "roots": [-5.11487806302, -0.864579739114 + 2.03615377507j, 1.82305812797],
    "without": [-5.11487806302, -0.864579739114 + 2.03615377507j, 1.82305812797],
    "K": [0.228239921810935, -2.02785551783978, 0.0189725870033442, -1.16112154764217],
    "closed": [-32.2615531426, -10.2387217199, -2.46241384618 + 1.98099436157j],
    "margin": 1.4529,
    "start": {"theta": 0.3, "xi": 0.05},
    "motion": {0.1: (0.369910441391, 0.2489643420069, 0.02848098371166, -0.02274850213505),
               0.5: (-0.03701962019459, 0.2270263257238, -0.6321118068444, -0.06397536827266),
               1.0: (-0.09470562552584, 0.2045851194026, 0.1276398217571, -0.02440289161773),
               2.0: (-0.0004551355273328, 0.1992780137337, 0.02068246429272, 0.001493129769258)},
    "alpha at 0.5": -0.00370113188083,
    "distance": {1.0: 0.0948, 2.0: 8.53e-4, 4.0: 5.06e-5, 8.0: 2.5e-9},
}  # fmt: skip
E3 = {
    "beta": -0.05, "theta": 0.526535985923502765, "alpha": 0.05, "tau": 0.0668520247144461876,
    "B": 0.0845008599609418, "lever": 8.55969540205165, "CB": -0.0460344515808,
    "rows": [[132.30789818925, -64.658352452302, -5.5516635861768, -0.022203944025017],
             [-0.48113767094061, -0.051905020665833, -0.0044566432988349, -0.2512741058045]],
    "V": [2765.95678064292, 2.22039440250168],
    "roots": [-14.613932045, -0.131380333153 + 0.51878225392j, 9.07375501935],
    "without": [-6.460210332, -0.6233021399 + 1.642922924j, 1.90387692],
    "K": [0.274838448939977, -2.02351309727068, 0.0190339009310443, -1.2379583476534],
    "closed": [-41.5581276664, -9.83671723512, -2.15314217354 + 1.82007133192j],
    "margin": 0.5067,
    "start": {"theta": 0.2, "xi": 0.04},
    "motion": {0.1: (0.815495936304, 0.2394503415056, 0.3053803199501, -0.0126481516994),
               0.5: (0.5474191728558, 0.2252327117323, -0.6249586330009, -0.04696640812104),
               2.0: (0.5205648789288, 0.1991786755286, 0.03268093011792, 0.0007588068784045)},
    "alpha at 0.5": 0.05175106793626,
    "distance": {1.0: 0.0804, 2.0: 6.03e-3, 4.0: 1.33e-5, 8.0: 2.6e-8},
}  # fmt: skip
BEAMS = pytest.mark.parametrize("case", [E1, E3], ids=["E1", "E3"])

D1 = {
    "pose": (0.0, 0.0, -0.9), "phi": [0.114629043788892274] * 3, "tau": [-17.6633064869428808] * 3,
    "rods": [-8.61868508456381] * 3,
    "roots": [-1.59561943643, 1.16334850766, *[-0.188694854182 + 2.51497781762j] * 2],
    "without": [-0.2161354644 + 0.9584280152j, *[-0.1886948542 + 0.7733298384j] * 2],
    "closed": [-7.31396469035 + 4.75454729968j, *[-5.31611752672 + 4.69906149513j] * 2],
}  # fmt: skip
D2 = {
    "pose": (0.15, -0.10, -0.95),
    "phi": [0.031430215049114665, 0.493308660644727178, 0.244613523705773646],
    "tau": [-20.8769049277655537, -13.3501758285410384, -17.8451153190045985],
    "rods": [-12.2506702200713, -4.21765133967216, -8.70461024546444],
    "roots": [-1.08937073111, 0.667131197099, -0.186139103912 + 2.6233743871j, -0.181143422481 + 2.8936914715j],
    "without": [-0.1996956197 + 1.690807645j, -0.1920229295 + 0.3891666052j, -0.1866837442 + 1.15907031j],
    "closed": [-7.1407989019 + 4.82013553938j, -5.14963105643 + 4.66063698571j, -4.76073202415 + 4.61045420532j],
}  # fmt: skip
POSES = pytest.mark.parametrize("case", [D1, D2], ids=["D1", "D2"])
PHI, PLACE = ("phi1", "phi2", "phi3"), ("x", "y", "z")


def assert_roots(found, expected, rtol=ROOTS):
    """The same roots, complex ones told by their upper half; as printed, they may have ten digits only."""
    upper = sorted((e for e in found if e.imag > -1e-12), key=lambda e: (round(e.real, 6), e.imag))
    wanted = sorted((complex(e) for e in expected), key=lambda e: (round(e.real, 6), e.imag))
    np.testing.assert_allclose(upper, wanted, rtol=rtol, atol=0)


@pytest.fixture(scope="module")
def beam():
    return ap.compile(ap.derive(ap.library.ball_and_beam())).bind()


@pytest.fixture(scope="module")
def delta():
    return ap.compile(ap.derive(ap.library.delta_robot())).bind()


def beam_rest(beam, case):
    return ap.equilibrium(beam.bind({"beta": case["beta"]}), {"xi": 0.2})


def delta_rest(delta, case):
    return ap.equilibrium(delta, dict(zip(PLACE, case["pose"], strict=True)))


@BEAMS
def test_ball_and_beam_equilibrium(beam, case):
    rest = beam_rest(beam, case)
    assert len(rest.branches) == 2
    for name in ("theta", "alpha", "tau", "lever"):
        np.testing.assert_allclose(rest[name], case[name], rtol=RTOL, atol=1e-14)


@BEAMS
def test_ball_and_beam_matrices(beam, case):
    lin = ap.linearize(beam_rest(beam, case), dependent=["alpha"])
    assert lin.states == ("theta", "xi", "theta.rate", "xi.rate")
    np.testing.assert_allclose(lin.A[2:], case["rows"], rtol=RTOL, atol=1e-11)
    np.testing.assert_allclose(lin.B[2:, 0], case["V"], rtol=RTOL, atol=0)
    np.testing.assert_allclose(lin.blocks.B0, [[case["B"], 0]], rtol=RTOL, atol=1e-15)
    np.testing.assert_allclose(lin.blocks.CB, [[case["CB"], 0], [0, 0]], rtol=RTOL, atol=1e-16)


def test_ball_and_beam_on_its_other_branch(beam):
    """E2: the same level beam with the wheel turned over, theta = 2 arctan(l/d)."""
    (other,) = (e for e in beam_rest(beam, E1).branches if e["theta"] > 1)
    assert other["theta"] == pytest.approx(2 * np.arctan(0.11 / 0.04), rel=RTOL)
    lin = ap.linearize(other, dependent=["alpha"])
    assert abs(lin.blocks.CB[0, 0]) > 1e-3
    reach = ap.control.controllability(lin)
    assert (reach.rank, ap.control.minimum_controls(lin).number) == (4, 1)
    assert reach.margin == pytest.approx(0.9443, abs=5e-5)


def test_ball_and_beam_blocks_on_a_level_base(beam):
    blocks = ap.linearize(beam_rest(beam, E1), dependent=["alpha"]).blocks
    np.testing.assert_allclose(blocks.A, [[4.214459195e-4, -3.781e-5], [-3.781e-5, 0.0398]], rtol=1e-9, atol=0)
    np.testing.assert_allclose(blocks.D, np.diag([0.00201, 0.01]), rtol=1e-12, atol=1e-18)
    np.testing.assert_allclose(blocks.C, [[-2.628099e-5, 0.0276642], [0.0276642, 0]], rtol=1e-9, atol=1e-16)


@BEAMS
@pytest.mark.parametrize("dependent", ["alpha", "theta"])
def test_ball_and_beam_roots_with_and_without_multiplier_terms(beam, case, dependent):
    rest = beam_rest(beam, case)
    assert_roots(ap.linearize(rest, dependent=[dependent]).eigenvalues, case["roots"])
    assert_roots(ap.linearize(rest, dependent=[dependent], multiplier_terms=False).eigenvalues, case["without"])


@BEAMS
def test_ball_and_beam_optimal_gains_and_certificate(beam, case):
    lin = ap.linearize(beam_rest(beam, case), dependent=["alpha"])
    feedback = ap.control.lqr(lin, WEIGHTS, PRICE)
    np.testing.assert_allclose(feedback.K[0], case["K"], rtol=RTOL, atol=0)
    assert_roots(feedback.roots, case["closed"])
    proof = feedback.certificate
    assert (proof.verdict.name, proof.constraint_zeros, proof.zeros_found) == ("ON_CONSTRAINTS", 1, 1)
    assert all(condition.holds for condition in proof.conditions)
    reach = ap.control.controllability(lin)
    assert (reach.rank, reach.complete) == (4, True)
    assert reach.margin == pytest.approx(case["margin"], abs=1e-4)


@BEAMS
def test_ball_and_beam_closed_loop_motion(beam, case):
    feedback = ap.control.lqr(ap.linearize(beam_rest(beam, case), dependent=["alpha"]), WEIGHTS, PRICE)
    motion = ap.simulate(feedback.system, feedback.start(case["start"]), until=8.0, at=[0.0, *case["motion"], 8.0])
    for k, expected in enumerate(case["motion"].values(), 1):
        found = [motion.columns[s][k] for s in ("theta", "xi", "theta.rate", "xi.rate")]
        np.testing.assert_allclose(found, expected, rtol=RTOL, atol=1e-12)
    assert motion.columns["alpha"][list(case["motion"]).index(0.5) + 1] == pytest.approx(case["alpha at 0.5"], rel=RTOL)
    for t, distance in case["distance"].items():
        state = motion.at(t)
        found = np.hypot(state["theta"] - case["theta"], state["xi"] - 0.2)
        assert found == pytest.approx(distance, rel=0.02 if t == 8 else 2e-3)  # printed with two or three digits
    assert max(abs(e) for e in motion.system.residual(motion.at(8.0)).values()) < 1e-12


def test_gains_designed_without_multiplier_terms_do_not_stabilise_the_tilted_beam(beam):
    rest = beam_rest(beam, E3)
    lin = ap.linearize(rest, dependent=["alpha"])
    wrong = ap.linearize(rest, dependent=["alpha"], multiplier_terms=False)
    good, bad = ap.control.lqr(lin, WEIGHTS, 5000), ap.control.lqr(wrong, WEIGHTS, 5000)
    expected = [0.114895649946, -0.2247380029362, 0.007576853168445, -0.1865428573905]
    np.testing.assert_allclose(good.K[0], expected, rtol=RTOL, atol=0)
    assert_roots(good.roots, [-15.067713018, -9.1612885392, -1.0584929079 + 1.1177683417j])
    expected = [0.03478939209932, -0.2247380029362, 0.003684404552732, -0.145690065715]
    np.testing.assert_allclose(bad.K[0], expected, rtol=RTOL, atol=0)
    proof = ap.stability(lin, gains=bad)
    assert proof.verdict.name == "UNSTABLE"
    assert_roots(proof.roots, [-18.108210236, -1.150609017, 1.7942336063 + 3.5328842268j])
    cheap = ap.stability(lin, gains=ap.control.lqr(wrong, WEIGHTS, PRICE))
    assert cheap.verdict.name == "ON_CONSTRAINTS"


@POSES
def test_delta_robot_equilibrium(delta, case):
    rest = delta_rest(delta, case)
    assert len(rest.branches) == 8
    np.testing.assert_allclose([rest[s] for s in PHI], case["phi"], rtol=RTOL, atol=0)
    np.testing.assert_allclose([rest[f"tau{i}"] for i in (1, 2, 3)], case["tau"], rtol=RTOL, atol=0)
    np.testing.assert_allclose(list(rest.multipliers.values()), case["rods"], rtol=RTOL, atol=0)


@POSES
@pytest.mark.parametrize("dependent", [PLACE, PHI, ("phi1", "y", "z")], ids="-".join)
def test_delta_robot_roots_with_and_without_multiplier_terms(delta, case, dependent):
    rest = delta_rest(delta, case)
    assert_roots(ap.linearize(rest, dependent=dependent).eigenvalues, case["roots"])
    wrong = ap.linearize(rest, dependent=dependent, multiplier_terms=False)
    assert_roots(wrong.eigenvalues, case["without"])
    assert ap.stability(rest).verdict.name == "UNSTABLE"
    assert ap.stability(wrong).verdict.name == "ON_CONSTRAINTS"
    assert "NOT a proof" in ap.stability(wrong).sentence


def circulant(diagonal, other):
    return (diagonal - other) * np.eye(3) + other


def test_delta_robot_matrices_in_the_middle(delta):
    lin = ap.linearize(delta_rest(delta, D1), dependent=PLACE)
    expected = np.hstack(
        [circulant(-3.6217256173665, 2.7389935537661), circulant(-0.39568344849809, -0.018293740133505)]
    )
    np.testing.assert_allclose(lin.A[3:], expected, rtol=RTOL, atol=0)
    np.testing.assert_allclose(lin.blocks.V, circulant(0.58651606371047, 0.087127751913638), rtol=RTOL, atol=0)
    np.testing.assert_allclose(lin.blocks.A, circulant(1.7731181705467, -0.2293315792320), rtol=RTOL, atol=0)
    np.testing.assert_allclose(lin.blocks.C, circulant(7.6780229352701, -5.0589975773773), rtol=RTOL, atol=0)
    np.testing.assert_allclose(lin.blocks.CB, circulant(6.4091810902715, -5.0589975773773), rtol=RTOL, atol=0)


def test_delta_robot_matrices_off_the_middle(delta):
    lin = ap.linearize(delta_rest(delta, D2), dependent=PLACE)
    stiffness = [
        [-2.3054740321866, 1.6786598572567, 2.9762335322259],
        [2.7079593765858, -7.5384447997724, 1.9533538839036],
        [3.3708561242293, 1.3189681792829, -4.7527084437212],
    ]
    damping = [
        [-0.39038808289985, -0.021301769557014, -0.017695001720016],
        [-0.021159511707624, -0.37973379865646, -0.024779928021364],
        [-0.017625872519765, -0.024862757264559, -0.38668270523904],
    ]
    upper = [
        0.56829023273535,
        0.096228207809752,
        0.086810739812971,
        0.52881187936164,
        0.10658581871709,
        0.55478811475419,
    ]
    np.testing.assert_allclose(lin.A[3:, :3], stiffness, rtol=RTOL, atol=0)
    np.testing.assert_allclose(lin.A[3:, 3:], damping, rtol=RTOL, atol=0)
    np.testing.assert_allclose(lin.B[3:][np.triu_indices(3)], upper, rtol=RTOL, atol=0)
    np.testing.assert_allclose(lin.B[3:], lin.B[3:].T, rtol=1e-12, atol=0)


DELTA_WEIGHTS = [1e4] * 3 + [1e2] * 3


@POSES
def test_delta_robot_optimal_gains_and_certificate(delta, case):
    feedback = ap.control.lqr(ap.linearize(delta_rest(delta, case), dependent=PLACE), DELTA_WEIGHTS, 1.0)
    assert_roots(feedback.roots, case["closed"])
    if case is D1:
        expected = np.hstack([circulant(92.8704946865, 4.799620212996), circulant(19.90972646416, -0.6250860311003)])
    else:
        expected = [
            [94.65408066445, 4.234214491764, 5.541302053106, 20.33915028546, -0.8985906245044, -0.5753827506663],
            [4.891133591312, 85.40888910163, 4.429796310964, -0.7613003843834, 20.15101397215, -0.9880050070376],
            [5.782360433485, 4.020336688452, 90.41663767041, -0.5267639269388, -1.075348324323, 20.1990882116],
        ]
    np.testing.assert_allclose(feedback.K, expected, rtol=RTOL, atol=0)
    proof = feedback.certificate
    assert (proof.verdict.name, proof.constraint_zeros, proof.zeros_found) == ("ON_CONSTRAINTS", 3, 3)


@pytest.mark.parametrize(
    ("case", "expected"),
    [(D1, (8.80e-4, 7.35e-4, 3.13e-6, 7.3e-11)), (D2, (1.89e-3, 1.19e-3, 6.58e-6, 3.1e-10))],
    ids=["D1", "D2"],
)
def test_delta_robot_converges(delta, case, expected):
    """How far the arms are from the pose after 0.5, 1, 2 and 4 s, printed with two or three digits."""
    feedback = ap.control.lqr(ap.linearize(delta_rest(delta, case), dependent=PLACE), DELTA_WEIGHTS, 1.0)
    motion = ap.simulate(
        feedback.system, feedback.start({"phi1": 0.1, "phi2": -0.08, "phi3": 0.05}), until=4.0, at=[0, 0.5, 1, 2, 4]
    )
    away = np.array([motion.columns[s][1:] for s in PHI]) - np.array(case["phi"])[:, None]
    np.testing.assert_allclose(np.linalg.norm(away, axis=0), expected, rtol=5e-3, atol=0)


def test_delta_robot_closed_loop_motion(delta):
    feedback = ap.control.lqr(ap.linearize(delta_rest(delta, D2), dependent=PLACE), DELTA_WEIGHTS, 1.0)
    start = feedback.start({"phi1": 0.1, "phi2": -0.08, "phi3": 0.05})
    motion = ap.simulate(feedback.system, start, until=4.0, at=[0, 0.1, 0.5, 1.0, 4.0])
    expected = {
        0.1: [0.1133556714145, 0.4242922734772, 0.2852075483136, 0.1089122476783, -0.0562124717106, -0.967449639428,
              -0.290141690758, 0.191411121128, -0.1481481867038],
        0.5: [0.03294524801613, 0.493017788655, 0.245702323138, 0.1495798558093, -0.09948744671854, -0.9504879000777],
        1.0: [0.03081077551666, 0.4942467344423, 0.2442231364137, 0.1503893007426, -0.1005369094488, -0.9498756108643,
              0.00502234964716, -0.00811564554843, 0.002789064852975],
    }  # fmt: skip
    names = [*PHI, *PLACE, *(f"{s}.rate" for s in PHI)]
    for k, values in enumerate(expected.values(), 1):
        found = [motion.columns[s][k] for s in names[: len(values)]]
        np.testing.assert_allclose(found, values, rtol=RTOL, atol=1e-12)
    np.testing.assert_allclose([motion.columns[s][-1] for s in PHI], D2["phi"], rtol=0, atol=1e-8)
    assert max(abs(e) for e in motion.system.residual(motion.at(4.0)).values()) < 1e-12


def test_delta_robot_open_loop_motion(delta):
    rest = delta_rest(delta, D1)
    start = ap.control.lqr(ap.linearize(rest, dependent=PLACE)).start({"phi1": 0.05, "phi2": -0.03, "phi3": 0.02})
    motion = ap.simulate(rest.system, start, until=1.0, at=[0, 0.5, 1.0])
    names = [*PHI, *(f"{s}.rate" for s in PHI), *PLACE]
    expected = [
        [0.1422042019561, 0.115269071191, 0.1323252372016, -0.07251196093087, 0.1044839858832, -0.005473990136456,
         -0.007680619104781, 0.006151528394448, -0.9069023260057],
        [0.1138685022141, 0.1652145676327, 0.1335510583105, -0.0218803142582, 0.07318864184559, 0.013814395919,
         0.01487950512624, -0.01153290352318, -0.9102506425538],
    ]  # fmt: skip
    found = [[motion.columns[s][k] for s in names] for k in (1, 2)]
    np.testing.assert_allclose(found, expected, rtol=RTOL, atol=1e-12)


def test_delta_robot_needs_two_motors(delta):
    lin = ap.linearize(delta_rest(delta, D1), dependent=PLACE)
    one, two = (ap.control.controllability(lin, inputs=s) for s in (["tau1"], ["tau1", "tau2"]))
    assert (one.rank, one.complete, one.enough) == (4, False, True)
    (missed,) = one.missed
    assert missed.root == pytest.approx(-0.1886948542 + 2.5149778176j, rel=1e-8)
    assert two.rank == 6
    assert two.margin == pytest.approx(0.104, abs=5e-4)
    assert ap.control.controllability(lin).margin == pytest.approx(0.1837, abs=5e-5)
    assert sorted(ap.control.smallest_actuators(lin)) == [("tau1", "tau2"), ("tau1", "tau3"), ("tau2", "tau3")]
    feedback = ap.control.lqr(lin, DELTA_WEIGHTS, 1.0, inputs=["tau1", "tau2"])
    expected = [104.0231723007, 15.95229782723, 15.79706955934, 17.45611624693, -3.078696248325, 25.80045028398]
    np.testing.assert_allclose(feedback.K[0], expected, rtol=RTOL, atol=0)
    roots = [-6.79119973473 + 4.70757169451j, -5.31611752672 + 4.69906149513j, -0.70419584878 + 2.31213049952j]
    assert_roots(feedback.roots, roots)


CRANK = {
    1.41751379467845405: ([-0.351924309261882 + 8.14206915865509j], 0.397129597309, 6.9802),
    0.294670313317130416: ([-19.9072570008217, 19.6555840634503], -2.28570114034, (3.760, -4.012)),
    -1.38290258769678327: ([-0.357640473179002 + 10.984702896917j], None, None),
    2.76271742514879163: ([-14.522308733166, 14.2757985836467], None, None),
}


def test_slider_crank_equilibria_and_their_roots():
    system = ap.compile(ap.derive(ap.library.slider_crank())).bind({"tau": 0.0})
    found = {e["theta"]: e for e in ap.equilibrium(system).branches if e["x_s"] > 0}
    np.testing.assert_allclose(sorted(found), sorted(CRANK), rtol=RTOL, atol=0)
    for theta, rest in found.items():
        roots, bend, without = next(v for k, v in CRANK.items() if abs(k - theta) < 1e-6)
        lin = ap.linearize(rest, dependent=["phi", "x_s"])
        assert_roots(lin.eigenvalues, roots)
        if bend is None:
            continue
        assert lin.blocks.CB[0, 0] == pytest.approx(bend, rel=RTOL)
        wrong = ap.linearize(rest, dependent=["phi", "x_s"], multiplier_terms=False).eigenvalues
        if isinstance(without, tuple):
            np.testing.assert_allclose(sorted(wrong.real), sorted(without), rtol=0, atol=5e-4)
        else:
            assert abs(wrong[0].imag) == pytest.approx(without, abs=5e-5)


def pendulum(turning=False):
    """A bob on a sphere in Cartesian coordinates, in a frame that turns at 2 rad/s if wanted."""
    x, y, z = ap.coordinates("x y z")
    m, l, g, omega = ap.parameters("m l g omega")
    ground = ap.Frame("ground")
    frame = ground.rotate("z", omega * ap.t) if turning else ground
    place = frame.vector(x, y, z)
    values = {m: 0.3, l: 0.5, g: 9.81, **({omega: 2.0} if turning else {})}
    return ap.Model(
        ground, (x, y, z), [ap.Particle("bob", m, place)], [ap.Gravity(-g * ground.z)],
        [ap.Holonomic(x**2 + y**2 + z**2 - l**2, "rod")], values=values, start={x: 0.0, y: 0.0, z: -0.5},
    )  # fmt: skip


def test_pendulum_has_all_its_stiffness_from_the_multiplier():
    rest = ap.equilibrium(pendulum())
    low, high = sorted(rest.branches, key=lambda e: e["z"])
    for at, sign in ((low, 1), (high, -1)):
        blocks = ap.linearize(at, dependent=["z"]).blocks
        np.testing.assert_allclose(blocks.CB, sign * 5.886 * np.eye(2), rtol=1e-12, atol=1e-14)
        np.testing.assert_allclose(blocks.C, blocks.CB, rtol=1e-12, atol=1e-14)
        assert not np.any(blocks.C1)
        assert not np.any(blocks.C4)
    assert_roots(ap.linearize(low).eigenvalues, [4.42944691807002017j] * 2, rtol=1e-12)
    assert [ap.stability(e).verdict.name for e in (low, high)] == ["LYAPUNOV", "UNSTABLE"]


def test_pendulum_in_a_turning_frame_has_gyroscopic_terms():
    rest = next(e for e in ap.equilibrium(pendulum(turning=True)).branches if e["z"] < -0.4)
    lin = ap.linearize(rest, dependent=["z"])
    np.testing.assert_allclose(lin.blocks.G, [[0, -1.2], [1.2, 0]], rtol=1e-12, atol=0)
    assert_roots(lin.eigenvalues, [2.42944691807002j, 6.42944691807002j], rtol=1e-12)
    proof = ap.stability(lin)
    assert proof.verdict.name == "LYAPUNOV"
    assert proof.forces.gyroscopic


MOTOR_WEIGHTS, MOTOR_PRICE = [1, 200, 0.01, 10, 0.01], 0.02
MOTORS = [
    (
        E1, 0.126012647312446, 2.38289916067836,
        [-1840.30245983, -55.4663737844, -0.557922993293 + 0.81697035795j, 0.863700188107],
        [12.018762657651, -100.854726595907, 0.500568615587897, -59.3055825244241, 0.358904104060093],
        [-1840.77521301, -79.2701387165, -7.0143651379, -2.42583647907 + 2.0511538298j],
        {0.1: (0.3454094560514, 0.2489529265319, -0.2243977902892, -0.0224583548655, 0.1107658893225),
         0.5: (-0.01759018176994, 0.227938653946, -0.6411609679398, -0.06290946015318, 0.1270869509405),
         1.0: (-0.0965256216567, 0.2050199160686, 0.110904593852, -0.0259035108054, 0.1262833713362)},
    ),
    (
        E3, 0.106754854067973, 2.01873429042537,
        [-1831.59749466, -66.9925291084, -0.180646487452 + 0.489684209522j, 2.14837905052],
        [13.1250009283457, -100.723623645039, 0.486008254480259, -62.6465968663792, 0.40792502467905],
        [-1831.74127243, -94.4072191362, -7.10468193087, -2.17113332902 + 1.88861000103j],
        {0.1: (0.8007779535914, 0.2394434093744, 0.158676841509, -0.01256033309156, 0.07622227280833),
         0.25: (0.7425608894234, 0.2360090490817, -0.7157873763199, -0.03228649053976, 0.08419733692931)},
    ),
]  # fmt: skip


@pytest.fixture(scope="module")
def driven_beam():
    motor = ap.control.Motor(resistance=18.91, constant=0.1491, inductance=0.01, gear=4.2)
    return ap.compile(ap.derive(ap.control.with_motors(ap.library.ball_and_beam(), motor)))


@pytest.mark.parametrize(("case", "current", "voltage", "roots", "K", "closed", "expected"), MOTORS, ids=["E1", "E3"])
def test_ball_and_beam_with_its_motor(driven_beam, case, current, voltage, roots, K, closed, expected):
    rest = beam_rest(driven_beam, case)
    assert rest["i_tau"] == pytest.approx(current, rel=RTOL)
    assert rest["e_tau"] == pytest.approx(voltage, rel=RTOL)
    lin = ap.linearize(rest, dependent=["alpha"])
    assert lin.states == ("theta", "xi", "theta.rate", "xi.rate", "i_tau")
    assert_roots(lin.eigenvalues, roots)
    assert_roots(ap.linearize(rest, dependent=["theta"]).eigenvalues, roots)
    feedback = ap.control.lqr(lin, MOTOR_WEIGHTS, MOTOR_PRICE)
    np.testing.assert_allclose(feedback.K[0], K, rtol=RTOL, atol=0)
    assert_roots(feedback.roots, closed)
    assert (feedback.certificate.verdict.name, feedback.certificate.zeros_found) == ("ON_CONSTRAINTS", 1)
    assert ap.control.controllability(lin).rank == 5
    for time, values in expected.items():
        # A run to each time: the root of the coil at -1840 limits the steps, and between their ends an explicit method
        # is some thousand times less accurate than at them.
        motion = ap.simulate(feedback.system, feedback.start(case["start"]), until=time, at=[0, time], method="dop853")
        np.testing.assert_allclose([motion.columns[s][-1] for s in lin.states], values, rtol=RTOL, atol=1e-12)


def test_delta_robot_with_its_motors():
    motor = ap.control.Motor(resistance=1.8, constant=0.6, inductance=0.007, gear=55)
    system = ap.compile(ap.derive(ap.control.with_motors(ap.library.delta_robot(), motor)))
    rest = ap.equilibrium(system, {"x": 0.0, "y": 0.0, "z": -0.9}, starts=3)
    assert rest["i_tau2"] == pytest.approx(-0.535251711725542, rel=RTOL)
    assert rest["e_tau3"] == pytest.approx(-0.963453081105975, rel=RTOL)
    lin = ap.linearize(rest, dependent=PLACE)
    slow = sorted((e for e in lin.eigenvalues if abs(e) < 1), key=lambda e: e.real)
    np.testing.assert_allclose(slow, [-0.0210264062915, -0.0210264062915, 0.00402925562006], rtol=ROOTS, atol=0)
    feedback = ap.control.lqr(lin, [1e4] * 3 + [1e2] * 3 + [1.0] * 3, 1.0)
    expected = [
        (99.50057707785, 0.331162220522), (1.807170049156, -0.03981212467776), (0.3739598866086, 0.01383699077936)
    ]  # fmt: skip
    np.testing.assert_allclose(feedback.K, np.hstack([circulant(*e) for e in expected]), rtol=RTOL, atol=0)
    roots = [
        -156.026959307 + 315.334225038j,
        *[-153.034813145 + 240.53146587j] * 2,
        -2.89747633842,
        *[-2.8967485378] * 2,
    ]
    found = sorted(feedback.roots[feedback.roots.imag > -1e-6], key=lambda e: round(e.real, 5))
    np.testing.assert_allclose(found, sorted(roots, key=lambda e: round(e.real, 5)), rtol=ROOTS, atol=0)
    assert ap.control.minimum_controls(lin).number == 2
    assert feedback.certificate.zeros_found == 3


def test_smallest_number_of_controls(beam, delta):
    for case in (E1, E3):
        for dependent in (["alpha"], ["theta"]):
            assert ap.control.minimum_controls(ap.linearize(beam_rest(beam, case), dependent=dependent)).number == 1
    for dependent in (PLACE, PHI):
        found = ap.control.minimum_controls(ap.linearize(delta_rest(delta, D1), dependent=dependent))
        assert found.number == 2
        assert abs(found.root.imag) == pytest.approx(2.51497781762, rel=1e-8)
    assert ap.control.minimum_controls(ap.linearize(delta_rest(delta, D2), dependent=PLACE)).number == 1
