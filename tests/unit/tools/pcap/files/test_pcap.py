"""The records of a file are those to which the chain of their lengths leads."""

from __future__ import annotations

import random
import struct

import pytest

from rocketwire_tools.pcap.files.pcap import PcapFormat
from rocketwire_tools.pcap.files.records import PADDING

SECOND = 1_700_000_000


def chain(buffer: bytes, order: str, header: int) -> list[int]:
    """Where records begin, one after the other."""
    found: list[int] = []
    at = 0
    while at + header <= len(buffer):
        (captured,) = struct.unpack_from(f"{order}8xI", buffer, at)
        if at + header + captured > len(buffer):
            break
        found.append(at)
        at += header + captured
    return found


def records(chance: random.Random, size: int, order: str, header: int, *, lies: bool) -> bytes:
    """Records of many sizes; lies: packets full of what looks like records."""
    made = bytearray()
    while len(made) < size:
        length = chance.choice((0, 1, 40, 66, 300, 1514, 9000))
        second = SECOND + len(made) // 40_000
        head = struct.pack(f"{order}4I", second, chance.randrange(10**6), length, length)
        packet = (head + bytes(8)) * 400 if lies and chance.random() < 0.5 else bytes(length)
        made += head.ljust(header, b"\0") + packet[:length].ljust(length, b"\0")
    return bytes(made)


def walk(data: bytes, order: str, header: int) -> list[int]:
    classic = PcapFormat("x", order, nanoseconds=False, link=1, record_header=header)
    found, after = classic.walk(bytearray(data) + bytes(PADDING), 0, len(data))
    last = int(found[-1])
    assert after == last + header + struct.unpack_from(f"{order}8xI", data, last)[0]
    return [int(each) for each in found]


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("header", [16, 24])
@pytest.mark.parametrize("lies", [False, True])
def test_all_records_are_found_in_order(order: str, header: int, lies: bool) -> None:
    data = records(random.Random(header), 1_500_000, order, header, lies=lies)
    for cut in (0, 1, 15, 700):
        whole = data[: len(data) - cut]
        assert chain(whole, order, header) == walk(whole, order, header)


def test_length_that_nothing_has_hides_nothing_in_front_of_it() -> None:
    data = bytearray(records(random.Random(3), 1_500_000, "<", 16, lies=False))
    places = chain(bytes(data), "<", 16)
    wrong = places[len(places) // 2]
    struct.pack_into("<I", data, wrong + 8, 0xFFFFFFFF)
    assert places[: len(places) // 2] == walk(bytes(data), "<", 16)
