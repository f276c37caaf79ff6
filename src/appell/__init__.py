"""appell: equations of motion without multipliers.

    Model --derive(formulation)--> Equations --compile--> System --simulate--> Motion

Names are loaded when first used, so that `import appell` stays light.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from appell import control as control
    from appell import ensemble as ensemble
    from appell import higher_order as higher_order
    from appell import library as library
    from appell import planning as planning
    from appell import sprayer as sprayer
    from appell import view as view
    from appell.analysis.equilibrium import equilibrium as equilibrium
    from appell.analysis.galerkin import galerkin as galerkin
    from appell.analysis.integral_principle import integral_principle as integral_principle
    from appell.analysis.linearize import linearize as linearize
    from appell.analysis.periodic import periodic as periodic
    from appell.analysis.stability import stability as stability
    from appell.analysis.verify import verify as verify
    from appell.code.state import State as State
    from appell.code.system import System as System
    from appell.code.system import compile as compile
    from appell.control.tracking import track as track
    from appell.ensemble.sweep import sweep as sweep
    from appell.equations import Equations as Equations
    from appell.errors import AppellError as AppellError
    from appell.formulation.computational_gpme import ComputationalGPME as ComputationalGPME
    from appell.formulation.derive import derive as derive
    from appell.formulation.gibbs_appell import GibbsAppell as GibbsAppell
    from appell.formulation.gpme import GPME as GPME
    from appell.formulation.higher_order import HigherOrder as HigherOrder
    from appell.formulation.lyapunov_elimination import LyapunovElimination as LyapunovElimination
    from appell.formulation.multipliers import Multipliers as Multipliers
    from appell.formulation.quasi_accelerations import QuasiAccelerations as QuasiAccelerations
    from appell.formulation.recursive import Recursive as Recursive
    from appell.formulation.relative_motion import RelativeMotion as RelativeMotion
    from appell.formulation.shulgin import Shulgin as Shulgin
    from appell.formulation.udwadia_kalaba import UdwadiaKalaba as UdwadiaKalaba
    from appell.formulation.voronets import Voronets as Voronets
    from appell.model import friction as friction
    from appell.model import shapes as shapes
    from appell.model.body import Particle as Particle
    from appell.model.body import RigidBody as RigidBody
    from appell.model.chain import Chain as Chain
    from appell.model.constraint import Holonomic as Holonomic
    from appell.model.constraint import Nonholonomic as Nonholonomic
    from appell.model.constraint import Prescribed as Prescribed
    from appell.model.constraint import Rolling as Rolling
    from appell.model.force import Damper as Damper
    from appell.model.force import Force as Force
    from appell.model.force import Generalized as Generalized
    from appell.model.force import Gravity as Gravity
    from appell.model.force import Potential as Potential
    from appell.model.force import Spring as Spring
    from appell.model.force import Torque as Torque
    from appell.model.frame import Frame as Frame
    from appell.model.joint import Joint as Joint
    from appell.model.mass_flow import Stream as Stream
    from appell.model.mass_flow import drained as drained
    from appell.model.model import Model as Model
    from appell.model.programme import Programmed as Programmed
    from appell.model.symbols import coordinates as coordinates
    from appell.model.symbols import inputs as inputs
    from appell.model.symbols import parameters as parameters
    from appell.model.symbols import speeds as speeds
    from appell.model.symbols import states as states
    from appell.model.symbols import t as t
    from appell.motion.events import Event as Event
    from appell.motion.file import load as load
    from appell.motion.motion import Motion as Motion
    from appell.motion.outcome import Outcome as Outcome
    from appell.motion.run import simulate as simulate
    from appell.planning.planner import plan as plan
    from appell.reporting import report as report

__version__ = "0.1.0"

_INSIDE = {"friction": "model.friction", "shapes": "model.shapes"}
"""Public packages that live inside another one."""

_HOME = {
    "analysis.equilibrium": "equilibrium",
    "analysis.galerkin": "galerkin",
    "analysis.integral_principle": "integral_principle",
    "analysis.linearize": "linearize",
    "analysis.periodic": "periodic",
    "analysis.stability": "stability",
    "analysis.verify": "verify",
    "code.state": "State",
    "code.system": "System compile",
    "ensemble.sweep": "sweep",
    "control.tracking": "track",
    "equations": "Equations",
    "errors": "AppellError",
    "formulation.derive": "derive",
    "formulation.computational_gpme": "ComputationalGPME",
    "formulation.gibbs_appell": "GibbsAppell",
    "formulation.gpme": "GPME",
    "formulation.higher_order": "HigherOrder",
    "formulation.lyapunov_elimination": "LyapunovElimination",
    "formulation.recursive": "Recursive",
    "formulation.multipliers": "Multipliers",
    "formulation.quasi_accelerations": "QuasiAccelerations",
    "formulation.relative_motion": "RelativeMotion",
    "formulation.shulgin": "Shulgin",
    "formulation.udwadia_kalaba": "UdwadiaKalaba",
    "formulation.voronets": "Voronets",
    "model.body": "Particle RigidBody",
    "model.chain": "Chain",
    "model.constraint": "Holonomic Nonholonomic Prescribed Rolling",
    "model.force": "Damper Force Generalized Gravity Potential Spring Torque",
    "model.frame": "Frame",
    "model.joint": "Joint",
    "model.mass_flow": "Stream drained",
    "model.model": "Model",
    "model.programme": "Programmed",
    "model.symbols": "coordinates inputs parameters speeds states t",
    "motion.events": "Event",
    "motion.file": "load",
    "motion.motion": "Motion",
    "motion.outcome": "Outcome",
    "motion.run": "simulate",
    "planning.planner": "plan",
    "reporting": "report",
}
_WHERE = {name: module for module, names in _HOME.items() for name in names.split()}

_PACKAGES = ("control", "ensemble", "higher_order", "library", "planning", "sprayer", "view")

__all__ = sorted([*_WHERE, *_PACKAGES, *_INSIDE])


def __getattr__(name: str) -> Any:
    if name in _PACKAGES or name in _INSIDE:
        return import_module(f"appell.{_INSIDE.get(name, name)}")
    if name not in _WHERE:
        from difflib import get_close_matches

        near = get_close_matches(name, __all__, 1, 0.7) if not name.startswith("_") else []
        raise AttributeError(f"appell has no name {name!r}" + "".join(f"; did you mean {n!r}?" for n in near))
    value = getattr(import_module(f"appell.{_WHERE[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
