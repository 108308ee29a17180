"""Encoded answers: byte for byte what Java 5.5.0 sent for the same history."""

from __future__ import annotations

import json

import pytest

from rocketwire_namesrv.config.config import Config
from tests.support.fakes.sansio_server import BROKER, SLAVE, Server, topic

QUEUE = '{"brokerName":"b1","perm":6,"readQueueNums":8,"topicSysFlag":0,"writeQueueNums":8}'
GROUP = '"brokerName":"b1","cluster":"C","enableActingMaster":false'


def test_a_route_is_standard_json_from_version_401_on_and_fastjsons_dialect_before() -> None:
    server = Server()
    server.register()
    server.register(SLAVE, 1)
    rest = f'],"filterServerTable":{{}},"queueDatas":[{QUEUE}]}}'
    standard = f'{{"brokerDatas":[{{"brokerAddrs":{{"0":"{BROKER}","1":"{SLAVE}"}},{GROUP}}}{rest}'
    dialect = f'{{"brokerDatas":[{{"brokerAddrs":{{0:"{BROKER}",1:"{SLAVE}"}},{GROUP}}}{rest}'

    assert server.ask(105, {"topic": "TA"}, version=401).body == standard.encode()
    assert server.ask(105, {"topic": "TA"}, version=400).body == dialect.encode()
    for text, expected in (("true", standard), ("TRUE", standard), ("1", dialect)):
        fields = {"topic": "TA", "acceptStandardJsonOnly": text}
        assert server.ask(105, fields, version=0).body == expected.encode()


def test_an_encoded_route_is_kept_and_shared_until_its_broker_changes() -> None:
    server = Server()
    server.register()
    first = server.state.views.route("TA", standard=True)

    assert server.state.views.route("TB", standard=True) is first
    assert server.state.views.route("TA", standard=False) is not first
    server.register(SLAVE, 1)
    assert server.state.views.route("TA", standard=True) != first
    assert json.loads(server.state.views.route("TA", standard=True) or b"")["brokerDatas"][0][
        "brokerAddrs"
    ] == {"0": BROKER, "1": SLAVE}


def test_the_route_of_an_unknown_topic_is_none() -> None:
    server = Server()

    assert server.state.views.route("TA", standard=True) is None
    assert server.state.views.route_in_zone("TA", "z", standard=True) is None


def test_broker_ids_are_sorted_in_standard_json_and_in_hash_order_in_the_dialect() -> None:
    server = Server()
    for number in (0, 16, 33, 1, 100, 5):
        server.register(f"a:{number}", number)
    standard = server.ask(105, {"topic": "TA"}).body
    dialect = server.ask(105, {"topic": "TA"}, version=400).body

    assert b'{"0":"a:0","1":"a:1","5":"a:5","16":"a:16","33":"a:33","100":"a:100"}' in standard
    assert b'{0:"a:0",16:"a:16",33:"a:33",1:"a:1",100:"a:100",5:"a:5"}' in dialect


def test_cluster_info_is_the_dialect_for_everybody() -> None:
    server = Server()
    server.register()

    expected = (
        f'{{"brokerAddrTable":{{"b1":{{"brokerAddrs":{{0:"{BROKER}"}},{GROUP}}}}},'
        '"clusterAddrTable":{"C":["b1"]}}'
    )
    assert server.ask(106).body == expected.encode()
    assert server.state.views.cluster_info() is server.state.views.cluster_info()


def test_filter_servers_stand_in_the_route_of_their_broker() -> None:
    server = Server()
    server.register(filter_servers=["f:1", "f:2"])
    server.register(SLAVE, 0, name="b2")

    assert server.route("TA")["filterServerTable"] == {BROKER: ["f:1", "f:2"]}
    server.register(filter_servers=[])
    assert server.route("TA")["filterServerTable"] == {}


def test_a_static_mapping_stands_in_the_route_of_its_topic_only() -> None:
    server = Server()
    mapping = {"bname": "b1", "currIdMap": {"0": 3}, "epoch": 9007199254740993, "totalQueues": 8}
    server.register(mappings={"TA": mapping})
    expected = (
        '"topicQueueMappingByBroker":{"b1":{"bname":"b1","currIdMap":{%s:3},"dirty":false,'
        '"epoch":%s,"scope":"__global__","totalQueues":8}}}'
    )

    standard = server.ask(105, {"topic": "TA"}).body.decode()
    assert standard.endswith(expected % ('"0"', '"9007199254740993"'))
    dialect = server.ask(105, {"topic": "TA"}, version=400).body.decode()
    assert dialect.endswith(expected % ("0", "9007199254740993"))
    assert "topicQueueMappingByBroker" not in server.route("TB")


