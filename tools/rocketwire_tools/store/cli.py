"""The verbs of ``rocketwire-store``: their arguments, and what they run.

A verb imports its module when it runs; each shows an example in its help.
"""

from __future__ import annotations

import argparse
import importlib
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol

from rocketwire import __version__
from rocketwire_tools.numbers import natural, positive

if TYPE_CHECKING:
    from collections.abc import Callable

    class _Verbs(Protocol):
        """The verbs of a parser."""

        def add_parser(self, name: str, **arguments: Any) -> argparse.ArgumentParser: ...


_EXIT_STATUSES: Final = """\
exit status: 0 if the store is whole, 1 if damage was found, 2 if the command line is wrong or a
path is no store; 130 if interrupted. Nothing in a store is ever opened for writing.
Each verb has its own help: rocketwire-store messages --help"""

_REBUILD_EPILOG: Final = """\
example:
  rocketwire-store rebuild /data/new-store /data/broken-store

Every message keeps its physical offset and its queue offset. Where messages are lost, the log gets
fillers, which no consumer sees, and the queue leads to the next message. The store appears under
its name only when it is complete; until then it is OUT.partial.
exit status: 0 if nothing was lost, 1 if the log has damage, 2 if no store was written"""


def parser() -> argparse.ArgumentParser:
    """The parser of the command line; its result has ``run``."""
    parser = argparse.ArgumentParser(
        prog="rocketwire-store",
        description="Read the store of a broker on disk, without the broker, and across damage.",
        epilog=_EXIT_STATUSES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=__version__)
    verbs = parser.add_subparsers(required=True, metavar="VERB")
    for add in (
        _add_info,
        _add_stat,
        _add_messages,
        _add_get,
        _add_check,
        _add_pending,
        _add_rebuild,
        _add_export,
    ):
        add(verbs)
    return parser


def _verb(verbs: _Verbs, name: str, text: str, example: str) -> argparse.ArgumentParser:
    parser = verbs.add_parser(
        name,
        help=text,
        description=text,
        epilog=f"example:\n  {example}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(run=_runner(name))
    parser.add_argument(
        "paths",
        nargs="+",
        type=Path,
        metavar="PATH",
        help="root of a store (storePathRootDir), folders of its commit log, or files of it",
    )
    parser.add_argument("--json", action="store_true", help="write JSON lines instead of a table")
    return parser


def _runner(name: str) -> Callable[[argparse.Namespace], int]:
    def run(arguments: argparse.Namespace) -> int:
        module = importlib.import_module(f"rocketwire_tools.store.verbs.{name}")
        status: int = module.run(arguments)
        return status

    return run


def _selection(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("which messages")
    group.add_argument(
        "--topic", action="append", default=[], help="only this topic; may be given several times"
    )
    group.add_argument("--queue", type=natural, metavar="ID", help="only this queue")
    group.add_argument(
        "--offsets", type=_range, metavar="FROM:TO", help="only these queue offsets, TO included"
    )
    group.add_argument(
        "--physical", type=_range, metavar="FROM:TO", help="only these offsets of the commit log"
    )
    group.add_argument(
        "--begin",
        type=_time,
        metavar="TIME",
        help="stored at or after TIME (ISO, or ms since 1970)",
    )
    group.add_argument("--end", type=_time, metavar="TIME", help="stored at or before TIME")
    group.add_argument(
        "--tag", action="append", default=[], help="with this tag; may be given several times"
    )
    group.add_argument("--key", help="with this key, or this unique key")
    group.add_argument("--id", dest="message_id", help="with this message id, of either form")
    group.add_argument(
        "--sql", metavar="EXPRESSION", help="whose properties pass this SQL92 filter"
    )
    group.add_argument(
        "--system", action="store_true", help="also the topics that brokers write for themselves"
    )
    group.add_argument(
        "--compacted",
        action="store_true",
        help="read the logs of compacted topics instead of the commit log",
    )
    group.add_argument(
        "--ghosts", action="store_true", help="also old bytes after the end of the log"
    )


def _jobs(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--jobs",
        type=positive,
        default=1,
        metavar="N",
        help="processes that read the log; the output is the same (default: %(default)s)",
    )


def _range(text: str) -> tuple[int | None, int | None]:
    begin, separator, end = text.partition(":")
    try:
        first = int(begin) if begin else None
        last = (int(end) if end else None) if separator else first
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r}: must be FROM:TO, FROM: or :TO") from None
    return first, last


def _time(text: str) -> int:
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
        choices=("topic", "queue", "tag", "hour", "kind", "file"),
        default="topic",
        help="what to count by (default: %(default)s)",
    )
    _jobs(parser)
    _selection(parser)


def _add_messages(verbs: _Verbs) -> None:
    parser = _verb(
        verbs,
        "messages",
        "list messages",
        "rocketwire-store messages --topic orders --tag paid --body text ~/store",
    )
    _jobs(parser)
    _selection(parser)
    group = parser.add_argument_group("what to show")
    group.add_argument("--columns", metavar="NAMES", help="columns of the output, with commas")
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
        "show what the broker still had to do: lag, delays, timers, open transactions",
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
    group.add_argument("--id", dest="message_id", help="by its message id, of either form")
    group.add_argument("--key", help="by a key; needs --topic if several topics have it")
    parser.add_argument("--topic", help="topic of the key")


def _add_check(verbs: _Verbs) -> None:
    parser = _verb(
        verbs,
        "check",
        "check whether a store is whole, and show what Java would do with it at its next start",
        "rocketwire-store check --why ~/store",
    )
    parser.add_argument(
        "--why", action="store_true", help="show file, byte and rule of each finding"
    )


def _add_rebuild(verbs: _Verbs) -> None:
    text = "build a new store of the commit log alone, on which a broker starts"
    parser = verbs.add_parser(
        "rebuild",
        help=text,
        description=text,
        epilog=_REBUILD_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(run=_runner("rebuild"))
    parser.add_argument("out", type=Path, metavar="OUT", help="the new store; must not exist")
    parser.add_argument(
        "paths",
        nargs="+",
        type=Path,
        metavar="PATH",
        help="root of a store (storePathRootDir), folders of its commit log, or files of it",
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
        help="the new file, whose suffix names the format; - is standard output (default: -)",
    )
    parser.add_argument(
        "--format",
        choices=("jsonl", "parquet", "arrow"),
        help="format of the file (default: by its suffix; jsonl on standard output)",
    )
    _jobs(parser)
    _selection(parser)
    group = parser.add_argument_group("what to write")
    group.add_argument(
        "--columns", metavar="NAMES", help="columns, with commas (default: all but crc_ok)"
    )
    group.add_argument(
        "--body",
        choices=("none", "text", "hex", "base64"),
        default="base64",
        help="form of inflated bodies in JSON; Parquet and Arrow have bytes (default: %(default)s)",
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
