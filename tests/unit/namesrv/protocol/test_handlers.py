"""Requests of brokers and clients: codes, remarks, fields and effects as Java 5.5.0 has them."""

from __future__ import annotations

import json
import zlib

import pytest

from rocketwire_namesrv.config.config import Config
from rocketwire_namesrv.events import ChecksumMismatch
from tests.support.fakes.sansio_server import (
    BROKER,
    SLAVE,
    Server,
    events,
    identity,
    registration_body,
    topic,
    version,
)

DECODE_FAILED = (
    "org.apache.rocketmq.remoting.exception.RemotingCommandException:"
    " Failed to decode RegisterBrokerBody"
)
NOT_FOUND = (
    "No topic route info in name server for the topic: {}\n"
    "See https://rocketmq.apache.org/docs/bestPractice/06FAQ for further details."
)

# made by a Java broker: topics U and TopicTest, one static mapping, bodyCrc32 799000593
PACKED = bytes.fromhex(
    "78da554f4dabc230108cfe0fa1ec51aa54786ac9cd834ac10f1eaf7a1109695cb5d83625491129fdef6fdb83e22eb387"
    "d9d961963116d6a074553834c0031fac930e8f686caa8b8e70698e44e625f0c93cf854c318eb1306b12e531593c60ba9"
    "67de5fb45b6f96225eacbdba150d0fde0ff5f702c8d4ca1b8eddab44e0b08a567be82c4f679a3dc2b386a49079bb4d8c"
    "7ea01949f04155c64497ada43875c0278d0f97d4b817f0abcc2cfa80a55677e053fa44e9ce5a885ba613990941e7ae0d"
    "4be43b74c73999fd5658a1051e36ff1d724fd0"
)


# ---------------------------------------- registration


def test_a_registration_is_answered_with_empty_fields_and_no_body() -> None:
    server = Server()
    reply = server.register()

    assert reply.header == {
        "code": 0,
        "extFields": {},
        "flag": 1,
        "language": "JAVA",
        "opaque": 7,
        "serializeTypeCurrentRPC": "JSON",
        "version": 513,
    }
    assert reply.body == b""
    assert server.perms("TA") == {"b1": 6}


def test_a_slave_is_told_where_its_master_is() -> None:
    server = Server()
    server.register()

    assert server.register(SLAVE, 1).ext == {"haServerAddr": f"ha-{BROKER}", "masterAddr": BROKER}


def test_one_topic_of_an_unknown_broker_is_refused() -> None:
    server = Server()
    reply = server.register(topics=("TA",))

    assert (reply.code, reply.ext, reply.remark) == (1, {}, "register broker failed")
    assert server.cluster_info()["brokerAddrTable"]["b1"]["brokerAddrs"] == {}
    assert server.ask(304).body == b'{"topicList":["C","b1"]}'
    assert server.register(topics=()).code == 0
    assert server.register(topics=("TA",)).code == 0
    assert server.perms("TA") == {"b1": 6}


def test_a_body_that_is_not_what_was_summed_is_refused() -> None:
    server = Server()
    reply = server.register(bodyCrc32="5")

    assert (reply.code, reply.ext, reply.remark) == (1, {}, "crc32 not match")
    assert server.ask(206).body == b'{"topicList":[]}'
    happened = events(server, 103, {**identity(), "bodyCrc32": "5"})
    assert happened == [ChecksumMismatch(client="127.0.0.1:50001")]


@pytest.mark.parametrize("checksum", ["0", "zz", "4294967296"])
def test_a_sum_that_is_none_is_not_compared(checksum: str) -> None:
    assert Server().register(bodyCrc32=checksum).code == 0


def test_the_right_sum_is_accepted() -> None:
    body = registration_body(("TA", "TB"))
    checksum = str(zlib.crc32(body) & 0x7FFFFFFF)

    assert Server().register(bodyCrc32=checksum).code == 0


def test_without_a_body_a_broker_has_no_topics_and_version_zero() -> None:
    server = Server()
    server.register(filter_servers=["f:1"])
    reply = server.ask(103, identity())
    asked = json.dumps(version(0, 0, 0)).encode()

    assert (reply.code, reply.ext) == (0, {})
    assert server.ask(322, identity(), asked).ext == {"changed": "false"}
    assert server.state.table.filter_servers == {}


def test_an_empty_object_is_a_broker_without_topics_of_this_moment() -> None:
    server = Server(epoch_ms=1_700_000_000_000)

    assert server.ask(103, identity(), b"{}").code == 0
    asked = json.dumps(version(0, 0, 1_700_001_000_000)).encode()
    assert server.ask(322, identity(), asked).ext == {"changed": "false"}
    nulls = b'{"topicConfigSerializeWrapper":{"dataVersion":null,"topicConfigTable":null}}'
    assert server.ask(103, identity(), nulls).code == 0


