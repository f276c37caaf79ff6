"""The principles of mechanics that appell knows; `derive` applies one to a model."""

from __future__ import annotations

from appell.formulation.abstract import AbstractFormulation
from appell.formulation.computational_gpme import ComputationalGPME
from appell.formulation.gibbs_appell import GibbsAppell
from appell.formulation.gpme import GPME
from appell.formulation.lyapunov_elimination import LyapunovElimination
from appell.formulation.multipliers import Multipliers
from appell.formulation.recursive import Recursive
from appell.formulation.shulgin import Shulgin
from appell.formulation.udwadia_kalaba import UdwadiaKalaba
from appell.formulation.voronets import Voronets

FORMULATIONS: tuple[type[AbstractFormulation], ...] = (
    GibbsAppell,
    Recursive,
    Voronets,
    Shulgin,
    GPME,
    ComputationalGPME,
    Multipliers,
    LyapunovElimination,
    UdwadiaKalaba,
)
