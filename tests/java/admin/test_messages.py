"""``produce`` and ``consume`` with a real Java broker, Java's consumer, producer and mqadmin."""

import fcntl
import re
import signal
import struct
import termios
from collections.abc import Iterable
from pathlib import Path
from typing import IO

import pytest

from tests.java.admin.commands import Programs, count_lines, end_all
from tests.peers.cluster import JavaCluster
from tests.peers.messages import unique
from tests.peers.peers import JavaPeer
from tests.peers.processes import wait_until
from tests.support.admin_process import SECONDS, Done, end

MODES = ("", "--orderly", "--pull", "--broadcast", "--pop")


class Site(Programs):
    def __init__(self, cluster: JavaCluster, peer: JavaPeer, home: Path) -> None:
        super().__init__(cluster, home)
        self.peer = peer

    def read_lag(self, group: str) -> int:
        output = self.peer.admin(self.cluster.address, f"consumerProgress -g {group}")
        total = re.search(r"Consume Diff Total: (\d+)", output.out)
        assert total, output
        return int(total[1])


@pytest.fixture
def site(java_cluster: JavaCluster, java_peer: JavaPeer, tmp_path: Path) -> Site:
    return Site(java_cluster, java_peer, tmp_path)


def count_unread(pipe: IO[bytes]) -> int:
    (number,) = struct.unpack("i", fcntl.ioctl(pipe.fileno(), termios.FIONREAD, b"\0" * 4))
    return int(number)


def bodies(run: Done) -> list[str]:
    return [line["body"] for line in run.lines]


def test_java_reads_what_produce_sends_in_every_way(site: Site) -> None:
    topic, group = site.create_topic("ways"), unique("g")
    site.peer.consume(site.cluster.address, topic, group)
    ways = {
        "plain": [],
        "batch": ["--batch", "2"],
        "oneway": ["--oneway"],
        "ordered": ["--order-key", "k"],
        "committed": ["--transaction", "commit"],
        "rolled-back": ["--transaction", "rollback"],
        "delayed": ["--delay-level", "1"],
    }
    running = {
        way: site.begin_produce(topic, "-g", f"g-{way}", "--key", way, *options)
        for way, options in ways.items()
    }
    runs = {way: end(process, b"one\n\ntwo\nthree") for way, process in running.items()}

    assert count_lines(runs) == dict.fromkeys(ways, (0, 3, ""))
    delivered = set(ways) - {"rolled-back"}
    keys = site.peer.received(group, len(delivered))
    site.peer.close(group)
    assert set(keys) == delivered
    line = runs["plain"].lines[0]
    assert " ".join(line) == "status msgId offsetMsgId brokerName queueId queueOffset"
    assert (line["status"], line["brokerName"]) == ("SEND_OK", "broker-a")
    query = f"queryMsgById -t {topic} -i {line['offsetMsgId']}"
    output = site.peer.admin(site.cluster.address, query)
    assert f"UNIQ_KEY={line['msgId']}" in output.out, output
    assert len({line["queueId"] for line in runs["ordered"].lines}) == 1
    first, second, _ = runs["batch"].lines
    place = (second["queueId"], second["queueOffset"])
    assert (first["queueId"], first["queueOffset"] + 1) == place
    assert len({line["msgId"] for line in runs["batch"].lines}) == 3


def test_a_topic_that_is_not_there_is_refused_in_one_line(site: Site) -> None:
    refused = end(site.begin_consume(unique("none"), "g"))

    assert (refused.status, refused.complaint.count("\n")) == (1, 1)
    assert "no route of topic none" in refused.complaint


def test_consumers_of_each_kind_print_and_commit_messages_of_java(site: Site) -> None:
    topic, group = site.create_topic("kinds"), unique("g")
    site.peer.send(site.cluster.address, topic, group, range(20))
    groups = {mode: group + (mode or "--push") for mode in MODES}

    def consume(modes: Iterable[str], *options: str) -> dict[str, Done]:
        return end_all(
            {mode: site.begin_consume(topic, groups[mode], mode, *options) for mode in modes}
        )

    first = consume(MODES, "--count", "7")
    assert count_lines(first) == dict.fromkeys(MODES, (0, 7, ""))
    committing = ("", "--orderly", "--pull")
    lags = {mode: site.read_lag(groups[mode]) for mode in committing}
    lag = lags[""]
    assert lag >= 13  # Java's producer sends again what a busy broker answers late
    assert lags == dict.fromkeys(committing, lag)

    second = consume(("", "--pop", "--pull"), "--count", str(lag), "--timeout", "120")
    assert count_lines(second) == dict.fromkeys(("", "--pop", "--pull"), (0, lag, ""))
    for mode, run in second.items():
        assert {*bodies(first[mode]), *bodies(run)} == {f"message {n}" for n in range(20)}, mode
    assert [site.read_lag(groups[mode]) for mode in ("", "--pull")] == [0, 0]

    line = first[""].lines[0]
    assert (line["topic"], line["tags"], line["brokerName"]) == (topic, "tag", "broker-a")
    assert line["body"] == f"message {line['keys']}"
    assert line["msgId"] == line["properties"]["UNIQ_KEY"]


