"""Runs sub-commands: decodes captures into files or reports."""

from __future__ import annotations

import json
import os
import sys
import time
from collections import deque
from pathlib import Path
from typing import TYPE_CHECKING, Final

from rocketwire_tools.pcap.decode.decoder import Decoder, Options, Totals
from rocketwire_tools.pcap.errors import CaptureError
from rocketwire_tools.pcap.files.series import series
from rocketwire_tools.pcap.packets.packets import UNREAD
from rocketwire_tools.pcap.rows.output import open_sink
from rocketwire_tools.pcap.rows.selection import Selection
from rocketwire_tools.pcap.streams.flows import MAX_KEPT, MAX_STREAMS
from rocketwire_tools.terminal import escape_line_breaks, printable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rocketwire_tools.pcap.arrow import Batch
    from rocketwire_tools.pcap.decode.decoder import Watch
    from rocketwire_tools.pcap.files.series import Series
    from rocketwire_tools.pcap.reports.reports import Report, Table

FAILED: Final = 1
WATCHING: Final = ("summary", "connections")  # Reports that include the protocols of connections
_AT_ONCE: Final = 16_384  # Rows that a report turns into objects at once
_REPORT_EVERY: Final = 0.5  # Seconds between two lines of progress


class CaptureRun:
    def __init__(
        self,
        captures: Sequence[str],  # their paths
        selection: Selection,  # selects rows
        *,
        live: bool = False,  # return rows as soon as they are known
        # which captures are decoded as one, see ``files.series``; none if ``live``
        join: str = "auto",
        watch: Watch | None = None,  # see ``decoder.Options``
    ) -> None:
        self._live = live
        self._join = "none" if live else join
        self._watch = watch
        self._captures = captures
        self._selection = selection
        self._shown = 0.0
        self._progress = sys.stderr.isatty() and not sys.stdout.isatty()
        self.failed = False  # whether a capture could not be read to its end
        self.rows = 0  # selected so far
        self.totals: list[Totals] = []  # of each capture, or series of captures, so far

    def batches(self) -> Iterator[Batch]:
        """The selected rows. If a capture cannot be read, an error is printed, and the next one
        follows."""
        waiting = deque(series(self._captures, self._join))
        while waiting:
            captures = waiting.popleft()
            self.totals.append(Totals())
            try:
                for batch in self._decode(captures):
                    self.rows += batch.num_rows
                    yield batch
                    self._show_progress(captures, self.totals[-1])
            except CaptureError as error:
                self.totals[-1].failures.append(error)
                self.totals[-1].files = len(captures.paths)
            totals = self.totals[-1]
            for failure in totals.failures:
                self.failed = True
                self._print(f"rocketwire-pcap: {failure}")
            self._print_remarks(captures, totals)
            if (next_series := captures.rest(totals.files)) is not None:
                waiting.appendleft(next_series)

    def status(self) -> int:
        """The exit status; prints an error if there are frames and the filter selects none."""
        frames = sum(totals.frames for totals in self.totals)
        if self._selection.is_filtered and frames and not self.rows:
            self._print(f"rocketwire-pcap: --filter matches none of {frames:,} frames")
            return FAILED
        return FAILED if self.failed else 0

    def _decode(self, captures: Series) -> Iterator[Batch]:
        options = Options(
            fields=self._selection.engine_fields,
            bodies=self._selection.needs_bodies,
            eager=self._live,
            watch=self._watch,
        )
        decoder = Decoder(captures, options)
        self.totals[-1] = decoder.totals
        return self._selection.rows(decoder)

    def _show_progress(self, captures: Series, totals: Totals) -> None:
        now = time.monotonic()
        if not self._progress or now - self._shown < _REPORT_EVERY:
            return
        self._shown = now
        path = captures.paths[0]
        size = sum(
            os.path.getsize(file_path) for file_path in captures.paths if os.path.isfile(file_path)
        )
        share = f" {min(100 * totals.bytes // size, 100)} %" if size else ""
        packets = f" {totals.packets:,} packets," if totals.packets else ""
        line = f"{printable(path)}:{share}{packets} {totals.frames:,} frames"
        sys.stderr.write(f"\r\x1b[K{line}")
        sys.stderr.flush()

    def _print_remarks(self, captures: Series, totals: Totals) -> None:
        path = captures.name(totals.files)
        for file_path in captures.paths[: totals.files]:
            if Path(file_path).is_file() and not Path(file_path).stat().st_size:
                self._print(f"{file_path}: the file is empty")
        for file_path in totals.ends_within:
            self._print(f"{file_path}: the last record is incomplete")
        if totals.cut_short:
            self._print(
                f"{path}: {totals.cut_short:,} packets were cut short by the capture (snaplen);"
                " frames whose header was cut are missing"
            )
        unread = {why: count for why, count in totals.skipped.items() if why.startswith(UNREAD)}
        if unread:
            reasons = ", ".join(f"{why}: {count:,}" for why, count in sorted(unread.items()))
            self._print(f"{path}: packets that were not decoded: {reasons}")
        elif totals.packets and not (totals.frames or self._selection.is_filtered):
            reasons = ", ".join(f"{why}: {count:,}" for why, count in totals.skipped.most_common())
            self._print(
                f"{path}: no frames in {totals.packets:,} packets{reasons and f' ({reasons})'}"
            )
            from rocketwire_tools.pcap.reports.protocols import tls_hint

            for file_path in captures.paths[: totals.files]:
                if (hint := tls_hint(file_path)) is not None:
                    self._print(f"{file_path}: {hint}")
        if totals.forgotten:
            self._print(
                f"{path}: {totals.forgotten:,} streams were forgotten before they ended, silent"
                f" ones first: the limits are {MAX_STREAMS:,} streams and {MAX_KEPT >> 20} MiB of"
                " incomplete data"
            )

    def _print(self, line: str) -> None:
        front = "\r\x1b[K" if self._progress else ""
        print(f"{front}{printable(line)}", file=sys.stderr)


