"""The three-link manipulator of Jarzebowska et al. with friction and under computed torque.

Numbers: theory page on programmed motion, section 4 (d) and (e); the arm's data are those chosen there.
"""

import numpy as np
import pytest
import sympy as sp

import appell as ap
from appell.errors import ModelError

q = psi1, psi2, z3 = ap.coordinates("psi1 psi2 z3")
TORQUES = ap.inputs("tau1 tau2 tau3")
FRICTION = ((5.0, 0.025, 0.175), (5.0, 0.025, 0.175), (1.0, 0.02, 0.001))  # sigma_0, sigma_1, v_S; Table 1


def arm():
    ground = ap.Frame("ground")
    column = ground.rotate("z", psi1).rotate("x", sp.pi / 2)
    link = column.rotate("z", psi2).rotate("x", -sp.pi / 2)
    shoulder = 1.0 * ground.z
    wrist = shoulder + z3 * link.z
    bodies = [
        ap.RigidBody("link 1", 12, shoulder - 0.5 * column.y, column, (1.0192, 0.0384, 1.0192)),
        ap.RigidBody("link 2", 6, shoulder + 0.02 * link.x + 0.01 * link.y + 0.1 * link.z, link, (0.08, 0.08, 0.012)),
        ap.RigidBody("link 3", 3, wrist - 0.05 * link.z, link, (0.1225, 0.1225, 0.0006)),
    ]
    start = {"psi1": 0.0, "psi2": 1.25 * np.pi, "z3": 0.5}
    model = ap.Model(ground, q, bodies, [ap.Gravity(-9.81 * ground.z)], name="three-link", start=start, until=5.0)
    return model, ground.components(wrist + 0.3 * link.z)


def frictional(model, mu_s, mu_k):
    for coordinate, (stiffness, damping, stribeck) in zip(q, FRICTION, strict=True):
        rub = ap.friction.LuGre(coordinate, stiffness, damping, 0, mu_k, mu_s, stribeck, name=f"rub_{coordinate}")
        model = rub.on(model)
    return model


def programmed(friction=None):
    """The arm on its ellipse, with the height given, turned by the flexible drive (slow programme)."""
    model, (x, y, z) = arm()
    a, height = 0.8 / sp.sqrt(2), 1 - 0.8 / sp.sqrt(2) + (1 - sp.cos(2 * sp.pi * ap.t / 5)) / 20
    rows = [ap.Holonomic((x / a) ** 2 + (y / 0.45) ** 2 - 1, "ellipse"), ap.Holonomic(z - height, "height")]
    turn = 2 * sp.pi * (ap.t / 5 - sp.sin(2 * sp.pi * ap.t / 5) / (2 * sp.pi))
    model = ap.friction.FlexibleDrive(psi1, turn, 1e4, 70).on(model.add(*rows))
    return frictional(model, *friction) if friction else model


@pytest.fixture(scope="module")
def reference():
    return ap.simulate(ap.compile(ap.derive(programmed())), until=5.0)


@pytest.fixture(scope="module")
def rubbing():
    return ap.simulate(ap.compile(ap.derive(programmed((0.1, 0.2)))), until=5.0)


@pytest.fixture(scope="module")
def law():
    return ap.control.ComputedTorque(plant(), [40, 3, 60])


def plant():
    return arm()[0].add(ap.Generalized(dict(zip(q, TORQUES, strict=True)), "motors"))


