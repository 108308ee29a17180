"""``produce`` and ``consume`` with a real Java broker, Java's consumer, producer and mqadmin."""

from __future__ import annotations

import fcntl
import re
import signal
import struct
import subprocess
import termios
from typing import IO, TYPE_CHECKING

import pytest

from tests.peers.messages import unique
from tests.peers.processes import wait_until
from tests.support.admin_process import SECONDS, Done, begin, end, run

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from tests.peers.cluster import JavaCluster
    from tests.peers.peers import JavaPeer


MODES = ("", "--orderly", "--pull", "--broadcast", "--pop")


class Here:
    """The Java peers, and what tests ask of them."""

    def __init__(self, cluster: JavaCluster, peer: JavaPeer) -> None:
        self.cluster = cluster
        self.peer = peer

    @property
    def servers(self) -> tuple[str, ...]:
        return ("-n", self.cluster.address, "--request-timeout", "120")

    def topic(self, word: str, queues: int = 4) -> str:
        name = unique(word)
        made = self.peer.admin(
            self.cluster.address,
            f"updateTopic -b {self.cluster.master.address} -t {name} -r {queues} -w {queues}",
        )
        assert "success" in made.out, made
        return name

    def produce(self, topic: str, *options: str, given: bytes | None = None) -> Done:
        return run("produce", *self.servers, "-t", topic, *options, given=given)

    def consuming(
        self, topic: str, group: str, *options: str, home: Path | None = None
    ) -> subprocess.Popen[bytes]:
        words = ("consume", *self.servers, "-t", topic, "-g", group, "--from", "first")
        return begin(*words, *options, home=home, stdin=subprocess.DEVNULL)

    def behind(self, group: str) -> int:
        """The lag of the group according to Java's mqadmin."""
        told = self.peer.admin(self.cluster.address, f"consumerProgress -g {group}")
        found = re.search(r"Consume Diff Total: (\d+)", told.out)
        assert found, told
        return int(found[1])


@pytest.fixture
def here(java_cluster: JavaCluster, java_peer: JavaPeer) -> Here:
    return Here(java_cluster, java_peer)


def waiting_in(pipe: IO[bytes]) -> int:
    """Bytes that were written and not read."""
    (number,) = struct.unpack("i", fcntl.ioctl(pipe.fileno(), termios.FIONREAD, b"\0" * 4))
    return int(number)


def bodies(done: Done) -> list[str]:
    return [line["body"] for line in done.lines]


def numbers(first: int, last: int) -> list[str]:
    return [f"message {number}" for number in range(first, last)]


def test_java_reads_what_produce_sends_in_every_way(here: Here) -> None:
    topic, group = here.topic("ways"), unique("g")
    here.peer.consume(here.cluster.address, topic, group)
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
        way: begin(
            *("produce", *here.servers, "-t", topic, "-g", f"g-{way}"), "--key", way, *options
        )
        for way, options in ways.items()
    }
    done = {way: end(process, b"one\n\ntwo\nthree") for way, process in running.items()}

    assert dict.fromkeys(ways, (0, 3, "")) == {
        way: (one.status, len(one.lines), one.complaint) for way, one in done.items()
    }
    wanted = set(ways) - {"rolled-back"}
    received = here.peer.received(group, len(wanted))
    here.peer.close(group)
    assert wanted == set(received)
    plain = done["plain"].lines[0]
    assert [
        "status",
        "msgId",
        "offsetMsgId",
        "brokerName",
        "queueId",
        "queueOffset",
    ] == list(plain)
    assert ("SEND_OK", "broker-a") == (plain["status"], plain["brokerName"])
    found = here.peer.admin(
        here.cluster.address, f"queryMsgById -t {topic} -i {plain['offsetMsgId']}"
    )
    assert f"UNIQ_KEY={plain['msgId']}" in found.out, found
    assert 1 == len({line["queueId"] for line in done["ordered"].lines})
    first, second, _ = done["batch"].lines
    assert (first["queueId"], first["queueOffset"] + 1) == (
        second["queueId"],
        second["queueOffset"],
    )
    assert 3 == len({line["msgId"] for line in done["batch"].lines})


def test_a_topic_that_is_not_there_is_refused_in_one_line(here: Here) -> None:
    consumed = end(here.consuming(unique("none"), "g"))

    assert (1, 1) == (consumed.status, consumed.complaint.count("\n"))
    assert "no route of topic none" in consumed.complaint


def test_each_kind_of_consumer_prints_what_java_has_sent_and_commits_what_it_printed(
    here: Here, tmp_path: Path
) -> None:
    topic, group = here.topic("kinds"), unique("g")
    here.peer.send(here.cluster.address, topic, group, range(20))
    groups = {mode: group + (mode or "--push") for mode in MODES}

    def each(modes: Iterable[str], *options: str) -> dict[str, Done]:
        running = {
            mode: here.consuming(
                topic, groups[mode], *filter(None, [mode]), *options, home=tmp_path
            )
            for mode in modes
        }
        return {mode: end(process) for mode, process in running.items()}

    first = each(MODES, "--count", "7")
    assert dict.fromkeys(MODES, (0, 7, "")) == {
        mode: (one.status, len(one.lines), one.complaint) for mode, one in first.items()
    }
    behind = {mode: here.behind(groups[mode]) for mode in ("", "--orderly", "--pull")}
    left = behind[""]
    assert left >= 13  # Java's producer sends again what a busy broker answers late
    assert dict.fromkeys(behind, left) == behind

    rest = each(("", "--pop", "--pull"), "--count", str(left), "--timeout", "120")
    for mode in rest:
        assert (0, "") == (rest[mode].status, rest[mode].complaint), mode
        both = bodies(first[mode]) + bodies(rest[mode])
        assert (7 + left, set(numbers(0, 20))) == (len(both), set(both)), mode
    assert [0, 0] == [here.behind(groups[mode]) for mode in ("", "--pull")]

    line = first[""].lines[0]
    assert (topic, "tag", "broker-a") == (line["topic"], line["tags"], line["brokerName"])
    assert f"message {line['keys']}" == line["body"]
    assert line["msgId"] == line["properties"]["UNIQ_KEY"]


