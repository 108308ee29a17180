"""Messages sent, found, traced and listed by ``rocketwire-admin``, compared with mqadmin."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

from tests.java.admin.commands import store
from tests.peers.messages import numbered, unique
from tests.peers.processes import wait_until

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.java.admin.commands import Ours
    from tests.peers.cluster import JavaCluster


@pytest.fixture
def topic(java_cluster: JavaCluster, ours: Ours) -> str:
    """A topic with two queues."""
    name = unique("find")
    ours(f"updateTopic -b {java_cluster.master.address} -t {name} -r 2 -w 2")
    ours.wait_for(name)
    return name


def found(ours: Ours, line: str, count: int = 1) -> Any:
    """Return the rows of a command when there are this many: a broker shows and indexes messages after it has stored them."""
    answer: Any = None

    def is_there() -> bool:
        nonlocal answer
        answer = ours(line)
        return len(answer or ()) >= count

    wait_until(is_there, line)
    return answer


def ask_mqadmin(mqadmin: Callable[[str], str], line: str, pattern: str) -> list[Any]:
    """Return mqadmin's output when it is not empty: on a busy machine its pulls sometimes return nothing."""
    told: list[Any] = []

    def is_told() -> bool:
        told.extend(re.findall(pattern, mqadmin(line)))
        return bool(told)

    wait_until(is_told, line)
    return told


def test_a_message_is_sent_and_found_by_key_and_by_its_sender_s_id(
    ours: Ours, mqadmin: Callable[[str], str], topic: str
) -> None:
    (sent,) = ours(f"sendMessage -t {topic} -p hello -k red -c tag -b broker-a -i 1")
    msg_id = sent["msgId"]
    assert (sent["brokerName"], sent["queueId"], sent["status"]) == ("broker-a", 1, "SEND_OK")

    (by_key,) = found(ours, f"queryMsgByKey -t {topic} -k red")
    assert (by_key["msgId"], by_key["queueId"], by_key["tags"]) == (msg_id, 1, "tag")
    line = f"queryMsgByKey -t {topic} -k red"
    assert ask_mqadmin(mqadmin, line, rf"{msg_id}\s+(\d+)\s+(\d+)")[0] == ("1", "0")
    (listed,) = ours(f"queryMsgByUniqueKey -t {topic} -i {msg_id} -a")
    assert {**listed, "indexKey": by_key["indexKey"]} == by_key
    described = ours(f"queryMsgByUniqueKey -t {topic} -i {msg_id}")
    assert (described["body"], described["keys"], described["queueId"]) == ("hello", "red", 1)
    told = mqadmin(f"queryMsgByUniqueKey -t {topic} -i {msg_id}")
    assert dict(re.findall(r"^(Queue ID|Queue Offset|Keys):\s+(\S+)$", told, re.M)) == {
        "Queue ID": "1",
        "Queue Offset": "0",
        "Keys": "[red]",
    }

    assert ours(f"queryMsgByKey -t {topic} -k blue") == []
    assert ours.status == 1
    assert ours(f"queryMsgByUniqueKey -t {topic} -i {'0' * 32}") is None
    assert (ours.status, "no message" in ours.error) == (1, True)


def test_a_message_to_nowhere_is_refused(ours: Ours, topic: str) -> None:
    ours(f"sendMessage -t {topic} -p x -i 1")
    assert (ours.status, "--broker" in ours.error) == (2, True)
    ours(f"sendMessage -t {topic} -p x -b broker-none")
    assert (ours.status, "broker-none" in ours.error) == (1, True)
    ours(f"consumeMessage -t {topic} -o 1")
    assert ours.status == 2


