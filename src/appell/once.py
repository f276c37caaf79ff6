"""What is made once for a thing and is gone with it: where a later layer remembers what it made of an earlier noun."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

Thing = TypeVar("Thing")
More = ParamSpec("More")
Made = TypeVar("Made")


def once(make: Callable[Concatenate[Thing, More], Made]) -> Callable[Concatenate[Thing, More], Made]:
    """A function that makes something of a thing, asked again for the same thing, gives what it made.

    What it makes must not hold the thing itself, which would then live for ever. A second thread that asks meanwhile
    may make another one; nobody gets half of one.

    Args:
        make: From a thing, and what else it depends on, to what is made.

    Example:
        >>> class Noun: ...
        >>> @once
        ... def made(noun, size):
        ...     return [size]
        >>> noun = Noun()
        >>> made(noun, 3) is made(noun, 3), made(noun, 3) is made(noun, 4), made(noun, 3) is made(Noun(), 3)
        (True, False, False)
    """
    known: weakref.WeakKeyDictionary[Any, dict[Any, Made]] = weakref.WeakKeyDictionary()

    @wraps(make)
    def asked(thing: Thing, /, *more: More.args, **named: More.kwargs) -> Made:
        key = (more, *named.items()) if named else more
        made = known.get(thing)
        if made is None:
            made = known.setdefault(thing, {})
        if key not in made:
            made[key] = make(thing, *more, **named)
        return made[key]

    return asked
