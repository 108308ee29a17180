"""UTF-8 with damage: the replacements are counted as Java counts them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocketwire.wire.java_utf8 import decode_utf8, encode_utf8
from tests.support.tables import cases

# hex of the bytes, and what new String(bytes, UTF_8) made of them (Java 17)
READ_BY_JAVA = cases(
    ("a", "61"),
    ("\u00e9", "c3a9"),
    ("\U0001f680", "f09f9a80"),
    ("\ufffd", "80", "c2", "e4b8", "eda0", "eda080", "f09f9a"),
    ("\ufffd\ufffd", "c080", "edadc2", "edadadad", "eda0bdedb880", "e4edb8"),
    ("\ufffda", "e4b861"),
    ("\ud7ff", "ed9fbf"),
    ("\ufffda\ufffd", "edbf618f"),
    ("\ufffd\ufffd\ufffd\ufffd", "f4908080"),
)


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
