"""The spraying robot at work: nozzles, laws, paths, momentum, coverage, irregular flow, the study."""

import json

import numpy as np
import pytest
import sympy as sp
from scipy.integrate import solve_ivp
from typer.testing import CliRunner

import appell as ap
from appell.control import PID
from appell.errors import ModelError
from appell.sprayer import (
    Nozzle,
    Path,
    Sprayer,
    Strip,
    boom,
    circle,
    corners,
    cover,
    drive,
    follow_by_linearization,
    follow_by_pid,
    hold_speeds,
    irregular,
    momentum,
    start,
    straight,
    zigzag,
)

OUTER = (PID(1.5, 0.3, clamp=1, limit=1.5), PID(3, 1, 3, clamp=1, limit=1))
INNER = (PID(600, 300, clamp=1, limit=300), PID(300, 300, clamp=1, limit=150))
SIDE = corners(sp.pi / 2)
BESIDE = (-0.5, 1.0, -0.3)


def run(robot, path, law, until, offset=(0.0, 0.0, 0.0), **options):
    system = drive(robot, path, law)
    options = {"method": "dop853", "rtol": 1e-10, **options}
    return ap.simulate(system, start(system, path, offset=offset), until, **options)


def distance(motion, path):
    return np.hypot(*(motion[s].values - motion.evaluate(e) for s, e in zip("xy", path.position, strict=True)))


# The model.


def test_nozzles_anywhere():
    model = ap.library.sprayer([(0.3, -1.0, -1.2, 0.2), (0.1, 0.8, 1.0, 0.3, 2.0)])
    assert [f.name for f in model.forces if isinstance(f, ap.Stream)] == ["jet 1", "jet 2"]
    assert {p.label for p in model.parameters} == {"R", "a", "d", "I", "Iw", "m_empty", "k_d", "k_f", "u0"}
    assert len(boom(7, 3.0)) == 7
    assert sum(float(k.mass) for k in boom(5, 3.0, mass=4.0)) == pytest.approx(4.0)


@pytest.mark.parametrize("options", [{}, {"internal_flow": True, "separate_tank": True}])
def test_all_nozzles_closed(options):
    robot = Sprayer(nozzles=[(0.5, 0.5, 1.2, 0), (0.5, -0.5, -1.2, 0)], **options)
    system = ap.compile(ap.derive(robot.model, robot.formulation)).bind()
    motion = ap.simulate(system, until=2.0, points=3)
    assert motion["m"].values.tolist() == [150.0] * 3
    assert motion.check().ok
    assert repr(cover(robot, motion)) == "nothing sprayed"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"nozzles": 3}, "an even number"),
        ({"nozzles": []}, "at least one nozzle"),
        ({"nozzles": "four"}, "got 'four'"),
        ({"nozzles": 4.0}, "an even number of nozzles, or a list"),
        ({"nozzles": [(0.5, 0.2)]}, "at least x, y and angle"),
        ({"nozzles": [(0, 0, 0, -1)]}, "flow of a nozzle must not be negative"),
        ({"mode": "exact"}, "use 'consistent' or 'paper'"),
        ({"drive": "legs"}, "'wheels'"),
        ({"mode": "paper", "internal_flow": True}, "neither internal flow nor a tank"),
    ],
)
def test_wrong_options(options, message):
    with pytest.raises(ModelError, match=message):
        ap.library.sprayer(**options)


def test_operations_grow_linearly():
    counts = [ap.derive(ap.library.sprayer(n), Sprayer(n).formulation).operations for n in (4, 40, 160)]
    slopes = (counts[1] - counts[0]) / 36, (counts[2] - counts[1]) / 120
    assert slopes[1] == pytest.approx(slopes[0], rel=0.02)
    assert slopes[1] < 32


def test_a_start_from_rest():
    """Quadratic drag has no derivative at rest; the run must begin all the same."""
    system = ap.compile(ap.derive(ap.library.sprayer(), Sprayer().formulation)).bind()
    for method in ("auto", "dop853"):
        motion = ap.simulate(system, {"m": 150.0}, 5.0, method=method)
        assert motion.outcome.ok
        assert 0.2 < float(motion["v"][-1]) < 0.6


