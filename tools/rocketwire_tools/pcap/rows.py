"""The rows that come out, and the frames of a chunk in the order of their last captured byte."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from rocketwire_tools.pcap.arrow import pa

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rocketwire_tools.pcap.arrow import DataType, Schema
    from rocketwire_tools.pcap.flows import Found
    from rocketwire_tools.pcap.segments import Frame

    Array = np.ndarray[Any, Any]

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
"""Every row has these; their meaning is in docs/guide/pcap.md."""

ON_REQUEST: Final[dict[str, DataType]] = {"ext_fields": pa.string(), "body": pa.string()}
RAW_BODY: Final = "raw_body"
"""Columns that have to be asked for; ``body`` is made of ``RAW_BODY`` by ``selection``."""


PLACES: Final = ("last_where", "first_where")
"""Columns of numbers that rows of several decoders are brought into one order by."""
EVERY: Final[dict[str, DataType]] = (
    COLUMNS | ON_REQUEST | {RAW_BODY: pa.binary()} | dict.fromkeys(PLACES, pa.int64())
)
"""All that can be asked of the engine."""


def schema(fields: Sequence[str]) -> Schema:
    """The schema of rows with these columns."""
    made: Schema = pa.schema([(name, EVERY[name]) for name in fields])
    return made


@dataclass(slots=True)
class Rows:
    """Frames as columns of numpy, in the order of their last captured byte.

    Attributes:
        stream: the stream of each.
        time_ns: capture time of the first byte.
        end_time_ns: of the last captured byte.
        first_where: offset of the record of the first byte.
        last_where: offset of the record of the last captured byte.
        header: the headers, undecoded.
        header_type: JSON or ROCKETMQ.
        length: values of the length words.
        whole: whether the body is all there.
        gap: whether some of it was lost between the peers and the capture.
        body: the bodies, where they are wanted.
    """

    stream: Array
    time_ns: Array
    end_time_ns: Array
    first_where: Array
    last_where: Array
    header: Array
    header_type: Array
    length: Array
    whole: Array
    gap: Array
    body: Array

    def __len__(self) -> int:
        return len(self.stream)

    def take(self, order: Array | slice) -> Rows:
        """These rows, in this order."""
        return Rows(*(getattr(self, name)[order] for name in _PARTS))


_PARTS: Final = tuple(Rows.__dataclass_fields__)


def joined(parts: Sequence[Rows]) -> Rows:
    """Rows of several parts, sorted."""
    if len(parts) == 1:
        return parts[0]
    together = Rows(*(np.concatenate([getattr(part, name) for part in parts]) for name in _PARTS))
    return together.take(np.lexsort((together.first_where, together.last_where)))


def rows_of(found: Found) -> Rows | None:
    """The frames of a chunk, sorted; None if there are none."""
    parts = [part for part in (_of_cuts(found), _of_frames(found.frames)) if part is not None]
    return joined(parts) if parts else None


def _objects(values: Sequence[Any]) -> Array:
    return np.fromiter(values, np.object_, len(values))


def _of_cuts(found: Found) -> Rows | None:
    if not found.cuts:
        return None
    stream, first, last, header, kind, length, body = zip(*found.cuts, strict=True)
    of_first, of_last = np.array(first, np.int64), np.array(last, np.int64)
    order = np.lexsort((of_first, of_last))
    count = len(order)
    return Rows(
        _objects(stream)[order],
        found.times[of_first[order]],
        found.times[of_last[order]],
        found.where[of_first[order]],
        found.where[of_last[order]],
        _objects(header)[order],
        np.array(kind, np.int8)[order],
        np.array(length, np.int64)[order],
        np.ones(count, np.bool_),
        np.zeros(count, np.bool_),
        _objects(body)[order],
    )


def _of_frames(frames: Sequence[Frame]) -> Rows | None:
    if not frames:
        return None
    stream, first, last, header, kind, length, whole, gap, body = zip(*frames, strict=True)
    rows = Rows(
        _objects(stream),
        np.array([place.time_ns for place in first], np.int64),
        np.array([place.time_ns for place in last], np.int64),
        np.array([place.where for place in first], np.int64),
        np.array([place.where for place in last], np.int64),
        _objects(header),
        np.array(kind, np.int8),
        np.array(length, np.int64),
        np.array(whole, np.bool_),
        np.array(gap, np.bool_),
        _objects(body),
    )
    return rows.take(np.lexsort((rows.first_where, rows.last_where)))
