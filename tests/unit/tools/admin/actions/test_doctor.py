"""Findings of ``doctor`` and ``diff`` for given answers, without servers."""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from rocketwire.messages.ha import HAConnectionRuntimeInfo, HARuntimeInfo
from rocketwire.messages.route import BrokerData, QueueData, TopicRouteData
from rocketwire.versions import CURRENT_VERSION
from rocketwire_tools.admin.findings import (
    ADVICE,
    OK,
    PROBLEM,
    WARNING,
    Finding,
    Identity,
    Probe,
    Snapshot,
    differences,
    findings,
)
from tests.peers.cache import ROOT

MASTER, REPLICA, THIRD = "10.0.0.1:10911", "10.0.0.2:10911", "10.0.0.3:10911"
LOCAL = "127.0.0.1:10911"
GOOD = {MASTER: Probe(version="V5_5_0"), REPLICA: Probe(version="V5_5_0")}


def broker(
    name: str = "b", cluster: str = "c", *, master: str = "", replica: str = ""
) -> BrokerData:
    addresses = {id_: address for id_, address in enumerate((master, replica)) if address}
    return BrokerData(broker_name=name, cluster=cluster, broker_addrs=addresses)


def queue(name: str = "b", perm: int = 6, queues: int = 4) -> QueueData:
    return QueueData(broker_name=name, perm=perm, read_queue_nums=queues, write_queue_nums=queues)


def route(perm: int = 6, queues: int = 4, master: str = "") -> TopicRouteData:
    brokers = (broker(master=master),)
    return TopicRouteData(queue_datas=(queue("b", perm, queues),), broker_datas=brokers)


def snapshot(address: str = "10.0.0.9:9876", **changes: Any) -> Snapshot:
    members: dict[str, Any] = {
        "address": address,
        "version": 513,
        "clusters": {"c": ("b",)},
        "brokers": {"b": broker(master=MASTER)},
        "routes": {"T": route(master=MASTER)},
    }
    return Snapshot(**(members | changes))


def list_texts(*snapshots: Snapshot, **probes: Probe) -> list[tuple[str, str]]:
    """Status and text of the findings."""
    rows = find(*snapshots, **probes)
    return [(row.status, row.text) for row in rows if row.status != OK and row.subject != "topics"]


def find(*snapshots: Snapshot, **probes: Probe) -> Sequence[Finding]:
    addresses = {"master": MASTER, "replica": REPLICA, "third": THIRD, "local": LOCAL}
    by_address = {addresses[name]: probe for name, probe in probes.items()}
    return findings(snapshots or [snapshot()], {}, GOOD | by_address, {})


def test_a_healthy_cluster_has_no_findings() -> None:
    assert [] == list_texts()
    assert find()[-1].text == "1 checked, no findings"


def list_ids(*snapshots: Snapshot, **probes: Probe) -> list[tuple[str, str, str]]:
    """Status, id and name of the findings; each has advice."""
    rows = find(*snapshots, **probes)
    assert all(bool(row.advice) == (row.status != OK) for row in rows)
    return [(row.status, row.id or "", row.name) for row in rows if row.status != OK]


def test_every_id_has_its_place_in_the_guide() -> None:
    guide = (ROOT / "docs" / "guide" / "rocketwire-admin.md").read_text()
    text = guide.partition("## Doctor")[2].partition("## Diff")[0]

    assert set(ADVICE) == set(re.findall(r"^\| `([a-z-]+)` \|", text, re.MULTILINE))


def test_a_cluster_without_a_broker_is_a_problem() -> None:
    empty = snapshot(brokers={}, clusters={}, routes={})

    assert [(PROBLEM, "broker-none", "none")] == list_ids(empty)
    assert [(PROBLEM, "broker-none", "none")] == list_ids(
        empty, replace(empty, address="10.0.0.8:9876")
    )


def test_a_broker_missing_at_some_name_servers() -> None:
    empty = snapshot("10.0.0.8:9876", brokers={}, clusters={}, routes={})

    for order in ((snapshot(), empty), (empty, snapshot())):
        assert [(PROBLEM, "broker-registered-partly", "b")] == list_ids(*order)


def test_consequences_of_a_missing_broker_are_no_findings() -> None:
    """Its cluster, its topics and its queues of topics that others have too."""
    master, missing = broker(master=MASTER), broker("x", master=MASTER)
    both = TopicRouteData(queue_datas=(queue(), queue("x")), broker_datas=(master, missing))
    single = TopicRouteData(queue_datas=(queue("x"),), broker_datas=(missing,))
    complete = snapshot(
        "10.0.0.8:9876",
        clusters={"c": ("b", "x")},
        brokers={"b": master, "x": missing},
        routes={"T": both, "X": single},
    )
    expected = [(PROBLEM, "broker-registered-partly", "x")]

    assert expected == list_ids(snapshot(), complete)
    assert expected == list_ids(complete, snapshot())
    assert expected == list_ids(complete, snapshot(), replace(complete, address="10.0.0.7:9876"))
    brokers = {"b": master, "x": broker("x")}  # Java keeps the name without an address
    assert expected == list_ids(complete, snapshot(clusters={"c": ("b", "x")}, brokers=brokers))