def test_a_zone_shows_its_brokers_and_those_without_a_master_in_the_dialect() -> None:
    server = Server()
    server.register("a:1", name="b1", __ZONE_NAME="z1", filter_servers=["f:1"])
    server.register("a:2", name="b2", __ZONE_NAME="z2", filter_servers=["f:2"])
    server.register("a:3", 1, name="b3")
    server.register("a:4", name="b4")
    seen = server.ask(105, {"topic": "TA", "__ZONE_MODE": "TRUE", "__ZONE_NAME": "Z1"}).body

    assert b'{0:"a:1"}' in seen
    assert b'{1:"a:3"}' in seen
    assert b"a:2" not in seen
    assert b"b4" not in seen
    assert b'"filterServerTable":{"a:1":["f:1"]}' in seen
    assert (
        server.ask(105, {"topic": "TA", "__ZONE_MODE": "true", "__ZONE_NAME": "z9"}).body.count(
            b'"brokerName":"b3"'
        )
        == 2
    )


def test_a_zone_with_nothing_in_it_is_an_empty_route_and_no_error() -> None:
    server = Server()
    server.register(__ZONE_NAME="z1")
    reply = server.ask(105, {"topic": "TA", "__ZONE_MODE": "true", "__ZONE_NAME": "z2"})

    assert reply.code == 0
    assert reply.body == b'{"brokerDatas":[],"filterServerTable":{},"queueDatas":[]}'


@pytest.mark.parametrize(("mode", "zone"), [("1", "z2"), ("true", " "), ("true", ""), ("", "z2")])
def test_without_mode_or_name_there_is_no_zone(mode: str, zone: str) -> None:
    server = Server()
    server.register(__ZONE_NAME="z1")
    reply = server.ask(105, {"topic": "TA", "__ZONE_MODE": mode, "__ZONE_NAME": zone})

    assert b'"brokerAddrs":{"0":' in reply.body


def test_a_zone_name_stands_in_the_answers_until_the_next_registration() -> None:
    server = Server()
    server.register(__ZONE_NAME="z1")
    assert server.route("TA")["brokerDatas"][0]["zoneName"] == "z1"
    server.register(__ZONE_NAME="")
    assert server.route("TA")["brokerDatas"][0]["zoneName"] == ""
    server.register()
    assert "zoneName" not in server.route("TA")["brokerDatas"][0]


SYNC_TOPIC = "rmq_sys_SYNC_BROKER_MEMBER_b1"


def acting_server() -> Server:
    server = Server(Config(support_acting_master=True))
    for number in (1, 2):
        address = f"a:{number}"
        server.register(address, number, ("TA", SYNC_TOPIC), enableActingMaster="true")
    return server


def test_the_smallest_slave_stands_in_for_the_master() -> None:
    server = acting_server()

    assert server.route("TA")["brokerDatas"][0]["brokerAddrs"] == {"0": "a:1", "2": "a:2"}
    assert server.route(SYNC_TOPIC)["brokerDatas"][0]["brokerAddrs"] == {"1": "a:1", "2": "a:2"}
    assert server.cluster_info()["brokerAddrTable"]["b1"]["brokerAddrs"] == {"1": "a:1", "2": "a:2"}


def test_whether_anybody_stands_in_can_be_changed_at_any_time() -> None:
    server = acting_server()
    shown = server.route("TA")["brokerDatas"][0]["brokerAddrs"]
    server.state.configure(Config(support_acting_master=False))

    assert server.route("TA")["brokerDatas"][0]["brokerAddrs"] != shown


def test_nobody_stands_in_while_the_group_can_be_written_to() -> None:
    server = acting_server()
    server.ask(327, {"brokerName": "b1"})

    assert server.route("TA")["brokerDatas"][0]["brokerAddrs"] == {"1": "a:1", "2": "a:2"}


