"""How a person reads the equations: derived from the very graph that runs, written as a textbook would.

    Equations -> blocks (rows on the graph) -> sharing (short formulas) -> rows (simplified, compared) -> Page -> print

Small systems are brought to a normal form (`laurent`), the shortest way to write it is looked for (`shorten`), and the
result is compared with the graph at random points. Large ones are shown with named intermediate quantities.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from appell.reading.pages import Page, page
from appell.reading.printing import as_latex, as_text
from appell.terminal import in_notebook

if TYPE_CHECKING:
    from appell.equations import Equations

__all__ = ["TYPESET", "Page", "latex", "page", "show", "text"]

TYPESET = 1300  # operations of one right-hand side; equations of more are not typeset unless asked for


def latex(equations: Equations, simplify: bool | None = None) -> str:
    """The equations as one `aligned` environment of LaTeX.

    Args:
        equations: The equations.
        simplify: Simplify (True), name intermediate quantities (False), or decide by size (None).
    """
    return as_latex(page(equations, simplify))


def text(equations: Equations, simplify: bool | None = None) -> str:
    """The equations as plain text; arguments as for `latex`."""
    return as_text(page(equations, simplify))


def show(equations: Equations) -> None:
    """Typeset the equations in a notebook, print them as text elsewhere and where they would fill pages."""
    if in_notebook() and equations.operations <= TYPESET:
        from IPython.display import Latex, display  # pyright: ignore[reportMissingImports]

        display(Latex(equations._repr_latex_()))
    else:
        print(text(equations))
