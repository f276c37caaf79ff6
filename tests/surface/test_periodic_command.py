"""`appell periodic`: motions that begin again, from the terminal."""

import json

import pytest

CLOCK = """
import appell as ap
import sympy as sp

angle, tau = ap.coordinates("angle", "rad"), ap.inputs("tau")
l, push, c = ap.parameters("l push c")
ground = ap.Frame("ground")
bob = ap.Particle("bob", 1.0, ground.pin(angle).point(0, -l))
forces = [ap.Gravity(-9.81 * ground.y), ap.Generalized({angle: tau - c * angle.rate})]
model = ap.Model(ground, angle, [bob], forces, name="clock", values={l: 1.0, c: 0.3}, start={angle: 1.0})
inputs = {tau: push * sp.tanh(5 * angle.rate)}
"""


def test_a_clock_of_a_file(call, tmp_path):
    file, plot, page = tmp_path / "clock.py", tmp_path / "out" / "clock.png", tmp_path / "clock.html"
    file.write_text(CLOCK)
    options = ("--period", 2, "--set", "push=0.5")
    found = json.loads(call("periodic", file, *options, "--out", plot, "--report", page, "--json").stdout)
    assert found["files"] == [str(plot), str(page)]
    assert found["stable"] is True
    assert found["ones"] == 1
    assert plot.stat().st_size > 1000
    assert "periodic motion of" in page.read_text(encoding="utf-8")
    told = call("periodic", file, *options).stdout
    assert told.startswith("periodic motion of 'clock', period 2.0698")
    assert "Near motions tend to it" in told
    turning = ("--set", "push=4,angle.rate=12,angle=0", "--hold", "angle", "--advance", "angle=2*pi")
    turned = json.loads(call("periodic", file, "--period", 0.6, *turning, "--json").stdout)
    assert turned["start"]["angle"] == 0
    assert turned["period"] == pytest.approx(0.471959, abs=1e-6)


def test_the_library_and_another_principle(call):
    start = "lean=0.3,yaw.rate=0.7,lean.rate=-0.2,spin.rate=3"
    hold = "lean,yaw.rate,lean.rate,spin.rate"  # there are others beside it
    arguments = ("periodic", "rolling-disk", "--period", 1, "--set", start, "--hold", hold, "--json")
    one, other = (json.loads(call(*arguments, *more).stdout) for more in ((), ("--by", "voronets")))
    assert one["period"] == pytest.approx(other["period"], rel=1e-9)
    assert set(one["advance"]) == {"x", "y", "yaw", "spin"}
    assert one["stable"] is None


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--period", -1], "A guess of the period is needed, got -1"),
        (["--period", 1, "--hold", "phi"], "'phi' is not a starting value of 'rolling disk'"),
        (["--period", 1, "--advance", "yaw"], "--advance takes NAME=NUMBER"),
        (["--period", 1, "--advance", "phi=1"], "'phi' is not a coordinate"),
        (["--period", 1, "--out", "x.tiff"], "use "),
    ],
)
def test_what_makes_no_sense_is_refused(call, assert_fails, arguments, words):
    assert_fails(call("periodic", "rolling-disk", *arguments), words)


def test_a_control_has_no_slopes(call, tmp_path, assert_fails):
    file = tmp_path / "clock.py"
    file.write_text(CLOCK.partition("inputs =")[0] + "control = lambda t, state: [0.0]\n")
    assert_fails(call("periodic", file, "--period", 2), "give the feedback as formulas, inputs = {tau")
