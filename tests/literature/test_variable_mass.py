"""Variable mass: reference numbers to 12 digits, by every formulation that accepts the case.

Sources of the numbers: closed forms evaluated with 30 digits where there is one; else Newton's law with multipliers in
the inertial frame, integrated by DOP853 at 1e-13 and compared with a second formulation and LSODA (largest difference
7e-12). The pursuit is Qiao 1990, section VIII.
"""

from dataclasses import dataclass
from math import atan2, atanh, cos, log, nan, sin, sqrt, tan, tanh

import numpy as np
import pytest
import scipy.integrate
import sympy as sp
import sympy.physics.mechanics as me

import appell as ap
from appell.kinematics.consistency import project_velocities
from appell.kinematics.mechanics import Mechanics

t = ap.t
x, y, z = ap.coordinates("x y z")
u1, u2 = ap.speeds("u1 u2")
ground = ap.Frame("ground")
g = 9.81


def rational(number):
    return sp.Rational(str(number))


@dataclass(frozen=True)
class Case:
    """A model, its start, q and q' at some times (nan where no number is known), and quasi-velocities to try."""

    model: ap.Model
    start: dict
    table: dict
    quasi: tuple = ()
    nonlinear: tuple = ()
    dependent: tuple = ()
    carrier: ap.Frame | None = None
    linear: bool = True
    spread: float = 0.1

    def formulations(self):
        listed = [ap.GibbsAppell()]
        listed += [ap.GibbsAppell(speeds=speeds) for speeds in (*self.quasi, *self.nonlinear)]
        listed += [ap.GibbsAppell(dependent=[q]) for q in self.dependent]
        return listed

    def others(self):
        listed = [ap.Multipliers(), ap.UdwadiaKalaba()]
        if self.linear:
            listed += [ap.Voronets(), *(ap.Voronets(dependent=[q]) for q in self.dependent)]
        return listed if self.carrier is None else [*listed, ap.RelativeMotion(self.carrier)]


def line(mass, velocity, force=0, weight=0, absolute=False):
    """A particle on the x axis with one stream."""
    body = ap.Particle("body", mass, ground.point(x, 0))
    forces = [ap.Stream(body, velocity * ground.x, absolute=absolute)]
    if force:
        forces.append(ap.Force(force * ground.x, body))
    if weight:
        forces.append(ap.Gravity(weight * ground.x))
    return ap.Model(ground, x, [body], forces)


def pursuit(form="coordinates", **values):
    """Case (a): dependent velocity y', or the speed towards the target."""
    model = ap.library.pursuit(form)
    return ap.Model(
        model.ground,
        model.coordinates,
        model.bodies,
        model.forces,
        model.constraints,
        values={**model.values, **values},
    )


PURSUIT_A2 = {"mu": 0.3, "g": 0.0, "eta_0": 1.0, "eta_1": 0.0, "xi_0": 0.0, "xi_1": 0.8, "xi_2": 0.0}
A1 = {
    0.25: (-5.592663283833, 7.542789072783, 2.265543988377, -2.508020704839),
    0.5: (-4.863897944783, 6.749075245611, 3.571024506210, -3.836417695056),
    1.0: (-2.403734799326, 4.179207691991, 6.294637767697, -6.438867088596),
    1.2: (-1.031791110356, 2.787050409105, 7.430132825219, -7.484287967168),
}
A2 = {
    1.0: (-2.924191787081, 2.271068483577, nan, nan),
    4.0: (0.643475492515, 0.725681030427, nan, nan),
    6.0: (3.189372084909, 0.209755770898, nan, nan),
}
AWAY = {u1: x.rate * y.rate}  # a nonlinear quasi-velocity


