"""``check``: whether a store is whole, and what Java would do with it at its next start."""

from __future__ import annotations

import argparse
import sys
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rocketwire.store.java_records import NO_RECORD, Release
from rocketwire.store.recovery import predict
from rocketwire_tools.store.checks.findings import RULES, Findings
from rocketwire_tools.store.checks.images import configured_topics, image_of
from rocketwire_tools.store.checks.index_check import IndexCheck
from rocketwire_tools.store.checks.log_check import LogCheck
from rocketwire_tools.store.checks.log_parts import add_part, checked_part
from rocketwire_tools.store.checks.members import check_epochs, check_member
from rocketwire_tools.store.checks.other_logs import check_compaction, check_dledger
from rocketwire_tools.store.checks.queue_check import QueueCheck
from rocketwire_tools.store.checks.side_files import (
    check_checkpoint,
    check_config,
    check_databases,
    check_log_folder,
    check_timers,
)
from rocketwire_tools.store.checks.unread import add_unread, leave_out_unreadable
from rocketwire_tools.store.jobs import Beside, is_read, may_fork, whole_parts
from rocketwire_tools.store.lookup import at_physical_offset
from rocketwire_tools.store.opened import OpenedStore
from rocketwire_tools.store.output import ProgressLine, json_line, with_progress, write_table
from rocketwire_tools.terminal import printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rocketwire.store.recovery import Recovery
    from rocketwire_tools.store.checks.findings import Finding
    from rocketwire_tools.store.checks.log_parts import LogPart
    from rocketwire_tools.store.engine.rows import Rows
    from rocketwire_tools.store.engine.scan import LogScan


@dataclass(frozen=True, slots=True, kw_only=True)
class NextStart:
    """What a broker of a release does at its next start, and what that costs.

    Attributes:
        recovery: the prediction.
        cut_messages: messages that can be read here and that Java gives up.
        cut_bytes: their bytes.
        cut_units: valid units of queues that Java gives up.
        added_units: units that it puts into queues.
        not_served: messages that Java keeps and that no pull returns; None if unknown.
    """

    recovery: Recovery
    cut_messages: int
    cut_bytes: int
    cut_units: int
    added_units: int
    not_served: int | None

    def report(self) -> dict[str, Any]:
        """Names and values, for a line of JSON."""
        recovery = self.recovery
        return {
            "next_start": str(recovery.release),
            "starts": recovery.starts,
            "refusal": recovery.refusal or recovery.hang,
            "reads_from": recovery.starts_from,
            "cut": recovery.cut if recovery.starts_from is not None else None,
            "cut_reason": recovery.cut_reason,
            "deleted_files": recovery.deleted_files,
            "deleted_index_files": recovery.deleted_index_files,
            "deletes_queues": recovery.deletes_queues,
            "cut_units": self.cut_units,
            "added_units": self.added_units,
            "cut_messages": self.cut_messages,
            "cut_bytes": self.cut_bytes,
            "not_served": self.not_served,
            "is_exact": recovery.is_exact,
            "doubt": recovery.doubt,
        }


