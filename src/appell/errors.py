"""What can go wrong, one class per stage.

::

    AppellError
    ├── ModelError               what was declared does not make a mechanical system
    │   ├── UndeclaredError      a symbol nobody declared
    │   ├── MissingValueError    a parameter or input without a number
    │   └── FrameError           frames that do not come from one ground
    ├── FormulationError         this principle is not valid for this model
    ├── InconsistentStartError   the start is not on the constraints, or none is found there
    ├── EquilibriumError         there is no such equilibrium, or this is no point at which to linearise
    ├── PeriodicError            no periodic motion is found there
    ├── ControlError             this system cannot be controlled or observed as wanted
    ├── CompileError             an operation that the chosen machine does not have
    ├── IntegrationError         the run could not begin
    ├── StickingError            a motion sticks to kinks, and the equations do not say how it goes on
    ├── StoreError               results of many runs could not be written or read
    └── ClusterError             a cluster cannot be reached, or is lost

    ImpossibleBodyWarning        numbers of a body that no distribution of mass can give
"""

import sys
import warnings


class AppellError(Exception):
    """Anything appell refuses to do, with what to type instead."""


class ModelError(AppellError, ValueError):
    """What was declared does not make a mechanical system."""


class UndeclaredError(ModelError):
    """A symbol is used that nobody declared."""


class MissingValueError(ModelError):
    """A parameter or an input has no number.

    Attributes:
        names: Which have none, where that is known.
    """

    names: tuple[str, ...] = ()


class FrameError(ModelError):
    """Two frames do not come from the same ground."""


class FormulationError(AppellError, ValueError):
    """This principle is not valid for this model."""


class InconsistentStartError(AppellError, ValueError):
    """The start is not on the constraints, or none is found there."""


class EquilibriumError(AppellError, ValueError):
    """There is no such equilibrium, or this is no point at which to linearise."""


class PeriodicError(AppellError, ValueError):
    """No periodic motion is found there."""


class ControlError(AppellError, ValueError):
    """This system cannot be controlled or observed as wanted."""


class CompileError(AppellError, RuntimeError):
    """An operation that the chosen machine does not have."""


class IntegrationError(AppellError, RuntimeError):
    """The run could not begin."""


class StickingError(AppellError, RuntimeError):
    """A motion sticks to kinks, and the equations do not say how it goes on."""


class StoreError(AppellError, OSError):
    """Results could not be written or read."""


class ClusterError(AppellError, ConnectionError):
    """The cluster cannot be reached, or is lost."""


class ImpossibleBodyWarning(UserWarning):
    """The inertia of a body violates an inequality that every distribution of mass obeys."""


def warn(text: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the user's own line, however deep within the package it was noticed.

    Args:
        text: What is strange.
        category: The kind of warning.
    """
    frame, level = sys._getframe(), 1
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("appell."):
        frame, level = frame.f_back, level + 1
    warnings.warn(text, category, stacklevel=level)