@pytest.mark.full
def test_a_consumer_ends_well_when_it_is_terminated_and_when_nobody_reads_any_more(
    here: Here,
) -> None:
    topic, group = here.topic("term"), unique("g")
    sent = here.produce(topic, "--count", "60", "--size", "3000")
    assert (0, 60) == (sent.status, len(sent.lines))

    process = here.consuming(topic, group)
    assert process.stdout is not None
    lines = [process.stdout.readline() for _ in range(60)]
    process.send_signal(signal.SIGTERM)
    ended = end(process)

    assert (0, b"", "") == ended
    assert all(len(line) > 3000 for line in lines)
    assert 0 == here.behind(group)

    process = here.consuming(topic, unique("g"))
    assert process.stdout is not None
    assert process.stdout.readline()
    process.stdout.close()
    _, complaint = process.communicate(timeout=SECONDS)
    assert (0, b"") == (process.returncode, complaint)


@pytest.mark.full
def test_what_nobody_has_taken_out_of_a_full_pipe_is_as_if_it_was_not_printed(here: Here) -> None:
    topic, group = here.topic("stuck"), unique("g")
    here.produce(topic, "--count", "60", "--size", "3000")

    process = here.consuming(topic, group)
    pipe = process.stdout
    assert pipe is not None
    wait_until(lambda: waiting_in(pipe) > 45_000, "the pipe is nearly full")
    process.send_signal(signal.SIGTERM)
    process.wait(SECONDS)
    whole = pipe.read().count(b"\n")

    assert (0, 60) == (process.returncode, whole + here.behind(group))
    assert 0 < whole < 60


@pytest.mark.full
def test_filters_take_tags_or_an_expression(here: Here) -> None:
    topic, group = here.topic("filters"), unique("g")
    here.peer.send(here.cluster.address, topic, group, range(2))
    sent = here.produce(topic, "--tag", "B", "-p", "a=2", given=b"B")
    assert 0 == sent.status, sent

    filters = {
        "tags": (("--filter", "tag || C"), ["message 0", "message 1"]),
        "pop": (("--filter", "sql: a = 2", "--pop"), ["B"]),
        "pull": (("--filter", "sql: TAGS IN ('B', 'C')", "--pull"), ["B"]),
    }
    running = {
        name: here.consuming(topic, group + name, *options, "--count", str(len(wanted)))
        for name, (options, wanted) in filters.items()
    }
    found = {name: sorted(bodies(end(process))) for name, process in running.items()}

    assert {name: wanted for name, (_, wanted) in filters.items()} == found
    wrong = {
        mode: here.consuming(topic, group, "--filter", "sql: a >", mode)
        for mode in ("--pop", "--pull")
    }
    for mode, process in wrong.items():
        refused = end(process)
        assert (1, 1) == (refused.status, refused.complaint.count("\n")), (mode, refused)


@pytest.mark.full
def test_a_group_begins_where_it_is_told_to_even_in_a_young_topic(here: Here) -> None:
    topic, group = here.topic("young"), unique("g")
    here.produce(topic, given=b"old\n")
    starts = {"last": 0, "9999999999999": 0, "1000": 1, "first": 1}

    running = {
        (mode, start): here.consuming(
            topic,
            f"{group}{mode}-{start}",
            *filter(None, [mode]),
            *("--from", start, "--count", "1", "--timeout", "300" if messages else "10"),
        )
        for mode in ("", "--pull")
        for start, messages in starts.items()
    }
    done = {how: end(process) for how, process in running.items()}

    assert {how: starts[how[1]] for how in done} == {
        how: len(one.lines) for how, one in done.items()
    }


@pytest.mark.full
def test_first_deliveries_that_fail_come_again(here: Here) -> None:
    topic, group = here.topic("again"), unique("g")
    here.produce(topic, given=b"x\ny\n")

    modes = ("", "--orderly", "--pop")
    running = {
        mode: here.consuming(
            topic, f"{group}{mode}", "--fail-first", "--count", "4", *filter(None, [mode])
        )
        for mode in modes
    }
    done = {mode: end(process) for mode, process in running.items()}

    for mode in modes:
        seen = sorted((line["body"], line["reconsumeTimes"]) for line in done[mode].lines)
        assert [("x", 0), ("x", 1), ("y", 0), ("y", 1)] == seen, mode
        assert {topic} == {line["topic"] for line in done[mode].lines}
    # the client sends its offsets one-way: a busy broker stores them after the client has ended
    wait_until(lambda: here.behind(group) == 0, "the broker has the offsets")


@pytest.mark.full
def test_encrypted_connections_carry_both(here: Here) -> None:
    topic, group = here.topic("tls"), unique("g")

    sent = here.produce(topic, "--tls", "--insecure", given=b"\xff\n")
    got = end(here.consuming(topic, group, "--insecure", "--count", "2", "--timeout", "20"))

    assert (0, 1) == (sent.status, got.status), (sent, got)
    assert "1 of 2 messages arrived, then none for 20 s" in got.complaint
    assert (None, "/w==") == (got.lines[0]["body"], got.lines[0]["bodyBase64"])
    doubted = here.produce(topic, "--tls", given=b"x\n")
    assert (3, []) == (doubted.status, doubted.lines)
    assert "message 1: " in doubted.complaint
