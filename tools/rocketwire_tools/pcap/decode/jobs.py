"""``Jobs``: decodes a capture in several processes, with the rows in the order of one process.

Each pair of processes decodes a share of the connections: the front cuts frames, the back reads
headers and makes columns. With two processes, this process is the back. Connections are
independent, and positions in the file determine the batches, so the merged rows equal those of one
process. docs/guide/pcap.md describes the limits.
"""

from __future__ import annotations

import multiprocessing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from rocketwire_tools.pcap import arrow
from rocketwire_tools.pcap.arrow import Batch, column, pa
from rocketwire_tools.pcap.decode.decoder import CELL, Totals
from rocketwire_tools.pcap.decode.pipeline import ENDED, Back, End, run_back, run_front
from rocketwire_tools.pcap.errors import CaptureError
from rocketwire_tools.pcap.files.series import Series
from rocketwire_tools.pcap.rows.rows import PLACES
from rocketwire_tools.pcap.rows.selection import Selection

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from multiprocessing.connection import Connection
    from multiprocessing.process import BaseProcess

    from rocketwire_tools.pcap.arrow import Schema
    from rocketwire_tools.pcap.decode.pipeline import Cell

    Pipe = Connection[Any, Any]

_GRACE: Final = 5.0
"""Seconds for a process to end."""


@dataclass(frozen=True, slots=True)
class _Worker:
    """The processes of a share of the connections.

    Attributes:
        captures: sends series of captures to them.
        rows: receives their results.
    """

    captures: Pipe
    rows: Pipe


class Jobs:
    """Processes that decode series of captures, one after the other.

    Args:
        count: number of processes, including this one; at least 2.
        selection: selects rows.
    """

    def __init__(self, count: int, selection: Selection) -> None:
        self._context = multiprocessing.get_context("spawn")
        self._selection = selection
        self._schema: Schema = selection.schema
        self._placed: Schema = Selection(*selection.arguments, places=True).schema
        self._processes: list[BaseProcess] = []
        self._direct = count == 2
        shares = max(count // 2, 1)
        self._workers = [self._start((number, shares)) for number in range(shares)]

    def _start(self, share: tuple[int, int]) -> _Worker:
        arguments = self._selection.arguments
        series_in, series_out = self._context.Pipe(duplex=False)
        rows_in, frames_out = self._context.Pipe(duplex=False)
        self._run(run_front, series_in, frames_out, arguments, share)
        if not self._direct:
            cells_in, cells_out = self._context.Pipe(duplex=False)
            self._run(run_back, rows_in, cells_out, arguments)
            rows_in = cells_in
        return _Worker(series_out, rows_in)

    def _run(self, work: Callable[..., None], source: Pipe, sink: Pipe, *arguments: Any) -> None:
        process = self._context.Process(target=work, args=(source, sink, *arguments), daemon=True)
        process.start()
        source.close()
        sink.close()
        self._processes.append(process)

    def decode(self, captures: str | Series, totals: Totals) -> Iterator[Batch]:
        """Decode the selected rows in the order of their last captured bytes.

        Args:
            captures: path of a capture, or a series, of which the first files are read that
                continue each other.
            totals: updated at the end.

        Raises:
            CaptureError: the only capture is damaged; the rows before have been returned.
        """
        series = Series.of(captures)
        for worker in self._workers:
            worker.captures.send(series)
        if not self._direct:
            yield from self._merged(series, totals)
            return
        back = Back(series, self._workers[0].rows, self._selection)
        for batch in back.batches():
            totals.frames += batch.num_rows
            totals.bytes = back.end.totals.bytes
            yield batch
        _finish(totals, [back.end])

    def _merged(self, series: Series, totals: Totals) -> Iterator[Batch]:
        shares = [_Share(worker.rows, series.paths[0]) for worker in self._workers]
        while unfinished := [share for share in shares if share.cell is not None]:
            number = min(share.number for share in unfinished)
            parts: list[Batch] = []
            for share in unfinished:
                parts += share.take(number, self._placed)
            batch = self._together(parts)
            totals.frames += batch.num_rows
            totals.bytes = max(totals.bytes, number * CELL)
            yield batch
        _finish(totals, [share.end for share in shares])

    def _together(self, parts: Sequence[Batch]) -> Batch:
        """Merge the rows of a cell, without their places."""
        table = pa.Table.from_batches(parts)
        if len(parts) > 1:
            last, first = (table.column(name).to_numpy() for name in PLACES)
            table = table.take(column(np.lexsort((first, last))))
        table = table.combine_chunks()
        batch: Batch = table.to_batches()[0]
        return arrow.batch([batch.column(name) for name in self._schema.names], self._schema)

    def close(self) -> None:
        """End the processes."""
        for worker in self._workers:
            worker.captures.close()
            worker.rows.close()
        for process in self._processes:
            process.terminate()
            process.join(_GRACE)


class _Share:
    """The results of a worker for a capture."""

    def __init__(self, pipe: Pipe, path: str) -> None:
        self._pipe = pipe
        self._path = path
        self.end = End(Totals())
        self.cell: Cell | None = None
        self.number = -1
        self._next()

    def _next(self) -> None:
        try:
            message: Cell | End = self._pipe.recv()
        except EOFError as error:
            raise CaptureError(self._path, None, ENDED) from error
        if isinstance(message, End):
            self.cell, self.end = None, message
        else:
            self.cell = message
            self.number = max(self.number, message.number)

    def take(self, number: int, schema: Schema) -> Iterator[Batch]:
        """The rows of the cell with that number."""
        while self.cell is not None and self.number == number:
            yield arrow.unpacked(self.cell.rows, schema)
            self._next()


def _finish(totals: Totals, ends: Sequence[End]) -> None:
    """Merge totals: all fronts see all packets, but only the streams of their share.

    Raises:
        CaptureError: a front could not read the capture.
    """
    first = ends[0].totals
    totals.packets, totals.bytes = first.packets, first.bytes
    totals.truncated, totals.cut_short = first.truncated, first.cut_short
    totals.ends_within, totals.files = first.ends_within, first.files
    totals.failures = first.failures
    totals.skipped = first.skipped
    totals.forgotten = sum(end.totals.forgotten for end in ends)
    totals.unanswered = sum(end.totals.unanswered for end in ends)
    for end in ends:
        if end.error is not None:
            raise end.error
