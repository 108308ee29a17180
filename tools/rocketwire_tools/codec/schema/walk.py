"""Splits bytes into ranges, according to a construct declaration.

The declarations of ``rocketwire.wire.layouts.functions`` are walked in the form into which ``fuse``
translates them; there is no second description of any layout here.

Rules of this file: ranges come in order and without gaps; if the bytes do not fit, a
``DecodeError`` follows the ranges before.
"""

from __future__ import annotations

import ast
import operator
from functools import cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from rocketwire.errors import DecodeError
from rocketwire.wire.java_utf8 import decode_utf8
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
    Node,
    Raw,
    Record,
    Sized,
    Text,
    Unsigned24,
    UntilEnd,
    minimum_size,
)
from rocketwire.wire.layouts.runtime.parse_errors import bad_count, bad_length, refused
from rocketwire_tools.codec.schema.layouts import join

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, Mapping

Scope = dict[str, Any]
"""Values of the fields of a record that have been read."""


class Range(NamedTuple):
    """A range of bytes and its field.

    Attributes:
        start: position of the first byte.
        end: position after the last byte.
        path: name of the field in the declaration.
        value: number, text or bytes.
        scope: the fields of the same record before it.
    """

    start: int
    end: int
    path: str
    value: int | str | bytes
    scope: Mapping[str, Any]


def ranges(con: Any, data: bytes, start: int = 0, end: int | None = None) -> Iterator[Range]:
    """Yields the ranges of what ``con`` declares, from ``start``; bytes may follow.

    Args:
        con: a declaration of ``rocketwire.wire.layouts.functions``.
        data: the bytes.
        start: position of the first byte.
        end: position after the last byte; the end of ``data`` if None.

    Raises:
        DecodeError: the bytes do not fit.
    """
    walker = _Walker(data)
    yield from walker.node(lower(con), start, len(data) if end is None else end, "", {})