@pytest.mark.full
def test_a_long_list_ends_at_its_limit_and_says_how_much_there_is(
    java_cluster: JavaCluster, ours: Ours, topic: str, caplog: pytest.LogCaptureFixture
) -> None:
    store(java_cluster, topic, numbered(1_003), queue_id=1, KEYS="key")
    queue = f"printMsgByQueue -t {topic} -a broker-a -i 1"
    found(ours, f"{queue} --max 0", 1_003)
    for line, expected, option in (
        (f"printMsg -t {topic}", 1_000, "max"),
        (queue, 1_000, "max"),
        (f"consumeMessage -t {topic}", 128, "message-number"),
    ):
        caplog.clear()
        assert len(ours(line)) == expected
        assert [f"{expected:,} messages" in text for text in caplog.messages] == [True]
        assert "has 1,003" in caplog.text
        assert len(ours(f"{line} --{option} 0")) == 1_003
        assert len(ours(f"{line} --{option} 7")) == 7
        assert len(caplog.messages) == 1
    assert ours(f"{queue} -f true") == [{"tag": None, "count": 1_003}]
    found(ours, f"queryMsgByKey -t {topic} -k key -m 5", 5)
    assert "listed 5 messages; there may be more" in caplog.text
    both = ours(f"{queue} -f true -p true --max 2")
    assert (len(both["messages"]), both["tags"]) == (2, {"": 1_003})


def test_a_queue_and_its_entries_are_listed(
    java_cluster: JavaCluster, ours: Ours, mqadmin: Callable[[str], str], topic: str
) -> None:
    for number in range(3):
        ours(f"sendMessage -t {topic} -p body-{number} -b broker-a -i 1")
    listed = found(ours, f"printMsgByQueue -t {topic} -a broker-a -i 1", 3)
    assert [one["body"] for one in listed] == ["body-0", "body-1", "body-2"]
    line = f"printMsgByQueue -t {topic} -a broker-a -i 1 -p true -d true"
    assert [one["msgId"] for one in listed] == ask_mqadmin(mqadmin, line, r"MSGID: (\w+)")

    assert ours(f"consumeMessage -t {topic} -b broker-a -i 1 -o 1 -c 1") == listed[1:2]
    assert ours(f"consumeMessage -t {topic}") == listed
    assert ours(f"consumeMessage -t {topic} -b broker-a -i 0") == []
    for line in (
        f"consumeMessage -b broker-a -t {topic}",
        f"printMsgByQueue -a broker-a -t {topic}",
    ):
        for number in (2, -1):
            assert ours(f"{line} -i {number}") is None
            assert ours.status == 1
            assert f"topic {topic} has no queue {number} in broker-a" in ours.error

    address = java_cluster.master.address
    entries = ours(f"queryCq -t {topic} -q 1 -i 1 -c 2 -b {address}")
    told = mqadmin(f"queryCq -t {topic} -q 1 -i 1 -c 2 -b {address}")
    pairs = re.findall(r"physicOffset=(\d+), physicSize=(\d+)", told)
    assert [(str(one["physicOffset"]), str(one["physicSize"])) for one in entries] == pairs
    assert [one["index"] for one in entries] == [1, 2]
    ours(f"queryCq -t {unique('none')} -q 1 -i 1 -b {address}")
    assert ours.status == 1


def test_who_sent_a_message_is_told_from_its_trace(
    ours: Ours, mqadmin: Callable[[str], str], topic: str
) -> None:
    (sent,) = ours(f"sendMessage -t {topic} -p hello -m true")
    msg_id = sent["msgId"]
    (record,) = found(ours, f"queryMsgTraceById -i {msg_id}")
    assert (record["type"], record["group"], record["success"]) == (
        "Pub",
        "rocketwire-admin",
        True,
    )
    (line,) = ask_mqadmin(mqadmin, f"queryMsgTraceById -i {msg_id}", r"(?m)^Pub.*$")
    assert line.split()[1] == "rocketwire-admin"
    assert line.split()[-1] == "success"


def test_how_long_sends_take_is_measured(java_cluster: JavaCluster, ours: Ours, topic: str) -> None:
    *sent, average = ours(f"checkMsgSendRT -t {topic} -a 5 -s 10")
    assert [one["queueId"] for one in sent] == [0, 1, 0, 1, 0]
    assert all(one["success"] and one["millis"] > 0 for one in sent)
    assert average["millis"] > 0
    found(ours, f"consumeMessage -t {topic}", 5)
    stored = ours(f"topicStatus -t {topic}")
    assert sorted(one["maxOffset"] for one in stored) == [2, 3]

    ((cluster, broker, failed),) = (
        (one["clusterName"], one["brokerName"], one["failCount"])
        for one in ours("clusterRT -a 2 -c DefaultCluster")
    )
    assert (cluster, broker, failed) == ("DefaultCluster", "broker-a", 0)
    sent = ours("sendMsgStatus -b broker-a -c 2")
    assert [one["status"] for one in sent] == ["SEND_OK"] * 2
    ours("clusterRT -c nowhere")
    assert (ours.status, "nowhere" in ours.error) == (1, True)


