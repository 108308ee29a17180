"""Entries of a binary header: the hand-written functions and their declaration do the same."""

from __future__ import annotations

from struct import pack

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocketwire.errors import DecodeError, EncodeError, LimitExceededError, TruncatedError
from rocketwire.wire.layouts.functions import BINARY_HEADER, MAX_EXT_FIELDS, parse_binary_header
from rocketwire.wire.layouts.interpreter import interpret_parser
from rocketwire.wire.layouts.runtime.entries import build_entries, parse_entries

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


def read(entries: bytes, limit: int = 9) -> object:
    return parse_entries(entries, 0, len(entries), len(entries), limit, "ext_fields")


def outcome(parse: object, data: bytes) -> object:
    try:
        return parse(data)  # type: ignore[operator]  # of either kind
    except DecodeError as error:
        return type(error), error.path


def test_entries_are_read() -> None:
    data = entry("topic", "T") + entry("queueId", "größer")
    assert read(data) == ({"topic": "T", "queueId": "größer"}, len(data))


def test_an_empty_value_removes_an_entry_and_an_empty_key_is_ignored() -> None:
    data = entry("a", "1") + entry("b", "2") + entry("a", "") + entry("", "3")
    assert read(data) == ({"b": "2"}, len(data))


def test_the_last_entry_may_end_after_the_total_but_not_after_the_data() -> None:
    data = entry("a", "1") + entry("b", "2")
    assert parse_entries(data, 0, 9, len(data), 9, "ext_fields") == ({"a": "1", "b": "2"}, 16)
    with pytest.raises(TruncatedError):
        parse_entries(data, 0, 9, len(data) - 1, 9, "ext_fields")


@pytest.mark.parametrize(
    ("data", "path"),
    [
        (entry("a", "1") + b"\0", "ext_fields.key"),
        (entry("a", "1")[:-1], "ext_fields.value"),
        (entry("a", "1")[:5], "ext_fields.value"),
        (entry("a", "1") + pack(">h", 100) + b"b", "ext_fields.key"),
    ],
    ids=["half a key length", "a short value", "half a value length", "a long key"],
)
def test_entries_that_are_cut_raise_with_their_path(data: bytes, path: str) -> None:
    with pytest.raises(TruncatedError) as refusal:
        read(data)
    assert refusal.value.path == path


def test_the_limit_counts_null_entries_and_names_the_place_of_the_first_one_too_many() -> None:
    data = entry("", "") * 3
    assert read(data, 3) == ({}, len(data))
    with pytest.raises(LimitExceededError) as refusal:
        read(data, 2)
    assert (refusal.value.limit, refusal.value.offset) == (2, 12)


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
        assert outcome(parse_binary_header, memoryview(each)) == outcome(interpreted, each)  # type: ignore[arg-type]  # any bytes


@pytest.mark.parametrize("key", ["", "k"])
def test_as_many_entries_as_there_may_be_are_read_and_no_more(key: str) -> None:
    most = entry(key, "") * MAX_EXT_FIELDS
    assert parse_binary_header(header(most))[0][6] == {}
    with pytest.raises(DecodeError, match=f"more than {MAX_EXT_FIELDS} entries"):
        parse_binary_header(header(most + entry(key, "")))


@pytest.mark.parametrize(
    "damaged",
    [b"\xff\xff" + bytes(8), b"\x7f\xff" + bytes(8), b"\0\0\xff\xff\xff\xff" + bytes(8), b"\0"],
    ids=["negative key", "long key", "negative value", "cut short"],
)
def test_of_many_entries_the_first_damaged_one_raises(damaged: bytes) -> None:
    many = header(entry("key", "value") * (MAX_EXT_FIELDS - 1) + damaged)
    assert outcome(parse_binary_header, many) == outcome(interpreted, many)
    assert outcome(parse_binary_header, many)[0] in (DecodeError, TruncatedError)  # type: ignore[index]  # a tuple


def test_entries_are_written_without_those_that_are_none() -> None:
    assert build_entries({"a": "1", "b": None}, "ext_fields") == entry("a", "1")
    with pytest.raises(EncodeError, match="a key of 32768 and a value of 1 bytes") as refusal:
        build_entries({"k" * 32768: "1"}, "ext_fields")
    assert refusal.value.path == "ext_fields"
