"""``produce``, ``consume`` and what operators look at, with brokers of 5.3.3 and 4.9.4."""

import re
from collections.abc import Iterator
from functools import partial
from itertools import islice
from pathlib import Path

import pytest

from tests.java.admin.commands import Programs, count_lines, end_all, without_disk
from tests.peers import cache as java_cache
from tests.peers.cluster import JavaCluster
from tests.peers.messages import unique
from tests.peers.peers import MIDDLE, OLD
from tests.peers.shared_peers import have_here
from tests.support.admin_process import Done, end

pytestmark = pytest.mark.full

KINDS = ("", "--orderly", "--pull", "--broadcast")
"""Kinds of consumers that every release has."""


class Place(Programs):
    def __init__(self, version: str, cluster: JavaCluster, home: Path) -> None:
        super().__init__(cluster, home)
        self.version = version
        self.described = f"V{version.replace('.', '_')}"


@pytest.fixture(scope="module", params=[MIDDLE, OLD])
def place(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Place]:
    version: str = request.param
    have_here(partial(java_cache.jars, version))
    folder = tmp_path_factory.mktemp("release")
    with JavaCluster(folder, version=version) as cluster:
        yield Place(version, cluster, folder / "home")


oldest = pytest.mark.parametrize("place", [OLD], indirect=True)
"""Long tests that other files run with 5.5.0: here with the release that differs most."""


def test_messages_of_every_way_come_to_every_kind_of_consumer(place: Place) -> None:
    topic, group = place.create_topic("every"), unique("g")
    ways = {
        "plain": ["--tls", "--insecure"],
        "batch": ["--batch", "2", "--tag", "B"],
        "oneway": ["--oneway"],
        "ordered": ["--order-key", "k", "-p", "a=2"],
        "delayed": ["--delay-level", "1"],
        "committed": ["--transaction", "commit"],
        "rolled-back": ["--transaction", "rollback"],
    }
    sending = {way: place.begin_produce(topic, *options) for way, options in ways.items()}
    sent = {way: end(process, f"{way} 1\n{way} 2\n".encode()) for way, process in sending.items()}
    assert count_lines(sent) == dict.fromkeys(ways, (0, 2, ""))
    everything = sorted(f"{way} {n}" for way in ways if way != "rolled-back" for n in (1, 2))
    take_all = ("--count", "12", "--timeout", "300")
    consumers: dict[str, tuple[tuple[str, ...], list[str]]] = {
        **{option: ((option, *take_all), everything) for option in KINDS},
        "tls": (("--insecure", *take_all), everything),
        "time": (("--from", "1000", *take_all), everything),
        "last": (("--from", "last", "--timeout", "5"), []),
        "pull-last": (("--pull", "--from", "last", "--timeout", "5"), []),
        "tag": (("--filter", "B", "--count", "2"), ["batch 1", "batch 2"]),
        "sql": (("--filter", "sql: a = 2", "--count", "2"), ["ordered 1", "ordered 2"]),
    }
    if place.version != OLD:
        consumers["--pop"] = (("--pop", *take_all), everything)

    runs: dict[str, Done] = {}
    names = iter(consumers)
    while batch := list(islice(names, 6)):
        runs |= end_all(
            {
                name: place.begin_consume(topic, f"{group}{name}", *consumers[name][0])
                for name in batch
            }
        )
    assert {
        name: (run.status, run.complaint, sorted(line["body"] for line in run.lines))
        for name, run in runs.items()
    } == {name: (0, "", bodies) for name, (_, bodies) in consumers.items()}

    ids = {way: {line["msgId"] for line in run.lines} for way, run in sent.items()}
    del ids["rolled-back"]
    if place.version == MIDDLE:  # gives each message of a batch the key of the batch
        del ids["batch"]
    assert set().union(*ids.values()) <= {line["msgId"] for line in runs[""].lines}
    check_output(place, topic, group)


def check_output(place: Place, topic: str, group: str) -> None:
    stats = place.rows("topicStatus", "-t", topic)
    assert sum(row["maxOffset"] - row["minOffset"] for row in stats) == 12
    progress = place.rows("consumerProgress", "-g", group)
    assert all(row["inflight"] is None or row["inflight"] >= 0 for row in progress), progress
    (broker,) = place.rows("clusterList")
    expected = (place.cluster.master.address, place.described)
    assert (broker["addr"], broker["version"]) == expected
    findings = without_disk(place.rows("doctor", "-t", topic))
    assert all(finding["status"] == "ok" for finding in findings), findings
    assert findings[0]["finding"] == f"responds, {place.described}"
    missing = place.run_here("queryCq", "-t", topic, "-q", "99", "-i", "0")
    assert (missing.status, missing.complaint.count("\n")) == (1, 1), missing


@oldest
def test_pops_are_refused_by_brokers_without_them(place: Place) -> None:
    refused = end(place.begin_consume("TBW102", unique("g"), "--pop"))

    assert (refused.status, refused.out, refused.complaint.count("\n")) == (1, b"", 1)
    assert "REQUEST_CODE_NOT_SUPPORTED" in refused.complaint


@oldest
def test_messages_are_acknowledged_or_named_if_the_broker_is_killed(place: Place) -> None:
    topic, group = place.create_topic("killed"), unique("g")
    process = place.begin_produce(topic, "--in-flight", "4")
    assert process.stdin is not None
    assert process.stdout is not None
    lines = [b""]
    for number in range(1, 101):
        process.stdin.write(b"%d\n" % number)
        process.stdin.flush()
        lines.append(process.stdout.readline())
    place.cluster.master.kill()
    process.stdin.write(b"".join(b"%d\n" % number for number in range(101, 301)))
    ended = end(process)
    run = Done(ended.status, b"".join(lines) + ended.out, ended.complaint)
    place.cluster.master.start()
    place.cluster.master.wait_registered(place.cluster.name_server.port)
    acknowledged = {line["msgId"] for line in run.lines if line["status"] == "SEND_OK"}
    options = ("--count", str(len(acknowledged)), "--timeout", "300")
    consumed = end(place.begin_consume(topic, group, *options))

    error = run.complaint.splitlines()[-1]  # the client warns of the outage before
    assert (run.status, "message 101: " in error) == (3, True), run.complaint
    numbers = re.search(r"; also not acknowledged: 102-(\d+); not sent: (\d+) and later", error)
    assert numbers, run.complaint
    assert int(numbers[1]) + 1 == int(numbers[2])
    assert len(acknowledged) == 100
    assert acknowledged <= {line["msgId"] for line in consumed.lines}
