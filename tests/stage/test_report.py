"""Reports: whole, in three formats, safe, with code that makes the same motion again."""

import re
import shutil
import subprocess
from types import SimpleNamespace

import numpy as np
import pytest
import sympy as sp
import xarray

import appell as ap
from appell.formulation import FORMULATIONS
from appell.reporting.citations import bibtex
from appell.reporting.latex import escape as tex_escape
from appell.reporting.markdown import escape as md_escape
from appell.reporting.model_source import library_name, model_source
from appell.reporting.run_source import run_source

HOSTILE = "</script><script>alert(1)</script> $x$ \\input{secret} |a|b| ![](http://x) &amp;"


@pytest.fixture(scope="module")
def motion():
    model = ap.library.rolling_disk()
    return ap.simulate(ap.compile(ap.derive(model)), until=1.0, points=41, progress=False)


@pytest.fixture(scope="module")
def made(motion):
    return ap.report(motion)


def test_a_report_reads_from_top_to_bottom(made):
    titles = [s.title for s in made.sections]
    assert titles == ["The system", "Equations of motion", "Proof", "Results", "Reproduce it", "Sources"]
    page = made.html()
    wanted = ("rolling without slipping", "Gibbs-Appell", "arithmetic operations", "power balance",
              "@article{appell1900", "ap.library.model(&#x27;rolling-disk&#x27;)", "as it should be")  # fmt: skip
    for words in wanted:
        assert words in page, words
    assert len(page) < 10e6
    body = re.sub(r"<script.*?</script>|<style.*?</style>", "", page, flags=re.DOTALL)
    assert not re.search(r'(?:src|href)="(?!#)', body)


def test_the_same_as_latex_and_markdown(made, tmp_path):
    tex = made.save(tmp_path / "disk.tex").read_text()
    md = made.save(tmp_path / "disk.md").read_text()
    assert tex.startswith(r"\documentclass")
    assert tex.count(r"\begin{") == tex.count(r"\end{")
    assert r"\dot{w}" in tex or r"\dot" in tex
    for name in re.findall(r"\\includegraphics\[[^]]*\]\{([^}]*)\}", tex) + re.findall(r"\]\(([^)]*\.png)\)", md):
        assert (tmp_path / name).stat().st_size > 1000
    assert "## Proof" in md
    assert "$$" in md
    assert "@article{appell1900" in md


@pytest.mark.skipif(not shutil.which("pdflatex"), reason="no pdflatex: apt install texlive-latex-recommended")
def test_the_latex_can_be_compiled(tmp_path):
    model = ap.library.ball_and_beam()
    moved = ap.simulate(ap.compile(ap.derive(model)), until=0.2, points=11, progress=False)
    certificate = ap.stability(ap.equilibrium(ap.compile(ap.derive(model))))
    ap.report(moved, tmp_path / "beam.tex", also={HOSTILE: certificate, "A word": HOSTILE})
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "beam.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout[-2000:]
    assert (tmp_path / "beam.pdf").stat().st_size > 50_000
    wide = [float(e) for e in re.findall(r"Overfull .hbox \(([\d.]+)pt", done.stdout)]
    assert max(wide, default=0.0) < 40  # points: nothing runs off the page


def test_the_code_makes_the_same_motion_again(motion):
    text = run_source(motion)
    assert "ap.library.model('rolling-disk')" in text
    found: dict = {}
    exec(text.replace("print(", "(lambda *a: None)("), found)
    np.testing.assert_allclose(found["motion"].states(1.0), motion.states(1.0), rtol=0, atol=1e-10)


