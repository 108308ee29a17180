"""The layouts of ``rocketwire.wire.layouts.functions`` as rows of a table: path, size, what it
holds."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from rocketwire.wire.layouts import functions as layouts
from rocketwire.wire.layouts.compiler.lower import lower
from rocketwire.wire.layouts.compiler.nodes import (
    Choice,
    Condition,
    Counted,
    Derived,
    End,
    Entries,
    Expression,
    Fixed,
    Raw,
    Record,
    Rest,
    Sized,
    Text,
    Unsigned24,
    UntilEnd,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rocketwire.wire.layouts.compiler.nodes import Node
    from rocketwire_tools.codec.expect import Plain

_MAGIC: Final = re.compile(r"\b\d{9,}\b")

LAYOUTS: Final[dict[str, Any]] = {
    "frame": layouts.ENVELOPE,
    "binary-header": layouts.BINARY_HEADER,
    "register-body": layouts.REGISTER_BODY,
    "register-body-with-mappings": layouts.REGISTER_BODY_WITH_MAPPINGS,
    "stored": layouts.STORED_MESSAGE,
    "batch": layouts.BATCH,
}
"""Declarations by the names that they have on the command line."""


def layout_rows(con: Any) -> list[Plain]:
    """The rows of a declaration, in the order of the bytes."""
    return [
        {"field": path, "size": size, "holds": holds} for path, size, holds in _rows(lower(con), "")
    ]


def join(path: str, name: str | None) -> str:
    """The path of ``name`` below ``path``."""
    if not name:
        return path
    return f"{path}.{name}" if path else name


def _rows(node: Node, path: str) -> Iterator[tuple[str, str, str]]:
    match node:
        case Record(fields=fields):
            for name, inner in fields:
                yield from _rows(inner, join(path, name))
        case Fixed() | Unsigned24():
            yield path, str(node.size), _integer(node)
        case Derived(node=inner):
            yield path, str(inner.size), f"{_integer(inner)}, computed"
        case Sized():
            yield from _sized(node, path)
        case Counted(count=count, node=inner):
            yield join(path, "count"), str(count.size), f"{_integer(count)}, number of elements"
            yield from _rows(inner, f"{path}[]")
        case UntilEnd(node=inner):
            yield from _rows(inner, f"{path}[]")
        case Entries():
            yield from _entries(node, path)
        case _:
            yield path, *_span(node)


def _span(node: Node) -> tuple[str, str]:
    """Size and content of a node that is one run of bytes."""
    match node:
        case Raw(length=length):
            return said(length), "bytes"
        case Choice(condition=condition, then=then, otherwise=otherwise):
            sizes, contents = zip(_whole(then), _whole(otherwise), strict=True)
            what = contents[0] if contents[0] == contents[1] else f"{contents[0]}, or {contents[1]}"
            return f"{sizes[0]} if {said(condition)}, else {sizes[1]}", what
        case Condition(expression=expression):
            return "0", f"refused unless {said(expression)}"
        case End():
            return "0", "nothing may follow"
        case Text():
            return "rest", "UTF-8 text"
        case _:
            return "rest", "bytes"


def _whole(node: Node) -> tuple[str, str]:
    """The same of one side of a choice, which may have a length of its own."""
    if isinstance(node, Sized):
        return f"{node.length.size} + n", f"{_integer(node.length)} n, {_span(node.node)[1]}"
    return _span(node)


def _sized(node: Sized, path: str) -> Iterator[tuple[str, str, str]]:
    what = "bytes in all, these included" if node.whole else "bytes that follow"
    if node.optional:
        what += ", none if zero or less"
    name = "size" if node.whole else "length"
    yield join(path, name), str(node.length.size), f"{_integer(node.length)}, {what}"
    if isinstance(node.node, Rest | Text):
        yield path, join(path, name), _span(node.node)[1]
    else:
        yield from _rows(node.node, path)


def _entries(node: Entries, path: str) -> Iterator[tuple[str, str, str]]:
    yield (
        join(path, "length"),
        str(node.length.size),
        f"{_integer(node.length)}, bytes of all entries",
    )
    for prefix, name in ((node.key, "key"), (node.value, "value")):
        below = f"{path}[].{name}"
        yield f"{below}.length", str(prefix.size), f"{_integer(prefix)}, bytes that follow"
        yield below, f"{below}.length", "UTF-8 text"


def _integer(node: Fixed | Unsigned24) -> str:
    return f"{'' if node.signed else 'u'}int{8 * node.size}"


def said(length: int | Expression) -> str:
    """A length or a condition as it is written in the declaration."""
    if isinstance(length, int):
        return str(length)
    text = length.source.format_map({name: name for name in length.names})
    text = _MAGIC.sub(lambda match: f"{int(match[0]):#010X}".replace("X", "x"), text)
    return text.removeprefix("(").removesuffix(")")
