"""``Part``: the part of a capture that one task reads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rocketwire_tools.pcap.files.splits import Split


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a capture.

    Attributes:
        split: part of a file.
        share: ``(k, n)`` for share k of n of its connections.
    """

    split: Split
    share: tuple[int, int] = (0, 1)
