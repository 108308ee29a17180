"""Message properties: what Java 5.5.0 and 5.3.3 write and read, case by case."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocketwire.wire.message.properties import decode_properties, encode_properties, split_keys

NAMES = st.text(st.characters(exclude_characters="\x01\x02", exclude_categories=["Cs"]), min_size=1)
VALUES = st.text(st.characters(exclude_characters="\x02", exclude_categories=["Cs"]), min_size=1)

# text as given to MessageDecoder.string2messageProperties, and what came back (both releases)
READ_BY_JAVA: list[tuple[str, dict[str, str]]] = [
    ("", {}),
    ("\x02", {}),
    ("TAGS\x01TagA\x02KEYS\x01k1\x02", {"TAGS": "TagA", "KEYS": "k1"}),
    ("TAGS\x01TagA", {"TAGS": "TagA"}),
    ("a\x01b", {"a": "b"}),
    ("a\x01\x02", {}),
    ("\x01b\x02", {}),
    ("ab\x02c\x01d\x02", {"c": "d"}),
    ("a\x01b\x01c\x02", {"a": "b\x01c"}),
    ("a\x01\x01\x02", {"a": "\x01"}),
    ("\x01\x01\x01\x02", {}),
    ("a\x01b\x02a\x01c\x02", {"a": "c"}),
    ("\U0001f680\x01\x02", {}),
    ("\U0001f680\x01x\x02", {"\U0001f680": "x"}),
    ("a\x01b\x02\x02\x02c\x01d", {"a": "b", "c": "d"}),
]


@pytest.mark.parametrize(("text", "expected"), READ_BY_JAVA)
def test_properties_are_read_as_java_reads_them(text: str, expected: dict[str, str]) -> None:
    assert decode_properties(text) == expected


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        (None, []),
        ("", []),
        ("k", ["k"]),
        (" a  b ", ["a", "b"]),
        ("a\tb c\u00a0d \u3000", ["a\tb", "c\u00a0d", "\u3000"]),
    ],
)
def test_keys_are_separated_by_spaces_alone(text: str | None, keys: list[str]) -> None:
    assert split_keys(text) == keys


def test_properties_are_written_in_their_order_with_a_separator_after_each() -> None:
    text = encode_properties({"TAGS": "TagA", "KEYS": "k1"})

    assert text == "TAGS\x01TagA\x02KEYS\x01k1\x02"


def test_a_property_without_a_value_is_not_written_and_one_with_an_empty_value_is() -> None:
    assert encode_properties({"a": None, "b": "", "c": "d"}) == "b\x01\x02c\x01d\x02"


@pytest.mark.parametrize("nothing", [None, {}, {"a": None}])
def test_no_properties_are_an_empty_string(nothing: dict[str, str | None] | None) -> None:
    assert encode_properties(nothing) == ""


@given(st.dictionaries(NAMES, VALUES))
def test_what_is_written_without_separators_inside_is_read_again(
    properties: dict[str, str],
) -> None:
    assert decode_properties(encode_properties(properties)) == properties


@given(st.text())
def test_any_text_gives_properties_with_names_and_values(text: str) -> None:
    properties = decode_properties(text)

    assert all(name and value for name, value in properties.items())
    assert all(
        "\x01" not in name and "\x02" not in name + value for name, value in properties.items()
    )
