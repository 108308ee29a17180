"""Predicates of bodies that a case names with ``Check``: each returns None, or what is wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

    from rocketwire_tools.conformance.names import Names


def has_text(body: bytes, names: Names, text: str) -> str | None:
    """The body has this text somewhere, byte for byte."""
    wanted = names.text(text)
    return None if wanted.encode() in body else f"lacks {wanted!r}"


def lacks_text(body: bytes, names: Names, text: str) -> str | None:
    """The body has this text nowhere."""
    unwanted = names.text(text)
    return None if unwanted.encode() not in body else f"has {unwanted!r}"


def in_order(body: bytes, names: Names, *texts: str) -> str | None:
    """The body has these texts one after the other."""
    position = 0
    for text in map(names.text, texts):
        found = body.find(text.encode(), position)
        if found < 0:
            return f"lacks {text!r} after byte {position}"
        position = found + len(text.encode())
    return None


def lacks_one(body: bytes, names: Names, *texts: str) -> str | None:
    """At least one of these texts is nowhere in the body."""
    wanted = [names.text(text) for text in texts]
    return "has them all" if all(text.encode() in body for text in wanted) else None


PREDICATES: Final[dict[str, Callable[..., str | None]]] = {
    "has-text": has_text,
    "lacks-text": lacks_text,
    "in-order": in_order,
    "lacks-one": lacks_one,
}
