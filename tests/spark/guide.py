"""The guide's code, and captures in which its questions have answers."""

import re
from dataclasses import replace
from pathlib import Path

from rocketwire.codes import RequestCode, ResponseCode
from rocketwire.flags import CommandFlag
from rocketwire.wire.command import RemotingCommand, encode
from tests.peers.foreign.captures import capture
from tests.peers.foreign.dialogue import EPOCH_NS
from tests.peers.foreign.files import save
from tests.peers.foreign.tcp import ACK, SYN, Packet
from tests.support.captures.fixtures import SMALL

GUIDE = Path(__file__).parents[2] / "docs" / "guide" / "spark.md"


def make_request(number: int, *, is_answered: bool = True) -> list[Packet]:
    client, server = ("10.7.7.7", 50_000 + number), ("10.9.0.9", 9876)
    now = EPOCH_NS + (1 + number) * 1_000_000
    request = RemotingCommand(
        code=RequestCode.GET_ROUTEINFO_BY_TOPIC, opaque=1, ext_fields={"topic": "missing"}
    )
    response = RemotingCommand(
        code=ResponseCode.TOPIC_NOT_EXIST, opaque=1, flag=int(CommandFlag.RESPONSE)
    )
    packets = [
        Packet(now - 900_000, client, server, 0, 0, SYN, b""),
        Packet(now - 800_000, server, client, 0, 1, SYN | ACK, b""),
        Packet(now, client, server, 1, 1, ACK, encode(request)),
    ]
    if is_answered:
        packets.append(Packet(now + 3_000_000, server, client, 1, 1, ACK, encode(response)))
    return packets


def captures(folder: Path) -> None:
    # Write captures of a minute: a client asks twelve times for a missing topic, and once without an answer.
    packets = capture(replace(SMALL, frames=400), 4).packets
    for number in range(12):
        packets += make_request(number)
    packets += make_request(12, is_answered=False)
    packets.sort(key=lambda packet: packet.time_ns)
    (folder / "captures").mkdir()
    save(folder / "captures" / "trace.pcap", packets[: len(packets) // 2])
    save(folder / "captures" / "trace2.pcap", packets[len(packets) // 2 :])


def blocks(folder: Path) -> list[tuple[str, str]]:
    code_blocks = re.findall(
        r"^```(py|sql)\n(.*?)^```$", GUIDE.read_text("utf-8"), re.MULTILINE | re.DOTALL
    )
    return [
        (language, re.sub(r"(['\"])(captures|out)/", rf"\1{folder}/\2/", code))
        for language, code in code_blocks
    ]
