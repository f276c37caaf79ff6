"""The bar: silent where nobody looks, silent on short runs, with the time left on long ones."""

import pytest

import appell as ap
from appell.motion import progress
from appell.motion.progress import Progress


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
