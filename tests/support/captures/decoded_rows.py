"""Rows of a capture, and the rows that the truth asks for."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from rocketwire_tools.pcap.decode.decoder import Decoder, Options

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from tests.support.captures.network import True_

Row = dict[str, Any]
Frames = Counter[tuple[Any, ...]]


def rows(path: Path | str, options: Options | None = None) -> list[Row]:
    """All rows."""
    return [row for batch in Decoder(str(path), options) for row in batch.to_pylist()]


def frames(found: Iterable[Row], *, ends: bool = True) -> Frames:
    """What the truth knows of rows."""
    return Counter(
        (
            row["src"], row["src_port"], row["dst"], row["dst_port"], row["time_ns"],
            row["end_time_ns"] if ends else None, row["frame_length"], row["body_ok"],
        )
        for row in found
    )  # fmt: skip


def expected(truth: Iterable[True_], *, ends: bool = True, unit: int = 1) -> Frames:
    """The frames whose header was captured; unit: nanoseconds that the file can tell apart."""
    return Counter(
        (
            *one.source, *one.target, _cut(one.time_ns, unit), _cut(one.end_time_ns, unit) if ends else None,
            one.length, one.body,
        )
        for one in truth
        if one.header
    )  # fmt: skip


def _cut(time_ns: int | None, unit: int) -> int | None:
    return None if time_ns is None else time_ns - time_ns % unit
