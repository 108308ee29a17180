"""Every class against the classes of a real release: random bodies and headers, both ways."""

from __future__ import annotations

import dataclasses
import json
import math
import random
import struct
from enum import Enum
from typing import TYPE_CHECKING, Any, TypeGuard

import pytest

from rocketwire.codes import SerializeType
from rocketwire.errors import DecodeError
from rocketwire.messages import decode_body, decode_header, encode_body, encode_header
from rocketwire.messages._codec.fields import ext_fields_of, fast_codec_of, members_of
from rocketwire.messages.operations.registry import CLASSES
from rocketwire.messages.registration import (
    decode_register_broker_body,
    encode_register_broker_body,
)
from tests.support.java.oracle import Oracle

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rocketwire.messages._codec.headers import Ext


SEEDS = 2
ABSTRACT = {"RpcRequestHeader", "TopicRequestHeader", "TopicQueueRequestHeader"}


def _has(cls: type[Any], what: str) -> bool:
    fields = dataclasses.fields(cls)
    return bool(fields) and what in fields[0].metadata


BODIES = [name for name, cls in CLASSES.items() if _has(cls, "member")]
HEADERS = [name for name, cls in CLASSES.items() if _has(cls, "ext") and name not in ABSTRACT]


@pytest.fixture(scope="module")
def java() -> Iterator[Oracle]:
    with Oracle("5.5.0") as oracle:
        yield oracle


def is_bits(value: object) -> TypeGuard[frozenset[int]]:
    return isinstance(value, frozenset)


def is_tuple(value: object) -> TypeGuard[tuple[Any, ...]]:
    return isinstance(value, tuple)


def is_list(value: object) -> TypeGuard[list[Any]]:
    return isinstance(value, list)


def is_dict(value: object) -> TypeGuard[dict[Any, Any]]:
    return isinstance(value, dict)


def tree(value: Any) -> Any:
    """A value as the oracle prints it, null left out."""
    if isinstance(value, Enum):
        return value.name
    if isinstance(value, float) and not math.isfinite(value):
        return {"@double": "NaN"}
    if is_bits(value):
        return {"@bits": sorted(value)}
    if is_tuple(value):
        return [tree(item) for item in value]
    if is_dict(value):
        if all(isinstance(key, str) for key in value):
            return {key: tree(item) for key, item in value.items()}
        return {"@map": [[tree(key), tree(item)] for key, item in value.items()]}
    if dataclasses.is_dataclass(value):
        return {
            one.wire: tree(getattr(value, name)) for name, one in members_of(type(value)).items()
        }
    return value


def settled(value: Any) -> Any:
    """A tree without null, with sets, lists and maps in one order."""
    if is_dict(value):
        if "@set" in value:
            return settled(value["@set"])
        if "@map" in value:
            pairs = [
                [settled(key), settled(item)] for key, item in value["@map"] if item is not None
            ]
            return {"@map": sorted(pairs, key=json.dumps)}
        return {key: settled(value[key]) for key in sorted(value) if value[key] is not None}
    if is_list(value):
        return sorted((settled(item) for item in value if item is not None), key=json.dumps)
    return value


def without_clock(value: Any) -> Any:
    """The tree without what Java fills in from its clock where the text says nothing."""
    if is_dict(value):
        keys = {"dataVersion", "mappingDataVersion"}
        return {key: without_clock(item) for key, item in value.items() if key not in keys}
    return value


def holds_null_elements(text: bytes) -> bool:
    """Whether a list of objects holds null, which Java reads and we refuse."""
    return b"[null" in text or b",null" in text


@pytest.mark.parametrize("name", BODIES)
def test_bodies_of_java_read_the_same_and_ours_read_the_same_to_java(
    java: Oracle, name: str
) -> None:
    for level in range(4):
        for seed in range(SEEDS):
            made = java.ask("body_random", **{"class": name, "seed": seed, "level": level})
            if (
                not made["ok"]
                or "decode_error" in made
                or holds_null_elements(bytes.fromhex(made["hex"]))
            ):
                continue
            body = decode_body(CLASSES[name], bytes.fromhex(made["hex"]))
            expected = without_clock(settled(made["decoded"]))
            assert without_clock(settled(tree(body))) == expected

            back = java.find("body_decode", **{"class": name, "hex": encode_body(body).hex()})
            assert without_clock(settled(back["value"])) == expected


def chosen(one: Ext, chance: random.Random) -> object:
    if one.form.java == "String":
        return chance.choice(["", "a", "x y", "\u4e2d", 'q"\\', "\x01\x02", "\U0001f680"])
    if one.form.java in ("boolean", "Boolean"):
        return chance.choice([True, False])
    if one.form.java == "BoundaryType":
        return chance.choice(["LOWER", "UPPER"])
    bits = 31 if one.form.java in ("int", "Integer") else 63
    return chance.choice([0, 1, -1, 2**bits - 1, -(2**bits)])


def ext_fields(frame: str) -> dict[str, str] | None:
    """The text map of a frame with a JSON header."""
    data = bytes.fromhex(frame)
    length = int.from_bytes(data[5:8], "big")
    found: dict[str, str] | None = json.loads(data[8 : 8 + length]).get("extFields")
    return found


