"""Rows of a capture, and the rows that the truth asks for."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from rocketwire_tools.pcap.decode.decoder import Decoder, Options

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from tests.support.captures.network import SentFrame

Row = dict[str, Any]
Frames = Counter[tuple[Any, ...]]


def rows(path: Path | str, options: Options | None = None) -> list[Row]:
    """All rows."""
    return [row for batch in Decoder(str(path), options) for row in batch.to_pylist()]


def frames(decoded: Iterable[Row], *, ends: bool = True) -> Frames:
    """The columns of rows that the truth has."""
    return Counter(
        (
            row["src"], row["src_port"], row["dst"], row["dst_port"], row["time_ns"],
            row["end_time_ns"] if ends else None, row["frame_length"], row["body_ok"],
        )
        for row in decoded
    )  # fmt: skip


def expected(truth: Iterable[SentFrame], *, ends: bool = True, unit: int = 1) -> Frames:
    """The frames whose header was captured; ``unit`` is the resolution of the file's times in
    nanoseconds."""
    return Counter(
        (
            *frame.source,
            *frame.target,
            _cut(frame.time_ns, unit),
            _cut(frame.end_time_ns, unit) if ends else None,
            frame.length,
            frame.body,
        )
        for frame in truth
        if frame.header
    )


def _cut(time_ns: int | None, unit: int) -> int | None:
    return None if time_ns is None else time_ns - time_ns % unit
