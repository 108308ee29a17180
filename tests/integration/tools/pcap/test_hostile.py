"""Hostile captures: memory stays bounded, and unreadable parts are reported."""

import gzip
import struct
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from rocketwire.wire.command import RemotingCommand, encode
from tests.support.captures.decoded_rows import rows

HEAD = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 262144, 1)
MAX_MB = 256
# VmHWM, since ru_maxrss of a new process begins at the peak of the one that started it.
DECODE = """
import re, sys
from pathlib import Path
from rocketwire_tools.pcap.decode.decoder import Decoder
decoder = Decoder(sys.argv[1])
rows = sum(batch.num_rows for batch in decoder)
status = Path("/proc/self/status").read_text()
print(decoder.totals.packets, rows, int(re.search(r"VmHWM:\\s+(\\d+)", status)[1]) >> 10)
"""
PACKET = np.dtype(
    [
        ("seconds", "<u4"), ("fraction", "<u4"), ("captured", "<u4"), ("wire", "<u4"),
        ("ethernet", "V14"), ("ip", "V12"), ("source", ">u4"), ("target", ">u4"),
        ("source_port", ">u2"), ("target_port", ">u2"), ("sequence", ">u4"), ("acknowledged", ">u4"),
        ("offset", "u1"), ("flags", "u1"), ("rest", "V6"), ("data", "V8"),
    ]
)  # fmt: skip


def decode(path: Path) -> tuple[int, int, int]:
    result = subprocess.run(
        [sys.executable, "-c", DECODE, str(path)], capture_output=True, check=True
    )
    packets, rows, megabytes = map(int, result.stdout.split())
    return packets, rows, megabytes


def flows(count: int, flags: int) -> bytes:
    result = np.zeros(count, PACKET)
    number = np.arange(count)
    result["seconds"], result["fraction"] = 1_700_000_000 + number // 100_000, number % 100_000 * 10
    result["captured"] = result["wire"] = PACKET.itemsize - 16
    result["ethernet"] = np.void(b"\0" * 12 + b"\x08\0")
    result["ip"] = np.void(b"\x45\0\0\x30\0\0\x40\0\x40\x06\0\0")
    result["source"], result["target"] = 0x0A000000 + number, 0x0B000001
    result["source_port"], result["target_port"] = 20_000, 10911
    result["sequence"], result["offset"], result["flags"] = 1, 0x50, flags
    result["data"] = np.void(b"\0\0\x01\0\0\0\0\x80")
    return result.tobytes()


def capture(*segments: tuple[int, bytes]) -> bytes:
    result, sequence = bytearray(HEAD), 1
    for number, (flags, data) in enumerate(segments):
        packet = np.frombuffer(flows(1, flags), PACKET).copy()
        packet["captured"] = packet["wire"] = PACKET.itemsize - 24 + len(data)
        packet["fraction"], packet["sequence"] = number, sequence
        result += packet.tobytes()[:-8] + data
        result[-len(data) - 38 : -len(data) - 36] = (40 + len(data)).to_bytes(2, "big")
        sequence += len(data)
    return bytes(result)


FRAME = encode(RemotingCommand(code=105, opaque=7))


@pytest.mark.parametrize(
    "words",
    [(0xFFFFFFFF, 10), (0x7FFFFFFF, 0xFFFFFF), (50, 0xFFFF00), (0, 0), (3, 0), (0xFFFFFD, 8), (100, 0x02000008)],
    ids=lambda words: "{:x} {:x}".format(*words),
)  # fmt: skip
def test_words_that_lie_between_two_frames_cost_neither(
    words: tuple[int, int], tmp_path: Path
) -> None:
    path = tmp_path / "lies.pcap"
    lie = struct.pack(">II", *words) + b"{" * 100
    path.write_bytes(capture((16, FRAME), (16, lie), (16, FRAME)))
    assert [105, 105] == [row["code"] for row in rows(path)]


def headers_that_are_never_whole() -> bytes:
    beginning = struct.pack(">II", 64_008, 64_000) + b'{"remark":"' + b"x" * 60_000
    packet = capture((16, beginning))[len(HEAD) :]
    sources = (0x0A000000 + number for number in range(6000))
    return HEAD + b"".join(
        packet[:42] + source.to_bytes(4, "big") + packet[46:] for source in sources
    )


@pytest.mark.process
@pytest.mark.parametrize(
    ("build", "packets", "frames", "megabytes"),
    [
        pytest.param(lambda: HEAD + flows(150_000, 2), 150_000, 0, MAX_MB, marks=pytest.mark.full),
        pytest.param(lambda: HEAD + flows(150_000, 16), 150_000, 0, MAX_MB, marks=pytest.mark.full),
        pytest.param(
            lambda: capture(*[(16, b"\0\0\0\6\0\0\0\2{}" * 6000)] * 300),
            *(300, 1_800_000, 2 * MAX_MB),
            marks=pytest.mark.full,
        ),
        pytest.param(headers_that_are_never_whole, 6000, 0, 2 * MAX_MB, marks=pytest.mark.full),
        (lambda: gzip.compress(HEAD + bytes(64 << 20), 1), 4 << 20, 0, MAX_MB),
    ],
    ids=["begun", "midway", "shortest frames", "unfinished headers", "bomb of empty records"],
)
def test_memory_is_bounded(
    build: Callable[[], bytes], packets: int, frames: int, megabytes: int, tmp_path: Path
) -> None:
    data = build()
    path = tmp_path / ("a.pcap.gz" if data[:2] == b"\x1f\x8b" else "a.pcap")
    path.write_bytes(data)
    *counts, used = decode(path)
    assert [packets, frames] == counts
    assert used <= megabytes
