"""The documentation as a site: it builds without a warning, and its reference has every public name."""

import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from urllib.parse import unquote

import pytest

import appell as ap

pytest.importorskip("sphinx")

DOCS = Path(__file__).parents[2] / "docs"
PACKAGES = ("control", "ensemble", "higher_order", "planning", "sprayer", "view")


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    build = [sys.executable, "-m", "sphinx", "-q", "-W", "-b", "html", str(DOCS), str(folder)]
    done = subprocess.run(build, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return folder


def test_every_page_is_in_the_menu(site):
    menu = set(re.findall(r'href="([\w/-]+)\.html"', (site / "index.html").read_text()))
    assert {str(page.relative_to(DOCS).with_suffix("")) for page in DOCS.rglob("*.md")} <= {*menu, "index"}


def test_every_public_name_has_an_entry(site):
    pages = [page.read_text() for page in (site / "reference").glob("*.html")]
    entries = {entry.split(".")[-1] for page in pages for entry in re.findall(r'id="(appell\.[\w.]+)"', page)}
    wanted = set(ap.__all__) - {"friction", "library", "shapes", *PACKAGES}
    wanted.update(*[import_module(f"appell.{package}").__all__ for package in PACKAGES])
    wanted |= {name.replace("-", "_") for name in ap.library.names()}
    assert wanted <= entries


def test_formulas_are_set(site):
    page = (site / "theory" / "shulgin.html").read_text()
    assert page.count("<math") > 20
    assert "$" not in re.sub(r"<pre>.*?</pre>|<script.*?</script>", "", page, flags=re.DOTALL)


def test_code_can_be_copied(site):
    """Marks of Markdown are escaped for Sphinx in sentences, and must not be in examples."""
    pages = {page: re.sub(r"<[^>]+>", "", page.read_text()) for page in (site / "reference").glob("*.html")}
    assert not [page.name for page, words in pages.items() if re.search(r"\\[*_|]", words)]


def test_the_tree_of_errors_keeps_its_lines(site):
    blocks = re.findall(r"<pre>(.*?)</pre>", (site / "reference" / "motion.html").read_text(), re.DOTALL)
    assert any(re.sub(r"<[^>]+>", "", block).startswith("AppellError\n├── ModelError") for block in blocks)


def test_files_beside_the_readme_are_linked(site):
    first = (site / "index.html").read_text()
    for place in ("contributing.html", "changes.html", "LICENSE", "CITATION.cff"):
        assert re.search(rf'<a class="reference external" href="{place}">', first)


def test_every_link_leads_somewhere(site):
    marks = {page: set(re.findall(r'\bid="([^"]+)"', page.read_text())) for page in site.rglob("*.html")}
    for page in marks:
        for link in re.findall(r'(?:href|src)="([^":]+)"', page.read_text()):
            path, _, mark = unquote(link.partition("?")[0]).partition("#")
            target = (page.parent / path).resolve() if path else page
            assert target.exists(), f"{page.name}: {link}"
            assert not mark or target not in marks or mark in marks[target], f"{page.name}: {link}"