class StoreCheck:
    """One check of a store.

    Attributes:
        findings: what was found.
        unread: what cannot be read.
        log: counts of the log.
        starts: what Java would do, by release; none for logs of DLedger.
        is_in_use: whether a broker runs on the store.
        has_queues: whether the store has queues in files, or should have.
    """

    def __init__(self, store: OpenedStore) -> None:
        self.store = store
        self.findings = Findings()
        self.unread = leave_out_unreadable(store.folder, self.findings)
        self.is_in_use = store.is_in_use()
        self.starts: list[NextStart] = []
        files = store.log_files
        start = files[0].offset if files else 0
        may_lag = self.is_in_use or store.abort is not None
        self._may_lag = may_lag
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
            extensions=folder.extensions,
            rocksdb=store.rocks_queues,
            # their settings take 50 MB, and their queues have the same names
            topics=frozenset(map(sys.intern, configured_topics(store))),
            unread=self.unread,
        )
        self._has_rocksdb = any(name.startswith("consumequeue") for name in folder.rocksdb)
        is_root = bool(folder.plain or folder.config) and not self._has_rocksdb
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

    def run(self, jobs: int = 1) -> None:
        """Check everything.

        Args:
            jobs: processes that read the log.
        """
        store = self.store
        scans = list(store.scans())
        for scan in scans:
            scan.unreadable = self.unread.log
        if jobs > 1 and len(scans) == 1:
            self._check_parts(scans[0], jobs)
        for scan in scans:
            if not is_read(scan):
                self.log.run(scan, with_progress(scan))
        end = self.log.end
        if self.has_queues:
            with ProgressLine("{:,} queues") as line:
                self.queues.finish(log_end=end if self.is_in_use else None, progress=line.show)
        self.log.next_offsets.clear()  # of 100,000 queues it takes as much as a prediction
        self.log.first_offsets.clear()
        if store.folder.index:
            self.index.finish(log_end=end if self.is_in_use else None)
        self._check_side_files(end)
        if self._is_predictable:
            image = image_of(store, checked=self.log.checked, builds_queues=self.has_queues)
            for release in Release:
                recovery = predict(image, release)
                self.starts.append(self._next_start(recovery))
                recovery.models, recovery.queues = {}, {}  # those of 100,000 queues are large

    def _check_parts(self, scan: LogScan, jobs: int) -> None:
        """Let other processes check the log, up to the first part that is not as it should be."""
        if self.unread or not may_fork() or (self.has_queues and not self.queues.has_parts):
            return
        try:
            if not self.index.skip_to(self._log_start):
                return
        except OSError:
            return  # this process will say so
        self.log.begin(scan)
        slots = None if self.is_in_use else Beside(self.index.whole_slots)
        arguments = argparse.Namespace(jobs=jobs, log=self.log)
        with closing(whole_parts(arguments, [scan], _checked_parts)) as parts:
            for pieces in parts:
                if not all(part is not None and add_part(self.log, part) for part in pieces):
                    break
        if slots is not None:
            self.index.note_whole_slots(slots.result() or ())

    def _check_side_files(self, end: int) -> None:
        store, findings = self.store, self.findings
        check_log_folder(store, findings)
        # without some files of the log nothing says whether a timer's message is there
        log_start = 1 << 63 if self.unread.log else self._log_start
        try:
            check_config(store, findings)
            check_databases(store, findings)
            check_timers(store, findings, log_start)
            last = check_dledger(store.folder, findings, may_lag=self._may_lag)
            if not self.unread.log and not self.is_in_use:
                check_member(store, findings, last)
                check_epochs(store, findings, end)
            check_compaction(store.folder, findings, may_lag=self._may_lag)
            if self.log.messages and not self.is_in_use and not self.unread.log:
                check_checkpoint(store, findings, self.log.newest, end)
        except OSError as error:
            self.unread.others.append(str(error.filename))
            add_unread(findings, str(error.filename or ""), error)

    @property
    def _is_predictable(self) -> bool:
        folder = self.store.folder
        has_files = bool(folder.commit_log or self.has_queues)
        is_whole = not folder.dledger and not self.unread
        return has_files and is_whole and self._has_readable_queues

    @property
    def _has_readable_queues(self) -> bool:
        """Whether the queues by which a broker goes can be read, or there are none."""
        if not self._has_rocksdb or self.store.folder.queues:
            return True
        queues = self.store.rocks_queues
        return queues is not None and not queues.failure

    def _next_start(self, recovery: Recovery) -> NextStart:
        messages, size = 0, 0
        is_cut = recovery.starts and recovery.starts_from is not None
        if is_cut:
            messages, size = self.log.behind(recovery.cut)
        not_served: int | None = None
        has_units = self.has_queues and not self.store.folder.batch_queues
        if not is_cut or not has_units or not recovery.is_exact:
            pass
        elif not self.findings.kept:
            not_served = 0
        else:
            served = sum(
                sum(1 for _ in recovery.served(name))
                for name in recovery.queues
                if not name[0].startswith("%LMQ%")
            )
            kept = self.log.messages - messages - self.queues.deleted_topics
            not_served = max(0, kept - served)
        cut_units = added_units = 0
        for queue in recovery.queues.values():
            cut_units += queue.cut_units
            added_units += queue.added_units
        return NextStart(
            recovery=recovery,
            cut_messages=messages,
            cut_bytes=size,
            cut_units=cut_units,
            added_units=added_units,
            not_served=not_served,
        )

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
            "findings": {
                str(kind): {"is_damage": is_damage, "findings": counts[0], "count": counts[1]}
                for (kind, is_damage), counts in self.findings.counts.items()
            },
        }


def _checked_parts(arguments: argparse.Namespace, scan: LogScan) -> Iterator[LogPart | None]:
    """A part of a log, checked in a process of its own."""
    try:
        yield checked_part(arguments.log, scan)
    except OSError:
        yield None  # the first process will say so


def run(arguments: argparse.Namespace) -> int:
    """Check a store; 1 if damage was found."""
    check = StoreCheck(OpenedStore(arguments.paths))
    check.run(arguments.jobs)
    if arguments.json:
        _write_json(check)
    else:
        write_text(check, with_reasons=arguments.why)
    return 1 if check.findings.has_damage else 0


def _write_json(check: StoreCheck) -> None:
    write = sys.stdout.buffer.write
    for finding in check.findings.kept:
        write(json_line(finding.report()))
    for start in check.starts:
        write(json_line(start.report()))
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
    if check.starts:
        out.write("\nAt its next start Java would do this:\n")
        write_table(
            ("release", "starts", "reads from", "cuts at", "gives up", "bytes", "hides", "why"),
            [_start_row(start, check.log.end) for start in check.starts],
        )
        _write_advice(check)


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


def _start_row(start: NextStart, log_end: int) -> tuple[object, ...]:
    recovery = start.recovery
    if not recovery.starts:
        return str(recovery.release), "no", "", "", "", "", "", recovery.refusal or recovery.hang
    if recovery.starts_from is None:
        return str(recovery.release), "yes", "", "", "", "", "", "there is no log; queues go"
    is_end = recovery.cut_reason == NO_RECORD and recovery.cut >= log_end
    why = "the log ends there" if is_end else recovery.cut_reason
    if recovery.deleted_files:
        why += f"; deletes {', '.join(recovery.deleted_files[:5])}"
    if recovery.doubt:
        why += f"; {recovery.doubt}"
    return (
        str(recovery.release),
        "yes",
        f"{recovery.starts_from:,}",
        f"{recovery.cut:,}",
        f"{start.cut_messages:,}",
        f"{start.cut_bytes:,}",
        None if start.not_served is None else f"{start.not_served:,}",
        why,
    )


def _write_advice(check: StoreCheck) -> None:
    refused = [str(start.recovery.release) for start in check.starts if not start.recovery.starts]
    most = max(check.starts, key=lambda start: start.cut_messages + (start.not_served or 0))
    messages = most.cut_messages + (most.not_served or 0)
    if messages:
        sys.stdout.write(
            f"Do not start {most.recovery.release} on it: {most.cut_messages:,} messages with"
            f" {most.cut_bytes:,} bytes would be given up, {most.not_served or 0:,} more would not"
            " be served. All of them can be read here.\n"
        )
    if refused:
        sys.stdout.write(
            f"{', '.join(refused)} would not start; {check.log.messages:,} messages with"
            f" {check.log.size:,} bytes can be read here.\n"
        )
