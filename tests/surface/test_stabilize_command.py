"""`appell stabilize`: what it prints, writes and refuses."""

import json

import numpy as np
import pytest


def test_stabilize_does_the_whole_chain(call, tmp_path):
    options = ["--want", "theta=0.3", "--dependent", "phi,x_s", "--weight", "theta=10", "--price", "1"]
    result = call("stabilize", "slider-crank", *options, "--out", str(tmp_path), "--json")
    assert result.exit_code == 0
    found = json.loads(result.stdout, parse_constant=pytest.fail)
    assert found["ok"]
    assert found["open"]["verdict"] == "UNSTABLE"
    assert found["closed"]["verdict"] == "ON_CONSTRAINTS"
    assert found["closed"]["zero roots"] == {"constraints": 2, "momenta": [], "families": 0, "found": 2}
    assert found["states"] == ["theta", "theta.rate"]
    for name in ("roots.png", "roots.svg", "closed_loop.png", "closed_loop.svg", "stabilize.json"):
        assert (tmp_path / name).stat().st_size > 500


SLED = """
import appell as ap

x, y = ap.coordinates("x y")
u = ap.inputs("u")
ground = ap.Frame("ground")
sled = ap.Particle("sled", 1.0, ground.point(x, y))
model = ap.Model(ground, (x, y), [sled], [ap.Generalized({x: u})], name="sled")
"""


def test_stabilize_says_what_to_ignore(call, assert_fails, tmp_path):
    path = tmp_path / "sled.py"
    path.write_text(SLED)
    assert_fails(call("stabilize", str(path), "--want", "x=0"), "leave the place out by --ignore y.")
    result = call("stabilize", str(path), "--want", "x=0", "--ignore", "y", "--json")
    assert result.exit_code == 0
    assert json.loads(result.stdout)["states"] == ["x", "x.rate", "y.rate"]


@pytest.mark.parametrize("load", ["", ", ap.Gravity(-9.81 * ground.y)"])
def test_the_price_of_inputs_that_hold_nothing_follows_the_model(call, tmp_path, load):
    (tmp_path / "rig.py").write_text(f"""
import appell as ap
q, u, m, ground = ap.coordinates("q"), ap.inputs("u"), ap.parameters("m"), ap.Frame("ground")
bob = ap.Particle("bob", m, ground.pin(q).point(0, 0.3))
model = ap.Model(ground, q, [bob], [ap.Generalized({{q: u}}){load}], values={{m: 0.1}})
""")

    def designed(mass):
        result = call("stabilize", tmp_path / "rig.py", "--want", "q=0", "--set", f"m={mass}", "--json")
        assert result.exit_code == 0, result.output
        data = json.loads(result.stdout)
        return data["K"][0][0], data["closed"]["roots"]

    light, heavy = designed(0.1), designed(10)
    assert light[0] == pytest.approx(heavy[0] / 100, rel=1e-9)  # forces for a hundredth of the mass
    np.testing.assert_allclose(light[1], heavy[1], rtol=1e-9, atol=1e-12)
    assert light[0] < 3 * 0.1 * 9.81 * 0.3  # the stiffness of gravity, and not much more


def test_nothing_is_held_where_nothing_is_free(call, assert_fails, tmp_path):
    path = tmp_path / "drawn.py"
    path.write_text("""
import appell as ap
x, u, ground = ap.coordinates("x"), ap.inputs("u"), ap.Frame("ground")
block, push = ap.Particle("block", 1, ground.point(x)), ap.Generalized({x: u})
model = ap.Model(ground, x, [block], [push], [ap.Programmed(x - ap.t, "line")], name="drawn", values={u: 0})
""")
    for wanted in ([], ["--want", "x=1"]):
        assert_fails(call("stabilize", path, *wanted), "The rows of 'drawn' (line) leave no freedom to control")


