"""Topics as one line of text, and versions with an open clock.

Measured with the oracle's ``register_decode`` and ``topicconfig_decode`` on 5.5.0.
"""

import pytest

from rocketwire.errors import DecodeError, EncodeError, LocalProtocolError
from rocketwire.messages.config_text import config_lines, read_config
from rocketwire.messages.enums import TopicFilterType
from rocketwire.messages.topic_config import (
    DataVersion,
    TopicConfig,
    decode_topic,
    encode_topic,
    with_timestamp,
)

A = TopicConfig(topic_name="a", read_queue_nums=8, write_queue_nums=8)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a 8 8 6 SINGLE_TAG {}", {}),
        ("a 8 8 6 SINGLE_TAG", {}),
        ("a 8 8 6 SINGLE_TAG ", {}),
        ("a 8 8 6 SINGLE_TAG null", None),
        ("a 8 8 6 SINGLE_TAG  {}", None),
        ("a 8 8 6 SINGLE_TAG []", {}),
        ("a 8 8 6 SINGLE_TAG x", {}),
        ('a 8 8 6 SINGLE_TAG {"a b":"c"}', {}),
        ('a 8 8 6 SINGLE_TAG {"a":1,"b":null}', {"a": "1"}),
        ('a 8 8 6 SINGLE_TAG {"a":"b"} x', {"a": "b"}),
    ],
)
def test_attributes_are_read_if_they_can_be(text: str, expected: dict[str, str] | None) -> None:
    assert decode_topic(text).attributes == expected


def test_numbers_take_a_sign() -> None:
    topic = decode_topic("a +8 -8 6 MULTI_TAG {}")

    assert topic == TopicConfig(
        topic_name="a",
        read_queue_nums=8,
        write_queue_nums=-8,
        topic_filter_type=TopicFilterType.MULTI_TAG,
    )


def test_the_name_may_be_empty() -> None:
    assert decode_topic(" 8 8 6 SINGLE_TAG").topic_name == ""


@pytest.mark.parametrize(
    "text",
    [
        *("", "      ", "a 8 8 6", "a 8 8 6 X", "a 8 8 6 single_tag", "a  8 8 6 SINGLE_TAG"),
        *("a 8 8 6  SINGLE_TAG", "a 8 8 99999999999 SINGLE_TAG", "a 8 x 6 SINGLE_TAG"),
    ],
)
def test_invalid_topics_are_refused(text: str) -> None:
    with pytest.raises(DecodeError):
        decode_topic(text)


def test_topics_that_are_alike_are_read_once() -> None:
    cache: dict[str, TopicConfig] = {}
    first = decode_topic("a 8 8 6 SINGLE_TAG {}", cache=cache)
    second = decode_topic("b 8 8 6 SINGLE_TAG {}", cache=cache)
    assert first == A
    assert second.topic_name == "b"
    assert list(cache) == ["8 8 6 SINGLE_TAG {}"]


@pytest.mark.parametrize(
    ("topic", "expected"),
    [
        (A, "a 8 8 6 SINGLE_TAG {}"),
        (TopicConfig(topic_name="a", attributes=None), "a 16 16 6 SINGLE_TAG "),
        (TopicConfig(attributes={"k": "v"}), 'null 16 16 6 SINGLE_TAG {"k":"v"}'),
        (TopicConfig(topic_name="\u4e2d", topic_filter_type=None), "\u4e2d 16 16 6 null {}"),
    ],
)
def test_a_topic_is_written_as_java_writes_it(topic: TopicConfig, expected: str) -> None:
    assert encode_topic(topic).decode() == expected


def test_a_number_beyond_its_type_is_not_written() -> None:
    with pytest.raises(EncodeError):
        encode_topic(TopicConfig(perm=1 << 31))


def test_an_absent_time_is_filled_in_and_a_present_one_is_not() -> None:
    assert with_timestamp(DataVersion(counter=1), 5) == DataVersion(counter=1, timestamp=5)
    assert with_timestamp(DataVersion(timestamp=3), 5) == DataVersion(timestamp=3)
    assert with_timestamp(None, 5) is None


def test_versions_are_equal_when_all_three_numbers_are() -> None:
    version = DataVersion(counter=1, state_version=2, timestamp=3)
    assert version == DataVersion(counter=1, state_version=2, timestamp=3)
    assert version != DataVersion(counter=1, state_version=0, timestamp=3)


def test_a_servers_lines_are_read_as_they_are() -> None:
    body = b"a=1\nb=x=y\nc=\nd=two\nlines\n\\e=\\\n"
    assert read_config(body) == {"a": "1", "b": "x=y", "c": "", "d": "two\nlines", "\\e": "\\"}
    assert read_config(b"no value at all\n") == {}


def test_values_are_written_so_that_java_reads_them_as_they_are() -> None:
    values = {"path": "C:\\x", "blank": " a ", "word": "ü\N{GRINNING FACE}"}
    assert config_lines(values) == "path=C:\\\\x\nblank=\\ a \nword=\\u00fc\\ud83d\\ude00\n"


@pytest.mark.parametrize("values", [{}, {"": "a"}, {"a b": "c"}, {"a=": "b"}, {"a": "b\nc=d"}])
def test_texts_that_would_change_are_refused(values: dict[str, str]) -> None:
    with pytest.raises(LocalProtocolError):
        config_lines(values)
