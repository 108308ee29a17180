"""Requests of brokers and clients: codes, remarks, fields and effects as Java 5.5.0 has them."""

from __future__ import annotations

import pytest

from rocketwire_namesrv.config.config import Config
from rocketwire_namesrv.events import ChecksumMismatch
from tests.support.fakes.sansio_server import (
    Server,
    events,
    identity,
    registration_body,
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


@pytest.mark.parametrize("missing", ["brokerName", "brokerAddr", "clusterName", "brokerId"])
def test_a_broker_without_a_name_address_cluster_or_id_is_refused(missing: str) -> None:
    server = Server()
    fields = {key: value for key, value in identity().items() if key != missing}
    reply = server.ask(103, fields, registration_body(("TA", "TB")))

    assert reply.code == 1
    assert missing in (reply.remark or "")
    assert server.cluster_info() == {"brokerAddrTable": {}, "clusterAddrTable": {}}


def test_a_version_below_zero_is_refused_and_one_beyond_the_list_is_not() -> None:
    server = Server()

    assert server.register(version=-1).code == 1
    assert server.register(version=9999).code == 0


def test_the_order_of_topics_is_given_to_brokers() -> None:
    server = Server()
    server.ask(100, {"namespace": "ORDER_TOPIC_CONFIG", "key": "TA", "value": "b1:4"})
    assert server.register().body == b'{"table":{"TA":"b1:4"}}'
    server.ask(102, {"namespace": "ORDER_TOPIC_CONFIG", "key": "TA"})
    assert server.register().body == b'{"table":{}}'
    quiet = Server(Config(return_order_topic_config_to_broker=False))
    quiet.ask(100, {"namespace": "ORDER_TOPIC_CONFIG", "key": "TA", "value": "b1:4"})
    assert quiet.register().body == b""


@pytest.mark.parametrize("missing", ["brokerName", "brokerAddr", "clusterName"])
def test_a_request_to_unregister_nobody_is_a_success_that_does_nothing(missing: str) -> None:
    server = Server()
    server.register()
    fields = {key: value for key, value in identity().items() if key != missing}

    assert server.ask(104, fields).code == 0
    assert server.perms("TA") == {"b1": 6}


# ---------------------------------------- data version and heartbeat


@pytest.mark.parametrize("code", [322, 904])
@pytest.mark.parametrize("missing", ["brokerAddr", "clusterName"])
def test_a_sign_of_life_needs_cluster_and_address(code: int, missing: str) -> None:
    fields = {key: value for key, value in identity().items() if key != missing}
    reply = Server().ask(code, fields)

    assert reply.code == 1
    assert missing in (reply.remark or "")


# ---------------------------------------- routes


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
