"""Several processes for one capture, with the rows of one process in the order of one process.

Rules of this file: every process reads the whole capture and decodes its share of the connections; connections do not touch
each other, and batches are cut by places in the file, so what comes together here is what one process gives.  Where that
ends is in docs/guide/pcap.md.
"""

from __future__ import annotations

import gc
import multiprocessing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from rocketwire_tools.pcap import arrow
from rocketwire_tools.pcap.arrow import Batch, column, pa
from rocketwire_tools.pcap.engine import CELL, Decoder, Options, Totals
from rocketwire_tools.pcap.errors import CaptureError
from rocketwire_tools.pcap.rows import PLACES
from rocketwire_tools.pcap.selection import Selection

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from multiprocessing.connection import Connection
    from multiprocessing.process import BaseProcess

    from rocketwire_tools.pcap.arrow import Schema

_SPARED_COLLECTIONS: Final = 200_000
_GRACE: Final = 5.0
"""Seconds that a process has to end."""


@dataclass(frozen=True, slots=True)
class _Cell:
    """Rows of one cell of a capture; number of the cell, and a serialized batch."""

    number: int
    rows: bytes


@dataclass(frozen=True, slots=True)
class _End:
    """A capture has come to its end, or cannot be read on."""

    totals: Totals
    error: CaptureError | None = None


class Jobs:
    """Processes that decode one capture after the other.

    Args:
        count: how many.
        selection: what is wanted of the captures.
    """

    def __init__(self, count: int, selection: Selection) -> None:
        context = multiprocessing.get_context("spawn")
        self._schema: Schema = selection.schema
        self._placed: Schema = Selection(*selection.arguments, places=True).schema
        self._pipes: list[Connection[Any, Any]] = []
        self._processes: list[BaseProcess] = []
        for number in range(count):
            ours, theirs = context.Pipe()
            process = context.Process(
                target=_work, args=(theirs, selection.arguments, (number, count)), daemon=True
            )
            process.start()
            theirs.close()
            self._pipes.append(ours)
            self._processes.append(process)

    def decode(self, path: str, totals: Totals) -> Iterator[Batch]:
        """The wanted rows of a capture, in the order of their last captured byte.

        Args:
            path: of the capture.
            totals: is brought up to date at the end.

        Raises:
            CaptureError: it cannot be read on; the rows before have been given.
        """
        shares = [_Share(pipe, path) for pipe in self._pipes]
        while unfinished := [share for share in shares if share.cell is not None]:
            number = min(share.number for share in unfinished)
            parts: list[Batch] = []
            for share in unfinished:
                parts += share.take(number, self._placed)
            batch = self._together(parts)
            totals.frames += batch.num_rows
            totals.bytes = max(totals.bytes, number * CELL)
            yield batch
        _add_up(totals, [share.end.totals for share in shares])
        for share in shares:
            if share.end.error is not None:
                raise share.end.error

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
        for pipe in self._pipes:
            pipe.close()
        for process in self._processes:
            process.terminate()
            process.join(_GRACE)


class _Share:
    """What one process says of one capture."""

    def __init__(self, pipe: Connection[Any, Any], path: str) -> None:
        self._pipe = pipe
        self._path = path
        self.end = _End(Totals())
        self.cell: _Cell | None = None
        self.number = -1
        pipe.send(path)
        self._next()

    def _next(self) -> None:
        try:
            message = self._pipe.recv()
        except EOFError as error:
            raise CaptureError(
                self._path, None, "a process that decoded it has ended by itself"
            ) from error
        self.cell = message if isinstance(message, _Cell) else None
        if isinstance(message, _End):
            self.end = message
        if self.cell is not None:
            self.number = max(self.number, self.cell.number)

    def take(self, number: int, schema: Schema) -> Iterator[Batch]:
        """The rows of the cell with that number."""
        while self.cell is not None and self.number == number:
            yield arrow.unpacked(self.cell.rows, schema)
            self._next()


def _add_up(totals: Totals, parts: Sequence[Totals]) -> None:
    """All processes see all packets; only streams are forgotten by each on its own."""
    one = parts[0]
    totals.packets, totals.bytes = one.packets, one.bytes
    totals.truncated, totals.cut_short = one.truncated, one.cut_short
    totals.skipped = one.skipped
    totals.forgotten = sum(part.forgotten for part in parts)


def _work(pipe: Connection[Any, Any], arguments: tuple[Any, ...], share: tuple[int, int]) -> None:
    """Run one process: decode a share of each capture whose path comes."""
    gc.set_threshold(_SPARED_COLLECTIONS, 50, 1000)
    selection = Selection(*arguments, places=True)
    try:
        while True:
            pipe.send(_decode(pipe, pipe.recv(), selection, share))
    except (EOFError, BrokenPipeError, KeyboardInterrupt):
        return  # nobody wants any more


def _decode(
    pipe: Connection[Any, Any], path: str, selection: Selection, share: tuple[int, int]
) -> _End:
    options = Options(fields=selection.engine_fields, bodies=selection.needs_bodies, share=share)
    decoder = Decoder(path, options)
    try:
        for batch in selection.rows(decoder):
            number = int(batch.column(PLACES[0]).to_numpy()[0]) // CELL
            pipe.send(_Cell(number, arrow.packed(batch)))
    except CaptureError as error:
        return _End(decoder.totals, error)
    return _End(decoder.totals)
