"""A motion on disk: its table, with the description of the run."""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import numpy as np

from appell.code.system import System
from appell.errors import AppellError
from appell.files import check_zarr, path_of, whole
from appell.model.values import check_kind
from appell.motion.events import Occurrence
from appell.motion.motion import Motion
from appell.motion.outcome import Outcome


def write(motion: Motion, path: Path) -> Path:
    """Write the table of a motion to a file.

    Args:
        motion: The motion.
        path: A name that ends in .nc (NetCDF), .zarr or .csv.
    """
    if path.suffix == ".nc":
        with whole(path) as part:
            motion.dataset.to_netcdf(part, engine="scipy")
    elif path.suffix == ".csv":
        with whole(path) as part:
            motion.to_pandas().to_csv(part)
    elif path.suffix == ".zarr":
        check_zarr("use a .nc file")
        with whole(path, folder=True) as part:
            motion.dataset.to_zarr(part, mode="w", consolidated=False)
    else:
        raise AppellError(f"Give a path that ends in .nc (NetCDF), .zarr or .csv, got {path.name!r}.")
    return path


def load(path: str | Path, system: System | None = None) -> Motion:
    """Read a motion that `Motion.save` wrote.

    Args:
        path: A .nc file or a .zarr folder.
        system: The system it belongs to, for states between the rows of the table (cubics through positions and
            rates), reactions and animations; the table itself and its plots need none.
    """
    import xarray

    path = path_of(path)
    if system is not None:
        check_kind(system, System, "system= the System that the motion belongs to, compile(derive(model)).bind(...)")
    if not path.exists():
        raise AppellError(f"There is no file {path}.")
    if path.suffix == ".csv":
        raise AppellError(f"{path} has numbers only: read it by pandas.read_csv. Motions are loaded from .nc or .zarr.")
    if path.suffix == ".zarr":
        check_zarr("use a .nc file")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # of what lies beside the arrays of a study
            data = (
                xarray.open_zarr(path, consolidated=False)
                if path.suffix == ".zarr"
                else xarray.open_dataset(path, engine="scipy")
            )
        with data:
            info = json.loads(data.attrs["appell"])
            if "varied" not in info:  # a study may be larger than the memory
                data.load()
    except (KeyError, ValueError, TypeError, OSError) as error:
        words = str(error).partition("\n")[0].rstrip(".")
        raise AppellError(f"{path} is not a motion written by appell ({words}).") from error
    if "varied" in info:
        raise AppellError(f"{path} holds a study of many runs; read it with appell.ensemble.open_study({str(path)!r}).")
    order = dict.fromkeys([*info["state"], *map(str, data.data_vars)])  # a Zarr folder does not keep it
    columns = {name: np.array(data[name]) for name in order}
    units = {str(name): str(values.attrs.get("units", "")) for name, values in data.data_vars.items()}
    occurrences = [Occurrence(e["name"], e["t"]) for e in info["events"]]
    return Motion(
        times=np.array(data["t"]),
        columns=columns,
        units=units,
        info=info,
        outcome=Outcome[info["outcome"]],
        system=system,
        stretches=(),
        occurrences=occurrences,
    )
