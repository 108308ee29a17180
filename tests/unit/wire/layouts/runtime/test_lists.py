"""Pieces behind their lengths are read at once, or not at all where anything is wrong with them."""

# construct has no types
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import construct
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from rocketwire.errors import DecodeError
from rocketwire.wire.layouts.compiler.lower import StrictArray, compile_parser
from rocketwire.wire.layouts.interpreter import interpret_parser
from rocketwire.wire.layouts.runtime.lists import read_pieces

if TYPE_CHECKING:
    from rocketwire.wire.buffer import Buffer

c: Any = construct

LIST = StrictArray(c.Int32sb, c.Prefixed(c.Int32sb, c.GreedyBytes))
FUSED, INTERPRETED = compile_parser(LIST), interpret_parser(LIST)

CASES = {
    "none": [],
    "one": [b"x"],
    "empty ones": [b""] * 20 + [b"x"],
    "one byte short of two bytes of length": [b"x" * 255] * 17,
    "a length of two bytes": [b"x" * 256, b"", b"y" * 257],
    "a length that is not looked up": [b"x" * 511, b"y" * 512, b"z" * 70_000],
    "lengths inside": [b"a\0\0\0", b"\0\0\0\x01", b"\0\0\0\x05b\0\0\0", b"\0" * 9] * 5,
    "many": [b"%d" % i for i in range(9000)],
    "many, and empty ones between": [b"x" * (i % 7) for i in range(8193)] + [b"y"],
    "names of 5 to 100 bytes": [
        b"%05d" % i + b"n" * (i * 37 % 96) + b" 8 8 6 SINGLE_TAG {}" for i in range(300)
    ],
    "attributes": [
        b'T%d 8 8 6 SINGLE_TAG {"+message.type":"%s"}' % (i, b"v" * (i * 41 % 700))
        for i in range(300)
    ],
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
def test_pieces_are_read_whatever_stands_in_them_and_behind_them(
    pieces: list[bytes], tail: bytes
) -> None:
    text = joined(pieces)
    assert read_pieces(b"##" + text + tail, 2, 2 + len(text), len(pieces)) == (
        pieces,
        2 + len(text),
    )
    data = len(pieces).to_bytes(4, "big") + text + tail
    assert FUSED(data) == INTERPRETED(data) == (pieces, 4 + len(text))


@pytest.mark.parametrize("pieces", CASES.values(), ids=CASES)
def test_other_buffers_are_read_in_slices_of_their_own_type(pieces: list[bytes]) -> None:
    data = len(pieces).to_bytes(4, "big") + joined(pieces)
    for buffer in (memoryview(data), bytearray(data)):
        assert read_pieces(buffer, 4, len(data), len(pieces)) == (None, 4)
        found, stop = FUSED(buffer)
        assert (found, stop) == (pieces, len(data))
        assert {type(piece) for piece in found} <= {type(buffer)}


@pytest.mark.parametrize("count", [1, 20, 4096, 9000])
def test_an_empty_piece_at_the_end_of_the_buffer_is_left_to_the_loop(count: int) -> None:
    """A stream that has ended gives empty pieces, too."""
    text = joined([b"x"] * (count - 1) + [b""])
    assert read_pieces(text, 0, len(text), count) == (None, 0)
    assert read_pieces(text + b"\0", 0, len(text), count) == (
        [b"x"] * (count - 1) + [b""],
        len(text),
    )
    data = count.to_bytes(4, "big") + text
    assert FUSED(data) == INTERPRETED(data)


def test_little_is_made_of_nothing() -> None:
    """However many pieces are asked for."""
    assert read_pieces(b"", 0, 0, 0x7FFFFFFF) == (None, 0)
    assert read_pieces(joined([b"x"] * 5000), 0, 25_000, 0x7FFFFFFF) == (None, 0)


def test_a_count_below_zero_is_none() -> None:
    assert read_pieces(b"\0\0\0\0", 2, 4, -1) == ([], 2)


@pytest.mark.parametrize("length", ["00000003", "000000ff", "00000400", "7fffffff", "fffffffe"])
@pytest.mark.parametrize("before", [0, 1, 20])
@pytest.mark.parametrize("after", [0, 1, 20])
def test_a_length_that_passes_the_end_is_left_to_the_loop_that_names_it(
    length: str, before: int, after: int
) -> None:
    """Wherever it stands: what follows cannot make up for it."""
    text = joined([b"ab"] * before) + bytes.fromhex(length) + b"ab"
    count = before + 1 + after
    assert read_pieces(text, 0, len(text), count) == (None, 0)
    data = count.to_bytes(4, "big") + text + bytes(4 * after)
    assert outcome(FUSED, data, 0, len(data)) == outcome(INTERPRETED, data, 0, len(data))


@pytest.mark.parametrize("cut", range(1, 7))
def test_the_end_counts_and_not_that_of_the_buffer(cut: int) -> None:
    text = joined([b"ab"] * 20)
    assert read_pieces(text, 0, len(text) - cut, 20) == (None, 0)
    assert read_pieces(text[:-cut], 0, len(text) - cut, 20) == (None, 0)
    assert read_pieces(text, 0, 0x80000000, 20) == (None, 0)


@st.composite
def lists(draw: st.DrawFn) -> tuple[bytes, int, int]:
    """A list, damaged or not, somewhere in a buffer."""
    piece = (
        st.binary(max_size=6)
        | st.sampled_from((b"\0\0\0", b"\0" * 255, b"x" * 256))
        | st.integers(0, 700).map(lambda size: b"t" * size)
    )
    pieces = draw(st.lists(piece, max_size=40))
    count = draw(st.just(len(pieces)) | st.integers(-2, 60) | st.just(0x7FFFFFFF))
    text = bytearray(count.to_bytes(4, "big", signed=True) + joined(pieces))
    for _ in range(draw(st.integers(0, 2))):
        at = draw(st.integers(0, len(text)))
        text[at : at + draw(st.integers(0, 5))] = draw(st.binary(max_size=5))
    tail = draw(st.binary(max_size=5))
    end = draw(st.just(len(text)) | st.integers(0, len(text) + len(tail)))
    return bytes(text) + tail, 0, end


@given(lists())
@example((bytes(64), 0, 64))
@example((b"\0\0\0\x02" + joined([b"ab", b"cd"]), 0, 15))
def test_the_fused_list_is_the_interpreted_one(given: tuple[bytes, int, int]) -> None:
    """Same pieces and place, or the same refusal, of whole lists and of damaged ones."""
    assert outcome(FUSED, *given) == outcome(INTERPRETED, *given)
