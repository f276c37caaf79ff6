"""Formulas along long chains of frames: they share their parts, and nothing may look at them as trees."""

import numpy as np
import pytest
from sympy.core.cache import clear_cache

import appell as ap
from appell.model.components import DEEP
from appell.model.symbols import letters_in, nodes
from appell.reporting.model_source import model_source


def chain(count):
    """A spatial chain of bodies, its end held on a line."""
    q = ap.coordinates(f"q:{count}")
    ground = ap.Frame("ground")
    frame, end, bodies = ground, ground.point(0, 0), []
    for i, angle in enumerate(q):
        frame = frame.rotate("zx"[i % 2], angle)
        bodies.append(ap.RigidBody(f"body {i}", 1.0, end + 0.1 * frame.y, frame, (0.01, 0.005, 0.01)))
        end = end + 0.2 * frame.y
    held = ap.Holonomic(end - ground.point(0.05 * count, 0.05 * count) - ground.vector(0, 0, end.dot(ground.z)), "held")
    return ap.Model(ground, q, bodies, [ap.Gravity(-9.81 * ground.z)], [held], name="held chain")


@pytest.fixture(scope="module")
def long():
    return chain(24)


def test_components_grow_with_the_length(long):
    row = long.rows[0].expression
    assert len(list(nodes(row))) < 24 * 30
    assert letters_in(row) == set(long.coordinates)


@pytest.mark.parametrize("target", [0, 3, 7, 12])
def test_nested_components_are_those_of_the_product(monkeypatch, target):
    model = chain(12)
    frame = model.bodies[-1].frame.path[target]
    values = {q: 0.1 + 0.07 * i for i, q in enumerate(model.coordinates)}
    nested = [float(e.subs(values)) for e in frame.components(model.bodies[-1].center)]
    monkeypatch.setattr("appell.model.components.DEEP", 10 * DEEP)
    product = [float(e.subs(values)) for e in frame.components(model.bodies[-1].center)]
    np.testing.assert_allclose(nested, product, rtol=0, atol=1e-14)


@pytest.mark.parametrize("product", ["dot", "cross"])
def test_products_of_vectors_far_apart_are_those_in_one_frame(product):
    model = chain(14)
    values = {q: 0.1 + 0.07 * i for i, q in enumerate(model.coordinates)}
    first, last = (body.center - model.bodies[3].center for body in (model.bodies[0], model.bodies[-1]))
    a, b = ([float(e.subs(values)) for e in model.ground.components(v)] for v in (first, last))
    if product == "dot":
        found = [float(first.dot(last).subs(values)), float(last.dot(last).subs(values))]
        expected = [np.dot(a, b), np.dot(b, b)]
    else:
        found = [float(e.subs(values)) for e in model.ground.components(first.cross(last))]
        expected = np.cross(a, b)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-14)


def test_equal_formulas_of_a_long_chain_are_one_object():
    model = chain(60)
    first = model.ground.components(model.bodies[-1].center)
    clear_cache()  # SymPy remembers a thousand formulas
    again = model.ground.components(model.bodies[-1].center)
    same = [a is b for a, b in zip(first, again, strict=True)]  # not compared, and not printed, as trees
    assert all(same)


def test_a_chain_of_sixty_held_at_a_distance_is_derived():
    q = ap.coordinates("q:60")
    ground = ap.Frame("ground")
    frame, bodies = ground, []
    for i, angle in enumerate(q):
        frame = frame.pin(angle, "xyz"[i % 3], (0.5, 0.1, 0.0) if i else (0, 0, 0))
        bodies.append(ap.RigidBody(f"body {i}", 1.0, frame.point(0.25), frame, (0.02, 0.03, 0.04)))
    gap = frame.point(0.5) - ground.point(9.0, 0.1)
    assert len(ground.components(gap)) == 3  # resolved a second time below
    held = ap.Holonomic(gap.dot(gap) / 2 - 0.5, "rope")
    equations = ap.derive(ap.Model(ground, q, bodies, [ap.Gravity(-9.81 * ground.y)], [held], name="held"))
    assert equations.operations < 40_000


def test_a_long_closed_chain_is_derived_and_moves(long):
    system = ap.compile(ap.derive(long)).bind()
    oracle = ap.compile(ap.derive(long, ap.Multipliers())).bind()
    start = system.consistent({}, near={q: 0.3 for q in long.coordinates})
    np.testing.assert_allclose(system.accelerations(start), oracle.accelerations(start), rtol=1e-9, atol=1e-9)
    motion = ap.simulate(system, start, 0.05, points=3, progress=False)
    assert motion.outcome.ok
    assert max(abs(e) for e in system.residual(motion.at(0.05)).values()) < 1e-11


def test_a_long_chain_is_described_in_few_words(long):
    assert len(repr(long.constraints[0])) < 200
    code = model_source(long)
    assert len(code) < 100_000
    made = {}
    exec(code, made)
    first, second = (ap.compile(ap.derive(model)).bind() for model in (long, made["model"]))
    start = first.consistent({}, near={q: 0.3 for q in long.coordinates})
    again = second.accelerations(ap.State(made["model"], start.array))
    np.testing.assert_allclose(again, first.accelerations(start), rtol=1e-10, atol=1e-10)
