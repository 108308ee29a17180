"""Registration of a broker at name servers in memory."""

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
from rocketwire.client.registration import BrokerTopics
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
from tests.unit.transport.loopback import closed_port

FIRST, SECOND = "10.0.0.1:9876", "10.0.0.2:9876"
IDENTITY = BrokerIdentity(cluster_name="c", broker_name="b", broker_addr="b:10911")
TOPICS = [TopicConfig(topic_name=name) for name in ("T", "U", "V")]
ACCEPTED = reply(
    RegisterBrokerResponseHeader(master_addr="m:1", ha_server_addr="m:2"),
    KVTable(table={"T": "b:4"}),
)


@asynccontextmanager
async def open_registered(
    settings: RegistrationSettings | None = None, **arguments: Any
) -> AsyncGenerator[tuple[Registration, ScriptedPeer, ScriptedPeer]]:
    config = ClientConfig(namesrv_addr=[FIRST, SECOND])
    async with open_network() as network:
        first, second = network.peer(FIRST), network.peer(SECOND)
        for peer in (first, second):
            peer.on(Code.REGISTER_BROKER, ACCEPTED)
            peer.on(Code.UNREGISTER_BROKER, reply())
        async with open_registration(
            IDENTITY,
            TOPICS,
            config,
            settings=settings,
            environment={},
            connect=network.connect,
            wall_clock_ms=lambda: 1000,
            **arguments,
        ) as registration:
            yield registration, first, second


def read_registration(
    request: RemotingCommand,
) -> tuple[RegisterBrokerRequestHeader, list[str], DataVersion]:
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


def read_mappings(request: RemotingCommand) -> object:
    """Logical queues in a registration."""
    body = decode_register_broker_body(request.body, compressed=False, version=request.version)
    wrapper = None if body is None else body.topic_config_serialize_wrapper
    assert isinstance(wrapper, TopicConfigAndMappingSerializeWrapper)
    return wrapper.topic_queue_mapping_info_map


async def test_it_registers_at_every_name_server_and_unregisters_at_the_end() -> None:
    async with open_registered() as (registration, first, second):
        header, topics, version = read_registration(first.requests[0])
        assert first.codes() == second.codes() == [Code.REGISTER_BROKER]
        assert sorted(registration.results) == [FIRST, SECOND]
        assert registration.results[FIRST].master_addr == "m:1"
        assert registration.results[FIRST].kv_table == KVTable(table={"T": "b:4"})

    assert header == RegisterBrokerRequestHeader(
        broker_name="b",
        broker_addr="b:10911",
        cluster_name="c",
        ha_server_addr="b:10912",
        broker_id=0,
        enable_acting_master=False,
        body_crc32=crc32(first.requests[0].body),
    )
    assert (topics, version) == (["T", "U", "V"], DataVersion(counter=0, timestamp=1000))
    assert first.codes() == second.codes() == [Code.REGISTER_BROKER, Code.UNREGISTER_BROKER]


async def test_it_registers_again_every_thirty_seconds(autojump_clock: object) -> None:
    async with open_registered() as (_, first, _two):
        await trio.sleep(61)
        assert first.codes() == [Code.REGISTER_BROKER] * 3


async def test_a_returning_name_server_gets_the_registration(autojump_clock: object) -> None:
    async with open_registered() as (registration, first, second):
        second.on(Code.REGISTER_BROKER, reply(code=1, remark="no"))
        await first.go_down()
        await trio.sleep(31)
        assert registration.results == {}
        assert isinstance(registration.failures[SECOND], NameServerError)
        assert FIRST in registration.failures
        first.is_up = True
        await trio.sleep(31)
        assert list(registration.results) == [FIRST]
        assert list(registration.failures) == [SECOND]


async def test_only_outdated_name_servers_get_the_topics(autojump_clock: object) -> None:
    async with open_registered(RegistrationSettings(force_register=False)) as (
        registration,
        first,
        second,
    ):
        version = DataVersion(counter=0, timestamp=1000)
        unchanged = reply(QueryDataVersionResponseHeader(changed=False), version)
        first.on(Code.QUERY_DATA_VERSION, unchanged)
        second.on(Code.QUERY_DATA_VERSION, unchanged)
        await trio.sleep(31)
        assert [peer.codes().count(Code.REGISTER_BROKER) for peer in (first, second)] == [1, 1]
        assert decode_body(DataVersion, first.requests[-1].body) == version
        second.on(Code.QUERY_DATA_VERSION, reply(QueryDataVersionResponseHeader(changed=True)))
        await trio.sleep(30)
        assert [peer.codes().count(Code.REGISTER_BROKER) for peer in (first, second)] == [1, 2]
        second.on(Code.QUERY_DATA_VERSION, reply(code=1))
        first.on(
            Code.QUERY_DATA_VERSION,
            reply(QueryDataVersionResponseHeader(changed=False), DataVersion(counter=9)),
        )
        await trio.sleep(30)
        assert [peer.codes().count(Code.REGISTER_BROKER) for peer in (first, second)] == [2, 3]
        assert sorted(registration.results) == [FIRST, SECOND]


