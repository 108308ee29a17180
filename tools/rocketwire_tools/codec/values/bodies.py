"""Bodies of one class as plain values, and back: ``body CLASS``, ``register-body``."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, Any

from rocketwire.errors import EncodeError
from rocketwire.messages.operations.registry import CLASSES, ArrayOf
from rocketwire_tools.codec.jsonl import parse_object
from rocketwire_tools.codec.values.plain import is_body
from rocketwire_tools.codec.values.raw_bodies import (
    body_from_plain,
    body_to_plain,
    registration_from_plain,
    registration_to_plain,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from rocketwire_tools.codec.expect import Plain

BODIES: dict[str, type[Any]] = {name: cls for name, cls in CLASSES.items() if is_body(cls)}
"""Body classes, and parts of them, by their short names in Java."""


def unknown(name: str) -> str | None:
    """Returns an error message for an unknown class name; None if the name is known."""
    if name in BODIES:
        return None
    near = difflib.get_close_matches(name, BODIES, 3)
    hint = f"; did you mean {', '.join(near)}?" if near else ""
    return f"no body class {name!r}{hint}"


def body_reader(
    name: str, read: Callable[[bytes], bytes], *, array: bool
) -> Callable[[bytes], Plain]:
    """Returns a function that reads a body of this class, or of an array of it, from a line."""
    body_type = ArrayOf(BODIES[name]) if array else BODIES[name]
    return lambda line: {"value": body_to_plain(body_type, read(line))}


def body_writer(name: str, *, array: bool) -> Callable[[bytes], Plain]:
    """Returns a function that writes the body of a line ``{"value": ...}``."""
    body_type = ArrayOf(BODIES[name]) if array else BODIES[name]
    return lambda line: {"hex": body_from_plain(body_type, value_of(line)).hex()}


def registration_reader(
    read: Callable[[bytes], bytes], *, compressed: bool, version: int
) -> Callable[[bytes], Plain]:
    """Returns a function that reads the body of a registration from a line."""
    return lambda line: {
        "value": registration_to_plain(read(line), compressed=compressed, version=version)
    }


def registration_writer(*, compressed: bool, version: int) -> Callable[[bytes], Plain]:
    """Returns a function that writes the registration of a line ``{"value": ...}``."""
    return lambda line: {
        "hex": registration_from_plain(value_of(line), compressed=compressed, version=version).hex()
    }


def value_of(line: bytes) -> Plain:
    """Returns the member ``value`` of a line.

    Raises:
        DecodeError: the line is not an object.
        EncodeError: it has no such member.
    """
    source = parse_object(line)
    if "value" not in source:
        raise EncodeError("missing", path="value")
    return source["value"]