@pytest.mark.parametrize("internal_flow", [False, True])
@pytest.mark.parametrize("separate_tank", [False, True])
def test_momentum_balance(internal_flow, separate_tank):
    unsteady = sp.Rational(7, 10) + sp.sin(ap.t) / 2
    nozzles = [Nozzle(0.5, -0.6, -2.0, unsteady, None, 1.5), Nozzle(-0.3, 0.5, 1.9, 0.4, 0.8, 2.0)]
    robot = Sprayer(nozzles, internal_flow=internal_flow, separate_tank=separate_tank, drive="wheels")
    system = ap.compile(ap.derive(robot.model, robot.formulation)).bind()
    motion = ap.simulate(system, {"v": 1.0, "omega": 0.3, "m": 112.0}, 20.0, points=2)
    assert len(motion.occurrences) == 1  # the tank is empty, the run goes on
    balance = momentum(robot, motion)
    assert balance.error < 1e-11
    assert np.abs(balance.carried).max() > 5
    assert motion.check().balance < 1e-10


def test_wheel_torques_and_body_forces_are_the_same_drive():
    path = zigzag()
    ends = []
    for kind in ("body", "wheels"):
        robot = Sprayer(4, drive=kind)
        ends.append(run(robot, path, follow_by_linearization(robot, path, 0.5, 4, 4), 5.0, BESIDE).states(5.0)[0])
    np.testing.assert_allclose(ends[0], ends[1], rtol=1e-9, atol=1e-9)


# Laws.


def test_derivative_gain_is_added_inertia():
    """(M + K_d) u' = ... + K_p e + K_i z + K_d u_ref', eq. (50) as force and moment, against the closed form."""
    robot, path = Sprayer(SIDE, values={"Iw": 0.0, "k_d": 0.0, "k_f": 0.0}), zigzag()
    motion = run(robot, path, hold_speeds(robot, path, PID(30, 10, 20), PID(25, 15, 6)), 8.0)

    def f(t, x):
        v, w, zv, zw, m = x
        ev, ew, dw = 1 - v, 0.2 * np.sin(0.5 * t) - w, 0.1 * np.cos(0.5 * t)
        force = m * 0.2 * w**2 + 30 * ev + 10 * zv
        moment = -m * 0.2 * v * w + 25 * ew + 15 * zw + 6 * dw
        return [force / (m + 20), moment / (10 + 0.04 * m + 6), ev, ew, -2.0]

    expected = solve_ivp(f, (0, 8), [1, 0, 0, 0, 150], method="DOP853", rtol=1e-11, atol=1e-12).y[:, -1]
    found = [float(motion[name][-1]) for name in ("v", "omega", "v_int", "omega_int", "m")]
    np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-9)


def test_derivative_gain_with_a_limit_or_an_outer_loop_is_refused():
    robot, path = Sprayer(), circle()
    with pytest.raises(ModelError, match="a limit, which that cannot keep"):
        hold_speeds(robot, path, PID(30, kd=20, limit=5), PID(10))
    with pytest.raises(ModelError, match="comes from an outer loop"):
        follow_by_pid(robot, path, *OUTER, PID(30, kd=20), PID(10))
    lagged = hold_speeds(robot, path, PID(30, kd=20, limit=5, lag=0.05), PID(10))
    assert [z.name for z in lagged.states] == ["v_lag"]


def test_gain_schedule_by_the_mass():
    """A gain in proportion to the mass makes the speed loop the same at every filling."""
    m = ap.states("m", "kg")
    robot, path = Sprayer(SIDE, values={"k_d": 0.0, "k_f": 0.0, "Iw": 0.0}), straight()
    system = drive(robot, path, hold_speeds(robot, path, PID(kp=0.5 * m), PID(10)))
    for mass in (150.0, 120.0):
        state = start(system, path, mass, speed=0.6)
        motion = ap.simulate(system, state, 4.0, method="dop853")
        np.testing.assert_allclose(1 - motion["v"], 0.4 * np.exp(-0.5 * motion.times), rtol=0, atol=1e-10)


