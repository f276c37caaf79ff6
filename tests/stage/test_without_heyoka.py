"""Without heyoka everything works on CasADi's own machinery, and one line says what is slower."""

import json
import subprocess
import sys

import numpy as np
import pytest

import appell as ap

PROGRAM = """
import sys
sys.modules["heyoka"] = None
import json
import numpy as np
import appell as ap

system = ap.compile(ap.derive(ap.library.rolling_disk())).bind()
motion = ap.simulate(system, until=2.0, points=5)
x = np.repeat(system.to_x(motion.at(1.0))[:, None], 3, axis=1)
tank, place = ap.states("tank"), ap.coordinates("place")
import sympy as sp
ground = ap.Frame()
cart = ap.Particle("cart", tank, ground.point(place, 0))
flow = sp.Piecewise((-2, tank > 110), (0, True))
kinked = ap.compile(ap.derive(ap.Model(ground, place, [cart], states={tank: flow}))).bind()
level = ap.simulate(kinked, {"tank": 150.0}, until=40.0)["tank"]
ball = ap.compile(ap.derive(ap.Model(ground, place, [ap.Particle("ball", 1, ground.point(0, place))],
                                     [ap.Gravity(-9.81 * ground.y)]))).bind()
bounce = ap.Event(place, direction=-1, reset={place.rate: -place.rate})
hits = ap.simulate(ball, {"place": 1.0}, until=2.0, events=[bounce]).occurrences
errors = []
for action in (lambda: ap.simulate(system, until=1.0, method="taylor"), lambda: ap.compile(system.equations, "heyoka")):
    try:
        action()
    except ap.AppellError as error:
        errors.append(str(error))
print(json.dumps({
    "state": motion.at(2.0).array.tolist(), "method": motion.info["method"], "summary": motion.summary(),
    "ok": motion.check().ok, "batch": (system.rhs(0.0, x)[:, 1] - system.rhs(0.0, x[:, 0])).tolist(),
    "level": float(level[-1]), "hits": [o.t for o in hits], "errors": errors,
    "reaction": float(motion.reactions()["rolling.x"][2]), "versions": motion.info["versions"],
}))
"""


@pytest.fixture(scope="module")
def found():
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", PROGRAM], capture_output=True, text=True, check=False, timeout=300
    )
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


@pytest.mark.heyoka
def test_the_motion_is_the_same(found):
    system = ap.compile(ap.derive(ap.library.rolling_disk())).bind()
    motion = ap.simulate(system, until=2.0, points=5)
    assert motion.info["method"] == "taylor"
    np.testing.assert_allclose(found["state"], motion.at(2.0).array, rtol=0, atol=1e-9)
    assert found["reaction"] == pytest.approx(float(motion.reactions()["rolling.x"][2]), abs=1e-8)
    assert found["ok"]


def test_one_line_says_what_is_slower(found):
    assert found["method"] == "dop853"
    (line,) = [line for line in found["summary"].splitlines() if "heyoka" in line]
    assert "heyoka is not installed, runs take longer" in line


def test_batches_run_on_casadi(found):
    assert np.max(np.abs(found["batch"])) == 0


def test_kinks_and_events_are_located(found):
    assert found["level"] == pytest.approx(110, abs=1e-9)
    np.testing.assert_allclose(found["hits"], np.sqrt(2 / 9.81) * np.array([1, 3]), rtol=0, atol=1e-12)


def test_what_needs_heyoka_says_what_to_use(found):
    taylor, compiled = found["errors"]
    assert "use method='dop853'" in taylor
    assert "use machine='casadi'" in compiled