def binary_keys(frame: str) -> list[str]:
    """The keys of a frame with a binary header, in their order."""
    data = bytes.fromhex(frame)
    position = 8 + 17 + struct.unpack_from(">i", data, 8 + 13)[0]
    (length,) = struct.unpack_from(">i", data, position)
    position += 4
    end = position + length
    keys: list[str] = []
    while position < end:
        (size,) = struct.unpack_from(">h", data, position)
        keys.append(data[position + 2 : position + 2 + size].decode())
        position += 2 + size
        position += 4 + struct.unpack_from(">i", data, position)[0]
    return keys


def json_frame(fields: dict[str, str]) -> str:
    header = json.dumps({"code": 10, "extFields": fields, "opaque": 1, "version": 513}).encode()
    return (struct.pack(">II", 4 + len(header), len(header)) + header).hex()


@pytest.mark.parametrize("name", HEADERS)
def test_headers_are_written_as_java_writes_them(java: Oracle, name: str) -> None:
    cls = CLASSES[name]
    declared = ext_fields_of(cls)
    chance = random.Random(name)
    for _ in range(4):
        values = {
            attribute: chosen(one, chance)
            for attribute, one in declared.items()
            if one.required or one.clock or chance.random() < 0.7
        }
        sent = {declared[attribute].wire: value for attribute, value in values.items()}
        question: dict[str, Any] = {"header": name, "fields": sent, "code": 10, "opaque": 1}
        made = java.find("encode_frame", **question)

        assert encode_header(cls(**values)) == (ext_fields(made["hex"]) or {})

        if fast_codec_of(cls):
            made = java.find("encode_frame", **question, serialize="ROCKETMQ")
            ours = encode_header(cls(**values), serialize_type=SerializeType.ROCKETMQ)
            assert list(ours) == binary_keys(made["hex"])


@pytest.mark.parametrize("name", HEADERS)
def test_odd_fields_are_read_as_java_reads_them(java: Oracle, name: str) -> None:
    cls = CLASSES[name]
    declared = ext_fields_of(cls)
    clocks = {one.wire for one in declared.values() if one.clock}
    good = {"topicFilterType": "SINGLE_TAG", "commitOrRollback": "8", "maxCount": "7"}
    base = {one.wire: good[one.wire] for one in declared.values() if one.check is not None}
    for one in declared.values():
        for text in ("", "+5", " 5", "abc", "tRue", "99999999999", "-0", "\u0663", "upper", "1_0"):
            fields = {**base, one.wire: text}
            answer = java.ask("decode_frame", hex=json_frame(fields), header=name)
            refused = not answer["ok"] or "@error" in answer["command"]["header"]
            try:
                header = decode_header(cls, fields)
            except DecodeError:
                assert refused, fields
                continue
            assert not refused, fields
            ours = {other.wire: getattr(header, key) for key, other in declared.items()}
            theirs = answer["command"]["header"]
            for wire in clocks - fields.keys() | {w for w in clocks if ours[w] is None}:
                del ours[wire], theirs[wire]
            assert ours == theirs, fields


def plain_form(made: dict[str, Any]) -> bytes:
    """A registration of the oracle before it was packed."""
    text: str = made["plain"] if "plain" in made else made["hex"]
    return bytes.fromhex(text)


@pytest.mark.parametrize("compressed", [True, False])
@pytest.mark.parametrize("version", [37, 412, 413, 513])
def test_registrations_of_java_read_the_same(java: Oracle, compressed: bool, version: int) -> None:
    read = 0
    for seed in range(20):
        made = java.ask("register_random", seed=seed, level=1 + seed % 2, compressed=compressed)
        if not made["ok"] or holds_null_elements(plain_form(made)):
            continue
        question = {"hex": made["hex"], "compressed": compressed, "version": version}
        answer = java.ask("register_decode", **question)
        body = bytes.fromhex(made["hex"])
        if not answer["ok"]:
            with pytest.raises(DecodeError):
                decode_register_broker_body(body, compressed=compressed, version=version)
            continue
        ours = decode_register_broker_body(body, compressed=compressed, version=version)
        assert without_clock(settled(tree(ours))) == without_clock(settled(answer["value"]))
        read += 1
    assert read


@pytest.mark.parametrize("compressed", [True, False])
def test_our_registrations_read_the_same_to_java(java: Oracle, compressed: bool) -> None:
    written = 0
    for seed in range(20):
        made = java.ask("register_random", seed=seed, level=1, compressed=compressed)
        if not made["ok"] or holds_null_elements(plain_form(made)):
            continue
        body = decode_register_broker_body(
            bytes.fromhex(made["hex"]), compressed=compressed, version=513
        )
        assert body is not None
        sent = encode_register_broker_body(body, compressed=compressed)
        answer = java.find("register_decode", hex=sent.hex(), compressed=compressed, version=513)
        assert without_clock(settled(answer["value"])) == without_clock(settled(tree(body)))
        written += 1
    assert written
