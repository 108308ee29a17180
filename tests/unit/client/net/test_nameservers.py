"""``NameServers`` in memory: failover, addresses, and every operation that a name server serves."""

import random
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import pytest
import trio

from rocketwire import errors
from rocketwire.client import ClientConfig, NameServers, open_pool
from rocketwire.client.net.nameserver_api import NameServerCalls
from rocketwire.client.net.nameservers import MAX_RECORDS, NameServerSelector, attempt_timeout
from rocketwire.client.net.pool import ChannelPool
from rocketwire.codes import RequestCode as Code
from rocketwire.codes import ResponseCode
from rocketwire.messages import encode_body
from rocketwire.messages.kvconfig import GetKVConfigResponseHeader, KVTable
from rocketwire.messages.route import (
    AddWritePermOfBrokerResponseHeader,
    BrokerData,
    BrokerMemberGroup,
    ClusterInfo,
    GetBrokerMemberGroupResponseBody,
    TopicList,
    TopicRouteData,
    WipeWritePermOfBrokerResponseHeader,
)
from rocketwire.testing import MemoryNetwork, open_network, reply
from rocketwire.wire.command import RemotingCommand

ONE, TWO = "10.0.0.1:9876", "10.0.0.2:9876"
KEY = {"namespace": "n", "key": "k"}
ROUTE = TopicRouteData(broker_datas=(BrokerData(broker_name="b", broker_addrs={0: "b:1"}),))


@asynccontextmanager
async def servers(
    *addresses: str, **settings: Any
) -> AsyncGenerator[tuple[NameServers, MemoryNetwork, ChannelPool]]:
    config = ClientConfig(**dict[str, Any](namesrv_addr=addresses) | settings)
    async with (
        open_network() as network,
        open_pool(config, environment={}, connect=network.connect) as pool,
    ):
        for address in addresses:
            network.peer(address).on(Code.GET_BROKER_CLUSTER_INFO, reply(body=ClusterInfo()))
        yield NameServers(pool, config, environment={}, chance=random.Random(1)), network, pool


async def test_a_dead_server_costs_one_attempt() -> None:
    for dead, alive in ((ONE, TWO), (TWO, ONE)):
        async with servers(ONE, TWO) as (names, network, _):
            network.peer(dead).is_up = False
            for _ in range(5):
                await names.cluster_info()

            assert names.chosen == alive
            assert len(network.peer(alive).requests) == 5


async def test_a_call_changes_the_server_when_it_dies() -> None:
    async with servers(ONE, TWO) as (names, network, _):
        await names.cluster_info()
        first = names.chosen or ""
        await network.peer(first).go_down()
        await names.cluster_info()
        assert names.chosen not in (None, first)


async def test_a_silent_server_takes_half_of_the_time_at_most(autojump_clock: object) -> None:
    async with servers(ONE, TWO) as (names, network, _):
        await names.cluster_info()
        network.peer(names.chosen or "").on(Code.GET_BROKER_CLUSTER_INFO, None)
        started = trio.current_time()
        await names.call(Code.GET_BROKER_CLUSTER_INFO, within=4)
        assert trio.current_time() - started == pytest.approx(2)


async def test_without_an_answering_server_the_last_error_is_raised(autojump_clock: object) -> None:
    async with servers(ONE, TWO) as (names, network, _):
        network.peer(ONE).on(Code.GET_BROKER_CLUSTER_INFO, None)
        network.peer(TWO).on(Code.GET_BROKER_CLUSTER_INFO, None)
        with pytest.raises(errors.RequestTimeoutError):
            await names.cluster_info()
        assert names.chosen is None
    async with servers() as (names, _, _):
        await names.refresh()
        with pytest.raises(errors.NoNameServerError):
            await names.cluster_info()


async def test_an_error_code_of_a_name_server_is_raised() -> None:
    async with servers(ONE, TWO) as (names, network, _):
        for address in (ONE, TWO):
            network.peer(address).on(Code.PUT_KV_CONFIG, reply(code=1, remark="no"))
        with pytest.raises(errors.NameServerError) as caught:
            await names.put_kv("n", "k", "v")

    assert (caught.value.code, caught.value.remark, caught.value.request_code) == (1, "no", 100)
    assert caught.value.address == names.chosen
    assert str(caught.value) == f"{names.chosen}: request PUT_KV_CONFIG (100): SYSTEM_ERROR (1) no"


