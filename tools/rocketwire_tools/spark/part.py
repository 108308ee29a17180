"""``Part``: the part of a capture that one task reads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rocketwire_tools.spark.sizing import file_size

if TYPE_CHECKING:
    from rocketwire_tools.pcap.files.splits import Split


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a capture."""

    split: Split  # part of a file
    share: tuple[int, int] = (0, 1)  # ``(k, n)`` for share k of n of its connections

    @property
    def whole_size(self) -> int | None:
        """Bytes of a file that is read as a whole; None for a part of a file."""
        is_whole = self.split.start == 0 and self.split.end is None and self.share == (0, 1)
        return file_size(self.split.path) if is_whole else None
