"""Decodes in two processes: the front cuts frames, the back reads their headers and makes columns.

Each batch is sent as a few large pieces, arrays and all headers as one text, because every small
object costs time in both processes. The back receives some batches ahead, so that neither process
waits.
"""

from __future__ import annotations

import queue
import threading
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from rocketwire_tools.memory import prepare_process
from rocketwire_tools.pcap import arrow
from rocketwire_tools.pcap.decode.decoder import CELL, Decoder, Options, Totals
from rocketwire_tools.pcap.errors import CaptureError
from rocketwire_tools.pcap.packets.packets import Addresses
from rocketwire_tools.pcap.rows.batches import BatchBuilder
from rocketwire_tools.pcap.rows.file_names import FileNames
from rocketwire_tools.pcap.rows.pairing import Pairing
from rocketwire_tools.pcap.rows.rows import NUMBERS, PLACES, Rows, objects
from rocketwire_tools.pcap.rows.selection import Selection

if TYPE_CHECKING:
    from collections.abc import Iterator
    from multiprocessing.connection import Connection

    import numpy as np

    from rocketwire_tools.pcap.arrow import Batch
    from rocketwire_tools.pcap.files.series import Series
    from rocketwire_tools.pcap.streams.header_bytes import HeaderBytes

    Array = np.ndarray[Any, Any]
    Pipe = Connection[Any, Any]

ENDED: Final = "a process that decoded it has ended by itself"
_AHEAD: Final = 2
"""Batches that the back receives ahead."""


@dataclass(frozen=True, slots=True)
class Sent:
    """A batch of rows for the back.

    Attributes:
        arrays: the numeric columns by name.
        headers: all headers.
        bodies: all bodies; None if they are not requested.
        addresses: IPv6 addresses of these rows, by number.
        files: offset and path of each file so far.
        totals: counts so far.
    """

    arrays: dict[str, Array]
    headers: HeaderBytes
    bodies: list[bytes | None] | None
    addresses: dict[int, bytes]
    files: list[tuple[int, str]]
    totals: Totals


@dataclass(frozen=True, slots=True)
class Cell:
    """The rows of a cell of a capture: its number, and a serialized batch."""

    number: int
    rows: bytes


@dataclass(frozen=True, slots=True)
class End:
    """The end of a capture, or an error."""

    totals: Totals
    error: CaptureError | None = None


# ---------------------------------------------------------------------------- front


def run_front(
    captures: Pipe, frames: Pipe, arguments: tuple[Any, ...], share: tuple[int, int]
) -> None:
    """Run a front: cut the frames of a share of each series of captures.

    Args:
        captures: receives series.
        frames: sends a series, its rows, and an end.
        arguments: of the selection.
        share: see ``decoder.Options``.
    """
    prepare_process()
    selection = Selection(*arguments, places=True)
    options = Options(bodies=selection.needs_bodies, share=share)
    try:
        while True:
            series: Series = captures.recv()
            frames.send(series)
            frames.send(_find(Decoder(series, options), frames))
    except (EOFError, BrokenPipeError, KeyboardInterrupt):
        return  # the receiver has ended


def _find(decoder: Decoder, frames: Pipe) -> End:
    try:
        for rows in decoder.rows():
            addresses = decoder.addresses.of_ends(rows.source, rows.target)
            arrays = {name: getattr(rows, name) for name in NUMBERS}
            body = None if rows.body is None else rows.body.tolist()
            sent = Sent(
                arrays, rows.header.packed(), body, addresses, decoder.files.begun, decoder.totals
            )
            frames.send(sent)
    except CaptureError as error:
        return End(decoder.totals, error)
    return End(decoder.totals)


def _rows(sent: Sent) -> Rows:
    body = None if sent.bodies is None else objects(sent.bodies)
    return Rows(header=sent.headers, body=body, **sent.arrays)


# ---------------------------------------------------------------------------- back


class Back:
    """Makes batches of a front's frames.

    Args:
        series: the captures.
        pipe: receives messages of the front.
        selection: selects rows.

    Attributes:
        end: totals of the front so far.
    """

    def __init__(self, series: Series, pipe: Pipe, selection: Selection) -> None:
        self._path = series.paths[0]
        self._selection = selection
        self.end = End(Totals())
        self._pairing = Pairing()
        self._messages: queue.Queue[Sent | End] = queue.Queue(_AHEAD)
        threading.Thread(target=self._take, args=(pipe,), daemon=True).start()

    def _take(self, pipe: Pipe) -> None:
        message: Sent | End | Series | None = None
        while not isinstance(message, End):
            try:
                message = pipe.recv()
            except (EOFError, OSError):
                message = End(self.end.totals, CaptureError(self._path, None, ENDED))
            if isinstance(message, Sent | End):
                self._messages.put(message)

    def batches(self) -> Iterator[Batch]:
        """The selected rows; sets ``end``."""
        return self._selection.rows(self._made())

    def _made(self) -> Iterator[Batch]:
        addresses = Addresses()
        files = FileNames(self._path)
        builder = BatchBuilder(files, self._selection.engine_fields, addresses, self._pairing)
        while not isinstance(message := self._messages.get(), End):
            self.end = End(message.totals)
            addresses.learn(message.addresses)
            files.learn(message.files)
            yield from builder.add(_rows(message))
        yield from builder.rest()
        unanswered = self._pairing.unanswered + self._pairing.waiting
        self.end = End(replace(message.totals, unanswered=unanswered), message.error)


def run_back(rows: Pipe, cells: Pipe, arguments: tuple[Any, ...]) -> None:
    """Run a back in a process of its own.

    Args:
        rows: receives messages of a front.
        cells: sends the cells of each capture, and an end.
        arguments: of the selection.
    """
    prepare_process()
    selection = Selection(*arguments, places=True)
    try:
        while True:
            back = Back(rows.recv(), rows, selection)
            for batch in back.batches():
                number = int(batch.column(PLACES[0]).to_numpy()[0]) // CELL
                cells.send(Cell(number, arrow.packed(batch)))
            cells.send(back.end)
    except (EOFError, BrokenPipeError, KeyboardInterrupt):
        return  # the receiver has ended