@pytest.mark.parametrize("body", [b"null", b"xx", b"\xff", b'{"topicConfigSerializeWrapper":null}'])
def test_a_body_that_cannot_be_read_is_code_1_and_changes_nothing(body: bytes) -> None:
    server = Server()
    reply = server.ask(103, identity(), body)

    assert reply.code == 1
    assert reply.ext is None
    assert (reply.remark or "").startswith(DECODE_FAILED)
    assert server.cluster_info() == {"brokerAddrTable": {}, "clusterAddrTable": {}}


@pytest.mark.parametrize("missing", ["brokerName", "brokerAddr", "clusterName", "brokerId"])
def test_a_broker_without_a_name_address_cluster_or_id_is_refused(missing: str) -> None:
    server = Server()
    fields = {key: value for key, value in identity().items() if key != missing}
    reply = server.ask(103, fields, registration_body(("TA", "TB")))

    assert reply.code == 1
    assert missing in (reply.remark or "")
    assert server.cluster_info() == {"brokerAddrTable": {}, "clusterAddrTable": {}}


@pytest.mark.parametrize(("text", "expected"), [("abc", None), (" 1", None), ("+1", {"1": BROKER})])
def test_a_broker_id_is_read_as_java_reads_a_long(
    text: str, expected: dict[str, str] | None
) -> None:
    server = Server()
    reply = server.register(brokerId=text)

    assert reply.code == (1 if expected is None else 0)
    groups = server.cluster_info()["brokerAddrTable"]
    assert expected == (groups["b1"]["brokerAddrs"] if groups else None)


def test_a_version_below_zero_is_refused_and_one_beyond_the_list_is_not() -> None:
    server = Server()

    assert server.register(version=-1).code == 1
    assert server.register(version=9999).code == 0


def test_before_version_37_the_body_is_the_bare_topic_table() -> None:
    server = Server()
    server.register(filter_servers=["f:1"])
    table = {"TX": topic("TX"), "TY": topic("TY")}
    old = json.dumps({"dataVersion": version(9), "topicConfigTable": table}).encode()

    assert server.ask(103, identity(), old, version=36).code == 0
    assert server.perms("TX") == {"b1": 6}
    assert server.route("TX")["filterServerTable"] == {BROKER: ["f:1"]}
    assert server.ask(103, identity(), b"null", version=36).code == 1


@pytest.mark.parametrize("label", ["true", "TRUE", "false"])
def test_a_packed_body_is_known_by_its_zlib_stream_whatever_the_label(label: str) -> None:
    server = Server()
    fields = {**identity(), "compressed": label, "bodyCrc32": "799000593"}

    assert server.ask(103, fields, PACKED).code == 0
    assert server.ask(206).body == b'{"topicList":["U","TopicTest"]}'
    assert server.route("U")["queueDatas"][0]["topicSysFlag"] == 0
    assert "topicQueueMappingByBroker" in server.route(
        "TopicTest"
    ) or "topicQueueMappingByBroker" in server.route("U")


@pytest.mark.parametrize("body", [b"", registration_body(("TA", "TB")), zlib.compress(b"junk")])
def test_what_is_labelled_packed_and_is_not_is_refused(body: bytes) -> None:
    reply = Server().ask(103, {**identity(), "compressed": "true"}, body)

    assert reply.code == (0 if body == b"" else 1)


def test_topics_are_known_by_their_name_not_by_their_key() -> None:
    server = Server()
    server.register(topics={"KEY": topic("NAME"), "OTHER": topic("N2")})

    assert server.ask(206).body == b'{"topicList":["N2","NAME"]}'


def test_the_order_of_topics_is_given_to_brokers() -> None:
    server = Server()
    server.ask(100, {"namespace": "ORDER_TOPIC_CONFIG", "key": "TA", "value": "b1:4"})
    assert server.register().body == b'{"table":{"TA":"b1:4"}}'
    server.ask(102, {"namespace": "ORDER_TOPIC_CONFIG", "key": "TA"})
    assert server.register().body == b'{"table":{}}'
    quiet = Server(Config(return_order_topic_config_to_broker=False))
    quiet.ask(100, {"namespace": "ORDER_TOPIC_CONFIG", "key": "TA", "value": "b1:4"})
    assert quiet.register().body == b""


def test_a_registration_can_be_the_whole_truth() -> None:
    server = Server(Config(delete_topic_with_broker_registration=True))
    server.register()
    server.register(topics=("TB", "TC"))

    assert server.ask(206).body == b'{"topicList":["TB","TC"]}'


