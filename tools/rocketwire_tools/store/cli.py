"""The verbs of ``rocketwire-store``: their arguments, and what they run.

A verb imports its module when it runs; each shows an example in its help.
"""

from __future__ import annotations

import argparse
import importlib
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol

from rocketwire import __version__
from rocketwire.program import ProgramParser
from rocketwire_tools.numbers import natural, positive
from rocketwire_tools.times import FORMS, time_argument

if TYPE_CHECKING:

    class _Verbs(Protocol):
        def add_parser(self, name: str, **arguments: Any) -> _VerbParser: ...


_EXIT_STATUSES: Final = """\
exit status: 0 success, 1 damage was found, or no message has the topic, tag, key or id
that an option names, 2 the command line is invalid, a path is not a store, or a file cannot be read
or written, 130 interrupted, 143 after SIGTERM. Nothing in a store is ever opened for writing.
Each verb has its own help: rocketwire-store messages --help"""

_REBUILD_EPILOG: Final = """\
example:
  rocketwire-store rebuild /data/new-store /data/broken-store

Every message keeps its physical offset and its queue offset. Where messages are lost, the log gets
fillers, which no consumer sees, and the queue leads to the next message. The store appears under
its name only when it is complete; until then it is OUT.partial.
exit status: 0 nothing was lost, 1 the log has damage, 2 no store was written"""

_REPLAY_EPILOG: Final = """\
example:
  rocketwire-store replay -n localhost:9876 --topic orders --journal orders.journal ~/store

Consumers get the same body, tags, keys, properties, flag, unique key and born time. Messages of a
queue keep their order, and go to the queue with the same id, if the target has it. The topics must
exist at the target. Without --topic, dead letters and retries are left out,
and so are the topics of brokers: delayed and timed messages are sent if they were delivered, those
of a transaction if it was committed.
exit status: 0 all messages were sent, 1 some could not be sent or read, 2 the command line or the
journal is invalid or a path is not a store, 130 interrupted, 143 after SIGTERM"""


class _VerbParser(ProgramParser):
    """The parser of a verb."""

    # whether it has the options of a connection.  They are added when the parser is used, because
    # their module loads slowly.
    connects = False

    def parse_known_args(self, *arguments: Any, **options: Any) -> Any:
        if self.connects:
            from rocketwire_tools.cli.settings import add_settings

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
        _add_replay,
    ):
        add(verbs)
    return parser


def _verb(
    verbs: _Verbs,
    name: str,
    text: str,
    example: str = "",
    *,
    epilog: str = "",
    out: str = "",
    json: str = "write JSON lines instead of a table",
) -> _VerbParser:
    parser = verbs.add_parser(
        name,
        help=text,
        description=text,
        epilog=epilog or f"example:\n  {example}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(run=partial(_run, name))
    if out:
        parser.add_argument("out", type=Path, metavar="OUT", help=out)
    root = "root of a store (storePathRootDir), folders of its commit log, or files of it"
    parser.add_argument("paths", nargs="+", type=Path, metavar="PATH", help=root)
    parser.add_argument("--json", action="store_true", help=json)
    return parser


def _run(name: str, arguments: argparse.Namespace) -> int:
    module = importlib.import_module(f"rocketwire_tools.store.verbs.{name}")
    status: int = module.run(arguments)
    return status


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
        "--begin", type=time_argument, metavar="TIME", help=f"stored at or after TIME: {FORMS}"
    )
    group.add_argument("--end", type=time_argument, metavar="TIME", help="stored at or before TIME")
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


def _jobs(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--jobs",
        type=positive,
        default=1,
        metavar="N",
        help="processes that read the log; the output is the same (default: %(default)s)",
    )


def offset_range(text: str) -> tuple[int | None, int | None]:
    """Return the first and last offset of ``FROM:TO``; None for one that is not given."""
    begin, separator, end = text.partition(":")
    try:
        first = int(begin) if begin else None
        last = (int(end) if end else None) if separator else first
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r}: must be FROM:TO, FROM: or :TO") from None
    return first, last


def _add_info(verbs: _Verbs) -> None:
    _verb(
        verbs,
        "info",
        "show what a store is: its kind, release, sizes, times, and how the broker ended",
        "rocketwire-store info ~/store",
    )


def _add_stat(verbs: _Verbs) -> None:
    parser = _verb(
        verbs, "stat", "count messages and bytes", "rocketwire-store stat --by topic ~/store"
    )
    parser.add_argument(
        "--by",
        choices=("topic", "queue", "tag", "hour", "kind", "file", "group", "size"),
        default="topic",
        help="what to count by; group is that of the producer, which transactions store; size is"
        " that of bodies (default: %(default)s)",
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
    parser = _verb(
        verbs,
        "check",
        "check whether a store is whole, and show where a broker would cut its log",
        "rocketwire-store check --why ~/store",
    )
    parser.add_argument(
        "--why", action="store_true", help="show file, byte and rule of each finding"
    )


def _add_rebuild(verbs: _Verbs) -> None:
    parser = _verb(
        verbs,
        "rebuild",
        "build a new store from the commit log, on which a broker can start",
        epilog=_REBUILD_EPILOG,
        out="the new store; must not exist, or be an empty folder",
        json="write the report as JSON",
    )
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


def _add_replay(verbs: _Verbs) -> None:
    parser = _verb(verbs, "replay", "send messages to a running cluster", epilog=_REPLAY_EPILOG)
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
