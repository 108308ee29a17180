"""Requests of administrators: codes, remarks, fields and effects as Java 5.5.0 has them."""

from __future__ import annotations

import json

import pytest

from rocketwire_namesrv.config.config import Config
from rocketwire_namesrv.events import (
    ConfigUpdated,
    ConfigUpdateRefused,
    RequestFailed,
    TopicDeleted,
    WritePermChanged,
)
from tests.support.fakes.sansio_server import Server, events, identity, request, topic, version

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
    (happened,) = events(server, 205, fields)
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
    assert events(server, 216, {"topic": "TA", "clusterName": "C"}) == [
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
    (happened,) = events(server, 318, None)
    assert isinstance(happened, ConfigUpdateRefused)


def test_an_allowed_update_is_in_effect_at_once_and_is_stored() -> None:
    server = Server(allow_config_update=True)
    outcome = server.receive(request(318, None, b"enableTopicList=false\nsupportActingMaster=true"))

    assert outcome.persist_config
    assert outcome.events == (
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
    (happened,) = events(server, 322, identity(), b"xx")

    assert isinstance(happened, RequestFailed)
    assert happened.code == 322
