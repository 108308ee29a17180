"""Any bytes behind the beginning of a pcapng file give rows or a ``CaptureError``."""

from __future__ import annotations

from tests.fuzz import captures

CASES = captures.CASES


def read(data: bytes) -> None:
    """Decodes a capture."""
    captures.decode(data)


def start() -> list[bytes]:
    """Captures of both byte orders and several link types."""
    return captures.made(pcapng=True)
