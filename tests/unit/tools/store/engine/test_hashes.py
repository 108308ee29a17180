"""Hash codes of many texts are those of each."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from rocketwire.policy.java_strings import string_hash
from rocketwire.store.index_file import key_hash
from rocketwire_tools.store.engine.hashes import index_hashes, string_hashes


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
