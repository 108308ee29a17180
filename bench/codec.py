"""The codec against hand-written struct code, interpreted construct and Java's own classes,
interleaved in one run.

Run it with ``make bench`` (or ``python -m bench.codec``); without Java its column stays empty.
Every round times every candidate of a row once, in turn; a row shows the medians of the rounds, and
of the ratios to our time in the same round, because the machine's clock may change between rounds.

The registration is read several times in a row, as by a name server that has its memory already.

The column of construct has layouts only: in rows with a JSON header all candidates would spend the
same time in orjson. Java has no function for an envelope without a header, so its complete
``decode`` and ``encode`` are compared with ours, which does less.
"""

from __future__ import annotations

import argparse
import gc
import math
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
import zlib
from collections.abc import Callable
from typing import NamedTuple

from bench import handwritten
from bench.javacodec import JavaCodec, open_java
from rocketwire.codes import LanguageCode, SerializeType
from rocketwire.wire.command import RemotingCommand, decode, encode
from rocketwire.wire.json_header import read_json_header
from rocketwire.wire.layouts import functions as layouts
from rocketwire.wire.layouts.interpreter import interpret_builder, interpret_parser

Call = Callable[[], object]
INF = float("inf")
NAN = float("nan")


class Row(NamedTuple):
    """One thing to do, by whom, and how much slower than the hand-written way ours may be."""

    name: str
    ours: Call
    hand: Call
    construct: Call | None
    java: str
    limit: float
    calls: int


def _time(call: Call, calls: int) -> float:
    """Nanoseconds for one call."""
    repeat = range(calls)
    start = time.perf_counter_ns()
    for _ in repeat:
        call()
    return (time.perf_counter_ns() - start) / calls


def request() -> bytes:
    """A route request of the usual kind, 140 bytes."""
    return encode(
        RemotingCommand(
            code=105,
            language=LanguageCode.JAVA,
            opaque=7,
            ext_fields={"topic": "TopicTest"},
            serialize_type=SerializeType.JSON,
        )
    )


def binary_request() -> bytes:
    """The same with a ROCKETMQ header."""
    return encode(
        RemotingCommand(
            code=105,
            language=LanguageCode.JAVA,
            opaque=7,
            ext_fields={"topic": "TopicTest"},
            serialize_type=SerializeType.ROCKETMQ,
        )
    )


def message() -> bytes:
    """A stored message of version 1 with IPv4 hosts, about 440 bytes."""
    properties = (
        "KEYS\x01order-1\x02UNIQ_KEY\x017F000001123418B4AAC200A1B2C30007\x02"
        "WAIT\x01true\x02TAGS\x01TagA\x02"
    )
    return layouts.build_stored(
        (
            layouts.MAGIC_V1,
            1,
            2,
            0,
            5,
            4660,
            0,
            1_700_000_000_000,
            b"\x7f\0\0\1",
            50000,
            1_700_000_000_100,
            b"\x7f\0\0\1",
            10911,
            0,
            0,
            b"x" * 256,
            "TopicTest",
            properties,
        )
    )


def registration(topics: int) -> bytes:
    """Return the inflated registration of a broker; the names of its topics have 5 to 100 bytes, as
    in practice."""
    return layouts.build_register_body(
        layouts.RegisterParts(
            data_version=b'{"counter":1,"stateVersion":0,"timestamp":1700000000000}',
            topics=[
                (b"%05d" % i + b"-a-name" * 14)[: 5 + i * 37 % 96] + b" 8 8 6 SINGLE_TAG {}"
                for i in range(topics)
            ],
            filter_servers=b"[]",
            mappings=[],
        )
    )


def our_topics(body: bytes) -> dict[str, bytes]:
    """Return the result of ``handwritten.register_topics``, from the grammar's parts."""
    topics: dict[str, bytes] = {}
    for text in layouts.parse_register_body(body, with_mappings=True).topics:
        name, _, settings = text.partition(b" ")
        topics[name.decode()] = settings
    return topics


