"""Entries read with one decoding for all: what the reader says yes to is what the declaration says."""

from __future__ import annotations

from struct import Struct, pack

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocketwire.errors import DecodeError, TruncatedError
from rocketwire.wire.layouts.functions import BINARY_HEADER, MAX_EXT_FIELDS, parse_binary_header
from rocketwire.wire.layouts.interpreter import interpret_parser
from rocketwire.wire.layouts.runtime.entries import SEVERAL, entries_reader

read = entries_reader(Struct(">h"), Struct(">i"))
interpreted = interpret_parser(BINARY_HEADER)

TEXTS = st.text(max_size=20) | st.text("ab\0~", max_size=4)


def entry(key: str, value: str) -> bytes:
    return (
        pack(">h", len(key.encode()))
        + key.encode()
        + pack(">i", len(value.encode()))
        + value.encode()
    )


def header(entries: bytes, behind: bytes = b"") -> bytes:
    return pack(">hBhiiii", 105, 0, 513, 7, 0, 0, len(entries)) + entries + behind


def outcome(parse: object, data: bytes) -> object:
    try:
        return parse(data)  # type: ignore[operator]
    except DecodeError as error:
        return type(error)


def test_ordinary_entries_are_read() -> None:
    assert read(entry("topic", "T") + entry("queueId", "0")) == {"topic": "T", "queueId": "0"}


def test_an_empty_value_takes_an_entry_back_and_an_empty_key_is_none() -> None:
    assert read(entry("a", "1") + entry("b", "2") + entry("a", "") + entry("", "3")) == {"b": "2"}


@pytest.mark.parametrize(
    "region",
    [
        entry("key", "größer"),
        entry("a", "1") + b"\0",
        entry("a", "1")[:-1],
        entry("a", "1") + b"\0\1",
        entry("a", "1") + pack(">h", 100) + b"b",
    ],
    ids=["not ASCII", "one byte more", "one less", "half a length", "a long key"],
)
def test_what_is_not_ordinary_is_left_to_who_looks_at_each_length(region: bytes) -> None:
    assert read(region) is None


@given(st.lists(st.tuples(TEXTS, TEXTS), max_size=12), st.binary(max_size=4), st.data())
def test_any_entries_whole_or_damaged_are_what_the_declaration_says(
    entries: list[tuple[str, str]], behind: bytes, data: st.DataObject
) -> None:
    whole = header(b"".join(entry(*each) for each in entries), behind)
    damaged = bytearray(whole)
    place = data.draw(st.integers(0, len(whole) - 1))
    damaged[place] = data.draw(st.sampled_from([0, 1, 5, 0x7F, 0xFF]))

    for each in (whole, bytes(damaged), whole[:place]):
        assert outcome(parse_binary_header, each) == outcome(interpreted, each)
        assert outcome(parse_binary_header, memoryview(each)) == outcome(interpreted, each)  # type: ignore[arg-type]


@pytest.mark.parametrize("key", ["", "k"])
def test_as_many_entries_as_there_may_be_are_read_and_no_more(key: str) -> None:
    most = entry(key, "") * MAX_EXT_FIELDS
    assert len(most) > SEVERAL
    assert parse_binary_header(header(most))[0][6] == {}
    with pytest.raises(DecodeError, match=f"more than {MAX_EXT_FIELDS} entries"):
        parse_binary_header(header(most + entry(key, "")))


@pytest.mark.parametrize(
    "damaged",
    [b"\xff\xff" + bytes(8), b"\x7f\xff" + bytes(8), b"\0\0\xff\xff\xff\xff" + bytes(8), b"\0"],
    ids=["negative key", "long key", "negative value", "cut short"],
)
def test_of_many_entries_the_first_that_is_damaged_is_told(damaged: bytes) -> None:
    many = header(entry("key", "value") * (MAX_EXT_FIELDS - 1) + damaged)
    assert outcome(parse_binary_header, many) == outcome(interpreted, many)
    assert outcome(parse_binary_header, many) in (DecodeError, TruncatedError)
