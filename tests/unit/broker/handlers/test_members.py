"""Heartbeats, and who is told of what (broker.md 7)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from rocketwire.messages.enums import ConsumeFromWhere, ConsumeType, MessageModel
from rocketwire.messages.heartbeat import ConsumerData, HeartbeatData
from rocketwire.policy.subscription import subscription_data
from rocketwire_broker.state.schedule import MAX_ACTIONS

if TYPE_CHECKING:
    from rocketwire.wire.command import RemotingCommand
    from tests.support.broker import BrokerAtHand, Client


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


def test_the_changes_of_a_large_group_are_told_in_turns(home: BrokerAtHand) -> None:
    clients = [home.connect() for _ in range(MAX_ACTIONS + 44)]
    for client in clients:
        beat(client)
    home.pass_time(10)
    for client in clients:
        client.requests()

    counts: list[int] = []
    for topics in (("payments",), ("orders", "payments")):
        beat(clients[0], *topics)
        counts.append(sum(len(told(client)) for client in clients))
    home.pass_time(1)

    assert counts == [MAX_ACTIONS, MAX_ACTIONS]
    assert sum(len(told(client)) for client in clients) == 44


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
