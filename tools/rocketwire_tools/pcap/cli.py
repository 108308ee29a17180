"""The sub-commands of ``rocketwire-pcap`` and their arguments.

A sub-command imports its modules when it runs. The help of each sub-command shows an example.
"""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Final

from rocketwire import __version__
from rocketwire.program import ProgramParser
from rocketwire_tools.terminal import CSV_HELP
from rocketwire_tools.values import positive

if TYPE_CHECKING:
    from collections.abc import Callable

    Run = Callable[[argparse.Namespace], int]

_EXIT_STATUSES: Final = """\
exit status: 0 success, 1 a capture could not be read to its end (the rows before that point and all
other captures are shown) or no frame matches --filter, 2 the command line is invalid, the output
cannot be written or a package is missing, 130 interrupted.
Each command has its own help: rocketwire-pcap decode --help"""


class Commands:
    def __init__(self, parser: argparse.ArgumentParser) -> None:
        self._commands = parser.add_subparsers(required=True, metavar="COMMAND")

    def add(self, name: str, run: Run, text: str, example: str) -> argparse.ArgumentParser:
        parser = self._commands.add_parser(
            name,
            help=text,
            description=text,
            epilog=f"example:\n{example}",
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        parser.set_defaults(run=run)
        return parser


def parser() -> argparse.ArgumentParser:
    result = ProgramParser(
        prog="rocketwire-pcap",
        description="Decode RocketMQ's frames in captures (pcap and pcapng, also compressed).",
        epilog=_EXIT_STATUSES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    result.add_argument("--version", action="version", version=__version__)
    commands = Commands(result)
    _add_decode(commands)
    _add_live(commands)
    _add_reports(commands)
    _add_dissector(commands)
    return result


# ---------------------------------------------------------------------------- common arguments


def _inputs(parser: argparse.ArgumentParser) -> None:
    _captures(parser)
    _choices(parser)


def _captures(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("captures", nargs="+", metavar="IN", help="a capture; - is standard input")
    parser.add_argument(
        "--join",
        choices=("auto", "all", "none"),
        default="auto",
        help="decode captures as one: those whose names differ only by numbers and whose times"
        " follow each other (auto, the default), all in the given order, or none",
    )


def _choices(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--filter",
        metavar="EXPR",
        help="only frames for which this is true, for example 'code==310 and topic==\"x\"'",
    )
    _redact(parser)


def _redact(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--redact",
        metavar="SECRET",
        help="mask topics, groups and addresses; a name always has the same mask",
    )


def _columns(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--fields", metavar="NAME,...", help="only these columns, in this order")
    parser.add_argument(
        "--body",
        choices=("none", "length", "decoded"),
        default="length",
        help="how to show bodies, which may be confidential (default: %(default)s)",
    )


# ---------------------------------------------------------------------------- rows


def _add_decode(commands: Commands) -> None:
    parser = commands.add(
        "decode",
        _decode,
        "show each frame as a row",
        "  rocketwire-pcap decode trace.pcap | head\n"
        "  rocketwire-pcap decode trace.pcap.zst -o frames.parquet\n"
        "  rocketwire-pcap decode *.pcap --filter 'kind == \"response\" and code != 0'",
    )
    _inputs(parser)
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        help="output file: .parquet, .jsonl, .csv or .txt (default: standard output)",
    )
    parser.add_argument(
        "--format",
        choices=("text", "jsonl", "csv", "parquet"),
        help=f"format of the output (default: by the suffix of --output, else text). {CSV_HELP}",
    )
    _columns(parser)
    parser.set_defaults(live=False)


def _add_live(commands: Commands) -> None:
    parser = commands.add(
        "live",
        _decode,
        "show each frame of a running capture as soon as it arrives",
        "  tcpdump -i any -U -w - tcp | rocketwire-pcap live --filter 'latency_ns > 1000000000'",
    )
    parser.add_argument(
        "captures",
        nargs="*",
        default=["-"],
        metavar="IN",
        help="a capture that still grows; - is standard input (default: -)",
    )
    _choices(parser)
    parser.add_argument(
        "--format", choices=("text", "jsonl"), help="format of the output (default: text)"
    )
    _columns(parser)
    parser.set_defaults(live=True, output=None, join="none")


def _decode(arguments: argparse.Namespace) -> int:
    from rocketwire_tools.pcap.reports.run import decode
    from rocketwire_tools.pcap.rows.output import TERSE, format_of
    from rocketwire_tools.pcap.rows.selection import Selection

    form = arguments.format or format_of(arguments.output) or "text"
    fields = (
        None if arguments.fields is None else [name.strip() for name in arguments.fields.split(",")]
    )
    if fields is None and form == "text":
        fields = list(TERSE)
    selection = Selection(fields, arguments.filter, arguments.body, arguments.redact)
    return decode(
        arguments.captures,
        selection,
        arguments.output,
        form,
        live=arguments.live,
        join=arguments.join,
    )


# ---------------------------------------------------------------------------- reports

_REPORTS: Final = {
    "summary": "show totals, codes, errors, busiest peers, rates and unusual frames",
    "slow": "show latency percentiles by code and topic, and the slowest requests",
    "topics": "count requests, errors and bytes by topic",
    "connections": "count frames, bytes and errors by connection",
}

_PLOTTED: Final = ("summary", "slow")


def _add_reports(commands: Commands) -> None:
    for name, text in _REPORTS.items():
        parser = commands.add(
            name, _report, text, f"  rocketwire-pcap {name} trace.pcap --top 50 --json"
        )
        _inputs(parser)
        parser.add_argument(
            "--top",
            type=positive,
            default=20,
            metavar="N",
            help="rows of a table (default: %(default)s)",
        )
        parser.add_argument(
            "--json", action="store_true", help="write one JSON object instead of tables"
        )
        parser.set_defaults(report=name, plot=None)
        if name in _PLOTTED:
            parser.add_argument(
                "--plot",
                metavar="FILE",
                help="draw rate and latency over time, and the distribution of latencies:"
                " .png or .svg; needs rocketwire[plot]",
            )


def _report(arguments: argparse.Namespace) -> int:
    from rocketwire_tools.pcap.reports.run import report

    return report(
        arguments.report,
        arguments.captures,
        filter_text=arguments.filter,
        redact=arguments.redact,
        top=arguments.top,
        as_json=arguments.json,
        plot=arguments.plot,
        join=arguments.join,
    )


# ---------------------------------------------------------------------------- Wireshark


def _add_dissector(commands: Commands) -> None:
    commands.add(
        "dissector",
        _dissector,
        "print a dissector for Wireshark and tshark, in Lua",
        "  mkdir -p ~/.local/lib/wireshark/plugins\n"
        "  rocketwire-pcap dissector > ~/.local/lib/wireshark/plugins/rocketmq.lua\n"
        "  rocketwire-pcap dissector > rocketmq.lua\n"
        "  tshark -X lua_script:rocketmq.lua -r trace.pcap -Y rocketmq",
    )


def _dissector(_: argparse.Namespace) -> int:
    from rocketwire_tools.pcap.dissector.dissector import dissector

    sys.stdout.write(dissector())
    return 0
