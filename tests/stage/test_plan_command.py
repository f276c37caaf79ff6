"""`appell plan`: reports, limits, files, errors of one line."""

import json

from typer.testing import CliRunner

from appell.cli import app


def call(*words):
    return CliRunner().invoke(app, ["plan", *words])


def test_a_plan_is_reported_and_drawn(tmp_path):
    path = tmp_path / "plan.png"
    result = call("jerk-cart-pendulum", "--within", "torque:x=cos(0)", "--json", "--out", str(path))
    data = json.loads(result.stdout)
    assert result.exit_code == 1
    assert not data["feasible"]
    assert (data["order"], data["dimension"]) == (3, 5)
    assert data["limits"][0]["first"] == 0.0
    assert path.stat().st_size > 10_000


def test_errors_say_what_to_type():
    for words, message in (
        (["rolling-disk"], "has no programmed constraint"),
        (["crane", "--within", "speeed:x=1"], "--within takes KIND:NAME=NUMBER"),
        (["crane", "--within", "speed:w=1"], "'w' is not a coordinate"),
        (["three-link", "--drive", "foo"], "'foo' is not a force of 'three-link manipulator'"),
        (["crane", "--out", "folder"], "Only three-link has figures"),
    ):
        result = call(*words)
        assert result.exit_code == 1
        assert message in result.stderr
