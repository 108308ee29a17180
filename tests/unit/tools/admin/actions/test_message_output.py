import os
from pathlib import Path

import pytest
import trio

from rocketwire.wire.message.stored import StoredMessage
from rocketwire_tools.admin.commands.consume import MessagePrinter, as_members
from rocketwire_tools.cli.stdio import JsonLines, Stop

MESSAGE = StoredMessage(
    topic="T",
    body="blåbær".encode(),
    properties={"UNIQ_KEY": "ID", "TAGS": "new", "KEYS": "k1 k2", "a": "5"},
    queue_id=3,
    queue_offset=7,
    reconsume_times=1,
)


def test_members_of_a_message() -> None:
    members = as_members(MESSAGE, "T", "broker-a")

    assert {
        "msgId": "ID",
        "topic": "T",
        "tags": "new",
        "keys": "k1 k2",
        "body": "blåbær",
        "brokerName": "broker-a",
        "queueId": 3,
        "queueOffset": 7,
        "reconsumeTimes": 1,
        "properties": {"UNIQ_KEY": "ID", "TAGS": "new", "KEYS": "k1 k2", "a": "5"},
    } == members
    assert ["msgId", "topic", "tags", "keys", "body"] == list(members)[:5]


def test_a_body_that_is_no_text_is_base64() -> None:
    members = as_members(StoredMessage(topic="T", body=b"\xff\x00"), "T", "b")

    assert (None, "/wA=") == (members["body"], members["bodyBase64"])
    assert "" == as_members(StoredMessage(topic="T", body=None), "T", "b")["body"]


def test_retry_has_the_topic_of_the_subscription() -> None:
    retry = StoredMessage(topic="%RETRY%g_T", body=b"x")

    assert "T" == as_members(retry, "T", "b")["topic"]


@pytest.fixture
def stop() -> Stop:
    return Stop()


async def test_limit_of_messages_ends_the_output(tmp_path: Path, stop: Stop) -> None:
    with (tmp_path / "out").open("wb") as file:
        printing = MessagePrinter(JsonLines(file.fileno()), "T", 2, stop)

        shown = [await printing.show(MESSAGE, "b") for _ in range(3)]

    assert [True, True, False] == shown
    assert (2, True, False) == (printing.printed, stop.is_requested, printing.is_short)
    assert 2 == len((tmp_path / "out").read_text().splitlines())


async def test_message_without_a_reader_is_not_printed(stop: Stop) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    printing = MessagePrinter(JsonLines(writer), "T", None, stop)

    shown = await printing.show(MESSAGE, "b")
    os.close(writer)

    assert (False, 0, True) == (shown, printing.printed, stop.is_requested)


async def test_wait_ends(
    tmp_path: Path, stop: Stop, autojump_clock: trio.testing.MockClock
) -> None:
    with (tmp_path / "out").open("wb") as file:
        printing = MessagePrinter(JsonLines(file.fileno()), "T", 5, stop)
        start = trio.current_time()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(printing.watch, 10.0)
            await trio.sleep(6)
            await printing.show(MESSAGE, "b")
            await stop.requested.wait()
            waited = trio.current_time() - start
            nursery.cancel_scope.cancel()

    assert 16 == pytest.approx(waited)
    assert (True, True) == (printing.timed_out, printing.is_short)
