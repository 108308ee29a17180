"""``like``: gives a facade and its methods the docstrings of what they stand for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

Class = TypeVar("Class", bound=type[Any])


def like(original: type[Any]) -> Callable[[Class], Class]:
    """Give a class, and its public methods, the docstrings that they lack from another class."""

    def decorate(cls: Class) -> Class:
        cls.__doc__ = cls.__doc__ or original.__doc__
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
