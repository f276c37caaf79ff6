"""The documentation as a site: `make docs`. Pages are Markdown, the reference is read from docstrings."""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx

import appell

project, author = "appell", "the authors of appell"
version = release = appell.__version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_copybutton"]
exclude_patterns = ["images/*.py"]
default_role = "code"
suppress_warnings = ["myst.xref_missing"]  # files beside the README; see `beside`

myst_enable_extensions = ["dollarmath", "amsmath"]
myst_heading_anchors = 4
autodoc_default_options = {"members": True, "member-order": "bysource"}
autodoc_typehints_format = "short"
python_maximum_signature_line_length = 88
add_module_names = False
napoleon_use_rtype = False
napoleon_use_ivar = True

html_theme = "furo"
html_title = "appell"
html_show_sphinx = html_show_copyright = False
html_static_path = ["site.css", "../src/appell/view/web/stix.woff2"]
html_css_files = ["site.css"]
html_extra_path = ["../LICENSE", "../CITATION.cff"]
html_math_renderer = "mathml"

BESIDE = {  # files beside the README, which is the first page, and where they are on the site
    "CONTRIBUTING.md": "contributing.html",
    "CHANGELOG.md": "changes.html",
    "LICENSE": "LICENSE",
    "CITATION.cff": "CITATION.cff",
}
PIECE = re.compile(
    r"(?P<example>^ *>>>(?:.*\S.*\n?)+)|\$\$(?P<block>(?s:.+?))\$\$|\$(?P<math>[^$\n]+)\$"
    r"|`(?P<code>[^`]+)`|(?P<mark>[*|\\]|_\b)",
    re.MULTILINE,
)
INDENT = re.compile(r"^ *")
ARROW = re.compile(r"^.*-->.*$", re.MULTILINE)


def as_rst(*event: Any) -> None:
    """Docstrings are written as Markdown with formulas; autodoc reads reStructuredText."""
    lines: list[str] = event[-1]

    def rewritten(piece: re.Match[str]) -> str:
        if piece["example"]:
            return piece["example"]
        if piece["block"]:
            start = piece.string.rfind("\n", 0, piece.start()) + 1
            indent = INDENT.match(piece.string[start:])[0]
            return f"\n\n{indent}.. math:: {' '.join(piece['block'].split())}\n\n{indent}"
        if piece["math"]:
            return f":math:`{piece['math']}`"
        return f"``{piece['code']}``" if piece["code"] else f"\\{piece['mark']}"

    text = PIECE.sub(rewritten, "\n".join(lines))
    lines[:] = ARROW.sub(lambda line: "| " + line[0].replace("-->", " → ").replace("--", " – "), text).split("\n")


def plain(*event: Any) -> tuple[str, str] | None:
    """Defaults of dataclasses that are made anew each time, which Sphinx cannot read."""
    arguments, result = event[-2:]
    return (arguments.replace("<factory>", "..."), result) if arguments else None


def beside(*event: Any) -> None:
    """Links of the README to files that are not among the pages."""
    for link in event[1].findall(nodes.reference):
        place = BESIDE.get(link.get("refuri", "").removeprefix("#") or link.get("refid"))
        if place is not None:
            link.attributes.pop("refid", None)
            link["refuri"] = place


def inline(self: Any, node: nodes.math) -> None:
    """A formula in a line, as the browser's own MathML: no script, no network."""
    self.body.append(convert(node.astext()))
    raise nodes.SkipNode


def block(self: Any, node: nodes.math_block) -> None:
    """A formula on its own."""
    self.body.append(f'<div class="math">{convert(node.astext(), display="block")}</div>')
    raise nodes.SkipNode


def setup(app: Sphinx) -> None:
    """Markdown in docstrings; formulas as MathML."""
    app.connect("autodoc-process-docstring", as_rst, priority=100)
    app.connect("autodoc-process-signature", plain)
    app.connect("doctree-resolved", beside)
    app.add_html_math_renderer("mathml", (inline, None), (block, None))
