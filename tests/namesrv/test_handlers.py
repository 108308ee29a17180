"""Every request code: codes, remarks, fields and effects as Java 5.5.0 has them."""

from __future__ import annotations

import json
import zlib
from typing import TYPE_CHECKING, Any

import pytest

from rocketwire_namesrv.config import Config
from rocketwire_namesrv.occurrences import (
    ChecksumMismatch,
    ConfigUpdated,
    ConfigUpdateRefused,
    RequestFailed,
    TopicDeleted,
    WritePermChanged,
)
from tests.namesrv.talk import (
    BROKER,
    SLAVE,
    Server,
    registration_body,
    request,
    topic,
    version,
)

if TYPE_CHECKING:
    from rocketwire_namesrv.occurrences import Occurrence

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


def identity(name: str = "b1", address: str = BROKER, broker_id: str = "0") -> dict[str, str]:
    return {
        "brokerAddr": address,
        "brokerId": broker_id,
        "brokerName": name,
        "clusterName": "C",
    }


def occurrences(
    server: Server, code: int, ext: dict[str, Any] | None, body: bytes = b""
) -> list[Occurrence]:
    return list(server.receive(request(code, ext, body)).occurrences)


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
    happened = occurrences(server, 103, {**identity(), "bodyCrc32": "5"})
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


# ---------------------------------------- topics and permissions


def test_permission_to_write_is_wiped_and_given() -> None:
    server = Server()
    perms = {"T6": 6, "T7": 7, "T2": 2}
    server.register(topics={name: topic(name, perm=perm) for name, perm in perms.items()})
    reply = server.ask(205, {"brokerName": "b1"})

    assert (reply.code, reply.remark, reply.ext) == (0, None, {"wipeTopicCount": "3"})
    assert [server.perms(name)["b1"] for name in perms] == [4, 5, 0]
    assert server.ask(205, {"brokerName": "b1"}).ext == {"wipeTopicCount": "3"}
    assert server.ask(327, {"brokerName": "b1"}).ext == {"addTopicCount": "3"}
    assert [server.perms(name)["b1"] for name in perms] == [6, 6, 6]


def test_a_wiped_permission_comes_back_with_another_data_version_only() -> None:
    server = Server()
    server.register()
    server.ask(205, {"brokerName": "b1"})
    server.register()
    assert server.perms("TA") == {"b1": 4}
    server.register(data_version=version(1))
    assert server.perms("TA") == {"b1": 6}


@pytest.mark.parametrize("fields", [None, {}, {"brokerName": "nobody"}])
def test_nobodys_permission_is_wiped_nowhere(fields: dict[str, str] | None) -> None:
    server = Server()

    assert server.ask(205, fields).ext == {"wipeTopicCount": "0"}
    assert server.ask(327, fields).ext == {"addTopicCount": "0"}
    (happened,) = occurrences(server, 205, fields)
    assert isinstance(happened, WritePermChanged)


def test_lists_of_topics_can_be_switched_off() -> None:
    server = Server(Config(enable_topic_list=False, enable_all_topic_list=False))
    for code in (206, 224, 311, 312, 313):
        reply = server.ask(code, {"cluster": "C"})
        assert (reply.code, reply.remark, reply.body) == (1, "disable", b"")

    assert server.ask(304).code == 0


def test_a_topic_is_deleted_in_a_cluster_or_everywhere() -> None:
    server = Server()
    server.register()

    for fields in (None, {"topic": "TA", "clusterName": "D"}, {"topic": "unknown"}):
        assert server.ask(216, fields).code == 0
        assert server.perms("TA") == {"b1": 6}
    assert occurrences(server, 216, {"topic": "TA", "clusterName": "C"}) == [
        TopicDeleted(topic="TA", cluster="C")
    ]
    assert server.route("TA") is None
    server.ask(216, {"topic": "TB", "clusterName": ""})
    assert server.route("TB") is None
    server.register()
    assert server.perms("TA") == {"b1": 6}


def test_the_route_of_a_topic_can_be_registered() -> None:
    server = Server()
    server.register()
    known: dict[str, object] = {"brokerName": "b1", "perm": 4}
    known |= {"readQueueNums": 1, "writeQueueNums": 2}
    unknown = {**known, "brokerName": "zz"}

    def body(*queues: dict[str, object]) -> bytes:
        return json.dumps({"queueDatas": queues}).encode()

    assert server.ask(217, {"topic": "TN"}, body(unknown, known)).code == 0
    assert server.route("TN") is None
    assert server.ask(217, {"topic": "TN"}, body(known)).code == 0
    assert server.perms("TN") == {"b1": 4}
    assert server.ask(217, {"topic": "TA"}, body(known, unknown)).code == 0
    assert server.perms("TA") == {"b1": 4}
    for fields, nothing in (({"topic": "TB"}, b""), ({"topic": "TB"}, b"{}"), ({}, body(known))):
        assert server.ask(217, fields, nothing).code == 0
    assert server.perms("TB") == {"b1": 6}
    assert server.ask(217, {"topic": "TB"}, b"\xff").code == 1


