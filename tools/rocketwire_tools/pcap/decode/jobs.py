"""Several processes for one capture, with the rows of one process in the order of one process.

Rules of this file: every two processes decode a share of the connections, one of them (the front) finds frames, the other (the
back) reads their headers and makes columns; of two processes in all, the one that was asked is the back.  Connections do not
touch each other, and batches are cut by places in the file, so what comes together here is what one process gives.  Where that
ends is in docs/guide/pcap.md.
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
"""Seconds that a process has to end."""


@dataclass(frozen=True, slots=True)
class _Worker:
    """The processes of one share of the connections.

    Attributes:
        captures: takes series of them.
        rows: gives what comes of them.
    """

    captures: Pipe
    rows: Pipe


class Jobs:
    """Processes that decode one series of captures after the other.

    Args:
        count: how many, the one that asks included; at least 2.
        selection: what is wanted of the captures.
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
        asked, captures = self._context.Pipe(duplex=False)
        rows, found = self._context.Pipe(duplex=False)
        self._run(run_front, asked, found, arguments, share)
        if not self._direct:
            cells, made = self._context.Pipe(duplex=False)
            self._run(run_back, rows, made, arguments)
            rows = cells
        return _Worker(captures, rows)

    def _run(self, work: Callable[..., None], source: Pipe, sink: Pipe, *more: Any) -> None:
        process = self._context.Process(target=work, args=(source, sink, *more), daemon=True)
        process.start()
        source.close()
        sink.close()
        self._processes.append(process)

    def decode(self, captures: str | Series, totals: Totals) -> Iterator[Batch]:
        """The wanted rows of captures, in the order of their last captured byte.

        Args:
            captures: path of one, or several; of these as many are read as continue each other.
            totals: is brought up to date at the end.

        Raises:
            CaptureError: the only one cannot be read on; the rows before have been given.
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
        """Rows of one cell in order, without their places."""
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
    """What one worker says of one capture."""

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
    """Add up: all fronts see all packets; streams are forgotten, and requests not answered, by share.

    Raises:
        CaptureError: a front could not read on.
    """
    one = ends[0].totals
    totals.packets, totals.bytes = one.packets, one.bytes
    totals.truncated, totals.cut_short = one.truncated, one.cut_short
    totals.ends_within, totals.files = one.ends_within, one.files
    totals.failures = one.failures
    totals.skipped = one.skipped
    totals.forgotten = sum(end.totals.forgotten for end in ends)
    totals.unanswered = sum(end.totals.unanswered for end in ends)
    for end in ends:
        if end.error is not None:
            raise end.error
