"""The verbs of ``rocketwire-store``: their arguments, and what they run.

A verb imports its module when it runs; each shows an example in its help.
"""

from __future__ import annotations

import argparse
import importlib
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from rocketwire import __version__
from rocketwire.program import ProgramParser
from rocketwire_tools.values import FORMS, natural, positive, time_argument

if TYPE_CHECKING:
    from collections.abc import Callable

_EXIT_STATUSES: Final = """\
exit status: 0 success, 1 damage was found, or no message has the topic, tag, key or id
that an option names, 2 the command line is invalid, a path is not a store, or a file cannot be read
or written, 130 interrupted, 143 after SIGTERM. Nothing in a store is ever opened for writing.
Each verb has its own help: rocketwire-store messages --help"""

_REBUILD_NOTES: Final = """

Every message keeps its physical offset and its queue offset. Where messages are lost, the log gets
fillers, which no consumer sees, and the queue leads to the next message. The store appears under
its name only when it is complete; until then it is OUT.partial.
exit status: 0 nothing was lost, 1 the log has damage, 2 no store was written"""

_REPLAY_NOTES: Final = """

Consumers get the same body, tags, keys, properties, flag, unique key and born time. Messages of a
queue keep their order, and go to the queue with the same id, if the target has it. The topics must
exist at the target. Without --topic, dead letters and retries are left out,
and so are the topics of brokers: delayed and timed messages are sent if they were delivered, those
of a transaction if it was committed.
exit status: 0 all messages were sent, 1 some could not be sent or read, 2 the command line or the
journal is invalid or a path is not a store, 130 interrupted, 143 after SIGTERM"""


class _VerbParser(ProgramParser):
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
    parser = ProgramParser(
        prog="rocketwire-store",
        description="Read a broker's store on disk, without the broker, also if it is damaged.",
        epilog=_EXIT_STATUSES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=__version__)
    verbs = parser.add_subparsers(required=True, metavar="VERB", parser_class=_VerbParser)
    for name, (text, example, add_arguments) in _VERBS.items():
        verb = verbs.add_parser(
            name,
            help=text,
            description=text,
            epilog=f"example:\n  rocketwire-store {name} {example}",
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        verb.set_defaults(run=partial(_run, name))
        add_arguments(verb)
    return parser


def _run(name: str, arguments: argparse.Namespace) -> int:
    module = importlib.import_module(f"rocketwire_tools.store.verbs.{name}")
    status: int = module.run(arguments)
    return status


def _add_paths(
    parser: _VerbParser, json: str = "write JSON lines instead of a table", out: str = ""
) -> None:
    if out:
        parser.add_argument("out", type=Path, metavar="OUT", help=out)
    root = "root of a store (storePathRootDir), folders of its commit log, or files of it"
    parser.add_argument("paths", nargs="+", type=Path, metavar="PATH", help=root)
    parser.add_argument("--json", action="store_true", help=json)


def _add_selection(parser: _VerbParser, *, is_replay: bool = False) -> None:
    add = parser.add_argument_group("which messages").add_argument
    add(
        "--topic",
        action="append",
        default=[],
        metavar="TOPIC[=NEW]" if is_replay else None,
        help="only this topic; may be given several times"
        + ("; =NEW sends its messages to another one" if is_replay else ""),
    )
    add("--queue", type=natural, metavar="ID", help="only this queue")
    span = partial(add, type=offset_range, metavar="FROM:TO")
    span("--offsets", help="only these queue offsets, TO included")
    span("--physical", help="only these offsets of the commit log")
    time = partial(add, type=time_argument, metavar="TIME")
    time("--begin", help=f"stored at or after TIME: {FORMS}")
    time("--end", help="stored at or before TIME")
    add("--tag", action="append", default=[], help="with this tag; may be given several times")
    add("--key", help="with this key, or this unique key")
    add("--id", dest="message_id", help="with this message id: a broker's or a producer's")
    text = 'whose properties match this SQL92 filter, such as "amount > 5"'
    add("--sql", metavar="EXPRESSION", help=text)
    add("--ghosts", action="store_true", help="also old messages after the end of the log")
    if not is_replay:
        text = "also the topics that brokers write for themselves"
        add("--system", action="store_true", help=text)


def _add_columns(add: Callable[..., object], columns: str, body: tuple[str, str]) -> None:
    forms = ("none", "text", "hex", "base64")
    add("--columns", metavar="NAMES", help=columns)
    add("--body", choices=forms, default=body[0], help=f"{body[1]} (default: %(default)s)")


def _add_folded(add: Callable[..., object], verb: str) -> None:
    text = f"{verb} an inner batch as the one message it is stored as"
    add("--folded", action="store_true", help=text)


def offset_range(text: str) -> tuple[int | None, int | None]:
    """Return the first and last offset of ``FROM:TO``; None for one that is not given."""
    begin, separator, end = text.partition(":")
    try:
        first = int(begin) if begin else None
        last = (int(end) if end else None) if separator else first
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r}: must be FROM:TO, FROM: or :TO") from None
    return first, last


def _add_stat(parser: _VerbParser) -> None:
    _add_paths(parser)
    parser.add_argument(
        "--by",
        choices=("topic", "queue", "tag", "hour", "kind", "file", "group", "size"),
        default="topic",
        help="what to count by; group is that of the producer, which transactions store; size is"
        " that of bodies (default: %(default)s)",
    )
    _add_selection(parser)


