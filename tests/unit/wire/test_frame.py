"""Frames do not depend on the cuts of a stream; bad ones are refused by their first bytes."""

import gc
import sys
import tracemalloc
from io import BytesIO
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocketwire import errors
from rocketwire.wire import frame as frame_module
from rocketwire.wire.frame import (
    LARGE_BODY,
    MAX_FRAME_LENGTH,
    MAX_HEADER_LENGTH,
    MAX_SPARE,
    BodySpace,
    FrameDecoder,
    RawFrame,
    cut_frames,
    split_frame,
)

# what NettyEncoder of release 5.5.0 wrote: GET_ROUTEINFO_BY_TOPIC, binary header, without a body
ROUTE_REQUEST = bytes.fromhex(
    "0000002d01000029"
    "00690001df00000007000000000000000000000014"
    "0005746f7069630000000"
    "9546f70696354657374"
)

BAD_FRAMES = [
    ("00000003", errors.DecodeError, "length"),
    ("ffffffff", errors.DecodeError, "length"),
    ("80000000", errors.DecodeError, "length"),
    ("00fffffd", errors.FrameTooLargeError, "length"),
    ("7fffffff", errors.FrameTooLargeError, "length"),
    ("0000000402000000", errors.UnknownHeaderTypeError, "header_type"),
    ("00000004ff000000", errors.UnknownHeaderTypeError, "header_type"),
    ("0000000400000001", errors.DecodeError, "header_length"),
    ("00fffffc01fffff9", errors.DecodeError, "header_length"),
]

frames = st.builds(
    RawFrame, st.sampled_from([0, 1]), st.binary(max_size=30), st.binary(max_size=30)
)


@pytest.fixture
def decoder() -> FrameDecoder:
    return FrameDecoder()


def encode_frame(frame: RawFrame) -> bytes:
    header_type, header, body = frame[0], frame[1], frame[2] or b""
    length = (4 + len(header) + len(body)).to_bytes(4, "big")
    return length + bytes([header_type]) + len(header).to_bytes(3, "big") + header + body


def take_frames(decoder: FrameDecoder) -> list[RawFrame]:
    result: list[RawFrame] = []
    while (frame := decoder.next_frame()) is not None:
        result.append(frame)
    return result


def test_a_frame_of_java_is_split() -> None:
    assert split_frame(ROUTE_REQUEST) == RawFrame(1, ROUTE_REQUEST[8:], None)


def test_a_body_follows_the_header() -> None:
    assert split_frame(b"\x00\x00\x00\x07\x00\x00\x00\x02{}b") == RawFrame(0, b"{}", b"b")


def test_the_smallest_frame_has_neither_header_nor_body() -> None:
    assert split_frame(b"\x00\x00\x00\x04\x00\x00\x00\x00") == RawFrame(0, b"", None)


def test_a_frame_cut_anywhere_is_truncated() -> None:
    for end in range(len(ROUTE_REQUEST)):
        with pytest.raises(errors.TruncatedError):
            split_frame(ROUTE_REQUEST[:end])


def test_bytes_after_the_frame_are_refused() -> None:
    with pytest.raises(errors.DecodeError, match="2 bytes after the frame") as refusal:
        split_frame(ROUTE_REQUEST + b"xy")
    assert (refusal.value.offset, refusal.value.excerpt) == (len(ROUTE_REQUEST), b"xy")


@pytest.mark.parametrize(("start", "error", "path"), BAD_FRAMES)
def test_a_bad_frame_is_refused_early(
    start: str, error: type[errors.DecodeError], path: str
) -> None:
    with pytest.raises(error) as refusal:
        split_frame(bytes.fromhex(start))
    assert type(refusal.value) is error
    assert refusal.value.path == path


@pytest.mark.parametrize(("start", "error", "path"), BAD_FRAMES)
def test_a_bad_stream_is_refused_at_the_same_byte_and_stays_so(
    decoder: FrameDecoder, start: str, error: type[errors.DecodeError], path: str
) -> None:
    data = bytes.fromhex(start)
    decoder.feed(ROUTE_REQUEST + data[:-1])
    assert take_frames(decoder) == [split_frame(ROUTE_REQUEST)]
    decoder.feed(data[-1:])
    for _ in range(2):
        with pytest.raises(error) as refusal:
            decoder.next_frame()
        assert type(refusal.value) is error
        assert refusal.value.path == path
        decoder.feed(ROUTE_REQUEST)
        assert decoder.buffered == 0


def test_a_frame_of_exactly_the_limit_is_taken() -> None:
    data = encode_frame(RawFrame(0, b"{}", bytes(10)))
    decoder = FrameDecoder(max_frame_length=20)
    decoder.feed(data)
    assert decoder.next_frame() == split_frame(data, max_frame_length=20)


def test_one_byte_over_the_limit_is_refused() -> None:
    data = encode_frame(RawFrame(0, b"{}", bytes(10)))
    decoder = FrameDecoder(max_frame_length=19)
    decoder.feed(data)
    with pytest.raises(errors.FrameTooLargeError) as refusal:
        decoder.next_frame()
    assert (refusal.value.declared, refusal.value.limit) == (20, 19)
    with pytest.raises(errors.FrameTooLargeError):
        split_frame(data, max_frame_length=19)


