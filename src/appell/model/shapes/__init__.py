"""Mass distribution: primitives of mass per length, area or volume, placed, added and cut out of each other.

Every primitive is a frozen dataclass with its dimensions as fields (`dimensions` has them by name), `kind`, `pose` (a
`Placement`; `pose.matrix` is 4 by 4), `density`, `mass`, `measure`, `centroid` and `spread` (S, second moments per unit
of mass about the centroid); numbers or formulas everywhere. `parts` of any shape gives pairs of sign and primitive,
each at its final pose, which is all that is needed to draw it.
"""

from appell.model.inertia import MassDistribution as MassDistribution
from appell.model.shapes.abstract import AbstractPrimitive as AbstractPrimitive
from appell.model.shapes.abstract import AbstractShape as AbstractShape
from appell.model.shapes.composite import Composite as Composite
from appell.model.shapes.lines import HalfRing as HalfRing
from appell.model.shapes.lines import Point as Point
from appell.model.shapes.lines import Ring as Ring
from appell.model.shapes.lines import Rod as Rod
from appell.model.shapes.mesh import Mesh as Mesh
from appell.model.shapes.polyhedra import Tetrahedron as Tetrahedron
from appell.model.shapes.polyhedra import Triangle as Triangle
from appell.model.shapes.round_solids import Cap as Cap
from appell.model.shapes.round_solids import Cone as Cone
from appell.model.shapes.round_solids import Frustum as Frustum
from appell.model.shapes.round_solids import Hemisphere as Hemisphere
from appell.model.shapes.round_solids import HollowSphere as HollowSphere
from appell.model.shapes.round_solids import Sphere as Sphere
from appell.model.shapes.solids import Box as Box
from appell.model.shapes.solids import Cylinder as Cylinder
from appell.model.shapes.solids import Ellipsoid as Ellipsoid
from appell.model.shapes.solids import Torus as Torus
from appell.model.shapes.solids import Tube as Tube
from appell.model.shapes.surfaces import Annulus as Annulus
from appell.model.shapes.surfaces import ConeShell as ConeShell
from appell.model.shapes.surfaces import CylinderShell as CylinderShell
from appell.model.shapes.surfaces import Disc as Disc
from appell.model.shapes.surfaces import HalfDisc as HalfDisc
from appell.model.shapes.surfaces import Plate as Plate
from appell.model.shapes.surfaces import SphereShell as SphereShell
from appell.model.shapes.tank import filled as filled