def test_who_unregisters_is_gone_before_the_answer() -> None:
    server = Server()
    server.register()

    assert server.ask(104, identity(broker_id="9")).header["code"] == 0
    assert server.cluster_info() == {"brokerAddrTable": {}, "clusterAddrTable": {}}
    assert server.route("TA") is None


@pytest.mark.parametrize("missing", ["brokerName", "brokerAddr", "clusterName"])
def test_a_request_to_unregister_nobody_is_a_success_that_does_nothing(missing: str) -> None:
    server = Server()
    server.register()
    fields = {key: value for key, value in identity().items() if key != missing}

    assert server.ask(104, fields).code == 0
    assert server.perms("TA") == {"b1": 6}


# ---------------------------------------- data version and heartbeat


@pytest.mark.parametrize(
    ("asked", "changed"),
    [
        (version(), "false"),
        (version(1), "true"),
        (version(0, 1), "true"),
        (version(0, 0, 5), "true"),
        (None, "true"),
    ],
)
def test_a_data_version_is_compared_and_the_known_one_returned(
    asked: dict[str, int] | None, changed: str
) -> None:
    server = Server()
    server.register()
    body = b"" if asked is None else json.dumps(asked).encode()
    reply = server.ask(322, identity(), body)

    assert (reply.code, reply.remark, reply.ext) == (0, None, {"changed": changed})
    assert reply.body == b'{"counter":0,"stateVersion":0,"timestamp":1700000000000}'


def test_an_unknown_broker_has_changed_and_has_no_data_version() -> None:
    reply = Server().ask(322, identity(), json.dumps(version()).encode())

    assert (reply.ext, reply.body) == ({"changed": "true"}, b"")


@pytest.mark.parametrize("code", [322, 904])
@pytest.mark.parametrize("missing", ["brokerAddr", "clusterName"])
def test_a_sign_of_life_needs_cluster_and_address(code: int, missing: str) -> None:
    fields = {key: value for key, value in identity().items() if key != missing}
    reply = Server().ask(code, fields)

    assert reply.code == 1
    assert missing in (reply.remark or "")


def test_a_malformed_data_version_is_code_1() -> None:
    assert Server().ask(322, identity(), b"xx").code == 1


@pytest.mark.parametrize("code", [322, 904])
def test_signs_of_life_keep_a_broker(code: int) -> None:
    server = Server()
    server.register(heartbeatTimeoutMillis="1500")
    server.now += 1.4
    assert server.ask(code, identity()).code == 0
    server.now += 1.4
    assert server.state.expire(server.now) == ((), ())
    server.now += 0.2
    happened, connections = server.state.expire(server.now)
    assert connections == (1,)
    assert happened
    assert server.route("TA") is None


def test_a_heartbeat_registers_nobody() -> None:
    server = Server()

    assert server.ask(904, identity()).header["code"] == 0
    assert server.ask(106).body == b'{"brokerAddrTable":{},"clusterAddrTable":{}}'


# ---------------------------------------- routes


@pytest.mark.parametrize(
    ("fields", "name"),
    [({"topic": "Nope"}, "Nope"), ({"topic": ""}, ""), ({}, "null"), (None, "null")],
)
def test_an_unknown_topic_is_code_17(fields: dict[str, str] | None, name: str) -> None:
    reply = Server().ask(105, fields)

    assert (reply.code, reply.remark, reply.ext) == (17, NOT_FOUND.format(name), None)
    assert reply.body == b""


def test_routes_wait_for_brokers_to_register() -> None:
    server = Server(Config(need_wait_for_service=True), started=1000.0)
    server.register()
    server.now = 1044.9
    reply = server.ask(105, {"topic": "TA"})

    assert (reply.code, reply.remark) == (1, "name server not ready")
    assert server.ask(206).code == 0
    server.now = 1045.0
    assert server.ask(105, {"topic": "TA"}).code == 0


def test_the_order_of_a_topic_stands_in_its_route() -> None:
    server = Server(Config(order_message_enable=True))
    server.register()
    server.ask(100, {"namespace": "ORDER_TOPIC_CONFIG", "key": "TA", "value": "b1:4"})

    assert (
        b'"filterServerTable":{},"orderTopicConf":"b1:4","queueDatas":['
        in server.ask(105, {"topic": "TA"}).body
    )
    assert "orderTopicConf" not in server.route("TB")


def test_a_member_group_is_a_success_with_a_remark() -> None:
    reply = Server().ask(901, {"clusterName": "C", "brokerName": "nope"})

    assert (reply.code, reply.remark) == (0, "not set any response code")
    assert reply.body == (
        b'{"brokerMemberGroup":{"brokerAddrs":{},"brokerName":"nope","cluster":"C"}}'
    )