@pytest.mark.parametrize("path", [straight(), circle(), zigzag()], ids=lambda path: path.name)
def test_pid_finds_the_path(path):
    robot = Sprayer(SIDE, drive="wheels")
    motion = run(robot, path, follow_by_pid(robot, path, *OUTER, *INNER), 20.0, BESIDE, rtol=1e-8)
    assert motion.outcome.ok
    gone = distance(motion, path)
    assert gone[0] == pytest.approx(np.hypot(0.5, 1.0))
    assert gone[-1] < 5e-3
    assert gone[motion.times > 10].max() < 2e-2


@pytest.mark.parametrize(
    "path",
    [straight(), circle(), zigzag(), Path.from_curve("sine", ap.t, sp.sin(ap.t / 3))],
    ids=lambda path: path.name,
)
def test_linearization_is_exact(path):
    """The look-ahead point obeys e'' + 4 e' + 4 e = 0: e = (e0 + (e0' + 2 e0) t) exp(-2 t), the tank draining."""
    robot, L = Sprayer(LUMPS, internal_flow=True), 0.5
    motion = run(robot, path, follow_by_linearization(robot, path, L, 4, 4), 12.0, BESIDE)
    heading, theta = motion.evaluate(path.heading), motion["theta"].values
    target = [motion.evaluate(e) for e in path.position]
    gap = np.array([
        target[0] + L * np.cos(heading) - motion["x"].values - L * np.cos(theta),
        target[1] + L * np.sin(heading) - motion["y"].values - L * np.sin(theta),
    ])  # fmt: skip
    turn, wanted = motion.evaluate(path.turn)[0], motion.evaluate(path.speed)[0]
    h0, t0, v0 = heading[0], theta[0], float(motion["v"][0])
    rate = np.array([
        wanted * np.cos(h0) - L * turn * np.sin(h0) - v0 * np.cos(t0),
        wanted * np.sin(h0) + L * turn * np.cos(h0) - v0 * np.sin(t0),
    ])  # fmt: skip
    t = motion.times
    expected = (gap[:, :1] + (rate[:, None] + 2 * gap[:, :1]) * t) * np.exp(-2 * t)
    np.testing.assert_allclose(gap, expected, rtol=0, atol=1e-8)
    assert distance(motion, path)[-1] < 1e-6
    assert abs(theta[-1] - heading[-1]) < 1e-6


LUMPS = (Nozzle(0.5, -0.5, -2.0, mass=2.0), Nozzle(-0.5, 0.5, 2.0, mass=1.0), Nozzle(0.0, 0.7, 1.5, 0.3))


def test_paths_are_checked():
    with pytest.raises(ModelError, match="does not fit the yaw rate"):
        Path.from_speeds("bad", 1, sp.sin(ap.t), ap.t)
    with pytest.raises(ModelError, match="stands still"):
        Path.from_curve("bad", ap.t**2, ap.t**2)
    for wrong in (ap.coordinates("x"), ap.parameters("speed"), "fast"):
        with pytest.raises(ModelError, match=r"a formula in appell.t alone"):
            Path.from_speeds("bad", wrong, 0)
    with pytest.raises(ModelError, match="radius of a circle"):
        circle(radius=0)
    with pytest.raises(ModelError, match=r"number of nozzles of a boom must be a whole number.*2\.5"):
        boom(2.5, 3.0)


def test_a_curve_gives_its_speeds():
    path = Path.from_curve("circle", 5 * sp.sin(ap.t / 5), 5 - 5 * sp.cos(ap.t / 5))
    at = {ap.t: 1.7}
    assert float(path.speed.subs(at)) == pytest.approx(1.0)
    assert float(path.turn.subs(at)) == pytest.approx(0.2)


# What the field gets.


def test_coverage_of_a_straight_drive():
    """Two strips of 1 m by 25 m share 50 l: 1 l/m2 where front and back nozzle both passed; then the tank is empty."""
    robot, path = Sprayer(SIDE), straight()
    motion = run(robot, path, follow_by_linearization(robot, path, 0.5, 4, 4), 30.0)
    field = cover(robot, motion, cell=0.1)
    assert field.sprayed == pytest.approx(50.0, rel=1e-9)
    assert field.landed == pytest.approx(field.sprayed, rel=1e-9)
    x, y = np.meshgrid(field.x, field.y)
    inside = (x > 1) & (x < 24) & (np.abs(y) > 0.7) & (np.abs(y) < 1.3)
    np.testing.assert_allclose(field.dose[inside], 1.0, rtol=1e-3)
    assert field.christiansen(inside) > 0.999
    assert field.variation(inside) < 1e-3
    once = (x > -0.3) & (x < 0.3) & (np.abs(y) > 0.7) & (np.abs(y) < 1.3)  # only the back nozzles came by
    np.testing.assert_allclose(field.dose[once], 0.5, rtol=1e-3)
    assert field.dose[np.abs(y) < 0.3].max() < 1e-12
    assert field.area == pytest.approx(2 * 26.3, rel=0.05)
    assert "l/m2" in field.summary()


