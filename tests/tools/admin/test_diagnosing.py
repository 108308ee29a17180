"""What ``doctor`` and ``diff`` make of answers, without anybody who answers."""

from __future__ import annotations

from typing import Any

from rocketwire.messages.ha import HAConnectionRuntimeInfo, HARuntimeInfo
from rocketwire.messages.route import BrokerData, QueueData, TopicRouteData
from rocketwire_tools.admin.diagnosing import OK, PROBLEM, WARNING, Probe, findings
from rocketwire_tools.admin.snapshots import Snapshot, differences

MASTER, REPLICA = "10.0.0.1:10911", "10.0.0.2:10911"
GOOD = {MASTER: Probe(version="V5_5_0"), REPLICA: Probe(version="V5_5_0")}


def broker(**addresses: str) -> BrokerData:
    by_id = {0: addresses.get("master"), 1: addresses.get("replica")}
    known = {id_: address for id_, address in by_id.items() if address}
    return BrokerData(broker_name="b", cluster="c", broker_addrs=known)


def route(perm: int = 6, queues: int = 4, **addresses: str) -> TopicRouteData:
    data = QueueData(broker_name="b", perm=perm, read_queue_nums=queues, write_queue_nums=queues)
    return TopicRouteData(queue_datas=(data,), broker_datas=(broker(**addresses),))


def snapshot(address: str = "10.0.0.9:9876", **changed: Any) -> Snapshot:
    given: dict[str, Any] = {
        "address": address,
        "version": 513,
        "clusters": {"c": ("b",)},
        "brokers": {"b": broker(master=MASTER)},
        "routes": {"T": route(master=MASTER)},
    }
    return Snapshot(**(given | changed))


def wrong(*snapshots: Snapshot, probes: dict[str, Probe] | None = None) -> list[tuple[str, str]]:
    found = findings(snapshots or [snapshot()], {}, probes or GOOD)
    return [(one.status, one.text) for one in found if one.status != OK and one.kind != "topics"]


def test_a_cluster_that_is_well_has_nothing_wrong() -> None:
    assert [] == wrong()


def test_a_broker_that_does_not_answer_at_an_address_is_a_problem() -> None:
    probes = GOOD | {MASTER: Probe(error="nobody listens")}

    assert [(PROBLEM, f"master {MASTER} does not answer: nobody listens")] == wrong(probes=probes)


def test_a_broker_group_without_master_is_a_problem() -> None:
    one = snapshot(brokers={"b": broker(replica=REPLICA)})

    assert [(PROBLEM, f"has no master; there are 1: {REPLICA}")] == wrong(one)


def test_a_replica_that_does_not_fetch_or_is_far_behind_is_a_problem() -> None:
    one = snapshot(brokers={"b": broker(master=MASTER, replica=REPLICA)})
    behind = HAConnectionRuntimeInfo(addr="10.0.0.2:5", diff=1 << 30)
    alone = Probe(version="V5_5_0", replication=HARuntimeInfo(master=True))
    slow = Probe(
        version="V5_5_0", replication=HARuntimeInfo(master=True, ha_connection_info=(behind,))
    )

    ((status, text),) = wrong(one, probes=GOOD | {MASTER: alone})
    assert (PROBLEM, "1 replicas are registered, and 0 fetch from the master") == (status, text)
    ((status, text),) = wrong(one, probes=GOOD | {MASTER: slow})
    assert PROBLEM == status
    assert "1073741824 bytes behind" in text


def test_brokers_of_several_versions_are_a_warning() -> None:
    one = snapshot(brokers={"b": broker(master=MASTER, replica=REPLICA)})
    probes = GOOD | {REPLICA: Probe(version="V4_9_4")}

    assert [(WARNING, "differ: V4_9_4: b; V5_5_0: b")] == wrong(one, probes=probes)


def test_a_broker_whose_replicas_are_of_one_version_is_named_once() -> None:
    old, third = broker(master="10.0.0.3:10911"), "10.0.0.3:10911"
    one = snapshot(brokers={"b": broker(master=MASTER, replica=REPLICA), "c": old})
    probes = GOOD | {third: Probe(version="V4_9_4")}

    assert [(WARNING, "differ: V4_9_4: c; V5_5_0: b")] == wrong(one, probes=probes)


def test_an_address_that_only_one_machine_can_reach_is_a_warning_for_others() -> None:
    brokers = {"b": broker(master="127.0.0.1:10911")}
    probes = {"127.0.0.1:10911": Probe(version="V5_5_0")}

    ((status, text),) = wrong(snapshot(brokers=brokers), probes=probes)
    assert (WARNING, True) == (status, "nobody on another machine" in text)
    assert [] == wrong(snapshot("127.0.0.1:9876", brokers=brokers), probes=probes)


def test_topics_that_cannot_be_used_are_told() -> None:
    routes = {
        "gone": None,
        "homeless": route(),
        "read only": route(perm=4, master=MASTER),
        "no queues": route(queues=0, master=MASTER),
        "%DLQ%g": route(perm=2, master=MASTER),
        "rmq_sys_SYNC_BROKER_MEMBER_b": route(perm=0, master=MASTER),
    }

    found = findings([snapshot(routes=routes)], {}, GOOD)

    assert [
        (PROBLEM, "gone", "is listed and has no route"),
        (PROBLEM, "homeless", "has queues at b, which has no address"),
        (WARNING, "no queues", "has no queue that can be written"),
        (WARNING, "no queues", "has no queue that can be read"),
        (WARNING, "read only", "has no queue that can be written"),
        (WARNING, "all", "6, something to say of 4"),
    ] == [(one.status, one.name, one.text) for one in found if one.kind in ("topic", "topics")]


def test_name_servers_that_fail_or_disagree_are_problems() -> None:
    other = snapshot("10.0.0.8:9876", routes={})

    found = findings([snapshot(), other], {"10.0.0.7:9876": "refused"}, GOOD)

    problems = [(one.kind, one.name, one.text) for one in found if one.status == PROBLEM]
    assert [
        ("nameServer", "10.0.0.7:9876", "does not answer: refused"),
        (
            "topic",
            "T",
            '10.0.0.9:9876 says "known", 10.0.0.8:9876 says nothing of topic',
        ),
    ] == problems


def test_equal_answers_do_not_differ() -> None:
    assert [] == differences(snapshot(), snapshot("10.0.0.8:9876", version=401))


def test_differences_tell_the_least_that_says_it() -> None:
    other = snapshot(
        clusters={"c": ("b", "x")},
        brokers={"b": broker(master=REPLICA)},
        routes={"T": route(queues=8, master=MASTER), "new": route(master=MASTER)},
    )

    found = differences(snapshot(), other)

    assert [
        ("cluster", "c", ["b"], ["b", "x"]),
        (
            "broker",
            "b",
            {"cluster": "c", "addresses": {"0": MASTER}},
            {"cluster": "c", "addresses": {"0": REPLICA}},
        ),
        ("topic", "new", None, "known"),
        (
            "route",
            "T@b",
            {"read": 4, "write": 4, "perm": 6, "sysFlag": 0},
            {"read": 8, "write": 8, "perm": 6, "sysFlag": 0},
        ),
    ] == found
