"""Parsers and builders of the layouts that construct runs: what the functions of ``fused`` must do."""

import io
from collections.abc import Callable
from typing import Any, NoReturn

from construct import ConstructError, StreamError

from rocketwire.errors import DecodeError, EncodeError, TruncatedError
from rocketwire.wire.buffer import Buffer
from rocketwire.wire.layouts.constructs import field_path
from rocketwire.wire.layouts.derive import fields_of, kind

Parser = Callable[..., tuple[Any, int]]
Builder = Callable[..., bytes]


def interpret_parser(con: Any) -> Parser:
    """Return a parser that runs a declaration; its errors have no position."""

    def parse(buf: Buffer, pos: int = 0, end: int | None = None) -> tuple[Any, int]:
        stream = io.BytesIO(buf[pos : len(buf) if end is None else end])
        try:
            value = con.parse_stream(stream)
        except ConstructError as error:
            _raise_decode_error(error)
        return _plain(con, value), pos + stream.tell()

    return parse


def interpret_builder(con: Any) -> Builder:
    def build(*fields: Any) -> bytes:
        value = _build_dict(con, fields if kind(con) == "Struct" else fields[0])
        try:
            data: bytes = con.build(value)
        except ConstructError as error:
            raise EncodeError(_message(error), path=_path(error)) from error
        return data

    return build


def _raise_decode_error(error: Any) -> NoReturn:
    is_short = isinstance(error, StreamError) and "non-negative" not in _message(error)
    error_class = TruncatedError if is_short else DecodeError
    raise error_class(_message(error), path=_path(error)) from error


def _message(error: Any) -> str:
    return str(error.args[0]).rpartition("\n")[2]


def _path(error: Any) -> str | None:
    return field_path(error.path) or None


def _plain(con: Any, value: Any) -> Any:
    """Return a value as a function of ``fused`` does: records are tuples."""
    match kind(con):
        case "Struct":
            return tuple(_plain(field.subcon, value[field.name]) for field in fields_of(con))
        case "StrictArray" | "StrictRange":
            return [_plain(con.subcon, element) for element in value]
        case "Prefixed":
            return _plain(con.subcon, value)
        case _:
            return value


def _build_dict(con: Any, value: Any) -> Any:
    """Return a value as construct wants it: records are dictionaries."""
    match kind(con):
        case "Struct":
            pairs = zip(fields_of(con), value, strict=True)
            return {field.name: _build_dict(field.subcon, element) for field, element in pairs}
        case "StrictArray" | "StrictRange":
            return [_build_dict(con.subcon, element) for element in value]
        case "Prefixed":
            return _build_dict(con.subcon, value)
        case _:
            return value