class _Walker:
    """One pass over the data; every method yields ranges and returns a value and a position."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    def node(
        self, node: Node, position: int, end: int, path: str, scope: Scope
    ) -> Generator[Range, None, tuple[Any, int]]:
        """Walks any node.

        Raises:
            DecodeError: the bytes do not fit.
        """
        match node:
            case Fixed() | Unsigned24():
                return (yield from self._number(node, position, end, path, scope))
            case Derived(node=inner):
                return (yield from self._number(inner, position, end, path, scope))
            case Record():
                return (yield from self._record(node, position, end, path))
            case Choice(condition=condition, then=then, otherwise=otherwise):
                chosen = then if evaluate(condition, scope) else otherwise
                return (yield from self.node(chosen, position, end, path, scope))
            case Sized():
                return (yield from self._sized(node, position, end, path, scope))
            case Counted() | UntilEnd():
                return (yield from self._elements(node, position, end, path, scope))
            case Entries():
                return (yield from self._entries(node, position, end, path, scope))
            case Condition() | End():
                return self._checked(node, position, end, path, scope)
            case _:
                return (yield from self._bytes(node, position, end, path, scope))

    def _take(self, size: int, position: int, end: int, path: str) -> bytes:
        if size < 0 or position + size > end:
            raise bad_length(self._data, position, end, size, path)
        return self._data[position : position + size]

    def _number(
        self, node: Fixed | Unsigned24, position: int, end: int, path: str, scope: Scope
    ) -> Generator[Range, None, tuple[int, int]]:
        raw = self._take(node.size, position, end, path)
        value = int.from_bytes(raw, "big", signed=node.signed)
        yield Range(position, position + node.size, path, value, scope)
        return value, position + node.size

    def _bytes(
        self, node: Node, position: int, end: int, path: str, scope: Scope
    ) -> Generator[Range, None, tuple[bytes | str, int]]:
        match node:
            case Raw(length=int() as size):
                pass
            case Raw(length=Expression() as length):
                size = evaluate(length, scope)
            case _:
                size = end - position
        raw = self._take(size, position, end, path)
        value = decode_utf8(raw) if isinstance(node, Text) else raw
        if raw:
            yield Range(position, position + size, path, value, scope)
        return value, position + size

    def _record(
        self, node: Record, position: int, end: int, path: str
    ) -> Generator[Range, None, tuple[None, int]]:
        scope: Scope = {}
        for name, inner in node.fields:
            below = join(path, name)
            value, position = yield from self.node(inner, position, end, below, scope)
            if name is not None:
                scope[name] = value
        return None, position

    def _sized(
        self, node: Sized, position: int, end: int, path: str, scope: Scope
    ) -> Generator[Range, None, tuple[Any, int]]:
        name = "size" if node.whole else "length"
        length, start = yield from self._number(node.length, position, end, join(path, name), scope)
        if node.optional and length <= 0:
            return None, start
        stop = (position if node.whole else start) + length
        if stop < start or stop > end:
            raise bad_length(self._data, position, end, length, join(path, name))
        value, reached = yield from self.node(node.node, start, stop, path, scope)
        if reached < stop:
            yield Range(reached, stop, join(path, "surplus"), self._data[reached:stop], scope)
        return value, stop

    def _elements(
        self, node: Counted | UntilEnd, position: int, end: int, path: str, scope: Scope
    ) -> Generator[Range, None, tuple[None, int]]:
        count = None
        if isinstance(node, Counted):
            below = join(path, "count")
            count, position = yield from self._number(node.count, position, end, below, scope)
            size = minimum_size(node.node)
            if count * size > end - position:
                raise bad_count(count, end - position, size, path, position)
        index = 0
        while position < end if count is None else index < count:
            _, position = yield from self.node(node.node, position, end, f"{path}[{index}]", scope)
            index += 1
        return None, position

    def _entries(
        self, node: Entries, position: int, end: int, path: str, scope: Scope
    ) -> Generator[Range, None, tuple[None, int]]:
        below = join(path, "length")
        total, position = yield from self._number(node.length, position, end, below, scope)
        stop = position + total
        if stop > end:
            raise bad_length(self._data, position, end, total, below)
        while position < stop:
            for prefix, name in ((node.key, "key"), (node.value, "value")):
                below = join(path, f"{name}.length")
                length, start = yield from self._number(prefix, position, end, below, scope)
                if length > total:
                    raise refused(
                        self._data, position, end, f"{length} within {total} bytes", below
                    )
                below = join(path, name)
                raw = self._take(length, start, end, below)
                position = start + length
                if raw:
                    yield Range(start, position, below, decode_utf8(raw), scope)
        return None, position

    def _checked(
        self, node: Condition | End, position: int, end: int, path: str, scope: Scope
    ) -> tuple[None, int]:
        if isinstance(node, End) and position < end:
            raise refused(self._data, position, end, f"{end - position} bytes too many", path)
        if isinstance(node, Condition) and not evaluate(node.expression, scope):
            raise refused(self._data, position, end, "the fields before do not fit together", path)
        return None, position


_OPERATORS: Final[dict[type[ast.AST], Callable[[Any, Any], Any]]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.BitAnd: lambda a, b: a & b,
    ast.BitOr: lambda a, b: a | b,
    ast.RShift: lambda a, b: a >> b,
    ast.LShift: lambda a, b: a << b,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.Gt: operator.gt,
    ast.LtE: operator.le,
    ast.GtE: operator.ge,
}


def evaluate(expression: Expression, scope: Mapping[str, Any]) -> Any:
    """Returns the value of an expression of the layout over the fields in ``scope``.

    Raises:
        DecodeError: no declaration for reading uses this kind of expression.
    """
    return _value(_tree(expression), scope)


@cache
def _tree(expression: Expression) -> ast.expr:
    source = expression.source.format_map({name: name for name in expression.names})
    return ast.parse(source, mode="eval").body


def _value(tree: ast.expr, scope: Mapping[str, Any]) -> Any:
    match tree:
        case ast.Constant(value=value):
            return value
        case ast.Name(id=name):
            return scope[name]
        case ast.BinOp(left=left, op=op, right=right):
            return _OPERATORS[type(op)](_value(left, scope), _value(right, scope))
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            return _OPERATORS[type(op)](_value(left, scope), _value(right, scope))
        case _:
            raise DecodeError(f"an expression that cannot be explained: {ast.unparse(tree)}")
