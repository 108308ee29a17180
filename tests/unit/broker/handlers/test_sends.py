"""Sending: checks in Java's order, and answers with Java's fields (broker.md 4)."""

from __future__ import annotations

import pytest

from tests.support.broker import BrokerAtHand, messages


@pytest.fixture
def home() -> BrokerAtHand:
    return BrokerAtHand(listen_port=23010)


def test_light_queue_is_named_in_a_property_and_light_queues_are_bounded() -> None:
    home = BrokerAtHand(max_lmqs=2)
    client = home.connect()
    answers = [
        client.send(body=b"x", properties={"__LITE_TOPIC": name}) for name in ("a", "b", "a", "c")
    ]

    remark = "[LMQ_CONSUME_QUEUE_NUM_EXCEEDED]lmq consume queue num exceeded."
    assert [answer.code for answer in answers] == [0, 0, 0, 2017]
    assert answers[3].remark == remark
    stored = messages(client.pulled(2))[0]
    properties = stored.properties or {}
    assert properties["INNER_MULTI_DISPATCH"] == "%LMQ%$orders$a"
    assert properties["INNER_MULTI_QUEUE_OFFSET"] == "1"