def pursuit_cases():
    start_1 = {x: -6, y: 8, x.rate: 1, y.rate: -8 / 7}
    start_2 = {x: -4, y: 3, x.rate: 1.3 * 0.8, y.rate: -1.3 * 0.6}
    speeds = (ap.library.pursuit_speeds(), {u1: x.rate - t * y.rate})
    yield "a1", Case(pursuit(), start_1, A1, speeds, (AWAY,), (x, y))
    yield "a1 quasi", Case(pursuit("quasi"), start_1, A1, speeds, (AWAY,), (x, y))
    # Straight above the target (x = xi) only the row of the quasi form is defined.
    yield "a2", Case(pursuit("quasi", **PURSUIT_A2), start_2, A2, speeds[:1], (), (x,))


def straight_cases():
    scaled, curved = ({u1: x.rate * (1 + x**2 / 1000) + t},), ({u1: x.rate + x.rate**3 / 100},)
    fast = ({u1: x.rate + x.rate**2 / 10_000},)
    rocket = {
        10.0: (1658.01589486322, 348.187102628420),
        20.0: (7388.46257404056, 825.451247531981),
        40.0: (39963.2417513180, 2826.47582486820),
    }
    yield "c1", Case(line(100 - 2 * t, -2000, weight=-g), {}, rocket, ({u1: 3 * x.rate + t},), fast)
    burning = {5.0: (115.875, 35.95), 10.0: (360.5, 61.9)}
    yield "c2", Case(line(7 * sp.exp(-t / 20), -300, weight=-g), {x: 1, x.rate: 10}, burning, scaled, fast)
    drop = {2.0: (19.2545983786050, 16.3711111111111), 10.0: (326.582858559113, 59.26)}
    yield "c3", Case(ap.library.raindrop(), {"s.rate": 2}, drop)
    yield (
        "c3 absolute",
        Case(line(1 + rational(0.4) * t, 0, weight=g, absolute=True), {x.rate: 2}, drop, scaled, curved),
    )
    chain = {
        0.5: (1.46485000377176, 4.45277873073978),
        1.0: (4.21891826937943, 6.46657367043449),
        2.0: (12.3974813607173, 9.84871821786031),
    }
    yield "e1", Case(line(rational(0.5) + x / 5, -x.rate, weight=g), {x.rate: 1}, chain, scaled, curved)
    mass = 2 / sp.sqrt(1 - x.rate**2 / 9)  # (m v)' = F with this mass is a charge at relativistic speeds
    relativistic = {2.0: (1.41640786499874, 1.34164078649987), 10.0: (20.3109888428070, 2.78543007265578)}
    moment = ({u1: mass * x.rate},)
    yield "e2", Case(line(mass, -x.rate, rational(1.5)), {}, relativistic, scaled, (*curved, *moment), spread=0.02)
    quadratic = {1.0: (nan, 1.31610288103672), 5.0: (nan, 2.87451390644897)}
    yield "e2b", Case(line(1 + rational(0.3) * x.rate**2, -x.rate, 2), {}, quadratic, scaled, curved)


def plane_cases():
    velocity = ground.vector(x.rate, y.rate)
    body = ap.Particle("body", 4 - rational(0.3) * t, ground.point(x, y))
    row = ap.Nonholonomic(x.rate**2 + y.rate**2 - 25, "speed")
    start = {x.rate: 5 * cos(0.9), y.rate: 5 * sin(0.9)}
    speeds = ({u1: x.rate}, {u1: y.rate + t * x.rate / 10}), ({u1: sp.atan2(y.rate, x.rate)},)

    def model(lost):
        return ap.Model(ground, (x, y), [body], [ap.Gravity(-g * ground.y), ap.Stream(body, lost)], [row])

    end = {2.0: (6.007972594778, -4.344282317400, nan, nan)}
    yield "d1", Case(model(-rational(0.4) * velocity), start, end, *speeds, (y,), linear=False)
    sideways = {
        1.0: (4.319082045372, 0.172213286169, 3.331409688808, -3.728499629250),
        2.0: (5.833208008408, -4.506109298445, 0.421171072878, -4.982229915146),
    }
    normal = rational(0.6) * ground.vector(-y.rate, x.rate)
    yield "d2", Case(model(normal), start, sideways, *speeds, (y,), linear=False)


