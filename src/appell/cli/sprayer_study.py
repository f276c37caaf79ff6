"""The study of the spraying robot, which `appell run sprayer` makes in place of one motion."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from appell.cli.output import deliver
from appell.cli.places import make_folder, written
from appell.cli.settings import Settings
from appell.errors import ModelError
from appell.terminal import print_table

if TYPE_CHECKING:
    from appell.sprayer.study import Study


def run_study(
    given: Settings, until: float | None, method: str, out: list[Path], report: list[Path] | None, as_json: bool
) -> bool:
    """Drive all paths in all ways, and say what was found; returns whether all is well."""
    _check(given, out)
    from appell.reporting.sprayer_study import study_report
    from appell.sprayer.figures import draw
    from appell.sprayer.study import study

    for folder in out:
        make_folder(folder)
    asked = {"until": until, "mass": given.start.get("m")}
    made = study(given.values, method=method, **{name: value for name, value in asked.items() if value is not None})
    deliver(
        as_json,
        made.to_json,
        lambda: _tell(made),
        (file for folder in out for file in draw(made, folder)),
        written(report, lambda path: study_report(made).save(path)),
    )
    return made.ok


def _check(given: Settings, out: list[Path]) -> None:
    """Refuse what the study cannot take, before the work is done."""
    inputs = (*given.values, *(w.label for w in given.laws))
    wrong = [name for name in given.start if name != "m"] + [name for name in inputs if name.startswith("tau_")]
    if wrong:
        raise ModelError(
            f"The study of the sprayer drives several paths by feedback and cannot take {', '.join(wrong)}; "
            "set parameters or m, or run the model alone by --no-study."
        )
    for folder in out:
        if folder.suffix or (folder.exists() and not folder.is_dir()):
            raise ModelError(
                f"The study of the sprayer writes pictures to a folder, got {folder}; use --out FOLDER/, or add "
                "--no-study for one motion of the model alone."
            )


def _tell(made: Study) -> None:
    """Print a study."""
    import numpy as np

    from appell.sprayer.study import BESIDE, POINTS, PRINTED

    data = made.to_json()

    def table(title: str, columns: str, rows: list[list[str]]) -> None:
        print_table(title, columns.split("|"), rows)
        print()

    print("\n".join(made.open_loop.info["equations"].splitlines()[:2]) + "\n")
    mass, end = data["mass"], made.held[0].motion.times[-1]
    print(
        f"mass: {mass['first']:.9g} kg -> {mass['last']:.9g} kg in {end:g} s, "
        f"{(mass['last'] - mass['first']) / end:.9g} kg/s"
        + (f"; the tank is empty at t = {mass['empty_at']:.9g} s\n" if mass["empty_at"] else "\n")
    )
    printed = {name: f"{e[0]:g} m, {e[1]:g} rad" for name, e in PRINTED.items()}
    rows = [
        [
            row["path"], row["law"], row["equations"], f"{row['tracking']:.6f}", f"{row['orientation']:.6f}",
            f"{row['tracking_at_end']:.2e}", f"{row['largest_force']:.3g}", f"{row['largest_moment']:.3g}",
            printed[row["path"]] if row["equations"] == "paper" else "",
        ]
        for name in PRINTED for row in data["runs"] if row["path"] == name and row["kind"] == "on the path"
    ]  # fmt: skip
    table(
        f"paths: means over {POINTS} points",
        "path|law|equations|tracking m|orientation rad|at the end m|force N|moment N m|the paper prints",
        rows,
    )
    print(
        "The gains of the speed loops are fitted to the paper's errors: that these come out is no evidence for its\n"
        "equations. 18.2378 m on the straight path is not reproduced by any reading (the paper's text says 0.08 m).\n"
    )
    rows = [
        [row["path"], row["law"], f"{row['tracking']:.4f}", f"{row['tracking_at_end']:.2e}", row["kind"]]
        for row in data["runs"] if row["kind"] != "on the path"
    ]  # fmt: skip
    first = f"{np.hypot(*BESIDE[:2]):.3g} m and {abs(BESIDE[2]):g} rad"
    table(f"begun {first} beside the path; flows that jump at random", "path|law|mean m|at the end m|case", rows)
    rows = [
        [e.path.name, " .. ".join(f"{round(end, 4) + 0.0:.4f}" for end in data["side_force"][e.path.name]), *(
            "" if number is None else f"{number:.4g}"
            for number in (data["coverage"][e.path.name][n] for n in ("sprayed", "area", "christiansen", "variation"))
        ), f"{e.coverage.lost:.0e}"]
        for e in made.linearized
    ]  # fmt: skip
    table(
        "tyres and field, path followed by linearization",
        "path|lateral tyre force N|sprayed l|wetted m2|Christiansen|variation|lost on the map",
        rows,
    )
    print(f"formulations agree to {data['agreement']:.1e}, power balance closes to {data['power_balance']:.1e}, "
          f"momentum balance with the jets to {data['momentum_balance']:.1e}")  # fmt: skip
    print("all is well" if made.ok else "NOT WELL: a run ended early or a proof does not hold")
