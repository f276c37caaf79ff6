"""Pages fit to be read: no line wider than a page, no number that is only rounding."""

import re

import pytest
from sympy import cos, sin

import appell as ap
from appell.reading import page
from appell.reading.printing import as_latex, as_text, latex_rows
from appell.reading.widths import seen, spaced


@pytest.mark.parametrize("name", ["ball_and_beam", "three_link", "rrp_arm"])
def test_no_line_of_latex_is_much_wider_than_a_page(name):
    written = page(ap.derive(getattr(ap.library, name)()))
    lines = as_latex(written).splitlines()
    lines += [
        f"{left} = {part}" for _, rows in latex_rows(written) for left, right in rows for part in right.split(r"\\")
    ]
    assert max(map(seen, lines)) < 100
    for environment in (as_latex(written), *(right for _, rows in latex_rows(written) for _, right in rows)):
        assert environment.count(r"\bigl(") == environment.count(r"\bigr)")
        assert environment.count(r"\left(") == environment.count(r"\right)")


def test_widths_are_those_that_are_seen():
    assert seen(r"\frac{a b c}{d} x") == 4
    assert seen(r"\cos{\left(\theta \right)}") == 6
    assert seen(r"\dot{\mathrm{spin}}") == 4
    assert spaced(r"5 \dot{\mathrm{yaw}} \dot{\mathrm{lean}}") == r"5 \, \dot{\mathrm{yaw}} \, \dot{\mathrm{lean}}"
    assert spaced(r"\cos{\left(\mathrm{lean} \right)}") == r"\cos{\left(\mathrm{lean} \right)}"


def test_decimal_numbers_meet_and_rounding_is_not_printed():
    """Lengths in decimals: cos² + sin² of a fixed angle is one, not one and a rounding."""
    q = ap.coordinates("q")
    g = ap.parameters("g")
    ground = ap.Frame("ground")
    tilted = ground.rotate("z", 0.7).rotate("z", q)
    bob = ap.Particle("bob", 0.3, tilted.point(0.2, 0.1) + ground.vector(0.1 * sin(0.7), 0.1 * cos(0.7), 0))
    written = as_text(page(ap.derive(ap.Model(ground, q, [bob], [ap.Gravity(-g * ground.y)]))))
    assert not re.search(r"e-1\d", written)
    assert len(re.findall(r"\d\.\d+", written)) <= 4