@pytest.mark.parametrize(
    "name", ["bicycle", "driven-pendulum", "rolling-ball", "slider-crank", "rocket", "differential-drive", "sprayer"]
)
def test_any_model_can_be_written_as_code(name):
    """What is executed is the same model: it accelerates the same."""
    model = ap.library.model(name)
    text = model_source(model)
    found: dict = {}
    exec(text, found)
    again = found["model"]
    first, second = (ap.derive(m) for m in (model, again))
    rng = np.random.default_rng(2)
    x = rng.uniform(0.3, 0.9, first.x.numel())
    w = rng.uniform(0.3, 0.9, first.w.numel())
    p = [model.values.get(s.label, 1.0) for s in model.parameters]
    mine, theirs = (np.array(e.rhs(0.2, x, w, p)) for e in (first, second))
    np.testing.assert_allclose(theirs, mine, rtol=1e-9, atol=1e-12)
    assert np.any(mine != 0)


X, Y = ap.coordinates("x y")


@pytest.mark.parametrize(
    "constraint",
    [
        ap.Programmed([X - sp.sin(ap.t), Y - 1], "path"),
        ap.Programmed(X - sp.sin(ap.t), realization=[Y]),
        ap.Programmed(X.rate.rate.rate - 1, realization="gauss"),
        ap.Programmed(X - 1, differentiate=2),
        ap.Programmed([X.rate.rate**2 - 4, Y.rate.rate - 1]),
        ap.Nonholonomic(X.rate.rate**2 - 4, near={X.rate.rate: 2}),
        ap.Prescribed(X, 3 * ap.t),
    ],
    ids=repr,
)
def test_code_keeps_who_enforces_a_constraint_and_how(constraint):
    ground, found = ap.Frame("ground"), {}
    model = ap.Model(ground, (X, Y), [ap.Particle("bob", 2, ground.point(X, Y))], [], [constraint])
    exec(model_source(model), found)
    first, second = ([vars(row) for c in m.constraints for row in c.rows] for m in (model, found["model"]))
    assert first == second
    assert found["model"].states == model.states


def test_code_keeps_the_norm_of_a_quaternion_that_only_a_row_turns_with():
    ground, turn, found = ap.Frame("ground"), ap.coordinates("e0 e1 e2 e3"), {}
    bob = ap.Particle("bob", 2, ground.point(X, Y))
    link = ap.Holonomic(bob.center - ground.rotate_quaternion(*turn).point(1, 0, 0), "link")
    model = ap.Model(ground, (X, Y, *turn), [bob], [], [link])
    exec(model_source(model), found)
    first, second = ([row.expression for row in m.rows] for m in (model, found["model"]))
    assert first == second
    assert len(first) == 4


def test_code_of_own_speeds_and_laws():
    x, y, yaw, lean, spin = ap.coordinates("x y yaw lean spin")
    w1, w2, w3 = ap.speeds("w1 w2 w3")
    m, r, g = ap.parameters("m r g")
    push = ap.inputs("push")
    ground = ap.Frame("ground")
    plane = ground.rotate("z", yaw).rotate("x", lean)
    contact = ground.point(x, y)
    disk = ap.RigidBody(
        "disk", m, contact + r * plane.z, plane.rotate("y", spin), [m * r**2 * k / 4 for k in (1, 2, 1)]
    )
    model = ap.Model(
        ground, (x, y, yaw, lean, spin), [disk], [ap.Gravity(-g * ground.z), ap.Torque(push * plane.x, disk)],
        [ap.Rolling(disk, contact)], name="my disk",
    )  # fmt: skip
    omega = dict(zip((w1, w2, w3), plane.components(disk.angular_velocity), strict=True))
    equations = ap.derive(model, ap.GibbsAppell(speeds=omega)).close({push: -0.1 * w1})
    system = ap.compile(equations).bind({m: 1.0, r: 0.3, g: 9.81})
    motion = ap.simulate(system, system.state({lean: 0.1, w1: 0.3, w2: 8.0}), until=0.5, progress=False)
    assert library_name(model) is None
    found: dict = {}
    exec(run_source(motion).replace("print(", "(lambda *a: None)("), found)
    np.testing.assert_allclose(found["motion"].states(0.5), motion.states(0.5), rtol=0, atol=1e-10)


