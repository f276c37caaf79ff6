"""What all tests share: fresh symbols, and no complaint about packages that are optional or not made for a system."""

import signal
from collections.abc import Iterator
from importlib.util import find_spec

import pytest
from sympy.core.cache import clear_cache

OPTIONAL = {"heyoka": ("needs heyoka", "heyoka is not installed"), "zarr": ("Zarr is not installed", "named 'zarr'")}
"""By the name of a package, what is said where it is missing."""

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as a shell starts what runs in its background
    signal.signal(signal.SIGINT, signal.default_int_handler)  # tests of Ctrl-C, and their processes, must hear it


@pytest.fixture(scope="module", autouse=True)
def _fresh_symbols():
    """SymPy's cache hands out symbols of earlier tests, with the units they had: begin each test module without it."""
    clear_cache()


def _skip_without_packages() -> Iterator[None]:
    try:
        return (yield)
    except Exception as error:
        said = f"{error} {getattr(error, 'stderr', '')}"
        for name, words in OPTIONAL.items():
            if find_spec(name) is None and any(e in said for e in words):
                pytest.skip(f"{name} is not installed")
        raise


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Iterator[None]:
    """Fixtures may need them,"""
    if item.get_closest_marker("heyoka") and find_spec("heyoka") is None:
        pytest.skip("heyoka is not installed")
    return (yield from _skip_without_packages())


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call() -> Iterator[None]:
    """and tests."""
    return (yield from _skip_without_packages())