def rows() -> list[Row]:
    """Everything that is compared."""
    frame, stored, registration_body = request(), message(), registration(10_000)
    header = frame[8:]
    slow_envelope = interpret_parser(layouts.ENVELOPE)
    slow_build = interpret_builder(layouts.ENVELOPE)
    slow_stored = interpret_parser(layouts.STORED_MESSAGE)
    slow_header = interpret_parser(layouts.BINARY_HEADER)
    slow_register = interpret_parser(layouts.REGISTER_BODY_WITH_MAPPINGS)
    frame_size = len(frame)

    def ours_with_header() -> object:
        (_, text, body), _ = layouts.parse_envelope(frame)
        header = text if isinstance(text, bytes) else bytes(text)  # bytes of bytes are a call, too
        return read_json_header(header), body

    def hand_with_header() -> object:
        (_, text, body), _ = handwritten.envelope(frame)
        return handwritten.json_header(text), body

    binary = binary_request()[8:]

    def slow_binary() -> object:
        return slow_header(binary)

    if layouts.parse_envelope(frame) != handwritten.envelope(frame):
        raise SystemExit("the hand-written envelope differs from ours")
    if layouts.parse_binary_header(binary) != handwritten.binary_header(binary):
        raise SystemExit("the hand-written ROCKETMQ header differs from ours")
    if layouts.parse_stored(stored) != handwritten.stored(stored):
        raise SystemExit("the hand-written stored message differs from ours")
    if our_topics(registration_body) != handwritten.register_topics(registration_body):
        raise SystemExit("the hand-written registration differs from ours")
    return [
        Row(
            "envelope",
            lambda: layouts.parse_envelope(frame),
            lambda: handwritten.envelope(frame),
            lambda: slow_envelope(frame),
            "frame",
            1.5,
            20_000,
        ),
        Row(
            "envelope + JSON header", ours_with_header, hand_with_header, None, "frame", 1.3, 10_000
        ),
        Row(
            "ROCKETMQ header",
            lambda: layouts.parse_binary_header(binary),
            lambda: handwritten.binary_header(binary),
            slow_binary,
            "binary",
            1.5,
            10_000,
        ),
        Row(
            "build envelope",
            lambda: layouts.build_envelope(0, header, b""),
            lambda: handwritten.build(0, header, b""),
            lambda: slow_build(0, header, b""),
            "build",
            2.0,
            20_000,
        ),
        Row(
            "stored message",
            lambda: layouts.parse_stored(stored),
            lambda: handwritten.stored(stored),
            lambda: slow_stored(stored),
            "stored",
            1.5,
            10_000,
        ),
        Row(
            "register body, 10k topics",
            lambda: layouts.parse_register_body(registration_body, with_mappings=True),
            lambda: handwritten.register_topics(registration_body),
            lambda: slow_register(registration_body),
            "register",
            1.0,
            20,
        ),
        Row(
            "... and a dict of its topics",
            lambda: our_topics(registration_body),
            lambda: handwritten.register_topics(registration_body),
            lambda: slow_register(registration_body),
            "register",
            INF,
            20,
        ),
        Row(
            f"decode() of {frame_size} bytes to a command",
            lambda: decode(frame),
            hand_with_header,
            None,
            "frame",
            INF,
            10_000,
        ),
    ]


class Figures(NamedTuple):
    """Medians of nanoseconds for one call, and of quotients of a round; NaN where there was
    none."""

    ours: float
    hand: float
    construct: float
    java: float
    to_hand: float
    construct_to_ours: float
    to_java: float


def measure(row: Row, rounds: int, java: JavaCodec | None) -> Figures:
    """Time all candidates of a row in turn, ``rounds`` times."""
    ours: list[float] = []
    hand: list[float] = []
    construct: list[float] = []
    peer: list[float] = []
    for _ in range(rounds):
        ours.append(_time(row.ours, row.calls))
        hand.append(_time(row.hand, row.calls))
        if row.construct is not None:
            construct.append(_time(row.construct, max(row.calls // 20, 1)))
        if java is not None:
            peer.append(java.run(row.java, row.calls))
    median = statistics.median
    return Figures(
        median(ours),
        median(hand),
        median(construct or [NAN]),
        median(peer or [NAN]),
        _quotient(ours, hand),
        _quotient(construct, ours),
        _quotient(ours, peer),
    )


def _quotient(above: list[float], below: list[float]) -> float:
    """Return the median ratio of the rounds; NaN if a side was not timed."""
    return statistics.median([a / b for a, b in zip(above, below, strict=False)] or [NAN])


def _figure(value: float, digits: int) -> str:
    """Return the number, or a dash for NaN."""
    return f"{value:.{digits}f}" if math.isfinite(value) else "-"


def import_milliseconds(rounds: int = 9) -> tuple[float, float]:
    """Wall time of ``import rocketwire`` in a fresh interpreter, and of its four dependencies
    alone.

    Both have their bytecode, as after an installation, even if the environment disables writing it
    next to a working copy.
    """
    with tempfile.TemporaryDirectory() as bytecode:
        environment = {**os.environ, "PYTHONPYCACHEPREFIX": bytecode}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)

        def once(statement: str) -> float:
            start = time.perf_counter()
            subprocess.run([sys.executable, "-c", statement], check=True, env=environment)
            return (time.perf_counter() - start) * 1e3

        both = "import construct, crcmod, orjson, trio, rocketwire"
        dependencies = "import construct, crcmod, orjson, trio"
        once(both)
        pairs = [(once(both), once(dependencies)) for _ in range(rounds)]
    return statistics.median(a for a, _ in pairs), statistics.median(b for _, b in pairs)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--no-java", action="store_true", help="leave Java's column empty")
    arguments = parser.parse_args()
    body = registration(10_000)
    java = (
        None
        if arguments.no_java
        else open_java(
            frame=request(),
            binary=binary_request(),
            build=b"",
            stored=message(),
            register=zlib.compress(body, 9),
        )
    )
    gc.disable()
    print(
        f"Python {platform.python_version()}, {os.cpu_count()} CPUs, medians of"
        f" {arguments.rounds} interleaved rounds, us"
    )
    print(
        f"{'':34} {'ours':>9} {'hand':>9} {'construct':>10} {'Java':>9}   {'/hand':>6}"
        f" {'limit':>5} {'construct/':>10} {'/Java':>6}"
    )
    for row in rows():
        timings = measure(row, arguments.rounds, java)
        microseconds = [_figure(nanoseconds / 1e3, 2) for nanoseconds in timings[:4]]
        print(
            f"{row.name:34} {microseconds[0]:>9} {microseconds[1]:>9} {microseconds[2]:>10}"
            f" {microseconds[3]:>9}"
            f"   {timings.to_hand:6.2f} {_figure(row.limit, 1):>5}"
            f" {_figure(timings.construct_to_ours, 0):>10}"
            f" {_figure(timings.to_java, 2):>6}"
        )
    both, dependencies = import_milliseconds()
    print(
        f"import: {both:.0f} ms with rocketwire, {dependencies:.0f} ms its dependencies alone,"
        f" {both - dependencies:.0f} ms more"
    )


if __name__ == "__main__":
    main()