def test_code_of_bodies_that_are_not_in_the_model():
    x, y, turn = ap.coordinates("x y turn")
    M, omega = ap.parameters("M omega")
    ground = ap.Frame("ground")
    table = ap.RigidBody("table", M, ground.point(0, 0), ground.rotate("z", omega * ap.t), (1, 1, 1))
    disk = ap.RigidBody("disk", 1, ground.point(x, y), ground.rotate("z", turn), (1, 1, 1))
    forces = [ap.Torque(ground.z, disk, table), ap.Force(ground.y, table), ap.Force(2 * ground.x, disk.center, table)]
    model = ap.Model(
        ground, (x, y, turn), [disk], forces, [ap.Rolling(disk, disk.center, on=table)], values={omega: 0.7}
    )
    motion = ap.simulate(ap.compile(ap.derive(model)).bind(), {x: 1.0}, until=0.5, progress=False)
    ap.report(model)
    ap.report(motion)
    found: dict = {}
    exec(run_source(motion).replace("print(", "(lambda *a: None)("), found)
    again = found["model"]
    assert [c.on.name for c in again.constraints] == ["table"]
    assert again.forces[2].body is again.constraints[0].on
    np.testing.assert_allclose(found["motion"].states(0.5), motion.states(0.5), rtol=0, atol=1e-10)


def test_a_model_alone_is_proved(tmp_path):
    found = ap.report(ap.library.appell_hamel(), tmp_path / "hamel.html", title="Hamel")
    assert found.title == "Hamel"
    assert "Agreement of the formulations" in [s.title for s in found.sections]
    assert (tmp_path / "hamel.html").stat().st_size > 1e5


def test_a_model_without_numbers_is_reported_without_a_drawing():
    x, (m, k) = ap.coordinates("x", "m"), ap.parameters("m k", "kg N/m")
    ground = ap.Frame("ground")
    block, spring = ap.Particle("block", m, ground.point(x, 0)), ap.Generalized({x: -k * x})
    model = ap.Model(ground, x, [block], [spring], values={m: 1.0})
    for subject in (model, ap.derive(model), ap.compile(ap.derive(model))):
        found = ap.report(subject)
        assert [s.title for s in found.sections][1:3] == ["Equations of motion", "Agreement of the formulations"]
        assert "at its start" not in found.markdown()


def test_a_system_is_reported_with_its_own_numbers():
    x, (m, k) = ap.coordinates("x", "m"), ap.parameters("m k", "kg N/m")
    ground = ap.Frame("ground")
    block, spring = ap.Particle("block", m, ground.point(x, 0)), ap.Generalized({x: -k * x})
    model = ap.Model(ground, x, [block], [spring], values={m: 1.0})
    text = ap.report(ap.compile(ap.derive(model)).bind({m: 3.25, k: 7.5})).markdown()
    assert "3.25" in text
    assert "7.5" in text


def test_further_results_have_their_sections(motion):
    model = ap.library.ball_and_beam()
    certificate = ap.stability(ap.equilibrium(ap.compile(ap.derive(model))))
    found = ap.report(motion, also={"Stability of the rig": certificate, "A word": "Mind the gap."})
    section = next(s for s in found.sections if s.title == "Stability of the rig")
    text = repr(section.blocks)
    assert "conditions" not in text or "holds" in text
    assert any("λ" in str(getattr(b, "head", "")) for b in section.blocks)
    assert "Mind the gap." in found.html()


def test_tables_of_other_programs_are_printed_and_not_drawn(motion):
    """Their `plot` wants arguments, or draws a figure nobody asked for."""
    import matplotlib.pyplot as plt

    name = motion.system.model.coordinates[0]
    tables = {
        "an array": motion[name],
        "a dataset": motion[name].to_dataset(name="array"),
        "a table": motion.to_pandas(),
    }
    report = ap.report(motion, also=tables)
    for title, table in tables.items():
        (block,) = next(s for s in report.sections if s.title == title).blocks
        assert block.text == str(table)
    assert plt.get_fignums() == []


