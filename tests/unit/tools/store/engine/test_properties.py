"""Properties read by the block are those that are read one by one."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocketwire.wire.java_utf8 import decode_utf8
from rocketwire.wire.message.properties import decode_properties
from rocketwire_tools.store.engine.properties import PropertyItems

USUAL = st.dictionaries(st.text("abcdefg", min_size=1, max_size=12), st.text(min_size=1)).map(
    lambda properties: "".join(
        f"{name}\1{value}\2"
        for name, value in properties.items()
        if not set("\1\2") & set(name + value)
    ).encode("utf-8", "replace")
)
STRANGE = st.lists(st.sampled_from([b"a", b"ab", b"\1", b"\2", b'"', b"\\", b"\xff", b"\n"])).map(
    b"".join
)


@given(st.lists(USUAL | STRANGE))
def test_dicts_have_what_each_text_says(texts: list[bytes]) -> None:
    properties = [decode_properties(decode_utf8(text)) for text in texts]

    items = PropertyItems.of_texts(texts)

    assert items.dicts() == properties
    for name in ("a", "ab", "abcdefgh"):
        assert items.array(name).to_pylist() == [pairs.get(name) for pairs in properties]


def json_objects(texts: list[bytes]) -> list[bytes] | None:
    members = PropertyItems.of_texts(texts).json_members()
    if members is None:
        return None
    data, sizes = members
    ends = np.cumsum(sizes).tolist()
    return [
        b'{"%b"}' % data[end - size : end] for end, size in zip(ends, sizes.tolist(), strict=True)
    ]


@given(st.lists(USUAL | STRANGE))
def test_json_members_are_what_each_text_says_or_are_left_to_others(texts: list[bytes]) -> None:
    properties = [decode_properties(decode_utf8(text)) for text in texts]

    objects = json_objects(texts)

    if objects is not None:
        pairs = [json.loads(text, object_pairs_hook=list) for text in objects]
        assert pairs == [list(members.items()) for members in properties]


def test_usual_properties_become_members_of_json() -> None:
    objects = json_objects([b"a\0011\2b\0012", b"c\0013"])

    assert objects == [b'{"a":"1","b":"2"}', b'{"c":"3"}']


@pytest.mark.parametrize(
    "text",
    [b'a\1"', b"a\1\\", b"a\1\n", b"a\0011\2a\0012", b"a\1\1", b"a\2b\0011", b"", b"a\0011\2"],
)
def test_text_that_needs_escapes_has_no_fast_members(text: bytes) -> None:
    assert json_objects([text]) is None


def test_names_that_begin_and_end_alike_are_not_the_same() -> None:
    long = b"abcdefgh-1-abcdefgh\0011\2abcdefgh-12-abcdefgh\0012\2"

    items = PropertyItems.of_texts([long, long])

    assert not items.has_name_twice
    assert items.array("abcdefgh-12-abcdefgh").to_pylist() == ["2", "2"]
