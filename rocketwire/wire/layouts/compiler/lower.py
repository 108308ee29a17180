"""construct declaration -> fast function: translation, and the nodes that construct lacks.

construct stays the one place where a layout is written down; what runs on every frame is flat code
derived from it when the module is imported, with merged ``struct`` runs and a bounds check before
every read.  construct's own ``compile()`` is no substitute: it drops those checks.

Rules of this file: a node that is not listed in ``lower`` is refused with ``UnsupportedConstruct``,
never guessed.  The nodes below parse and build by themselves too, so that ``interpreter`` can run the
same declarations on construct; tests hold both against each other.
"""

# construct has no types: what it gives is Any here, and nothing untyped leaves this file
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false
# mypy: disallow-subclassing-any=False

from __future__ import annotations

import io
import operator
from typing import TYPE_CHECKING, Any, Final, cast

import construct
from construct.expr import BinExpr, FuncPath, Path

from rocketwire.wire.java_utf8 import decode_utf8, encode_utf8
from rocketwire.wire.layouts.compiler.builder import builder_source, make_builder
from rocketwire.wire.layouts.compiler.nodes import (
    Choice,
    Condition,
    Constant,
    Counted,
    Derived,
    End,
    Entries,
    Expression,
    Fixed,
    Node,
    Raw,
    Record,
    Rest,
    Sized,
    Text,
    Unsigned24,
    UnsupportedConstruct,
    UntilEnd,
    minimum_size,
)
from rocketwire.wire.layouts.compiler.parser import make_parser, parser_source
from rocketwire.wire.layouts.runtime.parse_errors import bad_count, too_many

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from rocketwire.wire.layouts.compiler.nodes import Builder, Parser

__all__ = [
    "ConstructError",
    "JavaEntries",
    "JavaText",
    "OptionalPrefixed",
    "StreamError",
    "StrictArray",
    "StrictRange",
    "UnsupportedConstruct",
    "builder_text",
    "compile_builder",
    "compile_parser",
    "field_path",
    "lower",
    "parser_text",
]

ConstructError: Final[type[Exception]] = construct.ConstructError
StreamError: Final[type[Exception]] = construct.StreamError


def field_path(path: str | None) -> str:
    """construct's ``(parsing) -> header -> remark`` as ``header.remark``."""
    inner = (path or "").removeprefix("(parsing)").removeprefix("(building)")
    return inner.replace(" -> ", ".").removeprefix(".")


# ------------------------------------------------------------------ nodes that construct lacks


class JavaText(construct.Adapter):
    """The rest of the enclosing length as text, damaged UTF-8 replaced as Java replaces it."""

    def __init__(self) -> None:
        super().__init__(construct.GreedyBytes)

    def _decode(self, obj: bytes, context: Any, path: str) -> str:
        return decode_utf8(obj)

    def _encode(self, obj: str, context: Any, path: str) -> bytes:
        return encode_utf8(obj)


class OptionalPrefixed(construct.Prefixed):
    """``Prefixed`` whose length of zero means None, as Java reads bodies and properties.

    Java takes a length below zero for zero; here it is refused, as everywhere else.
    """

    def _parse(self, stream: Any, context: Any, path: str) -> Any:
        length = self.lengthfield._parsereport(stream, context, path)
        if length == 0:
            return None
        data = construct.stream_read(stream, length, path)
        return self.subcon._parsereport(io.BytesIO(data), context, path)

    def _build(self, obj: Any, stream: Any, context: Any, path: str) -> Any:
        if obj is None:
            return self.lengthfield._build(0, stream, context, path)
        return super()._build(obj, stream, context, path)


class StrictArray(construct.Subconstruct):
    """``PrefixedArray`` that holds the count against the bytes left before it reads anything.

    A count below zero is read as zero, as Java's loops do.
    """

    def __init__(self, countfield: Any, subcon: Any) -> None:
        super().__init__(subcon)
        self.countfield = countfield
        self.element_size = minimum_size(lower(subcon))

    def _parse(self, stream: Any, context: Any, path: str) -> list[Any]:
        count = self.countfield._parsereport(stream, context, path)
        start = stream.tell()
        left = stream.seek(0, 2) - start
        stream.seek(start)
        if count * self.element_size > left:
            raise bad_count(count, left, self.element_size, field_path(path))
        return [self.subcon._parsereport(stream, context, f"{path}[]") for _ in range(count)]

    def _build(self, obj: Any, stream: Any, context: Any, path: str) -> Any:
        self.countfield._build(len(obj), stream, context, path)
        for element in obj:
            self.subcon._build(element, stream, context, f"{path}[]")
        return obj


class StrictRange(construct.Subconstruct):
    """``GreedyRange`` that refuses a damaged element instead of dropping it and all that follow."""

    def _parse(self, stream: Any, context: Any, path: str) -> list[Any]:
        elements: list[Any] = []
        while not construct.stream_iseof(stream):
            elements.append(self.subcon._parsereport(stream, context, f"{path}[]"))
        return elements

    def _build(self, obj: Any, stream: Any, context: Any, path: str) -> Any:
        for element in obj:
            self.subcon._build(element, stream, context, f"{path}[]")
        return obj


