"""How wide LaTeX is when it is set, and room between names of several letters."""

from __future__ import annotations

import re

INDEX = r"_\{(?:[^{}]|\{[^{}]*\})*\}"
WORD = rf"(?:\\d*dot\{{)?\\math(?:rm|tt)\{{[^{{}}]*\}}\}}?(?:{INDEX})?(?:\^\{{[^{{}}]*\}})?"
AFTER = re.compile(rf"({WORD}) (?=[A-Za-z0-9\\{{])(?!\\right|\\end|\\cdot|\\left|\\,|\\\\)")
BEFORE = re.compile(rf"(?<=[A-Za-z0-9}})]) (?={WORD})")
SILENT = re.compile(
    r"\\([,;!]|(left|right|big[lr]|math(rm|tt)|text|d*dot|displaystyle|begin|end|operatorname)(?![a-z]))"
)
FRACTION = re.compile(r"\\frac\{")
COMMAND = re.compile(r"\\([a-zA-Z]+)")
FUNCTIONS = {"sin", "cos", "tan", "cot", "sinh", "cosh", "tanh", "log", "exp", "max", "min", "quad", "operatorname"}


def spaced(tex: str) -> str:
    """Products with a little room where a factor is a name of several letters.

    Args:
        tex: A formula as SymPy prints it.
    """
    if r"\math" not in tex:
        return tex
    return BEFORE.sub(r" \, ", AFTER.sub(r"\1 \, ", tex))


def seen(tex: str) -> int:
    """About how many letters wide a formula is when it is set.

    Args:
        tex: The formula.
    """
    while (found := FRACTION.search(tex)) is not None:
        above, rest = _group(tex, found.end())
        below, rest = _group(tex, rest + 1)
        wider = max(above, below, key=seen)
        tex = f"{tex[: found.start()]}{wider} {tex[rest:]}"
    tex = SILENT.sub("", tex)
    tex = COMMAND.sub(lambda m: m.group(1) if m.group(1) in FUNCTIONS else "x", tex)
    narrow = sum(len(e) for e in re.findall(r"[_^]\{?([^{}]*)\}?", tex)) // 3
    signs = len(re.findall(r" [-+=] ", tex))
    return len(re.sub(r"[{}_^&\s]", "", tex)) - narrow + 2 * signs


def _group(tex: str, start: int) -> tuple[str, int]:
    """What stands in braces that were opened just before a place, and the place behind them."""
    depth = 1
    for k in range(start, len(tex)):
        depth += {"{": 1, "}": -1}.get(tex[k], 0)
        if depth == 0:
            return tex[start:k], k + 1
    return tex[start:], len(tex)
