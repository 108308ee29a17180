"""``check``: whether a store is whole, and where a broker would cut its log."""

from __future__ import annotations

import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final

from rocketwire_tools.store.checks.log_check import compare_with_log
from rocketwire_tools.store.checks.side_files import (
    check_checkpoint,
    check_config,
    check_databases,
    check_epochs,
    check_log_folder,
    check_timers,
)
from rocketwire_tools.store.checks.unread import leave_out_unreadable, unread_finding
from rocketwire_tools.store.checks.view import StoreView, find_next_start
from rocketwire_tools.store.opened import OpenedStore
from rocketwire_tools.store.output import json_line, write_table
from rocketwire_tools.terminal import printable

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterable, Iterator

    from rocketwire_tools.store.checks.findings import Finding, Findings

STEPS: Final[tuple[Callable[[StoreView], Iterator[Finding]], ...]] = (
    leave_out_unreadable,
    compare_with_log,
    check_log_folder,
    check_config,
    check_databases,
    check_timers,
    check_epochs,
    check_checkpoint,
)
"""The steps in their order: later ones use what earlier ones have learned."""


def run(arguments: argparse.Namespace) -> int:
    view = StoreView(OpenedStore(arguments.paths))
    check_store(view)
    if arguments.json:
        for finding in view.findings.kept:
            sys.stdout.buffer.write(json_line(finding.report()))
        sys.stdout.buffer.write(json_line(summarize(view)))
    else:
        write_text(view, with_reasons=arguments.why)
    return 1 if view.findings.has_damage else 0


def check_store(view: StoreView) -> None:
    for step in STEPS:
        try:
            for finding in step(view):
                view.findings.add(finding)
        except OSError as error:
            name = str(error.filename or "")
            view.unread.others.append(name)
            view.findings.add(unread_finding(name, error))
    view.start = find_next_start(view)


def summarize(view: StoreView) -> dict[str, Any]:
    log = view.log
    return {
        "summary": [str(root) for root in view.folder.roots],
        "status": 1 if view.findings.has_damage else 0,
        "in_use": view.is_in_use,
        "queues_checked": view.has_queues,
        "messages": log.messages,
        "bytes": log.size,
        "damaged_messages": log.damaged_messages,
        "ghosts": log.ghosts[0],
        "ghost_bytes": log.ghosts[1],
        "not_yet_queued": view.unqueued,
        "index_entries": view.index_entries,
        "next_start": None if view.start is None else asdict(view.start),
        "findings": {
            str(kind): {"is_damage": is_damage, "findings": counts[0], "count": counts[1]}
            for (kind, is_damage), counts in view.findings.counts.items()
        },
    }


def write_text(view: StoreView, *, with_reasons: bool) -> None:
    findings, log, out = view.findings, view.log, sys.stdout
    if not view.has_queues:
        out.write("No queues can be read here: the log is checked alone.\n")
    if view.is_in_use:
        out.write("A broker runs on this store: what it writes now may look incomplete.\n")
    out.write(f"{log.messages:,} messages with {log.size:,} bytes were read.\n")
    if log.ghosts[0]:
        out.write(
            f"{log.ghosts[0]:,} old messages with {log.ghosts[1]:,} bytes stand behind the end of"
            " the log; they are no part of it.\n"
        )
    if findings.kept:
        out.write("\n")
        write_table(("", "what", "places", "count", "first"), _list_kinds(findings))
    if with_reasons:
        for finding in findings.kept:
            out.write("\n" + "\n".join(map(printable, _describe(finding))) + "\n")
    out.write("The store is damaged.\n" if findings.has_damage else "The store is whole.\n")
    if view.start is not None:
        out.write("\n" + "\n".join(view.start.lines()) + "\n")


def _list_kinds(findings: Findings) -> Iterable[tuple[object, ...]]:
    for (kind, is_damage), (place_count, count) in findings.counts.items():
        first = next(
            finding
            for finding in findings.kept
            if (finding.kind, finding.is_damage) == (kind, is_damage)
        )
        yield (
            "damage" if is_damage else "note",
            str(kind),
            f"{place_count:,}",
            f"{count:,}",
            f"{first.file}@{first.position}: {first.text}" if first.file else first.text,
        )


def _describe(finding: Finding) -> list[str]:
    location = f"{finding.file}, byte {finding.position}" if finding.file else "no file"
    if finding.size:
        location += f" and the {finding.size} bytes from there on"
    kind = f"{'damage' if finding.is_damage else 'note'}, {finding.kind}"
    lines = [f"{kind}: {finding.text}", f"  where: {location}"]
    if finding.topic is not None:
        number = "" if finding.queue_offset is None else f":{finding.queue_offset}"
        lines.append(f"  queue: {finding.topic}:{finding.queue_id}{number}")
    if finding.physical_offset is not None:
        lines.append(f"  offset in the log: {finding.physical_offset}")
    return [*lines, f"  rule: {finding.kind.rule}"]
