"""Requests of brokers and clients: codes, remarks, fields and effects as Java 5.5.0 has them."""

import pytest

from rocketwire.codes import RequestCode as Code
from rocketwire.codes import ResponseCode
from tests.support.fakes.sansio_server import Server, identity, registration_body

# made by a Java broker: topics U and TopicTest, one static mapping, bodyCrc32 799000593
PACKED = bytes.fromhex(
    "78da554f4dabc230108cfe0fa1ec51aa54786ac9cd834ac10f1eaf7a1109695cb5d83625491129fdef6fdb83e22eb387"
    "d9d961963116d6a074553834c0031fac930e8f686caa8b8e70698e44e625f0c93cf854c318eb1306b12e531593c60ba9"
    "67de5fb45b6f96225eacbdba150d0fde0ff5f702c8d4ca1b8eddab44e0b08a567be82c4f679a3dc2b386a49079bb4d8c"
    "7ea01949f04155c64497ada43875c0278d0f97d4b817f0abcc2cfa80a55677e053fa44e9ce5a885ba613990941e7ae0d"
    "4be43b74c73999fd5658a1051e36ff1d724fd0"
)


@pytest.mark.parametrize("missing", ["brokerName", "brokerAddr", "clusterName", "brokerId"])
def test_broker_without_an_identity_is_refused(server: Server, missing: str) -> None:
    fields = {key: value for key, value in identity().items() if key != missing}
    reply = server.ask(Code.REGISTER_BROKER, fields, registration_body(("TA", "TB")))

    assert reply.code == ResponseCode.SYSTEM_ERROR
    assert missing in (reply.remark or "")
    assert server.cluster_info() == {"brokerAddrTable": {}, "clusterAddrTable": {}}


@pytest.mark.parametrize("label", ["true", "TRUE", "false"])
def test_packed_body_is_known_by_its_zlib_stream(server: Server, label: str) -> None:
    fields = {**identity(), "compressed": label, "bodyCrc32": "799000593"}

    assert server.ask(Code.REGISTER_BROKER, fields, PACKED).code == 0
    topics = server.ask(Code.GET_ALL_TOPIC_LIST_FROM_NAMESERVER).body
    assert topics == b'{"topicList":["U","TopicTest"]}'
    assert server.route("U")["queueDatas"][0]["topicSysFlag"] == 0
    assert any("topicQueueMappingByBroker" in server.route(name) for name in ("TopicTest", "U"))
