"""Frames: split a stream of bytes into commands, with limits before memory.

A frame is a length, a header type with a header length, the header and the body
(``declarations.ENVELOPE``).  Its first eight bytes decide whether it is valid, so an invalid frame
is rejected before its content arrives (Java: ``NettyDecoder``, ``RemotingCommand.decode``, which
wait for the content and then close the connection too).
"""

from __future__ import annotations

from io import SEEK_END, BytesIO
from typing import TYPE_CHECKING, Final, NamedTuple

from rocketwire.codes import SerializeType
from rocketwire.errors import (
    DecodeError,
    FrameTooLargeError,
    HeaderTooLargeError,
    TruncatedError,
    UnknownHeaderTypeError,
)
from rocketwire.wire.layouts.fused import (
    LENGTH_SIZE,
    PREFIX_SIZE,
    parse_envelope,
    parse_length,
    parse_prefix,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from rocketwire.wire.buffer import Buffer

# Maximum bytes of a whole frame, the first four included (Java: ``NettyDecoder``)
MAX_FRAME_LENGTH: Final = 16_777_216
# Maximum bytes of a header.  The longest in use carries one KV value; Java has no such limit.
MAX_HEADER_LENGTH: Final = 4 * 1_048_576
# Least size in bytes of a body that is received into a buffer of its own
LARGE_BODY: Final = 131_072
# Maximum bytes of a large body's buffer that are kept for the next large body
MAX_SPARE: Final = 4 * 1_048_576
# Creates named tuples without their constructor, in a third of its time
_new: Final[Callable[..., RawFrame]] = vars(tuple)["__new__"]

_MIN_LENGTH: Final = PREFIX_SIZE - LENGTH_SIZE
_HEADER_TYPES: Final = tuple(int(t) for t in SerializeType)


class RawFrame(NamedTuple):
    """A frame with an undecoded header."""

    header_type: int  #: 0 (JSON) or 1 (ROCKETMQ)
    header: bytes  #: bytes of the header
    body: bytes | None  #: bytes of the body, or None if it is empty


def _frame_size(length: int, limit: int) -> int:
    if length < _MIN_LENGTH:
        message = f"a frame length of {length} leaves no room for the header length"
        raise DecodeError(message, path="length", offset=0)
    size = length + LENGTH_SIZE
    if size > limit:
        message = f"a frame of {size} bytes exceeds the limit of {limit}"
        raise FrameTooLargeError(message, declared=size, limit=limit, path="length", offset=0)
    return size


def _check_prefix(length: int, header_type: int, header_length: int) -> None:
    if header_type not in _HEADER_TYPES:
        raise UnknownHeaderTypeError(header_type, offset=LENGTH_SIZE)
    if header_length > length - _MIN_LENGTH:
        message = f"a header of {header_length} bytes does not fit a frame length of {length}"
        raise DecodeError(message, path="header_length", offset=LENGTH_SIZE)


def _header_too_large(length: int, limit: int) -> HeaderTooLargeError:
    message = f"a header of {length} bytes exceeds the limit of {limit}"
    return HeaderTooLargeError(
        message, declared=length, limit=limit, path="header_length", offset=LENGTH_SIZE
    )


def split_frame(
    data: bytes,
    *,
    max_frame_length: int = MAX_FRAME_LENGTH,
    max_header_length: int = MAX_HEADER_LENGTH,
) -> RawFrame:
    """Split exactly one whole frame into its parts.

    Raises:
        TruncatedError: the frame is longer than the data.
        FrameTooLargeError: it declares more than ``max_frame_length``.
        HeaderTooLargeError: its header declares more than ``max_header_length``.
        UnknownHeaderTypeError: the header is neither JSON nor ROCKETMQ.
        DecodeError: a length is invalid, or bytes follow the frame.
    """
    size = _frame_size(parse_length(data)[0], max_frame_length)
    if len(data) >= PREFIX_SIZE:
        length, header_type, header_length = parse_prefix(data)[0]
        _check_prefix(length, header_type, header_length)
        if header_length > max_header_length:
            raise _header_too_large(header_length, max_header_length)
    if len(data) < size:
        message = f"a frame of {size} bytes, {len(data)} of them here"
        raise TruncatedError(message, offset=len(data))
    if len(data) > size:
        message = f"{len(data) - size} bytes after the frame"
        raise DecodeError(message, offset=size, excerpt=data[size : size + 16])
    header_type, header, body = parse_envelope(data, 0, size)[0]
    return RawFrame(header_type, bytes(header), bytes(body) or None)


class BodySpace:
    """Keeps the buffer of one large body for the next one; decoders may share it.

    Memory that a process uses for the first time costs as much as a copy of the body, and peers
    that send large bodies send them repeatedly.  A buffer whose body is still in use is not reused.
    """

    __slots__ = ("_spare",)

    def __init__(self) -> None:
        self._spare: BytesIO | None = None

    def take(self) -> BytesIO:
        spare, self._spare = self._spare, None
        return BytesIO() if spare is None else spare

    def give(self, buffer: BytesIO) -> None:
        if buffer.seek(0, SEEK_END) <= MAX_SPARE:
            self._spare = buffer


class _LargeBody:
    # The buffer is at most twice as large as the received part, unless a spare buffer was larger.

    __slots__ = ("_reserved", "_size", "have", "header", "header_type", "space")

    def __init__(
        self, header_type: int, header: bytes, size: int, data: Buffer, space: BytesIO
    ) -> None:
        self.header_type = header_type
        self.header = header
        self.have = 0
        self.space = space
        self._size = size
        self._reserved = space.seek(0, SEEK_END)
        self.take(data)

    @property
    def is_complete(self) -> bool:
        return self.have == self._size

    @property
    def missing(self) -> int:
        return self._size - self.have

    def take(self, data: Buffer) -> Buffer:
        end = min(len(data), self._size - self.have)
        needed = self.have + end
        self._reserve(needed)
        self.space.seek(self.have)
        with memoryview(data) as view:
            self.space.write(view[:end])
        self.have = needed
        return data[end:]

    def room(self) -> memoryview:
        # The caller has to release it.
        self._reserve(min(self.have + 1, self._size))
        with self.space.getbuffer() as view:
            return view[self.have : min(self._reserved, self._size)]

    def _reserve(self, needed: int) -> None:
        if needed > self._reserved:
            self._reserved = self._size  # halved repeatedly: the buffer grows by a factor
            while self._reserved >> 1 >= needed:
                self._reserved >>= 1
            self.space.seek(self._reserved - 1)
            self.space.write(b"\0")

    def frame(self) -> RawFrame:
        # The buffer must be larger than the body: only then does ``getvalue`` create new bytes.
        # Otherwise it would return the bytes object of the former body, with its cached hash.
        self.space.seek(self._size)
        self.space.write(b"\0")
        self.space.truncate(self._size)
        return RawFrame(self.header_type, self.header, self.space.getvalue())


class FrameDecoder:
    """Splits a stream of bytes into frames, however the stream was cut.

    ``feed`` the received bytes, then call ``next_frame`` until it returns None.  Time is linear in
    the bytes fed.  For an incomplete frame, memory is bounded by twice the received part plus one
    ``feed``.

    Args:
        space: buffers for large bodies.  The buffer of a body is reused after the next frame has
            been requested, if the body is no longer referenced.
    """

    __slots__ = (
        "_approved",
        "_buffer",
        "_error",
        "_large",
        "_needed",
        "_space",
        "_start",
        "_used",
        "max_frame_length",
        "max_header_length",
    )

    def __init__(
        self,
        *,
        max_frame_length: int = MAX_FRAME_LENGTH,
        max_header_length: int = MAX_HEADER_LENGTH,
        space: BodySpace | None = None,
    ) -> None:
        self.max_frame_length: int = max_frame_length  #: limit for a whole frame, in bytes
        self.max_header_length: int = max_header_length  #: limit for its header, in bytes
        self._buffer: bytes | bytearray = b""
        self._start = 0
        self._needed = LENGTH_SIZE  # bytes that the next step needs, from _start
        self._approved: tuple[int, int] | None = None  # type and length of the next header
        self._error: DecodeError | None = None
        self._large: _LargeBody | None = None
        self._space = space
        self._used: BytesIO | None = None  # holds the body of the latest frame

    @property
    def buffered(self) -> int:
        """Number of bytes fed that are not part of a returned frame."""
        size = len(self._buffer) - self._start
        body = self._large
        return size if body is None else size + PREFIX_SIZE + len(body.header) + body.have

    @property
    def missing(self) -> int:
        """Least number of bytes to feed before ``next_frame``, after None, returns a frame."""
        if self._large is not None:
            return self._large.missing
        return self._needed - (len(self._buffer) - self._start)

    @property
    def frame_started(self) -> bool:
        """Whether the bytes fed so far end inside a frame."""
        return self._large is not None or len(self._buffer) > self._start

    def feed(self, data: bytes | bytearray | memoryview) -> None:
        """Append received bytes; does nothing after ``next_frame`` has raised."""
        if self._error is not None:
            return
        if self._large is not None:
            data = self._large.take(data)
            if not data:
                return
        if len(self._buffer) == self._start:
            # the most frequent case, whole frames: no copy
            self._buffer = bytes(data)
        elif isinstance(self._buffer, bytearray):
            del self._buffer[: self._start]
            self._buffer += data
        else:
            self._buffer = bytearray(memoryview(self._buffer)[self._start :])
            self._buffer += data
        self._start = 0

    def take_only_frame(self, data: bytes) -> RawFrame | None:
        """Return ``data`` as a frame if it is exactly the next one, else None without feeding.

        This is the fast path for the response to the only pending request.
        """
        size = len(data)
        if self._buffer or self._large or self._used or self._error or self._needed != LENGTH_SIZE:
            return None
        if not PREFIX_SIZE <= size <= self.max_frame_length:
            return None
        length, header_type, header_length = parse_prefix(data, 0)[0]
        end = PREFIX_SIZE + header_length
        if length + LENGTH_SIZE != size or end > size or header_type not in _HEADER_TYPES:
            return None
        if header_length > self.max_header_length:
            return None
        frame: RawFrame = _new(RawFrame, (header_type, data[PREFIX_SIZE:end], data[end:] or None))
        return frame

    @property
    def filling(self) -> bool:
        """Whether the next bytes of the stream belong to a large body."""
        return self._large is not None and not self._large.is_complete

    def room(self) -> memoryview:
        """Return the memory to receive the next bytes into; empty unless ``filling``.

        The caller has to release it and call ``filled`` before any other method.
        """
        return memoryview(bytearray()) if self._large is None else self._large.room()

    def filled(self, count: int) -> None:
        """Accept the first ``count`` bytes of ``room`` as received."""
        if self._large is not None:
            self._large.have += count

    def next_frame(self) -> RawFrame | None:
        """Return the next frame, or None if more bytes are needed for it.

        Every later call raises the same error again.

        Raises:
            FrameTooLargeError: the next frame declares more than the limit.
            HeaderTooLargeError: its header declares more than the limit.
            UnknownHeaderTypeError: its header is neither JSON nor ROCKETMQ.
            DecodeError: a length is invalid.
        """
        if self._error is not None:
            raise self._error.with_traceback(None)
        if self._used is not None and self._space is not None:
            self._space.give(self._used)
            self._used = None
        if self._large is not None:
            return self._finish_large_body(self._large)
        buffer, start = self._buffer, self._start
        size = len(buffer) - start
        if not size:
            return None
        if size >= self._needed and self._approved is None:
            self._approve(size)
        approved = self._approved
        if approved is None or size < self._needed:
            if approved is not None and self._needed > LARGE_BODY:
                self._start_large_body(size, *approved)
            return None
        end = start + self._needed
        header_type, header_length = approved
        self._needed, self._approved = LENGTH_SIZE, None
        begin = start + PREFIX_SIZE
        body = begin + header_length
        if isinstance(buffer, bytes):
            parts = header_type, buffer[begin:body], buffer[body:end] or None
        else:
            with memoryview(buffer) as view:
                parts = header_type, bytes(view[begin:body]), bytes(view[body:end]) or None
        frame: RawFrame = _new(RawFrame, parts)
        if end == len(buffer):
            self._buffer, self._start = b"", 0
        else:
            self._start = end
        return frame

    def _start_large_body(self, buffered: int, header_type: int, header_length: int) -> None:
        begin = PREFIX_SIZE + header_length
        size = self._needed - begin
        if buffered < begin or size < LARGE_BODY:
            return
        with memoryview(self._buffer) as view, view[self._start :] as frame:
            header = bytes(frame[PREFIX_SIZE:begin])
            space = BytesIO() if self._space is None else self._space.take()
            self._large = _LargeBody(header_type, header, size, bytes(frame[begin:]), space)
        self._buffer, self._start = b"", 0

    def _finish_large_body(self, body: _LargeBody) -> RawFrame | None:
        if not body.is_complete:
            return None
        self._large = None
        self._needed, self._approved = LENGTH_SIZE, None
        if self._space is not None:
            self._used = body.space
        return body.frame()

    def _approve(self, buffered: int) -> None:
        limit = self.max_frame_length
        try:
            if buffered < PREFIX_SIZE:
                _frame_size(parse_length(self._buffer, self._start)[0], limit)
                self._needed = PREFIX_SIZE
            else:
                length, header_type, header_length = parse_prefix(self._buffer, self._start)[0]
                if not _MIN_LENGTH <= length <= limit - LENGTH_SIZE:
                    _frame_size(length, limit)
                if header_length > length - _MIN_LENGTH or header_type not in _HEADER_TYPES:
                    _check_prefix(length, header_type, header_length)
                if header_length > self.max_header_length:
                    raise _header_too_large(header_length, self.max_header_length)
                self._needed = length + LENGTH_SIZE
                self._approved = header_type, header_length
        except DecodeError as error:
            self._error = error
            self._buffer, self._start = b"", 0
            raise


def cut_frames(data: bytes, max_frame_length: int = MAX_FRAME_LENGTH) -> tuple[list[bytes], bytes]:
    """Cut bytes into whole frames, for peers that send short ones; returns also the rest."""
    frames: list[bytes] = []
    start, end = 0, len(data)
    while end - start >= LENGTH_SIZE:
        size = _frame_size(int.from_bytes(data[start : start + LENGTH_SIZE]), max_frame_length)
        if end - start < size:
            break
        frames.append(data[start : start + size])
        start += size
    return frames, data[start:]