def test_coverage_does_not_depend_on_the_grid():
    robot, path = Sprayer(4), circle()
    motion = run(robot, path, follow_by_linearization(robot, path, 0.5, 4, 4), 10.0)
    coarse, fine = (cover(robot, motion, Strip(0.2, 1.2, 0.4), cell, density=1.25) for cell in (0.2, 0.05))
    assert coarse.sprayed == pytest.approx(20 / 1.25, rel=1e-9)
    assert coarse.landed == pytest.approx(fine.landed, rel=1e-9)
    centers = [(e.dose.sum(axis=0) @ e.x, e.dose.sum(axis=1) @ e.y) / e.dose.sum() for e in (coarse, fine)]
    np.testing.assert_allclose(centers[0], centers[1], rtol=0, atol=2e-3)
    with pytest.raises(ModelError, match="0 <= near < far"):
        Strip(1.0, 0.5)


def test_irregular_flow():
    """Same seed, same flows; positive, of mean 1, and what they carry is what the tank loses."""
    first, again, other = (irregular(SIDE, 0.3, 2.0, 20.0, seed) for seed in (1, 1, 2))
    assert first == again
    assert first != other
    times = np.arange(10) * 2.0 + 1.0
    mu = ap.parameters("mu")
    factors = np.array([[float(k.flow.subs({ap.t: t, mu: 1.0})) for t in times] for k in first])
    assert factors.min() > 0
    np.testing.assert_allclose(factors.mean(axis=1), 1.0, rtol=1e-12)
    assert 0.15 < factors.std() < 0.45
    robot, path = Sprayer(first), circle()
    motion = run(robot, path, follow_by_linearization(robot, path, 0.5, 4, 4), 20.0)
    assert float(motion["m"][-1]) == pytest.approx(110.0, rel=1e-10)
    assert distance(motion, path)[-1] < 1e-6
    assert len(motion.occurrences) >= 9
    field = cover(robot, motion)
    assert field.landed == pytest.approx(40.0, rel=1e-6)
    with pytest.raises(ModelError, match="spread > 0"):
        irregular(SIDE, 0.0, 2.0, 20.0, 1)


# The command.


def test_the_study(tmp_path):
    from appell.cli import app

    folder = tmp_path / "pictures"
    done = CliRunner().invoke(
        app, ["run", "sprayer", "--until", "3", "--method", "dop853", "--json", "--out", str(folder)]
    )
    assert done.exit_code == 0, done.output
    data = json.loads(done.output)
    assert data["ok"]
    assert data["mass"]["last"] == pytest.approx(144.0)
    assert data["mass"]["empty_at"] == pytest.approx(25.0)
    assert data["agreement"] < 1e-12
    assert data["power_balance"] < 1e-10
    assert data["momentum_balance"] < 1e-10
    assert len(data["runs"]) == 3 * 4 + 3 * 2 + 1
    assert sorted(file.name for file in folder.iterdir()) == sorted(file.split("/")[-1] for file in data["files"])
    assert len(data["files"]) == 6
    assert all(file.stat().st_size > 20_000 for file in folder.iterdir())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--set", "tau_fr=3"], "--no-study"),
        (["--set", "x=3"], "--no-study"),
        (["--out", "a.png"], "--out FOLDER/"),
        (["--out", "pyproject.toml/folder"], "cannot be made"),
    ],
)
def test_what_the_study_cannot_do(arguments, message):
    from appell.cli import app

    done = CliRunner().invoke(app, ["run", "sprayer", *arguments])
    assert done.exit_code == 1
    assert message in done.output