@pytest.mark.full
def test_a_consumer_ends_at_a_signal_and_at_a_closed_pipe(site: Site) -> None:
    topic, group = site.create_topic("term"), unique("g")
    sent = site.produce(topic, "--count", "60", "--size", "3000")
    assert (sent.status, len(sent.lines)) == (0, 60)

    process = site.begin_consume(topic, group)
    assert process.stdout is not None
    lines = [process.stdout.readline() for _ in range(60)]
    process.send_signal(signal.SIGTERM)

    assert end(process) == (0, b"", "")
    assert all(len(line) > 3000 for line in lines)
    assert site.read_lag(group) == 0

    process = site.begin_consume(topic, unique("g"))
    assert process.stdout is not None
    assert process.stdout.readline()
    process.stdout.close()
    _, complaint = process.communicate(timeout=SECONDS)
    assert (process.returncode, complaint) == (0, b"")


@pytest.mark.full
def test_messages_that_stay_in_a_full_pipe_are_not_committed(site: Site) -> None:
    topic, group = site.create_topic("stuck"), unique("g")
    site.produce(topic, "--count", "60", "--size", "3000")

    process = site.begin_consume(topic, group)
    pipe = process.stdout
    assert pipe is not None
    wait_until(lambda: count_unread(pipe) > 45_000, "the pipe is nearly full")
    process.send_signal(signal.SIGTERM)
    process.wait(SECONDS)
    count = pipe.read().count(b"\n")

    assert (process.returncode, count + site.read_lag(group)) == (0, 60)
    assert 0 < count < 60


@pytest.mark.full
def test_filters_take_tags_or_an_expression(site: Site) -> None:
    topic, group = site.create_topic("filters"), unique("g")
    site.peer.send(site.cluster.address, topic, group, range(2))
    sent = site.produce(topic, "--tag", "B", "-p", "a=2", text=b"B")
    assert sent.status == 0, sent

    filters = {
        "tags": (("--filter", "tag || C"), ["message 0", "message 1"]),
        "pop": (("--filter", "sql: a = 2", "--pop"), ["B"]),
        "pull": (("--filter", "sql: TAGS IN ('B', 'C')", "--pull"), ["B"]),
    }
    running = {
        name: site.begin_consume(topic, group + name, *options, "--count", str(len(expected)))
        for name, (options, expected) in filters.items()
    }
    assert {name: sorted(bodies(run)) for name, run in end_all(running).items()} == {
        name: expected for name, (_, expected) in filters.items()
    }
    wrong = {
        mode: site.begin_consume(topic, group, "--filter", "sql: a >", mode)
        for mode in ("--pop", "--pull")
    }
    for mode, refused in end_all(wrong).items():
        assert (refused.status, refused.complaint.count("\n")) == (1, 1), (mode, refused)


@pytest.mark.full
def test_a_group_begins_where_it_is_asked_to_even_in_a_young_topic(site: Site) -> None:
    topic, group = site.create_topic("young"), unique("g")
    site.produce(topic, text=b"old\n")
    starts = {"last": 0, "9999999999999": 0, "1000": 1, "first": 1}
    running = {
        (mode, start): site.begin_consume(
            topic,
            f"{group}{mode}-{start}",
            mode,
            *("--from", start, "--count", "1", "--timeout", "300" if messages else "10"),
        )
        for mode in ("", "--pull")
        for start, messages in starts.items()
    }

    counts = {how: len(run.lines) for how, run in end_all(running).items()}
    assert counts == {how: starts[how[1]] for how in running}


@pytest.mark.full
def test_first_deliveries_that_fail_come_again(site: Site) -> None:
    topic, group = site.create_topic("again"), unique("g")
    site.produce(topic, text=b"x\ny\n")
    running = {
        mode: site.begin_consume(topic, group + mode, "--fail-first", "--count", "4", mode)
        for mode in ("", "--orderly", "--pop")
    }

    for mode, run in end_all(running).items():
        deliveries = sorted((line["body"], line["reconsumeTimes"]) for line in run.lines)
        assert deliveries == [("x", 0), ("x", 1), ("y", 0), ("y", 1)], mode
        assert {line["topic"] for line in run.lines} == {topic}
    # the client sends its offsets one-way: a busy broker stores them after the client has ended
    wait_until(lambda: site.read_lag(group) == 0, "the broker has the offsets")


@pytest.mark.full
def test_encrypted_connections_carry_both(site: Site) -> None:
    topic, group = site.create_topic("tls"), unique("g")

    sent = site.produce(topic, "--tls", "--insecure", text=b"\xff\n")
    run = end(site.begin_consume(topic, group, "--insecure", "--count", "2", "--timeout", "20"))

    assert (sent.status, run.status) == (0, 1), (sent, run)
    assert "1 of 2 messages arrived, then none for 20 s" in run.complaint
    assert (run.lines[0]["body"], run.lines[0]["bodyBase64"]) == (None, "/w==")
    doubted = site.produce(topic, "--tls", text=b"x\n")
    assert (doubted.status, doubted.lines) == (3, [])
    assert "message 1: " in doubted.complaint
