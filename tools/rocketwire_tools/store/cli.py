"""The verbs of ``rocketwire-store``: their arguments, and what they run.

A verb imports its module when it runs; each shows an example in its help.
"""

from __future__ import annotations

import argparse
import importlib
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol

from rocketwire import __version__
from rocketwire.program import ProgramParser
from rocketwire_tools.numbers import natural, positive
from rocketwire_tools.store.retention import DELETE_WHEN, RESERVED_HOURS

if TYPE_CHECKING:
    from collections.abc import Callable

    class _Verbs(Protocol):
        """The verbs of a parser."""

        def add_parser(self, name: str, **arguments: Any) -> _VerbParser: ...


_EXIT_STATUSES: Final = """\
exit status: 0 success, 1 damage was found, or get found no message, 2 the command line is invalid,
a path is not a store, or a file cannot be read or written, 130 interrupted.
Nothing in a store is ever opened for writing.
Each verb has its own help: rocketwire-store messages --help"""

_REBUILD_EPILOG: Final = """\
example:
  rocketwire-store rebuild /data/new-store /data/broken-store

Every message keeps its physical offset and its queue offset. Where messages are lost, the log gets
fillers, which no consumer sees, and the queue leads to the next message. The store appears under
its name only when it is complete; until then it is OUT.partial.
exit status: 0 nothing was lost, 1 the log has damage, 2 no store was written"""

_DIFF_EPILOG: Final = """\
example:
  rocketwire-store diff /data/master /data/slave

Logs, queues, indexes of keys and configuration are compared, in files and in RocksDB. Extensions of
queues, timers and checkpoints are compared only with --files. A line "not compared" names what
could not be compared.
exit status: 0 the stores are equal, or one is the beginning of the other; 1 they differ; 2 a path
is not a store"""


_REPLAY_EPILOG: Final = """\
example:
  rocketwire-store replay -n localhost:9876 --topic orders --journal orders.journal ~/store

Consumers get the same body, tags, keys, properties, flag, unique key and born time. Messages of a
queue keep their order, and go to the queue with the same id, if the target has it. The topics must
exist at the target. Without --topic, dead letters and retries are left out,
and so are the topics of brokers: delayed and timed messages are sent if they were delivered, those
of a transaction if it was committed.
exit status: 0 all messages were sent, 1 some could not be sent or read, 2 the command line or the
journal is invalid or a path is not a store, 130 interrupted"""


_WHY: Final = {
    "info": "show file, byte and rule of each number",
    "stat": "show the files that were counted, the bytes that were not, and the rule",
    "messages": "show file and byte of each message, and where each column stands in it",
    "get": "show what led to the message, and the rule of each field",
    "check": "show file, byte and rule of each finding",
    "pending": "show file, byte and rule of each line",
}
"""Verb → what its option ``--why`` shows; ``diff`` has its own."""


class _VerbParser(ProgramParser):
    """The parser of a verb.

    Attributes:
        connects: whether it has the options of a connection.  They are added when the parser is
            used, because their module loads slowly.
    """

    connects = False

    def parse_known_args(self, *arguments: Any, **options: Any) -> Any:
        if self.connects:
            from rocketwire_tools.admin.cli.settings import add_settings

            self.connects = False
            add_settings(self, taken=("--namespace",))
        return super().parse_known_args(*arguments, **options)


def parser() -> argparse.ArgumentParser:
    """The parser of the command line; its result has ``run``."""
    parser = ProgramParser(
        prog="rocketwire-store",
        description="Read a broker's store on disk, without the broker, also if it is damaged.",
        epilog=_EXIT_STATUSES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=__version__)
    verbs = parser.add_subparsers(required=True, metavar="VERB", parser_class=_VerbParser)
    for add in (
        _add_info,
        _add_stat,
        _add_messages,
        _add_get,
        _add_check,
        _add_pending,
        _add_rebuild,
        _add_export,
        _add_diff,
        _add_replay,
    ):
        add(verbs)
    return parser


