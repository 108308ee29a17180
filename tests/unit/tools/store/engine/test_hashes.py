"""Hash codes of many texts are those of each."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from rocketwire.policy.java_strings import string_hash
from rocketwire.store.index_file import key_hash
from rocketwire.wire.java_utf8 import decode_utf8
from rocketwire_tools.store.engine.hashes import index_hashes, part_hashes, string_hashes

TEXTS = st.binary(min_size=1, max_size=40) | st.text("ab1-", min_size=1, max_size=12).map(
    str.encode
)
LONG = st.integers(1, 5000).map(lambda size: bytes(range(33, 127)) * (size // 94 + 1))


@given(st.lists(st.text()) | st.lists(st.text("abc#1")))
def test_hash_codes_are_those_of_java(texts: list[str]) -> None:
    assert string_hashes(texts).tolist() == [string_hash(text) for text in texts]


def test_index_hashes_are_not_negative() -> None:
    texts = ["orders#a", "orders#b", "orders#größe"]

    assert index_hashes(texts).tolist() == [key_hash(*text.split("#")) for text in texts]
    assert index_hashes(["polygenelubricants"]).tolist() == [0]  # hash code -2147483648


def hashes_of(texts: list[bytes], begin: str, tail: bytes) -> list[int]:
    """Hash codes of adjacent texts, with some bytes after the last."""
    data = np.frombuffer(b"".join(texts) + tail, np.uint8)
    sizes = np.array([len(text) for text in texts], np.int64)
    begins = np.full(len(texts), string_hash(begin))
    hashes: list[int] = part_hashes(data, np.cumsum(sizes) - sizes, sizes, begins).tolist()
    return hashes


@given(st.lists(TEXTS | LONG, max_size=12), st.sampled_from(["", "a#", "t" * 99]), st.binary())
def test_part_has_the_hash_code_of_java(texts: list[bytes], begin: str, tail: bytes) -> None:
    assert hashes_of(texts, begin, tail) == [
        string_hash(begin + decode_utf8(text)) for text in texts
    ]


def test_part_of_the_largest_bytes_has_an_exact_sum() -> None:
    texts = [b"\x7f" * size for size in (1, 8, 56, 1023, 1024, 1025, 9000)]

    assert hashes_of(texts, "", b"") == [string_hash(text.decode()) for text in texts]
