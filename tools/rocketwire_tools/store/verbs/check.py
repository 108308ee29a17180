"""``check``: whether a store is whole, and where a broker would cut its log."""

from __future__ import annotations

import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from rocketwire_tools.store.checks.findings import RULES, Findings
from rocketwire_tools.store.checks.index_check import IndexCheck
from rocketwire_tools.store.checks.log_check import LogCheck
from rocketwire_tools.store.checks.members import check_epochs
from rocketwire_tools.store.checks.next_start import NextStart, next_start
from rocketwire_tools.store.checks.queue_check import QueueCheck
from rocketwire_tools.store.checks.side_files import (
    check_checkpoint,
    check_config,
    check_databases,
    check_log_folder,
    check_timers,
)
from rocketwire_tools.store.checks.store_facts import configured_topics
from rocketwire_tools.store.checks.unread import add_unread, leave_out_unreadable
from rocketwire_tools.store.lookup import at_physical_offset
from rocketwire_tools.store.opened import OpenedStore
from rocketwire_tools.store.output import json_line, with_progress, write_table
from rocketwire_tools.terminal import ProgressLine, printable

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable

    from rocketwire_tools.store.checks.findings import Finding
    from rocketwire_tools.store.engine.rows import Rows


class StoreCheck:
    """One check of a store.

    Attributes:
        findings: what was found.
        unread: what cannot be read.
        log: counts of the log.
        start: where a broker would cut the log; None if the log is empty or not all was read.
        is_in_use: whether a broker runs on the store.
        has_queues: whether the store has queues in files, or should have.
    """

    def __init__(self, store: OpenedStore) -> None:
        self.store = store
        self.findings = Findings()
        self.unread = leave_out_unreadable(store.folder, self.findings)
        self.is_in_use = store.is_in_use()
        self.start: NextStart | None = None
        files = store.folder.commit_log
        start = files[0].offset if files else 0
        may_lag = self.is_in_use or store.abort is not None
        folder = store.folder
        self.index = IndexCheck(
            self.findings,
            folder.index,
            log_start=start,
            message_at=self._message_at,
            unread=self.unread,
        )
        self.queues = QueueCheck(
            self.findings,
            folder.queues,
            folder.batch_queues,
            log_start=start,
            may_lag=may_lag,
            is_in_use=self.is_in_use,
            extensions=folder.extensions,
            rocksdb=store.rocks_queues,
            # their settings take 50 MB, and their queues have the same names
            topics=frozenset(map(sys.intern, configured_topics(store))),
            unread=self.unread,
        )
        has_rocksdb = any(name.startswith("consumequeue") for name in folder.rocksdb)
        is_root = bool(folder.plain or folder.config) and not has_rocksdb
        has_queues = bool(store.queue_names) or store.rocks_queues is not None or is_root
        self.log = LogCheck(
            findings=self.findings,
            queues=self.queues if has_queues else None,
            index=self.index if folder.index else None,
            is_moving=self.is_in_use,
            unread=self.unread,
        )
        self._log_start = start
        self.has_queues = has_queues

    def _message_at(self, offset: int) -> Rows | None:
        message = at_physical_offset(self.store, offset, "index file")
        return None if message is None else message.rows()

    def run(self) -> None:
        """Check everything."""
        store = self.store
        scans = list(store.scans())
        for scan in scans:
            scan.unreadable = self.unread.log
            self.log.run(scan, with_progress(scan))
        end = self.log.end
        if self.has_queues:
            with ProgressLine("{:,} queues") as line:
                self.queues.finish(log_end=end if self.is_in_use else None, progress=line.show)
        if store.folder.index:
            self.index.finish(log_end=end if self.is_in_use else None)
        self._check_side_files(end)
        if store.folder.commit_log and not (self.unread or self.is_in_use):
            self.start = next_start(store, self.log, scans[0])

    def _check_side_files(self, end: int) -> None:
        store, findings = self.store, self.findings
        check_log_folder(store, findings)
        # without some files of the log nothing says whether a timer's message is there
        log_start = 1 << 63 if self.unread.log else self._log_start
        try:
            check_config(store, findings)
            check_databases(store, findings)
            check_timers(store, findings, log_start)
            if not self.unread.log and not self.is_in_use:
                check_epochs(store, findings, end)
            if self.log.messages and not self.is_in_use and not self.unread.log:
                check_checkpoint(store, findings, self.log.newest, end)
        except OSError as error:
            self.unread.others.append(str(error.filename))
            add_unread(findings, str(error.filename or ""), error)

    def summary(self) -> dict[str, Any]:
        """Counts, for a line of JSON."""
        log = self.log
        return {
            "summary": [str(root) for root in self.store.folder.roots],
            "status": 1 if self.findings.has_damage else 0,
            "in_use": self.is_in_use,
            "queues_checked": self.has_queues,
            "messages": log.messages,
            "bytes": log.size,
            "damaged_messages": log.damaged_messages,
            "ghosts": log.ghosts[0],
            "ghost_bytes": log.ghosts[1],
            "not_yet_queued": self.queues.unqueued,
            "index_entries": self.index.entries,
            "next_start": None if self.start is None else asdict(self.start),
            "findings": {
                str(kind): {"is_damage": is_damage, "findings": counts[0], "count": counts[1]}
                for (kind, is_damage), counts in self.findings.counts.items()
            },
        }


