"""Pieces of a stream, frames cut out of it, and how long is waited for missing ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How long is waited for what is missing.

    Attributes:
        hold_ns: nanoseconds of capture time that segments behind a hole wait for it to be filled.
        hold_bytes: bytes of them that wait, for each stream.
        hold_segments: and segments.
    """

    hold_ns: int = 3_000_000_000
    hold_bytes: int = 4 << 20
    hold_segments: int = 8192


class Place(NamedTuple):
    """A record: where it is in the file, and when it was captured."""

    where: int
    time_ns: int


class Segment(NamedTuple):
    """Bytes of a stream.

    Attributes:
        position: of the first one.
        length: how many were sent.
        data: those that were captured, from the first on.
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
        last: the record captured last of those that it is in.
        header: the header, undecoded.
        header_type: JSON or ROCKETMQ.
        length: value of the length word.
        whole: whether all bytes of the body were captured.
        gap: whether some were lost between the peers and the capture.
        body: the body as far as captured, where bodies are wanted.
    """

    stream: Direction
    first: Place
    last: Place
    header: bytes
    header_type: int
    length: int
    whole: bool
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
