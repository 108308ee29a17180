"""Hash codes of many texts are those of each."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocketwire.policy.java_strings import string_hash
from rocketwire.store.index_file import key_hash
from rocketwire_tools.store.engine.hashes import PartHashes, index_hashes, string_hashes


@given(st.lists(st.text()) | st.lists(st.text("abc#1")))
def test_hash_codes_are_those_of_java(texts: list[str]) -> None:
    assert string_hashes(texts).tolist() == [string_hash(text) for text in texts]


def test_a_long_text_has_a_hash_code() -> None:
    texts = ["x" * 70_000, "ß" * 70_000]

    assert string_hashes(texts).tolist() == [string_hash(text) for text in texts]


def test_index_hashes_are_not_negative() -> None:
    texts = ["orders#a", "orders#b", "orders#größe"]

    assert index_hashes(texts).tolist() == [key_hash(*text.split("#")) for text in texts]
    assert index_hashes(["polygenelubricants"]).tolist() == [0]  # hash code -2147483648


@pytest.mark.parametrize("text", ["", "order-1", "a" * 70_000, "Zürich-1 😀 plain"])
def test_parts_of_a_text_have_the_hash_codes_of_java(text: str) -> None:
    data = text.encode()
    cuts = [place for place in (0, 1, 5, 9, 30, len(data)) if place <= len(data)]
    cuts = [place for place in cuts if place == len(data) or data[place] & 0xC0 != 0x80]
    parts = [(start, end) for start in cuts for end in cuts if start <= end]
    starts, ends = np.array(parts).T
    texts = [data[start:end].decode() for start, end in parts]

    assert PartHashes(data).of(starts, ends).tolist() == [string_hash(text) for text in texts]


def test_parts_of_a_text_are_hashed_behind_other_texts() -> None:
    starts, ends = np.array([0, 2, 6]), np.array([2, 4, 6])
    begins = np.array([string_hash("topic#"), string_hash("t#T#"), string_hash("empty#")])

    hashes = PartHashes("k1é-x".encode()).of(starts, ends, begins)

    assert hashes.tolist() == [string_hash(text) for text in ("topic#k1", "t#T#é", "empty#")]
