"""Static topics of two brokers, ours and Java's: mqadmin creates and moves one, Java's clients use it, and both
brokers answer the same requests about its logical queues."""

from __future__ import annotations

import re
from contextlib import ExitStack
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple, cast

import pytest

from rocketwire.messages import decode_body
from rocketwire.messages.route import TopicRouteData
from tests.support import raw_call
from tests.support.java import cache as java_cache
from tests.support.java.dev_cluster import DevCluster
from tests.support.java.peers import CURRENT, JavaPeer
from tests.support.java.shared_peers import have_here
from tests.support.processes import wait_until

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping

    from tests.support.java.cluster import JavaCluster

pytestmark = pytest.mark.slow

TOPIC = "static-orders"
GROUP = "static-readers"
QUEUE: Final = {"topic": TOPIC, "queueId": "0", "bname": "__syslo__global__"}
PHYSICAL: Final = {"lo": "false", "setZeroIfNotFound": "false"}
PULL: Final = {
    "consumerGroup": "probe",
    "maxMsgNums": "32",
    "sysFlag": "4",
    "subscription": "*",
    "commitOffset": "0",
    "suspendTimeoutMillis": "0",
    "subVersion": "0",
}
NOTHING: Final[Mapping[str, str]] = {}
BLOCK = 10_000
FIRST, SECOND = range(20), range(20, 40)


class Place(NamedTuple):
    """Two brokers, and Java's clients.

    Attributes:
        name_server: address of the name server.
        first, second: ports of the brokers; the second has the queues now.
        java: Java's clients.
    """

    name_server: str
    first: int
    second: int
    java: JavaPeer


def moved(name_server: str, first: str, second: str, java: JavaPeer) -> Place:
    """Create a static topic at the first broker, and move it to the second between two sends."""
    place = Place(name_server, _port(first), _port(second), java)

    def is_led_by(broker: str) -> bool:
        answer = raw_call.ask(_port(name_server), 105, {"topic": TOPIC})
        route = decode_body(TopicRouteData, answer.body or None)
        mappings = {} if route is None else route.topic_queue_mapping_by_broker or {}
        return broker in mappings and len(mappings[broker].curr_id_map or {}) == 2

    created = java.admin(name_server, f"updateStaticTopic -t {TOPIC} -qn 2 -b broker-a")
    wait_until(lambda: is_led_by("broker-a"), f"it is created: {created.out}{created.err}")
    java.send(name_server, TOPIC, "producers", FIRST)
    java.consume(name_server, TOPIC, GROUP)
    java.received(GROUP, len(FIRST))
    remapped = java.admin(name_server, f"remappingStaticTopic -t {TOPIC} -b broker-b")
    wait_until(lambda: is_led_by("broker-b"), f"it has moved: {remapped.out}{remapped.err}")
    java.send(name_server, TOPIC, "later-producers", SECOND)
    wait_until(
        lambda: answer(place.second, 31)[0] == 0, "the second broker has the first's address"
    )
    return place


def _port(address: str) -> int:
    return int(address.rpartition(":")[2])


