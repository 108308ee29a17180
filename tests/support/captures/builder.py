"""Whole captures."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from tests.support.captures.files import FileKind, write
from tests.support.captures.network import CLEAN, Packet, SentFrame, Trouble, packets
from tests.support.captures.traffic import Profile, dialogues

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path


def make(
    profile: Profile, *, seed: int = 1, trouble: Trouble = CLEAN
) -> tuple[list[Packet], list[SentFrame]]:
    """The packets of a capture, in the order of time, and the truth about its frames."""
    chance = random.Random(seed + 1)
    truth: list[SentFrame] = []
    captured: list[Packet] = []
    for dialogue in dialogues(profile, seed):
        captured += packets(dialogue, trouble, chance, truth)
    captured.sort(key=lambda packet: packet.time_ns)
    return captured, truth


def save(path: Path, captured: Iterable[Packet], file_kind: FileKind | None = None) -> Path:
    """Write a capture."""
    with path.open("wb") as file:
        write(file, captured, FileKind() if file_kind is None else file_kind)
    return path
