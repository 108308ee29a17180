"""Generated parsers of lists, whose elements are pieces with a length."""

# construct has no types
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import construct
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from rocketwire.errors import DecodeError, LimitExceededError
from rocketwire.wire.layouts.compiler.constructs import StrictArray
from rocketwire.wire.layouts.interpreter import interpret_parser
from tests.support.builders.compiled_layouts import compile_parser

if TYPE_CHECKING:
    from rocketwire.wire.buffer import Buffer

c: Any = construct

LIST = StrictArray(c.Int32sb, c.Prefixed(c.Int32sb, c.GreedyBytes), element_size=4)
FUSED, INTERPRETED = compile_parser(LIST), interpret_parser(LIST)

CASES = {
    "none": [],
    "one": [b"x"],
    "empty ones": [b""] * 20 + [b"x"],
    "an empty one at the end": [b"x"] * 20 + [b""],
    "lengths of two bytes": [b"x" * 256, b"", b"y" * 257, b"z" * 70_000],
    "lengths inside": [b"a\0\0\0", b"\0\0\0\x01", b"\0\0\0\x05b\0\0\0", b"\0" * 9] * 5,
    "many": [b"%d" % i for i in range(9000)],
}


def joined(pieces: list[bytes]) -> bytes:
    return b"".join(len(piece).to_bytes(4, "big") + piece for piece in pieces)


def outcome(parse: Any, data: Buffer, start: int, end: int) -> Any:
    try:
        pieces, stop = parse(data, start, end)
    except DecodeError as refusal:
        return type(refusal), refusal.path
    return [bytes(piece) for piece in pieces], stop


@pytest.mark.parametrize("pieces", CASES.values(), ids=CASES)
@pytest.mark.parametrize("tail", [b"", b"\0", b"\0\0\0\x01x", b"\xff" * 9])
def test_pieces_are_read_with_any_content_and_any_bytes_after_them(
    pieces: list[bytes], tail: bytes
) -> None:
    text = joined(pieces)
    data = len(pieces).to_bytes(4, "big") + text + tail
    assert FUSED(data) == INTERPRETED(data) == (pieces, 4 + len(text))


@pytest.mark.parametrize("pieces", CASES.values(), ids=CASES)
def test_slices_have_the_type_of_the_buffer(pieces: list[bytes]) -> None:
    data = len(pieces).to_bytes(4, "big") + joined(pieces)
    for buffer in (memoryview(data), bytearray(data)):
        values, stop = FUSED(buffer)
        assert (values, stop) == (pieces, len(data))
        assert {type(value) for value in values} <= {type(buffer)}


def test_a_count_that_cannot_fit_raises_before_anything_is_read() -> None:
    with pytest.raises(LimitExceededError):
        FUSED(b"\x7f\xff\xff\xff" + joined([b"x"] * 5000))


@pytest.mark.parametrize("length", ["00000003", "000000ff", "00000400", "7fffffff", "fffffffe"])
@pytest.mark.parametrize("before", [0, 1, 20])
@pytest.mark.parametrize("after", [0, 1, 20])
def test_an_invalid_length_raises_wherever_it_is(length: str, before: int, after: int) -> None:
    text = joined([b"ab"] * before) + bytes.fromhex(length) + b"ab"
    data = (before + 1 + after).to_bytes(4, "big") + text + bytes(4 * after)
    assert outcome(FUSED, data, 0, len(data)) == outcome(INTERPRETED, data, 0, len(data))


@st.composite
def lists(draw: st.DrawFn) -> tuple[bytes, int, int]:
    """A list, damaged or not, and the end of the part to read."""
    piece = (
        st.binary(max_size=6)
        | st.sampled_from((b"\0\0\0", b"\0" * 255, b"x" * 256))
        | st.integers(0, 700).map(lambda size: b"t" * size)
    )
    pieces = draw(st.lists(piece, max_size=40))
    count = draw(st.just(len(pieces)) | st.integers(-2, 60) | st.just(0x7FFFFFFF))
    text = bytearray(count.to_bytes(4, "big", signed=True) + joined(pieces))
    for _ in range(draw(st.integers(0, 2))):
        start = draw(st.integers(0, len(text)))
        text[start : start + draw(st.integers(0, 5))] = draw(st.binary(max_size=5))
    tail = draw(st.binary(max_size=5))
    end = draw(st.just(len(text)) | st.integers(0, len(text) + len(tail)))
    return bytes(text) + tail, 0, end


@given(lists())
@example((bytes(64), 0, 64))
@example((b"\0\0\0\x02" + joined([b"ab", b"cd"]), 0, 15))
def test_the_generated_list_is_the_interpreted_one(arguments: tuple[bytes, int, int]) -> None:
    """They return the same pieces and position, or raise the same error."""
    assert outcome(FUSED, *arguments) == outcome(INTERPRETED, *arguments)
