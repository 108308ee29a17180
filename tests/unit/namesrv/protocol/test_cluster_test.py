"""clusterTest: each request is answered with a route."""

import pytest

from rocketwire.codes import RequestCode as Code
from rocketwire.codes import ResponseCode
from rocketwire.messages.registration import DataVersion
from rocketwire_namesrv.config.config import Config
from rocketwire_namesrv.routes.brokers import Registration
from rocketwire_namesrv.routes.queue_layouts import QueueSettings
from rocketwire_namesrv.routes.steps import run_steps
from tests.support.fakes.sansio_server import BROKER, Server


@pytest.fixture
def server() -> Server:
    """A server with a route, which no request can register in this mode."""
    server = Server(Config(cluster_test=True, need_wait_for_service=True), started=1000.0)
    registration = Registration(
        cluster="C",
        address=BROKER,
        broker_name="b1",
        broker_id=0,
        data_version=DataVersion(),
        connection_id=1,
        zone_name="z1",
        topics=[("TA", QueueSettings(8, 8, 6, 0)), ("TB", QueueSettings(8, 8, 6, 0))],
        mappings={},
    )
    run_steps(server.state.table.register(registration, server.now))
    return server


@pytest.mark.parametrize("code", [105, 106, 103, 104, 100, 319, 9999, -1])
def test_every_code_asks_for_a_route(server: Server, code: int) -> None:
    result = server.ask(code, {"topic": "TA"})
    missing = server.ask(code, {"topic": "Nope"})

    assert (result.code, result.remark) == (0, None)
    assert result.body.startswith(b'{"brokerDatas":[{"brokerAddrs":{0:"10.0.0.1:10911"}')
    assert missing.code == ResponseCode.TOPIC_NOT_EXIST
    assert missing.remark == (
        "No topic route info in name server for the topic: Nope\n"
        "See https://rocketmq.apache.org/docs/bestPractice/06FAQ for further details."
    )


def test_route_always_has_the_order_of_its_topic(server: Server) -> None:
    server.state.kv.put("ORDER_TOPIC_CONFIG", "TA", "b1:8")

    route = server.ask(Code.GET_ROUTEINFO_BY_TOPIC, {"topic": "TA"}).body
    assert b'"orderTopicConf":"b1:8"' in route


def test_zones_are_looked_at_for_code_105_alone(server: Server) -> None:
    fields = {"topic": "TA", "__ZONE_MODE": "true", "__ZONE_NAME": "z2"}

    assert b'"brokerDatas":[]' in server.ask(Code.GET_ROUTEINFO_BY_TOPIC, fields).body
    assert b'"brokerDatas":[]' not in server.ask(Code.GET_BROKER_CLUSTER_INFO, fields).body


def test_the_mode_is_that_of_the_start(server: Server) -> None:
    server.state.configure(Config(cluster_test=False))

    assert server.ask(Code.GET_BROKER_CLUSTER_INFO, {"topic": "TA"}).code == 0
    assert server.ask(Code.GET_BROKER_CLUSTER_INFO).code == ResponseCode.TOPIC_NOT_EXIST