def test_plans_and_trackings_have_sections_of_their_own(tmp_path):
    from appell.control import ComputedTorque, track
    from appell.planning import Limits, plan, plant

    model = ap.library.three_link()
    coordinate = model.coordinates[0].label
    planned = plan(model, until=1.0, limits=Limits(speed={coordinate: 1e-3}))
    made = ap.report(planned, tmp_path / "plan.html")
    section = next(s for s in made.sections if s.title == "Plan")
    assert "NOT feasible" in section.blocks[0].words
    assert section.blocks[0].good is False
    (limits,) = (b for b in section.blocks if getattr(b, "caption", "") == "Limits")
    assert limits.rows[0][:2] == ("speed", coordinate)
    assert limits.rows[0][-1].startswith("NO, from t =")
    (shown,) = (b.thing for b in section.blocks if hasattr(b, "thing"))
    drawn = [line for panel in shown.panels for line in panel.items]
    assert sum(line.name.startswith("first violation") for line in drawn) == 1
    assert sum(line.dashed for line in drawn) == 2
    free = plant(model, [f.name for f in model.forces if f.name == "drive"])
    known = {s.label for s in free.parameters}
    numbers = {k: v for k, v in model.values.items() if k in known}
    law = ComputedTorque(free, [10.0] * 3, values=numbers)
    followed = track(ap.compile(ap.derive(free)).bind(numbers), planned.motion, law, {coordinate: 0.05}, 1.0)
    made = ap.report(followed, tmp_path / "track.html")
    section = next(s for s in made.sections if s.title == "Tracking")
    errors = section.blocks[1].rows
    assert [row[0] for row in errors] == list(followed.labels)
    assert float(errors[0][2]) == pytest.approx(followed.metrics()[coordinate]["largest"], rel=1e-3)
    assert (tmp_path / "track.html").stat().st_size < 10e6


def test_hostile_words_stay_words(tmp_path):
    q = ap.coordinates("q")
    ground = ap.Frame("ground")
    bob = ap.Particle(HOSTILE, 1, ground.rotate("z", q).point(0, -1))
    model = ap.Model(ground, q, [bob], [ap.Gravity(-9.81 * ground.y, HOSTILE)], name=HOSTILE, description=HOSTILE,
                     start={q: 0.4}, until=0.5)  # fmt: skip
    motion = ap.simulate(ap.compile(ap.derive(model)), points=11, progress=False)
    found = ap.report(motion, also={HOSTILE: HOSTILE})
    page = found.html()
    assert "<script>alert" not in page
    assert page.count("<script>") == 3  # the three of the page itself
    assert r"\input" not in re.sub(r"\\begin{lstlisting}.*?\\end{lstlisting}", "", found.tex(), flags=re.DOTALL)
    markdown = found.markdown()
    assert "<script>" not in re.sub(r"```.*?```", "", markdown, flags=re.DOTALL)


def test_escapes():
    assert tex_escape("a_b & 50 % λ {x}") == r"a\_b \& 50 \% $\lambda$ \{x\}"
    assert tex_escape("Ω of θ₁, 5 μm №") == r"$\Omega$ of $\theta$$_{1}$, 5 $\mu$m ?"
    assert md_escape("*a* <b> |c|") == r"\*a\* &lt;b&gt; \|c\|"


def test_sources_are_named():
    text = bibtex(ap.Voronets(), "dop853")
    assert "voronets1901" in text
    assert "hairer1993" in text
    for formulation in FORMULATIONS:
        text = bibtex(SimpleNamespace(name=formulation.name, reference=formulation.reference))
        assert text.count("author = {") >= 3  # the principle, CasADi and SymPy
        assert text.count("{") == text.count("}")


def test_mistakes_are_named(motion, made, tmp_path):
    with pytest.raises(ap.AppellError, match=r"use \.html, \.tex or \.md"):
        made.save(tmp_path / "a.docx")
    with pytest.raises(ap.AppellError, match="does not exist"):
        ap.report(motion, tmp_path / "no" / "a.html")
    with pytest.raises(ap.AppellError, match="report takes a Motion"):
        ap.report(3)
    motion.save(tmp_path / "m.nc")
    with pytest.raises(ap.AppellError, match="loaded from a file"):
        ap.report(ap.load(tmp_path / "m.nc", system=motion.system))


