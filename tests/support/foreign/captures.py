"""Whole captures and the truth about their frames: ``python -m tests.support.foreign.captures
mixed FILE.pcap`` writes both."""

from __future__ import annotations

import argparse
import random
import sys
from dataclasses import dataclass, replace
from importlib import import_module
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from tests.support.foreign.dialogue import FOREIGN, MS, SECOND, Dialogue, Speaker, World
from tests.support.foreign.files import Writer
from tests.support.foreign.profiles import BULK, CHATTY, MIXED
from tests.support.foreign.tcp import Connection, Packet, Truth, Way

if TYPE_CHECKING:
    from tests.support.foreign.profiles import Profile

PROFILES: Final = {"mixed": MIXED, "chatty": CHATTY, "bulk": BULK}
_AHEAD_NS: Final = 20 * SECOND
"""How long before the capture a connection began at the earliest."""
_PER_EXCHANGE: Final = 1.94
"""Frames of an exchange, on average: oneway requests have no answer."""


@dataclass(frozen=True, slots=True)
class Capture:
    """A capture.

    Attributes:
        packets: in the order of time.
        truth: one entry for each frame whose header they hold.
    """

    packets: list[Packet]
    truth: list[Truth]

    @property
    def frame_counts(self) -> tuple[int, int]:
        """The least and the greatest number of rows that a decoder may give."""
        return sum(frame.certain for frame in self.truth), len(self.truth)


def capture(profile: Profile, seed: int, *, unit: int = 1000) -> Capture:
    """Make a capture.

    Args:
        profile: what kind of traffic.
        seed: the same seed makes the same capture.
        unit: nanoseconds that the file to be written can tell apart.
    """
    chance = random.Random(seed)
    world = World(chance)
    packets: list[Packet] = []
    truth: list[Truth] = []
    for connection in _connections(profile, chance, world):
        packets += connection.packets()
        truth += connection.truth(unit)
    packets.sort(key=attrgetter("time_ns"))
    return Capture(packets, truth)


def _connections(profile: Profile, chance: random.Random, world: World) -> list[Connection]:
    weights = [chance.paretovariate(1.1) for _ in range(profile.connections)]
    weights = [min(weight, 60.0) for weight in weights]
    exchanges = profile.frames / _PER_EXCHANGE
    scale = exchanges * (1 - profile.largest) / sum(weights)
    counts = [max(1, int(weight * scale)) for weight in weights]
    counts[chance.randrange(len(counts))] = int(exchanges * profile.largest)
    most = max(counts)
    made: list[Connection] = []
    for number, count in enumerate(counts):
        made += _uses(profile, chance, world, number, count, steady=count == most)
    return made


def _uses(
    profile: Profile, chance: random.Random, world: World, number: int, count: int, *, steady: bool
) -> list[Connection]:
    """The connections that one pair of addresses and ports has during the capture."""
    six = chance.random() < profile.six
    host = f"10.1.{number // 200}.{number % 200 + 1}"
    client = (f"fd00:1::{number + 1:x}" if six else host, 20_000 + number * 33 % 40_000)
    server = f"fd00:9::{chance.randrange(1, 5):x}" if six else f"10.9.0.{chance.randrange(1, 5)}"
    port = chance.choice((10911, 10911, 10911, 10909, 9876, 30911))
    end = int(profile.seconds * SECOND)
    begun = chance.random() < profile.begun
    low = -chance.randrange(MS, _AHEAD_NS) if begun else chance.randrange(10 * MS, end // 3)
    if not steady and chance.random() < profile.foreign:
        port, speak = chance.choice(FOREIGN)
        dialogue = Dialogue(client, (server, port))
        speak(chance, dialogue, low, end)
        return [Connection(dialogue, profile, chance, Way())]
    ways = [Way(ends=chance.choice(("fin", "fin", "rst", "", "")))]
    if not steady and chance.random() < profile.reused:
        ways = _reuse(chance, ways[0])
    made: list[Connection] = []
    part = (end - low) // len(ways)
    for way in ways:
        dialogue = Dialogue(client, (server, port))
        if chance.random() < 0.02:
            dialogue.opening = b"PROXY TCP4 192.0.2.7 10.9.0.1 4711 10911\r\n"
        if way.answered == "yes":
            speaker = Speaker(chance, world, profile, client[0])
            speaker.speak(dialogue, max(1, count // len(ways)), low, low + part * 2 // 3)
            last = low + part * 9 // 10 if way is not ways[-1] else end
            dialogue.sent = [one for one in dialogue.sent if one.time_ns < last]
            way = replace(way, begun_ns=way.begun_ns and low + part // 3)
        else:
            way = replace(way, begun_ns=max(low, 0))
        made.append(Connection(dialogue, profile, chance, way))
        low += part
    return made


def _reuse(chance: random.Random, last: Way) -> list[Way]:
    """What happens to a pair of addresses and ports before its last connection."""
    whole = Way(ends="fin")
    before = chance.choice(
        (
            [whole],
            [Way(ends="")],
            [whole, Way(ends="rst")],
            [Way(answered="refused")],
            [Way(answered="no")],
            [Way(sides=(True, False), ends="fin")],
            [Way(sides=(False, True), ends="fin")],
            [Way(begun_ns=1)],
            [Way(answered="refused"), whole, Way(answered="no")],
        )
    )
    return [*before, replace(last, ends="fin")]


def write_truth(truth: list[Truth], path: Path) -> None:
    """Write the truth as a Parquet file with the names of the decoder's columns."""
    pa: Any = import_module("pyarrow")
    pq: Any = import_module("pyarrow.parquet")
    columns = dict(zip(Truth._fields, map(list, zip(*truth, strict=True)), strict=True))
    pq.write_table(pa.table(columns), path)


def main() -> None:
    """Write a capture and its truth."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("profile", choices=PROFILES)
    parser.add_argument("file", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--share", type=float, default=1.0, help="of the frames and connections")
    arguments = parser.parse_args()
    profile: Profile = PROFILES[arguments.profile]
    profile = replace(
        profile,
        connections=max(2, int(profile.connections * arguments.share)),
        frames=max(2, int(profile.frames * arguments.share)),
    )
    made = capture(profile, arguments.seed)
    partial = arguments.file.with_suffix(".partial")
    with partial.open("wb") as file:
        Writer(file).write(made.packets)
    write_truth(made.truth, arguments.file.with_suffix(".truth.parquet"))
    partial.rename(arguments.file)
    counts = f"{len(made.packets)} packets, {len(made.truth)} frames"
    sys.stdout.write(f"{arguments.file}: {counts}\n")


if __name__ == "__main__":
    main()