def run(arguments: argparse.Namespace) -> int:
    """Check a store; 1 if damage was found."""
    check = StoreCheck(OpenedStore(arguments.paths))
    check.run()
    if arguments.json:
        _write_json(check)
    else:
        write_text(check, with_reasons=arguments.why)
    return 1 if check.findings.has_damage else 0


def _write_json(check: StoreCheck) -> None:
    write = sys.stdout.buffer.write
    for finding in check.findings.kept:
        write(json_line(finding.report()))
    write(json_line(check.summary()))


def write_text(check: StoreCheck, *, with_reasons: bool) -> None:
    """Write the report of a check as tables."""
    findings, log, out = check.findings, check.log, sys.stdout
    if not check.has_queues:
        out.write("No queues can be read here: the log is checked alone.\n")
    if check.is_in_use:
        out.write("A broker runs on this store: what it writes now may look incomplete.\n")
    out.write(f"{log.messages:,} messages with {log.size:,} bytes were read.\n")
    if log.ghosts[0]:
        out.write(
            f"{log.ghosts[0]:,} old messages with {log.ghosts[1]:,} bytes stand behind the end of"
            " the log; they are no part of it.\n"
        )
    if findings.kept:
        out.write("\n")
        write_table(("", "what", "places", "count", "first"), _kinds(findings))
    if with_reasons:
        for finding in findings.kept:
            out.write("\n" + "\n".join(map(printable, _described(finding))) + "\n")
    out.write("The store is damaged.\n" if findings.has_damage else "The store is whole.\n")
    if check.start is not None:
        out.write("\n" + "\n".join(check.start.lines()) + "\n")


def _kinds(findings: Findings) -> Iterable[tuple[object, ...]]:
    for (kind, is_damage), (places, count) in findings.counts.items():
        first = next(
            finding
            for finding in findings.kept
            if (finding.kind, finding.is_damage) == (kind, is_damage)
        )
        yield (
            "damage" if is_damage else "note",
            str(kind),
            f"{places:,}",
            f"{count:,}",
            f"{first.file}@{first.position}: {first.text}" if first.file else first.text,
        )


def _described(finding: Finding) -> list[str]:
    place = f"{finding.file}, byte {finding.position}" if finding.file else "no file"
    if finding.size:
        place += f" and the {finding.size} bytes from there on"
    kind = f"{'damage' if finding.is_damage else 'note'}, {finding.kind}"
    lines = [f"{kind}: {finding.text}", f"  where: {place}"]
    if finding.topic is not None:
        number = "" if finding.queue_offset is None else f":{finding.queue_offset}"
        lines.append(f"  queue: {finding.topic}:{finding.queue_id}{number}")
    if finding.physical_offset is not None:
        lines.append(f"  offset in the log: {finding.physical_offset}")
    return [*lines, f"  rule: {RULES[finding.kind]}"]