@pytest.fixture(scope="module", params=["ours", "java"])
def place(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Generator[Place]:
    have_here(partial(java_cache.classes, CURRENT, "Peer.java"))
    folder = tmp_path_factory.mktemp("static")
    with ExitStack() as running:
        cluster: DevCluster | JavaCluster
        if request.param == "ours":
            cluster = running.enter_context(DevCluster(folder / "brokers"))
        else:
            cluster = request.getfixturevalue("java_cluster")
        second = cluster.broker("broker-b")
        java = running.enter_context(JavaPeer(folder / "java"))
        yield moved(cluster.address, cluster.master.address, second.address, java)


def test_java_s_clients_read_both_sections(place: Place) -> None:
    place.java.consume(place.name_server, TOPIC, "late-readers")

    for group in (GROUP, "late-readers"):
        keys = place.java.received(group, len(FIRST) + len(SECOND))
        assert set(keys) == {str(key) for key in (*FIRST, *SECOND)}
    status = place.java.admin(place.name_server, f"topicStatus -t {TOPIC}").out
    ends = re.findall(r"^__syslo__global__ +\d +0 +(\d+)", status, re.MULTILINE)
    assert sum(int(end) - BLOCK for end in ends) >= len(SECOND)


def test_offsets_are_logical(place: Place) -> None:
    end = BLOCK + physical_end(place.second)

    assert answer(place.second, 30) == (0, None, {"offset": str(end)})
    assert answer(place.second, 31) == (0, "", {"offset": "0"})
    far = {"timestamp": "99999999999999"}
    assert answer(place.second, 29, far) == (0, None, {"offset": str(end)})
    assert answer(place.second, 29, {"timestamp": "0"}) == (0, None, {"offset": "0"})
    code, _, fields = answer(place.second, 32)
    assert (code, int(fields["timestamp"]) > 0) == (0, True)


def test_offsets_of_groups_are_kept_at_the_brokers_of_their_sections(place: Place) -> None:
    place.java.admin(place.name_server, "updateSubGroup -c DefaultCluster -g bookkeepers")
    of_group = {"consumerGroup": "bookkeepers"}
    remark = "Not found, maybe this group consumer boot first"

    assert answer(place.second, 14, of_group) == (22, remark, {})
    assert answer(place.second, 15, {**of_group, "commitOffset": "3"}) == (0, "", {})
    assert answer(place.second, 14, of_group) == (0, None, {"offset": "3"})
    assert answer(place.first, 14, {**of_group, **PHYSICAL}) == (0, None, {"offset": "3"})
    later = {**of_group, "commitOffset": str(BLOCK + 1)}
    assert answer(place.second, 15, later) == (0, None, {})
    assert answer(place.second, 14, of_group) == (0, None, {"offset": str(BLOCK + 1)})
    assert answer(place.second, 14, {**of_group, **PHYSICAL}) == (0, None, {"offset": "1"})


def test_a_pull_leads_from_one_section_to_the_next(place: Place) -> None:
    moved_at = physical_end(place.first)

    code, remark, fields = answer(place.second, 11, {**PULL, "queueOffset": "1"})
    assert (code, remark, fields["offsetDelta"]) == (0, "", "0")
    assert fields["nextBeginOffset"] == str(moved_at)
    assert (fields["minOffset"], fields["maxOffset"]) == ("0", str(BLOCK))
    for offset in (moved_at, moved_at + 1, BLOCK - 1):
        code, remark, fields = answer(place.second, 11, {**PULL, "queueOffset": str(offset)})
        assert (code, remark, fields["offsetDelta"]) == (20, None, str(BLOCK))
        assert fields["nextBeginOffset"] == fields["minOffset"] == fields["maxOffset"] == str(BLOCK)
    code, _, fields = answer(place.second, 11, {**PULL, "queueOffset": "-5"})
    assert (code, fields["nextBeginOffset"]) == (21, "0")
    end = BLOCK + physical_end(place.second)
    code, _, fields = answer(place.second, 11, {**PULL, "queueOffset": str(end)})
    assert (code, fields["nextBeginOffset"], fields["maxOffset"]) == (19, str(end), str(end))
    code, _, fields = answer(place.second, 11, {**PULL, "queueOffset": str(end + 9)})
    assert (code, fields["nextBeginOffset"]) == (21, str(end))


def test_a_broker_that_is_no_leader_refuses(place: Place) -> None:
    name = f"{TOPIC}-0"
    remark = f"{name} does not exit in request process of current broker broker-a"
    of_group = {"consumerGroup": GROUP, "commitOffset": "1", "timestamp": "0"}

    for code in (14, 15, 29, 30, 32):
        assert answer(place.first, code, of_group)[:2] == (501, remark)
    not_leader = f"{name} is not leader in broker broker-a, request code 31"
    assert answer(place.first, 31)[:2] == (501, not_leader)
    no_item = f"{name} cannot find mapping item in request process of current broker broker-a"
    assert answer(place.first, 11, {**PULL, "queueOffset": "0"})[:2] == (501, no_item)


def physical_end(port: int) -> int:
    """The end of the broker's own queue 0."""
    return int(answer(port, 30, PHYSICAL)[2]["offset"])


def answer(
    port: int, code: int, fields: Mapping[str, str] = NOTHING
) -> tuple[object, object, dict[str, str]]:
    """Code, remark and fields of the answer to a request about logical queue 0."""
    header = raw_call.ask(port, code, {**QUEUE, **fields}).header
    ext = cast("dict[str, str]", header.get("extFields") or {})
    return header.get("code"), header.get("remark"), ext
