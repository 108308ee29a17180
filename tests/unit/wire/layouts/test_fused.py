"""``fused.py`` is generated from the declarations, and agrees with construct for all bytes."""

import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocketwire.errors import (
    CodecError,
    DecodeError,
    EncodeError,
    LimitExceededError,
    TruncatedError,
)
from rocketwire.wire.buffer import Buffer
from rocketwire.wire.java_utf8 import encode_utf8
from rocketwire.wire.layouts import declarations, derive, fused
from tests.peers.interpreted_layouts import Parser, interpret_builder, interpret_parser

small = st.binary(max_size=12)
texts = st.text(max_size=6)
items = st.lists(small, max_size=4)
int8 = st.integers(0, 255)
int16, int32 = st.integers(-(2**15), 2**15 - 1), st.integers(-(2**31), 2**31 - 1)
int64 = st.integers(-(2**63), 2**63 - 1)
entries = st.none() | st.dictionaries(st.text("abc", max_size=3), st.text("xyz\u00e9", max_size=4))


def draw_message(draw: st.DrawFn) -> tuple[tuple[Any, ...]]:
    """A stored message whose addresses have the sizes of its flags."""
    sys_flag = draw(int32)
    return (
        (
            draw(st.sampled_from([fused.MAGIC_V1, fused.MAGIC_V2])),
            *(draw(int32) for _ in range(3)),
            *(draw(int64) for _ in range(2)),
            sys_flag,
            draw(int64),
            bytes(16 if sys_flag & 0x10 else 4),
            draw(int32),
            draw(int64),
            bytes(16 if sys_flag & 0x20 else 4),
            draw(int32),
            draw(int32),
            draw(int64),
            draw(st.none() | small),
            draw(texts),
            draw(st.none() | texts),
        ),
    )


def raw_stored(draw: st.DrawFn) -> tuple[tuple[Any, ...]]:
    """The same with its texts as bytes."""
    ((*values, topic, properties),) = draw_message(draw)
    raw = None if properties is None else encode_utf8(properties)
    return ((*values, encode_utf8(topic), raw),)


ARGUMENTS: dict[str, st.SearchStrategy[tuple[Any, ...]]] = {
    "LENGTH": st.tuples(int32),
    "PREFIX": st.tuples(int32, int8, st.integers(0, 2**24 - 1)),
    "ENVELOPE": st.tuples(int8, small, small),
    "BINARY_HEADER": st.tuples(int16, int8, int16, int32, int32, texts, entries),
    "REGISTER_ITEM": st.tuples(small),
    "REGISTER_BODY": st.tuples(small, items, small),
    "REGISTER_BODY_WITH_MAPPINGS": st.tuples(small, items, small, items),
    "REGISTER_HEAD": st.tuples(small, int32),
    "REGISTER_TAIL": st.tuples(small),
    "REGISTER_TAIL_WITH_MAPPINGS": st.tuples(small, items),
    "STORED_MESSAGE": st.composite(draw_message)(),
    "STORED_MESSAGE_RAW": st.composite(raw_stored)(),
    "BATCH": st.tuples(st.lists(st.tuples(int32, small, texts), max_size=3)),
}
"""Arguments for the builder of each layout."""

every_layout = pytest.mark.parametrize("name", ARGUMENTS)


def parsers(name: str) -> tuple[Parser, Parser]:
    """The function of ``fused``, and construct."""
    return vars(fused)[f"parse_{name.lower()}"], interpret_parser(vars(declarations)[name])


def build(name: str, arguments: tuple[Any, ...]) -> bytes:
    return interpret_builder(vars(declarations)[name])(*arguments)


def outcome(parse: Parser, buf: Buffer, pos: int = 0, end: int | None = None) -> Any:
    """The value and how far it went, or the class and the path of the error."""
    try:
        value, stop = parse(buf, pos, end)
    except CodecError as error:
        return type(error), error.path
    return value, stop - pos


