"""Where the methods come from, as BibTeX."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any


@cache
def entries() -> dict[str, str]:
    """The entries of `sources.bib` by the words above each: sources as formulations name them, and programs."""
    text = Path(__file__).with_name("sources.bib").read_text(encoding="utf-8")
    return dict(re.findall(r"^% ([^\n]+)\n(@.+?^\})", text, re.MULTILINE | re.DOTALL))


def bibtex(formulation: Any, method: str = "") -> str:
    """Entries for the principle, the integrator and the engines behind a result.

    Args:
        formulation: The principle, whose `reference` names its sources.
        method: The integrator's name.
    """
    keys: list[str] = []
    for words in formulation.reference.split(";"):
        name = re.match(r"\s*(.+?\d{4})", words)
        keys.append(name.group(1) if name else words.strip())
    if method:
        keys.append(method if method in entries() else "scipy")
    return "\n\n".join(entries().get(e) or _noted(e) for e in dict.fromkeys((*keys, "casadi", "sympy")))


def _noted(words: str) -> str:
    """A source of which only the words are known: that of a formulation of your own."""
    label = re.sub(r"\W+", "", words.lower()) or "source"
    return f"@misc{{{label},\n  note = {{{words}}}\n}}"
