"""Many runs: grids, samples, programmes, controllers; this machine's cores by default, a Dask cluster by address."""

from appell.ensemble.design import LogUniform, Normal, Uniform
from appell.ensemble.region import Region, region_of_attraction
from appell.ensemble.study import Study, open_study
from appell.ensemble.sweep import sweep

__all__ = [
    "LogUniform",
    "Normal",
    "Region",
    "Study",
    "Uniform",
    "open_study",
    "region_of_attraction",
    "sweep",
]
