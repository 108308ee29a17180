"""The bytes of many headers lie one behind the other, as lines, and come back in any order."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import numpy as np

from rocketwire_tools.pcap.streams import header_bytes

if TYPE_CHECKING:
    import pytest


def some(count: int, seed: int) -> list[bytes]:
    chance = random.Random(seed)
    lengths = (0, 1, 63, 64, 65, 300, 960, 1024, 1025, 5000)
    return [chance.randbytes(chance.choice(lengths)) for _ in range(count)]


def test_bytes_of_headers_come_back_in_any_order() -> None:
    each = some(200, 1)
    made = header_bytes.header_bytes(each)
    order = np.array(random.Random(2).sample(range(200), 150))
    assert each == made.tolist()
    assert [each[number] for number in order] == made.take(order).tolist()
    assert [each[number] for number in order] == made.take(order).packed().tolist()
    assert [] == header_bytes.header_bytes([]).tolist()
    assert [] == made.take(slice(0)).packed().tolist()


def test_what_was_taken_of_several_parts_can_be_joined_and_packed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(header_bytes, "_LARGE", 1 << 19)
    parts = [some(count, count) for count in (900, 0, 10, 20, 1200, 5)]
    made = header_bytes.joined([header_bytes.header_bytes(each) for each in parts])
    every = [header for each in parts for header in each]
    assert len(made.pieces) == 4
    assert every == made.tolist()
    assert every[-1200:] == made.take(slice(-1200, None)).without_others().tolist()
    assert len(made.take(slice(-1200, None)).without_others().pieces) == 2
    few = made.take(np.arange(len(every))[::-50])
    assert every[::-50] == few.packed().tolist()
    assert (
        every[::-50] + parts[0]
        == header_bytes.joined([few, header_bytes.header_bytes(parts[0])]).tolist()
    )


def test_bytes_of_headers_that_are_gone_are_not_kept() -> None:
    made = header_bytes.header_bytes([b"x" * 500] * 100)
    left = header_bytes.joined([made.take(slice(0, 3)), header_bytes.header_bytes([b"y"])])
    assert sum(map(len, left.pieces)) < 4000
    assert [b"x" * 500] * 3 + [b"y"] == left.tolist()


def test_the_rest_of_the_room_of_a_header_makes_it_a_line() -> None:
    each = some(100, 7)
    for made in (header_bytes.header_bytes(each), header_bytes.header_bytes(each).packed()):
        piece = made.pieces[0].tobytes()
        for start, header, room in zip(made.start, each, made.room, strict=True):
            assert piece[start : start + room] == header.ljust(room - 1) + b"\n"
