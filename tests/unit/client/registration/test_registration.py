"""Being a broker, in memory: what name servers are told, and when."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import pytest
import trio

from rocketwire.client import (
    BrokerIdentity,
    ClientConfig,
    Registration,
    RegistrationSettings,
    open_registration,
)
from rocketwire.client.registration.broker_topics import BrokerTopics
from rocketwire.codes import RequestCode as Code
from rocketwire.errors import LocalProtocolError, NameServerError
from rocketwire.messages import decode_body, decode_header
from rocketwire.messages.kvconfig import KVTable
from rocketwire.messages.registration import (
    DataVersion,
    QueryDataVersionResponseHeader,
    RegisterBrokerRequestHeader,
    RegisterBrokerResponseHeader,
    TopicConfig,
    decode_register_broker_body,
)
from rocketwire.messages.route import TopicQueueMappingInfo
from rocketwire.messages.topic_config import TopicConfigAndMappingSerializeWrapper
from rocketwire.testing import ScriptedPeer, open_network, reply
from rocketwire.wire.checksum import crc32
from rocketwire.wire.command import RemotingCommand
from tests.support.tcp_pair import open_channel

ONE, TWO = "10.0.0.1:9876", "10.0.0.2:9876"
WHO = BrokerIdentity(cluster_name="c", broker_name="b", broker_addr="b:10911")
TOPICS = [TopicConfig(topic_name=name) for name in ("T", "U", "V")]
TAKEN = reply(
    RegisterBrokerResponseHeader(master_addr="m:1", ha_server_addr="m:2"),
    KVTable(table={"T": "b:4"}),
)


@asynccontextmanager
async def registered(
    settings: RegistrationSettings | None = None, **more: Any
) -> AsyncGenerator[tuple[Registration, ScriptedPeer, ScriptedPeer]]:
    config = ClientConfig(namesrv_addr=[ONE, TWO])
    async with open_network() as network:
        one, two = network.peer(ONE), network.peer(TWO)
        for peer in (one, two):
            peer.on(Code.REGISTER_BROKER, TAKEN)
            peer.on(Code.UNREGISTER_BROKER, reply())
        async with open_registration(
            WHO,
            TOPICS,
            config,
            settings=settings,
            environment={},
            connect=network.connect,
            wall_clock_ms=lambda: 1000,
            **more,
        ) as registration:
            yield registration, one, two


def told(request: RemotingCommand) -> tuple[RegisterBrokerRequestHeader, list[str], DataVersion]:
    """Header, names of topics and version of a registration."""
    header = decode_header(RegisterBrokerRequestHeader, request.ext_fields)
    body = decode_register_broker_body(
        request.body, compressed=header.compressed, version=request.version
    )
    assert body is not None
    wrapper = body.topic_config_serialize_wrapper
    assert wrapper is not None
    assert wrapper.data_version is not None
    return header, sorted(wrapper.topic_config_table or {}), wrapper.data_version


def mappings_of(request: RemotingCommand) -> object:
    """Logical queues in a registration."""
    body = decode_register_broker_body(request.body, compressed=False, version=request.version)
    wrapper = None if body is None else body.topic_config_serialize_wrapper
    assert isinstance(wrapper, TopicConfigAndMappingSerializeWrapper)
    return wrapper.topic_queue_mapping_info_map


async def test_every_name_server_is_told_at_once_and_left_at_the_end() -> None:
    async with registered() as (registration, one, two):
        header, topics, version = told(one.requests[0])
        assert one.codes() == two.codes() == [Code.REGISTER_BROKER]
        assert sorted(registration.results) == [ONE, TWO]
        assert registration.results[ONE].master_addr == "m:1"
        assert registration.results[ONE].kv_table == KVTable(table={"T": "b:4"})

    assert header == RegisterBrokerRequestHeader(
        broker_name="b",
        broker_addr="b:10911",
        cluster_name="c",
        ha_server_addr="b:10912",
        broker_id=0,
        enable_acting_master=False,
        body_crc32=crc32(one.requests[0].body),
    )
    assert (topics, version) == (["T", "U", "V"], DataVersion(counter=0, timestamp=1000))
    assert one.codes() == two.codes() == [Code.REGISTER_BROKER, Code.UNREGISTER_BROKER]


async def test_it_registers_again_every_thirty_seconds(autojump_clock: object) -> None:
    async with registered() as (_, one, _two):
        await trio.sleep(61)
        assert one.codes() == [Code.REGISTER_BROKER] * 3


async def test_a_name_server_that_is_away_is_told_when_it_is_back(autojump_clock: object) -> None:
    async with registered() as (registration, one, two):
        two.on(Code.REGISTER_BROKER, reply(code=1, remark="no"))
        await one.go_down()
        await trio.sleep(31)
        assert registration.results == {}
        assert isinstance(registration.failures[TWO], NameServerError)
        assert ONE in registration.failures
        one.is_up = True
        await trio.sleep(31)
        assert list(registration.results) == [ONE]
        assert list(registration.failures) == [TWO]


async def test_with_force_off_only_those_that_do_not_know_the_topics_are_told(
    autojump_clock: object,
) -> None:
    async with registered(RegistrationSettings(force_register=False)) as (registration, one, two):
        version = DataVersion(counter=0, timestamp=1000)
        known = reply(QueryDataVersionResponseHeader(changed=False), version)
        one.on(Code.QUERY_DATA_VERSION, known)
        two.on(Code.QUERY_DATA_VERSION, known)
        await trio.sleep(31)
        assert [peer.codes().count(Code.REGISTER_BROKER) for peer in (one, two)] == [1, 1]
        assert decode_body(DataVersion, one.requests[-1].body) == version
        two.on(Code.QUERY_DATA_VERSION, reply(QueryDataVersionResponseHeader(changed=True)))
        await trio.sleep(30)
        assert [peer.codes().count(Code.REGISTER_BROKER) for peer in (one, two)] == [1, 2]
        two.on(Code.QUERY_DATA_VERSION, reply(code=1))
        one.on(
            Code.QUERY_DATA_VERSION,
            reply(QueryDataVersionResponseHeader(changed=False), DataVersion(counter=9)),
        )
        await trio.sleep(30)
        assert [peer.codes().count(Code.REGISTER_BROKER) for peer in (one, two)] == [2, 3]
        assert sorted(registration.results) == [ONE, TWO]


async def test_a_changed_topic_is_told_alone_at_a_new_version() -> None:
    async with registered() as (registration, one, _):
        assert await registration.update_topics([TopicConfig(topic_name="W")])
        _, topics, version = told(one.requests[-1])
        assert (topics, version.counter) == (["W"], 1)
        await registration.remove_topics(["T", "none"])
        _, topics, version = told(one.requests[-1])
        assert (topics, version.counter) == (["U", "V", "W"], 2)
        assert sorted(registration.topics) == topics
        with pytest.raises(LocalProtocolError):
            await registration.update_topics([TopicConfig()])


async def test_logical_queues_of_static_topics_are_told_with_their_topics() -> None:
    async with registered() as (registration, one, _):
        mapping = TopicQueueMappingInfo(topic="W", bname="broker-a", curr_id_map={0: 0})
        await registration.update_topics([TopicConfig(topic_name="W")], [mapping])
        assert mappings_of(one.requests[-1]) == {"W": mapping}
        await registration.update_topics([TopicConfig(topic_name="T")])
        assert mappings_of(one.requests[-1]) == {}
        await registration.remove_topics(["T"])
        assert mappings_of(one.requests[-1]) == {"W": mapping}
        await registration.remove_topics(["W"])
        assert mappings_of(one.requests[-1]) == {}


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize(
    ("split_size", "parts"), [(2, [(["T", "U"], 1), (["V"], 2)]), (3, [(["T", "U", "V"], 0)])]
)
async def test_a_registration_in_parts_has_a_version_for_each(
    split_size: int, parts: list[tuple[list[str], int]], packed: bool
) -> None:
    settings = RegistrationSettings(packed=packed, split_size=split_size)
    async with registered(settings) as (_, one, _two):
        requests = [told(request) for request in one.requests]

    assert [(topics, version.counter) for _, topics, version in requests] == parts
    assert {header.compressed for header, *_ in requests} == {packed}


@pytest.mark.parametrize(
    ("old", "code"), [(True, Code.QUERY_DATA_VERSION), (False, Code.BROKER_HEARTBEAT)]
)
async def test_a_group_with_an_acting_master_sends_heartbeats(
    old: bool, code: Code, autojump_clock: object
) -> None:
    settings = RegistrationSettings(enable_acting_master=True, old_name_servers=old)
    async with registered(settings) as (_, one, two):
        one.on(code, None)
        two.on(code, None)
        await two.go_down()
        await trio.sleep(5.5)

        header, *_ = told(one.requests[0])
        assert (header.enable_acting_master, header.heartbeat_timeout_millis) == (True, 10_000)
        assert one.codes()[1:] == [code] * 5
        assert all(request.is_oneway for request in list(one.requests)[1:])


async def test_a_name_server_that_does_not_answer_holds_nobody_up_at_the_end(
    autojump_clock: object,
) -> None:
    async with registered() as (_, one, two):
        one.on(Code.UNREGISTER_BROKER, None)
        two.on(Code.UNREGISTER_BROKER, reply(code=1))
        started = trio.current_time()

    assert trio.current_time() - started == pytest.approx(3, abs=0.1)


async def test_it_listens_for_the_lowest_broker_id_and_whatever_else_is_handled() -> None:
    listener = (await trio.open_tcp_listeners(0, host="127.0.0.1"))[0]
    port = listener.socket.getsockname()[1]
    await listener.aclose()
    who = BrokerIdentity(
        cluster_name="c", broker_name="b", broker_addr=f"127.0.0.1:{port}", ha_server_addr="h:1"
    )
    heard: list[int | None] = []

    async def answer(_: str, request: RemotingCommand) -> RemotingCommand:
        return reply(body=request.body)

    async with (
        open_network() as network,
        open_registration(
            who,
            TOPICS,
            ClientConfig(namesrv_addr=[]),
            listen=True,
            environment={},
            connect=network.connect,
        ) as registration,
        open_channel("127.0.0.1", port) as channel,
    ):
        registration.on_min_broker_change(lambda header: heard.append(header.min_broker_id))
        registration.handle(28, answer)
        changed = {"minBrokerId": "2", "brokerName": "b", "minBrokerAddr": "s:1"}
        assert (await channel.request(RemotingCommand(code=905, ext_fields=changed))).code == 0
        assert (await channel.request(RemotingCommand(code=28, body=b"x"))).body == b"x"
        assert (await channel.request(RemotingCommand(code=29))).code == 3
        assert registration.min_broker is not None
        assert registration.min_broker.min_broker_addr == "s:1"
        assert not await registration.register()
    assert heard == [2]


def test_topics_without_a_name_are_refused() -> None:
    with pytest.raises(LocalProtocolError):
        BrokerTopics([TopicConfig()], now_ms=0)
