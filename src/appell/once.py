"""What is made once for a thing and is gone with it: where a later layer remembers what it made of an earlier noun."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

Thing = TypeVar("Thing")
More = ParamSpec("More")
Made = TypeVar("Made")

_NOTHING: Any = object()


def once(make: Callable[Concatenate[Thing, More], Made]) -> Callable[Concatenate[Thing, More], Made]:
    """A function that makes something of a thing, asked again for the same thing, gives what it made.

    What it makes must not hold the thing itself, which would then live for ever. A second thread that asks meanwhile
    may make another one; nobody gets half of one.

    Args:
        make: From a thing, and what else it depends on, to what is made. Of that there must be few: all is remembered.

    Example:
        >>> class Noun: ...
        >>> @once
        ... def made(noun, size):
        ...     return [size]
        >>> noun = Noun()
        >>> made(noun, 3) is made(noun, 3), made(noun, 3) is made(noun, 4), made(noun, 3) is made(Noun(), 3)
        (True, False, False)
    """
    return _remembering(make, None)


def lately(
    most: int,
) -> Callable[[Callable[Concatenate[Thing, More], Made]], Callable[Concatenate[Thing, More], Made]]:
    """As `once`, for what depends on more than a thing in countless ways, such as numbers: the last few are remembered.

    Args:
        most: How many for each thing.

    Example:
        >>> class Noun: ...
        >>> @lately(2)
        ... def made(noun, size):
        ...     return [size]
        >>> noun = Noun()
        >>> first, *_ = (made(noun, size) for size in (3, 4, 3, 5))
        >>> made(noun, 3) is first, made(noun, 4) is made(noun, 4), made(noun, 5) is made(noun, 5)
        (True, True, True)
    """
    return lambda make: _remembering(make, most)


def _remembering(
    make: Callable[Concatenate[Thing, More], Made], most: int | None
) -> Callable[Concatenate[Thing, More], Made]:
    known: weakref.WeakKeyDictionary[Any, dict[Any, Made]] = weakref.WeakKeyDictionary()

    @wraps(make)
    def asked(thing: Thing, /, *more: More.args, **named: More.kwargs) -> Made:
        key = (more, *named.items()) if named else more
        made = known.get(thing)
        if made is None:
            made = known.setdefault(thing, {})
        found: Any = made.get(key, _NOTHING)
        if found is _NOTHING:
            found = made[key] = make(thing, *more, **named)
        if most is not None:
            made.pop(key, None)
            made[key] = found  # the last one asked for stands last
            for old in list(made)[:-most]:
                made.pop(old, None)
        return found

    return asked
