"""Messages sent, found, traced and listed by ``rocketwire-admin``, compared with mqadmin."""

import re
from typing import Any

import pytest

from tests.java.admin.commands import CLUSTER, Mqadmin, Ours
from tests.peers.messages import numbered, unique
from tests.peers.processes import wait_until


@pytest.fixture
def topic(ours: Ours) -> str:
    return ours.create_topic(unique("find"))


def ask_mqadmin(mqadmin: Mqadmin, line: str, pattern: str) -> list[Any]:
    # Return matches in mqadmin's output when there are any: on a busy machine its pulls sometimes return nothing.
    matches: list[Any] = []

    def is_printed() -> bool:
        matches.extend(re.findall(pattern, mqadmin(line)))
        return bool(matches)

    wait_until(is_printed, line)
    return matches


def test_a_message_is_found_by_key_and_by_id(ours: Ours, mqadmin: Mqadmin, topic: str) -> None:
    (sent,) = ours(f"sendMessage -t {topic} -p hello -k red -c tag -b broker-a -i 1")
    msg_id = sent["msgId"]
    assert (sent["brokerName"], sent["queueId"], sent["status"]) == ("broker-a", 1, "SEND_OK")

    line = f"queryMsgByKey -t {topic} -k red"
    (by_key,) = ours.wait_for_rows(line)
    assert (by_key["msgId"], by_key["queueId"], by_key["tags"]) == (msg_id, 1, "tag")
    assert ask_mqadmin(mqadmin, line, rf"{msg_id}\s+(\d+)\s+(\d+)")[0] == ("1", "0")
    line = f"queryMsgByUniqueKey -t {topic} -i {msg_id}"
    (listed,) = ours(f"{line} -a")
    assert {**listed, "indexKey": by_key["indexKey"]} == by_key
    described = ours(line)
    assert (described["body"], described["keys"], described["queueId"]) == ("hello", "red", 1)
    assert dict(re.findall(r"^(Queue ID|Queue Offset|Keys):\s+(\S+)$", mqadmin(line), re.M)) == {
        "Queue ID": "1",
        "Queue Offset": "0",
        "Keys": "[red]",
    }

    assert ours.expect_error(f"queryMsgByKey -t {topic} -k blue") == []
    line = f"queryMsgByUniqueKey -t {topic} -i {'0' * 32}"
    assert ours.expect_error(line, "no message") is None


def test_a_message_to_nowhere_is_refused(ours: Ours, topic: str) -> None:
    ours.expect_error(f"sendMessage -t {topic} -p x -i 1", "--broker", status=2)
    ours.expect_error(f"sendMessage -t {topic} -p x -b broker-none", "broker-none")
    ours.expect_error(f"consumeMessage -t {topic} -o 1", status=2)


@pytest.mark.full
def test_a_long_list_ends_at_its_limit_with_the_number_of_messages(
    ours: Ours, topic: str, caplog: pytest.LogCaptureFixture
) -> None:
    ours.store(topic, numbered(1_003), queue_id=1, KEYS="key")
    queue = f"printMsgByQueue -t {topic} -a broker-a -i 1"
    ours.wait_for_rows(f"{queue} --max 0", 1_003)
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
    ours.wait_for_rows(f"queryMsgByKey -t {topic} -k key -m 5", 5)
    assert "listed 5 messages; there may be more" in caplog.text
    both = ours(f"{queue} -f true -p true --max 2")
    assert (len(both["messages"]), both["tags"]) == (2, {"": 1_003})


def test_a_queue_and_its_entries_are_listed(ours: Ours, mqadmin: Mqadmin, topic: str) -> None:
    for number in range(3):
        ours(f"sendMessage -t {topic} -p body-{number} -b broker-a -i 1")
    line = f"printMsgByQueue -t {topic} -a broker-a -i 1"
    messages = ours.wait_for_rows(line, 3)
    assert [row["body"] for row in messages] == ["body-0", "body-1", "body-2"]
    printed = ask_mqadmin(mqadmin, f"{line} -p true -d true", r"MSGID: (\w+)")
    assert [row["msgId"] for row in messages] == printed

    consume = f"consumeMessage -t {topic}"
    assert ours(f"{consume} -b broker-a -i 1 -o 1 -c 1") == messages[1:2]
    assert ours(consume) == messages
    assert ours(f"{consume} -b broker-a -i 0") == []
    for command in (f"{consume} -b", f"printMsgByQueue -t {topic} -a"):
        for number in (2, -1):
            reason = f"topic {topic} has no queue {number} in broker-a"
            assert ours.expect_error(f"{command} broker-a -i {number}", reason) is None

    line = f"queryCq -t {topic} -q 1 -i 1 -c 2 -b {ours.broker}"
    entries = ours(line)
    pairs = re.findall(r"physicOffset=(\d+), physicSize=(\d+)", mqadmin(line))
    assert [(str(row["physicOffset"]), str(row["physicSize"])) for row in entries] == pairs
    assert [row["index"] for row in entries] == [1, 2]
    ours.expect_error(f"queryCq -t {unique('none')} -q 1 -i 1 -b {ours.broker}")