def test_a_header_over_its_limit_is_refused_before_it_comes() -> None:
    data = encode_frame(RawFrame(0, b"{}" + b" " * 8, bytes(10)))
    decoder = FrameDecoder(max_header_length=10)
    decoder.feed(data)
    assert decoder.next_frame() == split_frame(data)
    decoder = FrameDecoder(max_header_length=9)
    decoder.feed(data[:8])
    with pytest.raises(errors.HeaderTooLargeError) as refusal:
        decoder.next_frame()
    assert (refusal.value.declared, refusal.value.limit) == (10, 9)
    assert decoder.buffered == 0
    with pytest.raises(errors.HeaderTooLargeError):
        split_frame(data, max_header_length=9)


def test_a_header_of_four_megabytes_is_read_and_no_longer_one() -> None:
    longest = encode_frame(RawFrame(0, b" " * MAX_HEADER_LENGTH, None))
    assert split_frame(longest).header == b" " * MAX_HEADER_LENGTH
    longer = encode_frame(RawFrame(0, b" " * (MAX_HEADER_LENGTH + 1), None))
    for cut in (longer, longer[:8]):
        with pytest.raises(errors.HeaderTooLargeError):
            split_frame(cut)


def test_the_largest_frame_of_java_is_not_refused(decoder: FrameDecoder) -> None:
    decoder.feed((MAX_FRAME_LENGTH - 4).to_bytes(4, "big"))
    assert decoder.next_frame() is None


@given(st.lists(frames, max_size=5), st.lists(st.integers(0, 400), max_size=8))
def test_frames_do_not_depend_on_the_cuts(sent: list[RawFrame], cuts: list[int]) -> None:
    stream = b"".join(map(encode_frame, sent))
    decoder, received = FrameDecoder(), list[RawFrame]()
    for start, end in pairwise(sorted({0, *(min(cut, len(stream)) for cut in cuts), len(stream)})):
        decoder.feed(stream[start:end])
        received += take_frames(decoder)
    assert received == [frame._replace(body=frame.body or None) for frame in sent]
    assert decoder.buffered == 0
    assert not decoder.frame_started


def test_buffered_bytes_and_started_frames_are_known(decoder: FrameDecoder) -> None:
    assert not decoder.frame_started
    decoder.feed(ROUTE_REQUEST[:6])
    assert decoder.next_frame() is None
    assert (decoder.buffered, decoder.frame_started) == (6, True)
    decoder.feed(ROUTE_REQUEST[6:] + b"\x00")
    assert decoder.buffered == len(ROUTE_REQUEST) + 1
    assert decoder.next_frame() is not None
    assert (decoder.buffered, decoder.frame_started) == (1, True)


