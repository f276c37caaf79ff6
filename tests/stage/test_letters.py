"""Letters on a page: set as by hand, no two of them alike."""

from itertools import pairwise

import pytest
import sympy as sp
from latex2mathml.converter import convert

import appell as ap
from appell.reading import page
from appell.reading.letters import in_print


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


SET = {
    "alpha": r"\alpha", "Omega": r"\Omega", "ell": r"\ell", "q1": "q_{1}", "theta12": r"\theta_{12}", "I_zz": "I_{zz}",
    "q1_2": "q_{1,2}", "k_mu": r"k_{\mu}", "tau_max": r"\tau_{\mathrm{max}}", "mass1": r"\mathrm{mass}_{1}",
    "phi_left_wheel": r"\phi_{\mathrm{left}\,\mathrm{wheel}}", "K_of_rope_2": r"K_{\mathrm{of}\,\mathrm{rope}\,2}",
    "xhat": r"\hat{x}", "thetabar": r"\bar{\theta}", "drawbar": r"\mathrm{drawbar}", "v_towbar": r"v_{\mathrm{towbar}}",
    "v2x": r"\mathrm{v2x}", "zeta2b": r"\mathrm{zeta2b}", "PHI": r"\mathrm{PHI}", "m__2": "m_{2}",
    "_x": "x", "x_": "x", "_1": r"\mathtt{\_1}", "_": r"\mathtt{\_}",
}  # fmt: skip


def test_names_are_set_as_by_hand():
    """Words stand upright, also as indices; a bar of a drawbar is no accent, and a number behind no power."""
    for name, tex in SET.items():
        letter = ap.coordinates(name)
        assert in_print([letter])[letter].tex == tex
    first, second = ap.coordinates("xdot theta_dot")
    assert in_print([first.rate])[first.rate].tex == r"\ddot{x}"
    assert in_print([second.rate])[second.rate].tex == r"\dot{\theta}_{\mathrm{dot}}"


@pytest.mark.parametrize(
    "names", [*pairwise(SET), ("q1_2", "q12"), ("Tau", "T"), ("phi_ab_c", "phi_abc")], ids="-".join
)
def test_equations_with_any_names_are_latex(names):
    """The converter refuses double indices, powers of powers, and braces that do not match."""
    x, y = ap.coordinates(" ".join(names))
    m_1, k_max = ap.parameters("m_1 k_max")
    ground = ap.Frame("ground")
    body = ap.Particle("body", m_1, ground.point(x * sp.cos(y), x * sp.sin(y)))
    model = ap.Model(ground, (x, y), [body], [ap.Force(-(k_max**2) * x**3 * ground.x, body)])
    equations = ap.derive(model)
    convert(equations.latex())
    looks = {s.tex for s in page(equations).letters.values()}
    assert len(looks) == len(page(equations).letters)
