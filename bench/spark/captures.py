"""Captures to measure with, generated once: those of ``bench.pcap``, and one that only Spark has trouble with."""

from __future__ import annotations

import random
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from bench.pcap.captures import LARGE, Folder
from tests.support.captures.made import make, save
from tests.support.captures.network import Trouble, packets
from tests.support.captures.traffic import MIXED, Dialogue, Profile, Speaker

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.captures.network import Packet

_OTHERS: Final = 285
_GIANT: Final = 430_000_000
"""Bytes of the giant connection, 85 % of the capture with the others."""


def mixed() -> Path:
    """A gigabyte of the traffic that a cluster has."""
    return _folder().capture(LARGE).path


def skewed() -> Path:
    """Half a gigabyte, 85 % of it on one connection."""
    path = _folder().path / f"skewed-{_GIANT}-{_OTHERS}.pcap"
    if not path.exists():
        made = make(replace(MIXED, connections=_OTHERS), seed=9, trouble=Trouble())[0]
        _write(path, [*made, *_giant(Trouble())])
    return path


def _folder() -> Folder:
    return Folder(lambda line: print(line, file=sys.stderr))


def _giant(trouble: Trouble) -> list[Packet]:
    """One connection that moves large messages all the time."""
    chance = random.Random(11)
    profile = Profile(connections=1, exchanges=5000, body=(1500, 14_000))
    speaker = Speaker(chance, profile)
    dialogue = Dialogue(("10.2.0.1", 41_000), ("10.9.0.1", 10911))
    start = 1_700_000_000_000_000_000
    while sum(len(one.data) for one in dialogue.said) < _GIANT:
        speaker.speak(dialogue, start, start + int(profile.seconds * 1e9))
    return packets(dialogue, trouble, chance, [])


def _write(path: Path, made: list[Packet]) -> None:
    made.sort(key=lambda one: one.time_ns)
    save(path.with_suffix(".part"), made).rename(path)
