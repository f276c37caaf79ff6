"""The coefficients of Dormand and Prince's method of order 8(5,3), as SciPy has them (Hairer, Norsett, Wanner 1993)."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from runpy import run_path
from types import SimpleNamespace


def _table() -> SimpleNamespace:
    """SciPy's file of coefficients alone: the package around it takes half a second to import."""
    package = find_spec("scipy")
    assert package is not None
    folder = Path(next(iter(package.submodule_search_locations or ())))
    return SimpleNamespace(**run_path(str(folder / "integrate" / "_ivp" / "dop853_coefficients.py")))


table = _table()
STAGES = table.N_STAGES
