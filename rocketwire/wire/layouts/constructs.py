"""Constructs that the declarations need and construct lacks.

They parse and build by themselves, so that ``interpreter`` can run the declarations, and ``lower``
translates each of them.
"""

# construct has no types, so its values are Any in this file
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false
# mypy: disallow-subclassing-any=False

from __future__ import annotations

import io
from typing import Any, Final

import construct

from rocketwire.wire.java_utf8 import decode_utf8, encode_utf8
from rocketwire.wire.layouts.errors import bad_count, too_many_entries

ConstructError: Final[type[Exception]] = construct.ConstructError
StreamError: Final[type[Exception]] = construct.StreamError


def field_path(path: str | None) -> str:
    """construct's ``(parsing) -> header -> remark`` as ``header.remark``."""
    inner = (path or "").removeprefix("(parsing)").removeprefix("(building)")
    return inner.replace(" -> ", ".").removeprefix(".")


class JavaText(construct.Adapter):
    """Text up to the end of the enclosing length; invalid UTF-8 is replaced as in Java."""

    def __init__(self) -> None:
        super().__init__(construct.GreedyBytes)

    def _decode(self, obj: bytes, context: Any, path: str) -> str:
        return decode_utf8(obj)

    def _encode(self, obj: str, context: Any, path: str) -> bytes:
        return encode_utf8(obj)


class OneOf(construct.Validator):
    """An integer with a few allowed values."""

    def __init__(self, subcon: Any, *values: int) -> None:
        super().__init__(subcon)
        self.values = values

    def _validate(self, obj: int, context: Any, path: str) -> bool:
        return obj in self.values


class OptionalPrefixed(construct.Prefixed):
    """``Prefixed`` in which a length of zero means None, as Java reads bodies and properties.

    Java also accepts a negative length as zero; here it is an error, as everywhere else.
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


class _Elements(construct.Subconstruct):
    def _build_elements(self, elements: Any, stream: Any, context: Any, path: str) -> Any:
        for element in elements:
            self.subcon._build(element, stream, context, f"{path}[]")
        return elements


class StrictArray(_Elements):
    """``PrefixedArray`` that compares the count with the remaining bytes before it reads.

    A negative count is read as zero, as in Java's loops.
    """

    def __init__(self, countfield: Any, subcon: Any, *, element_size: int) -> None:
        super().__init__(subcon)
        self.countfield = countfield
        self.element_size = element_size

    def _parse(self, stream: Any, context: Any, path: str) -> list[Any]:
        count = self.countfield._parsereport(stream, context, path)
        start = stream.tell()
        remaining = stream.seek(0, 2) - start
        stream.seek(start)
        if count * self.element_size > remaining:
            raise bad_count(count, remaining, self.element_size, field_path(path))
        return [self.subcon._parsereport(stream, context, f"{path}[]") for _ in range(count)]

    def _build(self, obj: Any, stream: Any, context: Any, path: str) -> Any:
        self.countfield._build(len(obj), stream, context, path)
        return self._build_elements(obj, stream, context, path)


class StrictRange(_Elements):
    """``GreedyRange`` that raises for an invalid element instead of ignoring the rest."""

    def _parse(self, stream: Any, context: Any, path: str) -> list[Any]:
        elements: list[Any] = []
        while not construct.stream_iseof(stream):
            elements.append(self.subcon._parsereport(stream, context, f"{path}[]"))
        return elements

    def _build(self, obj: Any, stream: Any, context: Any, path: str) -> Any:
        return self._build_elements(obj, stream, context, path)


class JavaEntries(construct.Construct):
    """The text map of a binary header (Java: ``RocketMQSerializable.mapDeserialize``).

    The last entry must begin before the total length, and is read to its own end, even beyond the
    total.  A total of zero or less means no map.  No key and no value may be longer than
    the total.  Of equal keys the last one counts.  Java reads an empty key or value as null; such
    an entry is not in the map.

    Java reads any number of entries.  More than ``limit`` are an error here, including those that
    are null, because an entry costs far more time than its seven bytes.
    """

    def __init__(self, length: Any, key: Any, value: Any, *, limit: int) -> None:
        super().__init__()
        self.length: Any = length
        self.key: Any = key
        self.value: Any = value
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
                raise too_many_entries(self.limit, field_path(path))
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
