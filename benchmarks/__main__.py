"""`python -m benchmarks [NAME ...] [--quick] [--json FILE]`; `appell bench` does the same and more."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

if not __package__:  # run as `python benchmarks`: the folder above must be searched, not this one
    sys.path[0] = str(Path(__file__).resolve().parents[1])

from benchmarks.suite import TOPICS, console, measured, saved, unknown


def main() -> None:
    """Run what is asked for and print it."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="appell and its peers side by side.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"what to run: {', '.join(TOPICS)}; all if left out")
    parser.add_argument("--quick", action="store_true", help="small sizes, no targets")
    parser.add_argument("--json", type=Path, metavar="FILE", help="save the numbers as well")
    asked = parser.parse_args()
    if unknown(asked.names):
        parser.error(unknown(asked.names))
    about, results = measured(asked.names, asked.quick, console())
    if asked.json:
        asked.json.write_text(saved(about, results, asked.quick))


if __name__ == "__main__":
    main()
