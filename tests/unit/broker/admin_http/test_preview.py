"""Bodies as text: whatever the bytes are, the preview is short and says what it is."""

from __future__ import annotations

import zlib

import pytest

from rocketwire.wire.message.stored import StoredMessage
from rocketwire_broker.admin_http.preview import MAX_BODY, Preview, preview


def shown(body: bytes | None, length: int = 20, sys_flag: int = 0) -> Preview:
    return preview(StoredMessage(topic="orders", body=body, sys_flag=sys_flag), length)


def test_a_text_is_shown_as_it_is() -> None:
    assert shown("grün\n".encode()) == ("text", "grün\n", True, 6)
    assert shown(None) == ("text", "", True, 0)


@pytest.mark.parametrize("letter", ["a", "ü", "€", "𝄞"])
def test_a_long_text_is_cut_between_two_letters(letter: str) -> None:
    assert shown((letter * 50).encode()) == ("text", letter * 20, False, 50 * len(letter.encode()))


@pytest.mark.parametrize("body", [b"\xff\xfe", b"a\x00b", b"\x1b[2J", b"a" * 81 + b"\xff"])
def test_other_bytes_are_shown_as_digits(body: bytes) -> None:
    found = shown(body, length=400)

    assert (found.kind, found.is_whole) == ("bytes", len(body) <= 133)
    assert bytes.fromhex(found.text) == body[:133]


def test_a_compressed_body_is_decompressed() -> None:
    assert shown(zlib.compress(b"paid"), sys_flag=1)[:3] == ("text", "paid", True)


@pytest.mark.parametrize("body", [b"no zlib", zlib.compress(bytes(MAX_BODY + 1))])
def test_a_compressed_body_that_is_damaged_or_too_large_gives_the_reason(body: bytes) -> None:
    found = shown(body, sys_flag=1)

    assert (found.kind, found.is_whole, found.size) == ("unreadable", False, len(body))
