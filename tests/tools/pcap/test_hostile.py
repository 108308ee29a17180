"""Captures made to do harm: memory stays bounded, and what cannot be read is said."""

from __future__ import annotations

import gzip
import struct
import subprocess
import sys
from typing import TYPE_CHECKING

import numpy as np
import pytest

if TYPE_CHECKING:
    from pathlib import Path

HEAD = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 262144, 1)
MOST_MB = 256
# VmHWM, since ru_maxrss of a new process begins at the peak of the one that started it.
DECODE = """
import re, sys
from pathlib import Path
from rocketwire_tools.pcap.engine import Decoder
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


def decoded(path: Path) -> tuple[int, int, int]:
    """Packets, rows, and megabytes of memory at most, of a process of its own."""
    made = subprocess.run(
        [sys.executable, "-c", DECODE, str(path)], capture_output=True, check=True
    )
    packets, rows, megabytes = map(int, made.stdout.split())
    return packets, rows, megabytes


def flows(count: int, flags: int) -> bytes:
    """A packet of each of many connections."""
    made = np.zeros(count, PACKET)
    number = np.arange(count)
    made["seconds"], made["fraction"] = 1_700_000_000 + number // 100_000, number % 100_000 * 10
    made["captured"] = made["wire"] = PACKET.itemsize - 16
    made["ethernet"] = np.void(b"\0" * 12 + b"\x08\0")
    made["ip"] = np.void(b"\x45\0\0\x30\0\0\x40\0\x40\x06\0\0")
    made["source"], made["target"] = 0x0A000000 + number, 0x0B000001
    made["source_port"], made["target_port"] = 20_000, 10911
    made["sequence"], made["offset"], made["flags"] = 1, 0x50, flags
    made["data"] = np.void(b"\0\0\x01\0\0\0\0\x80")
    return made.tobytes()


@pytest.mark.slow
@pytest.mark.parametrize("flags", [2, 16], ids=["begun", "midway"])
def test_more_connections_than_can_be_remembered(flags: int, tmp_path: Path) -> None:
    path = tmp_path / "flows.pcap"
    path.write_bytes(HEAD + flows(150_000, flags))
    packets, rows, megabytes = decoded(path)
    assert (150_000, 0) == (packets, rows)
    assert megabytes <= MOST_MB


@pytest.mark.slow
def test_a_bomb_of_empty_records(tmp_path: Path) -> None:
    path = tmp_path / "bomb.pcap.gz"
    path.write_bytes(gzip.compress(HEAD + bytes(64 << 20), 1))
    packets, rows, megabytes = decoded(path)
    assert (4 << 20, 0) == (packets, rows)
    assert megabytes <= MOST_MB
