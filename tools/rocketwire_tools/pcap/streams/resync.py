"""Recognises frames and other protocols by their first bytes.

Ports are never used. The codec's layouts define the prefix of a frame.
"""

from __future__ import annotations

import re
from enum import Enum, auto
from typing import TYPE_CHECKING, Final

import numpy as np

from rocketwire.errors import CodecError
from rocketwire.wire.binary_header import decode_binary_header
from rocketwire.wire.frame import MAX_FRAME_LENGTH
from rocketwire.wire.json_header import read_json_header
from rocketwire.wire.layouts.fused import LENGTH_SIZE, PREFIX_SIZE, parse_prefix

if TYPE_CHECKING:
    from rocketwire_tools.pcap.files.records import Array

JSON: Final = 0
ROCKETMQ: Final = 1
LARGEST: Final = MAX_FRAME_LENGTH - LENGTH_SIZE  # The largest value of a length word
MIN_HEADER: Final = (2, 21)
"""Shortest header by type: an empty JSON object, and a binary header without remark and
extension fields."""
MAX_HEADER: Final = 4 << 20  # Longest header that is collected; real ones have a few hundred bytes
MAX_SCANNED_HEADER: Final = 65_536
"""Longest header that identifies a frame in a search. Between known frames, longer ones are
read."""

# A length below 16 MiB, the type, and the first bytes of a header of each type.
_BEGINNING: Final = re.compile(
    rb"(?=\x00[\s\S]{3}(?:\x00[\s\S]{3}\{"
    rb"|\x01\x00[\s\S]{4}[\x00-\x1f][\s\S]{6}\x00\x00\x00[\x00-\x03]))"
)
_BEGINNING_LENGTH: Final = 8 + 17


class Protocol(Enum):
    UNKNOWN = auto()
    REMOTING = auto()
    TLS = auto()
    HTTP2 = auto()
    OTHER = auto()


def has_prefix(length: int, header_type: int, header_length: int) -> bool:
    """Whether these values can be the first two words of a frame."""
    return (
        header_type <= ROCKETMQ
        and MIN_HEADER[header_type] <= header_length <= MAX_HEADER
        and header_length + LENGTH_SIZE <= length <= LARGEST
    )


def have_prefixes(words: Array) -> tuple[Array, Array, Array, Array]:
    """Like ``has_prefix``, for rows of eight bytes; returns length, header type and header length
    of each row, and whether they can be a frame's."""
    words = words.view(">u4").astype(np.int64)
    length, header_type, header = words[:, 0], words[:, 1] >> 24, words[:, 1] & 0xFFFFFF
    good = (
        (header + LENGTH_SIZE <= length)
        & (length <= LARGEST)
        & (header_type <= ROCKETMQ)
        & (header >= np.array(MIN_HEADER)[header_type & 1])
        & (header <= MAX_HEADER)
    )
    return length, header_type, header, good


def is_header(header_type: int, header: bytes) -> bool:
    try:
        if header_type == JSON:
            read_json_header(header)
        else:
            decode_binary_header(header)
    except CodecError:
        return False
    return True


def begins_frame(data: bytes | bytearray, offset: int) -> bool | None:
    """Whether a frame begins at an offset: its header is valid, and so is the prefix after the
    frame, if it is available; None if more bytes are needed."""
    room = len(data) - offset
    if room < PREFIX_SIZE:
        return None
    (length, header_type, header_length), _ = parse_prefix(data, offset)
    if not has_prefix(length, header_type, header_length):
        return False
    if header_length > MAX_SCANNED_HEADER:
        return False
    if header_type == JSON and room > PREFIX_SIZE and data[offset + PREFIX_SIZE] != 0x7B:
        return False
    if room < PREFIX_SIZE + header_length:
        return None
    start = offset + PREFIX_SIZE
    if not is_header(header_type, bytes(data[start : start + header_length])):
        return False
    end = offset + LENGTH_SIZE + length
    if end + PREFIX_SIZE > len(data):
        return True
    return has_prefix(*parse_prefix(data, end)[0])


def find_frame(data: bytearray, start: int, *, last: bool = False) -> tuple[int, bool]:
    """Search the first frame; returns its offset, or that of the first byte that may still begin
    one, and whether it is a frame."""
    for match in _BEGINNING.finditer(data, start):
        answer = begins_frame(data, match.start())
        if answer or (answer is None and not last):
            return match.start(), answer is True
    return max(start, len(data) - _BEGINNING_LENGTH + 1), False


_PROXY_V1: Final = b"PROXY "
_PROXY_V2: Final = b"\r\n\r\n\x00\r\nQUIT\n"
_HTTP2: Final = b"PRI * HTTP/2.0"[:PREFIX_SIZE]  # First bytes of an HTTP/2 client (RFC 9113, 3.4)


def proxy_header_length(opening: bytes) -> int | None:
    """Bytes of the PROXY header at the front of a connection (Java: ``HAProxyMessageDecoder``),
    0 if there is none; None if more bytes are needed."""
    if opening.startswith(_PROXY_V2):
        return 16 + int.from_bytes(opening[14:16], "big") if len(opening) >= 16 else None
    if opening.startswith(_PROXY_V1):
        end = opening.find(b"\r\n", 0, 108)
        if end >= 0:
            return end + 2
        return None if len(opening) < 108 else 0
    if _PROXY_V1.startswith(opening) or _PROXY_V2.startswith(opening):
        return None
    return 0


def protocol_of(opening: bytes) -> Protocol:
    """The protocol of a connection's first bytes without PROXY header; UNKNOWN for too few
    bytes."""
    if len(opening) >= 3 and opening[0] in (0x16, 0x17) and opening[1] == 3 and opening[2] <= 4:
        return Protocol.TLS
    if len(opening) < PREFIX_SIZE:
        return Protocol.UNKNOWN
    if opening.startswith(_HTTP2):
        return Protocol.HTTP2
    length, header_type, header_length = parse_prefix(opening, 0)[0]
    if has_prefix(length, header_type, header_length) and header_length > MAX_SCANNED_HEADER:
        first = opening[PREFIX_SIZE : PREFIX_SIZE + 1]  # do not wait for a long header
        remoting = header_type == ROCKETMQ or first in {b"", b"{"}
        return Protocol.REMOTING if remoting else Protocol.OTHER
    return Protocol.OTHER if begins_frame(opening, 0) is False else Protocol.REMOTING
