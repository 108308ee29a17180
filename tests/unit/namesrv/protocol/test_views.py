"""Encoded answers, with the bytes of Java 5.5.0 after the same requests."""

import json

from rocketwire.codes import RequestCode as Code
from rocketwire_namesrv.config.config import Config
from tests.support.fakes.sansio_server import BROKER, SLAVE, Server, identity


def test_an_encoded_route_is_kept_and_shared_until_its_broker_changes(server: Server) -> None:
    server.register()
    first = server.state.views.route("TA", standard=True)

    assert server.state.views.route("TB", standard=True) is first
    assert server.state.views.route("TA", standard=False) is not first
    server.register(SLAVE, 1)
    second = server.state.views.route("TA", standard=True) or b""
    assert second != first
    assert json.loads(second)["brokerDatas"][0]["brokerAddrs"] == {"0": BROKER, "1": SLAVE}


def test_the_list_of_topics_has_a_topic_that_came_after_the_last_request(server: Server) -> None:
    server.register()
    server.ask(Code.GET_ALL_TOPIC_LIST_FROM_NAMESERVER)

    server.register("a:9", topics=("TC", "TD"), name="b2")

    topics = json.loads(server.ask(Code.GET_ALL_TOPIC_LIST_FROM_NAMESERVER).body)["topicList"]
    assert {"TC", "TD"} < set(topics)


def test_acting_masters_can_be_switched_off() -> None:
    server = Server(Config(support_acting_master=True))
    for number in (1, 2):
        server.register(f"a:{number}", number, ("TA", "TB"), enableActingMaster="true")
    shown = server.route("TA")["brokerDatas"][0]["brokerAddrs"]
    server.state.configure(Config(support_acting_master=False))

    assert server.route("TA")["brokerDatas"][0]["brokerAddrs"] != shown


def test_the_maps_of_a_zones_part_have_the_order_of_the_whole_route(server: Server) -> None:
    """Java filters an encoded route, whose keys are sorted for clients that read standard JSON.

    A bucket of its hash map keeps the order of arrival, and both names are in one bucket.
    """
    for name in ("C2-b2", "C1-b1"):
        info = {"bname": name, "topic": "TA", "totalQueues": 8, "epoch": 1, "currIdMap": {"0": 1}}
        server.register(f"{name}:1", name=name, mappings={"TA": info}, filter_servers=[name])
    zone = {"topic": "TA", "__ZONE_MODE": "true", "__ZONE_NAME": "z"}

    def order(version: int) -> list[int]:
        body = server.ask(Code.GET_ROUTEINFO_BY_TOPIC, zone, version=version).body
        return [body.index(b'"%s":{"bname"' % name) for name in (b"C2-b2", b"C1-b1")]

    old, new = order(399), order(513)
    assert old == sorted(old)
    assert new == sorted(new, reverse=True)


def test_a_group_shows_filter_servers_that_another_broker_registered(server: Server) -> None:
    server.register("a:3", name="b1")
    server.register("a:5", 1, name="b1", cluster="D")
    assert server.route("TA")["filterServerTable"] == {}

    server.register("a:5", topics=("TC", "TD"), name="b2", filter_servers=["f:1"])
    assert server.route("TA")["filterServerTable"] == {"a:5": ["f:1"]}

    server.ask(Code.UNREGISTER_BROKER, identity("b2", "a:5"))
    assert server.route("TA")["filterServerTable"] == {}