@pytest.mark.parametrize(
    "changes",
    [
        {"routes": {}},
        {"routes": {"T": route(queues=8, master=MASTER)}},
        {"routes": {"T": route(master=MASTER), "N": route(master=MASTER)}},
        {"clusters": {"c": ("b", "y")}},
        {"brokers": {"b": broker(cluster="d", master=MASTER)}},
        {"brokers": {"b": broker(master=REPLICA)}},
    ],
    ids=["topic", "queues", "new topic", "cluster", "cluster of a broker", "address"],
)
def test_name_servers_that_differ_for_another_reason_are_found(changes: dict[str, Any]) -> None:
    brokers = changes.get("brokers", {"b": broker(master=MASTER)})
    brokers = {**brokers, "x": broker("x", master=MASTER)}
    differing = snapshot("10.0.0.8:9876", **(changes | {"brokers": brokers}))

    ids = [id_ for _, id_, _ in list_ids(snapshot(), differing)]
    assert ids.count("name-servers-differ") == 1
    assert ids.count("broker-registered-partly") == 1


def test_a_replica_that_some_name_servers_do_not_know_is_named() -> None:
    both = snapshot(brokers={"b": broker(master=MASTER, replica=REPLICA)})
    master_only = snapshot("10.0.0.8:9876")
    expected = "replica 1 is registered with 10.0.0.9:9876 but not with 10.0.0.8:9876"

    for order in ((both, master_only), (master_only, both)):
        assert [(PROBLEM, "broker-registered-partly", "b")] == list_ids(*order)
        assert [(PROBLEM, expected)] == list_texts(*order)
    replica_only = snapshot("10.0.0.8:9876", brokers={"b": broker(replica=REPLICA)})
    texts = [text for _, text in list_texts(both, replica_only)]
    assert texts == ["master is registered with 10.0.0.9:9876 but not with 10.0.0.8:9876"]


@pytest.mark.parametrize(
    ("facts", "status", "finding"),
    [
        ({"identity": Identity("b", 0, MASTER)}, "", ""),
        ({"identity": Identity("x", 0, MASTER)}, PROBLEM, "broker-other-identity"),
        ({"identity": Identity("b", 1, MASTER)}, PROBLEM, "broker-other-identity"),
        ({"identity": Identity("b", 0, REPLICA)}, WARNING, "broker-other-address"),
        ({"error": "late", "reachable_at": "10.0.0.9:1"}, PROBLEM, "broker-other-address"),
        ({"mapped_to": "c:1", "unmapped": Probe(error="refused")}, "", ""),
        (
            {"error": "refused", "mapped_to": "c:1", "unmapped": Probe(version="V5_5_0")},
            PROBLEM,
            "broker-address-map",
        ),
        ({"disk": None}, "", ""),
        ({"disk": 0.849}, "", ""),
        ({"disk": 0.85}, WARNING, "broker-disk-filling"),
        ({"disk": 0.9}, PROBLEM, "broker-disk-full"),
    ],
)
def test_facts_of_a_broker_are_findings(facts: dict[str, Any], status: str, finding: str) -> None:
    rows = list_ids(master=Probe(version="V5_5_0", **facts))

    assert [(status, finding, "b")] * bool(finding) == rows


OLD = snapshot(version=401)


@pytest.mark.parametrize(
    ("version", "servers", "rows"),
    [
        ("V5_5_0", [OLD], [("versions-name-server", "10.0.0.9:9876")]),
        ("V4_9_4", [OLD], []),
        ("V4_9_4", [], []),
        ("a fork", [], []),
        (
            str(CURRENT_VERSION + 2),
            [],
            [("versions-name-server", "10.0.0.9:9876"), ("versions-client", "rocketwire")],
        ),
        ("V4_9_4", [OLD, snapshot("10.0.0.8:9876")], [("name-server-versions", "nameServers")]),
    ],
)
def test_releases_that_do_not_match(
    version: str, servers: list[Snapshot], rows: list[tuple[str, str]]
) -> None:
    result = list_ids(*servers, master=Probe(version=version))

    assert rows == [(id_, name) for _, id_, name in result]


def test_brokers_of_two_clusters_may_be_of_different_releases() -> None:
    brokers = {"b": broker(master=MASTER), "o": broker("o", "d", master=THIRD)}

    assert [] == list_ids(snapshot(brokers=brokers), third=Probe(version="V4_9_4"))


