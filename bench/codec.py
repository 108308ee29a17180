"""Compare the codec with hand-written struct code, interpreted construct and Java's own classes:
``python -m bench.codec``.

Every round times every candidate of a row once, in turn. Cells are microseconds, medians of the
rounds; ratios are those to the hand-written way in the same round.
"""

from __future__ import annotations

import argparse
import gc
import os
import statistics
import subprocess
import sys
import tempfile
import time
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Final, NamedTuple

from bench import handwritten, machine
from bench.programs import Program, compile_java, java_command
from bench.table import Table
from rocketwire.codes import LanguageCode, SerializeType
from rocketwire.wire.command import RemotingCommand, decode, encode
from rocketwire.wire.json_header import read_json_header
from rocketwire.wire.layouts import declarations
from rocketwire.wire.layouts import fused as layouts
from tests.peers import cache as java_cache
from tests.peers.interpreted_layouts import interpret_builder, interpret_parser

Call = Callable[[], object]
WARM_CALLS: Final = {"register": 60}
"""Of Java, by input; 200,000 of the others."""
CANDIDATES: Final = ("ours", "hand", "construct", "Java")


class Row(NamedTuple):
    """One thing to do, and the candidates; ``java`` is the name of Java's input."""

    name: str
    ours: Call
    hand: Call
    construct: Call | None
    java: str
    calls: int


def nanoseconds(call: Call, calls: int) -> float:
    repeat = range(calls)
    start = time.perf_counter_ns()
    for _ in repeat:
        call()
    return (time.perf_counter_ns() - start) / calls


def request() -> bytes:
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
    properties = (
        "KEYS\x01order-1\x02UNIQ_KEY\x017F000001123418B4AAC200A1B2C30007\x02"
        "WAIT\x01true\x02TAGS\x01TagA\x02"
    )
    return layouts.build_stored_message(
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
    return layouts.build_register_body_with_mappings(
        data_version=b'{"counter":1,"stateVersion":0,"timestamp":1700000000000}',
        topics=[
            (b"%05d" % i + b"-a-name" * 14)[: 5 + i * 37 % 96] + b" 8 8 6 SINGLE_TAG {}"
            for i in range(topics)
        ],
        filter_servers=b"[]",
        mappings=[],
    )


def our_topics(body: bytes) -> dict[str, bytes]:
    topics: dict[str, bytes] = {}
    (_, texts, _, _), _ = layouts.parse_register_body_with_mappings(body)
    for text in texts:
        name, _, settings = text.partition(b" ")
        topics[name.decode()] = settings
    return topics


def rows() -> list[Row]:
    """Everything that is compared.

    The column of construct has layouts only: in rows with a JSON header all candidates spend the
    same time in orjson. Java has no function for an envelope without a header, so its complete
    ``decode`` and ``encode`` are compared with ours, which does less.
    """
    frame, stored, registration_body = request(), message(), registration(10_000)
    header = frame[8:]
    slow_envelope = interpret_parser(declarations.ENVELOPE)
    slow_build = interpret_builder(declarations.ENVELOPE)
    slow_stored = interpret_parser(declarations.STORED_MESSAGE)
    slow_header = interpret_parser(declarations.BINARY_HEADER)
    slow_register = interpret_parser(declarations.REGISTER_BODY_WITH_MAPPINGS)
    frame_size = len(frame)

    def ours_with_header() -> object:
        (_, text, body), _ = layouts.parse_envelope(frame)
        return read_json_header(text), body

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
    if layouts.parse_stored_message(stored) != handwritten.read_stored_message(stored):
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
            20_000,
        ),
        Row("envelope + JSON header", ours_with_header, hand_with_header, None, "frame", 10_000),
        Row(
            "ROCKETMQ header",
            lambda: layouts.parse_binary_header(binary),
            lambda: handwritten.binary_header(binary),
            slow_binary,
            "binary",
            10_000,
        ),
        Row(
            "build envelope",
            lambda: layouts.build_envelope(0, header, b""),
            lambda: handwritten.build(0, header, b""),
            lambda: slow_build(0, header, b""),
            "build",
            20_000,
        ),
        Row(
            "stored message",
            lambda: layouts.parse_stored_message(stored),
            lambda: handwritten.read_stored_message(stored),
            lambda: slow_stored(stored),
            "stored",
            10_000,
        ),
        Row(
            "register body, 10k topics",
            lambda: layouts.parse_register_body_with_mappings(registration_body),
            lambda: handwritten.register_topics(registration_body),
            lambda: slow_register(registration_body),
            "register",
            20,
        ),
        Row(
            "... and a dict of its topics",
            lambda: our_topics(registration_body),
            lambda: handwritten.register_topics(registration_body),
            lambda: slow_register(registration_body),
            "register",
            20,
        ),
        Row(
            f"decode() of {frame_size} bytes to a command",
            lambda: decode(frame),
            hand_with_header,
            None,
            "frame",
            10_000,
        ),
    ]


def open_java(folder: Path) -> Program | None:
    inputs = {
        "frame": request(),
        "binary": binary_request(),
        "build": b"",
        "stored": message(),
        "register": zlib.compress(registration(10_000), 9),
    }
    try:
        compile_java(folder, "CodecBench")
    except java_cache.JavaUnavailableError as error:
        print(f"no Java: {error}", file=sys.stderr)
        return None
    java = Program(java_command(folder, "CodecBench", options=["-Xmx512m"]))
    for name, data in inputs.items():
        java.write(f"{name} {data.hex()}")
        java.read()
        java_nanoseconds(java, name, WARM_CALLS.get(name, 200_000))
    return java


def java_nanoseconds(java: Program, name: str, calls: int) -> float:
    java.write(f"run {name} {calls}")
    return float(java.read())


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
    parser = argparse.ArgumentParser(prog="python -m bench.codec", description=__doc__)
    parser.add_argument("--rounds", type=int, default=15)
    options = parser.parse_args()
    print(machine.describe())
    table = Table(CANDIDATES, "hand")
    with tempfile.TemporaryDirectory(prefix="rocketwire-bench-") as folder:
        java = open_java(Path(folder))
        gc.disable()
        for row in rows():
            for _ in range(options.rounds):
                table.add(row.name, "ours", nanoseconds(row.ours, row.calls) / 1e3)
                table.add(row.name, "hand", nanoseconds(row.hand, row.calls) / 1e3)
                if row.construct is not None:
                    calls = max(row.calls // 20, 1)
                    table.add(row.name, "construct", nanoseconds(row.construct, calls) / 1e3)
                if java is not None:
                    taken = java_nanoseconds(java, row.java, row.calls)
                    table.add(row.name, "Java", taken / 1e3)
        if java is not None:
            java.end()
    table.print()
    both, dependencies = import_milliseconds()
    print(f"import rocketwire: {both:.0f} ms, {dependencies:.0f} ms of them its dependencies")


if __name__ == "__main__":
    main()
