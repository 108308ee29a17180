"""The guide's code, and captures in which its questions have answers."""

from __future__ import annotations

import re
from pathlib import Path
from random import Random

from rocketwire.codes import RequestCode, ResponseCode
from rocketwire.flags import CommandFlag
from rocketwire.wire.command import RemotingCommand, encode
from tests.support.captures.builder import make, save
from tests.support.captures.network import CLEAN, Packet, packets
from tests.support.captures.traffic import Dialogue, Profile, Utterance

GUIDE = Path(__file__).parents[2] / "docs" / "guide" / "spark.md"
START = 1_700_000_000_000_000_000


def asking(number: int, *, answered: bool = True) -> list[Packet]:
    """A connection of a client that asks for a topic that is not there."""
    dialogue = Dialogue(("10.7.7.7", 50_000 + number), ("10.9.0.9", 9876))
    now = START + number * 1_000_000
    ask = RemotingCommand(
        code=RequestCode.GET_ROUTEINFO_BY_TOPIC, opaque=1, ext_fields={"topic": "missing"}
    )
    tell = RemotingCommand(
        code=ResponseCode.TOPIC_NOT_EXIST, opaque=1, flag=int(CommandFlag.RESPONSE)
    )
    dialogue.utterances.append(Utterance(True, now, encode(ask)))
    if answered:
        dialogue.utterances.append(Utterance(False, now + 3_000_000, encode(tell)))
    return packets(dialogue, CLEAN, Random(number), [])


def captures(folder: Path) -> None:
    """Write captures of a minute, in which a client connects twelve times and is told twelve times that its
    topic is not there, and a thirteenth time asks in vain."""
    made, _ = make(Profile(connections=20, exchanges=10, body=(64, 900), seconds=60.0), seed=4)
    for number in range(12):
        made += asking(number)
    made += asking(12, answered=False)
    made.sort(key=lambda one: one.time_ns)
    (folder / "captures").mkdir()
    save(folder / "captures" / "trace.pcap", made[: len(made) // 2])
    save(folder / "captures" / "trace2.pcap", made[len(made) // 2 :])


def blocks(folder: Path) -> list[tuple[str, str]]:
    """Language and code of each block."""
    found = re.findall(
        r"^```(py|sql)\n(.*?)^```$", GUIDE.read_text("utf-8"), re.MULTILINE | re.DOTALL
    )
    return [
        (language, re.sub(r"(['\"])(captures|out)/", rf"\1{folder}/\2/", code))
        for language, code in found
    ]
