"""`appell explore`: a page with sliders from the terminal."""

import json

import pytest

import appell as ap
from appell.view import variations


def test_a_page_of_parameters_and_starts(call, tmp_path):
    page = tmp_path / "pages" / "chain.html"
    result = call(
        "explore", "pendulum-chain", "--over", "l=1:2:3", "--over", "q1=0.5,0.1", "--until", 0.5, "--out", page,
        "--out", tmp_path / "twin.html",
    )  # fmt: skip
    assert result.exit_code == 0
    assert result.stdout == (
        f"Variations of 'pendulum chain': l [m] = 1 .. 2 (3), q1 [rad] = 0.1 .. 0.5 (2)\n"
        f"wrote {page}\nwrote {tmp_path / 'twin.html'}\n"
    )
    text = page.read_text(encoding="utf-8")
    assert text == (tmp_path / "twin.html").read_text(encoding="utf-8")
    knobs = json.loads(text.partition('id="scene-knobs">')[2].partition("</script>")[0])
    assert knobs["values"] == [["1", "1.5", "2"], ["0.1", "0.5"]]
    assert text.count('type="application/json"') == 7


def test_starts_lie_on_the_constraints_of_every_value(call, tmp_path):
    out = ["--until", 0.2, "--out", tmp_path / "bar.html", "--json"]
    found = json.loads(call("explore", "four-bar", "--set", "q2=1.2", "--over", "lb=1.9:2.1:3", *out).stdout)
    assert found == {
        "model": "four-bar linkage", "varied": {"lb": [1.9, 2.0, 2.1]}, "motions": 3, "ended_early": 0,
        "files": [str(tmp_path / "bar.html")],
    }  # fmt: skip


def test_gains_of_a_files_inputs_are_varied(call, file, tmp_path, monkeypatch, assert_fails):
    """The motions are those of runs with these gains; one that is set is not varied."""
    shown, make = {}, variations.explore
    monkeypatch.setattr(variations, "explore", lambda motions, *more: shown.update(motions) or make(motions, *more))
    file.write_text(file.read_text() + "c, d = ap.parameters('c d', 'N N*s/m')\ninputs = {u: c - d * x.rate}\n")
    out = ["--out", tmp_path / "gains.html"]
    result = call("explore", file, "--over", "d=0.5,2", "--set", "c=1", *out)
    assert result.stdout.startswith("Variations of 'my block': d [N·s/m] = 0.5 .. 2 (2)\n")
    for (d,), motion in shown.items():
        run = json.loads(call("run", file, "--set", f"c=1,d={d}", "--json").stdout)
        assert float(motion["x"][-1]) == run["final"]["x"]
    assert [key for (key,) in shown] == [0.5, 2.0]
    assert_fails(call("explore", file, "--over", "d=0.5,2", *out), "give --set c=NUMBER")
    assert_fails(
        call("explore", file, "--over", "d=0.5,2", "--set", "c=1,d=2", *out), "d: given by --set and by --over"
    )


def test_motions_that_end_early_are_told(call, tmp_path):
    result = call("explore", "appell-hamel", "--over", "m=1,2", "--until", 5, "--out", tmp_path / "a.html")
    assert result.exit_code == 0
    motion = ap.simulate(ap.compile(ap.derive(ap.library.appell_hamel())).bind({"m": 1.0}), until=5.0)
    assert f"2 ended early, the first at m [kg] = 1: {motion.outcome.value}" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--over", "l=uniform(1,2)"], "A slider goes over numbers: --over l=1,2,5"),
        (["--over", "l=1:2:1000"], "up to 3 sliders and 400 motions; got 1 and 1000"),
        (["--over", "l=1,2", "--over", "l=3"], "occurs twice"),
        (["--over", "l=1,2", "--set", "l=3"], "given by --set and by --over"),
        (["--over", "length=1,2"], "'length' is not a parameter, input or state"),
        (["--over", "l=1,2", "--out", "page.png"], "use .html"),
    ],
)
def test_what_no_page_can_show_is_refused(call, tmp_path, monkeypatch, assert_fails, arguments, words):
    monkeypatch.chdir(tmp_path)
    out = [] if "--out" in arguments else ["--out", "page.html"]
    assert_fails(call("explore", "pendulum-chain", *arguments, *out), words)
    assert list(tmp_path.iterdir()) == []
