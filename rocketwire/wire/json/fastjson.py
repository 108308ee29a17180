"""JSON as RocketMQ's Java peers read and write it.  Only this module imports orjson.

Strict JSON costs one call of orjson.  For a text that orjson rejects, integer keys without quotes,
which Java writes for ``Map<Long, ...>``, are put in quotes; the tolerant reader decodes any other
text.  Limits are checked before memory is allocated.
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

# Decodes strict JSON or raises ``StrictError``; integers beyond 64 bits become inexact
strict_loads: Callable[[bytes | str], JsonValue] = orjson.loads
# Encodes strict JSON or raises TypeError. The bytes are those of ``Dialect.FASTJSON2`` if they
# contain no number with a fraction.
strict_dumps: Callable[[object], bytes] = orjson.dumps

StrictError = orjson.JSONDecodeError

_STRICT_DEPTH = 1024  # orjson's own limit


# ---------------------------------------------------------------------------- reading


def loads(
    data: bytes,
    *,
    limits: JsonLimits = DEFAULT_LIMITS,
    exact: bool = False,
) -> JsonValue:
    """Decode a JSON text as Java does (``RemotingSerializable.decode``, before it makes objects).

    Texts of all releases are decoded alike.

    Args:
        data: the text, UTF-8.
        limits: limits of the text with all references written out.
        exact: whether to return numbers that are not integers as ``Real``, which has their digits;
            much slower.

    Returns:
        The value.  Keys are texts: integer keys their digits, objects in key position a
        ``BareKey``.  Integers are exact.  Of equal keys the last one counts.

    Raises:
        DecodeError: the text is invalid.
        LimitExceededError: a limit is exceeded.
    """
    check_limits(data, limits)
    value = _REFUSED if exact else _strict(data, limits)
    if value is _REFUSED:
        value = _tolerant(data, limits, as_written=exact)
    if b"$ref" in data:
        value = resolve_references(value, limits=limits, read_key=_read_key)
    return value


def loads_as_written(data: bytes, *, limits: JsonLimits) -> JsonValue:
    """Decode a JSON text with numbers as ``Real``, and without resolving references."""
    return _tolerant(data, limits, as_written=True)


def _tolerant(data: bytes, limits: JsonLimits, *, as_written: bool = False) -> JsonValue:
    from rocketwire.wire.json.reader import read  # rare, and slow to import

    # the reader itself counts values: only it knows the strings
    _check_size(data, min(limits.max_size, limits.max_odd_size))
    if limits.max_count > limits.max_odd_count:
        limits = replace(limits, max_count=limits.max_odd_count)
    try:
        return read(
            data,
            limits=limits,
            as_written=as_written,
            write_key=_write_key,
            read_flat=strict_loads,
        )
    except EncodeError as error:  # an object in key position is nested too deep
        raise DecodeError(error.message) from error


def _write_key(value: JsonValue) -> str:
    return dumps(value).decode()


def _read_key(text: str) -> JsonValue:
    return _tolerant(text.encode(), DEFAULT_LIMITS)


def check_limits(data: bytes, limits: JsonLimits) -> None:
    # the number of values is exact for strict JSON; for other texts it may be too small
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
    # Commas and opening brackets outside of strings, plus one. Without escaped quotation marks,
    # every second part between quotation marks is outside of strings.
    if b"\\" in data:
        data = data.replace(b"\\\\", b"").replace(b'\\"', b"")
    data = data.translate(None, _NEITHER_MARK_NOR_QUOTE)
    count, outside = 1, 0
    for begin in range(0, len(data), _COUNT_STEP):
        parts = data[begin : begin + _COUNT_STEP].split(b'"')
        count += sum(map(len, parts[outside::2]))
        if count > limit:
            break
        outside = (outside + len(parts) - 1) % 2
    return count


_MARKS = (b",", b"{", b"[")
_NEITHER_MARK_NOR_QUOTE = bytes(byte for byte in range(256) if byte not in b',{["')
_COUNT_STEP = 1 << 16  # bytes that are split at a time


class _Refused:
    """Marker for a text that is not strict JSON."""


_REFUSED = cast("JsonValue", _Refused())


def _strict(data: bytes, limits: JsonLimits) -> JsonValue:
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
        return _REFUSED  # the tolerant reader raises with the offset
    return value


_DIGITS_TO_0 = bytes.maketrans(b"123456789", b"000000000")
_LONG_NUMBER = b"0" * 19
_BEYOND_64_BITS = 2.0**63


def _has_inexact_integer(value: JsonValue) -> bool:
    # A double may have been written as an integer beyond 64 bits.
    waiting = [value]
    for item in waiting:  # the list grows during the loop
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


# Integer keys.  Without backslashes, every second part between double quotes is outside of strings;
# with them, strings have to be matched.  Both ways are linear.  The result for an invalid text is
# rejected by the decoder.

_INTEGER_STARTS = frozenset("-0123456789")
# Maximum bytes of a part whose result is cached: documents repeat the same few short parts
_CACHED_SIZE = 32

_KEY = rb"([{,]\s*+)(-?[0-9]++)(?=\s*+:)"
_UP_TO_KEY = rb'(?s)(?:(?>[^"{,]++|"[^"\\]*+(?:(?>\\.[^"\\]*+))*+"|[{,](?!\s*+-?[0-9]++\s*+:)))*+'


def _quote_integer_keys(data: bytes) -> bytes:
    if b"\\" in data:
        return _quote_with_escapes(data)
    parts = data.split(b'"')
    parts[::2] = map(_quote_outside, parts[::2])
    return b'"'.join(parts)


def _quote_outside(part: bytes) -> bytes:
    if len(part) <= _CACHED_SIZE:
        return _quote_short(part)
    return re.sub(_KEY, rb'\1"\2"', part)


@lru_cache(maxsize=4096)
def _quote_short(part: bytes) -> bytes:
    return re.sub(_KEY, rb'\1"\2"', part)


def _quote_with_escapes(data: bytes) -> bytes:
    parts: list[bytes] = []
    up_to_key, keys = re.compile(_UP_TO_KEY), re.compile(_KEY)
    position = 0
    while True:
        skipped = up_to_key.match(data, position)
        key = keys.match(data, position if skipped is None else skipped.end())
        if key is None:
            break
        start, end = key.span(2)
        parts += (data[position:start], b'"', key[2], b'"')
        position = end
    parts.append(data[position:])
    return b"".join(parts)


# ---------------------------------------------------------------------------- writing


def dumps(value: object, *, dialect: Dialect = Dialect.FASTJSON2, standard: bool = False) -> bytes:
    """Encode a value as Java does (``RemotingSerializable.encode``).

    Args:
        value: None, bool, int, float, str, list, tuple or mapping.  Members keep their order; those
            that are None are omitted.  Keys are texts, integers and None (without quotes),
            ``BareKey``, and mappings (written as objects).
        dialect: escapes of strings.
        standard: whether to write standard JSON: every key in quotes, keys in natural order,
            integers beyond 2**53-1 as texts.

    Raises:
        EncodeError: a value has another type or is nested too deep.
    """
    writer = Writer(dialect, standard=standard, strict_dumps=strict_dumps)
    try:
        return writer.write(value)
    except (RecursionError, ValueError) as error:
        raise EncodeError("nested too deep, or a number too long, for JSON") from error
