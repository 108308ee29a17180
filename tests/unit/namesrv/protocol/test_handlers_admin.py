"""Requests of administrators: codes, remarks, fields and effects as Java 5.5.0 has them."""

from __future__ import annotations

import json

import pytest

from rocketwire_namesrv.events import (
    ConfigUpdated,
)
from tests.support.fakes.sansio_server import Server, request

# ---------------------------------------- topics and permissions


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


def test_an_item_without_a_value_makes_its_namespace_only() -> None:
    server = Server()

    assert server.ask(100, {"namespace": "n", "key": "k"}).code == 0
    assert server.ask(101, {"namespace": "n", "key": "k"}).code == 22
    assert server.ask(219, {"namespace": "n"}).body == b'{"table":{}}'


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