def test_notebooks_show_models_motions_and_certificates(motion):
    q = ap.coordinates("q", "rad")
    ground = ap.Frame("ground")
    bob = ap.Particle(HOSTILE, 1, ground.rotate("z", q).point(0, -1))
    model = ap.Model(ground, q, [bob], [ap.Gravity(-9.81 * ground.y)], name=HOSTILE, start={q: 0.1})
    shown = model._repr_html_()
    assert "<script" not in shown
    assert "<i>q</i>" in shown
    assert "lean.rate" in motion._repr_html_()
    certificate = ap.stability(ap.equilibrium(ap.compile(ap.derive(model))))
    assert "Lyapunov stable" in certificate._repr_html_()
    assert "<b>Everything is as it should be.</b>" in motion.check()._repr_html_()
    assert "All formulations agree" in ap.verify(model)._repr_html_()


def test_notebooks_show_studies():
    system = ap.compile(ap.derive(ap.library.pendulum_chain(2)))
    study = ap.sweep(system, {"l": [0.5, 1.0], "m": [1.0, 2.0]}, until=0.5, points=6, progress=False)
    shown = study._repr_html_()
    assert "4 runs" in shown
    assert f"{study['q1.end'].values.mean():.6g}" in shown
    assert 'src="data:image/png;base64,' in shown
    assert study.plot()._repr_mimebundle_()["image/png"].startswith(b"\x89PNG")
    limit = list(ap.Outcome).index(ap.Outcome.STEP_LIMIT)
    failed = study.dataset.assign(outcome=("run", [0, limit, 0, 0]))
    shown = ap.ensemble.Study(failed, study.info, xarray.DataArray(["", HOSTILE, "", ""], dims="run"))._repr_html_()
    assert "STEP_LIMIT" in shown
    assert "<script" not in shown


def test_formulas_in_tables_of_notebooks_need_no_typesetter():
    from appell.reporting.inline import written

    x, phi = ap.coordinates("x phi")
    m_1, k = ap.parameters("m_1 k")
    assert written(m_1 * x.rate**2 / 2) == "<i>m</i><sub>1</sub>&#8201;<i>x</i>&prime;<sup>2</sup>/2"
    assert written(x - k * sp.sin(phi)) == "<i>x</i> &minus; <i>k</i>&#8201;sin(<i>φ</i>)"
    assert (
        written(-k * (x + 1) / (m_1 * x))
        == "&minus;<i>k</i>&#8201;(<i>x</i> + 1)/(<i>x</i>&#8201;<i>m</i><sub>1</sub>)"
    )
    assert written(sp.sqrt(x + 1)) == "&radic;(<i>x</i> + 1)"
    assert written((x + 1) ** -2) == "1/(<i>x</i> + 1)<sup>2</sup>"


