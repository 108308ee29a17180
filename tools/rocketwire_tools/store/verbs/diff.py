"""``diff``: how two stores differ, for example those of a master and its slave."""

from __future__ import annotations

import itertools
import sys
from typing import TYPE_CHECKING, Any, Final, cast

from rocketwire_tools.store.comparing import files, indexes
from rocketwire_tools.store.comparing.indexes import IndexComparison
from rocketwire_tools.store.comparing.logs import Log, LogComparison
from rocketwire_tools.store.comparing.queues import queue_differences
from rocketwire_tools.store.comparing.settings import config_differences
from rocketwire_tools.store.comparing.uncompared import uncompared_parts
from rocketwire_tools.store.opened import OpenedStore, are_whole
from rocketwire_tools.store.output import json_line, write_table
from rocketwire_tools.terminal import printable

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Sequence

    from rocketwire_tools.store.comparing.differences import StoreDifference

_PREFIX: Final = ("B is the beginning of A", "A is the beginning of B")
_WIDTH: Final = 80
"""Characters of the values of a store in the table."""


def run(arguments: argparse.Namespace) -> int:
    """Show how two stores differ."""
    a, b = OpenedStore([arguments.a]), OpenedStore([arguments.b])
    logs = [
        (Log(a.folder.commit_log), Log(b.folder.commit_log)),
        (Log(a.folder.dledger, is_dledger=True), Log(b.folder.dledger, is_dledger=True)),
    ]
    logs = [(log_a, log_b) for log_a, log_b in logs if log_a.files or log_b.files]
    described = None if arguments.json else arguments.limit
    comparisons = [
        LogComparison(log_a, log_b, is_common=arguments.common, described=described)
        for log_a, log_b in logs
    ]
    index = IndexComparison(a, b, logs)
    differences: Iterator[StoreDifference] = itertools.chain(
        *comparisons,
        queue_differences(a, b, logs),
        _forget_queues(a, b),
        index,
        config_differences(a, b),
        files.file_differences(a, b) if arguments.files else (),
    )
    shown: list[StoreDifference] = []
    counts: dict[str, int] = {"log": 0, "queue": 0, indexes.PART: 0, "config": 0}
    if arguments.files:
        counts[files.PART] = 0
    for difference in differences:
        counts[difference.part] += 1
        if arguments.json:
            sys.stdout.buffer.write(json_line(_members(difference, why=arguments.why)))
        elif len(shown) < arguments.limit:
            shown.append(difference)
    report = _report(comparisons, counts)
    report["not_compared"] = [*index.uncompared, *uncompared_parts(a, b)]
    if arguments.json:
        sys.stdout.buffer.write(json_line(report))
    else:
        _write(shown, report, why=arguments.why)
    is_equal = report["result"] in ("equal", *_PREFIX)
    return 0 if is_equal and are_whole([a, b]) else 1


def _forget_queues(*stores: OpenedStore) -> Iterator[StoreDifference]:
    """Give up the files of queues, which were compared: what follows needs memory too."""
    for store in stores:
        store.folder.queues.clear()
    yield from ()


def _report(comparisons: Sequence[LogComparison], counts: dict[str, int]) -> dict[str, Any]:
    firsts = [one.first_difference for one in comparisons if one.first_difference is not None]
    more_in_a = sum(comparison.more_in_a for comparison in comparisons)
    more_in_b = sum(comparison.more_in_b for comparison in comparisons)
    if any(counts.values()) or (more_in_a and more_in_b):
        result = "different"
    elif more_in_a:
        result = _PREFIX[0]
    elif more_in_b:
        result = _PREFIX[1]
    else:
        result = "equal"
    return {
        "result": result,
        "log_a": [[comparison.a.start, comparison.a.end] for comparison in comparisons],
        "log_b": [[comparison.b.start, comparison.b.end] for comparison in comparisons],
        "compared_bytes": sum(comparison.compared for comparison in comparisons),
        "first_difference": min(firsts, default=None),
        "more_messages_in_a": more_in_a,
        "more_messages_in_b": more_in_b,
        **{f"{part}_differences": count for part, count in counts.items()},
    }


def _write(shown: Sequence[StoreDifference], report: dict[str, Any], *, why: bool) -> None:
    if shown:
        header = ["part", "name", "difference", "A", "B"]
        rows: list[list[object]] = [
            [one.part, one.name, one.rule, _text(one.a), _text(one.b)] for one in shown
        ]
        if why:
            header += ["file and byte of A", "file and byte of B"]
            for row, one in zip(rows, shown, strict=True):
                row += [one.place_a and str(one.place_a), one.place_b and str(one.place_b)]
        write_table(header, rows)
    counts = (value for name, value in report.items() if name.endswith("_differences"))
    more = sum(counts) - len(shown)
    if more:
        print(f"and {more} more differences; --limit, or --json for all")
    line = str(report["result"])
    for side in "ab":
        if report[f"more_messages_in_{side}"]:
            count = report[f"more_messages_in_{side}"]
            line += f"; {side.upper()} has {count} messages after the end of the other log"
    print(f"{line}; {report['compared_bytes']} bytes of the log compared")
    for text in report["not_compared"]:
        print(f"not compared: {printable(text)}")
    if report["first_difference"] is not None:
        print(f"the logs differ from offset {report['first_difference']} on")


def _text(value: Any) -> str | None:
    if value is None:
        return None
    if isinstance(value, dict):
        members = cast("dict[str, Any]", value)
        value = ", ".join(f"{name} {member}" for name, member in members.items())
    text = str(value)
    return text if len(text) <= _WIDTH else f"{text[: _WIDTH - 3]}..."


def _members(difference: StoreDifference, *, why: bool) -> dict[str, Any]:
    members: dict[str, Any] = {
        "part": difference.part,
        "name": difference.name,
        "difference": difference.rule,
        "a": difference.a,
        "b": difference.b,
    }
    if why:
        for side, place in (("a", difference.place_a), ("b", difference.place_b)):
            members[f"file_{side}"] = place and place.file
            members[f"byte_{side}"] = place and place.byte
    return members