def test_an_input_is_measured_by_those_in_its_unit(call, tmp_path):
    """The thrust of a lander carries its weight; the angle of its engine holds nothing, and knows of no newtons."""
    (tmp_path / "lander.py").write_text("""
import appell as ap
x, z, tilt = ap.coordinates("x z tilt", "m m rad")
T, angle = ap.inputs("T angle", "N rad")
m, ground = ap.parameters("m", "kg"), ap.Frame("ground")
body = ground.at(ground.point(x, 0, z)).rotate("y", tilt)
lander = ap.RigidBody("lander", m, body.origin, body, (m / 2, m / 2, m / 2))
engine = ap.Force(T * body.rotate("y", angle).z, body.point(0, 0, -1.5), lander)
model = ap.Model(ground, (x, z, tilt), [lander], [ap.Gravity(-9.81 * ground.z), engine])
""")

    def designed(mass):
        result = call("stabilize", tmp_path / "lander.py", "--want", "x=0,z=1", "--set", f"m={mass}", "--json")
        assert result.exit_code == 0, result.output
        return json.loads(result.stdout)

    light, heavy = designed(1), designed(1000)
    np.testing.assert_allclose(light["K"][1], heavy["K"][1], rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(np.array(light["K"][0]) * 1000, heavy["K"][0], rtol=1e-6, atol=1e-3)
    assert np.abs(heavy["K"][1]).max() < 1.0  # radians for a metre


ROLLER = """
import appell as ap

x, w, lean = ap.coordinates("x w lean")
tau = ap.inputs("tau")
ground = ap.Frame("ground")
hub, body = ground.point(x, 0.1), ground.rotate("z", -lean)
wheel = ap.RigidBody("wheel", 1, hub, ground.rotate("z", -w), (0, 0, 5e-3))
mast = ap.RigidBody("mast", 5, hub + 0.3 * body.y, body, (0, 0, 0.1))
forces = [ap.Gravity(-9.81 * ground.y), ap.Generalized({w: tau, lean: -tau})]
model = ap.Model(ground, (x, w, lean), [wheel, mast], forces, [ap.Nonholonomic([x.rate - 0.1 * w.rate], "rolling")])
"""


def test_stabilize_comes_to_rest_at_a_member_of_the_family(call, tmp_path):
    """A push that turns the wheel against the ground stays: x - r w is what rolling keeps."""
    path = tmp_path / "roller.py"
    path.write_text(ROLLER)
    result = call("stabilize", path)
    assert result.exit_code == 0, result.output
    assert "came to rest beside it, at another member of the family" in result.stdout


WHEEL = """
import appell as ap

lean, turn = ap.coordinates("lean turn")
tau = ap.inputs("tau")
ground = ap.Frame("ground")
rod = ground.rotate("z", lean)
bodies = [ap.RigidBody("rod", 0.2, 0.1 * rod.y, rod, (0, 0, 1e-3)),
          ap.RigidBody("wheel", 0.3, 0.2 * rod.y, rod.rotate("z", turn), (0, 0, 5e-4))]
model = ap.Model(ground, (lean, turn), bodies, [ap.Gravity(-9.81 * ground.y), ap.Generalized({turn: tau})])
"""


def test_stabilize_measures_every_state_by_itself(call, tmp_path):
    """A reaction wheel runs fast to right a small lean; what is left of its rate is small against that."""
    path = tmp_path / "wheel.py"
    path.write_text(WHEEL)
    result = call("stabilize", path, "--json")
    assert result.exit_code == 0, result.output
    run = json.loads(result.stdout)["run"]
    assert run["came back"]
    assert abs(run["left"]["turn.rate"]) > 0.01 * run["pushed"]["lean"]


def test_stabilize_follows_no_run_for_ever(call, tmp_path):
    """A wheel that cannot right its rod any more would spin ever faster."""
    path = tmp_path / "wheel.py"
    path.write_text(WHEEL)
    result = call("stabilize", path, "--push", "lean=1.0", "--limit", "0.2", "--until", "1e4")
    assert result.exit_code == 1
    assert "was followed until it was far out; try a smaller --push" in result.stdout


def test_stabilize_designs_for_samples(call, assert_fails, tmp_path):
    options = ("stabilize", "ball-and-beam", "--want", "xi=0.2", "--rate", 20)
    result = call(*options, "--out", tmp_path, "--json")
    assert result.exit_code == 0, result.output
    data = json.loads(result.stdout)
    assert data["rate"] == 20
    assert data["closed"]["verdict"] == "ON_CONSTRAINTS"
    assert (tmp_path / "closed_loop.png").exists()
    assert "sampled 20 times a second" in call(*options).stdout
    assert_fails(call(*options, "--runs", 10), "leave out --rate or --runs")


def test_stabilize_says_why_the_start_cannot_be_held(call, assert_fails, tmp_path):
    path = tmp_path / "integral.py"
    path.write_text(
        "import appell as ap\n"
        "x, z, u, ground = ap.coordinates('x'), ap.states('z'), ap.inputs('u'), ap.Frame('ground')\n"
        "body = ap.Particle('body', 1, ground.point(x))\n"
        "model = ap.Model(ground, [x], [body], [ap.Generalized({x: u})], states={z: x - 0.2})\n"
    )
    assert_fails(call("stabilize", path), "Say which configuration", "With x left free there is one, at x = 0.2.")


def test_stabilize_with_limits_runs_as_long_as_wanted(call):
    result = call("stabilize", "ball-and-beam", "--want", "xi=0.2", "--limit", "0.3", "--until", 200, "--json")
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["run"]["until"] == 200


LIFT = """
import appell as ap

z, lean, load = ap.coordinates("z lean load")
left, right = ap.inputs("left right")
ground = ap.Frame("ground")
frame = ground.rotate("z", lean)
deck = ap.RigidBody("deck", 1, ground.point(0, z), frame, (0, 0, 0.02))
ball = ap.Particle("ball", 0.2, deck.center + load * frame.x)
rotors = [ap.Force(left * frame.y, deck.center - 0.3 * frame.x, body=deck),
          ap.Force(right * frame.y, deck.center + 0.3 * frame.x, body=deck)]
forces = [ap.Gravity(-9.81 * ground.y), ap.Potential(4 * load**2), *rotors]
model = ap.Model(ground, (z, lean, load), [deck, ball], forces, start={"z": 2.0, "lean": 0.05}, name="lift")
"""


def test_stabilize_holds_as_much_of_the_start_as_inputs_can_and_thrust_does_not_pull(call, assert_fails, tmp_path):
    path = tmp_path / "lift.py"
    path.write_text(LIFT)
    result = call("stabilize", path, "--limit", "left=0,12,right=0,12", "--json")
    assert result.exit_code == 0, result.output
    positions = json.loads(result.stdout)["equilibrium"]["positions"]
    assert (positions["z"], positions["lean"]) == (2.0, 0.05)
    assert "; from 0 to 12" in call("stabilize", path, "--limit", "left=0,12").stdout
    assert_fails(call("stabilize", path, "--limit", "left=9,12"), "left = 5.", "not within its limits (9, 12)")
    assert_fails(call("stabilize", path, "--limit", "0,12"), "INPUT=LOW,HIGH", "'0,12'")
    assert_fails(call("stabilize", path, "--limit", "5", "--limit", "left=9"), "not both")
    assert_fails(call("stabilize", path, "--inputs", "lift"), "'lift' is not an input of 'lift'", "left")


def test_stabilize_says_what_cannot_be(call, assert_fails):
    assert_fails(call("stabilize", "rolling-disk"), "no input to hold or control it by; add a force that has one")
    assert_fails(call("stabilize", "slider-crank", "--want", "x_s=0.9"), "cannot be reached", "closure")
    assert_fails(call("stabilize", "slider-crank", "--want", "theta"), "--want takes NAME=NUMBER")
    assert_fails(call("stabilize", "slider-crank", "--motor", "R=2"), "--motor takes")
    assert_fails(call("stabilize", "slider-crank", "--weight", "theta=-1"), "positive semidefinite")