def test_letters_do_not_collide_with_what_the_code_needs():
    names = "model model_ bodies frame_1 Z1 body_1 print start".split()
    joints = [ap.Joint("zx"[i % 2], (i, 0, 0), name=n, mass=1, inertia=(1, 1, 1)) for i, n in enumerate(names)]
    chain = ap.Chain(joints, name="odd")
    system = ap.compile(ap.derive(chain)).bind()
    motion = ap.simulate(system, system.state({"Z1.rate": 0.5}), until=0.1)
    made = {}
    exec(run_source(motion), made)
    assert [q.name for q in made["model"].coordinates] == names
    np.testing.assert_allclose(made["motion"].states([0.1]), motion.states([0.1]), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(
    ("formulation", "words"),
    [
        (ap.GibbsAppell(dependent=["q1", "q3"]), "GibbsAppell(dependent=['q1', 'q3'])"),
        (ap.GPME(stabilize=(2.0, 3.0)), "GPME(stabilize=(2.0, 3.0))"),
        (ap.Shulgin(drift=2.0, explicit=False), "Shulgin(drift=2.0, explicit=False)"),
        (ap.Multipliers(), "Multipliers()"),
    ],
    ids=lambda part: getattr(part, "name", ""),
)
def test_code_keeps_the_options_of_the_formulation(formulation, words):
    system = ap.compile(ap.derive(ap.library.four_bar(), formulation)).bind()
    motion = ap.simulate(system, until=0.1, points=3, progress=False)
    text = run_source(motion)
    assert f"ap.derive(model, ap.{words})" in text
    found: dict = {}
    exec(text.replace("print(", "(lambda *a: None)("), found)
    np.testing.assert_allclose(found["motion"].states(0.1), motion.states(0.1), rtol=0, atol=1e-12)


def test_a_model_says_its_freedoms_whatever_the_count_of_its_rows():
    assert "; 1 degree of freedom, since some rows follow from others." in ap.library.bricard()._repr_html_()
    assert "; 3 degrees of freedom." in ap.library.rolling_disk()._repr_html_()
    x, F = ap.coordinates("x"), ap.inputs("F")
    ground = ap.Frame("ground")
    refused = ap.Model(ground, x, [ap.Particle("bob", 1, ground.point(x, 0))], [], [ap.Nonholonomic(x.rate - F)])
    assert "degree" not in refused._repr_html_()


def test_symbols_stand_by_kind_and_say_once_what_they_share():
    x, y = ap.coordinates("x y", "m", "place")
    m, tau, ground = ap.parameters("m", "kg"), ap.inputs("tau", "N", "push"), ap.Frame("ground")
    body = ap.Particle("body", m, ground.point(x, y))
    model = ap.Model(ground, (x, y), [body], [ap.Generalized({x: tau})], values={m: 1.0, tau: 0.0})
    motion = ap.simulate(ap.compile(ap.derive(model)), until=0.1, points=5, progress=False)
    tables = {b.caption: b for b in ap.report(motion).sections[0].blocks if hasattr(b, "rows")}
    assert [row[2] for row in tables["Coordinates"].rows] == ["place", "″"]
    assert tables["Inputs"].head == ("symbol", "unit", "what", "value")
    assert tables["Parameters"].head == ("symbol", "unit", "value")  # none of them is described
    captions = [getattr(b, "caption", "") for b in ap.report(ap.library.hopper_cart()).sections[0].blocks]
    assert "Extra states" in captions


def test_inputs_that_change_have_no_number():
    x, (push, drag) = ap.coordinates("x"), ap.inputs("push drag")
    ground = ap.Frame("ground")
    body = ap.Particle("body", 1.0, ground.point(x, 0))
    forces = [ap.Force((push - drag) * ground.x, body)]
    system = ap.compile(ap.derive(ap.Model(ground, x, [body], forces, values={push: 0.0, drag: 1.0})))
    for law in (sp.sin(ap.t), lambda time, state: {"push": time}):
        given = {"inputs": {push: law}} if isinstance(law, sp.Expr) else {"control": law}
        motion = ap.simulate(system, until=0.1, points=5, progress=False, **given)
        tables = {b.caption: b for b in ap.report(motion).sections[0].blocks if hasattr(b, "rows")}
        assert [row[-1] for row in tables["Inputs"].rows] == ["1", "changes"]


def test_zeros_are_written_as_such():
    """Rounding left 5e-17 of the start on the constraints."""
    motion = ap.simulate(ap.compile(ap.derive(ap.library.bicycle())), until=0.1, points=5, progress=False)
    assert 0 < abs(motion.columns["pitch"][0]) < 1e-15
    blocks = ap.report(motion).sections[0].blocks
    table = next(b for b in blocks if getattr(b, "caption", "") == "Coordinates")
    assert table.head[-2:] == ("at the start", "rate at the start")
    assert [row[-2] for row in table.rows] == ["0"] * 8
    assert table.rows[0][-1] == "5"
