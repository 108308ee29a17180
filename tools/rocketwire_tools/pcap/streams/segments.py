"""Segments of a stream, frames, and the limits of the wait for missing segments."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Limits of the wait for missing segments."""

    hold_ns: int = 3_000_000_000  # nanoseconds of capture time that segments after a hole wait
    hold_bytes: int = 4 << 20  # bytes that wait, for each stream
    hold_segments: int = 8192  # segments that wait, for each stream


class PacketRef(NamedTuple):
    """A record: its offset in the file, and its capture time."""

    file_offset: int
    time_ns: int


class Segment(NamedTuple):
    """Bytes of a stream."""

    position: int  # of the first byte
    length: int  # bytes on the wire
    data: bytes  # the captured bytes, from the first on
    packet: PacketRef  # the record


class Direction(Protocol):
    """The stream of a frame: its number, and the numbers of sender and receiver."""

    number: int
    source: int
    target: int


class Frame(NamedTuple):
    """A frame whose header was captured."""

    stream: Direction  # its stream
    first: PacketRef  # record of its first byte
    last: PacketRef  # the latest record of its captured bytes
    header: bytes  # the encoded header
    header_type: int  # JSON or ROCKETMQ
    length: int  # value of the length word
    is_complete: bool  # whether the whole body was captured
    gap: bool  # whether bytes were lost between the peers and the capture
    body: bytes | None  # the captured part of the body, if bodies are kept


def position_of(segment: Segment) -> int:
    return segment.position


def part(segment: Segment, start: int, end: int) -> Segment:
    """The bytes of a segment between two positions."""
    return Segment(
        start,
        end - start,
        segment.data[start - segment.position : end - segment.position],
        segment.packet,
    )
