"""What a comparison of two stores says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

Offsets: TypeAlias = tuple[int, int]
"""First offset, and the one after the last."""


class Place(NamedTuple):
    """Where something stands: name of a file of the store, and byte in it."""

    file: str
    byte: int | None = None

    def __str__(self) -> str:
        return self.file if self.byte is None else f"{self.file}:{self.byte}"


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreDifference:
    """Something that two stores do not have in common.

    Attributes:
        part: ``log``, ``queue`` or ``config``.
        name: of the message, the offsets, the queue or the setting.
        rule: how the stores differ.
        a, b: what each store has; None for nothing.
        place_a, place_b: where it stands.
    """

    part: str
    name: str
    rule: str
    a: Any = None
    b: Any = None
    place_a: Place | None = None
    place_b: Place | None = None
