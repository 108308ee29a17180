"""Topics for operators (broker.md 16.1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from rocketwire.messages import decode_body
from rocketwire.messages.topic_config import (
    TopicConfig,
    TopicConfigAndMappingSerializeWrapper,
)
from rocketwire.messages.topics import CreateTopicListRequestBody

if TYPE_CHECKING:
    from rocketwire.wire.command import RemotingCommand
    from tests.support.broker import BrokerAtHand, Client


def create(client: Client, topic: str = "orders", **changes: object) -> RemotingCommand:
    fields: dict[str, object] = {
        "topic": topic,
        "defaultTopic": "TBW102",
        "readQueueNums": 4,
        "writeQueueNums": 4,
        "perm": 6,
        "topicFilterType": "SINGLE_TAG",
        "topicSysFlag": 0,
        "order": False,
    }
    return client.call(17, {**fields, **changes})


@pytest.mark.parametrize(
    ("topic", "changes", "code", "remark"),
    [
        ("a b", {}, 29, "contains illegal characters"),
        ("TBW102", {}, 29, "The topic[TBW102] is conflict with system topic."),
        ("orders", {"topicFilterType": "ODD"}, 1, ""),
        ("orders", {"attributes": "+foo=bar"}, 1, "unsupported key: foo"),
        ("orders", {"attributes": "foo"}, 1, ""),
        ("orders", {"readQueueNums": 65_537}, 29, "more than 65536 queues"),
        ("orders", {"writeQueueNums": -1}, 29, "more than 65536 queues"),
    ],
)
def test_topics_that_are_refused(
    client: Client, topic: str, changes: dict[str, object], code: int, remark: str
) -> None:
    answer = create(client, topic, **changes)

    assert answer.code == code
    assert remark in (answer.remark or "")


def test_several_topics_are_created_at_once(client: Client, home: BrokerAtHand) -> None:
    topics = (
        TopicConfig(topic_name="one", read_queue_nums=2, write_queue_nums=2),
        TopicConfig(topic_name="two", attributes={"+message.type": "DELAY"}),
    )

    assert client.call(18, {}, CreateTopicListRequestBody(topic_config_list=topics)).code == 0
    assert "one" in home.broker.topics
    two = home.broker.topics.get("two")
    assert two is not None
    assert two.attributes == {"message.type": "DELAY"}


def test_all_topics_or_a_page_of_them_are_listed(client: Client, home: BrokerAtHand) -> None:
    whole = client.call(21, {})
    page = client.call(21, {"topicSeq": 1, "maxTopicNum": 2})

    everything = decode_body(TopicConfigAndMappingSerializeWrapper, whole.body or b"")
    two = decode_body(TopicConfigAndMappingSerializeWrapper, page.body or b"")

    assert everything is not None
    assert two is not None
    names = sorted(everything.topic_config_table or {})
    assert whole.ext_fields == {"totalTopicNum": str(len(names))}
    assert sorted(two.topic_config_table or {}) == names[1:3]
