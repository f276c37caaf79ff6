"""Systems of Moore, Learn Multibody Dynamics; their numbers computed independently with SciPy at tight tolerance."""

from math import radians

import numpy as np
import pytest

import appell as ap


def test_snakeboard_right_hand_side():
    """Chapter Equations of Motion with Nonholonomic Constraints: u3 = l yaw'/2, u4 and u5 the steering rates."""
    model = ap.library.snakeboard()
    _, _, yaw, front, rear = model.coordinates
    u3, u4, u5 = ap.speeds("u3 u4 u5")
    half = ap.parameters("l") * yaw.rate / 2
    system = ap.compile(ap.derive(model, ap.GibbsAppell(speeds={u3: half, u4: front.rate, u5: rear.rate}))).bind()
    x = np.array([0, 0, 0, radians(5), -radians(5), 0.1, 0.01, -0.01])
    expected = [
        1.1430052302761, 0, 0.2857142857143, 0.01, -0.01, 0.0114353705366, -0.0326724872476, -0.0326724872476,
    ]  # fmt: skip
    np.testing.assert_allclose(system.rhs(0.0, x), expected, rtol=0, atol=1e-13)
    np.testing.assert_allclose(system.to_x(system.state(model.start)), x, rtol=0, atol=1e-15)


@pytest.mark.parametrize("formulation", [ap.GibbsAppell(), ap.Voronets(), ap.Multipliers()], ids=lambda f: f.name)
def test_four_bar_start(formulation):
    """Chapter Equations of Motion with Holonomic Constraints: q1 = 10 degrees at rest, the branch from its guesses."""
    model = ap.library.four_bar()
    system = ap.compile(ap.derive(model, formulation)).bind()
    state = system.consistent({"q1": radians(10)}, near={"q2": radians(10), "q3": radians(-150)})
    np.testing.assert_allclose(state.q, [0.1745329252, 0.1147600368, -2.6421428399], rtol=0, atol=6e-11)
    assert np.all(state.v == 0)
    assert system.accelerations(state)[0] == pytest.approx(-9.468807898415, abs=1e-11)
    assert system.energy(state)["total"] == pytest.approx(8.32267021078, abs=1e-11)
