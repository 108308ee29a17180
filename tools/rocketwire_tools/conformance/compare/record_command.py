"""The commands ``rocketwire-conformance record`` and ``replay``."""

from __future__ import annotations

import argparse
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import trio

from rocketwire_tools.conformance.arguments import (
    FAILED,
    PASSED,
    UNREACHABLE,
    add_patience,
    address,
    output,
)
from rocketwire_tools.conformance.compare.diff import Comparison, explain, known_differences
from rocketwire_tools.conformance.compare.diff_command import add_known, as_json, tell
from rocketwire_tools.conformance.compare.recording import Tap, read
from rocketwire_tools.conformance.compare.replay import replay
from rocketwire_tools.conformance.run.executor import UnreachableError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rocketwire_tools.conformance.run.target import Address


def record_command(words: Sequence[str]) -> int:
    """Run ``record`` until a signal ends it; returns the exit status."""
    parser = argparse.ArgumentParser(
        prog="rocketwire-conformance record",
        description="Stand between clients and a server, pass everything on and write it down.",
    )
    parser.add_argument("--listen", required=True, type=address, metavar="HOST:PORT")
    parser.add_argument("--target", required=True, type=address, metavar="HOST:PORT")
    parser.add_argument("-o", "--output", required=True, type=output, metavar="FILE")
    args = parser.parse_args(words)
    try:
        return trio.run(_record, args.listen, args.target, args.output)
    except OSError as error:
        print(f"cannot record: {error}", file=sys.stderr)
        return FAILED


async def _record(listen: Address, target: Address, output: Path) -> int:
    listeners = await trio.open_tcp_listeners(listen.port, host=listen.host)
    with (
        output.open("w", encoding="ascii") as sink,
        trio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals,
    ):
        tap = Tap(target, sink)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(trio.serve_listeners, tap.serve, listeners)
            print(f"{listen} leads to {target}; end it with an interrupt", flush=True)
            async for _ in signals:
                nursery.cancel_scope.cancel()
                break
    if tap.unreached:
        print(f"{tap.unreached} connections did not reach {target}", file=sys.stderr)
        return UNREACHABLE
    return PASSED


def replay_command(words: Sequence[str]) -> int:
    """Run ``replay``; returns the exit status."""
    parser = argparse.ArgumentParser(
        prog="rocketwire-conformance replay",
        description="Play the client's side of a recording and report what the server says otherwise.",
    )
    add = parser.add_argument
    add("recording", type=Path, metavar="FILE")
    add("target", type=address, metavar="HOST:PORT")
    add("--exact", action="store_true", help="compare bodies byte for byte")
    add_patience(parser)
    add_known(parser)
    add("--json", type=output, metavar="FILE")
    args = parser.parse_args(words)
    try:
        known_list = known_differences(args.known)
        events = read(args.recording.read_text("utf-8"))
    except (OSError, ValueError) as error:
        parser.error(str(error))

    stored: list[str] = []

    async def run() -> Comparison:
        result = await replay(events, args.target, patience=args.patience, exact=args.exact)
        stored.extend(result.stored)
        unexplained, explained = explain(result.differences, known_list)
        used = {id(reason) for _, reason in explained}
        unused = [entry for entry in known_list if id(entry) not in used]
        return Comparison(unexplained, explained, unused, result.compared)

    try:
        comparison = trio.run(run)
    except UnreachableError as error:
        print(f"unreachable: {error}", file=sys.stderr)
        return UNREACHABLE
    tell(comparison, "messages of the server")
    for text in stored:
        print(f"{args.target}: the replay leaves behind: {text}")
    if args.json:
        args.json.write_text(as_json(comparison), "utf-8")
    return FAILED if comparison.unexplained else PASSED
