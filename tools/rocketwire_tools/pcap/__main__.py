"""The command ``rocketwire-pcap``.

Rules of this file: a sub-command imports what it needs when it runs; exit status 0, 1 if a capture could not be read to its
end, 2 if the command line is wrong; who stops reading the output ends the program silently.
"""

from __future__ import annotations

import argparse
import gc
import os
import sys
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Commands = Callable[..., argparse.ArgumentParser]
    """``add_parser`` of the object that ``add_subparsers`` gives."""

__all__ = ["main"]

USAGE: Final = 2
INTERRUPTED: Final = 130
_SPARED_COLLECTIONS: Final = 200_000


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command.

    Args:
        argv: its arguments; those of the process if None.

    Returns:
        The exit status.
    """
    arguments = _parser().parse_args(argv)
    gc.set_threshold(_SPARED_COLLECTIONS, 50, 1000)  # rows by the ten thousand are no garbage
    try:
        status: int = arguments.run(arguments)
        sys.stdout.flush()
    except BrokenPipeError:
        _forget_output()
        return 0
    except ImportError as error:
        print(f"rocketwire-pcap: {error}; pip install rocketwire[pcap]", file=sys.stderr)
        return USAGE
    except (OSError, ValueError) as error:
        print(f"rocketwire-pcap: {error}", file=sys.stderr)
        return USAGE
    except KeyboardInterrupt:
        return INTERRUPTED
    return status


def _forget_output() -> None:
    """Nobody reads any more: what is still buffered must not fail when the process ends."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="rocketwire-pcap",
        description="RocketMQ frames out of pcap and pcapng files, compressed ones included; - is standard input.",
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND").add_parser
    _add_decode(commands)
    _add_live(commands)
    _add_reports(commands)
    return parser


def _inputs(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("captures", nargs="+", metavar="IN", help="a capture; - for standard input")
    _choices(parser)


def _choices(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--filter",
        metavar="EXPR",
        help="only frames for which this is true, as 'code==310 and topic==\"x\"'",
    )
    parser.add_argument(
        "--redact",
        metavar="SECRET",
        help="mask topics, groups and addresses, the same name always by the same mask",
    )


def _columns(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--fields", metavar="NAME,...", help="only these columns, in this order")
    parser.add_argument(
        "--body",
        choices=("none", "length", "decoded"),
        default="length",
        help="what to say of bodies: they are customers' data",
    )


def _add_decode(commands: Commands) -> None:
    parser = commands("decode", help="one row for each frame")
    _inputs(parser)
    parser.add_argument(
        "-o", "--output", metavar="FILE", help="write there: .parquet, .jsonl, .csv or .txt"
    )
    parser.add_argument(
        "--format", choices=("text", "jsonl", "csv", "parquet"), help="text by default"
    )
    _columns(parser)
    parser.set_defaults(run=_decode, live=False)


def _add_live(commands: Commands) -> None:
    parser = commands(
        "live",
        help="the same of a capture that is going on: tcpdump -w - -U | rocketwire-pcap live",
    )
    parser.add_argument(
        "captures", nargs="*", default=["-"], metavar="IN", help="standard input by default"
    )
    _choices(parser)
    parser.add_argument("--format", choices=("text", "jsonl"), help="text by default")
    _columns(parser)
    parser.set_defaults(run=_decode, live=True, output=None)


def _decode(arguments: argparse.Namespace) -> int:
    from rocketwire_tools.pcap.decoding import decode
    from rocketwire_tools.pcap.output import TERSE, format_of
    from rocketwire_tools.pcap.selection import Selection

    form = arguments.format or format_of(arguments.output) or "text"
    fields = None if arguments.fields is None else arguments.fields.split(",")
    if fields is None and form == "text":
        fields = list(TERSE)
    selection = Selection(fields, arguments.filter, arguments.body, arguments.redact)
    return decode(arguments.captures, selection, arguments.output, form, live=arguments.live)


_REPORTS: Final = {
    "summary": "frames, codes, errors, talkers, rates and what is odd",
    "slow": "latency percentiles by code and topic, and the slowest requests",
    "topics": "requests, errors and bytes by topic",
    "connections": "frames, bytes and errors by connection",
}


def _add_reports(commands: Commands) -> None:
    for name, text in _REPORTS.items():
        parser = commands(name, help=text)
        _inputs(parser)
        parser.add_argument(
            "--top", type=int, default=20, metavar="N", help="lines of a table; 20 by default"
        )
        parser.add_argument("--json", action="store_true", help="one JSON object instead of tables")
        parser.set_defaults(run=_report, report=name)


def _report(arguments: argparse.Namespace) -> int:
    from rocketwire_tools.pcap.decoding import report

    return report(
        arguments.report,
        arguments.captures,
        filter_text=arguments.filter,
        redact=arguments.redact,
        top=arguments.top,
        as_json=arguments.json,
    )


if __name__ == "__main__":
    sys.exit(main())
