"""Heartbeats and notices to members of groups (broker.md 7)."""

from typing import Any

import pytest

from rocketwire.codes import RequestCode as Code
from rocketwire.messages.heartbeat import ConsumerData, HeartbeatData
from rocketwire.wire.command import RemotingCommand
from rocketwire_broker.state.schedule import MAX_ACTIONS
from tests.support.broker import BrokerAtHand, Client, fields_of
from tests.unit.broker.groups import join_readers


def send_heartbeat(client: Client, *topics: str, **members: Any) -> RemotingCommand:
    client_id = f"client-{client.peer.number}"
    return join_readers(client, *(topics or ("orders",)), client_id=client_id, **members)


def take_notices(client: Client) -> list[str]:
    requests = client.requests()
    assert all(
        request.code == Code.NOTIFY_CONSUMER_IDS_CHANGED and request.is_oneway
        for request in requests
    )
    return [fields_of(request)["consumerGroup"] for request in requests]


def test_members_of_a_large_group_are_notified_in_turns(home: BrokerAtHand) -> None:
    clients = [home.connect() for _ in range(MAX_ACTIONS + 44)]
    for client in clients:
        send_heartbeat(client)
    home.pass_time(10)
    for client in clients:
        client.requests()

    def count_notices() -> int:
        return sum(len(take_notices(client)) for client in clients)

    for topics in (("payments",), ("orders", "payments")):
        send_heartbeat(clients[0], *topics)
        assert count_notices() == MAX_ACTIONS
    home.pass_time(1)
    assert count_notices() == 44


def test_short_heartbeat_is_known_after_the_long_one(client: Client, home: BrokerAtHand) -> None:
    body = HeartbeatData(client_id="client-1", heartbeat_fingerprint=77, is_without_sub=True)

    def is_changed() -> str:
        return fields_of(client.call(Code.HEART_BEAT, {}, body))["IS_SUB_CHANGE"]

    assert is_changed() == "true"
    send_heartbeat(client, heartbeat_fingerprint=77)
    assert is_changed() == "false"
    for _ in range(2):
        home.pass_time(100_000)
        is_changed()
    assert home.broker.closing == {}


@pytest.mark.parametrize(("body", "code"), [(None, 1), (b'{"clientID":"x"}', 0), (b"nonsense", 1)])
def test_heartbeat_with_a_body(home: BrokerAtHand, body: bytes | None, code: int) -> None:
    assert home.connect().call(Code.HEART_BEAT, {}, body).code == code


def test_heartbeat_passes_over_a_group_with_a_bad_name(home: BrokerAtHand) -> None:
    consumer = ConsumerData(group_name="a b", subscription_data_set=())
    body = HeartbeatData(client_id="c", consumer_data_set=(consumer,))

    assert home.connect().call(Code.HEART_BEAT, {}, body).code == 0
    assert "a b" not in home.broker.groups
