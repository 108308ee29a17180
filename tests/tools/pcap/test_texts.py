"""Texts are known by numbers, whichever of them come together."""

from __future__ import annotations

import random

import numpy as np
import pytest

from rocketwire_tools.pcap import texts
from rocketwire_tools.pcap.shape import LONGEST_TEXT
from rocketwire_tools.pcap.texts import NONE, Texts


def numbers(known: Texts, some: list[str | None]) -> list[str | None]:
    """The texts again, by way of their numbers."""
    packed = [b"" if text is None else text.encode() for text in some]
    ends = np.cumsum([len(text) for text in packed], dtype=np.int64)
    length = np.array([NONE if text is None else len(text.encode()) for text in some], np.int64)
    data = np.frombuffer(b"".join([*packed, bytes(LONGEST_TEXT)]), np.uint8)
    found = known.numbers(data, ends - np.maximum(length, 0), length)
    every = known.column().to_pylist()
    return [None if number == NONE else every[number] for number in found.tolist()]


@pytest.mark.parametrize("slots", [1, 16])
def test_texts_that_share_a_place_are_told_apart(
    slots: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(texts, "_SLOTS", slots)
    chance, known = random.Random(slots), Texts()
    names = ["", "Topic", "Topic\0", "topic", *(f"group-{number}" for number in range(20))]
    for _ in range(4):
        some = [chance.choice((None, *names)) for _ in range(200)]
        assert numbers(known, some) == some
    assert len(known) <= len(names)
