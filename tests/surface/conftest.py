"""The command line to call, and a model in a file of the user's."""

import pytest
from typer.testing import CliRunner

from appell.cli import app

USER_FILE = """
import appell as ap

x = ap.coordinates("x", "m")
m, k = ap.parameters("m k", "kg N/m")
u = ap.inputs("u", "N")
v = ap.speeds("v", "m/s")
ground = ap.Frame("ground")
block = ap.Particle("block", m, ground.point(x, 0))
model = ap.Model(ground, x, [block], [ap.Generalized({x: u - k * x}, "spring and motor")], name="my block",
                 description="a block on a spring. Written by a user.",
                 values={m: 1.0, k: 4.0, u: 0.0}, start={x: 1.0}, until=2.0)
"""


@pytest.fixture
def call():
    def run(*arguments):
        return CliRunner().invoke(app, [str(a) for a in arguments])

    return run


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "block.py"
    path.write_text(USER_FILE)
    return path


@pytest.fixture
def assert_fails():
    """Nothing but one line of words, and an exit code."""

    def check(result, *words, code=1):
        assert result.exit_code == code
        assert result.stdout == ""
        assert result.stderr.startswith("appell: ")
        assert len(result.stderr.strip().splitlines()) == 1
        for word in words:
            assert word in result.stderr

    return check
