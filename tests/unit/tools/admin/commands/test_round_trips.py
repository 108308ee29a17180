"""Series of sends, some of them to a broker that does not answer."""

import pytest
import trio

from rocketwire.client import SendResult, SendStatus
from rocketwire.errors import BrokerError, RequestTimeoutError, RocketWireError, SendFailedError
from rocketwire.messages.message_queue import MessageQueue
from rocketwire_tools.admin.commands.produce import Series
from rocketwire_tools.cli.command import Incomplete, Table
from tests.support.values import require

TABLE = Table(("column",), ())
SENT = SendResult(
    status=SendStatus.SEND_OK,
    msg_id="1",
    offset_msg_id="2",
    message_queue=MessageQueue(topic="T", broker_name="b", queue_id=0),
    queue_offset=0,
)
SILENT = RequestTimeoutError("b:1", 310, 5.0)


class Broker:
    """Answers sends after the first ones, which fail, and counts all of them."""

    def __init__(self, *errors: RocketWireError) -> None:
        self.errors = list(errors)
        self.count = 0

    async def __call__(self) -> SendResult:
        self.count += 1
        await trio.lowlevel.checkpoint()
        if self.errors:
            raise self.errors.pop(0)
        return SENT


async def test_silent_broker_is_left_out(caplog: pytest.LogCaptureFixture) -> None:
    series, good, hung = Series(), Broker(), Broker(SILENT)
    brokers = {"a": good, "b": hung}
    results = [await series.send(name, brokers[name]) for name in "ababb"]

    assert [result and result.error for result in results] == [None, str(SILENT), None, None, None]
    assert [result is None for result in results] == [False, False, False, True, True]
    assert (good.count, hung.count) == (2, 1)
    assert series.finish(TABLE) == Incomplete(TABLE)
    assert caplog.messages == [f"left out: {SILENT}; 2 more not sent"]


async def test_tries_without_an_answer_are_none(caplog: pytest.LogCaptureFixture) -> None:
    series, error = Series(), SendFailedError("b", ("b", "b", "b"))
    error.__cause__ = SILENT
    gone = Broker(error)
    first, second = [await series.send("b", gone) for _ in range(2)]

    assert (require(first).result, second) == (None, None)
    assert series.finish(TABLE) == Incomplete(TABLE)
    assert caplog.messages == [f"left out: {require(first).error}; 1 more not sent"]


async def test_refusing_broker_gets_all_messages() -> None:
    series, busy = Series(), Broker(BrokerError(2, "busy", 310, "b:1"))
    results = [require(await series.send("b", busy)) for _ in range(2)]

    assert [result.result for result in results] == [None, SENT]
    assert series.finish(TABLE) == TABLE


async def test_silence_at_the_end_leaves_nothing_out() -> None:
    series, hung = Series(), Broker(SILENT)
    await series.send("b", hung)

    assert series.finish(TABLE) == TABLE


async def test_a_new_round_begins_with_every_broker(caplog: pytest.LogCaptureFixture) -> None:
    series, back = Series(), Broker(SILENT, SILENT)
    last_results: list[SendResult | None] = []
    for _ in range(3):
        series.reset()
        *_, last = [await series.send("b", back) for _ in range(3)]
        last_results.append(last and last.result)

    assert last_results == [None, None, SENT]
    assert back.count == 1 + 1 + 3
    series.finish(TABLE)
    assert caplog.messages == [f"left out: {SILENT}; 4 more not sent"]
