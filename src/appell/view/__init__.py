"""To look at: a model drawn from its own description, a motion in moving pictures, plots.

Model or Motion --draw, animate--> Scene --save--> .html (self-contained), .png .svg .pdf, .gif .mp4
"""

from appell.model.look import Look, Solid
from appell.view.scene import Field, Scene, animate, draw

__all__ = ["Field", "Look", "Scene", "Solid", "animate", "draw"]
