"""Texts that are kept compressed."""

from __future__ import annotations

import gzip

from rocketwire_tools.exporter.compressed import PART, Beginning

LINES = [b"series %d\n" % number for number in range(30_000)]


def test_a_text_is_its_beginning_and_its_end() -> None:
    beginning = Beginning(LINES)
    texts = [beginning.followed_by(end) for end in (b"first", b"second")]

    for text, end in zip(texts, (b"first", b"second"), strict=True):
        whole = b"".join((*LINES, end))
        assert gzip.decompress(text.data) == whole
        assert b"".join(text.parts()) == whole
        assert text.size == len(whole)
        assert len(text.data) < len(whole) / 4


def test_no_part_of_a_text_is_long() -> None:
    parts = list(Beginning(LINES).followed_by(b"").parts())

    assert max(map(len, parts)) == PART


def test_a_text_may_be_empty() -> None:
    text = Beginning().followed_by(b"")

    assert b"".join(text.parts()) == b""
    assert text.size == 0
