"""What can go wrong, one class per stage.

AppellError
├── ModelError               what was declared does not make a mechanical system
│   ├── UndeclaredError      a symbol nobody declared
│   ├── MissingValueError    a parameter or input without a number
│   └── FrameError           frames of two different worlds
├── FormulationError         this principle does not treat this model
├── InconsistentStartError   no state on the constraints, or not the one given
├── EquilibriumError         no equilibrium as it is wanted, or not a point at which to linearise
├── ControlError             what is wanted cannot be controlled, observed or weighed like that
├── CompileError             an operation the chosen machine does not have
├── IntegrationError         the run could not even begin
├── StickingError            kinks do not say how a motion goes on that sticks to them
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
    """Two frames do not belong to the same world."""


class FormulationError(AppellError, ValueError):
    """This principle does not treat this model."""


class InconsistentStartError(AppellError, ValueError):
    """The state does not lie on the constraints."""


class EquilibriumError(AppellError, ValueError):
    """No equilibrium as it is wanted, or not a point at which to linearise."""


class ControlError(AppellError, ValueError):
    """What is wanted cannot be controlled, observed or weighed like that."""


class CompileError(AppellError, RuntimeError):
    """An operation that the chosen machine does not have."""


class IntegrationError(AppellError, RuntimeError):
    """The run could not begin."""


class StickingError(AppellError, RuntimeError):
    """Kinks do not say how a motion goes on that sticks to them."""


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