async def test_a_changed_topic_is_registered_alone_with_a_new_version() -> None:
    async with open_registered() as (registration, first, _):
        assert await registration.update_topics([TopicConfig(topic_name="W")])
        _, topics, version = read_registration(first.requests[-1])
        assert (topics, version.counter) == (["W"], 1)
        await registration.remove_topics(["T", "none"])
        _, topics, version = read_registration(first.requests[-1])
        assert (topics, version.counter) == (["U", "V", "W"], 2)
        assert sorted(registration.topics) == topics
        with pytest.raises(LocalProtocolError):
            await registration.update_topics([TopicConfig()])


async def test_mappings_of_static_topics_are_registered_with_their_topics() -> None:
    async with open_registered() as (registration, first, _):
        mapping = TopicQueueMappingInfo(topic="W", bname="broker-a", curr_id_map={0: 0})
        await registration.update_topics([TopicConfig(topic_name="W")], [mapping])
        assert read_mappings(first.requests[-1]) == {"W": mapping}
        await registration.update_topics([TopicConfig(topic_name="T")])
        assert read_mappings(first.requests[-1]) == {}
        await registration.remove_topics(["T"])
        assert read_mappings(first.requests[-1]) == {"W": mapping}
        await registration.remove_topics(["W"])
        assert read_mappings(first.requests[-1]) == {}


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize(
    ("split_size", "parts"), [(2, [(["T", "U"], 1), (["V"], 2)]), (3, [(["T", "U", "V"], 0)])]
)
async def test_a_registration_in_parts_has_a_version_for_each(
    split_size: int, parts: list[tuple[list[str], int]], packed: bool
) -> None:
    settings = RegistrationSettings(packed=packed, split_size=split_size)
    async with open_registered(settings) as (_, first, _two):
        requests = [read_registration(request) for request in first.requests]
    assert [(topics, version.counter) for _, topics, version in requests] == parts
    assert {header.compressed for header, *_ in requests} == {packed}


@pytest.mark.parametrize(
    ("old", "code"), [(True, Code.QUERY_DATA_VERSION), (False, Code.BROKER_HEARTBEAT)]
)
async def test_acting_masters_have_heartbeats(
    autojump_clock: object, old: bool, code: Code
) -> None:
    settings = RegistrationSettings(enable_acting_master=True, old_name_servers=old)
    async with open_registered(settings) as (_, first, second):
        first.on(code, None)
        second.on(code, None)
        await second.go_down()
        await trio.sleep(5.5)

        header, *_ = read_registration(first.requests[0])
        assert (header.enable_acting_master, header.heartbeat_timeout_millis) == (True, 10_000)
        assert first.codes()[1:] == [code] * 5
        assert all(request.is_oneway for request in list(first.requests)[1:])


async def test_a_silent_name_server_delays_the_end_by_three_seconds(autojump_clock: object) -> None:
    async with open_registered() as (_, first, second):
        first.on(Code.UNREGISTER_BROKER, None)
        second.on(Code.UNREGISTER_BROKER, reply(code=1))
        started = trio.current_time()
    assert trio.current_time() - started == pytest.approx(3, abs=0.1)


async def test_it_listens_for_broker_changes_and_handled_codes() -> None:
    port = await closed_port()
    identity = BrokerIdentity(
        cluster_name="c", broker_name="b", broker_addr=f"127.0.0.1:{port}", ha_server_addr="h:1"
    )
    broker_ids: list[int | None] = []

    async def answer(_: str, request: RemotingCommand) -> RemotingCommand:
        return reply(body=request.body)

    async with (
        open_network() as network,
        open_registration(
            identity,
            TOPICS,
            ClientConfig(namesrv_addr=[]),
            listen=True,
            environment={},
            connect=network.connect,
        ) as registration,
        open_channel("127.0.0.1", port) as channel,
    ):
        registration.on_min_broker_change(lambda header: broker_ids.append(header.min_broker_id))
        registration.handle(28, answer)
        changed = {"minBrokerId": "2", "brokerName": "b", "minBrokerAddr": "s:1"}
        assert (await channel.request(RemotingCommand(code=905, ext_fields=changed))).code == 0
        assert (await channel.request(RemotingCommand(code=28, body=b"x"))).body == b"x"
        assert (await channel.request(RemotingCommand(code=29))).code == 3
        assert registration.min_broker is not None
        assert registration.min_broker.min_broker_addr == "s:1"
        assert not await registration.register()
    assert broker_ids == [2]


def test_topics_without_a_name_are_refused() -> None:
    with pytest.raises(LocalProtocolError):
        BrokerTopics([TopicConfig()], now_ms=0)
