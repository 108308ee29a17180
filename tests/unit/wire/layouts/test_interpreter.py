"""construct and the functions derived from its declarations do the same, on good bytes and bad."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocketwire.errors import CodecError, DecodeError, EncodeError, TruncatedError
from rocketwire.wire.java_utf8 import encode_utf8
from rocketwire.wire.layouts import functions as layouts
from rocketwire.wire.layouts.interpreter import interpret_builder, interpret_parser
from tests.support.builders.compiled_layouts import compile_builder, compile_parser

if TYPE_CHECKING:
    from rocketwire.wire.buffer import Buffer
    from rocketwire.wire.layouts.functions import Builder, Parser

small = st.binary(max_size=12)
texts = st.text(max_size=6)
int8 = st.integers(0, 255)
int16, int32 = st.integers(-(2**15), 2**15 - 1), st.integers(-(2**31), 2**31 - 1)
int64 = st.integers(-(2**63), 2**63 - 1)
fields = st.none() | st.dictionaries(st.text("abc", max_size=3), st.text("xyz\u00e9", max_size=4))


def stored(draw: st.DrawFn) -> tuple[tuple[Any, ...]]:
    """A stored message whose addresses have the sizes that its flags say."""
    sys_flag = draw(int32)
    return (
        (
            draw(st.sampled_from([layouts.MAGIC_V1, layouts.MAGIC_V2])),
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
    ((*values, topic, properties),) = stored(draw)
    raw = None if properties is None else encode_utf8(properties)
    return ((*values, encode_utf8(topic), raw),)


class Layout(NamedTuple):
    """What runs a declaration, both ways; ``arguments`` are those of the builder."""

    arguments: st.SearchStrategy[tuple[Any, ...]]
    parse: Parser[Any]
    build: Builder
    slow_parse: Parser[Any]
    slow_build: Builder


def both(declaration: Any, arguments: st.SearchStrategy[tuple[Any, ...]]) -> Layout:
    return Layout(
        arguments,
        compile_parser(declaration),
        compile_builder(declaration),
        interpret_parser(declaration),
        interpret_builder(declaration),
    )


items = st.lists(small, max_size=4)
LAYOUTS = {
    "LENGTH": both(layouts.LENGTH, st.tuples(int32)),
    "PREFIX": both(layouts.PREFIX, st.tuples(int32, int8, st.integers(0, 2**24 - 1))),
    "ENVELOPE": both(layouts.ENVELOPE, st.tuples(int8, small, small)),
    "BINARY_HEADER": both(
        layouts.BINARY_HEADER, st.tuples(int16, int8, int16, int32, int32, texts, fields)
    ),
    "REGISTER_BODY": both(layouts.REGISTER_BODY, st.tuples(small, items, small)),
    "REGISTER_BODY_WITH_MAPPINGS": both(
        layouts.REGISTER_BODY_WITH_MAPPINGS, st.tuples(small, items, small, items)
    ),
    "STORED_MESSAGE": both(layouts.STORED_MESSAGE, st.composite(stored)()),
    "STORED_MESSAGE_RAW": both(layouts.STORED_MESSAGE_RAW, st.composite(raw_stored)()),
    "BATCH": both(layouts.BATCH, st.tuples(st.lists(st.tuples(int32, small, texts), max_size=3))),
}

every_layout = pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)


def outcome(parse: Parser[Any], buf: Buffer, pos: int = 0, end: int | None = None) -> Any:
    """The value and how far it went, or the class and the path of the error."""
    try:
        value, stop = parse(buf, pos, end)
    except CodecError as error:
        # construct names no field when a Check fails
        return type(error), None if error.path in {"magic", "[].magic"} else error.path
    return value, stop - pos


def damaged(data: st.DataObject, good: bytes) -> bytes:
    """The bytes with some changed, cut off or added; often to what makes a bad length."""
    bad = bytearray(good)
    for _ in range(data.draw(st.integers(0, 3)) if bad else 0):
        place = data.draw(st.integers(0, len(bad) - 1))
        bad[place] = data.draw(st.sampled_from([0, 1, 2, 4, 127, 128, 255]) | int8)
    end = data.draw(st.integers(0, len(bad)) | st.just(len(bad)))
    return bytes(bad[:end]) + data.draw(st.just(b"") | small)


@every_layout
@given(data=st.data())
def test_both_write_the_same_and_read_it_back(layout: Layout, data: st.DataObject) -> None:
    arguments = data.draw(layout.arguments)
    good = layout.build(*arguments)
    assert layout.slow_build(*arguments) == good
    value, end = layout.parse(good)
    assert layout.slow_parse(good) == (value, end)
    assert end == len(good)


@every_layout
@given(data=st.data())
def test_both_read_or_refuse_damaged_bytes_alike(layout: Layout, data: st.DataObject) -> None:
    bad = damaged(data, layout.build(*data.draw(layout.arguments)))
    fused = outcome(layout.parse, bad)
    assert fused == outcome(layout.slow_parse, bad)
    assert fused == outcome(layout.parse, memoryview(bad))


@every_layout
@given(data=st.data())
def test_both_keep_within_the_part_that_they_are_given(layout: Layout, data: st.DataObject) -> None:
    bad = damaged(data, layout.build(*data.draw(layout.arguments)))
    before, after = data.draw(small), data.draw(small)
    whole, start, end = before + bad + after, len(before), len(before) + len(bad)
    alone = outcome(layout.parse, bad)
    assert outcome(layout.parse, whole, start, end) == alone
    assert outcome(layout.slow_parse, whole, start, end) == alone


@pytest.mark.parametrize(
    ("declaration", "arguments", "path"),
    [
        (layouts.LENGTH, (2**31,), None),
        (layouts.PREFIX, (1, 256, 1), "header_type"),
        (layouts.PREFIX, (1, 1, 2**24), "header_length"),
        (layouts.PREFIX, (1, 1, -1), "header_length"),
        (layouts.ENVELOPE, (256, b"", b""), "header_type"),
        (layouts.ENVELOPE, (0, bytes(2**24), b""), "header_length"),
        (layouts.BATCH, ([(2**31, b"", "")],), "[].flag"),
        (layouts.BATCH, ([(0, b"", "x" * 32768)],), "[].properties"),
    ],
)
def test_both_refuse_a_value_that_does_not_fit(
    declaration: Any, arguments: tuple[Any, ...], path: str | None
) -> None:
    for builder in (compile_builder, interpret_builder):
        with pytest.raises(EncodeError) as refusal:
            builder(declaration)(*arguments)
        assert refusal.value.path == path


def test_the_interpreted_error_keeps_its_cause_and_says_what_is_wrong() -> None:
    with pytest.raises(TruncatedError, match="read less than specified") as refusal:
        interpret_parser(layouts.PREFIX)(b"\x00\x00\x00\x00\x01")
    assert type(refusal.value.__cause__).__name__ == "StreamError"
    with pytest.raises(DecodeError, match="non-negative"):
        interpret_parser(layouts.REGISTER_BODY)(b"\xff\xff\xff\xff")
