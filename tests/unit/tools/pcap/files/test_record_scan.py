"""Records found at many places at once are those that one chain leads to."""

from __future__ import annotations

import random
import struct
from typing import Any

import numpy as np
import pytest

from rocketwire_tools.pcap.files import record_scan
from rocketwire_tools.pcap.files.pcap import PcapFormat
from rocketwire_tools.pcap.files.records import MAX_RECORD, PADDING

SECOND = 1_700_000_000


def chained(buffer: bytes, order: str, header: int) -> list[int]:
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


def walked(data: bytes, order: str, header: int) -> list[int]:
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
        assert chained(whole, order, header) == walked(whole, order, header)


def test_a_length_that_nothing_has_hides_nothing_in_front_of_it() -> None:
    data = bytearray(records(random.Random(3), 1_500_000, "<", 16, lies=False))
    places = chained(bytes(data), "<", 16)
    wrong = places[len(places) // 2]
    struct.pack_into("<I", data, wrong + 8, 0xFFFFFFFF)
    assert places[: len(places) // 2] == walked(bytes(data), "<", 16)


def test_a_wrong_guess_is_not_believed() -> None:
    data = records(random.Random(4), 300_000, "<", 16, lies=False)
    places = chained(data, "<", 16)
    starts = np.array([0, places[20], places[40] + 1, places[60]])
    found, after = record_scan.follow_chains(
        bytearray(data) + bytes(PADDING), starts, len(data) - 16, np.dtype("<u4"), 8, 16
    )
    begun = [place for place in places if place < starts[2]]
    assert begun == found.tolist()
    assert after == next(place for place in places if place > starts[2])


def test_what_is_larger_than_any_packet_is_not_taken_for_a_record(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    data = bytearray(records(random.Random(5), 1_500_000, "<", 16, lies=False))
    places = chained(bytes(data), "<", 16)
    large = [at for at in places if struct.unpack_from("<8xI", data, at)[0] == 9000]
    for at in large:
        struct.pack_into("<4I", data, at + 500, SECOND, 0, 84, MAX_RECORD + 1)
        struct.pack_into("<4I", data, at + 600, SECOND, 0, 84, 84)
    guess_starts: list[int] = []
    follow_chains = record_scan.follow_chains

    def watched(buffer: Any, begin: np.ndarray[Any, Any], *rest: Any) -> Any:
        guess_starts.extend(begin.tolist())
        return follow_chains(buffer, begin, *rest)

    monkeypatch.setattr(record_scan, "follow_chains", watched)
    assert walked(bytes(data), "<", 16) == places
    assert not {at + 500 for at in large} & set(guess_starts)
    assert set(guess_starts) & set(places)


def test_bytes_that_look_like_nothing_but_records_cost_few_tries() -> None:
    tried: list[int] = []

    def plausible(at: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        tried.extend(at.tolist())
        return np.zeros(len(at), np.bool_)

    buffer = bytearray(40 * record_scan.STRIDE)
    assert record_scan.guess_starts(
        buffer, 0, 39 * record_scan.STRIDE, (2, 3), plausible
    ).tolist() == [0]
    assert 0 < len(tried) < 200


def test_a_record_is_found_behind_what_only_looks_like_one() -> None:
    buffer = bytearray(b"\1" * 10 * record_scan.STRIDE)
    place = 4 * record_scan.STRIDE + 700
    for each in (0, place - 650, place):
        buffer[each + 2] = 2

    def plausible(at: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        good: np.ndarray[Any, Any] = at == place
        return good

    assert record_scan.guess_starts(
        buffer, 0, 9 * record_scan.STRIDE, (2,), plausible
    ).tolist() == [
        0,
        place,
    ]
