"""Values of some names are those that properties have when they are read one by one."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocketwire.policy.java_strings import string_hash
from rocketwire.wire.java_utf8 import decode_utf8
from rocketwire.wire.layouts.declarations import MAGIC_V1
from rocketwire.wire.message.properties import decode_properties
from rocketwire_tools.store.engine.columns import Messages
from rocketwire_tools.store.engine.named_values import NamedValues, Values

NAMES = ("KEYS", "TAGS", "UNIQ_KEY", "a")
_PIECES = (
    *(name.encode() for name in NAMES),
    *(b"\1", b"\2", b"\1", b"\2", b" ", b"x", b"0123456789", b"AAA", b"\xff", b"\xed\xa0"),
    *("é€".encode(), "\U0001f680".encode(), b"KEYS\1a b\2", b"TAGS\1" + b"t" * 40 + b"\2"),
)
TEXTS = st.lists(st.sampled_from(_PIECES), max_size=12).map(b"".join)
LONG = st.integers(0, 3000).map(lambda size: b"KEYS\1" + b"k" * size)


def messages_of(texts: list[bytes]) -> Messages:
    """Messages without topic and body, which have these properties."""
    records: list[bytes] = []
    for text in texts:
        size = 91 + len(text)
        head = size.to_bytes(4, "big") + MAGIC_V1.to_bytes(4, "big") + bytes(80)
        records.append(head + b"\0" + len(text).to_bytes(2, "big") + text)
    positions = np.cumsum([0, *map(len, records)], dtype=np.int64)[:-1]
    return Messages(np.frombuffer(b"".join(records), np.uint8), positions)


def texts_of(values: NamedValues, places: Values) -> list[tuple[int, str]]:
    return [
        (row, decode_utf8(values.data[start:end].tobytes()))
        for row, start, end in sorted(zip(*map(np.ndarray.tolist, places), strict=True))
    ]


def hashes_of(values: NamedValues, places: Values, begin: str = "") -> list[tuple[int, int, int]]:
    begins = np.full(len(places.rows), string_hash(begin))
    hashes = values.hashes(places, begins)
    return sorted(zip(places.rows.tolist(), places.starts.tolist(), hashes.tolist(), strict=True))


@given(st.lists(TEXTS | LONG, max_size=20))
def test_values_are_those_of_properties_that_are_read_one_by_one(texts: list[bytes]) -> None:
    properties_of_rows = [decode_properties(decode_utf8(text)) for text in texts]

    values = NamedValues(messages_of(texts), NAMES)

    for name in NAMES:
        present = [
            (row, properties[name])
            for row, properties in enumerate(properties_of_rows)
            if name in properties
        ]
        assert texts_of(values, values.of(name)) == present
        hashes = [hash_ for _, _, hash_ in hashes_of(values, values.of(name), "topic#")]
        assert hashes == [string_hash(f"topic#{value}") for _, value in present]


@given(st.lists(TEXTS | LONG, max_size=20))
def test_words_are_the_parts_between_spaces(texts: list[bytes]) -> None:
    keys = [decode_properties(decode_utf8(text)).get("KEYS", "") for text in texts]

    values = NamedValues(messages_of(texts), NAMES)

    words = [(row, word) for row, text in enumerate(keys) for word in text.split(" ") if word]
    assert texts_of(values, values.words_of("KEYS")) == words
    hashes = hashes_of(values, values.words_of("KEYS"))
    assert [hash_ for _, _, hash_ in hashes] == [string_hash(word) for _, word in words]


@pytest.mark.parametrize("size", [*range(1, 34), 255, 30_000])
def test_value_of_any_length_has_the_hash_code_of_java(size: int) -> None:
    text = "".join(chr(0x21 + place % 90) for place in range(size))
    values = NamedValues(messages_of([b"TAGS\1" + text.encode()]), ["TAGS"])

    assert values.hashes(values.of("TAGS")).tolist() == [string_hash(text)]
