"""SymPy's cache hands out symbols of earlier tests, with the units they had: begin each test module without it."""

import pytest
from sympy.core.cache import clear_cache


@pytest.fixture(scope="module", autouse=True)
def _fresh_symbols():
    clear_cache()
