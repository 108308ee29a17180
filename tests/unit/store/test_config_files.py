"""Configuration files of brokers are JSON with bare integer keys."""

import pytest

from rocketwire.errors import DecodeError
from rocketwire.store import config_files


def test_bare_integer_keys_are_read_and_texts_stay() -> None:
    text = rb'{0:4,"a":"{1:2}, 3:4","b":{ -1 : "x\"5:6" , 2:[1,2]}}'

    assert config_files.decode_config(text) == {
        "0": 4,
        "a": "{1:2}, 3:4",
        "b": {"-1": 'x"5:6', "2": [1, 2]},
    }


@pytest.mark.parametrize("text", [b"", b"\0" * 20, b"[1]", b"{0:", b'"text"'])
def test_other_texts_are_refused(text: bytes) -> None:
    with pytest.raises(DecodeError):
        config_files.decode_config(text)


def test_a_topic_and_a_group_are_split_at_the_only_separator() -> None:
    assert config_files.split_topic_and_group("%RETRY%g@g") == ("%RETRY%g", "g")
    assert config_files.split_topic_and_group("topic") is None
    assert config_files.split_topic_and_group("@g") is None
    assert config_files.split_topic_and_group("t@g@h") is None


def test_entries_that_are_no_offsets_are_left_out() -> None:
    keys = {"x": 1, "1": "2", "--1": 1, "-": 1, "9" * 5000: 1, "\u0663": 1, "2": True, "3": 1 << 63}
    table = {"t@g": {"0": 5, **keys}, "t": {"0": 1}, "u@g": 7}
    offsets = {("t", "g"): {0: 5}}

    assert config_files.consumer_offsets({"offsetTable": table}) == offsets
    assert config_files.consumer_offsets({}) == {}
    name = "pullOffsetTable"
    assert config_files.consumer_offsets({name: table}, name) == offsets


def test_delay_offsets_go_by_level() -> None:
    table = {"1": 4, "x": 1, "2": None, "9" * 5000: 1}

    assert config_files.delay_offsets({"offsetTable": table}) == {1: 4}
    assert config_files.delay_offsets({"offsetTable": []}) == {}