class JavaEntries(construct.Construct):
    """The text map of a binary header as ``RocketMQSerializable.mapDeserialize`` reads it.

    The count of bytes E says only where to stop starting entries: an entry is read to its own end
    even beyond E.  A count of zero or less means no map.  No key and no value may be longer than E.
    The last of equal keys wins.  What Java reads as null, an empty key or an empty value, is not in
    the map.

    Java reads any number of entries; more than ``limit`` are refused here, null ones included, for
    each costs more time than its seven bytes.
    """

    def __init__(self, length: Any, key: Any, value: Any, *, limit: int) -> None:
        super().__init__()
        self.length, self.key, self.value = length, key, value
        self.limit = limit

    def _parse(self, stream: Any, context: Any, path: str) -> dict[str, str] | None:
        total = self.length._parsereport(stream, context, path)
        if total <= 0:
            return None
        until = stream.tell() + total
        construct.stream_seek(stream, total, 1, path)
        if stream.tell() > stream.seek(0, 2):
            raise construct.StreamError("the entries pass the end", path=path)
        stream.seek(until - total)
        fields: dict[str, str] = {}
        room = self.limit
        while stream.tell() < until:
            if not room:
                raise too_many(self.limit, field_path(path))
            room -= 1
            key = self._text(self.key, total, stream, context, f"{path} -> key")
            value = self._text(self.value, total, stream, context, f"{path} -> value")
            fields.pop(key, None)
            if key and value:
                fields[key] = value
        return fields

    def _text(self, prefix: Any, total: int, stream: Any, context: Any, path: str) -> str:
        length = prefix._parsereport(stream, context, path)
        if length > total:
            raise construct.StreamError(f"a length of {length} within {total} bytes", path=path)
        return decode_utf8(construct.stream_read(stream, length, path))

    def _build(self, obj: Any, stream: Any, context: Any, path: str) -> Any:
        entries = [
            (encode_utf8(k), encode_utf8(v)) for k, v in (obj or {}).items() if v is not None
        ]
        size = self.key.sizeof() + self.value.sizeof()
        self.length._build(sum(size + len(k) + len(v) for k, v in entries), stream, context, path)
        for key, value in entries:
            self.key._build(len(key), stream, context, path)
            construct.stream_write(stream, key, len(key), path)
            self.value._build(len(value), stream, context, path)
            construct.stream_write(stream, value, len(value), path)
        return obj


# ------------------------------------------------------------------ construct -> layout

_COMPOUND: Final = (Counted, Record, UntilEnd)

_OPERATORS: Final = {
    operator.add: "+",
    operator.sub: "-",
    operator.mul: "*",
    operator.and_: "&",
    operator.or_: "|",
    operator.eq: "==",
    operator.ne: "!=",
    operator.lt: "<",
    operator.gt: ">",
    operator.le: "<=",
    operator.ge: ">=",
    operator.rshift: ">>",
    operator.lshift: "<<",
}


def _expression(value: Any, fields: frozenset[str]) -> Expression:
    """Translates a ``this`` expression over ``fields``."""
    source, names = _render(value)
    if not names or not names <= fields:
        raise UnsupportedConstruct(
            f"{value!r} reads something else than earlier fields {sorted(fields)}"
        )
    return Expression(source, names)


def _render(value: Any) -> tuple[str, frozenset[str]]:
    match value:
        case int():
            return repr(int(value)), frozenset()
        case BinExpr() if value.op in _OPERATORS:
            left, left_names = _render(value.lhs)
            right, right_names = _render(value.rhs)
            return f"({left} {_OPERATORS[value.op]} {right})", left_names | right_names
        case Path() if (field := _field_of(value)) is not None:
            return f"{{{field}}}", frozenset({field})
        case FuncPath() if _private(value, "func") is len:
            source, names = _render(_private(value, "operand"))
            return f"len({source})", names
        case _:
            pass
    raise UnsupportedConstruct(f"expression {value!r}")


def _field_of(path: Path) -> str | None:
    """The field of the record itself that a path names; None for what is elsewhere."""
    field, parent = _private(path, "field"), _private(path, "parent")
    is_its_own = parent is not None and _private(parent, "parent") is None
    return field if is_its_own and isinstance(field, str) else None


def _private(value: Any, attribute: str) -> Any:
    """A name-mangled attribute; ``Path`` answers every plain one with another ``Path``."""
    return vars(value)[f"_{type(value).__name__}__{attribute}"]


def _integer(con: Any) -> Fixed | Unsigned24:
    node = lower(con)
    if not isinstance(node, Fixed | Unsigned24):
        raise UnsupportedConstruct(f"a length or count that is no integer: {con!r}")
    return node