@pytest.mark.parametrize("part", [1, 2])
@pytest.mark.parametrize("size", [100, 2 * frame_module.LARGE_BODY])
def test_missing_bytes_never_exceed_the_frame(decoder: FrameDecoder, size: int, part: int) -> None:
    sent = encode_frame(RawFrame(0, b"{}", bytes(size)))
    offset = 0
    while (frame := decoder.next_frame()) is None:
        assert 0 < decoder.missing <= len(sent) - offset
        piece = sent[offset : offset - -decoder.missing // part]
        decoder.feed(piece)
        offset += len(piece)

    assert offset == len(sent)
    assert frame.body == bytes(size)
    assert decoder.next_frame() is None
    assert decoder.missing == 4


def test_header_and_body_are_bytes_of_their_own(decoder: FrameDecoder) -> None:
    data = bytearray(encode_frame(RawFrame(0, b"{}", b"body")))
    decoder.feed(data[:5])
    assert decoder.next_frame() is None
    decoder.feed(data[5:])
    frame = decoder.next_frame()
    data[:] = bytes(len(data))
    assert frame is not None
    assert frame == RawFrame(0, b"{}", b"body")
    assert (type(frame.header), type(frame.body)) == (bytes, bytes)


def put_in_place(decoder: FrameDecoder, data: bytes) -> bytes:
    """Puts bytes where a body wants to have them; returns what has no place."""
    while decoder.filling and data:
        with decoder.room() as room:
            count = min(len(room), len(data))
            room[:count] = data[:count]
        decoder.filled(count)
        data = data[count:]
    return data


def test_there_is_room_for_large_bodies_only(decoder: FrameDecoder) -> None:
    assert not decoder.filling
    assert len(decoder.room()) == 0
    decoder.filled(0)
    assert take_frames(decoder) == []


@given(
    st.lists(frames, max_size=5),
    st.lists(st.integers(0, 300), max_size=12),
    st.integers(8, 40),
    st.booleans(),
    st.booleans(),
)
def test_collected_bodies_do_not_depend_on_the_cuts_of_the_stream(
    sent: list[RawFrame], cuts: list[int], limit: int, reuses_space: bool, in_place: bool
) -> None:
    data = b"".join(map(encode_frame, sent))
    places = sorted({0, *(min(cut, len(data)) for cut in cuts), len(data)})
    received: list[RawFrame] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(frame_module, "LARGE_BODY", limit)
        decoder = FrameDecoder(space=BodySpace() if reuses_space else None)
        for start, end in pairwise(places):
            unplaced = put_in_place(decoder, data[start:end]) if in_place else data[start:end]
            received += take_frames(decoder)
            decoder.feed(unplaced)
            received += take_frames(decoder)
            received_size = len(b"".join(map(encode_frame, received)))
            assert decoder.buffered == end - received_size
            assert decoder.frame_started == (end > received_size)
    assert received == [f._replace(body=f.body or None) for f in sent]


@pytest.mark.parametrize("size", [LARGE_BODY, 3 * LARGE_BODY])
@pytest.mark.parametrize("is_held", [True, False])
def test_a_large_body_reuses_the_space_of_an_unused_one(size: int, is_held: bool) -> None:
    def receive(body: bytes) -> list[bytes | None]:
        decoder = FrameDecoder(space=space)
        data = encode_frame(RawFrame(0, b"{}", body))
        frames: list[RawFrame] = []
        for start in range(0, len(data), LARGE_BODY // 2):
            decoder.feed(data[start : start + LARGE_BODY // 2])
            frames += take_frames(decoder)
        return [frame.body for frame in frames]

    space = BodySpace()
    bodies = [b"a" * (2 * LARGE_BODY), b"b" * size, b"c" * size]
    kept: list[bytes | None] = []
    for body in bodies:
        if is_held:
            kept += receive(body)
        else:
            assert receive(body) == [body]

    assert kept == (bodies if is_held else [])
    assert space.take().getvalue() == bodies[-1]


@pytest.mark.parametrize("size", [LARGE_BODY, 3 * LARGE_BODY])
def test_the_hash_of_a_large_body_is_not_that_of_the_previous_one(size: int) -> None:
    space = BodySpace()
    for letter in (b"a", b"b", b"c"):
        decoder = FrameDecoder(space=space)
        data = encode_frame(RawFrame(0, b"{}", letter * size))
        decoder.feed(data[:-1])
        assert decoder.next_frame() is None
        decoder.feed(data[-1:])
        (frame,) = take_frames(decoder)

        assert hash(frame.body) == hash(letter * size)
        del frame


def test_the_memory_of_a_very_large_body_is_not_kept() -> None:
    space = BodySpace()
    for size in (MAX_SPARE, MAX_SPARE + 1):
        space.give(BytesIO(bytes(size)))
    assert len(space.take().getvalue()) == MAX_SPARE
    assert space.take().getvalue() == b""


def measure_memory(decoder: FrameDecoder) -> int:
    """Bytes of memory that the decoder's buffer takes, unused ones included."""
    direct = gc.get_referents(decoder)
    buffers = [
        item
        for item in (*direct, *gc.get_referents(*direct))
        if isinstance(item, bytes | bytearray | BytesIO)
    ]
    return sum(map(sys.getsizeof, buffers))


class _Reallocations:
    """How often a buffer moved while it grew."""

    def __init__(self, decoder: FrameDecoder) -> None:
        self.decoder = decoder
        self.copied = 0
        self._size = 0

    def look(self) -> None:
        size = measure_memory(self.decoder)
        if size != self._size:
            self.copied += self.decoder.buffered
        self._size = size


@pytest.mark.parametrize(("size", "piece"), [(50_000, 1), (4_000_000, 65_536)])
def test_a_large_frame_is_rarely_copied(decoder: FrameDecoder, size: int, piece: int) -> None:
    data = encode_frame(RawFrame(0, b"{}", bytes(size)))
    watch = _Reallocations(decoder)
    for start in range(0, len(data) - piece, piece):
        decoder.feed(data[start : start + piece])
        assert decoder.next_frame() is None
        watch.look()
    # growing by an eighth copies about eight times the whole, not the square of the pieces
    assert watch.copied < 12 * len(data) + 100 * piece


def test_an_incomplete_frame_holds_little_more_than_its_bytes(decoder: FrameDecoder) -> None:
    data = encode_frame(RawFrame(0, b"{}", bytes(2_000_000)))[:-1]
    tracemalloc.start()
    for start in range(0, len(data), 65_536):
        decoder.feed(data[start : start + 65_536])
        assert decoder.next_frame() is None
    memory, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert memory < 1.2 * len(data) + 65_536


def test_a_returned_frame_is_not_held(decoder: FrameDecoder) -> None:
    data = encode_frame(RawFrame(0, b"{}", bytes(100_000)))
    decoder.feed(data[:10])
    decoder.feed(data[10:])
    assert decoder.next_frame() is not None
    assert measure_memory(decoder) < 100


def test_short_frames_are_cut_out_of_received_bytes() -> None:
    frame = bytes.fromhex("00000006000000027b7d")

    assert cut_frames(frame * 2 + frame[:5]) == ([frame, frame], frame[:5])
    assert cut_frames(frame[:3]) == ([], frame[:3])
    with pytest.raises(errors.FrameTooLargeError):
        cut_frames(frame, 9)
    with pytest.raises(errors.DecodeError):
        cut_frames(b"\0\0\0\1{")