def _verb(
    verbs: _Verbs, name: str, text: str, example: str = "", *, epilog: str = ""
) -> _VerbParser:
    parser = verbs.add_parser(
        name,
        help=text,
        description=text,
        epilog=epilog or f"example:\n  {example}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(run=_runner(name))
    parser.add_argument(
        "paths",
        nargs="+",
        type=Path,
        metavar="PATH",
        help="root of a store (storePathRootDir), folders of its commit log, files of it, or a tar",
    )
    parser.add_argument("--json", action="store_true", help="write JSON lines instead of a table")
    if name in _WHY:
        parser.add_argument("--why", action="store_true", help=_WHY[name])
    return parser


def _runner(name: str) -> Callable[[argparse.Namespace], int]:
    def run(arguments: argparse.Namespace) -> int:
        module = importlib.import_module(f"rocketwire_tools.store.verbs.{name}")
        status: int = module.run(arguments)
        return status

    return run


def _selection(parser: argparse.ArgumentParser, *, is_replay: bool = False) -> None:
    group = parser.add_argument_group("which messages")
    group.add_argument(
        "--topic",
        action="append",
        default=[],
        metavar="TOPIC[=NEW]" if is_replay else None,
        help="only this topic; may be given several times"
        + ("; =NEW sends its messages to another one" if is_replay else ""),
    )
    group.add_argument("--queue", type=natural, metavar="ID", help="only this queue")
    group.add_argument(
        "--offsets",
        type=offset_range,
        metavar="FROM:TO",
        help="only these queue offsets, TO included",
    )
    group.add_argument(
        "--physical",
        type=offset_range,
        metavar="FROM:TO",
        help="only these offsets of the commit log",
    )
    group.add_argument(
        "--begin",
        type=time_ms,
        metavar="TIME",
        help="stored at or after TIME: 2026-01-31T12:00:00 (UTC), or milliseconds since 1970",
    )
    group.add_argument("--end", type=time_ms, metavar="TIME", help="stored at or before TIME")
    group.add_argument(
        "--tag", action="append", default=[], help="with this tag; may be given several times"
    )
    group.add_argument("--key", help="with this key, or this unique key")
    group.add_argument(
        "--id", dest="message_id", help="with this message id: a broker's or a producer's"
    )
    group.add_argument(
        "--sql",
        metavar="EXPRESSION",
        help='whose properties match this SQL92 filter, such as "amount > 5"',
    )
    group.add_argument(
        "--ghosts", action="store_true", help="also old messages after the end of the log"
    )
    if is_replay:
        return
    group.add_argument(
        "--system", action="store_true", help="also the topics that brokers write for themselves"
    )
    group.add_argument(
        "--compacted",
        action="store_true",
        help="read the logs of compacted topics instead of the commit log",
    )


def _jobs(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--jobs",
        type=positive,
        default=1,
        metavar="N",
        help="processes that read the log; the output is the same (default: %(default)s)",
    )


def _queues(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--queues",
        action="store_true",
        help="with --topic: read only messages to which the consume queues of the topics point, not"
        " the whole log; damage between them is not detected, and their state is live",
    )


def offset_range(text: str) -> tuple[int | None, int | None]:
    """First and last offset of ``FROM:TO``; None for one that is not given.

    Raises:
        argparse.ArgumentTypeError: it is none.
    """
    begin, separator, end = text.partition(":")
    try:
        first = int(begin) if begin else None
        last = (int(end) if end else None) if separator else first
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r}: must be FROM:TO, FROM: or :TO") from None
    return first, last


def _hours(text: str) -> float:
    try:
        hours = float(text)
    except ValueError:
        hours = -1.0
    if not 0 <= hours < 1e7:
        raise argparse.ArgumentTypeError(f"{text!r}: must be a number of hours")
    return hours


def _hours_of_day(text: str) -> tuple[int, ...]:
    parts = text.split(";")
    if not all(part.isascii() and part.isdecimal() and int(part) < 24 for part in parts):
        raise argparse.ArgumentTypeError(f"{text!r}: must be hours of a day, like 4 or 4;16")
    return tuple(sorted(map(int, parts)))


def _percent(text: str) -> float:
    try:
        percent = float(text)
    except ValueError:
        percent = -1.0
    if not 0 <= percent <= 100:
        raise argparse.ArgumentTypeError(f"{text!r}: must be between 0 and 100")
    return percent


def time_ms(text: str) -> int:
    """A time in milliseconds since 1970.

    Raises:
        argparse.ArgumentTypeError: it is none.
    """
    from datetime import UTC, datetime

    if text.isascii() and text.isdecimal():
        return int(text)
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"{text!r}: must be like 2026-01-31T23:59:59, or milliseconds since 1970"
        ) from None
    if time.tzinfo is None:
        time = time.replace(tzinfo=UTC)
    return int(time.timestamp() * 1000)


def _add_info(verbs: _Verbs) -> None:
    _verb(
        verbs,
        "info",
        "show what a store is: its kind, release, sizes, times, and how the broker ended",
        "rocketwire-store info ~/store",
    )