def cone_case():
    velocity = ground.vector(x.rate, y.rate, z.rate)
    body = ap.Particle("body", 3 * sp.exp(-rational(0.08) * t), ground.point(x, y, z))
    model = ap.Model(
        ground,
        (x, y, z),
        [body],
        [
            ap.Gravity(-g * ground.z),
            ap.Force(-rational(0.2) * velocity, body),
            ap.Stream(body, ground.vector(-20, 12, 5)),
        ],
        [ap.Nonholonomic(z.rate - rational(0.75) * sp.sqrt(x.rate**2 + y.rate**2), "slope")],
    )
    table = {
        0.5: (1.508734090993, 0.249932885614, 1.148745251215, 2.025168036851, 0.092057251369, 1.520444446435),
        1.0: (2.026395435083, 0.216912298757, 1.539402312545, 0.076219415930, -0.033504276540, 0.062443686230),
    }
    speeds = {u1: x.rate + y.rate, u2: y.rate - t * z.rate}
    polar = {u1: z.rate, u2: sp.atan2(y.rate, x.rate)}
    start = {x.rate: 4, y.rate: 1, z.rate: 0.75 * sqrt(17)}
    yield "d3", Case(model, start, table, (speeds,), (polar,), (z,), linear=False)


def relative_cases():
    rod = ground.rotate("z", rational(1.2) * t, "rod")
    bead = ap.Particle("bead", 2 * sp.exp(-rational(0.3) * t), rod.point(x, 0))
    closed = {1.0: (0.8960069687258, 0.7848500988973), 3.0: (7.7947143077388, 9.1454600525524)}
    model = ap.Model(ground, x, [bead], [ap.Stream(bead, rational(0.8) * rod.x)])
    scaled, curved = ({u1: x.rate * (2 + x**2) + t},), ({u1: x.rate + x.rate**3},)
    yield "f2", Case(model, {x: 0.5, x.rate: 0.1}, closed, scaled, curved, carrier=rod)
    turned = ground.rotate("z", t / 2 + rational(0.4) * (1 - sp.cos(t)), "carrier")
    carrier = turned.at(ground.point(rational(0.3) * t**2, rational(0.1) * sp.sin(2 * t)))
    body = ap.Particle("body", 2 + rational(0.3) * x**2, carrier.point(x, y))  # lost at rest relative to the body
    straight = {
        1.0: (1.1557005287111, 0.2307921590435, 0.1352447542236, -0.1672758862631),
        4.0: (4.3020063030149, -0.4667450512969, 2.2366031451667, -0.2325086109750),
    }
    start = {x: 1, y: 0.5, x.rate: 0.3, y.rate: -0.2}
    speeds = {u1: x.rate - y, u2: y.rate + x + t}
    twisted = {u1: x.rate + y.rate**3, u2: y.rate - x.rate**3}
    yield "f3", Case(ap.Model(ground, (x, y), [body]), start, straight, (speeds,), (twisted,), carrier=carrier)


CASES = dict(
    entry for cases in (pursuit_cases, straight_cases, plane_cases, cone_case, relative_cases) for entry in cases()
)
TRAJECTORIES = [(name, i) for name, case in CASES.items() for i in range(len(case.formulations()))]


def bound(model, formulation=None):
    return ap.compile(ap.derive(model, formulation)).bind()


def run(model, start, until, formulation=None, **options):
    system = bound(model, formulation)
    state = system.consistent(start) if model.rows else system.state(start)
    motion = ap.simulate(system, state, until, **options)
    assert motion.outcome is ap.Outcome.DONE
    return motion


def assert_table(motion, table):
    for time, numbers in table.items():
        known = ~np.isnan(numbers)
        np.testing.assert_allclose(motion.at(time).array[known], np.array(numbers)[known], rtol=1e-10, atol=1e-11)