def _add_messages(parser: _VerbParser) -> None:
    _add_paths(parser)
    _add_selection(parser)
    add = parser.add_argument_group("what to show").add_argument
    body = "none", "show bodies, inflated, in this form"
    _add_columns(add, "columns of the output, separated by commas", body)
    add("--limit", type=positive, metavar="N", help="stop after N messages")
    _add_folded(add, "show")


def _add_get(parser: _VerbParser) -> None:
    _add_paths(parser)
    add = parser.add_mutually_exclusive_group(required=True).add_argument
    add("--at", metavar="TOPIC:QUEUE:OFFSET", help="by its place in a queue")
    add("--physical", type=natural, metavar="N", help="by its offset in the log")
    add("--id", dest="message_id", help="by its message id: a broker's or a producer's")
    add("--key", help="by a key; needs --topic if several topics have it")
    parser.add_argument("--topic", help="topic of the key")


def _add_check(parser: _VerbParser) -> None:
    _add_paths(parser)
    text = "show file, byte and rule of each finding"
    parser.add_argument("--why", action="store_true", help=text)


def _add_rebuild(parser: _VerbParser) -> None:
    out = "the new store; must not exist, or be an empty folder"
    _add_paths(parser, "write the report as JSON", out)
    text = "read everything, write nothing, and report"
    parser.add_argument("-n", "--dry-run", action="store_true", help=text)
    add = parser.add_argument_group(
        "files (default: as in the source, else the broker's defaults)"
    ).add_argument
    add("--log-file-size", type=positive, metavar="BYTES", help="mappedFileSizeCommitLog")
    add("--queue-file-size", type=positive, metavar="BYTES", help="mappedFileSizeConsumeQueue")
    add("--index-slots", type=positive, metavar="N", help="maxHashSlotNum")
    add("--index-entries", type=positive, metavar="N", help="maxIndexNum")
    text = "index tags, as brokers do since 5.5 (default: by the release of the source)"
    add("--tag-index", choices=("auto", "yes", "no"), default="auto", help=text)


def _add_export(parser: _VerbParser) -> None:
    _add_paths(parser)
    parser.add_argument(
        "-o",
        "--output",
        default="-",
        metavar="FILE",
        help="the new file, whose suffix names the format; a name that ends in / is a new folder of"
        " files of about 1 GiB, for large stores; - is standard output (default: -)",
    )
    text = "format (default: by the suffix; jsonl on standard output, parquet in a folder)"
    parser.add_argument("--format", choices=("jsonl", "parquet", "arrow"), help=text)
    _add_selection(parser)
    add = parser.add_argument_group("what to write").add_argument
    body = "base64", "form of inflated bodies in JSON; Parquet and Arrow have bytes"
    columns = "columns, separated by commas (default: all but crc_ok)"
    _add_columns(add, columns, body)
    add(
        "--compression",
        choices=("none", "snappy", "lz4", "zstd"),
        default="snappy",
        help="compression of Parquet; none is fastest (default: %(default)s)",
    )
    _add_folded(add, "write")
    text = "also messages whose body has a wrong checksum; column crc_ok says so"
    add("--broken", action="store_true", help=text)


def _add_replay(parser: _VerbParser) -> None:
    _add_paths(parser)
    parser.connects = True
    _add_selection(parser, is_replay=True)
    add = parser.add_argument_group("how to send").add_argument
    text = "note here what was sent; with the same file a second run sends nothing twice"
    add("--journal", type=Path, metavar="FILE", help=text)
    add("--dry-run", action="store_true", help="read the store and the routes, and send nothing")
    text = "send N messages a second (default: no limit)"
    add("--rate", type=_rate, metavar="N", help=text)
    text = "sends at once, one for each queue (default: %(default)s)"
    add("--in-flight", type=positive, default=32, metavar="N", help=text)
    text = "attempts after the first one, with growing pauses (default: %(default)s)"
    add("--retries", type=natural, default=6, metavar="N", help=text)
    text = "name a message that a broker calls illegal, for example because it is too large, and"
    add("--skip-refused", action="store_true", help=f"{text} go on")


def _rate(text: str) -> float:
    try:
        rate = float(text)
    except ValueError:
        rate = 0.0
    if not 0 < rate < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r}: must be a number above 0")
    return rate


_VERBS: Final[dict[str, tuple[str, str, Callable[[_VerbParser], None]]]] = {
    "info": (
        "show what a store is: its kind, release, sizes, times, and how the broker ended",
        "~/store",
        _add_paths,
    ),
    "stat": ("count messages and bytes", "--by topic ~/store", _add_stat),
    "messages": (
        "list messages",
        "--topic orders --tag paid --body text ~/store",
        _add_messages,
    ),
    "get": ("show one message with all its bytes", "--at orders:3:1042 ~/store", _add_get),
    "check": (
        "check whether a store is whole, and show where a broker would cut its log",
        "--why ~/store",
        _add_check,
    ),
    "pending": (
        "show pending work of the broker: lag, delays, timers, open transactions, pops",
        "~/store",
        _add_paths,
    ),
    "rebuild": (
        "build a new store from the commit log, on which a broker can start",
        f"/data/new-store /data/broken-store{_REBUILD_NOTES}",
        _add_rebuild,
    ),
    "export": (
        "write messages to a file of JSON lines, Parquet or Arrow",
        "-o orders.parquet --topic orders ~/store",
        _add_export,
    ),
    "replay": (
        "send messages to a running cluster",
        f"-n localhost:9876 --topic orders --journal orders.journal ~/store{_REPLAY_NOTES}",
        _add_replay,
    ),
}
"""Name of a verb → what it does, an example of its arguments, and what declares these."""
