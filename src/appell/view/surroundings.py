"""What stands still around a model and only the look tells: a table, a wall, the foot of a robot."""

from __future__ import annotations

from dataclasses import dataclass

from appell.model.look import Look, Solid
from appell.model.model import Model
from appell.view.figure import Piece, cut_out, given_part, pieces_of, tracks_of
from appell.view.parts import Part
from appell.view.scene import Drawn
from appell.view.tracks import Tracks, Values

STONE = "#7b8794"


@dataclass(frozen=True, eq=False)
class Surroundings:
    """Numbers of the tracks of what stands still.

    Attributes:
        point, turn: The origin and the axes of the ground; none where nothing stands there.
        shapes: Shapes by their primitives.
        solids: Solids of the look, with the tracks of sizes, places and axes.
    """

    point: int
    turn: int
    shapes: tuple[tuple[Piece, ...], ...]
    solids: tuple[tuple[Solid, tuple[int, ...]], ...]

    @classmethod
    def of(cls, look: Look, model: Model, tracks: Tracks) -> Surroundings | None:
        """Ask for the tracks; None where nothing stands still.

        Args:
            look: Hints; where they do not say what stands still, those of the model do.
            model: The model.
            tracks: Where to ask.
        """
        things = look.still or (() if model.look is None else model.look.still)
        if not things:
            return None
        return cls(
            point=tracks.point(model.ground.origin),
            turn=tracks.turn(model.ground),
            shapes=tuple(pieces_of(e, tracks) for e in things if not isinstance(e, Solid)),
            solids=tuple((e, tracks_of(e, tracks)) for e in things if isinstance(e, Solid)),
        )

    def drawn(self, values: Values, unit: float) -> Drawn | None:
        """As it is drawn; None for what cannot be seen.

        Args:
            values: The tracks.
            unit: A length that is small but visible.
        """
        parts: list[Part] = [given_part(solid, numbers, values.scalars) for solid, numbers in self.solids]
        for pieces in self.shapes:
            parts += cut_out(pieces, values.scalars, unit)[1]
        return Drawn("ground", self.point, self.turn, tuple(parts), STONE) if parts else None