def decode(
    captures: Sequence[str],  # their paths
    selection: Selection,  # selects rows
    path: str | None,  # of the output; None for standard output
    form: str,  # a format of ``output.FORMATS``
    *,
    live: bool = False,  # write rows as soon as they are known
    join: str = "auto",  # which captures are decoded as one
) -> int:
    run = CaptureRun(captures, selection, live=live, join=join)
    with open_sink(path, form, selection.schema) as sink:
        for batch in run.batches():
            sink.write(batch)
            if live:
                sys.stdout.flush()
    return run.status()


def report(
    name: str,
    captures: Sequence[str],
    *,
    filter_text: str | None,
    redact: str | None,
    top: int,
    as_json: bool,
    plot: str | None = None,
    join: str = "auto",
) -> int:
    from rocketwire_tools.pcap.reports.protocols import OpeningReport
    from rocketwire_tools.pcap.reports.reports import REPORTS

    tables_report: Report = REPORTS[name](top)
    watch = None
    if name in WATCHING:
        tables_report = OpeningReport(tables_report, top, redact)
        watch = tables_report.watch
    if plot is not None:
        from rocketwire_tools.pcap.reports.plotting import PlottedReport

        tables_report = PlottedReport(tables_report, plot)
    selection = Selection(tables_report.fields, filter_text, "length", redact, report=True)
    run = CaptureRun(captures, selection, join=join, watch=watch)
    for batch in run.batches():
        for start in range(0, batch.num_rows, _AT_ONCE):
            tables_report.take(batch.slice(start, _AT_ONCE))
    if not (status := run.status()) or run.rows:
        _write(tables_report.tables(run.totals), as_json=as_json)
    return status


def _write(tables: Sequence[Table], *, as_json: bool) -> None:
    from rocketwire_tools.pcap.reports.reports import as_text

    if as_json:
        print(
            escape_line_breaks(
                json.dumps({table.name: table.objects() for table in tables}).encode()
            ).decode()
        )
    else:
        print(as_text(tables))
