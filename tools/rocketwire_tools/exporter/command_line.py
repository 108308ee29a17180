"""The options of ``rocketwire-exporter``."""

from __future__ import annotations

import argparse
from dataclasses import dataclass, fields
from typing import Final

from rocketwire import __version__
from rocketwire.program import ProgramParser
from rocketwire_tools.cli.arguments import seconds
from rocketwire_tools.cli.settings import add_settings
from rocketwire_tools.exporter.collection import MIN_INTERVAL, WAIT, Limits
from rocketwire_tools.values import natural, positive

NAME: Final = "rocketwire-exporter"
PORT: Final = 5557  # apache's exporter listens on the same port
MAX_PORT: Final = 65_535

_EPILOG: Final = """\
examples:
  rocketwire-exporter -n '10.0.0.1:9876;10.0.0.2:9876' --listen 0.0.0.0:5557
  ROCKETWIRE_SECRET_KEY=... rocketwire-exporter -n mq:9876 --access-key monitor
  rocketwire-exporter -n mq:9876 --once > /var/lib/node_exporter/rocketmq.prom

exit status: 0 success or a signal, 1 the port is in use, 2 invalid usage,
3 with --once: no name server or not every broker answered
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Options(Limits):
    request_timeout: float  # seconds of a request
    listen: tuple[str, int] = ("127.0.0.1", PORT)  # address and port; 0 for any free one
    once: bool = False  # collect once and print
    wait: float = WAIT  # seconds that a scrape waits for a collection
    min_interval: float = MIN_INTERVAL  # seconds after a collection in which no other begins


_DEFAULTS: Final = Options(request_timeout=0)


def build_parser() -> argparse.ArgumentParser:
    parser = ProgramParser(
        prog=NAME,
        description="Serve the metrics of a cluster to Prometheus, with the names of Apache's\n"
        "rocketmq-exporter. A scrape of /metrics starts a collection and waits for it.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=__version__)
    parser.add_argument("-v", "--verbose", action="store_true", help="log progress to stderr")
    parser.add_argument(
        "--listen",
        type=_place,
        default=("127.0.0.1", PORT),
        metavar="ADDRESS:PORT",
        help=f"address that Prometheus scrapes (default 127.0.0.1:{PORT})",
    )
    parser.add_argument("--once", action="store_true", help="collect once, print, and exit")
    limits = parser.add_argument_group("limits")
    for name, field, kind, text in (
        ("--wait", "wait", seconds, "seconds that a scrape waits for a collection"),
        ("--deadline", "deadline", seconds, "seconds after which a collection ends incomplete"),
        ("--min-interval", "min_interval", _duration, "minimum seconds between two collections"),
        ("--concurrent", "concurrent", positive, "concurrent requests to one broker"),
        ("--max-series", "series", positive, "maximum number of series of a collection"),
        (
            "--max-clients",
            "clients",
            natural,
            "maximum number of group members asked for their state",
        ),
    ):
        default = getattr(_DEFAULTS, field)
        text = f"{text} (default {default:g})"
        limits.add_argument(name, dest=field, type=kind, default=default, metavar="N", help=text)
    add_settings(parser, taken=("--namespace",))  # all topics are shown, whatever their namespace
    return parser


def options_of(arguments: argparse.Namespace, request_timeout: float) -> Options:
    names = [field.name for field in fields(Options) if field.name != "request_timeout"]
    values = {name: getattr(arguments, name) for name in names}
    return Options(request_timeout=request_timeout, **values)


def _place(text: str) -> tuple[str, int]:
    # Read ``ADDRESS:PORT``; the address may be an IPv6 address in brackets
    address, colon, port = text.rpartition(":")
    if not colon or not port.isascii() or not port.isdigit() or int(port) > MAX_PORT:
        raise argparse.ArgumentTypeError(f"{text!r}: must be ADDRESS:PORT")
    return address.removeprefix("[").removesuffix("]"), int(port)


def _duration(text: str) -> float:
    return 0.0 if text == "0" else seconds(text)