def _fixed(con: Any, fields: frozenset[str]) -> Node:
    if con.fmtstr[0] != ">" or con.fmtstr[1] not in "bBhHiIqQlL":
        raise UnsupportedConstruct(f"{con!r} with format {con.fmtstr}")
    return Fixed(con.fmtstr[1])


def _bytes_integer(con: Any, fields: frozenset[str]) -> Node:
    if (con.length, con.signed, con.swapped) != (3, False, False):
        raise UnsupportedConstruct(f"{con!r}: only big-endian unsigned integers of three bytes")
    return Unsigned24()


def _raw(con: Any, fields: frozenset[str]) -> Node:
    return Raw(con.length if isinstance(con.length, int) else _expression(con.length, fields))


def _prefixed(con: Any, fields: frozenset[str]) -> Node:
    optional = isinstance(con, OptionalPrefixed)
    return Sized(_integer(con.lengthfield), lower(con.subcon), con.includelength, optional)


def _choice(con: Any, fields: frozenset[str]) -> Node:
    condition = _expression(con.condfunc, fields)
    then, otherwise = lower(con.thensubcon, fields), lower(con.elsesubcon, fields)
    if isinstance(then, _COMPOUND) or isinstance(otherwise, _COMPOUND):
        raise UnsupportedConstruct(f"{con!r}: a choice between records or lists")
    return Choice(condition, then, otherwise)


def _element(con: Any) -> Node:
    node = lower(con)
    if not minimum_size(node):
        raise UnsupportedConstruct(f"elements that may have no bytes: {con!r}")
    return node


def _constant(con: Any, fields: frozenset[str]) -> Node:
    if not isinstance(con.value, bytes):
        raise UnsupportedConstruct(f"{con!r}: only constant bytes")
    return Constant(con.value)


def _record(con: Any, fields: frozenset[str]) -> Node:
    every = frozenset(sub.name for sub in con.subcons if sub.name)
    earlier: set[str] = set()
    nodes: list[tuple[str | None, Node]] = []
    for sub in con.subcons:
        inner = sub.subcon if isinstance(sub, construct.Renamed) and sub.parsed is None else sub
        if isinstance(inner, construct.Rebuild):
            value = inner.func if isinstance(inner.func, int) else _expression(inner.func, every)
            nodes.append((sub.name, Derived(_integer(inner.subcon), value)))
        else:
            nodes.append((sub.name, lower(inner, frozenset(earlier))))
        earlier |= {sub.name} if sub.name else set()
    return Record(tuple(nodes))


_LOWERINGS: Final[Mapping[type[Any], Callable[[Any, frozenset[str]], Node]]] = {
    construct.FormatField: _fixed,
    construct.BytesInteger: _bytes_integer,
    construct.Bytes: _raw,
    type(construct.GreedyBytes): lambda con, fields: Rest(),
    JavaText: lambda con, fields: Text(),
    construct.Prefixed: _prefixed,
    OptionalPrefixed: _prefixed,
    StrictArray: lambda con, fields: Counted(_integer(con.countfield), _element(con.subcon)),
    StrictRange: lambda con, fields: UntilEnd(_element(con.subcon)),
    construct.IfThenElse: _choice,
    JavaEntries: lambda con, fields: Entries(
        length=cast("Fixed", _integer(con.length)),
        key=cast("Fixed", _integer(con.key)),
        value=cast("Fixed", _integer(con.value)),
        limit=con.limit,
    ),
    construct.Const: _constant,
    construct.Check: lambda con, fields: Condition(_expression(con.func, fields)),
    type(construct.Terminated): lambda con, fields: End(),
    construct.Struct: _record,
}


def lower(con: Any, fields: frozenset[str] = frozenset()) -> Node:
    """Translates a declaration; ``fields`` are the fields that its expressions may read.

    Raises:
        UnsupportedConstruct: the declaration holds a node, an option or an expression that is not
        known here.
    """
    lowering = _LOWERINGS.get(type(con))
    if lowering is None or con.parsed is not None:
        raise UnsupportedConstruct(f"no translation for {con!r}")
    return lowering(con, fields)


def compile_parser(con: Any, name: str = "layout") -> Parser[Any]:
    """Returns ``parse(buf, pos=0, end=None) -> (value, position after it)`` for a declaration.

    Raises:
        UnsupportedConstruct: see ``lower``.
    """
    return make_parser(lower(con), name)


def compile_builder(con: Any, name: str = "layout") -> Builder:
    """Returns ``build(*fields) -> bytes`` for a ``Struct``, ``build(value)`` for another
    declaration.

    Raises:
        UnsupportedConstruct: see ``lower``.
    """
    return make_builder(lower(con), name)


def parser_text(con: Any, name: str) -> str:
    """The source of what ``compile_parser`` gives, as a function of that name, with its constants before it."""
    return parser_source(lower(con), name)


def builder_text(con: Any, name: str) -> str:
    """The source of what ``compile_builder`` gives, likewise."""
    return builder_source(lower(con), name)
