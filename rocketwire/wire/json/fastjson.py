"""JSON as RocketMQ's Java peers read and write it: the only importer of orjson.

Rules of this file: strict JSON is the ordinary case and costs one call of orjson.  Only text that
orjson refuses is looked at again: first for integer keys without quotes, which Java writes for
``Map<Long, ...>`` and which are cheaply put between quotes, then by the tolerant reader.  Limits
are applied before anything is built.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, cast

import orjson

from rocketwire.errors import DecodeError, EncodeError, LimitExceededError
from rocketwire.wire.json.limits import (
    ANSWER_LIMITS,
    DEFAULT_LIMITS,
    JsonLimits,
    JsonValue,
)
from rocketwire.wire.json.references import resolve_references
from rocketwire.wire.json.writer import BareKey, Dialect, Real, Writer

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "ANSWER_LIMITS",
    "DEFAULT_LIMITS",
    "BareKey",
    "Dialect",
    "JsonLimits",
    "JsonValue",
    "Real",
    "StrictError",
    "check_limits",
    "dumps",
    "loads",
    "loads_as_written",
    "strict_dumps",
    "strict_loads",
]

strict_loads: Callable[[bytes | str], JsonValue] = orjson.loads
"""Reads strict JSON, raising ``StrictError``; integers beyond 64 bits become inexact.  For hot
paths that know that."""

strict_dumps: Callable[[object], bytes] = orjson.dumps
"""Writes strict JSON, raising TypeError; the bytes are those of ``Dialect.FASTJSON2`` as far as
they are strict JSON and hold no number with a fraction.  For hot paths that know that."""

StrictError = orjson.JSONDecodeError

_STRICT_DEPTH = 1024
"""orjson's own limit."""


# ---------------------------------------------------------------------------- reading


def loads(
    data: bytes,
    *,
    limits: JsonLimits = DEFAULT_LIMITS,
    dialect: Dialect | None = None,
    exact: bool = False,
) -> JsonValue:
    """Reads a JSON text as Java does (``RemotingSerializable.decode``, before classes come into
    it).

    Args:
        data: the text, UTF-8.
        limits: applied before memory is taken; with references, to what they amount to written out.
        dialect: None reads what either release reads; FASTJSON2 refuses what 5.5.0 refuses
            (``reader``).
        exact: gives each number that is not written as an integer as a ``Real``, which knows its
            digits; much slower.

    Returns:
        The value.  Keys are always text: integer keys their digits, objects in key position a
        ``BareKey``. Integers are exact.  Of equal keys the last one counts.

    Raises:
        DecodeError: when it cannot be read; LimitExceededError when it asks for too much.
    """
    check_limits(data, limits)
    value = _REFUSED if exact else _strict(data, limits)
    if value is _REFUSED:
        value = _tolerant(data, limits, dialect, as_written=exact)
    if b"$ref" in data:
        value = resolve_references(value, limits=limits, read_key=_read_key)
    return value


def loads_as_written(data: bytes, *, limits: JsonLimits, dialect: Dialect | None) -> JsonValue:
    """Reads a JSON text with the tolerant reader alone: numbers keep their text (``Real``), and
    references stay.

    Raises:
        DecodeError: when it cannot be read; LimitExceededError when it asks for too much.
    """
    return _tolerant(data, limits, dialect, as_written=True)


def _tolerant(
    data: bytes, limits: JsonLimits, dialect: Dialect | None, *, as_written: bool = False
) -> JsonValue:
    from rocketwire.wire.json.reader import read  # rare, and slow to import

    # the reader counts as it goes: what is a string is known only then
    _check_size(data, min(limits.max_size, limits.max_odd_size))
    if limits.max_count > limits.max_odd_count:
        limits = replace(limits, max_count=limits.max_odd_count)
    try:
        return read(
            data,
            limits=limits,
            dialect=dialect,
            as_written=as_written,
            write_key=_write_key,
            read_flat=strict_loads,
        )
    except EncodeError as error:  # an object in key position, too deep to be written again
        raise DecodeError(error.message) from error


def _write_key(value: JsonValue) -> str:
    return dumps(value).decode()


def _read_key(text: str) -> JsonValue:
    return _tolerant(text.encode(), DEFAULT_LIMITS, None)


def check_limits(data: bytes, limits: JsonLimits) -> None:
    """Refuses a text on its size and on the number of its values.

    The number is exact for strict JSON.  Of other texts it may be less than what is there up to the
    first place that is not strict, where a strict reader stops.

    Raises:
        LimitExceededError: more than ``limits`` allow.
    """
    size = len(data)
    _check_size(data, limits.max_size)
    if size < limits.max_count:
        return
    count = 1
    for mark in _MARKS:
        count += data.count(mark)
    if count > limits.max_count:
        count = _count_values(data, limits.max_count)
    if count > limits.max_count:
        raise LimitExceededError(
            f"more than {limits.max_count} JSON values", declared=count, limit=limits.max_count
        )


def _check_size(data: bytes, limit: int) -> None:
    if len(data) > limit:
        raise LimitExceededError(
            f"more than {limit} bytes of JSON", declared=len(data), limit=limit
        )


