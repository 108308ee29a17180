"""Columns of the rows, and the frames of a chunk in the order of their last captured bytes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from rocketwire_tools.pcap.arrow import pa
from rocketwire_tools.pcap.streams import header_bytes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rocketwire_tools.pcap.arrow import DataType, Schema
    from rocketwire_tools.pcap.files.records import Array, Records
    from rocketwire_tools.pcap.streams.flows import ChunkFrames, FrameColumns
    from rocketwire_tools.pcap.streams.header_bytes import HeaderBytes
    from rocketwire_tools.pcap.streams.reassembly import Frame

COLUMNS: Final[dict[str, DataType]] = {
    "file": pa.string(),
    "time_ns": pa.int64(),
    "end_time_ns": pa.int64(),
    "connection": pa.string(),
    "src": pa.string(),
    "src_port": pa.int32(),
    "dst": pa.string(),
    "dst_port": pa.int32(),
    "kind": pa.string(),
    "code": pa.int32(),
    "code_name": pa.string(),
    "request_code": pa.int32(),
    "opaque": pa.int32(),
    "flag": pa.int32(),
    "language": pa.string(),
    "version": pa.int32(),
    "remark": pa.string(),
    "topic": pa.string(),
    "group": pa.string(),
    "queue_id": pa.int32(),
    "frame_length": pa.int32(),
    "header_length": pa.int32(),
    "body_length": pa.int32(),
    "serialize_type": pa.string(),
    "latency_ns": pa.int64(),
    "header_ok": pa.bool_(),
    "body_ok": pa.bool_(),
    "gap": pa.bool_(),
}
"""Columns of every row; docs/guide/pcap.md describes them."""

ON_REQUEST: Final[dict[str, DataType]] = {"ext_fields": pa.string(), "body": pa.string()}
RAW_BODY: Final = "raw_body"  # Columns on request; ``selection`` makes ``body`` of ``RAW_BODY``
FOR_REPORTS: Final[dict[str, DataType]] = {
    "request_topic": pa.string(),  # of the request that a response answers
    # whether the broker held the request until a message came; ``selection`` computes it
    "held": pa.bool_(),
    RAW_BODY: pa.binary(),
}
EVERY: Final[dict[str, DataType]] = COLUMNS | ON_REQUEST | FOR_REPORTS
"""All columns that the decoder can make."""


def schema(fields: Sequence[str]) -> Schema:
    return pa.schema([(name, EVERY[name]) for name in fields])


@dataclass(slots=True)
class Rows:
    number: Array  # of the stream; that of the other direction differs in the last bit
    source: Array  # the sender, as in ``packets.Segments``
    target: Array  # the receiver
    time_ns: Array  # capture time of the first byte
    end_time_ns: Array  # capture time of the last captured byte
    first_offset: Array  # offset of the record of the first byte
    last_offset: Array  # offset of the record of the last captured byte
    header: HeaderBytes  # the encoded headers
    header_type: Array  # JSON or ROCKETMQ
    length: Array  # values of the length words
    is_complete: Array  # whether the whole body was captured
    gap: Array  # whether bytes were lost between the peers and the capture
    body: Array | None  # the bodies; None if they are not requested

    def __len__(self) -> int:
        return len(self.number)

    @property
    def size(self) -> int:
        return int(self.header.length.sum()) + (
            0 if self.body is None else sum(len(body) for body in self.body.tolist() if body)
        )

    def take(self, order: Array | slice) -> Rows:
        body = None if self.body is None else self.body[order]
        columns = {name: getattr(self, name)[order] for name in NUMBERS}
        return Rows(**columns, header=self.header.take(order), body=body)

    def sorted(self) -> Rows:
        """The rows in the order of their last captured bytes, then of their first bytes."""
        return self.take(np.lexsort((self.first_offset, self.last_offset)))


NUMBERS: Final = tuple(name for name in Rows.__dataclass_fields__ if name not in ("header", "body"))
"""The columns that are arrays of numbers."""


def concatenate(parts: Sequence[Rows]) -> Rows:
    if len(parts) == 1:
        return parts[0].sorted()
    body = None
    if any(part.body is not None for part in parts):
        body = np.concatenate(
            [np.full(len(part), None) if part.body is None else part.body for part in parts]
        )
    columns = {name: np.concatenate([getattr(part, name) for part in parts]) for name in NUMBERS}
    header = header_bytes.concatenate([part.header for part in parts])
    return Rows(**columns, header=header, body=body).sorted()


def frames_to_rows(chunk_frames: ChunkFrames) -> list[Rows]:
    """The frames of a chunk as non-empty, unsorted rows."""
    parts = [
        _columns_to_rows(chunk_frames.records, columns)
        for columns in chunk_frames.columns
        if chunk_frames.records
    ]
    return [*parts, _objects_to_rows(chunk_frames.frames)] if chunk_frames.frames else parts


def objects(values: Sequence[Any]) -> Array:
    return np.fromiter(values, np.object_, len(values))


def _columns_to_rows(records: Records, cut: FrameColumns) -> Rows:
    order = np.lexsort((cut.first, cut.last))
    first, last, length = cut.first[order], cut.last[order], cut.header_length[order]
    header_type = cut.header_type[order].astype(np.int8)
    return Rows(
        cut.number[order],
        cut.source[order],
        cut.target[order],
        records.time_ns[first],
        records.time_ns[last],
        records.file_offset[first],
        records.file_offset[last],
        header_bytes.gather(cut.buffer, cut.header[order], length),
        header_type,
        cut.length[order],
        np.ones(len(order), np.bool_),
        np.zeros(len(order), np.bool_),
        None if cut.body is None else objects(cut.body)[order],
    )


def _objects_to_rows(frames: Sequence[Frame]) -> Rows:
    stream, first, last, header, header_type, length, is_complete, gap, body = zip(
        *frames, strict=True
    )
    return Rows(
        np.array([direction.number for direction in stream], np.int64),
        np.array([direction.source for direction in stream], np.int64),
        np.array([direction.target for direction in stream], np.int64),
        np.array([packet.time_ns for packet in first], np.int64),
        np.array([packet.time_ns for packet in last], np.int64),
        np.array([packet.file_offset for packet in first], np.int64),
        np.array([packet.file_offset for packet in last], np.int64),
        header_bytes.header_bytes(header),
        np.array(header_type, np.int8),
        np.array(length, np.int64),
        np.array(is_complete, np.bool_),
        np.array(gap, np.bool_),
        None if all(content is None for content in body) else objects(body),
    )