def test_messages_are_found_by_tag_and_sent_again_as_by_mqadmin(
    ours: Ours, mqadmin: Callable[[str], str], topic: str
) -> None:
    ids = [
        ours(f"sendMessage -t {topic} -p body-{at} -c {tag} -k key-{at} -b broker-a -i 1")[0][
            "msgId"
        ]
        for at, tag in enumerate(("red", "blue", "red"))
    ]
    by_tag = found(ours, f"queryMsgByKey -t {topic} -k red -p T", 2)
    told = mqadmin(f"queryMsgByKey -t {topic} -k red -p T")
    rows = [line.split() for line in told.splitlines() if line.startswith(tuple(ids))]
    assert sorted((one["msgId"], one["indexKey"]) for one in by_tag) == sorted(
        (row[0], row[-1]) for row in rows
    )
    assert {one["msgId"] for one in by_tag} == {ids[0], ids[2]}
    (by_key,) = ours(f"queryMsgByKey -t {topic} -k key-1")
    assert by_key["indexKey"] in mqadmin(f"queryMsgByKey -t {topic} -k key-1")

    both = ours(f"queryMsgById -t {topic} -i {ids[0]},{ids[1]} -f utf-16-le")
    assert [one["msgId"] for one in both] == ids[:2]
    assert both[0]["body"] == b"body-0".decode("utf-16-le")
    told = mqadmin(f"queryMsgById -t {topic} -i {ids[0]},{ids[1]} -f utf-16le")
    assert both[0]["body"] in told

    for run, unit in ((ours, " -u unit"), (mqadmin, "")):
        run(f"queryMsgById -t {topic} -i {ids[1]} -s true{unit}")
    copies = found(ours, f"queryMsgByUniqueKey -t {topic} -i {ids[1]} -a", 3)
    assert [(one["keys"], one["tags"]) for one in copies] == [("key-1", "blue")] * 3
    early = copies[0]["storeTimestamp"]
    # Brokers' indexes know of seconds only, so that all three may be of the first one's.
    line = f"queryMsgByUniqueKey -t {topic} -i {ids[1]} -a"
    assert found(ours, f"{line} -s 0 -e {copies[-1]['storeTimestamp'] + 1}", 3) == copies
    assert not ours(f"{line} -s 0 -e {early - 1000}")
    assert ours(f"queryMsgById -t {topic} -i {ids[0]},{'0' * 32}") is None
    assert (ours.status, "0" * 32 in ours.error) == (1, True)


def test_the_tags_of_a_queue_are_counted_as_by_mqadmin(
    ours: Ours, mqadmin: Callable[[str], str], topic: str
) -> None:
    for tag in ("red", "blue", "red"):
        ours(f"sendMessage -t {topic} -p x -c {tag} -b broker-a -i 1")
    line = f"printMsgByQueue -t {topic} -a broker-a -i 1"
    listed = found(ours, line, 3)
    assert ours(f"{line} -f true") == [{"tag": "red", "count": 2}, {"tag": "blue", "count": 1}]
    counted = ask_mqadmin(mqadmin, f"{line} -f true", r"Tag: (\S+)\s+Count: (\d+)")
    assert counted == [("red", "2"), ("blue", "1")]
    assert ours(f"{line} -f true -p true") == {"messages": listed, "tags": {"red": 2, "blue": 1}}
    assert ours(f"{line} -p false") == []
    assert ours(f"printMsgByQueue -t {topic} -a broker-a -i 99") is None
    assert (ours.status, "has no queue 99 in broker-a" in ours.error) == (1, True)