def damage(data: st.DataObject, good: bytes) -> bytes:
    """The bytes with some changed, cut off or added; often to what makes a bad length."""
    bad = bytearray(good)
    for _ in range(data.draw(st.integers(0, 3)) if bad else 0):
        place = data.draw(st.integers(0, len(bad) - 1))
        bad[place] = data.draw(st.sampled_from([0, 1, 2, 4, 127, 128, 255]) | int8)
    end = data.draw(st.integers(0, len(bad)) | st.just(len(bad)))
    return bytes(bad[:end]) + data.draw(st.just(b"") | small)


def test_file_equals_the_output_of_the_declarations() -> None:
    assert derive.FILE.read_text() == derive.source_text()
    assert set(derive.DOCSTRINGS) == set(ARGUMENTS)


@every_layout
@given(data=st.data())
def test_good_bytes_are_read_as_by_construct(name: str, data: st.DataObject) -> None:
    arguments = data.draw(ARGUMENTS[name])
    good = build(name, arguments)
    parse, interpreted = parsers(name)
    assert parse(good) == interpreted(good)
    assert parse(good)[1] == len(good)
    if name in derive.BUILT:
        assert vars(fused)[f"build_{name.lower()}"](*arguments) == good


@every_layout
@given(data=st.data())
def test_damaged_bytes_are_read_as_by_construct(name: str, data: st.DataObject) -> None:
    bad = damage(data, build(name, data.draw(ARGUMENTS[name])))
    prefix, suffix = data.draw(small), data.draw(small)
    message, start, end = prefix + bad + suffix, len(prefix), len(prefix) + len(bad)
    parse, interpreted = parsers(name)
    expected = outcome(interpreted, bad)
    assert outcome(parse, bad) == expected
    assert outcome(parse, memoryview(bad)) == expected
    assert outcome(parse, message, start, end) == expected


@pytest.mark.parametrize(
    ("name", "data", "error", "path", "offset", "excerpt"),
    [
        ("PREFIX", "00000005 00", TruncatedError, "header_length", 0, "0000000500"),
        ("REGISTER_ITEM", "00000002 61", TruncatedError, None, 4, "61"),
        ("REGISTER_ITEM", "ffffffff 61", DecodeError, None, 4, "61"),
        ("REGISTER_HEAD", "00000000 00", TruncatedError, "topics", 4, "00"),
        ("REGISTER_BODY", "00000001 61 00000001 00", LimitExceededError, "topics", 9, ""),
        ("STORED_MESSAGE", "00000009 01020304 05", DecodeError, "magic", 8, "05"),
        ("BATCH", "00000017" + "00" * 19, DecodeError, "[]", 22, "00"),
    ],
)
def test_errors_have_the_place(
    name: str, data: str, error: type[DecodeError], path: str | None, offset: int, excerpt: str
) -> None:
    with pytest.raises(error) as refusal:
        parsers(name)[0](b"--" + bytes.fromhex(data), 2)
    result = refusal.value
    assert type(result) is error
    assert (result.path, result.offset, result.excerpt.hex()) == (path, offset + 2, excerpt)


@pytest.mark.parametrize(
    ("name", "arguments", "path"),
    [
        ("ENVELOPE", (256, b"", b""), "header_type"),
        ("ENVELOPE", (0, bytes(2**24), b""), "header_length"),
        ("BINARY_HEADER", (2**15, 0, 0, 0, 0, "", None), "code"),
        ("BATCH", ([(2**31, b"", "")],), "[].flag"),
        ("BATCH", ([(0, b"", "x" * 32768)],), "[].properties"),
    ],
)
def test_large_values_are_rejected(name: str, arguments: tuple[Any, ...], path: str) -> None:
    with pytest.raises(EncodeError) as refusal:
        vars(fused)[f"build_{name.lower()}"](*arguments)
    assert refusal.value.path == path
    with pytest.raises(EncodeError) as refusal:
        build(name, arguments)
    assert refusal.value.path == path


@pytest.mark.process
def test_programs_do_not_import_construct() -> None:
    program = "import rocketwire, sys; print('construct' in sys.modules)"
    printed = subprocess.run(
        [sys.executable, "-c", program],
        check=True,
        capture_output=True,
        text=True,
        env={"PYTHONPATH": ":".join(sys.path)},
    )

    assert printed.stdout == "False\n"
