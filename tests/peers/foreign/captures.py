"""Whole captures and the truth about their frames."""

import random
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import Final

from tests.peers.foreign.dialogue import (
    FOREIGN,
    MS,
    SECOND,
    Dialogue,
    Speaker,
    World,
    speak_foreign,
)
from tests.peers.foreign.profiles import BULK, CHATTY, MIXED, Profile
from tests.peers.foreign.tcp import Connection, Course, Packet, Truth

PROFILES: Final = {"mixed": MIXED, "chatty": CHATTY, "bulk": BULK}
_AHEAD_NS: Final = 20 * SECOND
"""Longest time before the capture at which a connection began."""
_PER_EXCHANGE: Final = 1.94
"""Frames of an exchange on average: oneway requests have no response."""


@dataclass(frozen=True, slots=True)
class Capture:
    packets: list[Packet]
    truth: list[Truth]


def capture(profile: Profile, seed: int, *, unit: int = 1000) -> Capture:
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
    largest = max(counts)
    result: list[Connection] = []
    for number, count in enumerate(counts):
        result += _uses(profile, chance, world, number, count, steady=count == largest)
    return result


def _uses(
    profile: Profile, chance: random.Random, world: World, number: int, count: int, *, steady: bool
) -> list[Connection]:
    six = chance.random() < profile.six
    host = f"10.1.{number // 200}.{number % 200 + 1}"
    client = (f"fd00:1::{number + 1:x}" if six else host, 20_000 + number * 33 % 40_000)
    server = f"fd00:9::{chance.randrange(1, 5):x}" if six else f"10.9.0.{chance.randrange(1, 5)}"
    port = chance.choice((10911, 10911, 10911, 10909, 9876, 30911))
    end = int(profile.seconds * SECOND)
    began_before = chance.random() < profile.ongoing
    low = -chance.randrange(MS, _AHEAD_NS) if began_before else chance.randrange(10 * MS, end // 3)
    if not steady and chance.random() < profile.foreign:
        port, protocol = chance.choice(FOREIGN)
        dialogue = Dialogue(client, (server, port))
        speak_foreign(protocol, chance, dialogue, low, end)
        return [Connection(dialogue, profile, chance, Course())]
    ways = [Course(ends=chance.choice(("fin", "fin", "rst", "", "")))]
    if not steady and chance.random() < profile.reused:
        ways = _reuse(chance, ways[0])
    connections: list[Connection] = []
    part = (end - low) // len(ways)
    for way in ways:
        dialogue = Dialogue(client, (server, port))
        if chance.random() < 0.02:
            dialogue.opening = b"PROXY TCP4 192.0.2.7 10.9.0.1 4711 10911\r\n"
        if way.answered == "yes":
            speaker = Speaker(chance, world, profile, client[0])
            speaker.speak(dialogue, max(1, count // len(ways)), low, low + part * 2 // 3)
            last = low + part * 9 // 10 if way is not ways[-1] else end
            dialogue.sent = [message for message in dialogue.sent if message.time_ns < last]
            way = replace(way, begun_ns=way.begun_ns and low + part // 3)
        else:
            way = replace(way, begun_ns=max(low, 0))
        connections.append(Connection(dialogue, profile, chance, way))
        low += part
    return connections


def _reuse(chance: random.Random, last: Course) -> list[Course]:
    complete = Course(ends="fin")
    earlier = chance.choice(
        (
            [complete],
            [Course(ends="")],
            [complete, Course(ends="rst")],
            [Course(answered="refused")],
            [Course(answered="no")],
            [Course(sides=(True, False), ends="fin")],
            [Course(sides=(False, True), ends="fin")],
            [Course(begun_ns=1)],
            [Course(answered="refused"), complete, Course(answered="no")],
        )
    )
    return [*earlier, replace(last, ends="fin")]
