"""``NamedTuple``: what that of ``typing`` makes, at a third of its price.

That one compiles the annotation of each field, which takes longer than making the class.

Rules of this file: whoever uses such a class sees no difference, but that nobody looks at its annotations: they stay as they were
written.
"""

from __future__ import annotations

from collections import namedtuple
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing import NamedTuple as NamedTuple

__all__ = ["NamedTuple"]


class _Maker(type):
    """Makes a class of tuples of what would be a class."""

    def __new__(cls, name: str, bases: tuple[type, ...], body: dict[str, Any]) -> Any:
        if not bases:
            return super().__new__(cls, name, bases, body)
        fields: dict[str, Any] = body.pop("__annotations__", {})
        defaults = [body.pop(field) for field in fields if field in body]
        made: Any = namedtuple(name, fields, defaults=defaults, module=body.pop("__module__"))  # type: ignore[misc]  # noqa: PYI024
        made.__annotations__ = fields
        for attribute, value in body.items():
            setattr(made, attribute, value)
        return made


if not TYPE_CHECKING:  # pragma: no branch

    class NamedTuple(metaclass=_Maker):
        """As ``typing.NamedTuple``."""
