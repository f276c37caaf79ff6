"""Pages fit to be read: no line wider than a page, no number that is only rounding."""

import re

import pytest
import sympy as sp
from sympy import cos, sin, sinh

import appell as ap
from appell.reading import page
from appell.reading.letters import Shown
from appell.reading.printing import _Latex, _pieces, _Text, as_latex, as_text, formula_latex, latex_rows
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


def test_quasi_accelerations_that_are_not_linear_are_written_as_they_were_given():
    """No steps of Newton's method on the page."""
    model = ap.library.rolling_disk()
    (disk,) = model.bodies
    w1, w2, w3, e1, e2, e3 = ap.speeds("w1 w2 w3 e1 e2 e3")
    omega = dict(zip((w1, w2, w3), disk.frame.path[2].components(disk.angular_velocity), strict=True))
    curved = ap.QuasiAccelerations(omega, {w1.rate: e1 + sinh(e2), w2.rate: e2 - e3, w3.rate: 2 * e3})
    written, plain = (page(ap.derive(model, f)) for f in (curved, ap.GibbsAppell(speeds=omega)))
    lines, others = (as_text(e).splitlines() for e in (written, plain))
    begin, end = lines.index("dynamics"), lines.index("quasi-accelerations")
    assert lines[begin : end - 1] == others[others.index("dynamics") :][: end - 1 - begin]
    assert lines[end + 1 : end + 4] == ["  w1' = e1 + sinh(e2)", "  w2' = e2 - e3", "  w3' = 2*e3"]
    assert not written.names


def test_rows_not_linear_in_the_accelerations_are_written_as_they_were_given():
    """Displacements at these accelerations: m y z'' x'' - m (2 y x'' + y'') (y'' + g) + m2 z''^2 = 0."""
    x, y, z = ap.coordinates("x y z")
    m, m2, g = ap.parameters("m m2 g")
    ground = ap.Frame("ground")
    bodies = [ap.Particle("one", m, ground.point(x, y)), ap.Particle("two", m2, ground.point(z, 0))]
    rows = [
        ap.Nonholonomic(x.rate.rate**2 + y.rate.rate * z.rate.rate - 16, "size"),
        ap.Nonholonomic(x.rate - y * z.rate, "roll"),
    ]
    model = ap.Model(
        ground, (x, y, z), bodies, [ap.Gravity(-g * ground.y)], rows, values={m: 2.0, m2: 1.0, g: 9.81},
        start={x: 0.1, y: 0.5, x.rate: 0.3, z.rate: 0.6},
    )  # fmt: skip
    lines = [line.strip() for line in as_text(page(ap.derive(model))).splitlines()]
    for line in (
        "m*y*z''*x'' - m*(2*y*x'' + y'')*y'' + m2*z''*z'' = m*g*(2*y*x'' + y'')",
        "x'' - y*z'' = y'*z'",
        "x''**2 + y''*z'' - 16 = 0",
    ):
        assert line in lines
    system = ap.compile(ap.derive(model))
    ax, ay, az = system.accelerations(system.state(model.start))
    assert abs(2 * 0.5 * az * ax - 2 * (2 * 0.5 * ax + ay) * (ay + 9.81) + az**2) < 1e-9
    assert abs(ax**2 + ay * az - 16) < 1e-9


@pytest.mark.parametrize(
    ("printer", "opened"), [(_Text(), "(a0 + a1)*(a2*a3"), (_Latex(), r"\left(a_{0} + a_{1}\right) \bigl(a_{2} a_{3}")]
)
def test_long_products_of_sums_are_broken_within_their_brackets(printer, opened):
    letters = [Shown(i, f"a{i}", f"a_{{{i}}}") for i in range(42)]
    long = sp.Add(*[a * b for a, b in zip(letters[2::2], letters[3::2], strict=True)])
    first, *others = _pieces(sp.Mul(letters[0] + letters[1], long, evaluate=False), printer)
    assert first == opened
    assert len(others) == 19
    assert others[-1].endswith(printer.closing)