def _add_stat(verbs: _Verbs) -> None:
    parser = _verb(
        verbs,
        "stat",
        "count messages and bytes",
        "rocketwire-store stat --by topic ~/store",
    )
    parser.add_argument(
        "--by",
        choices=("topic", "queue", "tag", "hour", "kind", "file", "group", "size"),
        default="topic",
        help="what to count by; group is that of the producer, which transactions store; size is"
        " that of bodies (default: %(default)s)",
    )
    parser.add_argument(
        "--plot",
        type=Path,
        metavar="FILE",
        help="draw the bytes too, as .png or .svg; needs rocketwire[plot]",
    )
    _jobs(parser)
    _queues(parser)
    _selection(parser)
    group = parser.add_argument_group("what the next deletion takes")
    group.add_argument(
        "--expiring",
        action="store_true",
        help="count only messages in the files of the log that the broker deletes next",
    )
    group.add_argument(
        "--reserved",
        type=_hours,
        default=RESERVED_HOURS,
        metavar="HOURS",
        help="fileReservedTime of the broker (default: %(default)g)",
    )
    group.add_argument(
        "--delete-when",
        type=_hours_of_day,
        default=DELETE_WHEN,
        metavar="HOURS",
        help="deleteWhen of the broker, in the time of this machine (default: 4)",
    )
    group.add_argument(
        "--disk-used",
        type=_percent,
        metavar="PERCENT",
        help="how full the broker's disk is (default: as full as the disk of the store)",
    )


def _add_messages(verbs: _Verbs) -> None:
    parser = _verb(
        verbs,
        "messages",
        "list messages",
        "rocketwire-store messages --topic orders --tag paid --body text ~/store",
    )
    _jobs(parser)
    _queues(parser)
    _selection(parser)
    group = parser.add_argument_group("what to show")
    group.add_argument(
        "--columns", metavar="NAMES", help="columns of the output, separated by commas"
    )
    group.add_argument(
        "--body",
        choices=("none", "text", "hex", "base64"),
        default="none",
        help="show bodies, inflated, in this form (default: %(default)s)",
    )
    group.add_argument("--limit", type=positive, metavar="N", help="stop after N messages")
    group.add_argument(
        "--folded",
        action="store_true",
        help="show an inner batch as the one message it is stored as",
    )


def _add_pending(verbs: _Verbs) -> None:
    _verb(
        verbs,
        "pending",
        "show pending work of the broker: lag, delays, timers, open transactions, pops",
        "rocketwire-store pending ~/store",
    )


def _add_get(verbs: _Verbs) -> None:
    parser = _verb(
        verbs,
        "get",
        "show one message with all its bytes",
        "rocketwire-store get --at orders:3:1042 ~/store",
    )
    group = parser.add_mutually_exclusive_group(required=True)
    group.add_argument("--at", metavar="TOPIC:QUEUE:OFFSET", help="by its place in a queue")
    group.add_argument("--physical", type=natural, metavar="N", help="by its offset in the log")
    group.add_argument(
        "--id", dest="message_id", help="by its message id: a broker's or a producer's"
    )
    group.add_argument("--key", help="by a key; needs --topic if several topics have it")
    parser.add_argument("--topic", help="topic of the key")


def _add_check(verbs: _Verbs) -> None:
    _verb(
        verbs,
        "check",
        "check whether a store is whole, and show where a broker would cut its log",
        "rocketwire-store check --why ~/store",
    )