def _count_values(data: bytes, limit: int) -> int:
    """One more than the commas and opening brackets outside of strings; counting ends beyond the
    limit.

    Between quotation marks every second piece is outside of strings, once escaped ones are gone.
    """
    if b"\\" in data:
        data = data.replace(b"\\\\", b"").replace(b'\\"', b"")
    data = data.translate(None, _NEITHER_MARK_NOR_QUOTE)
    count, outside = 1, 0
    for at in range(0, len(data), _COUNTED_AT_ONCE):
        pieces = data[at : at + _COUNTED_AT_ONCE].split(b'"')
        count += sum(map(len, pieces[outside::2]))
        if count > limit:
            break
        outside = (outside + len(pieces) - 1) % 2
    return count


_MARKS = (b",", b"{", b"[")
_NEITHER_MARK_NOR_QUOTE = bytes(byte for byte in range(256) if byte not in b',{["')
_COUNTED_AT_ONCE = 1 << 16
"""Bytes that are taken apart at once: each quotation mark makes a piece."""


class _Refused:
    """Says that a text is not strict JSON; no value of a text can be confused with it."""


_REFUSED = cast("JsonValue", _Refused())


def _strict(data: bytes, limits: JsonLimits) -> JsonValue:
    """Reads strict JSON, or JSON with bare integer keys; gives ``_REFUSED`` for anything that needs
    a closer look."""
    try:
        value = strict_loads(data)
    except StrictError as error:
        if error.doc[error.pos : error.pos + 1] not in _INTEGER_STARTS:
            return _REFUSED
        quoted = _quote_integer_keys(data)
        try:
            value = strict_loads(quoted)
        except StrictError:
            return _REFUSED
    if _LONG_NUMBER in data.translate(_DIGITS_TO_0) and _has_inexact_integer(value):
        return _REFUSED
    if limits.max_depth < _STRICT_DEPTH and _is_deeper(value, data, limits.max_depth):
        return _REFUSED  # the tolerant reader says where
    return value


_DIGITS_TO_0 = bytes.maketrans(b"123456789", b"000000000")
_LONG_NUMBER = b"0" * 19
_BEYOND_64_BITS = 2.0**63


def _has_inexact_integer(value: JsonValue) -> bool:
    """Whether a number may have been an integer that does not fit into 64 bits (read as a
    double)."""
    waiting = [value]
    for item in waiting:  # grows while it is walked
        if isinstance(item, float):
            if abs(item) >= _BEYOND_64_BITS:
                return True
        elif isinstance(item, list):
            waiting += item
        elif isinstance(item, dict):
            waiting += item.values()
    return False


def _is_deeper(value: JsonValue, data: bytes, limit: int) -> bool:
    if data.count(b"{") + data.count(b"[") <= limit:
        return False
    level = [value]
    for _ in range(limit):
        inner: list[JsonValue] = []
        for item in level:
            if isinstance(item, list):
                inner += item
            elif isinstance(item, dict):
                inner += item.values()
        level = inner
    return any(isinstance(item, (list, dict)) for item in level)


# Integer keys.  Without backslashes every second piece between double quotes is outside strings;
# with them a string has to be skipped as a whole.  Both are linear, and what they make of text that
# is not JSON is refused later on.

_INTEGER_STARTS = frozenset("-0123456789")
_REMEMBERED = 32
"""Pieces up to this many bytes are the same few in every document."""

_KEY = rb"([{,]\s*+)(-?[0-9]++)(?=\s*+:)"
_UP_TO_KEY = rb'(?s)(?:(?>[^"{,]++|"[^"\\]*+(?:(?>\\.[^"\\]*+))*+"|[{,](?!\s*+-?[0-9]++\s*+:)))*+'


def _quote_integer_keys(data: bytes) -> bytes:
    """Puts integers in key position between double quotes."""
    if b"\\" in data:
        return _quote_beside_escapes(data)
    pieces = data.split(b'"')
    pieces[::2] = map(_quote_outside, pieces[::2])
    return b'"'.join(pieces)


def _quote_outside(piece: bytes) -> bytes:
    if len(piece) <= _REMEMBERED:
        return _quote_short(piece)
    return re.sub(_KEY, rb'\1"\2"', piece)


@lru_cache(maxsize=4096)
def _quote_short(piece: bytes) -> bytes:
    return re.sub(_KEY, rb'\1"\2"', piece)


def _quote_beside_escapes(data: bytes) -> bytes:
    pieces: list[bytes] = []
    up_to_key, keys = re.compile(_UP_TO_KEY), re.compile(_KEY)
    done = at = 0
    while True:
        skipped = up_to_key.match(data, at)
        key = keys.match(data, at if skipped is None else skipped.end())
        if key is None:
            break
        start, at = key.span(2)
        pieces += (data[done:start], b'"', key[2], b'"')
        done = at
    pieces.append(data[done:])
    return b"".join(pieces)


# ---------------------------------------------------------------------------- writing


def dumps(value: object, *, dialect: Dialect = Dialect.FASTJSON2, standard: bool = False) -> bytes:
    """Writes a value as Java does (``RemotingSerializable.encode``).

    Args:
        value: None, bool, int, float, str, list, tuple or mapping.  Members come in the order they
            have; those that are None are left out.  Keys may be text, integers and None (both
            without quotes), ``BareKey``, and mappings (written in place).
        dialect: whose escapes.
        standard: the form for readers of standard JSON only: every key between quotes, keys in
            natural order, integers beyond 2**53-1 as text.

    Raises:
        EncodeError: for a value of another type, or nested too deep.
    """
    writer = Writer(dialect, standard=standard, strict_dumps=strict_dumps)
    try:
        return writer.write(value)
    except (RecursionError, ValueError) as error:
        raise EncodeError("nested too deep, or a number too long, for JSON") from error