@pytest.mark.parametrize(("name", "which"), TRAJECTORIES, ids=lambda part: str(part))
def test_trajectory(name, which):
    case = CASES[name]
    method = "auto" if which == 0 else "dop853"
    motion = run(case.model, case.start, max(case.table), case.formulations()[which], method=method)
    assert_table(motion, case.table)


@pytest.mark.parametrize("name", CASES)
def test_every_formulation_has_the_same_accelerations(name):
    """At random states on the constraints near the motion, to 1e-12."""
    case = CASES[name]
    motion = run(case.model, case.start, max(case.table))
    mechanics, rng = Mechanics(case.model), np.random.default_rng(5)
    n, states = len(case.model.coordinates), []
    for time in rng.uniform(0, max(case.table), 6):
        q, v = np.split(motion.at(time).array * (1 + case.spread * rng.uniform(-1, 1, 2 * n)), 2)
        v, left = project_velocities(mechanics, time, q, v, np.zeros(0), motion.system.p)
        assert left < 1e-12
        states.append(ap.State(case.model, np.concatenate([q, v]), time))
    expected = None
    for formulation in (*case.others(), *case.formulations()):
        system = bound(case.model, formulation)
        found = np.array([system.accelerations(state) for state in states])
        assert np.all(np.isfinite(found))
        expected = found if expected is None else expected
        scale = np.maximum(1.0, np.max(np.abs(expected), axis=1, keepdims=True))
        assert np.max(np.abs(found - expected) / scale) < 1e-12, formulation.name


def test_invariants_of_the_pursuit():
    """Without weight and thrust two integrals are known in closed form (a2)."""
    motion = run(CASES["a2"].model, CASES["a2"].start, 6.0, ap.GibbsAppell(speeds=ap.library.pursuit_speeds()))
    speed, c = 1.3, 0.8
    for time in np.linspace(0, 6, 13):
        at_x, at_y, v_x, v_y = motion.at(time).array
        gap = c * time - at_x
        r, psi = sqrt(gap**2 + at_y**2), atan2(at_y, gap)
        # psi is the angle of the line from the target's course; at first the target is ahead.
        assert r * sin(psi) / tan(psi / 2) ** (speed / c) == pytest.approx(17.883120117794, rel=1e-10)
        assert r * (speed + c * cos(psi)) + (speed**2 - c**2) * time == pytest.approx(9.7, rel=1e-10)
        assert sqrt(v_x**2 + v_y**2) == pytest.approx(speed, rel=1e-12)


def test_pursuit_past_the_point_above_the_target():
    """At x = xi form III is singular; the speed towards the target carries on, from one side to the other."""
    model = pursuit("quasi", **PURSUIT_A2)
    v = ap.library.pursuit_speeds()
    motion = run(model, {x: 0.5, y: 3, x.rate: -0.5 * 1.3 / sqrt(9.25), y.rate: -3 * 1.3 / sqrt(9.25)}, 2.0,
                 ap.GibbsAppell(speeds=v))  # fmt: skip
    gap = motion.evaluate(x - rational(0.8) * t)
    assert gap[0] > 0 > gap[-1]
    assert motion.check().ok
    np.testing.assert_allclose(motion["v"], 1.3, rtol=1e-12)


def test_heading_of_constant_speed():
    """d1: sin(phi) = -tanh(g t/c + C), whatever the mass, because what is lost pulls along the velocity."""
    motion = run(CASES["d1"].model, CASES["d1"].start, 2.0)
    for time, phi in ((0.5, 0.072858568014), (1.0, -0.804102001768), (2.0, -1.457528446191)):
        state = motion.at(time)
        assert atan2(state[y.rate], state[x.rate]) == pytest.approx(phi, abs=1e-11)
        assert sin(phi) == pytest.approx(-tanh(g * time / 5 - atanh(sin(0.9))), abs=1e-11)


def test_closed_form_of_a_mass_that_grows_with_the_distance():
    """e1: (m v)^2 = (m0 v0)^2 + 2 g (m^3 - m0^3)/(3 kappa)."""
    motion = run(CASES["e1"].model, CASES["e1"].start, 2.0)
    state = motion.at(2.0)
    m = 0.5 + 0.2 * state[x]
    assert (m * state[x.rate]) ** 2 == pytest.approx(0.25 + 2 * g * (m**3 - 0.125) / 0.6, rel=1e-12)


