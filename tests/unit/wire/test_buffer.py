"""What parsers take."""

from __future__ import annotations

import pytest

from rocketwire.wire.buffer import Buffer


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_a_buffer_is_anything_that_holds_bytes(kind: type[bytes]) -> None:
    assert isinstance(kind(b"text"), Buffer)


def test_a_text_is_no_buffer() -> None:
    assert not isinstance("text", Buffer)
