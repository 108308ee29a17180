"""Predicates of bodies that a case names with ``Check``: each returns None, or what is wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

    from rocketwire_tools.conformance.model.placeholders import Names


def has_text(body: bytes, names: Names, text: str) -> str | None:
    """The body has this text somewhere, byte for byte."""
    expected = names.text(text)
    return None if expected.encode() in body else f"lacks {expected!r}"


def lacks_text(body: bytes, names: Names, text: str) -> str | None:
    """The body has this text nowhere."""
    unwanted = names.text(text)
    return None if unwanted.encode() not in body else f"has {unwanted!r}"


def in_order(body: bytes, names: Names, *texts: str) -> str | None:
    """The body has these texts one after the other."""
    position = 0
    for text in map(names.text, texts):
        start = body.find(text.encode(), position)
        if start < 0:
            return f"lacks {text!r} after byte {position}"
        position = start + len(text.encode())
    return None


def lacks_one(body: bytes, names: Names, *texts: str) -> str | None:
    """At least one of these texts is nowhere in the body."""
    expected = [names.text(text) for text in texts]
    return "has them all" if all(text.encode() in body for text in expected) else None


def has_lines(body: bytes, names: Names, *lines: str) -> str | None:
    """Each of these lines is one of the body's."""
    there = body.decode("utf-8", "replace").split("\n")
    missing = [line for line in map(names.text, lines) if line not in there]
    return f"lacks the lines {missing}" if missing else None


def sorted_lines(body: bytes, _: Names, *keys: str) -> str | None:
    """The body is lines ``key=value``, each ended, in the order of their keys; these keys are among them."""
    *lines, last = body.decode("utf-8", "replace").split("\n")
    names_in_body = [line.partition("=")[0] for line in lines]
    if last or not all("=" in line for line in lines):
        return "is no list of lines key=value"
    if names_in_body != sorted(names_in_body):
        return "is not in the order of its keys"
    missing = sorted(set(keys) - set(names_in_body))
    return f"lacks {missing}" if missing else None


PREDICATES: Final[dict[str, Callable[..., str | None]]] = {
    "has-text": has_text,
    "lacks-text": lacks_text,
    "in-order": in_order,
    "lacks-one": lacks_one,
    "has-lines": has_lines,
    "sorted-lines": sorted_lines,
}
