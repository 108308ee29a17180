"""Failing clients log one warning, then warnings at growing intervals, and one line at the end."""

import logging
from typing import TypeAlias

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
from rocketwire.messages.allocation import LockBatchResponseBody
from rocketwire.testing import MemoryNetwork, open_network, reply
from rocketwire.wire.command import RemotingCommand
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
from tests.support.fakes.producer_fakes import send_response

TWO_MINUTES = 120.0
GROWING = range(2, 7)
"""Warnings in two minutes: after 0, 10, 30 and 70 seconds, and more if the reason changes."""


Fault: TypeAlias = "tuple[str, Code | None, RemotingCommand | None]"
"""Address, code and response; without a code the server is down."""

ROUTE, MEMBERS = Code.GET_ROUTEINFO_BY_TOPIC, Code.GET_CONSUMER_LIST_BY_GROUP


def refuse_pulls(code: ResponseCode, remark: str) -> list[Fault]:
    return [(BROKER, pull, refusal(code, remark)) for pull in PULLS]


NO_NAME_SERVER: list[Fault] = [(NS, None, None)]
NO_TOPIC: list[Fault] = [(NS, ROUTE, UNKNOWN)]
NO_READING: list[Fault] = [(NS, ROUTE, route(perm=2))]
FORBIDDEN = refuse_pulls(ResponseCode.NO_PERMISSION, "pulling message is forbidden")
NOT_LISTED: list[Fault] = [(BROKER, MEMBERS, members("another"))]
EVERYBODY: list[tuple[list[Fault], str]] = [
    (NO_NAME_SERVER, "name servers: none responds"),
    (NO_TOPIC, "topic orders: no route (check the name"),
    (NO_READING, "read permission"),
    (FORBIDDEN, "NO_PERMISSION (16) pulling message is forbidden (check"),
    (
        refuse_pulls(ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST, "no g"),
        "SUBSCRIPTION_GROUP_NOT_EXIST (26) no g (create the group",
    ),
    ([(BROKER, None, None)], f"{BROKER}: connection refused (check the address"),
    (
        refuse_pulls(ResponseCode.SYSTEM_ERROR, "AclException: no"),
        "AclException: no (check your credentials",
    ),
    (
        [(BROKER, Code.HEART_BEAT, refusal(ResponseCode.NO_PERMISSION, "acl: no"))],
        f"heartbeats to broker {BROKER}: ",
    ),
]
THOSE_THAT_SHARE: list[tuple[list[Fault], str]] = [
    (
        [(NS, ROUTE, route(queues=1)), (BROKER, MEMBERS, members("0@before", "1.1.1.1@i"))],
        "2 members share 1 queues, and this member gets none (add queues",
    ),
    (
        [(BROKER, MEMBERS, refusal(ResponseCode.SYSTEM_ERROR, "no consumer"))],
        "does not have the group",
    ),
    (NOT_LISTED, "does not list this client among the 1 members"),
]
CASES = [(flavour, *case) for flavour in FLAVOURS for case in EVERYBODY] + [
    (flavour, *case) for flavour in FLAVOURS if flavour != "pop" for case in THOSE_THAT_SHARE
]


def cause(network: MemoryNetwork, faults: list[Fault]) -> None:
    for address, code, answer in faults:
        if code is None:
            network.peer(address).is_up = False
        else:
            network.peer(address).on(code, answer)


@pytest.mark.parametrize(("flavour", "faults", "text"), CASES)
async def test_a_consumer_without_messages_warns_and_logs_the_end(
    autojump_clock: object,
    flavour: str,
    faults: list[Fault],
    text: str,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO, "rocketwire.client")
    async with open_network() as network:
        script(network)
        cause(network, faults)
        async with client_in(network) as client, consumer(flavour, client):
            await trio.sleep(25 if faults is NOT_LISTED else 5)
            first = [line for line in list_logged(caplog) if text in line]
            await trio.sleep(TWO_MINUTES)
            warnings = [line for line in list_logged(caplog) if text in line]
            lines = list(caplog.messages)
            script(network)
            network.peer(NS).is_up = network.peer(BROKER).is_up = True
            await trio.sleep(200)

    assert first, first
    assert len(first) == 1 or faults is NOT_LISTED
    assert len(warnings) in GROWING, warnings
    assert len(lines) < 8 or faults not in (NO_NAME_SERVER, NO_TOPIC, FORBIDDEN), lines
    assert "works again" in caplog.messages[-1]


@pytest.mark.parametrize("flavour", FLAVOURS)
async def test_a_dead_broker_is_one_warning_of_the_group_at_a_time(
    autojump_clock: object, flavour: str, caplog: pytest.LogCaptureFixture
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
async def test_a_healthy_consumer_logs_nothing(
    autojump_clock: object, flavour: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "rocketwire.client")
    async with world() as (_, client), consumer(flavour, client):
        await trio.sleep(TWO_MINUTES)
    assert caplog.messages == []


async def test_a_new_reason_is_logged(
    autojump_clock: object, caplog: pytest.LogCaptureFixture
) -> None:
    async with world() as (network, client):
        await trio.sleep(1)
        await network.peer(NS).go_down()
        async with consumer("concurrent", client):
            await trio.sleep(12)
            caplog.clear()
            network.peer(NS).is_up = True
            cause(network, NO_TOPIC)
            await trio.sleep(4)
            assert [line for line in list_logged(caplog) if "topic orders: no route" in line]
            caplog.clear()
            cause(network, NO_READING)
            await trio.sleep(4)
            assert [line for line in list_logged(caplog) if "read permission" in line]


async def test_a_queue_locked_by_another_client_is_reported_after_a_while(
    autojump_clock: object, caplog: pytest.LogCaptureFixture
) -> None:
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
    autojump_clock: object, caplog: pytest.LogCaptureFixture
) -> None:
    async with world() as (network, client), consumer("concurrent", client):
        network.peer(BROKER).on(Code.QUERY_CONSUMER_OFFSET, refusal(16, "no"))
        await trio.sleep(5)
        await network.peer(BROKER).go_down()
        await trio.sleep(TWO_MINUTES)
        lines = [line for line in list_logged(caplog) if "of offsets" in line]
    assert len(lines) < 8


async def test_failing_routes_and_heartbeats_of_a_producer_are_logged(
    autojump_clock: object, caplog: pytest.LogCaptureFixture
) -> None:
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
    autojump_clock: object, caplog: pytest.LogCaptureFixture
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
            assert not list_logged(caplog)  # the caller gets the error


async def test_a_broker_that_no_name_server_registers_warns(
    autojump_clock: object, caplog: pytest.LogCaptureFixture
) -> None:
    identity = BrokerIdentity(cluster_name="c", broker_name="b", broker_addr=BROKER)
    async with (
        open_network() as network,
        open_registration(
            identity, (), ClientConfig(namesrv_addr=NS), environment={}, connect=network.connect
        ),
    ):
        await trio.sleep(600)
    subject = f"broker b: registration with name server {NS}: "
    assert 1 < sum(subject in line for line in list_logged(caplog)) < 8


async def test_a_forgotten_address_says_what_to_set(
    autojump_clock: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rocketwire.client.net.address_server.fetch_name_servers", pytest.fail)
    async with open_client(ClientConfig(), environment={}) as client:
        with pytest.raises(NoNameServerError, match="set namesrv_addr, NAMESRV_ADDR or address_"):
            await client.name_servers.all_topics()
