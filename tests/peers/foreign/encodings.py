"""Frames as the client libraries of RocketMQ encode them.

Each library has its own JSON writer, so the same fields become different bytes: the order of keys, blanks, a line feed
at the end, the escapes of control characters, and an absent remark that is left out, ``null`` or empty.

Sources: recorded frames of Java 4.9.4, 5.3.3 and 5.5.0 (``tests/fixtures``); ``JsonCpp::FastWriter`` of the C++ client,
which sorts the keys and ends in a line feed; ``encoding/json`` of the Go client, which keeps the order of its struct,
sorts maps, and escapes ``<``, ``>`` and ``&``; ``json.dumps`` of Python clients, which writes spaces after ``,`` and ``:``.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from json.encoder import encode_basestring
from typing import Final, NamedTuple

RESPONSE, ONEWAY = 1, 2
"""Bits of the flag."""


class Header(NamedTuple):
    """A header; its fields are in the order in which the peer sets them."""

    code: int
    flag: int
    opaque: int
    fields: Mapping[str, str] | None = None
    remark: str | None = None

    def first(self, *names: str) -> str | None:
        fields = self.fields or {}
        return next((fields[name] for name in names if name in fields), None)


@dataclass(frozen=True, slots=True)
class Library:
    """A client library; ``number`` is that of the language in ROCKETMQ headers.

    ``write`` returns a JSON header; it is None if the library writes ROCKETMQ headers.
    """

    name: str
    language: str
    number: int
    version: int
    write: Callable[[Library, Header], bytes] | None

    @property
    def serialize_type(self) -> str:
        return "ROCKETMQ" if self.write is None else "JSON"

    def remark(self, header: Header) -> str | None:
        """The remark as a decoder reads it: the Go client writes an empty one if there is none."""
        return header.remark if self.write is not _go else header.remark or ""

    def header(self, header: Header) -> bytes:
        return _binary(self, header) if self.write is None else self.write(self, header)

    def frame(self, header: Header, body: bytes) -> tuple[bytes, int]:
        text = self.header(header)
        header_type = 1 if self.write is None else 0
        prefix = struct.pack(">II", 4 + len(text) + len(body), header_type << 24 | len(text))
        return prefix + text + body, len(text)


def _hash(text: str) -> int:
    value = 0
    for character in text:
        value = (value * 31 + ord(character)) & 0xFFFFFFFF
    return value ^ value >> 16


@lru_cache(10_000)
def _java_order(keys: tuple[str, ...]) -> tuple[str, ...]:
    """Keys in the order in which a ``java.util.HashMap`` hands them out."""
    size = 16
    while len(keys) > size * 3 // 4:
        size *= 2
    return tuple(sorted(keys, key=lambda key: _hash(key) & size - 1))


def _pairs(fields: Mapping[str, str], order: Iterable[str]) -> str:
    pairs = ",".join([f'"{key}":{encode_basestring(fields[key])}' for key in order])
    return f'"extFields":{{{pairs}}}'


def _java(library: Library, header: Header) -> bytes:
    fields = header.fields
    pairs = None if fields is None else _pairs(fields, _java_order(tuple(fields)))
    return _sorted_json(library, header, pairs)


def _cpp(library: Library, header: Header) -> bytes:
    fields = header.fields
    return _sorted_json(library, header, _pairs(fields, sorted(fields)) if fields else None) + b"\n"


def _sorted_json(library: Library, header: Header, pairs: str | None) -> bytes:
    parts = [f'{{"code":{header.code}']
    if pairs is not None:
        parts.append(pairs)
    parts.append(f'"flag":{header.flag},"language":"{library.language}","opaque":{header.opaque}')
    if header.remark is not None:
        parts.append(f'"remark":{encode_basestring(header.remark)}')
    parts.append(f'"serializeTypeCurrentRPC":"JSON","version":{library.version}}}')
    return ",".join(parts).encode()


_GO_ESCAPES: Final = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"})


def _go(library: Library, header: Header) -> bytes:
    text = (
        f'{{"code":{header.code},"language":"{library.language}","version":{library.version},'
        f'"opaque":{header.opaque},"flag":{header.flag},'
        f'"remark":{encode_basestring(header.remark or "")}'
    )
    if header.fields:
        text += f",{_pairs(header.fields, sorted(header.fields))}"
    return (text.translate(_GO_ESCAPES) + "}").encode()


def _python(library: Library, header: Header) -> bytes:
    fields = {
        "code": header.code,
        "language": library.language,
        "version": library.version,
        "opaque": header.opaque,
        "flag": header.flag,
        "remark": header.remark,
        "extFields": dict(header.fields or {}),
        "serializeTypeCurrentRPC": "JSON",
    }
    return json.dumps(fields).encode()


def _binary(library: Library, header: Header) -> bytes:
    remark = (header.remark or "").encode()
    parts: list[bytes] = []
    for key, value in (header.fields or {}).items():
        name, text = key.encode(), value.encode()
        parts += (struct.pack(">H", len(name)), name, struct.pack(">I", len(text)), text)
    fields = b"".join(parts)
    return b"".join(
        (
            struct.pack(
                ">HBHiiI", header.code, library.number, library.version, header.opaque,
                header.flag, len(remark),
            ),
            remark,
            struct.pack(">I", len(fields)),
            fields,
        )
    )  # fmt: skip


JAVA_49: Final = Library("Java 4.9.4", "JAVA", 0, 401, _java)
JAVA_53: Final = Library("Java 5.3.3", "JAVA", 0, 479, _java)
JAVA_55: Final = Library("Java 5.5.0", "JAVA", 0, 513, _java)
JAVA_49_BINARY: Final = Library("Java 4.9.4, ROCKETMQ headers", "JAVA", 0, 401, None)
JAVA_53_BINARY: Final = Library("Java 5.3.3, ROCKETMQ headers", "JAVA", 0, 479, None)
JAVA_55_BINARY: Final = Library("Java 5.5.0, ROCKETMQ headers", "JAVA", 0, 513, None)
CPP: Final = Library("C++", "CPP", 1, 333, _cpp)
PYTHON: Final = Library("Python", "PYTHON", 3, 317, _python)
GO: Final = Library("Go", "GO", 9, 317, _go)
BINARY: Final = {JAVA_49: JAVA_49_BINARY, JAVA_53: JAVA_53_BINARY, JAVA_55: JAVA_55_BINARY}
"""The same release with ``rocketmq.serialize.type=ROCKETMQ``."""
