"""What happens along a run happens in all units alike: in nanometres and light years, in picoseconds and ages."""

import numpy as np
import pytest
import sympy as sp

import appell as ap

SIZES = [
    (1e-6, 1.0, 1.0), (1e-9, 1e-15, 1e-4), (1e6, 1e9, 1e3), (1e11, 1e30, 1e7), (1.0, 1.0, 1e9), (1e-3, 1.0, 1e6),
    (1.0, 1e-12, 1e-9),
]  # fmt: skip
"""Of length, mass and time."""
ground = ap.Frame("ground")
x, y = ap.coordinates("x y")


def run(model, start, until, events=()):
    return ap.simulate(ap.compile(ap.derive(model)).bind(), start, until=until, events=events)


def rod(length, mass, time, pivot=0, events=()):
    bob, weight = ap.Particle("bob", mass, ground.point(x, y)), ap.Gravity(-9.81 * length / time**2 * ground.y)
    row = ap.Holonomic((x - pivot) ** 2 + y**2 - length**2, "rod")
    model = ap.Model(ground, (x, y), [bob], [weight], [row])
    return run(model, {x: 0.8 * length, y: -0.6 * length}, 1.5 * time, events)


def put_back(length, mass, time):
    """A bob on a rod that is put back and thrown on again and again."""
    reset = {x: 0.5 * length, x.rate: 0.3 * x.rate}
    return rod(length, mass, time, events=[ap.Event(x - 0.3 * length, direction=-1, reset=reset, name="back")])


def jerked(length, mass, time):
    """The pivot of a pendulum starts, and turns back: impulses."""
    s = ap.t / time
    return rod(length, mass, time, length * sp.Piecewise((0, s < 0.2), (s - 0.2, s < 0.9), (2.5 - 2 * s, True)))


def torn(length, mass, time):
    """The pivot jumps, which no finite velocity follows."""
    motion = rod(length, mass, time, length * sp.Piecewise((0, ap.t < time), (sp.Rational(1, 10), True)))
    assert motion.outcome is ap.Outcome.JUMP
    return motion


def bouncing(length, mass, time):
    """A ball that comes to rest after infinitely many bounces."""
    ball, weight = ap.Particle("ball", mass, ground.point(0, y)), ap.Gravity(-9.81 * length / time**2 * ground.y)
    floor = ap.Event(y, direction=-1, reset={y.rate: -0.5 * y.rate}, name="floor")
    motion = run(ap.Model(ground, y, [ball], [weight]), {y: length}, 10 * time, [floor])
    assert motion.outcome is ap.Outcome.ACCUMULATION
    return motion


def cradle(length, mass, time):
    """Three balls on springs of which the first hits two that touch."""
    a, b, c = balls = ap.coordinates("a b c")
    bodies = [ap.Particle(str(q), mass, ground.point(q, 0)) for q in balls]
    springs = ap.Potential(sum(mass / time**2 * (q - i * length) ** 2 for i, q in enumerate(balls)))
    events = [
        ap.Event(right - left - length, direction=-1, reset={left.rate: right.rate, right.rate: left.rate})
        for left, right in ((a, b), (b, c))
    ]
    return run(ap.Model(ground, balls, bodies, [springs]), {a: -length, b: length, c: 2 * length}, 6 * time, events)


def rubbing(length, mass, time):
    """A block on a spring with dry friction, driven: it sticks and slips."""
    block, force = ap.Particle("block", mass, ground.point(x, 0)), mass * length / time**2
    push = force * (4 * sp.sin(2 * ap.t / time) - 3 * sp.sign(x.rate) - 10 * x / length)
    return run(ap.Model(ground, x, [block], [ap.Force(push * ground.x, block)]), {x: length}, 10 * time)


def landing(length, mass, time):
    """A ball on a stiff floor that pushes only."""
    ball, weight = ap.Particle("ball", mass, ground.point(0, y)), ap.Gravity(-9.81 * length / time**2 * ground.y)
    floor = ap.Force(1e4 * mass / time**2 * sp.Max(0, -y) * ground.y, ball)
    return run(ap.Model(ground, y, [ball], [weight, floor]), {y: length}, 5 * time)


CASES = [put_back, jerked, torn, bouncing, cradle, rubbing, landing]


@pytest.mark.parametrize("case", CASES, ids=[case.__name__ for case in CASES])
def test_what_happens_does_so_in_all_units(case):
    def seen(length, mass, time):
        motion = case(length, mass, time)
        places = np.array([motion[q].values for q in motion.system.model.coordinates])
        return np.array([o.t for o in motion.occurrences]) / time, places[:, :-1] / length

    here = seen(1.0, 1.0, 1.0)
    for size in SIZES:
        for expected, found in zip(here, seen(*size), strict=True):
            assert found.shape == expected.shape, size
            np.testing.assert_allclose(found, expected, rtol=0, atol=3e-7, err_msg=str(size))
