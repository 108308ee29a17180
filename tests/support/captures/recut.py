"""Sends recorded captures again in other segments: real frames, cut at any byte."""

import gzip
import struct
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from tests.peers.foreign.tcp import ACK, SYN, Packet
from tests.support.captures.tshark_frames import header_of

_RECORD, _ETHERNET = 16, 14
_WHOLE = 1 << 32
End = tuple[str, int]


class Utterance(NamedTuple):
    by_client: bool
    data: bytes


def read_recorded(capture: Path) -> list[list[Utterance]]:
    """The messages of each connection of a recorded loopback capture without TLS, in order; the
    first sender is the client."""
    conversations: dict[frozenset[End], list[Utterance]] = {}
    waiting: dict[tuple[End, End], bytes] = {}
    clients: dict[frozenset[End], End] = {}
    for source, target, data in _segments(gzip.decompress(capture.read_bytes())):
        ends = frozenset((source, target))
        client = clients.setdefault(ends, source)
        text = waiting.get((source, target), b"") + data
        parts = list(_units(text, first=(source, target) not in waiting))
        conversations.setdefault(ends, []).extend(
            Utterance(source == client, segment) for segment in parts
        )
        waiting[source, target] = text[sum(map(len, parts)) :]
    return [
        conversation
        for ends, conversation in conversations.items()
        if not _is_encrypted(ends, waiting)
    ]


def _segments(data: bytes) -> Iterable[tuple[End, End, bytes]]:
    offset = 24
    while offset < len(data):
        (size,) = struct.unpack_from("<I", data, offset + 8)
        offset += _RECORD
        ip = data[offset + _ETHERNET : offset + size]
        offset += size
        tcp = ip[(ip[0] & 15) * 4 : int.from_bytes(ip[2:4], "big")]
        ports = struct.unpack_from(">HH", tcp)
        source, target = (
            (".".join(map(str, host)), port)
            for host, port in zip((ip[12:16], ip[16:20]), ports, strict=True)
        )
        if payload := tcp[(tcp[12] >> 4) * 4 :]:
            yield source, target, payload


def _units(text: bytes, *, first: bool) -> Iterable[bytes]:
    if first and text.startswith(b"PROXY "):
        end = text.index(b"\r\n") + 2
        yield text[:end]
        text = text[end:]
    while len(text) >= 8:
        end = 4 + int.from_bytes(text[:4], "big")
        if end > len(text):
            return
        yield text[:end]
        text = text[end:]


def _is_encrypted(ends: frozenset[End], waiting: dict[tuple[End, End], bytes]) -> bool:
    return any(
        text for (source, target), text in waiting.items() if frozenset({source, target}) == ends
    )


Segments = list[tuple[int, bytes]]
"""Segments of a message: the offset of each, and its bytes, in the order of their capture."""


class Sent(NamedTuple):
    by_client: bool
    data: bytes
    segments: Segments


def cut(data: bytes, *places: int) -> Segments:
    """The segments of bytes that are cut at places; places after the last byte are ignored."""
    ends = sorted({place for place in places if 0 < place < len(data)})
    return [
        (start, data[start:end]) for start, end in zip([0, *ends], [*ends, len(data)], strict=True)
    ]


def exchanges(frames: Iterable[Utterance], codes: set[int]) -> list[list[Utterance]]:
    requests: dict[int, list[Utterance]] = {}
    for frame in frames:
        if frame.data.startswith(b"PROXY "):
            continue
        code, opaque, flag = header_of(frame.data)
        if flag & 1 and opaque in requests:
            requests[opaque].append(frame)
        elif not flag & 1 and code not in codes:
            codes.add(code)
            requests[opaque] = [frame]
    return list(requests.values())


def resend(connections: Iterable[Iterable[Sent]], *, has_start: bool = True) -> list[Packet]:
    packets: list[Packet] = []

    def packet(
        ends: tuple[End, End], sequence: int, acknowledged: int, flags: int, data: bytes
    ) -> None:
        time_ns = 1_700_000_000_000_000_000 + len(packets) * 1000
        numbers = sequence % _WHOLE, acknowledged % _WHOLE
        packets.append(Packet(time_ns, *ends, *numbers, flags, data))

    for number, sent in enumerate(connections):
        client, server = (f"10.1.{number >> 8}.{number & 255}", 40_000), ("10.0.0.2", 10_911)
        following = {True: number * 7919, False: _WHOLE - 3000}
        if has_start:
            packet((client, server), following[True] - 1, 0, SYN, b"")
            packet((server, client), following[False] - 1, following[True], SYN | ACK, b"")
        for message in sent:
            ends = (client, server) if message.by_client else (server, client)
            first, acknowledged = following[message.by_client], following[not message.by_client]
            for offset, data in message.segments:
                packet(ends, first + offset, acknowledged, ACK, data)
            following[message.by_client] += len(message.data)
    return packets
