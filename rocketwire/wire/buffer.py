"""``Buffer``: the bytes that parsers take."""

from __future__ import annotations

Buffer = bytes | bytearray | memoryview
