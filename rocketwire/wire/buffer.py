"""``Buffer``: the types of bytes that parsers accept."""

from __future__ import annotations

Buffer = bytes | bytearray | memoryview