def _add_rebuild(verbs: _Verbs) -> None:
    text = "build a new store from the commit log, on which a broker can start"
    parser = verbs.add_parser(
        "rebuild",
        help=text,
        description=text,
        epilog=_REBUILD_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(run=_runner("rebuild"))
    parser.add_argument(
        "out", type=Path, metavar="OUT", help="the new store; must not exist, or be an empty folder"
    )
    parser.add_argument(
        "paths",
        nargs="+",
        type=Path,
        metavar="PATH",
        help="root of a store (storePathRootDir), folders of its commit log, files of it, or a tar",
    )
    parser.add_argument("--json", action="store_true", help="write the report as JSON")
    parser.add_argument(
        "-n", "--dry-run", action="store_true", help="read everything, write nothing, and report"
    )
    group = parser.add_argument_group(
        "files (default: as in the source, else the broker's defaults)"
    )
    group.add_argument(
        "--log-file-size", type=positive, metavar="BYTES", help="mappedFileSizeCommitLog"
    )
    group.add_argument(
        "--queue-file-size", type=positive, metavar="BYTES", help="mappedFileSizeConsumeQueue"
    )
    group.add_argument("--index-slots", type=positive, metavar="N", help="maxHashSlotNum")
    group.add_argument("--index-entries", type=positive, metavar="N", help="maxIndexNum")
    group.add_argument(
        "--tag-index",
        choices=("auto", "yes", "no"),
        default="auto",
        help="index tags, as brokers do since 5.5 (default: by the release of the source)",
    )


def _add_export(verbs: _Verbs) -> None:
    parser = _verb(
        verbs,
        "export",
        "write messages to a file of JSON lines, Parquet or Arrow",
        "rocketwire-store export -o orders.parquet --topic orders ~/store",
    )
    parser.add_argument(
        "-o",
        "--output",
        default="-",
        metavar="FILE",
        help="the new file, whose suffix names the format; a name that ends in / is a new folder of"
        " files of about 1 GiB, for large stores; - is standard output (default: -)",
    )
    parser.add_argument(
        "--format",
        choices=("jsonl", "parquet", "arrow"),
        help="format (default: by the suffix; jsonl on standard output, parquet in a folder)",
    )
    _jobs(parser)
    _queues(parser)
    _selection(parser)
    group = parser.add_argument_group("what to write")
    group.add_argument(
        "--columns", metavar="NAMES", help="columns, separated by commas (default: all but crc_ok)"
    )
    group.add_argument(
        "--body",
        choices=("none", "text", "hex", "base64"),
        default="base64",
        help="form of inflated bodies in JSON; Parquet and Arrow have bytes (default: %(default)s)",
    )
    group.add_argument(
        "--compression",
        choices=("none", "snappy", "lz4", "zstd"),
        default="snappy",
        help="compression of Parquet; none is fastest (default: %(default)s)",
    )
    group.add_argument(
        "--folded",
        action="store_true",
        help="write an inner batch as the one message it is stored as",
    )
    group.add_argument(
        "--broken",
        action="store_true",
        help="also messages whose body has a wrong checksum; column crc_ok says so",
    )


def _add_diff(verbs: _Verbs) -> None:
    text = "compare two stores: a master and its slave, or a store before and after"
    parser = verbs.add_parser(
        "diff",
        help=text,
        description=text,
        epilog=_DIFF_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(run=_runner("diff"))
    for name in ("a", "b"):
        parser.add_argument(
            name, type=Path, metavar=name.upper(), help="root of a store, or folder of its log"
        )
    parser.add_argument("--json", action="store_true", help="write all differences as JSON lines")
    parser.add_argument("--why", action="store_true", help="show file and byte of each difference")
    parser.add_argument(
        "--files",
        action="store_true",
        help="compare extensions of queues, timers and checkpoints too, byte by byte",
    )
    parser.add_argument(
        "--common",
        action="store_true",
        help="ignore parts of the log that only one store has: old files that a broker deleted, and"
        " messages that a slave does not have yet",
    )
    parser.add_argument(
        "--limit",
        type=positive,
        default=100,
        metavar="N",
        help="show N differences in the table (default: %(default)s)",
    )


def _add_replay(verbs: _Verbs) -> None:
    parser = _verb(
        verbs,
        "replay",
        "send messages to a running cluster",
        epilog=_REPLAY_EPILOG,
    )
    parser.connects = True
    _selection(parser, is_replay=True)
    group = parser.add_argument_group("how to send")
    group.add_argument(
        "--journal",
        type=Path,
        metavar="FILE",
        help="note here what was sent; with the same file a second run sends nothing twice",
    )
    group.add_argument(
        "--dry-run", action="store_true", help="read the store and the routes, and send nothing"
    )
    group.add_argument(
        "--rate", type=_rate, metavar="N", help="send N messages a second (default: no limit)"
    )
    group.add_argument(
        "--in-flight",
        type=positive,
        default=32,
        metavar="N",
        help="sends at once, one for each queue (default: %(default)s)",
    )
    group.add_argument(
        "--retries",
        type=natural,
        default=6,
        metavar="N",
        help="attempts after the first one, with growing pauses (default: %(default)s)",
    )
    group.add_argument(
        "--skip-refused",
        action="store_true",
        help="name a message that a broker calls illegal, for example because it is too large, and"
        " go on",
    )


def _rate(text: str) -> float:
    try:
        rate = float(text)
    except ValueError:
        rate = 0.0
    if not 0 < rate < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r}: must be a number above 0")
    return rate
