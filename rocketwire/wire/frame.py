"""Frames: where one command ends and the next begins.  Limits come before memory.

A frame is a length, a header type with a header length, the header and the body
(``grammar.ENVELOPE``).  Everything that can be wrong with it is known after its first eight bytes,
so a bad frame is refused before its content arrives (Java: ``NettyDecoder``,
``RemotingCommand.decode``, which wait for the content first and then close as well).
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
from rocketwire.wire.layouts.functions import (
    LENGTH_SIZE,
    PREFIX_SIZE,
    parse_envelope,
    parse_length,
    parse_prefix,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from rocketwire.wire.buffer import Buffer

MAX_FRAME_LENGTH: Final = 16_777_216
"""Most bytes of a whole frame, the first four included (Java: ``NettyDecoder``)."""

MAX_HEADER_LENGTH: Final = 4 * 1_048_576
"""Most bytes of a header.  The longest in use carries one KV value; Java has no limit of its own."""

LARGE: Final = 131_072
"""Bytes from which on a body that comes in pieces is collected apart from the rest."""

MOST_SPARE: Final = 4 * 1_048_576
"""Bytes of memory of a large body that are kept for the next one."""

_new: Final[Callable[..., RawFrame]] = vars(tuple)["__new__"]
"""What the constructor of a named tuple calls, at a third of its price."""

_MIN_LENGTH: Final = PREFIX_SIZE - LENGTH_SIZE
_HEADER_TYPES: Final = tuple(int(t) for t in SerializeType)


class RawFrame(NamedTuple):
    """One frame, taken apart but not understood.

    Attributes:
        header_type: 0 (JSON) or 1 (ROCKETMQ).
        header: bytes of the header.
        body: None where there is none.
    """

    header_type: int
    header: bytes
    body: bytes | None


def _frame_size(length: int, limit: int) -> int:
    """Size of the whole frame that declares ``length``; raises what is wrong with it."""
    if length < _MIN_LENGTH:
        message = f"a frame length of {length} leaves no room for the header length"
        raise DecodeError(message, path="length", offset=0)
    size = length + LENGTH_SIZE
    if size > limit:
        message = f"a frame of {size} bytes exceeds the limit of {limit}"
        raise FrameTooLargeError(message, declared=size, limit=limit, path="length", offset=0)
    return size


def _check_prefix(length: int, header_type: int, header_length: int) -> None:
    """Raises what is wrong with the second word of a frame."""
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
    """Takes exactly one whole frame apart.

    Raises:
        TruncatedError: the frame is longer than the data.
        FrameTooLargeError: it declares more than ``max_frame_length``.
        HeaderTooLargeError: its header declares more than ``max_header_length``.
        UnknownHeaderTypeError: neither a JSON nor a ROCKETMQ header.
        DecodeError: another length that cannot be, or bytes after the frame.
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
    """Memory of a large body that is done with, for the next one: of one at a time.

    Each page of memory that a process has not used before costs it as much as a copy of it, and
    who sends large bodies sends them again.  Decoders may share this; a body that is still in use
    when its memory would be used again keeps it.
    """

    __slots__ = ("_spare",)

    def __init__(self) -> None:
        self._spare: BytesIO | None = None

    def take(self) -> BytesIO:
        """What there is, or something new."""
        spare, self._spare = self._spare, None
        return BytesIO() if spare is None else spare

    def give(self, used: BytesIO) -> None:
        """Keeps what a body was in, unless it is too large."""
        if used.seek(0, SEEK_END) <= MOST_SPARE:
            self._spare = used


class _LargeBody:
    """A large body on its way, in the memory where it will stay.

    There is one place for the whole body, which is no larger than what has come, twice, or what
    there was anyway, and what has come is copied there and nowhere else.

    Args:
        header_type: of the frame.
        header: of the frame, whole.
        size: bytes that the body will have.
        begun: those that have come.
        space: where they are put.
    """

    __slots__ = ("_reserved", "_size", "have", "header", "header_type", "space")

    def __init__(
        self, header_type: int, header: bytes, size: int, begun: Buffer, space: BytesIO
    ) -> None:
        self.header_type = header_type
        self.header = header
        self.have = 0
        self.space = space
        self._size = size
        self._reserved = space.seek(0, SEEK_END)
        self.take(begun)

    @property
    def is_whole(self) -> bool:
        """Whether all of it has come."""
        return self.have == self._size

    @property
    def missing(self) -> int:
        """Bytes of it that have not come."""
        return self._size - self.have

    def take(self, data: Buffer) -> Buffer:
        """Takes what belongs to it; returns what follows it."""
        end = min(len(data), self._size - self.have)
        needed = self.have + end
        self._reserve(needed)
        self.space.seek(self.have)
        with memoryview(data) as view:
            self.space.write(view[:end])
        self.have = needed
        return data[end:]

    def room(self) -> memoryview:
        """Where the next of its bytes belong, at least one if it is not whole; to be released."""
        self._reserve(min(self.have + 1, self._size))
        with self.space.getbuffer() as whole:
            return whole[self.have : min(self._reserved, self._size)]

    def _reserve(self, needed: int) -> None:
        """Makes sure that there is memory for so many bytes of it."""
        if needed > self._reserved:
            self._reserved = self._size  # halved, so that it is never enlarged by little
            while self._reserved >> 1 >= needed:
                self._reserved >>= 1
            self.space.seek(self._reserved - 1)
            self.space.write(b"\0")

    def frame(self) -> RawFrame:
        """The frame, when the body is whole."""
        # There has to be more memory than body: ``getvalue`` then makes bytes of it, else it gives
        # out those of the former body with other contents, and with the hash that these had.
        self.space.seek(self._size)
        self.space.write(b"\0")
        self.space.truncate(self._size)
        return RawFrame(self.header_type, self.header, self.space.getvalue())


