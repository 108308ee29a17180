"""Whole captures."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from tests.support.captures.files import FileKind, write
from tests.support.captures.network import CLEAN, Packet, Trouble, True_, packets
from tests.support.captures.traffic import Profile, dialogues

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path


def make(
    profile: Profile, *, seed: int = 1, trouble: Trouble = CLEAN
) -> tuple[list[Packet], list[True_]]:
    """The packets of a capture, in the order of time, and the truth about its frames."""
    chance = random.Random(seed + 1)
    truth: list[True_] = []
    made: list[Packet] = []
    for dialogue in dialogues(profile, seed):
        made += packets(dialogue, trouble, chance, truth)
    made.sort(key=lambda one: one.time_ns)
    return made, truth


def save(path: Path, made: Iterable[Packet], kind: FileKind | None = None) -> Path:
    """Write a capture."""
    with path.open("wb") as file:
        write(file, made, FileKind() if kind is None else kind)
    return path