# What a mass that depends on time means: Meshchersky's law, not (m v)' = F.


def test_the_rocket_is_not_what_kane_s_method_makes_of_it():
    """m0 = 10 kg, 0.5 kg/s at 2000 m/s for 10 s: 1288.19 m/s; (m v)' = F with the same thrust gives 1852.85 m/s."""
    mass = 10 - t / 2
    motion = run(line(mass, -2000, weight=-g), {}, 10.0)
    assert motion.at(10.0)[x.rate] == pytest.approx(1288.1943611199, rel=1e-12)
    assert motion.at(10.0)[x] == pytest.approx(5646.5563888011, rel=1e-12)
    assert 2000 * log(2) - g * 10 == pytest.approx(1288.1943611199, rel=1e-12)

    q, u = me.dynamicsymbols("q u")
    clock = me.dynamicsymbols._t
    frame, point = me.ReferenceFrame("N"), me.Point("P")
    point.set_vel(frame, u * frame.x)
    m = 10 - clock / 2
    body = me.Particle("body", point, m)
    kane = me.KanesMethod(frame, q_ind=[q], u_ind=[u], kd_eqs=[q.diff() - u])
    kane.kanes_equations([body], [(point, (1000 - m * g) * frame.x)])
    rate = (kane.mass_matrix.inv() * kane.forcing)[0]
    function = sp.lambdify((clock, q, u), rate)
    found = scipy.integrate.solve_ivp(
        lambda s, v: [v[1], function(s, *v)], (0, 10), [0, 0], "DOP853", rtol=1e-12, atol=1e-12
    )
    assert found.y[1, -1] == pytest.approx(1852.85, abs=1e-6)
    assert found.y[0, -1] == pytest.approx(7101.68, abs=5e-3)
    # The same law is had by saying what it means: what leaves is at rest, and the engine pushes on the outside.
    pushed = run(line(mass, 0, 1000, -g, absolute=True), {}, 10.0)
    assert pushed.at(10.0)[x.rate] == pytest.approx(1852.85, abs=1e-9)


def test_several_streams_at_once():
    """Two in, two out, one of them along y: m v' = sum mu_k (u_k) with u_k relative."""
    mass = ap.states("mass")
    body = ap.Particle("body", mass, ground.point(x, y))
    v = ground.vector(x.rate, y.rate)
    streams = [
        ap.Stream(body, ground.vector(3, 0), rate=2, absolute=True, name="wind"),
        ap.Stream(body, -v, rate=t, name="dust"),
        ap.Stream(body, ground.vector(-40, 0), rate=-1, name="main jet"),
        ap.Stream(body, ground.vector(0, -10) + v / 2, name="rest"),  # carries what is left of dm/dt
    ]
    model = ap.Model(ground, (x, y), [body], streams, states={mass: 1 - sp.cos(t)})
    motion = run(model, {mass: 5, x.rate: 1, y.rate: -2}, 4.0)

    def rate(s, w):
        m, a, b = w
        rest = 1 - np.cos(s) - (2 + s - 1)
        thrust_x = 2 * (3 - a) - s * a + 40 + rest * a / 2
        thrust_y = -2 * b - s * b + rest * (b / 2 - 10)
        return [1 - np.cos(s), thrust_x / m, thrust_y / m]

    expected = scipy.integrate.solve_ivp(rate, (0, 4), [5, 1, -2], "DOP853", rtol=1e-13, atol=1e-13).y[:, -1]
    state = motion.at(4.0)
    np.testing.assert_allclose([state[mass], state[x.rate], state[y.rate]], expected, rtol=1e-11)
    assert ap.verify(model, ap.GibbsAppell(speeds={u1: x.rate + y, u2: y.rate * (2 + t)})).worst < 1e-12