class FrameDecoder:
    """Cuts a stream of bytes into frames, however the stream was split.

    ``feed`` what arrives, then call ``next_frame`` until it gives None.  Time is linear in the
    bytes fed.  While a frame is incomplete, no more is held than twice what has come of it, that
    frame, whose length has passed the limit, and one ``feed``.

    Args:
        space: memory for large bodies.  That of a body is used again as soon as the frame behind it
            is asked for and nobody has the body any more.

    Attributes:
        max_frame_length: limit for a whole frame, in bytes.
        max_header_length: limit for its header, in bytes.
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
        self.max_frame_length = max_frame_length
        self.max_header_length = max_header_length
        self._buffer: bytes | bytearray = b""
        self._start = 0
        self._needed = LENGTH_SIZE  # bytes that the next step wants to see, from _start
        self._approved: tuple[int, int] | None = None  # type and length of the next frame's header
        self._error: DecodeError | None = None
        self._large: _LargeBody | None = None
        self._space = space
        self._used: BytesIO | None = None  # holds the body of the latest frame

    @property
    def buffered(self) -> int:
        """Bytes held: fed, and not yet part of a frame that was handed out."""
        held = len(self._buffer) - self._start
        large = self._large
        return held if large is None else held + PREFIX_SIZE + len(large.header) + large.have

    @property
    def missing(self) -> int:
        """Bytes that have to come, at least, before ``next_frame`` gives another frame, once it has given None."""
        if self._large is not None:
            return self._large.missing
        return self._needed - (len(self._buffer) - self._start)

    @property
    def frame_started(self) -> bool:
        """Whether the stream, if it ended here, would end inside a frame."""
        return self._large is not None or len(self._buffer) > self._start

    def feed(self, data: bytes | bytearray | memoryview) -> None:
        """Takes more of the stream; nothing is held any more once ``next_frame`` has raised."""
        if self._error is not None:
            return
        if self._large is not None:
            data = self._large.take(data)
            if not data:
                return
        if len(self._buffer) == self._start:
            # the usual case, whole frames in one piece: bytes are taken over without a copy
            self._buffer = bytes(data)
        elif isinstance(self._buffer, bytearray):
            del self._buffer[: self._start]
            self._buffer += data
        else:
            self._buffer = bytearray(memoryview(self._buffer)[self._start :])
            self._buffer += data
        self._start = 0

    def only_frame(self, data: bytes) -> RawFrame | None:
        """The frame that the next bytes of the stream are, where they are just one; else None, and they still want to be fed.

        The short way for the answer to the only request.
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
        """Whether the next bytes of the stream are those of a large body, which has its place."""
        return self._large is not None and not self._large.is_whole

    def room(self) -> memoryview:
        """Where the next bytes belong while it is ``filling``, for who can receive them there; none
        at other times.  It is to be released, and ``filled`` called, before anything else."""
        return memoryview(bytearray()) if self._large is None else self._large.room()

    def filled(self, count: int) -> None:
        """Takes over what has been put where ``room`` said, from its beginning on."""
        if self._large is not None:
            self._large.have += count

    def next_frame(self) -> RawFrame | None:
        """Returns the next frame, or None if more bytes are needed for it.

        Raises:
            FrameTooLargeError: the next frame declares more than the limit.
            HeaderTooLargeError: its header does.
            UnknownHeaderTypeError: its header is neither JSON nor ROCKETMQ.
            DecodeError: another length of it cannot be.  The stream has no further frames: each of
                these is raised again by every later call.
        """
        if self._error is not None:
            raise self._error.with_traceback(None)
        if self._used is not None and self._space is not None:
            self._space.give(self._used)
            self._used = None
        if self._large is not None:
            return self._collected(self._large)
        buffer, start = self._buffer, self._start
        held = len(buffer) - start
        if not held:
            return None
        if held >= self._needed and self._approved is None:
            self._approve(held)
        approved = self._approved
        if approved is None or held < self._needed:
            if approved is not None and self._needed > LARGE:
                self._collect(held, *approved)
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

    def _collect(self, held: int, header_type: int, header_length: int) -> None:
        """Collects a large body from now on, if its header is here."""
        begin = PREFIX_SIZE + header_length
        size = self._needed - begin
        if held < begin or size < LARGE:
            return
        with memoryview(self._buffer) as view, view[self._start :] as rest:
            header = bytes(rest[PREFIX_SIZE:begin])
            space = BytesIO() if self._space is None else self._space.take()
            self._large = _LargeBody(header_type, header, size, bytes(rest[begin:]), space)
        self._buffer, self._start = b"", 0

    def _collected(self, large: _LargeBody) -> RawFrame | None:
        if not large.is_whole:
            return None
        self._large = None
        self._needed, self._approved = LENGTH_SIZE, None
        if self._space is not None:
            self._used = large.space
        return large.frame()

    def _approve(self, held: int) -> None:
        """Checks the words of the prefix that are here; says what the next step needs."""
        limit = self.max_frame_length
        try:
            if held < PREFIX_SIZE:
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
