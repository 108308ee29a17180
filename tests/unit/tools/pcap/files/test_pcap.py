"""A file has the records that the chain of their lengths leads to."""

import random
import struct

import pytest

from rocketwire_tools.pcap.files.pcap import PcapFormat
from rocketwire_tools.pcap.files.records import PADDING

SECOND = 1_700_000_000


def chain(buffer: bytes, order: str, header: int) -> list[int]:
    """Where records begin, one after the other."""
    starts: list[int] = []
    offset = 0
    while offset + header <= len(buffer):
        (captured,) = struct.unpack_from(f"{order}8xI", buffer, offset)
        if offset + header + captured > len(buffer):
            break
        starts.append(offset)
        offset += header + captured
    return starts


def records(chance: random.Random, size: int, order: str, header: int, *, lies: bool) -> bytes:
    """Records of many sizes; lies: packets with bytes that look like records."""
    data = bytearray()
    while len(data) < size:
        length = chance.choice((0, 1, 40, 66, 300, 1514, 9000))
        second = SECOND + len(data) // 40_000
        head = struct.pack(f"{order}4I", second, chance.randrange(10**6), length, length)
        packet = (head + bytes(8)) * 400 if lies and chance.random() < 0.5 else bytes(length)
        data += head.ljust(header, b"\0") + packet[:length].ljust(length, b"\0")
    return bytes(data)


def walk(data: bytes, order: str, header: int) -> list[int]:
    classic = PcapFormat("x", order, nanoseconds=False, link=1, record_header=header)
    starts, end = classic.walk(bytearray(data) + bytes(PADDING), 0, len(data))
    last = int(starts[-1])
    assert end == last + header + struct.unpack_from(f"{order}8xI", data, last)[0]
    return [int(start) for start in starts]


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("header", [16, 24])
@pytest.mark.parametrize("lies", [False, True])
def test_all_records_are_found_in_order(order: str, header: int, lies: bool) -> None:
    data = records(random.Random(header), 1_500_000, order, header, lies=lies)
    for cut in (0, 1, 15, 700):
        complete = data[: len(data) - cut]
        assert chain(complete, order, header) == walk(complete, order, header)


def test_impossible_length_hides_no_earlier_record() -> None:
    data = bytearray(records(random.Random(3), 1_500_000, "<", 16, lies=False))
    places = chain(bytes(data), "<", 16)
    wrong = places[len(places) // 2]
    struct.pack_into("<I", data, wrong + 8, 0xFFFFFFFF)
    assert places[: len(places) // 2] == walk(bytes(data), "<", 16)
