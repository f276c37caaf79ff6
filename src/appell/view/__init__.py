"""Pictures: a model drawn from its own description, a motion animated, plots.

Model.draw, Motion.animate --> Scene --save--> .html (self-contained), .png .svg .pdf, .gif .mp4
Motions --explore--> Variations --save--> .html with sliders
Motion, roots, matrices --plots--> Plot --save--> .html (self-contained), .svg .pdf .png
"""

from appell.model.look import Look, Solid
from appell.view.motions import over_time, phase
from appell.view.plot import Band, Cloud, Line, Map, Panel, Plot
from appell.view.plots import bode, root_locus, roots, stability_map, work_precision
from appell.view.scene import Field, Scene
from appell.view.variations import Variations, explore

__all__ = [
    "Band",
    "Cloud",
    "Field",
    "Line",
    "Look",
    "Map",
    "Panel",
    "Plot",
    "Scene",
    "Solid",
    "Variations",
    "bode",
    "explore",
    "over_time",
    "phase",
    "root_locus",
    "roots",
    "stability_map",
    "work_precision",
]
