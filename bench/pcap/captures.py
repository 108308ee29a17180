"""The captures that are measured: made by the tests' generator once, and kept in the folder for temporary files.

Rules of this file: what the generator makes of a seed is the same everywhere; a change of the generator makes new captures.
"""

from __future__ import annotations

import gzip
import hashlib
import heapq
import json
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import zstandard

from rocketwire_tools.pcap.files.splits import find_record, read_head
from tests.support import captures
from tests.support.captures.made import make, save
from tests.support.captures.network import Trouble
from tests.support.captures.traffic import BULK, CHATTY, MIXED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from tests.support.captures.network import Packet
    from tests.support.captures.traffic import Profile

PROFILES: Final = {"mixed": MIXED, "chatty": CHATTY, "bulk": BULK}
LARGE: Final = "large"
"""About 1 GB: three times the mixed traffic at the same time, between other hosts."""
_SEED: Final = 7
_COPIES: Final = 3
_APART_NS: Final = 7_000_000
_COMPRESSION: Final = 6


@dataclass(frozen=True, slots=True)
class Capture:
    """One of them.

    Attributes:
        path: of the file.
        size: its bytes.
        frames: those whose header it holds.
    """

    path: Path
    size: int
    frames: int


class Folder:
    """Where they are kept.

    Args:
        say: gets a line for what takes its time.
    """

    def __init__(self, say: Callable[[str], None]) -> None:
        sources = sorted(Path(captures.__path__[0]).glob("*.py"))
        made_by = b"".join(source.read_bytes() for source in sources)
        name = f"rocketwire-bench-pcap-{hashlib.sha256(made_by).hexdigest()[:12]}"
        self.path = Path(tempfile.gettempdir()) / name
        self.path.mkdir(exist_ok=True)
        self._say = say

    def capture(self, name: str) -> Capture:
        """A capture of one of the profiles, or the large one."""
        path, about = self.path / f"{name}.pcap", self.path / f"{name}.json"
        if not about.exists():
            self._say(f"making {path}, once")
            profile = PROFILES["mixed" if name == LARGE else name]
            self._make(path, about, profile, _COPIES if name == LARGE else 1)
        return Capture(path, path.stat().st_size, json.loads(about.read_text())["frames"])

    def _make(self, path: Path, about: Path, profile: Profile, copies: int) -> None:
        packets, truth = make(profile, seed=_SEED, trouble=Trouble())
        save(path, _together(packets, copies))
        about.write_text(json.dumps({"frames": copies * sum(one.header for one in truth)}))

    def part(self, capture: Capture, size: int) -> Path:
        """The first bytes of a capture, up to a record."""
        path = capture.path.with_suffix(f".{size >> 20}.pcap")
        if not path.exists():
            head = read_head(str(capture.path))
            assert head is not None
            end = find_record(str(capture.path), head, size)
            with capture.path.open("rb") as file:
                path.write_bytes(file.read(end))
        return path

    def compressed(self, capture: Capture, suffix: str) -> Path:
        """A capture as ``zst`` or ``gz``."""
        path = capture.path.with_name(f"{capture.path.name}.{suffix}")
        if not path.exists():
            self._say(f"making {path}, once")
            partial = path.with_suffix(".partial")
            with capture.path.open("rb") as plain, partial.open("wb") as packed:
                if suffix == "zst":
                    zstandard.ZstdCompressor().copy_stream(plain, packed)
                else:
                    with gzip.GzipFile("", "wb", _COMPRESSION, packed) as file:
                        shutil.copyfileobj(plain, file, 1 << 20)
            partial.rename(path)
        return path


def _together(packets: Iterable[Packet], copies: int) -> Iterable[Packet]:
    """Several times the same packets, a little apart in time, and between other hosts."""
    if copies == 1:
        return packets
    moved = [_moved(packets, number) for number in range(copies)]
    return heapq.merge(*moved, key=_time_ns)


def _moved(packets: Iterable[Packet], number: int) -> Iterator[Packet]:
    for packet in packets:
        source, target = ((_host(end[0], number), end[1]) for end in (packet.source, packet.target))
        time_ns = packet.time_ns + number * _APART_NS
        yield packet._replace(time_ns=time_ns, source=source, target=target)


def _host(host: str, number: int) -> str:
    """10.1.x.y to 10.(1 + 20 n).x.y, 2001:db8:: to 2001:db8+n::."""
    if ":" in host:
        return host.replace("db8", f"{0xDB8 + number:x}", 1)
    first, second, rest = host.split(".", 2)
    return f"{first}.{int(second) + 20 * number}.{rest}"


def _time_ns(packet: Packet) -> int:
    return packet.time_ns
