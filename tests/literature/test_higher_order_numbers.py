"""Reference numbers of higher-order dynamics: 220-digit Newton-Euler on the direct chain, and König's energies.

Source: reference set of the higher-order pages, 4b-4e; the same numbers by Pinocchio where it has them.
"""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import appell as ap
from appell.higher_order import Dynamics, Friction

Q2 = np.array([[0.3, 0.7, -1.1, 2, -3.5, 5, -4], [-0.8, 1.2, 0.9, -1.5, 2.5, -6, 3]])
Q3 = np.array(
    [
        [0.4, -0.9, 1.3, -2.2, 3.1, -4, 6],
        [-0.6, 0.8, -1.7, 2.4, -0.6, 5.5, -7],
        [0.35, 0.5, -0.4, 1.6, -2.8, 3.3, 2],
    ]
)
LOAD2, LOAD3 = (4, -7, 2, 0.5, -0.3, 1.1), (-6, 3, 10, 0.2, 0.9, -0.4)
RUB2 = Friction((0.3, 0.2), (0.15, 0.1), (0.08, 0.05))
RUB3 = Friction((0.12, 0.09, 25), (0.15, 0.12, 0.08), (0.08, 0.06, 0))


@pytest.fixture(scope="module")
def two():
    return Dynamics(ap.library.planar_2r(), LOAD2, RUB2)


@pytest.fixture(scope="module")
def three():
    return Dynamics(ap.library.rrp_arm(), LOAD3, RUB3)


def close(found, wanted, rtol=1e-12, atol=0.0):
    assert_allclose(found, wanted, rtol=rtol, atol=atol)


def plain(arm, Q):
    return arm.inverse(Q, payload=False, friction=False)


def test_matrices_of_the_planar_arm(two):
    close(two.mass_matrix(Q2[:, 0]), [[1.13718268373887, 0.247341341869433], [0.247341341869433, 0.108]])
    still = Q2[:, :3].copy()
    still[:, 2] = 0
    V = two.inverse(still, gravity=False, payload=False, friction=False)[:, 0]
    close(V, [0.447630200721302, -0.0703008969081532])
    close(two.forces(Q2[:, :3])["gravity"][:, 0], [19.8443731499217, 3.44363397285782])


def test_forces_of_the_planar_arm_to_the_fourth_derivative(two):
    wanted = [
        [19.2637096062127, 3.19845759989329],
        [1.29281666265061, 4.02058410637517],
        [-19.4329813173446, -13.7373670096061],
        [26.7390701239349, -4.99053084585700],
        [-123.332439133028, 22.8859555646184],
    ]
    close(plain(two, Q2).T, wanted)
    inertia = two.forces(Q2)["inertia"]
    close(inertia[:, 1], [1.26975182053410, 0.446179060757672])
    close(inertia[:, 2], [-4.16952477851444, -0.929595204892763])


def test_energies_of_the_planar_arm(two):
    wanted = [0.564136484686346, 0.971515391833345, 1.80666255419922, 19.9490342994078, 450.300493603322]
    close([two.energy(Q2, p) for p in range(6)], [*wanted, 7933.23549529195])


def test_matrices_of_the_spatial_arm(three):
    M = three.mass_matrix(Q3[:, 0])
    close(M[0], [0.548408221430002, -0.0269053872571715, -0.0619001711182259])
    close(M[1:, 1:], [[0.45385, 0.015], [0.015, 1.5]])
    still = Q3[:, :3].copy()
    still[:, 2] = 0
    V = three.inverse(still, gravity=False, payload=False, friction=False)[:, 0]
    close(V, [-0.971943463403361, 0.377194043835855, -0.988432307686565])
    close(three.forces(Q3[:, :3])["gravity"][:, 0], [0, -7.91975952165659, 8.30871399600795], atol=1e-14)


def test_forces_of_the_spatial_arm_to_the_fourth_derivative(three):
    wanted = [
        [-0.188513548759877, -8.35508748125505, 6.61431146586769],
        [1.41858909444838, -12.1944292545650, -5.08410068024347],
        [-3.65033971918205, 18.9405930016835, 10.0523911162361],
        [-16.9122242221080, -25.4044279258139, -11.3639970028139],
        [199.367572648137, -103.758768075546, -24.3646245802443],
    ]
    close(plain(three, Q3).T, wanted)


