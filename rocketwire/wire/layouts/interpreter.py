"""The same functions as ``lower`` gives, run by construct itself: slow, and the definition.

``ROCKETWIRE_CONSTRUCT=interpreted`` makes ``functions`` use these, so that the whole test suite can
run on either.  Containers become tuples here; construct's exceptions become the codec's.
"""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any, NoReturn

from rocketwire.errors import DecodeError, EncodeError, TruncatedError
from rocketwire.wire.layouts import declarations
from rocketwire.wire.layouts.compiler.lower import ConstructError, StreamError, field_path, lower
from rocketwire.wire.layouts.compiler.nodes import Counted, Derived, Node, Record, Sized, UntilEnd

if TYPE_CHECKING:
    from rocketwire.wire.buffer import Buffer
    from rocketwire.wire.layouts.compiler.nodes import Builder, Parser


def interpret_parser(con: Any) -> Parser[Any]:
    """As ``fuse.compile_parser``; the position in an error is unknown."""
    node = lower(con)

    def parse(buf: Buffer, pos: int = 0, end: int | None = None) -> tuple[Any, int]:
        stream = io.BytesIO(buf[pos : len(buf) if end is None else end])
        try:
            value = con.parse_stream(stream)
        except ConstructError as error:
            _refuse(error)
        return _plain(node, value), pos + stream.tell()

    return parse


def interpret_builder(con: Any) -> Builder:
    """As ``fuse.compile_builder``."""
    node = lower(con)

    def build(*fields: Any) -> bytes:
        value = _keyed(node, fields if isinstance(node, Record) else fields[0])
        try:
            data: bytes = con.build(value)
        except ConstructError as error:
            raise EncodeError(_message(error), path=_path(error)) from error
        return data

    return build


def _refuse(error: Any) -> NoReturn:
    """Translates: data that ends too early is truncated, anything else is wrong."""
    truncated = isinstance(error, StreamError) and "non-negative" not in _message(error)
    kind = TruncatedError if truncated else DecodeError
    raise kind(_message(error), path=_path(error)) from error


def _message(error: Any) -> str:
    return str(error.args[0]).rpartition("\n")[2]


def _path(error: Any) -> str | None:
    return field_path(error.path) or None


def _plain(node: Node, value: Any) -> Any:
    """The value as the fused parser gives it."""
    match node:
        case Record(fields=fields):
            return tuple(
                _plain(inner, value[name])
                for name, inner in fields
                if name is not None and not isinstance(inner, Derived)
            )
        case Counted(node=inner) | UntilEnd(node=inner):
            return [_plain(inner, element) for element in value]
        case Sized(node=inner) if value is not None:
            return _plain(inner, value)
        case _:
            return value


def _keyed(node: Node, value: Any) -> Any:
    """The value as construct wants it: records as dictionaries."""
    match node:
        case Record(fields=fields):
            inners = dict(fields)
            return {
                name: _keyed(inners[name], element)
                for name, element in zip(node.value_names, value, strict=True)
            }
        case Counted(node=inner) | UntilEnd(node=inner):
            return [_keyed(inner, element) for element in value]
        case Sized(node=inner) if value is not None:
            return _keyed(inner, value)
        case _:
            return value


def interpreted(verb: str, name: str) -> Any:
    """What reads (``parse``) or writes (``build``) the declaration of that name."""
    made: Any = interpret_builder if verb == "build" else interpret_parser
    return made(vars(declarations)[name])
