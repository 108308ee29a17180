"""Predicates of bodies for ``Check``: each returns None or the reason of a mismatch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

    from rocketwire_tools.conformance.model.placeholders import Names


def lacks_text(body: bytes, names: Names, text: str) -> str | None:
    """The body does not contain this text."""
    unwanted = names.text(text)
    return None if unwanted.encode() not in body else f"has {unwanted!r}"


def lacks_one(body: bytes, names: Names, *texts: str) -> str | None:
    """The body lacks at least one of these texts."""
    expected = [names.text(text) for text in texts]
    return "contains all of them" if all(text.encode() in body for text in expected) else None


def has_lines(body: bytes, names: Names, *lines: str) -> str | None:
    """The body contains each of these lines."""
    there = body.decode("utf-8", "replace").split("\n")
    missing = [line for line in map(names.text, lines) if line not in there]
    return f"lacks the lines {missing}" if missing else None


def has_names(body: bytes, _: Names, *names: str) -> str | None:
    """The body has a line ``name=value`` for each of these names."""
    there = {line.partition("=")[0] for line in body.decode("utf-8", "replace").splitlines()}
    missing = sorted(set(names) - there)
    return f"lacks {missing}" if missing else None


def sorted_lines(body: bytes, _: Names, *keys: str) -> str | None:
    """The body consists of terminated lines ``key=value``, sorted by key, including these keys."""
    *lines, last = body.decode("utf-8", "replace").split("\n")
    names_in_body = [line.partition("=")[0] for line in lines]
    if last or not all("=" in line for line in lines):
        return "is not a list of lines key=value"
    if names_in_body != sorted(names_in_body):
        return "is not sorted by key"
    missing = sorted(set(keys) - set(names_in_body))
    return f"lacks {missing}" if missing else None


PREDICATES: Final[dict[str, Callable[..., str | None]]] = {
    "lacks-text": lacks_text,
    "lacks-one": lacks_one,
    "has-lines": has_lines,
    "has-names": has_names,
    "sorted-lines": sorted_lines,
}
