"""``like``: gives methods of a facade the docstrings of those that they stand for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

Class = TypeVar("Class", bound=type[Any])


def like(original: type[Any]) -> Callable[[Class], Class]:
    """Give public methods without docstrings those of the same name of another class."""

    def decorate(cls: Class) -> Class:
        for name, member in list(vars(cls).items()):
            doc = getattr(getattr(original, name, None), "__doc__", None)
            if name.startswith("_") or member.__doc__ is not None:
                continue
            if isinstance(member, property):
                setattr(cls, name, property(member.fget, doc=doc))
            else:
                member.__doc__ = doc
        return cls

    return decorate
