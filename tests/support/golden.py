"""Golden packets: loading them, and reading each in four ways.

A packet is data with an entry in the manifest; a new packet needs no new test code.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import cast

from rocketwire import errors
from rocketwire.codes import LanguageCode
from rocketwire.errors import DecodeError
from rocketwire.wire.command import CommandDecoder, RemotingCommand, decode, encode
from tests.peers import manifest
from tests.support.hex_text import parse

Facts = dict[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Vector:
    id: str  #: how tests and documents call it
    data: bytes
    #: what Java's classes read from it: code, language (name), version, opaque, flag, remark,
    #: ext_fields, serialize_type (name), body_length; body_class and body_value where the body was
    #: read too, with every map key as text
    facts: Facts
    reencodes: bool | str  #: True, or why encoding what was decoded gives other bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class BadVector:
    id: str
    data: bytes
    error: type[DecodeError]  #: what one-shot decoding raises
    stream_waits: bool  #: whether a stream would wait for more instead


def read_hex(file: str) -> bytes:
    return parse((manifest.FIXTURES / file).read_text("utf-8"))


@cache
def _expectations(file: str) -> dict[str, Facts]:
    return cast("dict[str, Facts]", json.loads((manifest.FIXTURES / file).read_text("utf-8")))


@cache
def vectors() -> tuple[Vector, ...]:
    return tuple(_vectors())


def _vectors() -> Iterator[Vector]:
    for entry in manifest.load()["frame"]:
        file, _, key = str(entry["decodes_to"]).partition("#")
        yield Vector(
            id=str(entry["id"]),
            data=read_hex(str(entry["file"])),
            facts=_expectations(file)[key],
            reencodes=cast("bool | str", entry["reencodes"]),
        )


@cache
def bad_vectors() -> tuple[BadVector, ...]:
    return tuple(
        BadVector(
            id=str(entry["id"]),
            data=read_hex(str(entry["file"])),
            error=cast("type[DecodeError]", getattr(errors, str(entry["error"]))),
            stream_waits=entry["stream"] == "waits",
        )
        for entry in manifest.load()["bad"]
    )


def facts_of(command: RemotingCommand) -> Facts:
    is_known = isinstance(command.language, LanguageCode) and command.language.is_known
    return {
        "code": command.code,
        "language": cast("LanguageCode", command.language).name if is_known else None,
        "version": command.version,
        "opaque": command.opaque,
        "flag": command.flag,
        "remark": command.remark,
        "ext_fields": None if command.ext_fields is None else dict(command.ext_fields),
        "serialize_type": command.serialize_type.name,
        "body_length": len(command.body or b""),
    }


def read_four_ways(vector: Vector) -> None:
    """Check one packet: whole, byte by byte, with bytes after it, and cut short everywhere; then written again.

    Raises:
        AssertionError: something was read differently, or anything but a ``DecodeError`` came out of it.
    """
    command = decode(vector.data)
    expected = {key: value for key, value in vector.facts.items() if key in facts_of(command)}
    assert expected == facts_of(command)
    _read_byte_by_byte(vector.data, command)
    _read_with_bytes_after(vector.data, command)
    for length in range(len(vector.data)):
        _read_cut_short(vector.data, length)
    if vector.reencodes is True:
        assert vector.data == encode(command)


def _read_byte_by_byte(data: bytes, command: RemotingCommand) -> None:
    decoder = CommandDecoder()
    for position in range(len(data) - 1):
        decoder.feed(data[position : position + 1])
        assert decoder.next_command() is None
    decoder.feed(data[-1:])
    assert command == decoder.next_command()
    assert decoder.buffered == 0


def _read_with_bytes_after(data: bytes, command: RemotingCommand) -> None:
    decoder = CommandDecoder()
    decoder.feed(data + data + b"\x00")
    assert [command, command, None] == [decoder.next_command() for _ in range(3)]
    assert decoder.buffered == 1
    _refuses(data + b"\x00")


def _read_cut_short(data: bytes, length: int) -> None:
    decoder = CommandDecoder()
    decoder.feed(data[:length])
    assert decoder.next_command() is None
    _refuses(data[:length])
    if length < 8:
        return
    header_end = 8 + int.from_bytes(data[5:8], "big")
    shorter = (length - 4).to_bytes(4, "big") + data[4:length]
    if length < header_end:
        _refuses(shorter)
        header_too = shorter[:5] + (length - 8).to_bytes(3, "big") + shorter[8:]
        _refuses(header_too)
    else:
        assert len(decode(shorter).body or b"") == length - header_end


def _refuses(data: bytes) -> None:
    try:
        command = decode(data)
    except DecodeError:
        return
    raise AssertionError(f"{data[:300]!r} was read as {command}")
