"""The captures that are measured, made once and kept in the folder for temporary files.

They come from the tests' generator, which knows nothing of the decoder (many clients, topics
and groups, losses and repetitions as networks have them), and from captures of real peers, repeated
between other ends.

Rules of this file: what the generator makes of a seed is the same everywhere; a change of the
generator makes new captures.
"""

from __future__ import annotations

import gzip
import hashlib
import heapq
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Final

import zstandard

from rocketwire_tools.pcap.files.splits import find_record, read_head
from tests.peers import foreign, manifest
from tests.peers.foreign.captures import PROFILES
from tests.peers.foreign.captures import capture as make
from tests.peers.foreign.files import Writer
from tests.peers.foreign.repeated import read_recorded, repeat

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from tests.peers.foreign.tcp import Packet

__all__ = ["LARGE", "PROFILES", "RECORDED", "Folder"]

RECORDED: Final = "recorded"
"""Captures of Java peers of three kinds, each a thousand times between other ends: 200 MB."""
_RECORDED: Final = ("java-4.9.4", "java-5.5.0", "java-5.5.0-binary")
_REPETITIONS: Final = 1000
LARGE: Final = "large"
"""About 1 GB: three times the mixed traffic at the same time, between other hosts."""
_SEED: Final = 1
_COPIES: Final = 3
_APART_NS: Final = 7_000_000
_COMPRESSION: Final = 6


class Folder:
    def __init__(self, say: Callable[[str], None]) -> None:
        sources = sorted(Path(foreign.__path__[0]).glob("*.py"))
        made_by = b"".join(source.read_bytes() for source in sources)
        name = f"rocketwire-bench-pcap-{hashlib.sha256(made_by).hexdigest()[:12]}"
        self.path = Path(tempfile.gettempdir()) / name
        self.path.mkdir(exist_ok=True)
        self._say = say

    def capture(self, name: str) -> Path:
        path = self.path / f"{name}.pcap"
        if path.exists():
            return path
        self._say(f"making {path}, once")
        if name == RECORDED:
            files = (manifest.FIXTURES / "captures" / f"{name}.pcap.gz" for name in _RECORDED)
            _write(path, repeat(list(map(read_recorded, files)), _REPETITIONS, _SEED))
        else:
            made = make(PROFILES["mixed" if name == LARGE else name], _SEED)
            _write(path, _together(made.packets, _COPIES if name == LARGE else 1))
        return path

    def part(self, capture: Path, size: int) -> Path:
        path = capture.with_suffix(f".{size >> 20}.pcap")
        if not path.exists():
            head = read_head(str(capture))
            assert head is not None
            end = find_record(str(capture), head, size)
            with capture.open("rb") as file:
                path.write_bytes(file.read(end))
        return path

    def compress(self, capture: Path, suffix: str) -> Path:
        path = capture.with_name(f"{capture.name}.{suffix}")
        if not path.exists():
            self._say(f"making {path}, once")
            partial = path.with_suffix(".partial")
            with capture.open("rb") as source, partial.open("wb") as packed:
                if suffix == "zst":
                    zstandard.ZstdCompressor().copy_stream(source, packed)
                else:
                    with gzip.GzipFile("", "wb", _COMPRESSION, packed) as file:
                        shutil.copyfileobj(source, file, 1 << 20)
            partial.rename(path)
        return path


def _write(path: Path, packets: Iterable[Packet]) -> None:
    partial = path.with_suffix(".partial")
    with partial.open("wb") as file:
        Writer(file).write(packets)
    partial.rename(path)


def _together(packets: Iterable[Packet], copies: int) -> Iterable[Packet]:
    if copies == 1:
        return packets
    moved = [_move(packets, number) for number in range(copies)]
    return heapq.merge(*moved, key=_time_ns)


def _move(packets: Iterable[Packet], number: int) -> Iterator[Packet]:
    for packet in packets:
        source, target = ((_host(end[0], number), end[1]) for end in (packet.source, packet.target))
        time_ns = packet.time_ns + number * _APART_NS
        yield packet._replace(time_ns=time_ns, source=source, target=target)


def _host(host: str, number: int) -> str:
    if ":" in host:
        return host.replace("fd00", f"{0xFD00 + number:x}", 1)
    first, second, suffix = host.split(".", 2)
    return f"{first}.{int(second) + 20 * number}.{suffix}"


def _time_ns(packet: Packet) -> int:
    return packet.time_ns
