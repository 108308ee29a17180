"""Translates construct declarations into nodes.

Rules of this file: a construct, option or expression that is not listed here is rejected with
``UnsupportedConstruct``.
"""

# construct has no types, so its values are Any in this file
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

import construct

from rocketwire.wire.layouts.compiler import nodes
from rocketwire.wire.layouts.compiler.constructs import (
    JavaEntries,
    JavaText,
    OptionalPrefixed,
    StrictArray,
    StrictRange,
)
from rocketwire.wire.layouts.compiler.nodes import Node, UnsupportedConstruct, minimum_size
from rocketwire.wire.layouts.runtime.entries import KEY, VALUE

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_KEY: Final = nodes.Fixed(KEY.format[1:])
_VALUE: Final = nodes.Fixed(VALUE.format[1:])
_COMPOUND: Final = (nodes.Counted, nodes.Record, nodes.UntilEnd)
_SOURCE: Final = r"(?:\{\w+\}|len\(|[()\d+\-&|= ])+"
"""Expressions of fields, numbers, ``len`` and the operators that the declarations use."""


def _expression(value: Any, fields: frozenset[str]) -> nodes.Expression:
    """Translates a ``this`` expression over ``fields``.

    construct prints it as Python source, such as ``(len_(this['header']) + 4)``.
    """
    source = re.sub(r"this\['(\w+)'\]", r"{\1}", repr(value)).replace("len_(", "len(")
    names = frozenset(re.findall(r"\{(\w+)\}", source))
    if not re.fullmatch(_SOURCE, source) or not names or not names <= fields:
        raise UnsupportedConstruct(f"expression {value!r} over the fields {sorted(fields)}")
    return nodes.Expression(source, names)


def _integer(con: Any) -> nodes.Fixed | nodes.Unsigned24:
    node = lower(con)
    if not isinstance(node, nodes.Fixed | nodes.Unsigned24):
        raise UnsupportedConstruct(f"a length or count must be an integer: {con!r}")
    return node


def _fixed(con: Any, fields: frozenset[str]) -> Node:
    if con.fmtstr[0] != ">" or con.fmtstr[1] not in "bBhHiIqQlL":
        raise UnsupportedConstruct(f"{con!r} with format {con.fmtstr}")
    return nodes.Fixed(con.fmtstr[1])


def _bytes_integer(con: Any, fields: frozenset[str]) -> Node:
    if (con.length, con.signed, con.swapped) != (3, False, False):
        raise UnsupportedConstruct(f"{con!r}: only big-endian unsigned integers of three bytes")
    return nodes.Unsigned24()


def _raw(con: Any, fields: frozenset[str]) -> Node:
    return nodes.Raw(con.length if isinstance(con.length, int) else _expression(con.length, fields))


def _prefixed(con: Any, fields: frozenset[str]) -> Node:
    optional = isinstance(con, OptionalPrefixed)
    return nodes.Sized(_integer(con.lengthfield), lower(con.subcon), con.includelength, optional)


def _choice(con: Any, fields: frozenset[str]) -> Node:
    condition = _expression(con.condfunc, fields)
    then, otherwise = lower(con.thensubcon, fields), lower(con.elsesubcon, fields)
    if isinstance(then, _COMPOUND) or isinstance(otherwise, _COMPOUND):
        raise UnsupportedConstruct(f"{con!r}: a choice between records or lists")
    return nodes.Choice(condition, then, otherwise)


def _counted(con: Any, fields: frozenset[str]) -> Node:
    element = _element(con)
    if con.element_size != minimum_size(element):
        raise UnsupportedConstruct(f"{con!r}: elements have at least {minimum_size(element)} bytes")
    return nodes.Counted(_integer(con.countfield), element)


def _element(con: Any) -> Node:
    node = lower(con.subcon)
    if not minimum_size(node):
        raise UnsupportedConstruct(f"elements that may have no bytes: {con!r}")
    return node


def _entries(con: Any, fields: frozenset[str]) -> Node:
    length, key, value = _integer(con.length), _integer(con.key), _integer(con.value)
    if not isinstance(length, nodes.Fixed) or (key, value) != (_KEY, _VALUE):
        raise UnsupportedConstruct(f"{con!r}: other lengths than those of ``parse_entries``")
    return nodes.Entries(length, _KEY, _VALUE, con.limit)


def _record(con: Any, fields: frozenset[str]) -> Node:
    every = frozenset(sub.name for sub in con.subcons if sub.name)
    earlier: set[str] = set()
    parts: list[tuple[str | None, Node]] = []
    for sub in con.subcons:
        inner = sub.subcon if isinstance(sub, construct.Renamed) and sub.parsed is None else sub
        if isinstance(inner, construct.Rebuild):
            value = inner.func if isinstance(inner.func, int) else _expression(inner.func, every)
            parts.append((sub.name, nodes.Derived(_integer(inner.subcon), value)))
        else:
            parts.append((sub.name, lower(inner, frozenset(earlier))))
        earlier |= {sub.name} if sub.name else set()
    return nodes.Record(tuple(parts))


_LOWERINGS: Final[Mapping[type[Any], Callable[[Any, frozenset[str]], Node]]] = {
    construct.FormatField: _fixed,
    construct.BytesInteger: _bytes_integer,
    construct.Bytes: _raw,
    type(construct.GreedyBytes): lambda con, fields: nodes.Rest(),
    JavaText: lambda con, fields: nodes.Text(),
    construct.Prefixed: _prefixed,
    OptionalPrefixed: _prefixed,
    StrictArray: _counted,
    StrictRange: lambda con, fields: nodes.UntilEnd(_element(con)),
    construct.IfThenElse: _choice,
    JavaEntries: _entries,
    construct.Check: lambda con, fields: nodes.Condition(_expression(con.func, fields)),
    type(construct.Terminated): lambda con, fields: nodes.End(),
    construct.Struct: _record,
}


def lower(con: Any, fields: frozenset[str] = frozenset()) -> Node:
    """Translates a declaration.

    Args:
        con: the declaration.
        fields: names of the fields that its expressions may read.

    Raises:
        UnsupportedConstruct: the declaration has a part that is not supported.
    """
    lowering = _LOWERINGS.get(type(con))
    if lowering is None or con.parsed is not None:
        raise UnsupportedConstruct(f"no translation for {con!r}")
    return lowering(con, fields)
