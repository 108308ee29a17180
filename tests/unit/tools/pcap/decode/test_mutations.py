"""Recorded captures with losses and other protocols between the same ports keep all other rows.

``test_cutting`` cuts, repeats and reorders their segments.
"""

import random
from pathlib import Path
from typing import Final

import pytest

from rocketwire_tools.pcap.decode.decoder import Decoder, Options
from tests.peers import manifest
from tests.peers.foreign.dialogue import FOREIGN, MS, SECOND, Dialogue, speak_foreign
from tests.peers.foreign.files import save
from tests.peers.foreign.tcp import ACK, FIN, SYN, Packet
from tests.support.captures.recut import Sent, cut, exchanges, read_recorded, resend
from tests.unit.tools.pcap.decode.test_cutting import FIELDS, PAIRED, Content, content

RECORDED: Final = ("java-4.9.4", "java-5.5.0", "java-5.5.0-binary")
START: Final = 1_700_000_000_000_000_000
PROTOCOLS: Final = tuple(protocol.__name__ for _, protocol in FOREIGN)


@pytest.fixture(scope="module", params=RECORDED)
def packets(request: pytest.FixtureRequest) -> list[Packet]:
    """One connection with a request of each code and its response, each frame in a segment."""
    capture = manifest.FIXTURES / "captures" / f"{request.param}.pcap.gz"
    codes: set[int] = set()
    frames = [
        frame
        for conversation in read_recorded(capture)
        for exchange in exchanges(conversation, codes)
        for frame in exchange
    ]
    return resend([[Sent(*frame, cut(frame.data)) for frame in frames]])


def decode(
    packets: list[Packet], path: Path, fields: tuple[str, ...] = PAIRED, *, careful: bool = False
) -> Content:
    file = save(path / "mutated.pcap", packets)
    return content(Decoder(str(file), Options(fields=fields, careful=careful)), fields)


@pytest.fixture(params=[False, True], ids=["usual way", "careful way"])
def careful(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


def test_frame_that_is_lost_takes_no_other_with_it(
    packets: list[Packet], tmp_path: Path, *, careful: bool
) -> None:
    all_rows = decode(packets, tmp_path, FIELDS)
    paired = decode(packets, tmp_path)
    for lost, packet in enumerate(packets):
        if not packet.data:
            continue
        remaining = packets[:lost] + packets[lost + 1 :]
        missing = all_rows - decode(remaining, tmp_path, FIELDS, careful=careful)
        assert [len(packet.data)] == [key[FIELDS.index("frame_length")] for key in missing]
        changed = paired - decode(remaining, tmp_path, careful=careful)
        assert changed.total() <= 2


def other_protocol(
    name: str, start: int, client: tuple[str, int], server: tuple[str, int]
) -> list[Packet]:
    """A connection of another protocol, which begins and ends."""
    protocol = next(protocol for _, protocol in FOREIGN if protocol.__name__ == name)
    dialogue = Dialogue(client, server)
    speak_foreign(protocol, random.Random(start), dialogue, 0, SECOND)
    following = {True: 3_000_000_000, False: 3_500_000_000}
    packets = [
        Packet(start - 2 * MS, client, server, following[True] - 1, 0, SYN, b""),
        Packet(start - MS, server, client, following[False] - 1, following[True], SYN | ACK, b""),
    ]
    for sent in dialogue.sent:
        ends = (client, server) if sent.client else (server, client)
        numbers = following[sent.client], following[not sent.client]
        packets.append(Packet(start + sent.time_ns, *ends, *numbers, ACK, sent.data))
        following[sent.client] += len(sent.data)
    packets.append(
        Packet(
            packets[-1].time_ns + MS,
            client,
            server,
            following[True],
            following[False],
            FIN | ACK,
            b"",
        )
    )
    return packets


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_earlier_or_later_protocol_between_the_same_ports_changes_no_row(
    protocol: str, packets: list[Packet], tmp_path: Path, *, careful: bool
) -> None:
    client, server = packets[0].source, packets[0].target
    all_rows = decode(packets, tmp_path)
    earlier = other_protocol(protocol, START - 100 * SECOND, client, server)
    later = other_protocol(protocol, START + 100 * SECOND, client, server)
    for mixture in ([*earlier, *packets], [*packets, *later], [*earlier, *packets, *later]):
        assert all_rows == decode(mixture, tmp_path, careful=careful)