def test_energies_of_the_spatial_arm_and_their_terms(three):
    wanted = [0.608064285507516, 1.63229483647406, 24.4612242114785, 502.796979106819, 12781.2870642694]
    close([three.energy(Q3, p) for p in range(6)], [*wanted, 525469.164095029])
    first = {"2|2": 1.34106719192818, "2|11": -1.50938345387070, "11|11": 1.80061109841657}
    second = {
        "3|3": 4.97178494291462,
        "3|21": -4.43462655631921,
        "3|111": -8.63588438715424,
        "21|21": 35.9721256162768,
        "21|111": -8.67837507438151,
        "111|111": 5.26619967014202,
    }
    for p, terms in ((1, first), (2, second)):
        found = three.terms(Q3, p)
        assert list(found) == list(terms)
        close(list(found.values()), list(terms.values()))
    for p in (3, 4):
        terms = three.terms(Q3, p)
        assert len(terms) == {3: 15, 4: 28}[p]
        close(sum(terms.values()), three.energy(Q3, p), 1e-12)


def test_gradients_of_the_spatial_arm(three):
    close(three.gradient(Q3, 2, 3), [2.96927692408, -1.515597356852, 4.401813644859], 1e-10)
    close(three.gradient(Q3, 1, 1), [-3.101375659262, 1.453128573719, 0.459873067228], 1e-10)
    close(three.gradient(Q3, 2, 2), [16.451559959605, -17.080237071574, -21.019546581728], 1e-10)
    close(three.gradient(Q3, 1, 0), [0, 0.399014924163, 2.780679953329], 1e-10, atol=1e-13)


def test_payload(two, three):
    close(two.forces(Q2[:, :4])["payload"].T, [[-5.57318566451412, -1.7], [-1.34079947934480, 0]], atol=1e-14)
    close(two.inverse(Q2[:, :4], friction=False)[:, 0], [13.6905239416986, 1.49845759989329])
    close(two.inverse(Q2[:, :4], friction=False)[:, 1], [-0.0479828166941860, 4.02058410637517])
    close(three.forces(Q3[:, :4])["payload"].T, [[2.18301664773223, -4.8, -6], [1.44468896804318, -5, 0]], atol=1e-14)
    close(three.inverse(Q3[:, :4], friction=False)[:, 0], [1.99450309897236, -13.1550874812551, 0.614311465867687])
    close(three.inverse(Q3[:, :4], friction=False)[:, 1], [2.86327806249157, -17.1944292545650, -5.08410068024347])


def across(arm):
    """|k x f| of the RRP arm, whose axes are z, y and x."""
    f = arm.reactions(Q3[:, :3])[0][..., 0]
    return [np.hypot(f[0, 0], f[0, 1]), np.hypot(f[1, 0], f[1, 2]), np.hypot(f[2, 1], f[2, 2])]


def test_friction_without_payload():
    arm = Dynamics(ap.library.rrp_arm(), friction=RUB3)
    found = arm.forces(Q3[:, :4])["friction"]
    close(found[:, 0], [-0.124370962171538, 0.229808005778133, 13.5111468861098])
    close(found[:, 1], [0.188464885923625, -0.131987145326486, -9.33825231001047])
    close(across(arm), [2.72849369525625, 43.8355571605926, 12.6393360763723])
    planar = Dynamics(ap.library.planar_2r(), friction=RUB2).forces(Q2[:, :4])["friction"]
    close(planar[:, 0], [0.495630514329963, 0.287753547413616])
    close(planar[:, 1], [-0.321349235658262, 0.179368119860356])


def test_friction_with_payload(two, three):
    close(two.inverse(Q2[:, :3])[:, 0], [14.1377862503181, 1.76611162144317])
    close(three.forces(Q3[:, :3])["friction"][:, 0], [-0.189301430743522, 0.253441452329766, 14.3174821631540])
    close(three.inverse(Q3[:, :3])[:, 0], [1.80520166822883, -12.9016460289253, 14.9317936290217])
    close(across(three), [13.5502384572536, 50.4004034249349, 22.7185270394247])


def test_motion_of_the_planar_arm_under_constant_torques():
    found = Dynamics(ap.library.planar_2r()).forward(Q2[:, 0], Q2[:, 1], [[5, 0, 0, 0, 0], [-1, 0, 0, 0, 0]])
    wanted = [
        [-9.24479020647265, 52.0511959855749, -683.793185837493, -6282.83148502262, 108093.561779363],
        [-19.3214283424012, -155.518728501534, 2133.54262066409, 10597.1087929612, -137668.159834452],
    ]
    close(found[:, 2:], wanted)