def test_nobody_stands_in_where_the_group_does_not_want_it_or_is_empty() -> None:
    server = Server(Config(support_acting_master=True))
    server.register("a:1", 1)
    server.register("a:2", 0, ("TX",), name="b2")
    queues = [{"brokerName": name, "perm": 4} for name in ("b1", "b2")]
    server.ask(217, {"topic": "TN"}, json.dumps({"queueDatas": queues}).encode())

    assert [group["brokerAddrs"] for group in server.route("TN")["brokerDatas"]] == [
        {},
        {"1": "a:1"},
    ]


def test_all_topics_and_those_of_a_cluster() -> None:
    server = Server()
    server.register()
    server.register(SLAVE, 0, ("TB", "TC"), name="b2", cluster="D")

    assert server.ask(206).body == b'{"topicList":["TA","TB","TC"]}'
    assert server.ask(224, {"cluster": "D"}).body == b'{"topicList":["TB","TC"]}'
    assert server.ask(224, {"cluster": "E"}).body == b'{"topicList":[]}'
    assert server.ask(224).body == b'{"topicList":[]}'


def test_system_topics_are_the_names_of_clusters_and_brokers() -> None:
    server = Server()
    assert server.ask(304).body == b'{"topicList":[]}'
    server.register()

    expected = f'{{"brokerAddr":"{BROKER}","topicList":["C","b1"]}}'
    assert server.ask(304).body == expected.encode()


def test_unit_topics_go_by_the_flags_of_their_first_queues() -> None:
    server = Server()
    names = ("T0", "T1", "T2", "T3")
    flags = {name: topic(name, flag=flag) for flag, name in enumerate(names)}
    server.register(topics=flags, name="b2")
    server.register(SLAVE, topics={name: topic(name, flag=3) for name in names}, name="b1")

    assert server.ask(311).body == b'{"topicList":["T1","T3"]}'
    assert server.ask(312).body == b'{"topicList":["T2","T3"]}'
    assert server.ask(313).body == b'{"topicList":["T2"]}'


def test_the_members_of_a_group_are_found_under_any_cluster() -> None:
    server = Server()
    server.register()
    server.register(SLAVE, 1)
    reply = server.ask(901, {"clusterName": "Z", "brokerName": "b1"})

    expected = (
        f'{{"brokerMemberGroup":{{"brokerAddrs":{{0:"{BROKER}",1:"{SLAVE}"}},'
        '"brokerName":"b1","cluster":"Z"}}'
    )
    assert reply.body == expected.encode()
    assert server.ask(901).body == b'{"brokerMemberGroup":{"brokerAddrs":{}}}'


def test_a_group_shows_the_filter_servers_of_its_address_that_another_broker_registered() -> None:
    server = Server()
    server.register("a:3", name="b1")
    server.register("a:5", 1, name="b1", cluster="D")
    assert server.route("TA")["filterServerTable"] == {}

    server.register("a:5", topics=("TC", "TD"), name="b2", filter_servers=["f:1"])
    assert server.route("TA")["filterServerTable"] == {"a:5": ["f:1"]}

    server.ask(104, {"brokerAddr": "a:5", "brokerName": "b2", "clusterName": "C", "brokerId": "0"})
    assert server.route("TA")["filterServerTable"] == {}


def test_a_zones_part_of_a_route_has_its_maps_in_the_order_that_the_whole_was_written_in() -> None:
    """Java cuts down what it has written, with sorted keys for those who read standard JSON; a
    bucket of its hash map keeps the order of arrival, and these two names share one."""
    server = Server()
    for name in ("C2-b2", "C1-b1"):
        info = {"bname": name, "topic": "TA", "totalQueues": 8, "epoch": 1, "currIdMap": {"0": 1}}
        server.register(f"{name}:1", name=name, mappings={"TA": info}, filter_servers=[name])
    zone = {"topic": "TA", "__ZONE_MODE": "true", "__ZONE_NAME": "z"}

    def order(version: int) -> list[int]:
        body = server.ask(105, zone, version=version).body
        return [body.index(b'"%s":{"bname"' % name) for name in (b"C2-b2", b"C1-b1")]

    old, new = order(399), order(513)
    assert old == sorted(old)
    assert new == sorted(new, reverse=True)
