"""Topics for operators (broker.md 16.1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocketwire.messages import decode_body
from rocketwire.messages.topic_config import TopicConfig, TopicConfigAndMappingSerializeWrapper
from rocketwire.messages.topics import DeleteTopicListRequestBody

if TYPE_CHECKING:
    from tests.support.broker import BrokerAtHand, Client


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


def test_a_list_of_topics_is_deleted_or_none_of_them(client: Client, home: BrokerAtHand) -> None:
    client.send("orders")
    client.send("bills")
    for names in (("orders", " "), ("orders", "TBW102"), ()):
        refused = client.call(5002, {}, DeleteTopicListRequestBody(topic_list=names))
        assert (refused.code, "orders" in home.broker.topics) == (29, True)
    assert client.call(5002, {}).remark == "The specified topic list is blank."

    home.broker.topics.put(TopicConfig(topic_name="%RETRY%readers_orders"), home.now)
    done = client.call(
        5002, {}, DeleteTopicListRequestBody(topic_list=("orders", "bills", "nothing"))
    )
    assert (done.code, done.remark) == (0, None)
    gone = ("orders", "bills", "%RETRY%readers_orders")
    assert not any(name in home.broker.topics for name in gone)
