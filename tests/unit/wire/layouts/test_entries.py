"""Entries of a binary header: the hand-written functions agree with their declaration."""

from struct import pack

import pytest

from rocketwire.errors import DecodeError, EncodeError, LimitExceededError, TruncatedError
from rocketwire.wire.layouts.declarations import BINARY_HEADER
from rocketwire.wire.layouts.entries import build_entries, parse_entries
from rocketwire.wire.layouts.fused import MAX_EXT_FIELDS, parse_binary_header
from tests.peers.interpreted_layouts import interpret_parser

interpreted = interpret_parser(BINARY_HEADER)


def entry(key: str, value: str) -> bytes:
    return (
        pack(">h", len(key.encode()))
        + key.encode()
        + pack(">i", len(value.encode()))
        + value.encode()
    )


def header(entries: bytes, tail: bytes = b"") -> bytes:
    return pack(">hBhiiii", 105, 0, 513, 7, 0, 0, len(entries)) + entries + tail


def read(entries: bytes, limit: int = 9) -> object:
    return parse_entries(entries, 0, len(entries), len(entries), limit, "ext_fields")


def outcome(parse: object, data: bytes) -> object:
    try:
        return parse(data)  # type: ignore[operator]  # of either kind
    except DecodeError as error:
        return type(error), error.path


def test_the_last_entry_may_end_after_the_total_but_not_after_the_data() -> None:
    data = entry("a", "1") + entry("b", "2")
    assert parse_entries(data, 0, 9, len(data), 9, "ext_fields") == ({"a": "1", "b": "2"}, 16)
    with pytest.raises(TruncatedError):
        parse_entries(data, 0, 9, len(data) - 1, 9, "ext_fields")


def test_the_limit_counts_null_entries_and_names_the_first_too_many() -> None:
    data = entry("", "") * 3
    assert read(data, 3) == ({}, len(data))
    with pytest.raises(LimitExceededError) as refusal:
        read(data, 2)
    assert (refusal.value.limit, refusal.value.offset) == (2, 12)


@pytest.mark.parametrize("key", ["", "k"])
def test_as_many_entries_as_there_may_be_are_read_and_no_more(key: str) -> None:
    full = entry(key, "") * MAX_EXT_FIELDS
    assert parse_binary_header(header(full))[0][6] == {}
    with pytest.raises(DecodeError, match=f"more than {MAX_EXT_FIELDS} entries"):
        parse_binary_header(header(full + entry(key, "")))


@pytest.mark.parametrize(
    "damaged",
    [b"\xff\xff" + bytes(8), b"\x7f\xff" + bytes(8), b"\0\0\xff\xff\xff\xff" + bytes(8), b"\0"],
    ids=["negative key", "long key", "negative value", "cut short"],
)
def test_of_many_entries_the_first_damaged_one_raises(damaged: bytes) -> None:
    damaged_header = header(entry("key", "value") * (MAX_EXT_FIELDS - 1) + damaged)
    assert outcome(parse_binary_header, damaged_header) == outcome(interpreted, damaged_header)
    assert outcome(parse_binary_header, damaged_header)[0] in (DecodeError, TruncatedError)  # type: ignore[index]  # a tuple


def test_entries_are_written_without_those_that_are_none() -> None:
    assert build_entries({"a": "1", "b": None}, "ext_fields") == entry("a", "1")
    with pytest.raises(EncodeError, match="a key of 32768 and a value of 1 bytes") as refusal:
        build_entries({"k" * 32768: "1"}, "ext_fields")
    assert refusal.value.path == "ext_fields"
