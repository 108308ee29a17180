"""Memory that captures are read into."""

from __future__ import annotations

import mmap
from typing import TYPE_CHECKING

import numpy as np
import pytest

from rocketwire_tools.pcap.files.buffers import blocks_of, buffer_of

if TYPE_CHECKING:
    from rocketwire_tools.pcap.files.buffers import Buffer


def _is_as_asked(buffer: Buffer) -> bool:
    view = memoryview(buffer)
    view[1000:1003] = b"abc"
    return (
        len(buffer) == 100_000
        and buffer[998:1004] == b"\0\0abc\0"
        and not any(buffer[1003:100_000])
    )


def test_a_buffer_holds_zeros_and_what_is_written_to_it() -> None:
    assert _is_as_asked(buffer_of(100_000))


@pytest.mark.skipif(not hasattr(mmap, "MADV_HUGEPAGE"), reason="only Linux has such pages")
def test_a_buffer_begins_with_a_page() -> None:
    address = np.frombuffer(buffer_of(100_000), np.uint8).ctypes.data

    assert address % mmap.PAGESIZE == 0


def test_a_system_without_large_pages_gives_a_buffer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(mmap, "MADV_HUGEPAGE", raising=False)

    assert _is_as_asked(buffer_of(100_000))


def test_blocks_are_of_one_size_and_have_nothing_in_common() -> None:
    blocks = blocks_of(5000, 4)
    for number, block in enumerate(blocks):
        block[:] = bytes([number]) * 5000

    assert [bytes([number]) * 5000 for number in range(4)] == [bytes(block) for block in blocks]