def test_the_sender_of_a_message_is_in_its_trace(ours: Ours, mqadmin: Mqadmin, topic: str) -> None:
    (sent,) = ours(f"sendMessage -t {topic} -p hello -m true")
    line = f"queryMsgTraceById -i {sent['msgId']}"
    (record,) = ours.wait_for_rows(line)
    group = "rocketwire-admin"
    assert (record["type"], record["group"], record["success"]) == ("Pub", group, True)
    (printed,) = ask_mqadmin(mqadmin, line, r"(?m)^Pub.*$")
    assert (printed.split()[1], printed.split()[-1]) == (group, "success")


def test_the_time_of_sends_is_measured(ours: Ours, topic: str) -> None:
    *sends, average = ours(f"checkMsgSendRT -t {topic} -a 5 -s 10")
    assert [row["queueId"] for row in sends] == [0, 1, 0, 1, 0]
    assert all(row["success"] and row["millis"] > 0 for row in sends)
    assert average["millis"] > 0
    ours.wait_for_rows(f"consumeMessage -t {topic}", 5)
    assert sorted(row["maxOffset"] for row in ours(f"topicStatus -t {topic}")) == [2, 3]

    (row,) = ours(f"clusterRT -a 2 -c {CLUSTER}")
    assert (row["clusterName"], row["brokerName"], row["failCount"]) == (CLUSTER, "broker-a", 0)
    assert [row["status"] for row in ours("sendMsgStatus -b broker-a -c 2")] == ["SEND_OK"] * 2
    ours.expect_error("clusterRT -c nowhere", "nowhere")


def test_messages_are_found_by_tag_and_sent_again_as_by_mqadmin(
    ours: Ours, mqadmin: Mqadmin, topic: str
) -> None:
    line = f"sendMessage -t {topic} -b broker-a -i 1"
    ids = [
        ours(f"{line} -p body-{number} -c {tag} -k key-{number}")[0]["msgId"]
        for number, tag in enumerate(("red", "blue", "red"))
    ]
    line = f"queryMsgByKey -t {topic} -k red -p T"
    by_tag = ours.wait_for_rows(line, 2)
    printed = [row.split() for row in mqadmin(line).splitlines() if row.startswith(tuple(ids))]
    assert sorted((row["msgId"], row["indexKey"]) for row in by_tag) == sorted(
        (words[0], words[-1]) for words in printed
    )
    assert {row["msgId"] for row in by_tag} == {ids[0], ids[2]}
    (by_key,) = ours(f"queryMsgByKey -t {topic} -k key-1")
    assert by_key["indexKey"] in mqadmin(f"queryMsgByKey -t {topic} -k key-1")

    both = ours(f"queryMsgById -t {topic} -i {ids[0]},{ids[1]} -f utf-16-le")
    assert [row["msgId"] for row in both] == ids[:2]
    assert both[0]["body"] == b"body-0".decode("utf-16-le")
    line = f"queryMsgById -t {topic} -i {ids[0]},{ids[1]} -f utf-16le"
    assert both[0]["body"] in mqadmin(line)

    for run, unit in ((ours, " -u unit"), (mqadmin, "")):
        run(f"queryMsgById -t {topic} -i {ids[1]} -s true{unit}")
    line = f"queryMsgByUniqueKey -t {topic} -i {ids[1]} -a"
    copies = ours.wait_for_rows(line, 3)
    assert [(row["keys"], row["tags"]) for row in copies] == [("key-1", "blue")] * 3
    # Brokers' indexes know of seconds only, so that all three may be of the first one's.
    end = copies[-1]["storeTimestamp"] + 1
    assert ours.wait_for_rows(f"{line} -s 0 -e {end}", 3) == copies
    assert not ours(f"{line} -s 0 -e {copies[0]['storeTimestamp'] - 1000}")
    line = f"queryMsgById -t {topic} -i {ids[0]},{'0' * 32}"
    assert ours.expect_error(line, "0" * 32) is None


def test_tags_of_a_queue_are_counted_as_by_mqadmin(
    ours: Ours, mqadmin: Mqadmin, topic: str
) -> None:
    for tag in ("red", "blue", "red"):
        ours(f"sendMessage -t {topic} -p x -c {tag} -b broker-a -i 1")
    line = f"printMsgByQueue -t {topic} -a broker-a -i 1"
    messages = ours.wait_for_rows(line, 3)
    assert ours(f"{line} -f true") == [{"tag": "red", "count": 2}, {"tag": "blue", "count": 1}]
    counts = ask_mqadmin(mqadmin, f"{line} -f true", r"Tag: (\S+)\s+Count: (\d+)")
    assert counts == [("red", "2"), ("blue", "1")]
    assert ours(f"{line} -f true -p true") == {"messages": messages, "tags": {"red": 2, "blue": 1}}
    assert ours(f"{line} -p false") == []
    line = f"printMsgByQueue -t {topic} -a broker-a -i 99"
    assert ours.expect_error(line, "has no queue 99 in broker-a") is None
