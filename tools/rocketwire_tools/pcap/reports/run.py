"""What the sub-commands do: captures through the engine, into files or reports."""

from __future__ import annotations

import json
import os
import sys
import time
from contextlib import ExitStack, closing
from pathlib import Path
from typing import TYPE_CHECKING, Final

from rocketwire_tools.pcap.decode.decoder import Decoder, Options, Totals
from rocketwire_tools.pcap.errors import CaptureError
from rocketwire_tools.pcap.packets.packets import UNREAD
from rocketwire_tools.pcap.rows.output import open_sink
from rocketwire_tools.pcap.rows.selection import Selection
from rocketwire_tools.pcap.streams.flows import MAX_STREAMS, MOST_KEPT

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rocketwire_tools.pcap.arrow import Batch
    from rocketwire_tools.pcap.decode.decoder import Watch
    from rocketwire_tools.pcap.reports.reports import Report


FAILED: Final = 1
WATCHING: Final = ("summary", "connections")
"""Reports that tell what connections begin with too."""
_AT_ONCE: Final = 16_384
"""Rows that a report looks at together; it makes objects of them."""
_REPORT_EVERY: Final = 0.5
"""Seconds between two lines of progress."""


class Run:
    """Several captures, one after the other.

    Args:
        captures: their paths.
        selection: what is wanted of them.
        live: whether rows are wanted as soon as they are known.
        jobs: processes that do it; for captures that can be read more than once.
        watch: see ``engine.Options``; not with several processes.

    Attributes:
        failed: whether one of them could not be read to its end.
        totals: of each capture so far.
    """

    def __init__(
        self,
        captures: Sequence[str],
        selection: Selection,
        *,
        live: bool = False,
        jobs: int = 1,
        watch: Watch | None = None,
    ) -> None:
        self._live = live
        self._jobs = jobs
        self._watch = watch
        self._captures = captures
        self._selection = selection
        self._shown = 0.0
        self._progress = sys.stderr.isatty() and not sys.stdout.isatty()
        self.failed = False
        self.totals: list[Totals] = []

    def batches(self) -> Iterator[Batch]:
        """The wanted rows; what goes wrong with a capture is said, and the next one follows."""
        with ExitStack() as stack:
            jobs = None
            if self._jobs > 1 and not self._live and any(map(_can_be_shared, self._captures)):
                from rocketwire_tools.pcap.decode.jobs import Jobs

                jobs = stack.enter_context(closing(Jobs(self._jobs, self._selection)))
            for path in self._captures:
                totals = Totals()
                self.totals.append(totals)
                try:
                    shared = jobs is not None and _can_be_shared(path)
                    for batch in (
                        jobs.decode(path, totals) if jobs and shared else self._alone(path)
                    ):
                        yield batch
                        self._show(path, self.totals[-1])
                except CaptureError as error:
                    self.failed = True
                    self._say(f"rocketwire-pcap: {error}")
                self._remark(path, self.totals[-1])

    def _alone(self, path: str) -> Iterator[Batch]:
        options = Options(
            fields=self._selection.engine_fields,
            bodies=self._selection.needs_bodies,
            eager=self._live,
            watch=self._watch,
        )
        decoder = Decoder(path, options)
        self.totals[-1] = decoder.totals
        return self._selection.rows(decoder)

    def _show(self, path: str, totals: Totals) -> None:
        now = time.monotonic()
        if not self._progress or now - self._shown < _REPORT_EVERY:
            return
        self._shown = now
        size = os.path.getsize(path) if os.path.isfile(path) else 0
        share = f" {min(100 * totals.bytes // size, 100)} %" if size else ""
        packets = f" {totals.packets:,} packets," if totals.packets else ""
        line = f"{path}:{share}{packets} {totals.frames:,} frames"
        sys.stderr.write(f"\r\x1b[K{line}")
        sys.stderr.flush()

    def _remark(self, path: str, totals: Totals) -> None:
        """Say what a reader of the rows should know."""
        if totals.truncated:
            self._say(f"{path}: the last record is not all there")
        if totals.cut_short:
            self._say(
                f"{path}: {totals.cut_short:,} packets were cut short by the capture (snaplen);"
                " frames whose header was cut are missing"
            )
        unread = {why: count for why, count in totals.skipped.items() if why.startswith(UNREAD)}
        if unread:
            reasons = ", ".join(f"{why}: {count:,}" for why, count in sorted(unread.items()))
            self._say(f"{path}: packets that were not looked into: {reasons}")
        elif totals.packets and not (totals.frames or self._selection.arguments[1]):
            reasons = ", ".join(f"{why}: {count:,}" for why, count in totals.skipped.most_common())
            self._say(
                f"{path}: no frames in {totals.packets:,} packets{reasons and f' ({reasons})'}"
            )
            from rocketwire_tools.pcap.reports.hints import tls_hint

            if (hint := tls_hint(path)) is not None:
                self._say(f"{path}: {hint}")
        if totals.forgotten:
            self._say(
                f"{path}: {totals.forgotten:,} streams were forgotten before they ended, those that were silent longest:"
                f" {MAX_STREAMS:,} are remembered at a time, and {MOST_KEPT >> 20} MiB of what is not whole in them"
            )

    def _say(self, line: str) -> None:
        front = "\r\x1b[K" if self._progress else ""
        print(f"{front}{line}", file=sys.stderr)


def _can_be_shared(path: str) -> bool:
    """Whether several processes can read it."""
    return Path(path).is_file()


def decode(
    captures: Sequence[str],
    selection: Selection,
    path: str | None,
    form: str,
    *,
    live: bool = False,
    jobs: int = 1,
) -> int:
    """Write the rows of captures.

    Args:
        captures: their paths.
        selection: what is wanted.
        path: where to; None for standard output.
        form: how, one of ``output.FORMATS``.
        live: whether rows are wanted as soon as they are known.
        jobs: processes that do it.

    Returns:
        The exit status.

    Raises:
        OSError: the output cannot be written.
    """
    run = Run(captures, selection, live=live, jobs=jobs)
    with open_sink(path, form, selection.schema) as sink:
        for batch in run.batches():
            sink.write(batch)
            if live:
                sys.stdout.flush()
    return FAILED if run.failed else 0


def report(
    name: str,
    captures: Sequence[str],
    *,
    filter_text: str | None,
    redact: str | None,
    top: int,
    as_json: bool,
    plot: str | None = None,
) -> int:
    """Print a report on captures; see ``reports``.

    Returns:
        The exit status.
    """
    from rocketwire_tools.pcap.reports.protocols import Openings
    from rocketwire_tools.pcap.reports.reports import REPORTS, as_text

    made: Report = REPORTS[name](top)
    watch = None
    if name in WATCHING:
        made = Openings(made, top, redact)
        watch = made.watch
    if plot is not None:
        from rocketwire_tools.pcap.reports.plotting import Plotted

        made = Plotted(made, plot)
    selection = Selection(made.fields, filter_text, "length", redact, report=True)
    run = Run(captures, selection, watch=watch)
    for batch in run.batches():
        for start in range(0, batch.num_rows, _AT_ONCE):
            made.take(batch.slice(start, _AT_ONCE))
    tables = made.tables(run.totals)
    if as_json:
        print(json.dumps({table.name: table.objects() for table in tables}))
    else:
        print(as_text(tables))
    return FAILED if run.failed else 0