async def test_an_unreadable_answer_is_an_error() -> None:
    async with servers(ONE) as (names, network, _):
        network.peer(ONE).on(Code.GET_BROKER_CLUSTER_INFO, reply(body=b"{"))
        with pytest.raises(errors.DecodeError):
            await names.cluster_info()


async def test_failed_servers_are_probed_and_return() -> None:
    async with servers(ONE, TWO) as (names, network, pool):
        await names.cluster_info()
        first = names.chosen or ""
        await network.peer(first).go_down()
        await names.cluster_info()
        await names.probe()
        assert first not in pool.addresses
        network.peer(first).is_up = True
        await names.probe()
        assert first in pool.addresses


async def test_a_new_list_closes_the_channels_of_removed_servers() -> None:
    async with servers(ONE, TWO) as (names, _, pool):
        await names.cluster_info()
        gone = names.chosen or ""
        kept = {ONE, TWO} - {gone}
        names.update([*kept])

        assert set(names.addresses) == kept
        assert gone not in pool.addresses
        assert [server.address for server in names.each()] == list(kept)


async def test_a_name_with_several_records_is_several_servers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def records(host: str, port: int, **_: object) -> list[tuple[object, ...]]:
        by_host = {"many": ["127.0.0.1", "127.0.0.2", "127.0.0.1"], "one": ["127.0.0.3"]}
        if host not in by_host:
            raise OSError("no such name")
        return [(0, 0, 0, "", (address, port)) for address in by_host[host]]

    async with servers("many:9", "one:9", "none:9") as (names, _, _):
        monkeypatch.setattr(trio.socket, "getaddrinfo", records)
        await names.refresh()

        assert set(names.addresses) == {"127.0.0.1:9", "127.0.0.2:9", "one:9", "none:9"}


async def test_dns_name_with_ever_new_records(monkeypatch: pytest.MonkeyPatch) -> None:
    rounds = iter(range(3))

    async def records(host: str, port: int, **_: object) -> list[tuple[object, ...]]:
        first = next(rounds) * 100
        return [
            (0, 0, 0, "", (f"127.0.{n // 250}.{n % 250}", port)) for n in range(first, first + 100)
        ]

    async with servers("many:9") as (names, _, pool):
        monkeypatch.setattr(trio.socket, "getaddrinfo", records)
        for _ in range(3):
            await names.refresh()

        assert len(names.addresses) == MAX_RECORDS
        assert pool.hostnames == dict.fromkeys(names.addresses, "many")


async def test_an_impossible_dns_name_is_kept_without_a_lookup() -> None:
    address = f"{'x' * 64}:9"
    async with servers(address) as (names, _, _):
        await names.refresh()
        assert names.addresses == (address,)


async def test_the_address_server_gives_name_servers(monkeypatch: pytest.MonkeyPatch) -> None:
    urls: list[str] = []
    responses: list[tuple[str, ...] | errors.ClientError] = [
        errors.ClientError("not now"),
        ("127.0.0.1:7",),
    ]

    async def fetch(url: str) -> tuple[str, ...]:
        urls.append(url)
        answer = responses.pop(0)
        if isinstance(answer, errors.ClientError):
            raise answer
        return answer

    monkeypatch.setattr("rocketwire.client.net.address_server.fetch_name_servers", fetch)
    settings = {"unit_name": "u", "address_server_domain": "addresses.example"}
    async with servers(namesrv_addr=None, **settings) as (names, _, _):
        addresses: list[tuple[str, ...]] = []
        for _ in range(2):
            await names.refresh()
            addresses.append(names.addresses)
    assert addresses == [(), ("127.0.0.1:7",)]
    assert urls == ["http://addresses.example:8080/rocketmq/nsaddr-u?nofix=1"] * 2


