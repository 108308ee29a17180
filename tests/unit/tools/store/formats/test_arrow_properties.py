"""Properties as arrays of Arrow are those that are read one by one."""

from hypothesis import given
from hypothesis import strategies as st

from rocketwire.wire.java_utf8 import decode_utf8
from rocketwire.wire.message.properties import decode_properties
from rocketwire_tools.store.engine.properties import PropertyItems
from rocketwire_tools.store.formats.arrow_rows import PROPERTY_COLUMNS

PIECES = [b"TAGS", b"KEYS", b"UNIQ_KEY", b"a", b" ", "\u3000ü".encode(), b"\1", b"\1", b"\2"]


@given(st.lists(st.lists(st.sampled_from(PIECES), max_size=12).map(b"".join), max_size=6))
def test_arrays_have_what_each_text_says(texts: list[bytes]) -> None:
    properties = [decode_properties(decode_utf8(text)) for text in texts]

    arrays = PropertyItems.of_texts(texts)
    columns = {name: make(arrays).to_pylist() for name, make in PROPERTY_COLUMNS.items()}

    keys = [of_row.get("KEYS") for of_row in properties]
    assert [dict(pairs) for pairs in columns["properties"]] == properties
    assert columns["tags"] == [of_row.get("TAGS") for of_row in properties]
    assert columns["msg_id"] == [of_row.get("UNIQ_KEY") for of_row in properties]
    assert columns["keys"] == [
        None if key is None else [k for k in key.split(" ") if k] for key in keys
    ]


def test_of_two_properties_with_one_name_the_last_counts() -> None:
    arrays = PropertyItems.of_texts([b"a\0011\2b\0012\2a\0013\2", b"b\0014\2"])

    assert arrays.maps().to_pylist() == [[("a", "3"), ("b", "2")], [("b", "4")]]


def test_row_of_very_many_names_is_no_array_of_all_pairs() -> None:
    names = b"".join(b"%d\1v\2" % number for number in range(5000))

    arrays = PropertyItems.of_texts([names, names + b"7\1w\2", *[b"x\1y"] * 100])

    assert len(arrays.maps()[0]) == len(arrays.maps()[1]) == 5000
    assert dict(arrays.maps()[1].as_py())["7"] == "w"


def test_queue_that_is_no_number_is_null() -> None:
    texts = [b"REAL_QID\0013\2", b"REAL_QID\1x\2", b"REAL_QID\00199999999999\2", b""]

    queues = PROPERTY_COLUMNS["real_queue_id"](PropertyItems.of_texts(texts))

    assert queues.to_pylist() == [3, None, None, None]
