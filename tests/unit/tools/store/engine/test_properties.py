"""Properties read by the block are those that are read one by one."""

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


def test_names_that_begin_and_end_alike_are_not_the_same() -> None:
    long = b"abcdefgh-1-abcdefgh\0011\2abcdefgh-12-abcdefgh\0012\2"

    items = PropertyItems.of_texts([long, long])

    assert not items.has_name_twice
    assert items.array("abcdefgh-12-abcdefgh").to_pylist() == ["2", "2"]
