"""Makes ../src/appell/view/web/stix.woff2: STIX Two Math with the letters and signs that formulas of mechanics use.

Run after `npm ci --ignore-scripts`: `pip install fonttools brotli && python font.py`. The result is committed.
"""

from pathlib import Path

from fontTools import subset
from fontTools.ttLib import TTFont

HERE = Path(__file__).parent
SOURCE = HERE / "node_modules/@fontsource/stix-two-math/files/stix-two-math-latin-400-normal.woff2"
RESULT = HERE.parent / "src/appell/view/web/stix.woff2"
LETTERS = (
    "20-7E A0-D7 F7 300-30C 391-3A1 3A3-3CE 3D0-3D2 3D5-3D6 2010-2022 2025-2026 2032-2037 2061-2064 20D6-20D7 210E "
    "2113 2190-2199 21D2 2200-2212 2215-221E 2223-222E 223C-223D 2248 2260-2265 22A5 22C5-22C6 22EE-22F1 2308-230B "
    "239B-23B3 23DC-23E1 27E8-27E9 29F5 2AEE 1D400-1D454 1D456-1D49B 1D6A4-1D6A5 1D6A8-1D71B"
)


def wanted() -> list[int]:
    """Numbers of the letters."""
    found = []
    for piece in LETTERS.split():
        first, _, last = piece.partition("-")
        found += range(int(first, 16), int(last or first, 16) + 1)
    return found


def main() -> None:
    """Write the font; its MATH table, with the sizes and parts of brackets, is kept."""
    options = subset.Options(
        flavor="woff2", hinting=False, layout_features=["ssty", "dtls", "flac", "ccmp", "mark", "mkmk", "kern"]
    )
    font = TTFont(SOURCE, recalcTimestamp=False)
    maker = subset.Subsetter(options)
    maker.populate(unicodes=wanted())
    maker.subset(font)
    font.flavor = "woff2"
    font.save(RESULT)
    print(f"{RESULT.name}: {RESULT.stat().st_size} bytes, {len(font.getGlyphOrder())} glyphs")


if __name__ == "__main__":
    main()
