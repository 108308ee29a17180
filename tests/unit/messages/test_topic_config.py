"""Topics as one line of text, and versions with an open clock.

Measured with the oracle's ``register_decode`` and ``topicconfig_decode`` on 5.5.0.
"""

import pytest

from rocketwire.errors import EncodeError
from rocketwire.messages.topic_config import (
    DataVersion,
    TopicConfig,
    decode_topic,
    encode_topic,
    with_timestamp,
)

A = TopicConfig(topic_name="a", read_queue_nums=8, write_queue_nums=8)


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
