"""Letters on a page: no two of them look alike."""

import sympy as sp

import appell as ap
from appell.reading import page


def test_no_two_letters_look_alike_in_latex():
    x, dt, dt_ = ap.coordinates("x dt dt_")
    m1, m_1, xdot, a_b_c, a_bc, k = ap.parameters("m1 m_1 xdot a_b_c a_bc k")
    ground = ap.Frame("ground")
    bodies = [ap.Particle(f"b{i}", m, ground.point(q, i)) for i, (q, m) in enumerate(((x, m1), (dt, m_1), (dt_, k)))]
    forces = ap.Generalized({x: xdot * x.rate, dt: -a_b_c * dt, dt_: -a_bc * dt_})
    numbers = dict.fromkeys((m1, m_1, xdot, a_b_c, a_bc, k), 1.0)
    model = ap.Model(ground, (x, dt, dt_), bodies, [forces], values=numbers)
    rows = ap.derive(model).latex()
    assert r"\mathtt{m1} \, \ddot{x} &= \mathtt{xdot} \, \dot{x}" in rows
    assert r"\mathtt{m\_1} \, \ddot{\mathtt{dt}} &= - \mathtt{a\_b\_c} \, \mathtt{dt}" in rows
    assert r"k \, \ddot{\mathtt{dt\_}} &= - \mathtt{a\_bc} \, \mathtt{dt\_}" in rows
    tables = str(ap.report(model).sections[0].blocks)
    assert tables.count(r"$\\mathtt{m1}$") == tables.count(r"$\\mathtt{m\\_1}$") == 2  # among parameters, as a mass


def test_named_quantities_avoid_what_looks_like_them():
    first, second = ap.coordinates("Z_1 Z_2")
    ground = ap.Frame("ground")
    upper = ground.pin(first)
    bodies = [ap.Particle("a", 1, upper.point(1, 0)), ap.Particle("b", 1, upper.pin(second, at=(1, 0, 0)).point(1, 0))]
    named = page(ap.derive(ap.Model(ground, (first, second), bodies)), simplify=False)
    assert named.names
    assert not {name.tex for name in named.names} & {shown.tex for shown in named.letters.values()}


def test_the_power_of_a_letter_e_is_no_exponential():
    x, e = ap.coordinates("x"), ap.parameters("e")
    ground = ap.Frame("ground")
    push = ap.Generalized({x: e**2 * sp.exp(x)})
    rows = ap.derive(ap.Model(ground, x, [ap.Particle("body", 1, ground.point(x, 0))], [push])).latex()
    assert r"e^{2} \, \mathrm{e}^{x}" in rows