# ---------------------------------------- key/value and configuration


def test_an_item_is_put_found_listed_and_deleted() -> None:
    server = Server()
    item = {"namespace": "ns", "key": "k", "value": "v"}
    outcome = server.receive(request(100, item))

    assert outcome.persist_kv
    assert server.ask(101, item).ext == {"value": "v"}
    assert server.ask(219, item).body == b'{"table":{"k":"v"}}'
    assert server.receive(request(102, item)).persist_kv
    assert server.ask(219, item).body == b'{"table":{}}'
    assert server.receive(request(102)).persist_kv


def test_an_item_that_is_not_there_is_code_22() -> None:
    server = Server()
    reply = server.ask(101, {"namespace": "n", "key": "k"})

    remark = "No config item, Namespace: n Key: k"
    assert (reply.code, reply.ext, reply.remark, reply.body) == (22, {}, remark, b"")
    assert server.ask(101).remark == "No config item, Namespace: null Key: null"
    reply = server.ask(219, {"namespace": "zz"})
    assert (reply.code, reply.ext, reply.remark) == (22, None, "No config item, Namespace: zz")
    assert server.ask(219).remark == "No config item, Namespace: null"


@pytest.mark.parametrize("fields", [None, {"key": "k", "value": "v"}, {"namespace": "n"}])
def test_an_item_needs_namespace_and_key(fields: dict[str, str] | None) -> None:
    reply = Server().ask(100, fields)

    assert (reply.code, reply.remark) == (1, "namespace or key is null")


def test_an_item_without_a_value_makes_its_namespace_only() -> None:
    server = Server()

    assert server.ask(100, {"namespace": "n", "key": "k"}).code == 0
    assert server.ask(101, {"namespace": "n", "key": "k"}).code == 22
    assert server.ask(219, {"namespace": "n"}).body == b'{"table":{}}'


def test_texts_are_escaped_as_java_5_5_0_does() -> None:
    server = Server()
    value = '"\\/\n\t\x01\x7f\x80\u2028é漢😀'
    server.ask(100, {"namespace": "n", "key": "k", "value": value})
    raw = server.receive(request(101, {"namespace": "n", "key": "k"})).send

    escaped = '"\\"\\\\/\\n\\t\\u0001\x7f\x80\u2028é漢😀"'
    assert f'"extFields":{{"value":{escaped}}}'.encode() in raw
    assert server.ask(219, {"namespace": "n"}).body == f'{{"table":{{"k":{escaped}}}}}'.encode()


def test_the_configuration_is_shown_sorted() -> None:
    lines = Server().ask(319).body.decode().splitlines()

    assert lines == sorted(lines)
    assert "listenPort=9876" in lines


def test_the_configuration_is_not_updated_unless_the_operator_allows_it() -> None:
    server = Server()
    reply = server.ask(318, None, b"enableTopicList=false\n")

    assert reply.code == 16
    assert server.state.config.enable_topic_list
    (happened,) = occurrences(server, 318, None)
    assert isinstance(happened, ConfigUpdateRefused)


def test_an_allowed_update_is_in_effect_at_once_and_is_stored() -> None:
    server = Server(allow_config_update=True)
    outcome = server.receive(request(318, None, b"enableTopicList=false\nsupportActingMaster=true"))

    assert outcome.persist_config
    assert outcome.occurrences == (
        ConfigUpdated(
            client="127.0.0.1:50001",
            changes=("enableTopicList: true -> false", "supportActingMaster: false -> true"),
        ),
    )
    assert server.ask(311).remark == "disable"
    assert server.state.views.support_acting_master
    assert not server.receive(request(318)).persist_config


def test_an_update_of_more_than_a_megabyte_is_refused() -> None:
    server = Server(allow_config_update=True)
    reply = server.ask(318, None, b"#" * (1024 * 1024 + 1))

    assert (reply.code, reply.remark) == (16, "Can not update config: more than 1048576 bytes.")
    assert server.ask(318, None, b"#" * 1024 * 1024).code == 0


@pytest.mark.parametrize(
    "line",
    [
        b"kvConfigPath=/x",
        b"kvConfigPath:/x",
        b"configStorePath /x",
        b"config\\u0053torePath=/x",
        b"rocketmqHome=\\\n/x",
        b"configBlackList=",
    ],
)
def test_no_spelling_of_a_denied_key_gets_through(line: bytes) -> None:
    server = Server(allow_config_update=True)
    before = server.state.config
    reply = server.ask(318, None, b"enableTopicList=false\n" + line)

    assert (reply.code, reply.remark) == (16, "Can not update config in black list.")
    assert server.state.config is before


def test_a_malformed_update_is_code_1() -> None:
    reply = Server(allow_config_update=True).ask(318, None, b"bad\\u00zz=1")

    assert (reply.code, reply.remark) == (1, "string2Properties error")


def test_a_handler_that_fails_is_answered_code_1_and_told() -> None:
    server = Server()
    (happened,) = occurrences(server, 322, identity(), b"xx")

    assert isinstance(happened, RequestFailed)
    assert happened.code == 322
