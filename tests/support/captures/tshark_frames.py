"""Counts the frames of a capture with tshark, which reassembles the streams."""

import json
import struct
import subprocess
from pathlib import Path
from typing import TypedDict

from tests.support.tshark import TSHARK, rows

_PROXY_V2 = b"\r\n\r\n\x00\r\nQUIT\n"
_TLS = (0x16, 0x17)


class Counted(TypedDict):
    src: str  #: address and port of the sender
    dst: str  #: of the receiver
    speaks: str  #: ``remoting``, ``tls`` or nothing
    proxy: int  #: bytes of a PROXY header in front
    #: value of the length word, code, opaque and flag of each
    frames: list[tuple[int, int, int, int]]


def count(capture: Path) -> list[Counted]:
    """The frames of each direction of each connection that carried bytes, by tshark."""
    numbers = sorted({int(row[0]) for row in rows(capture, ["tcp.stream"], only="tcp")})
    command = [str(TSHARK), "-n", "-r", str(capture), "-q"]
    for number in numbers:
        command += ["-z", f"follow,tcp,raw,{number}"]
    run = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    streams = dict(map(_stream, run.stdout.split("Filter: tcp.stream eq ")[1:]))
    frames: list[Counted] = []
    for number in numbers:
        ends, sent = streams[number]
        frames += [_cut(ends[i], ends[1 - i], sent[i]) for i in (0, 1) if sent[i]]
    return frames


Stream = tuple[list[str], tuple[bytes, bytes]]
"""Both ends of a connection, and what each of them sent."""


def _stream(text: str) -> tuple[int, Stream]:
    lines = text.splitlines()
    ends = [line.partition(": ")[2] for line in lines[1:3]]
    sent: tuple[list[str], list[str]] = ([], [])
    for line in lines[3:]:
        if line.startswith("="):
            break
        sent[line.startswith("\t")].append(line.strip())
    first, second = (bytes.fromhex("".join(parts)) for parts in sent)
    return int(lines[0]), (ends, (first, second))


def _cut(src: str, dst: str, data: bytes) -> Counted:
    frames = Counted(src=src, dst=dst, speaks="remoting", proxy=_proxy(data), frames=[])
    offset = frames["proxy"]
    if data[offset] in _TLS and data[offset + 1] == 3:
        frames["speaks"] = "tls"
        return frames
    while offset < len(data):
        (length,) = struct.unpack_from(">I", data, offset)
        frame = data[offset : offset + 4 + length]
        if len(frame) < 4 + length:
            raise ValueError(f"{src} > {dst} ends within a frame")
        frames["frames"].append((length, *header_of(frame)))
        offset += len(frame)
    return frames


def _proxy(data: bytes) -> int:
    if data.startswith(b"PROXY "):
        return data.index(b"\r\n") + 2
    if data.startswith(_PROXY_V2):
        return 16 + int.from_bytes(data[14:16], "big")
    return 0


def header_of(frame: bytes) -> tuple[int, int, int]:
    if frame[4] == 1:
        code, opaque, flag = struct.unpack_from(">hxxxii", frame, 8)
        return code, opaque, flag
    header = json.loads(frame[8 : 8 + int.from_bytes(frame[5:8], "big")])
    return header["code"], header["opaque"], header["flag"]
