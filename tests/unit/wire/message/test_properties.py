"""Message properties are written and read as by Java 5.5.0 and 5.3.3."""

import pytest

from rocketwire.wire.message.properties import decode_properties, encode_properties, split_keys

# text, and the result of MessageDecoder.string2messageProperties (both releases)
READ_BY_JAVA: list[tuple[str, dict[str, str]]] = [
    ("ab\x02c\x01d\x02", {"c": "d"}),
    ("a\x01\x01\x02", {"a": "\x01"}),
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


def test_a_property_is_written_if_it_has_a_value_even_an_empty_one() -> None:
    assert encode_properties({"a": None, "b": "", "c": "d"}) == "b\x01\x02c\x01d\x02"


@pytest.mark.parametrize("nothing", [None, {}, {"a": None}])
def test_no_properties_are_an_empty_string(nothing: dict[str, str | None] | None) -> None:
    assert encode_properties(nothing) == ""
