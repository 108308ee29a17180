"""The commands ``rocketwire-conformance record`` and ``replay``."""

from __future__ import annotations

import argparse
import signal
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import trio

from rocketwire.os_errors import os_error_text
from rocketwire.program import ProgramParser
from rocketwire_tools.conformance.arguments import (
    DIFF_STATUSES,
    FAILED,
    PASSED,
    UNREACHABLE,
    add_patience,
    address,
    output,
)
from rocketwire_tools.conformance.compare.diff import known_differences, sort_out
from rocketwire_tools.conformance.compare.diff_command import add_known, as_json, print_comparison
from rocketwire_tools.conformance.compare.recording import RecordingProxy, read
from rocketwire_tools.conformance.compare.replay import replay
from rocketwire_tools.conformance.run.executor import UnreachableError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rocketwire_tools.conformance.run.target import Address


def record_command(words: Sequence[str]) -> int:
    """Run ``record`` until interrupted, and return the exit status."""
    parser = ProgramParser(
        prog="rocketwire-conformance record",
        description="Forward connections from clients to a server and record all data, until\n"
        "interrupted.",
        epilog="example:\n  rocketwire-conformance record --listen 127.0.0.1:9877"
        " --target 127.0.0.1:9876 -o session.jsonl\n\nexit status: 0 success, 1 the port is in"
        " use or the file cannot be written, 2 invalid usage, 3 the\nserver could not be reached",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    for name, text in (
        ("--listen", "address that clients connect to"),
        ("--target", "address of the server"),
    ):
        add(name, required=True, type=address, metavar="HOST:PORT", help=text)
    add("-o", "--output", required=True, type=output, metavar="FILE", help="file of the recording")
    args = parser.parse_args(words)
    try:
        return trio.run(_record, args.listen, args.target, args.output)
    except OSError as error:
        print(f"cannot record: {os_error_text(error)}", file=sys.stderr)
        return FAILED


async def _record(listen: Address, target: Address, output: Path) -> int:
    listeners = await trio.open_tcp_listeners(listen.port, host=listen.host)
    with (
        output.open("w", encoding="ascii") as sink,
        trio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals,
    ):
        proxy = RecordingProxy(target, sink)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(trio.serve_listeners, proxy.serve, listeners)
            print(f"{listen} forwards to {target}; interrupt to end", flush=True)
            async for _ in signals:
                nursery.cancel_scope.cancel()
                break
    if proxy.unreached:
        print(f"{proxy.unreached} connections could not reach {target}", file=sys.stderr)
        return UNREACHABLE
    return PASSED


def replay_command(words: Sequence[str]) -> int:
    """Run ``replay`` and return the exit status."""
    parser = ProgramParser(
        prog="rocketwire-conformance replay",
        description="Repeat the client's side of a recording and report differences.",
        epilog="example:\n  rocketwire-conformance replay session.jsonl 127.0.0.1:9876\n\n"
        f"{DIFF_STATUSES}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("recording", type=Path, metavar="FILE", help="file that record wrote")
    add("target", type=address, metavar="HOST:PORT", help="address of the server")
    add("--exact", action="store_true", help="compare bodies byte for byte")
    add_patience(parser)
    add_known(parser)
    add("--json", type=output, metavar="FILE", help="write the differences as JSON")
    args = parser.parse_args(words)
    try:
        known_list = known_differences(args.known)
        events = read(args.recording.read_text("utf-8"))
    except (OSError, ValueError) as error:
        parser.error(os_error_text(error))
    run = partial(replay, events, args.target, patience=args.patience, exact=args.exact)
    try:
        result = trio.run(run)
    except UnreachableError as error:
        print(f"unreachable: {error}", file=sys.stderr)
        return UNREACHABLE
    comparison = sort_out(result.differences, known_list, result.compared)
    print_comparison(comparison, "messages of the server")
    for text in result.stored:
        print(f"{args.target}: the replay leaves behind: {text}")
    if args.json:
        args.json.write_text(as_json(comparison), "utf-8")
    return FAILED if comparison.unexplained else PASSED