TOPICS = TopicList(topic_list=("a",))
TOPICS_REPLY, NOT_FOUND = reply(body=TOPICS), reply(code=ResponseCode.QUERY_NOT_FOUND)
GROUP = BrokerMemberGroup(broker_name="b", cluster="c")
GROUP_REPLY = reply(body=GetBrokerMemberGroupResponseBody())
WIPED = reply(WipeWritePermOfBrokerResponseHeader(wipe_topic_count=3))
ADDED = reply(AddWritePermOfBrokerResponseHeader(add_topic_count=2))
TABLE = reply(body=KVTable(table={"k": "v"}))
NAMESPACE, BROKER = {"namespace": "n"}, {"brokerName": "b"}
IN_CLUSTER, TOPIC = {"clusterName": "c"}, {"topic": "T"}
OPERATIONS: dict[str, tuple[Code, RemotingCommand, object, dict[str, str]]] = {
    "route T": (Code.GET_ROUTEINFO_BY_TOPIC, reply(body=ROUTE), ROUTE, TOPIC),
    "cluster_info": (Code.GET_BROKER_CLUSTER_INFO, reply(body=ClusterInfo()), ClusterInfo(), {}),
    "member_group c b": (Code.GET_BROKER_MEMBER_GROUP, GROUP_REPLY, GROUP, IN_CLUSTER | BROKER),
    "all_topics": (Code.GET_ALL_TOPIC_LIST_FROM_NAMESERVER, TOPICS_REPLY, TOPICS, {}),
    "topics_of_cluster c": (Code.GET_TOPICS_BY_CLUSTER, TOPICS_REPLY, TOPICS, {"cluster": "c"}),
    "system_topics": (Code.GET_SYSTEM_TOPIC_LIST_FROM_NS, TOPICS_REPLY, TOPICS, {}),
    "unit_topics": (Code.GET_UNIT_TOPIC_LIST, TOPICS_REPLY, TOPICS, {}),
    "unit_subscribed_topics": (Code.GET_HAS_UNIT_SUB_TOPIC_LIST, TOPICS_REPLY, TOPICS, {}),
    "unit_subscribed_other_topics": (
        Code.GET_HAS_UNIT_SUB_UNUNIT_TOPIC_LIST,
        TOPICS_REPLY,
        TOPICS,
        {},
    ),
    "delete_topic T c": (Code.DELETE_TOPIC_IN_NAMESRV, reply(), None, TOPIC | IN_CLUSTER),
    "wipe_write_perm b": (Code.WIPE_WRITE_PERM_OF_BROKER, WIPED, 3, BROKER),
    "add_write_perm b": (Code.ADD_WRITE_PERM_OF_BROKER, ADDED, 2, BROKER),
    "kv_value n k": (Code.GET_KV_CONFIG, reply(GetKVConfigResponseHeader(value="v")), "v", KEY),
    "kv_value n  k": (Code.GET_KV_CONFIG, NOT_FOUND, None, KEY),
    "kv_namespace n": (Code.GET_KVLIST_BY_NAMESPACE, TABLE, {"k": "v"}, NAMESPACE),
    "kv_namespace  n": (Code.GET_KVLIST_BY_NAMESPACE, NOT_FOUND, {}, NAMESPACE),
    "put_kv n k v": (Code.PUT_KV_CONFIG, reply(), None, {**KEY, "value": "v"}),
    "delete_kv n k": (Code.DELETE_KV_CONFIG, reply(), None, KEY),
    "configuration": (Code.GET_NAMESRV_CONFIG, reply(body=b"a=\xae\n"), "a=\ufffd\n", {}),
}
"""By a call with its arguments: request code, response, result and request fields."""


@pytest.mark.parametrize("call", OPERATIONS)
async def test_every_operation_sends_its_fields_and_returns_its_value(call: str) -> None:
    code, answer, expected, fields = OPERATIONS[call]
    method, *arguments = call.split()
    async with servers(ONE) as (names, network, _):
        network.peer(ONE).expect(code, answer)
        assert await getattr(names, method)(*arguments) == expected
        assert dict(network.peer(ONE).requests[0].ext_fields or {}) == fields


async def test_operations_with_bodies_and_settings() -> None:
    async with servers(ONE) as (names, network, _):
        peer = network.peer(ONE)
        peer.on(Code.GET_ROUTEINFO_BY_TOPIC, reply(body=ROUTE))
        for code in (Code.REGISTER_TOPIC_IN_NAMESRV, Code.UPDATE_NAMESRV_CONFIG):
            peer.on(code, reply())
        await names.route("T", standard_json=True)
        await names.register_topic("T", ROUTE)
        await names.update_configuration({"a": "b"})

    urls, registered, updated = peer.requests
    assert urls.ext_fields == {"topic": "T", "acceptStandardJsonOnly": "true"}
    assert (registered.ext_fields, registered.body) == ({"topic": "T"}, encode_body(ROUTE))
    assert updated.body == b"a=b\n"


