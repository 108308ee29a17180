"""Failing clients log one warning, then warnings at growing intervals, and one line at the end."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import pytest
import trio

from rocketwire.client import (
    BrokerIdentity,
    ClientConfig,
    Message,
    open_client,
    open_producer,
    open_registration,
)
from rocketwire.codes import RequestCode as Code
from rocketwire.codes import ResponseCode
from rocketwire.errors import NoNameServerError, RocketWireError
from rocketwire.testing import open_network, reply
from tests.support.fakes.consumer_fakes import (
    BROKER,
    FLAVOURS,
    NS,
    PULLS,
    UNKNOWN,
    client_in,
    consumer,
    list_logged,
    members,
    refusal,
    route,
    script,
    world,
)

if TYPE_CHECKING:
    from trio.testing import MockClock

    from rocketwire.testing import MemoryNetwork

TWO_MINUTES = 120.0
GROWING = range(2, 7)
"""Warnings in two minutes: after 0, 10, 30 and 70 seconds, and more if the reason changes."""


def without_name_server(network: MemoryNetwork) -> None:
    network.peer(NS).is_up = False


def without_topic(network: MemoryNetwork) -> None:
    network.peer(NS).on(Code.GET_ROUTEINFO_BY_TOPIC, UNKNOWN)


def without_permission_of_the_topic(network: MemoryNetwork) -> None:
    network.peer(NS).on(Code.GET_ROUTEINFO_BY_TOPIC, route(perm=2))


def without_permission_of_the_broker(network: MemoryNetwork) -> None:
    for code in PULLS:
        network.peer(BROKER).on(
            code, refusal(ResponseCode.NO_PERMISSION, "pulling message is forbidden")
        )


def without_the_group(network: MemoryNetwork) -> None:
    for code in PULLS:
        network.peer(BROKER).on(code, refusal(ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST, "no g"))


def without_broker(network: MemoryNetwork) -> None:
    network.peer(BROKER).is_up = False


def without_pulls(network: MemoryNetwork) -> None:
    """Pulls end without an answer, as over a connection that the other side closes."""
    for code in PULLS:
        network.peer(BROKER).on(code, refusal(ResponseCode.SYSTEM_ERROR, "AclException: no"))


def without_place(network: MemoryNetwork) -> None:
    network.peer(NS).on(Code.GET_ROUTEINFO_BY_TOPIC, route(queues=1))
    network.peer(BROKER).on(Code.GET_CONSUMER_LIST_BY_GROUP, members("0@before", "1.1.1.1@i"))


def without_members(network: MemoryNetwork) -> None:
    network.peer(BROKER).on(
        Code.GET_CONSUMER_LIST_BY_GROUP, refusal(ResponseCode.SYSTEM_ERROR, "no consumer")
    )


def without_this_member(network: MemoryNetwork) -> None:
    network.peer(BROKER).on(Code.GET_CONSUMER_LIST_BY_GROUP, members("another"))


def without_heartbeats(network: MemoryNetwork) -> None:
    network.peer(BROKER).on(Code.HEART_BEAT, refusal(ResponseCode.NO_PERMISSION, "acl: no"))


EVERYBODY = [
    (without_name_server, "name servers: none responds"),
    (without_topic, "topic orders: no route (check the name"),
    (without_permission_of_the_topic, "read permission"),
    (without_permission_of_the_broker, "NO_PERMISSION (16) pulling message is forbidden (check"),
    (without_the_group, "SUBSCRIPTION_GROUP_NOT_EXIST (26) no g (create the group"),
    (without_broker, f"{BROKER}: connection refused (check the address"),
    (without_pulls, "AclException: no (check your credentials"),
    (without_heartbeats, f"heartbeats to broker {BROKER}: "),
]
THOSE_THAT_SHARE = [
    (without_place, "2 members share 1 queues, and this member gets none (add queues"),
    (without_members, "does not have the group"),
    (without_this_member, "does not list this client among the 1 members"),
]
CASES = [(flavour, *case) for flavour in FLAVOURS for case in EVERYBODY] + [
    (flavour, *case) for flavour in FLAVOURS if flavour != "pop" for case in THOSE_THAT_SHARE
]


@pytest.mark.parametrize(("flavour", "break_it", "text"), CASES)
async def test_a_consumer_without_messages_warns_and_logs_the_end(
    flavour: str,
    break_it: object,
    text: str,
    autojump_clock: MockClock,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO, "rocketwire.client")
    assert callable(break_it)
    async with open_network() as network:
        script(network)
        break_it(network)
        async with client_in(network) as client, consumer(flavour, client):
            await trio.sleep(25 if break_it is without_this_member else 5)
            first = [line for line in list_logged(caplog) if text in line]
            await trio.sleep(TWO_MINUTES)
            warnings = [line for line in list_logged(caplog) if text in line]
            script(network)
            network.peer(NS).is_up = network.peer(BROKER).is_up = True
            await trio.sleep(200)

    assert first, first
    assert len(first) == 1 or break_it is without_this_member
    assert len(warnings) in GROWING, warnings
    assert "works again" in caplog.messages[-1]


@pytest.mark.parametrize("flavour", FLAVOURS)
@pytest.mark.parametrize(
    "break_it", [without_name_server, without_topic, without_permission_of_the_broker]
)
async def test_two_minutes_without_work_are_a_handful_of_lines_at_info(
    flavour: str, break_it: object, autojump_clock: MockClock, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "rocketwire.client")
    assert callable(break_it)
    async with open_network() as network:
        script(network)
        break_it(network)
        async with client_in(network) as client, consumer(flavour, client):
            await trio.sleep(TWO_MINUTES)
            lines = list(caplog.messages)

    assert 0 < len(lines) < 8, lines


@pytest.mark.parametrize("flavour", FLAVOURS)
async def test_a_broker_that_dies_is_one_warning_of_the_group_at_a_time(
    flavour: str, autojump_clock: MockClock, caplog: pytest.LogCaptureFixture
) -> None:
    async with world() as (network, client), consumer(flavour, client):
        await trio.sleep(30)
        await network.peer(BROKER).go_down()
        await trio.sleep(TWO_MINUTES)
        lines = [line for line in list_logged(caplog) if line.startswith("group g: ")]

    subjects = {line.partition(f": {BROKER}")[0] for line in lines}
    assert len(subjects) <= (2 if flavour == "orderly" else 1), lines  # it loses its queues first
    assert len(lines) in GROWING, lines


@pytest.mark.parametrize("flavour", FLAVOURS)
async def test_a_consumer_where_all_is_well_logs_nothing(
    flavour: str, autojump_clock: MockClock, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "rocketwire.client")
    async with world() as (_, client), consumer(flavour, client):
        await trio.sleep(TWO_MINUTES)
    assert caplog.messages == []


async def test_a_reason_that_changes_is_told_at_once(
    autojump_clock: MockClock, caplog: pytest.LogCaptureFixture
) -> None:
    async with world() as (network, client):
        await trio.sleep(1)
        await network.peer(NS).go_down()
        async with consumer("concurrent", client):
            await trio.sleep(12)
            caplog.clear()
            network.peer(NS).is_up = True
            without_topic(network)
            await trio.sleep(4)
            assert [line for line in list_logged(caplog) if "topic orders: no route" in line]
            caplog.clear()
            without_permission_of_the_topic(network)
            await trio.sleep(4)
            assert [line for line in list_logged(caplog) if "read permission" in line]


async def test_a_queue_locked_by_another_client_is_reported_after_a_while(
    autojump_clock: MockClock, caplog: pytest.LogCaptureFixture
) -> None:
    from rocketwire.messages.allocation import LockBatchResponseBody

    async with world() as (network, client):
        network.peer(BROKER).on(Code.LOCK_BATCH_MQ, reply(body=LockBatchResponseBody()))
        async with consumer("orderly", client):
            await trio.sleep(60)
            assert not list_logged(caplog)
            await trio.sleep(60)
            assert "2 queues are locked by another client" in list_logged(caplog)[0]
            network.peer(BROKER).on(Code.LOCK_BATCH_MQ, refusal(16, "no"))
            caplog.clear()
            await trio.sleep(5)
            assert "locks on broker b" in list_logged(caplog)[0]


async def test_offsets_that_are_not_stored_are_a_few_warnings(
    autojump_clock: MockClock, caplog: pytest.LogCaptureFixture
) -> None:
    async with world() as (network, client), consumer("concurrent", client):
        network.peer(BROKER).on(Code.QUERY_CONSUMER_OFFSET, refusal(16, "no"))
        await trio.sleep(5)
        await network.peer(BROKER).go_down()
        await trio.sleep(TWO_MINUTES)
        lines = [line for line in list_logged(caplog) if "of offsets" in line]
    assert len(lines) < 8


async def test_a_producer_says_when_routes_and_heartbeats_fail_in_the_background(
    autojump_clock: MockClock, caplog: pytest.LogCaptureFixture
) -> None:
    from tests.support.fakes.producer_fakes import send_response

    caplog.set_level(logging.INFO, "rocketwire.client")
    async with world() as (network, client), open_producer(client, "p") as producer:
        network.peer(BROKER).on(Code.SEND_MESSAGE_V2, send_response)
        await producer.send(Message("orders", b"x"))
        await trio.sleep(40)
        assert caplog.messages == []
        await network.peer(NS).go_down()
        await network.peer(BROKER).go_down()
        await trio.sleep(600)
        routes = [line for line in list_logged(caplog) if "name servers: none responds" in line]
        beats = [line for line in list_logged(caplog) if "heartbeats to broker" in line]
        assert 1 < len(routes) < 8
        assert 1 < len(beats) < 8
        network.peer(NS).is_up = network.peer(BROKER).is_up = True
        caplog.clear()
        await trio.sleep(60)
        assert sorted(line.split(": works")[0] for line in caplog.messages) == [
            f"heartbeats to broker {BROKER}",
            "name servers",
        ]


async def test_an_absent_name_server_is_a_warning_while_another_responds(
    autojump_clock: MockClock, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "rocketwire.client")
    async with open_network() as network:
        script(network)
        network.peer("10.0.0.3:9876").on(Code.GET_ROUTEINFO_BY_TOPIC, route())
        config = ClientConfig(namesrv_addr=f"{NS};10.0.0.3:9876", client_ip="1.1.1.1")
        async with open_client(config, environment={}, connect=network.connect) as client:
            await client.name_servers.route("orders")
            chosen = client.name_servers.chosen
            assert chosen is not None
            await network.peer(chosen).go_down()
            await client.name_servers.route("orders")
            await trio.sleep(TWO_MINUTES)
            assert len(list_logged(caplog)) in GROWING
            assert f"name server {chosen}: " in caplog.messages[0]
            assert "1 of 2 name servers are available" in caplog.messages[0]
            network.peer(chosen).is_up = True
            await trio.sleep(10)
            assert "works again" in caplog.messages[-1]
            await network.peer(NS).go_down()
            await network.peer("10.0.0.3:9876").go_down()
            caplog.clear()
            with pytest.raises(RocketWireError):
                await client.name_servers.route("orders")
            await trio.sleep(10)
            assert not list_logged(caplog)  # whoever asks says so


async def test_a_broker_that_no_name_server_registers_warns(
    autojump_clock: MockClock, caplog: pytest.LogCaptureFixture
) -> None:
    identity = BrokerIdentity(cluster_name="c", broker_name="b", broker_addr=BROKER)
    async with (
        open_network() as network,
        open_registration(
            identity, (), ClientConfig(namesrv_addr=NS), environment={}, connect=network.connect
        ),
    ):
        await trio.sleep(600)
    lines = [
        line
        for line in list_logged(caplog)
        if f"broker b: registration with name server {NS}: " in line
    ]
    assert 1 < len(lines) < 8


async def test_a_forgotten_address_says_what_to_set(
    autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rocketwire.client.net.address_server.fetch_name_servers", pytest.fail)
    async with open_client(ClientConfig(), environment={}) as client:
        with pytest.raises(NoNameServerError, match="set namesrv_addr, NAMESRV_ADDR or address_"):
            await client.name_servers.all_topics()
