"""Any stream of bytes gives commands or a ``DecodeError``, however it is cut into pieces."""

from __future__ import annotations

from rocketwire.wire.command import CommandDecoder
from tests.fuzz import seeds

LIMIT = 1 << 16


def read(data: bytes) -> None:
    """The first byte says into how large pieces the rest is cut."""
    decoder = CommandDecoder(max_frame_length=LIMIT)
    step = 1 + (data[0] if data else 0)
    for start in range(1, len(data), step):
        decoder.feed(data[start : start + step])
        while decoder.next_command() is not None:
            pass
        assert decoder.buffered <= LIMIT + step


def start() -> list[bytes]:
    """Recorded frames, in small and in large pieces."""
    return [bytes((step,)) + frame for frame in seeds.frames() for step in (7, 255)]
