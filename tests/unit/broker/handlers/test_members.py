"""Heartbeats, and who is told of what (broker.md 7)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from rocketwire.messages import decode_body
from rocketwire.messages.connections import (
    GetConsumerListByGroupResponseBody,
)
from rocketwire.messages.enums import ConsumeFromWhere, ConsumeType, MessageModel
from rocketwire.messages.heartbeat import (
    CheckClientRequestBody,
    ConsumerData,
    HeartbeatData,
)
from rocketwire.policy.subscription import subscription_data
from tests.support.broker import BrokerAtHand, Client

if TYPE_CHECKING:
    from rocketwire.wire.command import RemotingCommand


def beat(
    client: Client,
    *topics: str,
    tags: str = "*",
    model: MessageModel = MessageModel.CLUSTERING,
    **changes: object,
) -> RemotingCommand:
    """Send the heartbeat of a consumer; its client id is its number."""
    consumer = ConsumerData(
        group_name="readers",
        consume_type=ConsumeType.CONSUME_PASSIVELY,
        consume_from_where=ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET,
        message_model=model,
        subscription_data_set=tuple(
            subscription_data(topic, tags, version=1) for topic in topics or ("orders",)
        ),
    )
    values: dict[str, Any] = {
        "client_id": f"client-{client.peer.number}",
        "consumer_data_set": (consumer,),
        **changes,
    }
    return client.call(34, {}, HeartbeatData(**values))


def told(client: Client) -> list[str]:
    """Groups that a client was told of."""
    requests = client.requests()
    assert all(request.code == 40 and request.is_oneway for request in requests)
    return [(request.ext_fields or {})["consumerGroup"] for request in requests]


def test_a_client_that_leaves_is_no_member_any_more(home: BrokerAtHand) -> None:
    first, second = home.connect(), home.connect()
    beat(first)
    beat(second)
    told(first)

    second.call(35, {"clientID": "client-2", "consumerGroup": "readers", "producerGroup": "p"})

    assert told(first) == ["readers"]
    assert members(first) == ("client-1",)


def members(client: Client) -> tuple[str, ...] | None:
    answer = client.call(38, {"consumerGroup": "readers"})
    body = decode_body(GetConsumerListByGroupResponseBody, answer.body or b"")
    return None if body is None else body.consumer_id_list


def test_the_short_form_of_heartbeats_is_known_after_the_long_one(home: BrokerAtHand) -> None:
    client = home.connect()
    short = HeartbeatData(client_id="client-1", heartbeat_fingerprint=77, is_without_sub=True)

    def changed() -> str:
        return (client.call(34, {}, short).ext_fields or {})["IS_SUB_CHANGE"]

    assert changed() == "true"
    beat(client, heartbeat_fingerprint=77)
    assert changed() == "false"
    home.pass_time(100_000)
    changed()
    home.pass_time(100_000)
    assert home.broker.closing == {}


@pytest.mark.parametrize(("body", "code"), [(None, 1), (b'{"clientID":"x"}', 0), (b"nonsense", 1)])
def test_bodies_of_heartbeats(home: BrokerAtHand, body: bytes | None, code: int) -> None:
    assert home.connect().call(34, {}, body).code == code


def test_a_group_with_a_bad_name_is_passed_over(home: BrokerAtHand) -> None:
    consumer = ConsumerData(group_name="a b", subscription_data_set=())
    answer = home.connect().call(
        34, {}, HeartbeatData(client_id="c", consumer_data_set=(consumer,))
    )

    assert answer.code == 0
    assert "a b" not in home.broker.groups


@pytest.mark.parametrize(
    ("kind", "text", "code"),
    [("TAG", "a", 0), ("SQL92", "a > 2", 0), ("SQL92", "a != 2", 23), ("XPATH", "a", 23)],
)
def test_subscriptions_are_checked(home: BrokerAtHand, kind: str, text: str, code: int) -> None:
    data = subscription_data("orders", text, expression_type=kind, version=1)
    body = CheckClientRequestBody(client_id="c", group="g", subscription_data=data)

    assert home.connect().call(46, {}, body).code == code
    if kind == "SQL92":
        assert BrokerAtHand(property_filter=False).connect().call(46, {}, body).code == 1