@pytest.mark.parametrize("code", [1, ResponseCode.NO_PERMISSION])
async def test_other_answers_than_not_found_are_errors(code: int) -> None:
    async with servers(ONE) as (names, network, _):
        for call in ("route T", "kv_value n k", "kv_namespace n"):
            method, *arguments = call.split()
            network.peer(ONE).on(OPERATIONS[call][0], reply(code=code))
            with pytest.raises(errors.NameServerError):
                await getattr(names, method)(*arguments)


async def test_no_route_is_an_error_of_its_own() -> None:
    async with servers(ONE) as (names, network, _):
        peer = network.peer(ONE)
        peer.expect(Code.GET_ROUTEINFO_BY_TOPIC, reply(code=ResponseCode.TOPIC_NOT_EXIST))
        peer.expect(Code.GET_ROUTEINFO_BY_TOPIC, reply())
        for _ in range(2):
            with pytest.raises(errors.TopicRouteNotFoundError) as caught:
                await names.route("T")
            assert caught.value.topic == "T"


async def test_each_server_can_be_called_alone() -> None:
    async with servers(ONE, TWO) as (names, network, _):
        for server in names.each():
            await server.cluster_info()
        assert [len(network.peer(address).requests) for address in (ONE, TWO)] == [1, 1]
        network.peer(ONE).is_up = False
        await network.peer(ONE).disconnect()
        with pytest.raises(errors.ConnectFailedError):
            await next(server for server in names.each() if server.address == ONE).cluster_info()


async def test_connection_errors_name_all_name_servers() -> None:
    async with servers(ONE, TWO) as (names, network, _):
        for address in (ONE, TWO):
            await network.peer(address).go_down()
        with pytest.raises(errors.ConnectFailedError) as caught:
            await names.cluster_info()

    refused = sorted(f"{address}: connection refused" for address in (ONE, TWO))
    text = str(caught.value)
    assert text.startswith("name servers ")
    assert sorted(text.removeprefix("name servers ").split("; ")) == refused


async def test_calls_without_servers_are_errors() -> None:
    with pytest.raises(errors.NameServerError):
        await NameServerCalls().cluster_info()


def test_servers_are_tried_from_the_given_one_until_one_responds() -> None:
    selector = NameServerSelector(["a", "b", "c"], start=4)
    assert selector.peek_order() == ("b", "c", "a")
    assert selector.next_order() == ("b", "c", "a")
    assert selector.next_order() == ("c", "a", "b")


def test_the_last_responding_server_is_first_until_it_fails() -> None:
    selector = NameServerSelector(["a", "b", "c"])
    selector.mark_responded("b")

    assert selector.next_order() == ("b", "c", "a")
    assert selector.next_order() == ("b", "c", "a")
    selector.mark_failed("b")
    assert selector.current is None
    assert selector.failed == {"b"}
    assert selector.next_order()[-1] == "b"
    selector.mark_reachable("b")
    assert selector.failed == frozenset()


def test_a_new_list_keeps_the_chosen_server_and_returns_removed_ones() -> None:
    selector = NameServerSelector(["a", "b"])
    selector.mark_responded("b")
    selector.mark_failed("a")

    assert selector.replace([]) == ()
    assert selector.replace(["b", "a"]) == ()
    assert selector.addresses == ("a", "b")
    assert selector.replace(["b", "c", "c"]) == ("a",)
    assert selector.addresses == ("b", "c")
    assert selector.current == "b"
    assert selector.failed == frozenset()
    assert selector.replace(["c"]) == ("b",)
    assert selector.current is None


def test_unknown_servers_change_nothing() -> None:
    selector = NameServerSelector(["a"])
    selector.mark_failed("x")
    selector.mark_responded("x")
    assert selector.current is None
    assert selector.failed == frozenset()
    assert NameServerSelector().next_order() == ()


def test_the_last_server_gets_all_remaining_time() -> None:
    assert attempt_timeout(3.0, 3) == 1.5
    assert attempt_timeout(1.5, 2) == 0.75
    assert attempt_timeout(0.75, 1) == 0.75
