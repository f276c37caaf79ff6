"""The bar: silent where nobody looks, silent on short runs, with the time left on long ones."""

import pytest

import appell as ap
from appell.motion import progress
from appell.motion.progress import Progress
from appell.terminal import print_table


@pytest.fixture
def clock(monkeypatch):
    """A clock that is set by hand."""
    now = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    return now


def test_nothing_is_shown_without_a_terminal(clock, capsys):
    with Progress(0.0, 10.0) as bar:
        for second in range(1, 10):
            clock[0] = float(second)
            bar(float(second))
    assert capsys.readouterr() == ("", "")


def test_a_program_without_streams_runs(monkeypatch):
    """As in windows of their own, under pythonw."""
    system = ap.compile(ap.derive(ap.library.rolling_disk())).bind()
    monkeypatch.setattr("sys.stderr", None)
    monkeypatch.setattr("sys.stdout", None)
    for method in ("dop853", "cvodes"):
        assert ap.simulate(system, until=0.1, method=method).outcome is ap.Outcome.DONE
    system.equations.show()
    print_table("nothing", ["is"], [["seen"]])


def test_short_runs_show_nothing(clock, capsys):
    with Progress(0.0, 10.0, shown=True) as bar:
        for tenth in range(1, 15):
            clock[0] = tenth / 10
            bar(float(tenth))
    assert capsys.readouterr() == ("", "")


def test_long_runs_show_how_far_they_are(clock, capsys, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    with Progress(0.0, 10.0, shown=True) as bar:
        for second in (2.0, 3.0, 4.0, 5.0):
            clock[0] = second
            bar(second)
    out, err = capsys.readouterr()
    assert out == ""
    assert "simulating" in err
    assert "left" in err
    assert "%" in err


def test_a_simulation_prints_nothing(capfd):
    system = ap.compile(ap.derive(ap.library.chaplygin_sleigh())).bind()
    ap.simulate(system, until=0.5)
    ap.simulate(system, until=0.5, method="cvodes")
    assert capfd.readouterr() == ("", "")


def test_a_bar_in_a_notebook_comes_and_goes(monkeypatch, clock):
    import sys
    import types

    shown = []

    class Handle:
        def update(self, thing, raw=False):
            shown.append(thing)

    shell = types.SimpleNamespace(kernel=object())
    display = types.ModuleType("IPython.display")
    display.HTML = str
    display.display = lambda thing, display_id: shown.append(thing) or Handle()
    package = types.ModuleType("IPython")
    package.get_ipython, package.display = (lambda: shell), display
    monkeypatch.setitem(sys.modules, "IPython", package)
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    monkeypatch.setattr("appell.motion.progress.PATIENCE", 0.0)
    with Progress(0.0, 10.0, what="a <b> run") as bar:
        assert bar.shown
        clock[0] += 1
        bar(2.5)
        clock[0] += 1
        bar(5.0)
    assert 'value="0.5000"' in shown[-2]
    assert "a &lt;b&gt; run" in shown[0]
    assert shown[-1] == {"text/plain": "", "text/html": ""}  # nothing is left, also where a page is not HTML