def test_unusable_retry_topics_are_found_but_no_other_system_topics() -> None:
    routes = {
        "%RETRY%g": route(perm=4, master=MASTER),
        "%DLQ%g": route(perm=2, master=MASTER),
        "SCHEDULE_TOPIC_XXXX": route(perm=0, master=MASTER),
    }

    assert [(WARNING, "retry-topic-unusable", "%RETRY%g")] == list_ids(snapshot(routes=routes))


def test_a_broker_that_does_not_answer_at_an_address_is_a_problem() -> None:
    text = f"master {MASTER} does not respond: no program listens"

    assert [(PROBLEM, text)] == list_texts(master=Probe(error="no program listens"))


def test_a_broker_group_without_master_is_a_problem() -> None:
    replica_only = snapshot(brokers={"b": broker(replica=REPLICA)})

    assert [(PROBLEM, f"has no master; replicas: 1: {REPLICA}")] == list_texts(replica_only)


PAIR = broker(master=MASTER, replica=REPLICA)


@pytest.mark.parametrize(
    ("connections", "text"),
    [
        ((), "1 replicas are registered but 0 fetch from the master"),
        ((HAConnectionRuntimeInfo(addr="10.0.0.2:5", diff=1 << 30),), "1073741824 bytes behind"),
    ],
)
def test_an_idle_or_late_replica(
    connections: tuple[HAConnectionRuntimeInfo, ...], text: str
) -> None:
    replication = HARuntimeInfo(master=True, ha_connection_info=connections)
    probe = Probe(version="V5_5_0", replication=replication)

    (finding,) = list_texts(snapshot(brokers={"b": PAIR}), master=probe)
    assert finding[0] == PROBLEM
    assert text in finding[1]


def test_brokers_of_several_versions_are_a_warning() -> None:
    old = Probe(version="V4_9_4")
    same_group = snapshot(brokers={"b": PAIR})
    two_groups = snapshot(brokers={"b": PAIR, "c": broker(master=THIRD)})

    text = "brokers differ: V4_9_4: b; V5_5_0: b"
    assert [(WARNING, text)] == list_texts(same_group, replica=old)
    text = "brokers differ: V4_9_4: c; V5_5_0: b"
    assert [(WARNING, text)] == list_texts(two_groups, third=old)


def test_an_address_that_only_its_own_machine_reaches() -> None:
    brokers = {"b": broker(master=LOCAL)}
    probe = Probe(version="V5_5_0")

    (finding,) = list_texts(snapshot(brokers=brokers), local=probe)
    assert finding[0] == WARNING
    assert "other machines cannot reach" in finding[1]
    assert [] == list_texts(snapshot("127.0.0.1:9876", brokers=brokers), local=probe)


def test_unusable_topics_are_found() -> None:
    routes = {
        "gone": None,
        "homeless": route(),
        "read only": route(perm=4, master=MASTER),
        "no queues": route(queues=0, master=MASTER),
        "%DLQ%g": route(perm=2, master=MASTER),
        "rmq_sys_SYNC_BROKER_MEMBER_b": route(perm=0, master=MASTER),
    }

    rows = find(snapshot(routes=routes))

    assert [
        (PROBLEM, "gone", "is listed but has no route"),
        (PROBLEM, "homeless", "has queues at b, which has no address"),
        (WARNING, "no queues", "has no writable queue"),
        (WARNING, "no queues", "has no readable queue"),
        (WARNING, "read only", "has no writable queue"),
    ] == [(row.status, row.name, row.text) for row in rows if row.subject in ("topic", "topics")]


def test_name_servers_that_fail_or_disagree_are_problems() -> None:
    snapshots = [snapshot(), snapshot("10.0.0.8:9876", routes={})]

    rows = findings(snapshots, {"10.0.0.7:9876": "refused"}, GOOD, {})

    problems = [(row.subject, row.name, row.text) for row in rows if row.status == PROBLEM]
    assert [
        ("nameServer", "10.0.0.7:9876", "does not respond: refused"),
        ("topic", "T", 'topic differs: 10.0.0.9:9876 has "known", 10.0.0.8:9876 has nothing'),
    ] == problems


def test_equal_answers_do_not_differ() -> None:
    assert [] == differences(snapshot(), snapshot("10.0.0.8:9876", version=401))


def test_differences_are_short() -> None:
    changed = snapshot(
        clusters={"c": ("b", "x")},
        brokers={"b": broker(master=REPLICA)},
        routes={"T": route(queues=8, master=MASTER), "new": route(master=MASTER)},
    )
    brokers = [{"cluster": "c", "addresses": {"0": address}} for address in (MASTER, REPLICA)]
    routes = [{"read": count, "write": count, "perm": 6, "sysFlag": 0} for count in (4, 8)]

    assert [
        ("cluster", "c", ["b"], ["b", "x"]),
        ("broker", "b", *brokers),
        ("topic", "new", None, "known"),
        ("route", "T@b", *routes),
    ] == differences(snapshot(), changed)
