"""``decode``: a capture in, batches of rows out.

Rules of this file: memory is bounded, whatever the capture: rows wait for those that were captured before them and are not
known yet, but not without end.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import numpy as np

from rocketwire_tools.pcap.batches import BatchBuilder
from rocketwire_tools.pcap.capture import CHUNK_SIZE, CaptureReader
from rocketwire_tools.pcap.flows import MAX_STREAMS, Flows, Found
from rocketwire_tools.pcap.inputs import open_input
from rocketwire_tools.pcap.packets import Addresses, Skipped, segments
from rocketwire_tools.pcap.pairing import Pairing
from rocketwire_tools.pcap.rows import COLUMNS, Rows, joined, rows_of
from rocketwire_tools.pcap.segments import Limits

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rocketwire_tools.pcap.arrow import Batch


MOST_WAITING: Final = 65_536
"""Rows that wait for others that were captured before them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How a capture is decoded.

    Attributes:
        fields: the columns of the rows.
        bodies: whether bodies are kept.
        limits: how long is waited for missing segments.
        chunk_size: bytes looked at together.
        max_streams: streams remembered at a time.
        careful: take no short way.
        eager: take what has come, however little, instead of waiting for a chunk.
    """

    fields: Sequence[str] = tuple(COLUMNS)
    bodies: bool = False
    limits: Limits = field(default_factory=Limits)
    chunk_size: int = CHUNK_SIZE
    max_streams: int = MAX_STREAMS
    careful: bool = False
    eager: bool = False


@dataclass(slots=True)
class Totals:
    """What has been seen so far.

    Attributes:
        packets: records read.
        bytes: bytes of packets, as captured.
        frames: rows given.
        truncated: whether the capture ends within a record.
        skipped: packets that were not looked into, by reason.
        forgotten: streams that were forgotten because there were too many.
        cut_short: packets of which not all bytes were captured.
    """

    packets: int = 0
    bytes: int = 0
    frames: int = 0
    truncated: bool = False
    skipped: Counter[str] = field(default_factory=Counter[str])
    forgotten: int = 0
    cut_short: int = 0


class Decoder:
    """Decodes one capture.

    Args:
        path: of the capture, ``-`` for standard input.
        options: how.

    Attributes:
        totals: what has been seen so far.
        pairing: the requests without an answer so far.
    """

    def __init__(self, path: str, options: Options | None = None) -> None:
        self._path = path
        self._options = Options() if options is None else options
        self._addresses = Addresses()
        self._skipped = Skipped()
        self._flows = Flows(
            self._options.limits, bodies=self._options.bodies, max_streams=self._options.max_streams
        )
        self._flows.careful = self._options.careful
        self.totals = Totals(skipped=self._skipped.reasons)
        self.pairing = Pairing()
        self._builder = BatchBuilder(path, self._options.fields, self._addresses, self.pairing)
        self._waiting: list[Rows] = []

    def __iter__(self) -> Iterator[Batch]:
        """Give the rows, in the order of their last captured byte.

        Raises:
            CaptureError: it cannot be read on; the rows before have been given.
        """
        for rows in self._rows():
            self.totals.frames += len(rows)
            yield self._builder.batch(rows)

    def _rows(self) -> Iterator[Rows]:
        source = open_input(self._path)
        try:
            reader = CaptureReader(
                self._path,
                source,
                chunk_size=self._options.chunk_size,
                eager=self._options.eager,
            )
            try:
                for records in reader:
                    self.totals.packets += len(records.time_ns)
                    self.totals.bytes += int(records.captured.sum())
                    self.totals.cut_short += int((records.captured < records.wire).sum())
                    found = self._flows.feed(
                        records, segments(records, self._addresses, self._skipped)
                    )
                    yield from self._release(rows_of(found), int(records.time_ns[-1]))
            finally:
                self.totals.truncated = reader.truncated
                self.totals.forgotten = self._flows.forgotten
            none = np.zeros(0, np.int64)
            rows = rows_of(Found(none, none, [], self._flows.finish()))
            yield from self._release(rows, None)
        finally:
            source.close()

    def _release(self, rows: Rows | None, now: int | None) -> Iterator[Rows]:
        """Give the rows that nothing can come before any more; all of them at the end.

        If too many wait, a body on which nothing has come for long holds them up no longer.
        """
        if rows is not None:
            self._waiting.append(rows)
        before = None
        if now is not None:
            before = self._flows.waits_since()
            if sum(map(len, self._waiting)) > MOST_WAITING:
                before = self._flows.waits_since(now - self._options.limits.hold_ns)
        ready = any(before is None or part.last_where[0] < before for part in self._waiting)
        if not ready:
            return
        together = joined(self._waiting)
        count = len(together)
        if before is not None:
            count = int(np.searchsorted(together.last_where, before))
        yield together.take(slice(count))
        self._waiting = [together.take(slice(count, None))] if count < len(together) else []
