"""What the documents say is true: every example file and every code block runs, and prints what the page shows.

Blocks marked `python` of one page run one after the other in one namespace; lines of `sh` blocks that begin with
`appell` are run as commands. A `text` block after either of them is what it printed. Run as a script, this file puts
the present output into the pages.
"""

import contextlib
import io
import re
import runpy
import shlex
import sys
import tempfile
from pathlib import Path

import pytest
from PIL import Image
from typer.testing import CliRunner

import appell as ap
from appell.cli import app
from appell.code import heyoka_code

ROOT = Path(__file__).parents[2]
ONLY = ("index", "contributing", "changes")  # what stands beside the README, on the site
SITE = {*(ROOT / "docs" / f"{name}.md" for name in ONLY), *(ROOT / "docs" / "reference").glob("*.md")}
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(set((ROOT / "docs").rglob("*.md")) - SITE)]
EXAMPLES = sorted((ROOT / "examples").rglob("*.py"))
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NUMBER = re.compile(r"(?<![\w.])[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?(?![\w.]*\w)")
LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")
VARYING = (" steps by ", "speeds changed at")  # how long a run took and where it stepped differs between machines


def name_of(path):
    return str(path.relative_to(ROOT))


def execute(code, line, page, namespace):
    """Run a block so that a fault names the page and its line; returns what was printed."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile("\n" * (line - 1) + code, str(page), "exec"), namespace)
    return printed.getvalue()


def command(code):
    """Run the `appell` lines of a block; returns what they printed."""
    printed = ""
    for line in code.splitlines():
        if line.startswith("appell "):
            result = CliRunner().invoke(app, shlex.split(line, comments=True)[1:])
            assert result.exit_code == 0, f"{line}: {result.output}"
            printed += result.output
    return printed


def same(shown, printed):
    """Whether a line says the same: words exactly, numbers to six digits, what is below 1e-9 counts as zero.

    Three dots at its end stand for whatever follows.
    """
    if shown.endswith(" ..."):
        return printed.startswith(shown.removesuffix(" ..."))
    if NUMBER.sub("#", shown).split() != NUMBER.sub("#", printed).split():
        return False
    if any(words in shown for words in VARYING):
        return True
    pairs = zip(map(float, NUMBER.findall(shown)), map(float, NUMBER.findall(printed)), strict=True)
    return all(abs(a - b) <= max(1e-9, 1e-6 * abs(a)) for a, b in pairs)


def assert_shown(shown, printed, place):
    """Every line of a page was printed, in order; a line of three dots stands for lines left out."""
    lines = [line for line in printed.splitlines() if line.strip()]
    at, free = 0, False
    for line in (line for line in shown.splitlines() if line.strip()):
        if line.strip() == "...":
            free = True
            continue
        found = next((i for i in range(at, len(lines)) if same(line, lines[i])), None)
        assert found is not None, f"{place} shows a line that was not printed:\n{line}\nprinted:\n" + "\n".join(
            lines[at:]
        )
        assert free or found == at, f"{place} leaves out:\n" + "\n".join(lines[at:found])
        at, free = found + 1, False
    assert free or at == len(lines), f"{place} leaves out:\n" + "\n".join(lines[at:])


def outputs(page):
    """Run all blocks of a page; yields each `text` block that shows an output, and that output."""
    namespace, printed, text = {"__name__": "page"}, None, page.read_text()
    for block in BLOCK.finditer(text):
        line = text.count("\n", 0, block.start()) + 2
        if block[1] == "python":
            printed = execute(block[2], line, page, namespace)
        elif block[1] == "sh":
            printed = command(block[2])
        elif block[1] == "text" and printed is not None:
            yield block, f"{name_of(page)}, line {line},", printed
            printed = None


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_pages(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for block, place, printed in outputs(page):
        if heyoka_code.available():  # without it other methods are chosen, with other words
            assert_shown(block[2], printed, place)


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_lead_somewhere(page):
    targets = [t for t in LINK.findall(page.read_text()) if "://" not in t]
    assert not [t for t in targets if not (page.parent / t).exists()]


@pytest.mark.parametrize("path", EXAMPLES, ids=name_of)
def test_examples(path, tmp_path, monkeypatch, capsys):
    """Each says its aim and its source, prints results, and writes nothing but the picture it is asked for."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [str(path), "picture.png"])
    namespace = runpy.run_path(str(path), run_name="__main__")
    assert "Aim: " in namespace["__doc__"]
    assert "Source: " in namespace["__doc__"]
    assert len(capsys.readouterr().out.splitlines()) >= 3
    assert [file.name for file in tmp_path.iterdir()] == ["picture.png"]


@pytest.mark.parametrize("path", EXAMPLES, ids=name_of)
def test_examples_are_short(path):
    assert 20 <= len(path.read_text().splitlines()) <= 60


def test_every_page_is_reachable_from_the_readme():
    seen, left = set(), [ROOT / "README.md"]
    while left:
        page = left.pop()
        seen.add(page)
        targets = [(page.parent / t).resolve() for t in LINK.findall(page.read_text()) if t.endswith(".md")]
        left += [target for target in targets if target not in seen and target.exists()]
    assert {page.resolve() for page in PAGES} <= {page.resolve() for page in seen}


def test_every_model_is_on_the_page_of_the_library():
    named = re.findall(r"^\| `([\w-]+)` \|", (ROOT / "docs" / "library.md").read_text(), re.MULTILINE)
    assert sorted(named) == sorted(ap.library.names())


def test_every_example_is_on_its_page():
    named = re.findall(r"\]\(\.\./(examples/[\w/]+\.py)\)", (ROOT / "docs" / "examples.md").read_text())
    assert sorted(named) == [str(path.relative_to(ROOT)) for path in EXAMPLES]


def test_sheets_of_pictures_show_what_their_pages_list():
    made = runpy.run_path(str(ROOT / "docs" / "images" / "gallery.py"))["sheets"]()
    pages = (ROOT / "docs" / "library.md").read_text() + (ROOT / "docs" / "examples.md").read_text()
    for path, names in made.items():
        with Image.open(path) as sheet:
            assert sheet.text["names"].split() == names, "write it again: python docs/images/gallery.py"
        assert f"](images/{path.name})" in pages


def refresh(page):
    """Put what is printed now into the `text` blocks that no longer show it."""
    text, done, parts = page.read_text(), 0, []
    for block, place, printed in outputs(page):
        try:
            assert_shown(block[2], printed, place)
        except AssertionError:
            shown = "\n".join(line.rstrip() for line in printed.strip("\n").splitlines())
            parts.append(f"{text[done : block.start(2)]}{shown}\n")
            done = block.end(2)
            print(f"{place} is refreshed")
    page.write_text("".join([*parts, text[done:]]))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        for each in PAGES:
            refresh(each)
