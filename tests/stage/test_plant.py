"""The mechanism that is to follow a plan: its own drives, and those that are added."""

import json

import pytest
import sympy as sp
from typer.testing import CliRunner

import appell as ap
from appell.cli import app
from appell.errors import ModelError
from appell.planning import follow, plant

ROBOT = """
import appell as ap, sympy as sp
arm = ap.library.planar_2r()
circle = arm.ground.point(0.5 + 0.1 * sp.cos(ap.t), 0.4 + 0.1 * sp.sin(ap.t), 0)
model = arm.add(ap.planning.follow(arm.tool_point, circle, name="circle"))
"""


def labels(model):
    return [w.label for w in model.inputs]


def test_drives_of_its_own_are_not_doubled():
    arm = ap.library.planar_2r()
    task = follow(arm.tool_point, arm.ground.point(1 + sp.cos(ap.t) / 5, 1, 0))
    free = plant(arm.add(task))
    assert labels(free) == ["tau1", "tau2"]
    assert free.rows == ()
    assert labels(plant(ap.library.delta_robot())) == ["tau1", "tau2", "tau3"]  # six coordinates under three rows


def test_drives_are_added_where_there_are_none():
    assert labels(plant(ap.library.curvature_arm())) == ["drive_q1", "drive_q2"]
    assert sorted(labels(plant(ap.library.ball_and_beam()))) == ["drive_xi", "tau"]


def test_inputs_with_given_values_drive_nothing():
    arm = ap.library.planar_2r()
    assert sorted(labels(plant(arm, given=["tau1"]))) == ["drive_q1", "tau1", "tau2"]
    assert sorted(labels(plant(arm, given=arm.inputs))) == ["drive_q1", "drive_q2", "tau1", "tau2"]
    with pytest.raises(ModelError, match="'tau9' is not an input of 'planar 2R'"):
        plant(arm, given=["tau9"])


def test_two_inputs_on_one_shaft_drive_one_joint():
    a, b = ap.coordinates("a b")
    one, two = ap.inputs("one two")
    ground = ap.Frame("ground")
    bodies = [ap.Particle("a", 1, ground.point(a, 0)), ap.Particle("b", 1, ground.point(0, b))]
    model = ap.Model(ground, (a, b), bodies, [ap.Generalized({a: one + 2 * two}, "motors")])
    assert sorted(labels(plant(model))) == ["drive_b", "one", "two"]


def test_a_robot_is_tracked_by_its_own_motors(tmp_path):
    path = tmp_path / "robot.py"
    path.write_text(ROBOT)

    def call(*words):
        result = CliRunner().invoke(app, ["track", str(path), "--until", "0.5", "--json", *words])
        assert result.exit_code == 0, result.output
        return json.loads(result.stdout)

    free = call()
    assert list(free["inputs"]) == ["tau1", "tau2"]
    limited = call("--limit", "tau1=5", "--rate", "100")
    assert limited["inputs"]["tau1"] == 5
    held = call("--set", "tau1=3")
    assert sorted(held["inputs"]) == ["drive_q1", "tau2"]
    assert held["inputs"]["drive_q1"] == pytest.approx(free["inputs"]["tau1"] - 3, rel=1e-3)