def wheels_with_an_arm():
    x, y, yaw, left, right, q1, q2 = ap.coordinates("x y yaw left right q1 q2")
    r, b, M, m, a, l1, l2, m1, m2 = ap.parameters("r b M m a l1 l2 m1 m2")
    ground = ap.Frame("ground")
    base = ground.rotate("z", yaw)
    upper = base.rotate("z", q1)
    lower = upper.rotate("z", q2)
    axle = ground.point(x, y, r)
    bodies, rolling = [ap.RigidBody("platform", M, axle + a * base.x, base, (0, 0, M * b**2))], []
    for name, side, angle in (("left", 1, left), ("right", -1, right)):
        hub = axle + side * b * base.y
        inertia = (m * r**2 / 4, m * r**2 / 2, m * r**2 / 4)
        bodies.append(ap.RigidBody(f"{name} wheel", m, hub, base.rotate("y", angle), inertia))
        rolling.append(ap.Rolling(bodies[-1], hub - r * ground.z, name=name))
    shoulder, elbow = axle + a * base.x, axle + a * base.x + l1 * upper.x
    for name, mass, at, length, frame in (("upper", m1, shoulder, l1, upper), ("lower", m2, elbow, l2, lower)):
        bodies.append(ap.RigidBody(name, mass, at + length / 2 * frame.x, frame, (0, 0, mass * length**2 / 12)))
    model = ap.Model(ground, (x, y, yaw, left, right, q1, q2), bodies, [], rolling, name="wheels with an arm")
    return ap.derive(model, ap.GibbsAppell(dependent=(x, y, yaw)))


def test_kinematics_are_simple_where_dynamics_are_long():
    equations = wheels_with_an_arm()
    written = page(equations)
    assert written.names
    shown = [" ".join(line.split()) for line in as_text(written).splitlines() if line]
    assert shown[2:5] == [
        "x' = r*(left' + right')*cos(yaw)/2",
        "y' = r*(left' + right')*sin(yaw)/2",
        "yaw' = r*(right' - left')/(2*b)",
    ]
    used = set().union(*(formula.free_symbols for formula in written.names.values()))
    assert "yaw'" in {letter.text for letter in used}
    assert page(equations, simplify=False).length < written.length * 1.1


def test_constraints_are_written_out_where_kinematics_would_be_long():
    written = page(ap.derive(ap.library.five_bar()))
    names = {*written.names}
    assert not any(row.right.free_symbols & names for row in written.section("constraints"))
    assert max(row.length for row in written.section("kinematics")) < 5


def test_measured_numbers_are_decimals_and_those_of_textbooks_fractions():
    x = ap.coordinates("x")
    written = {
        sp.Rational(2159, 5000): "0.4318 x", sp.Rational(9, 100): "0.09 x", sp.Rational(7, 10): r"\frac{7 x}{10}",
        sp.Rational(1, 12): r"\frac{x}{12}", sp.Rational(3, 80): r"\frac{3 x}{80}", sp.Rational(5, 2): r"\frac{5 x}{2}",
    }  # fmt: skip
    assert {number: formula_latex(number * x) for number in written} == written
    text = ap.derive(ap.library.six_axis_arm()).text()
    assert "0.4318*Z" in text
    assert "/5000" not in text


def test_measured_numbers_do_not_become_long_integers():
    """A disk of 1.1 kg: its rows are not multiplied until all numbers are integers of seven digits."""
    x, y, yaw, lean, spin = ap.coordinates("x y yaw lean spin")
    w1, w2, w3 = ap.speeds("w1 w2 w3")
    ground = ap.Frame("ground")
    plane, contact = ground.rotate("z", yaw).rotate("x", lean), ground.point(x, y)
    disk = ap.RigidBody("disk", 1.1, contact + 0.317 * plane.z, plane.rotate("y", spin), (0.0213, 0.0411, 0.0213))
    forces, rows = [ap.Gravity(-9.81 * ground.z)], [ap.Rolling(disk, contact)]
    model = ap.Model(ground, (x, y, yaw, lean, spin), [disk], forces, rows)
    omega = plane.components(disk.angular_velocity)
    text = ap.derive(model, ap.GibbsAppell(speeds=dict(zip((w1, w2, w3), omega, strict=True)))).text()
    assert "0.1318379*w1' = 0.1516379*w2*w3 + 3.420747*sin(lean) - 0.0213*w3**2*tan(lean)" in text
    assert "0.0213*w3'    = w1*(0.0213*w3*tan(lean) - 0.0411*w2)" in text
    arm = ap.derive(ap.library.scara()).text()
    assert "= tau1 + q2'*(0.62174817*q1' + 0.31087408*q2')*sin(q2)" in arm


def test_multiples_of_time_stay_whole():
    """A drive of 0.7 rad/s is sin(7 t/10), and no polynomial in sin(t/10) and cos(t/10)."""
    x, q = ap.coordinates("x q")
    l, g = ap.parameters("l g")
    ground = ap.Frame("ground")
    bob = ap.Particle("bob", 1, ground.slide(x).pin(q).point(0, -l))
    for rate in (sp.Rational(7, 10), 5):
        drive = ap.Prescribed(x, sin(rate * ap.t))
        text = ap.derive(ap.Model(ground, (x, q), [bob], [ap.Gravity(-g * ground.y)], [drive])).text()
        assert f"sin({rate * ap.t})*cos(q)" in text
