"""``checkpoint``: up to where a broker has written its files to disk."""

from __future__ import annotations

from struct import Struct
from typing import Final, NamedTuple

from rocketwire.errors import DecodeError
from rocketwire.store import layouts

FILE_SIZE: Final = 4096
_CHECKPOINT: Final = Struct(layouts.format_of(layouts.CHECKPOINT))


class Checkpoint(NamedTuple):
    """Content of ``checkpoint``: a lower bound, never the end of the data.

    Java: ``StoreCheckpoint``.
    """

    #: store timestamp of the newest flushed message, milliseconds since 1970
    physical_timestamp: int
    queue_timestamp: int  #: of the newest flushed queue unit
    index_timestamp: int  #: end of the newest full index file
    master_flushed_offset: int  #: since 5.0
    confirmed_offset: int  #: since 5.0; set at the start of a broker only
    queue_physical_offset: int  #: physical offset of the newest flushed queue unit; since 5.5

    @property
    def min_timestamp(self) -> int:
        """Where Java begins to recover after a kill (``StoreCheckpoint.getMinTimestamp``)."""
        return max(0, min(self.physical_timestamp, self.queue_timestamp) - 3000)


def decode_checkpoint(data: bytes | memoryview) -> Checkpoint:
    """Read ``checkpoint``.

    Raises:
        DecodeError: the file is shorter than its words.
    """
    if len(data) < _CHECKPOINT.size:
        raise DecodeError(f"checkpoint has {len(data)} bytes instead of {FILE_SIZE}")
    return Checkpoint._make(_CHECKPOINT.unpack_from(data))


def encode_checkpoint(checkpoint: Checkpoint) -> bytes:
    """``checkpoint`` as ``StoreCheckpoint.flush`` writes it."""
    return _CHECKPOINT.pack(*checkpoint).ljust(FILE_SIZE, b"\0")
