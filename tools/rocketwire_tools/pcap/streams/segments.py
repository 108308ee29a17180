"""Segments of a stream, frames, and the limits of the wait for missing segments."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Limits of the wait for missing segments.

    Attributes:
        hold_ns: nanoseconds of capture time that segments after a hole wait.
        hold_bytes: bytes that wait, for each stream.
        hold_segments: segments that wait, for each stream.
    """

    hold_ns: int = 3_000_000_000
    hold_bytes: int = 4 << 20
    hold_segments: int = 8192


class Place(NamedTuple):
    """A record: its offset in the file, and its capture time."""

    where: int
    time_ns: int


class Segment(NamedTuple):
    """Bytes of a stream.

    Attributes:
        position: of the first byte.
        length: bytes on the wire.
        data: the captured bytes, from the first on.
        place: the record.
    """

    position: int
    length: int
    data: bytes
    place: Place


class Direction(Protocol):
    """The stream of a frame: its number, and the numbers of sender and receiver."""

    number: int
    source: int
    target: int


class Frame(NamedTuple):
    """A frame whose header was captured.

    Attributes:
        stream: its stream.
        first: record of its first byte.
        last: the latest record of its captured bytes.
        header: the encoded header.
        header_type: JSON or ROCKETMQ.
        length: value of the length word.
        is_complete: whether the whole body was captured.
        gap: whether bytes were lost between the peers and the capture.
        body: the captured part of the body, if bodies are kept.
    """

    stream: Direction
    first: Place
    last: Place
    header: bytes
    header_type: int
    length: int
    is_complete: bool
    gap: bool
    body: bytes | None


def position_of(segment: Segment) -> int:
    return segment.position


def part(segment: Segment, start: int, end: int) -> Segment:
    """The bytes of a segment between two positions."""
    return Segment(
        start,
        end - start,
        segment.data[start - segment.position : end - segment.position],
        segment.place,
    )