@pytest.mark.parametrize(
    ("t", "expected"),
    [
        (0.5, [0.0404860588346, 3.93526529574, 0.493084901362, 0.239895249518, 0.0303875559832, -0.0281647326154]),
        (2, [1.9254576271, 3.9110362076, 0.361612071988, 2.2732554317, 0.180977541618, 0.0645604151392]),
        (4, [5.97770199011, 3.94570766542, 0.465603062204, 0.868252447908, 0.0123871812245, 0.0959813267659]),
    ],
)
def test_reference(reference, t, expected):
    np.testing.assert_allclose(reference.states([t])[0], expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(
    ("t", "expected", "bristles", "friction", "torque"),
    [
        (1, [0.305464147065, 3.94570918002, 0.46560426603, 0.868245594968, -0.0123832987531, -0.0959784216798],
         [0.0399760533706, 0.0118625265659, -0.0316005732227],
         [0.199893261575, 0.0588203414247, -0.0332168443421], 1.16882886774),
        (2.5, [3.14157292037, 4.02364702145, 0.432709297701, 2.51311224435, 1.41197473497e-05, 1.25672707653e-05],
         [0.04, 0.0328489536742, -0.00790399794544], [0.2, 0.164244541591, -0.00790372673683], 0.208663702631),
        (5, [6.2831711664, 3.92699081696, 0.499999999977, -9.31023716801e-05, -3.81928605527e-10, -3.05572134561e-10],
         [0.0296593701865, -0.00525600698633, 0.0682169515092],
         [0.148291071677, -0.0262800349387, 0.0682169514989], 0.147924952502),
    ],
)  # fmt: skip
def test_friction_in_the_printed_order(rubbing, t, expected, bristles, friction, torque):
    """Table 1 has mu_s = 0.1 < mu_k = 0.2. Friction is sigma_0 z + sigma_1 z', the torque that of the drive."""
    found = rubbing.states([t])[0]
    np.testing.assert_allclose(found[:6], expected, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(found[6:], bristles, rtol=1e-8, atol=1e-9)
    states = tuple(rubbing.system.model.states)
    resisting = [s * z + d * z.rate for z, (s, d, _) in zip(states, FRICTION, strict=True)]
    turn = 2 * sp.pi * (ap.t / 5 - sp.sin(2 * sp.pi * ap.t / 5) / (2 * sp.pi))
    driving = 1e4 * (turn - psi1) + 70 * (sp.diff(turn, ap.t) - psi1.rate)
    found = [rubbing.evaluate(e, [t])[0] for e in (*resisting, driving)]
    np.testing.assert_allclose(found, [*friction, torque], rtol=1e-8, atol=1e-9)


def test_friction_in_the_physical_order():
    motion = ap.simulate(ap.compile(ap.derive(programmed((0.2, 0.1)))), until=2.5)
    expected = [3.14158292755, 4.0236470215, 0.432709297739, 2.51311101804, 6.95928957774e-06, 6.1941105477e-06]
    np.testing.assert_allclose(motion.states([2.5])[0][:6], expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(
    ("alpha", "torques"),
    [
        (60, [[-0.0138666061964, 10.6616881928, -25.6546203742], [0.153707969282, 9.60652702736, -25.0403452465],
              [0.574814166276, 10.8233529007, -22.6178045568], [0.0142929429967, 9.0020576036, -27.6969424339]]),
        (70, [[-0.0240641218079, 8.92325400116, -27.8226465705], [0.108303339849, 7.26471833009, -27.2635931295],
              [0.593953652408, 10.1899364077, -23.2990191549], [0.0180345893216, 8.98782443615, -27.7097394859]]),
        (80, [[-0.0340008394948, 7.01963561399, -29.1503849119], [0.0689823474113, 4.78119671067, -29.0228618569],
              [0.611758071201, 9.54459135749, -23.9690008333], [0.0217781689099, 8.97358865055, -27.7225329097]]),
    ],
)  # fmt: skip
def test_tracking_without_friction(reference, law, alpha, torques):
    """Disturbed starts: link 2 alone errs, by |45 - alpha| (1 + 3 t) e^(-3t) degrees, and is back after 2.5 s."""
    system = ap.compile(ap.derive(plant()))
    start = {psi2: np.radians(270 - alpha)}
    run = ap.track(system, reference, law, start, until=2.5, at=[0, 0.25, 1, 2.5], rtol=1e-10, atol=1e-12)
    t = run.motion.times
    np.testing.assert_allclose(
        run.error.values[:, 1], np.radians(45 - alpha) * (1 + 3 * t) * np.exp(-3 * t), rtol=0, atol=1e-9
    )
    np.testing.assert_allclose(run.error.values[:, [0, 2]], 0, rtol=0, atol=1e-10)
    np.testing.assert_allclose(np.array([run.motion.columns[n] for n in run.drives]).T, torques, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize(
    ("alpha", "errors", "torques"),
    [
        (60, [[-3.23382769405e-05, -0.217412097456, 1.43588365531e-07],
              [-0.000323750761273, -0.0688782343685, 2.82831044057e-06],
              [-0.000290395092587, -0.019429138102, 7.57164744181e-07]],
         [[0.17620080303, 9.65900905964, -25.048987764], [0.748821028708, 10.7756095533, -22.9652156212],
          [0.181845112441, 8.96479260216, -27.9850329623]]),
        (70, [[-5.18701951258e-05, -0.362147970503, 1.43588365975e-07],
              [-0.000352724456131, -0.1058806205, 2.82831044046e-06],
              [-0.000293463951052, -0.0255197866217, 7.5716474407e-07]],
         [[0.130711171809, 7.33415583546, -27.2627110659], [0.764355503119, 10.128286649, -23.6706418666],
          [0.198542287705, 8.8857554933, -28.0769332665]]),
        (80, [[-9.0686534923e-05, -0.506764856376, 1.43588365586e-07],
              [-0.00038516155226, -0.141339353848, 2.82831044041e-06],
              [-0.000296082984821, -0.0306188299109, 7.5716474407e-07]],
         [[0.0914729082868, 4.85927057661, -29.0062202039], [0.780825724351, 9.47265465876, -24.3345767186],
          [0.212498838886, 8.81961632488, -28.1534291305]]),
    ],
)  # fmt: skip
def test_tracking_with_friction_that_the_controller_does_not_know(rubbing, law, alpha, errors, torques):
    system = ap.compile(ap.derive(frictional(plant(), 0.1, 0.2)))
    start = {psi2: np.radians(270 - alpha)}
    run = ap.track(system, rubbing, law, start, until=2.5, at=[0, 0.25, 1, 2.5], rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(run.error.values[1:], errors, rtol=1e-8, atol=1e-9)
    found = np.array([run.motion.columns[n][1:] for n in run.drives]).T
    np.testing.assert_allclose(found, torques, rtol=1e-8, atol=1e-8)


def test_friction_compensated_by_a_model_that_knows_it(rubbing):
    known = frictional(plant(), 0.1, 0.2)
    law = ap.control.ComputedTorque(known, [40, 3, 60])
    system = ap.compile(ap.derive(known))
    run = ap.track(system, rubbing, law, {psi2: np.radians(210)}, until=1.0, at=[0, 1.0], rtol=1e-9, atol=1e-11)
    assert run.error.values[1, 1] == pytest.approx(-0.0521368960761, rel=1e-7)


MULTIPLIERS = {  # of the rows u and C3, with friction in the printed order and in the physical one
    (0.1, 0.2): {0.5: [-2.06980152385, 26.0590706157], 1.0: [-2.68159541279, 26.1002661375],
                 2.5: [-7.58309246906, 27.2769885998], 5.0: [-1.99937305965, 26.0359715628]},
    (0.2, 0.1): {1.0: [-2.67347843908, 26.111573382], 2.5: [-7.59167771964, 27.2202564095],
                 5.0: [-1.99077998913, 26.0558384609]},
}  # fmt: skip


@pytest.mark.parametrize("friction", list(MULTIPLIERS))
def test_the_library_model_with_friction(rubbing, friction):
    """The programme of the library, as constraints of order zero, against the same arm built here; its forces."""
    model = ap.library.three_link(friction=friction)
    motion = ap.simulate(ap.compile(ap.derive(model)), at=[0.0, *MULTIPLIERS[friction]])
    if friction == (0.1, 0.2):
        np.testing.assert_allclose(motion.states([0.5])[0], rubbing.states([0.5])[0], rtol=1e-9, atol=1e-9)
    reactions = motion.reactions()
    for t, expected in MULTIPLIERS[friction].items():
        found = [float(reactions[name].sel(t=t)) for name in ("ellipse", "height")]
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=0)


def test_many_runs_at_once(reference, law):
    system = ap.compile(ap.derive(plant()))
    alphas = np.array([50.0, 60.0, 80.0])
    starts = np.array([[0, np.radians(270 - alpha), 0.5, 0, 0, 0] for alpha in alphas])
    t, e = ap.control.track_many(system, reference, law, starts, 1.0, step=1e-3)
    expected = np.radians(45 - alphas) * (1 + 3 * t[:, None]) * np.exp(-3 * t[:, None])
    np.testing.assert_allclose(e[:, 1], expected, rtol=0, atol=1e-9)
    np.testing.assert_allclose(e[:, [0, 2]], 0, rtol=0, atol=1e-6)
    with pytest.raises(ModelError, match="has kinks"):
        ap.control.track_many(
            ap.compile(ap.derive(frictional(plant(), 0.1, 0.2))), reference, law, np.zeros((1, 9)), 1.0
        )
