"""Parsers and builders that run the declarations with construct, slowly.

Tests compare the generated functions with these.  ``ROCKETWIRE_CONSTRUCT=interpreted`` makes
``functions`` use them, so that the whole test suite can run with them.  Containers become tuples,
and construct's exceptions become the codec's.
"""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any, NoReturn

from rocketwire.errors import DecodeError, EncodeError, TruncatedError
from rocketwire.wire.layouts import declarations
from rocketwire.wire.layouts.compiler.constructs import ConstructError, StreamError, field_path
from rocketwire.wire.layouts.compiler.lower import lower
from rocketwire.wire.layouts.compiler.nodes import Counted, Derived, Node, Record, Sized, UntilEnd

if TYPE_CHECKING:
    from rocketwire.wire.buffer import Buffer
    from rocketwire.wire.layouts.functions import Builder, Parser


def interpret_parser(con: Any) -> Parser[Any]:
    """A parser that runs a declaration; its errors have no position."""
    node = lower(con)

    def parse(buf: Buffer, pos: int = 0, end: int | None = None) -> tuple[Any, int]:
        stream = io.BytesIO(buf[pos : len(buf) if end is None else end])
        try:
            value = con.parse_stream(stream)
        except ConstructError as error:
            _raise_decode_error(error)
        return _plain(node, value), pos + stream.tell()

    return parse


def interpret_builder(con: Any) -> Builder:
    """A builder that runs a declaration."""
    node = lower(con)

    def build(*fields: Any) -> bytes:
        value = _keyed(node, fields if isinstance(node, Record) else fields[0])
        try:
            data: bytes = con.build(value)
        except ConstructError as error:
            raise EncodeError(_message(error), path=_path(error)) from error
        return data

    return build


def _raise_decode_error(error: Any) -> NoReturn:
    """Raises ``TruncatedError`` if the data ends too early, otherwise ``DecodeError``."""
    truncated = isinstance(error, StreamError) and "non-negative" not in _message(error)
    error_class = TruncatedError if truncated else DecodeError
    raise error_class(_message(error), path=_path(error)) from error


def _message(error: Any) -> str:
    return str(error.args[0]).rpartition("\n")[2]


def _path(error: Any) -> str | None:
    return field_path(error.path) or None


def _plain(node: Node, value: Any) -> Any:
    """The value as a generated parser returns it."""
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
    """The value for construct: records as dictionaries."""
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
    """A parser (``parse``) or builder (``build``) of a declaration."""
    interpret: Any = interpret_builder if verb == "build" else interpret_parser
    return interpret(vars(declarations)[name])
