"""UTF-8 with damage: the replacements are counted as Java counts them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocketwire.wire.java_utf8 import decode_utf8, encode_utf8

# hex of the bytes, and what new String(bytes, UTF_8) made of them (Java 17)
READ_BY_JAVA = [
    ("61", "a"),
    ("c3a9", "\u00e9"),
    ("f09f9a80", "\U0001f680"),
    ("80", "\ufffd"),
    ("c080", "\ufffd\ufffd"),
    ("c2", "\ufffd"),
    ("e4b8", "\ufffd"),
    ("e4b861", "\ufffda"),
    ("eda0", "\ufffd"),
    ("eda080", "\ufffd"),
    ("edadc2", "\ufffd\ufffd"),
    ("edadadad", "\ufffd\ufffd"),
    ("eda0bdedb880", "\ufffd\ufffd"),
    ("ed9fbf", "\ud7ff"),
    ("e4edb8", "\ufffd\ufffd"),
    ("edbf618f", "\ufffda\ufffd"),
    ("f4908080", "\ufffd\ufffd\ufffd\ufffd"),
    ("f09f9a", "\ufffd"),
]


@pytest.mark.parametrize(("raw", "expected"), READ_BY_JAVA)
def test_damaged_text_is_replaced_as_in_java(raw: str, expected: str) -> None:
    assert decode_utf8(bytes.fromhex(raw)) == expected


def test_a_lone_surrogate_is_written_as_a_question_mark() -> None:
    assert encode_utf8("a\ud800b\udc00") == b"a?b?"


def test_two_halves_of_a_character_are_written_as_the_character() -> None:
    assert encode_utf8("\ud83d\ude80\ud83d") == b"\xf0\x9f\x9a\x80?"


@given(st.text())
def test_sound_text_survives(text: str) -> None:
    assert decode_utf8(encode_utf8(text)) == text


@given(st.binary())
def test_any_bytes_give_text(data: bytes) -> None:
    assert decode_utf8(data) == decode_utf8(encode_utf8(decode_utf8(data)))
