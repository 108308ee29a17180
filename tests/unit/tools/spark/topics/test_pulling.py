"""The strides of a range, with a scripted broker."""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
import trio
import trio.testing

from rocketwire.codes import RequestCode, ResponseCode
from rocketwire.testing import reply
from rocketwire.wire.command import RemotingCommand
from rocketwire_tools.spark.topics import pulling
from rocketwire_tools.spark.topics.loss import DataLossError
from rocketwire_tools.spark.topics.offsets import QueueRange
from rocketwire_tools.spark.topics.options import PullSettings
from rocketwire_tools.spark.topics.pulling import PullFailedError, RangePull, open_pull
from tests.support.fakes.storing_cluster import StoringCluster, connect

SETTINGS = PullSettings(group="readers", patience=12.0)


class Broker:
    """A queue of messages of one size, pulled by offset.

    Attributes:
        maximum: messages of an answer at most.
        size: bytes of a body of an answer for each of its messages.
    """

    def __init__(self, count: int, *, maximum: int = 32, size: int = 10) -> None:
        self.count, self.maximum, self.size = count, maximum, size
        self.first = 0
        self.pulls: list[tuple[int, int]] = []  #: offset and maximum of messages of each pull
        self.refuse: Callable[[int], RemotingCommand | None] = lambda _: None

    def pull(self, request: RemotingCommand) -> RemotingCommand:
        fields = request.ext_fields or {}
        offset, maximum = int(fields["queueOffset"]), int(fields["maxMsgNums"])
        self.pulls.append((offset, maximum))
        refusal = self.refuse(offset)
        if refusal is not None:
            return refusal
        count = min(maximum, self.maximum, self.count - offset)
        body = b"%9d;" % offset * max(1, self.size // 10) * count
        return self.answer(ResponseCode.SUCCESS, offset + count, body)

    def answer(self, code: int, offset: int, body: bytes | None = None) -> RemotingCommand:
        fields = {
            "nextBeginOffset": str(offset),
            "minOffset": str(self.first),
            "maxOffset": str(self.count),
            "suggestWhichBrokerId": "0",
        }
        return reply(ext_fields=fields, code=code, body=body)


@asynccontextmanager
async def open_range(
    broker: Broker, begin: int, end: int, settings: PullSettings = SETTINGS, *, broker_id: int = 0
) -> AsyncGenerator[RangePull]:
    """The pulls of a range of the broker's queue."""
    cluster = StoringCluster(t=1)
    cluster.broker_id = broker_id
    async with connect(cluster) as client:
        cluster.broker.on(RequestCode.PULL_MESSAGE, broker.pull)
        place = QueueRange(topic="t", broker="a", queue_id=0, begin=begin, end=end)
        async with open_pull(client, place, settings) as pull:
            yield pull


def read(broker: Broker, *arguments: Any, **options: Any) -> list[Any]:
    """All chunks of a range; arguments as of ``open_range``."""
    chunks: list[Any] = []

    async def main() -> Exception | None:
        async with open_range(broker, *arguments, **options) as pull:
            try:
                while (chunk := await pull.next_chunk()) is not None:
                    chunks.append(chunk)
            except (PullFailedError, DataLossError) as error:  # outside of groups of trio
                return error
        return None

    error = trio.run(main, clock=trio.testing.MockClock(autojump_threshold=0))
    if error is not None:
        raise error
    return chunks


def offsets(chunks: list[Any]) -> list[int]:
    return [
        int(text) for chunk in chunks for body in chunk.bodies for text in body.split(b";")[:-1]
    ]


def test_strides_are_as_long_as_the_first_answer() -> None:
    broker = Broker(1000, maximum=64)

    chunks = read(broker, 0, 1000)

    assert broker.pulls[0] == (0, 1000)
    assert sorted(broker.pulls[1:]) == [
        (offset, min(64, 1000 - offset)) for offset in range(64, 1000, 64)
    ]
    assert [(chunk.begin, chunk.end) for chunk in chunks] == [(0, 1000)]
    assert offsets(chunks) == sorted(offsets(chunks))


def test_stride_goes_on_where_an_answer_was_short() -> None:
    broker = Broker(200, maximum=5)

    chunks = read(broker, 3, 200)

    assert len(offsets(chunks)) == 197
    assert len(broker.pulls) == -(-5 // 5) + sum(
        -(-min(32, 200 - offset) // 5) for offset in range(8, 200, 32)
    )


def test_chunks_have_about_two_megabytes_and_pulls_stay_a_little_ahead() -> None:
    broker = Broker(32 * 100, size=32_000)

    chunks = read(broker, 0, 3200)

    assert [chunk.begin for chunk in chunks[1:]] == [chunk.end for chunk in chunks[:-1]]
    sizes = [sum(map(len, chunk.bodies)) for chunk in chunks]
    assert all(pulling.CHUNK <= size < pulling.CHUNK + 2 * pulling.AHEAD for size in sizes[:-1])


def test_large_messages_are_not_pulled_far_ahead() -> None:
    size = 4 << 20
    broker = Broker(64, maximum=1, size=size)
    ahead: list[int] = []

    async def main() -> None:
        async with open_range(broker, 0, 64) as pull:
            taken = 0
            while (chunk := await pull.next_chunk()) is not None:
                await trio.sleep(1)  # Arrow and Spark take their time
                taken += len(chunk.bodies)
                ahead.append(len(broker.pulls) - taken + len(chunk.bodies))
            assert taken == 64

    trio.run(main, clock=trio.testing.MockClock(autojump_threshold=0))

    assert len(broker.pulls) == 64
    assert max(ahead) * size <= pulling.AHEAD + (pulling.LANES + 2) * size


def test_slow_reader_limits_the_pulls() -> None:
    broker = Broker(32 * 1000, size=32_000)

    async def main() -> None:
        async with open_range(broker, 0, 32_000) as pull:
            await pull.next_chunk()
            await trio.sleep(60)

    trio.run(main, clock=trio.testing.MockClock(autojump_threshold=0))

    maximum = (pulling.AHEAD + 2 * pulling.CHUNK) / (32 * 32_000) + 2 * pulling.LANES
    assert len(broker.pulls) <= maximum + 10


def test_filtered_pull_skips_other_messages() -> None:
    broker = Broker(2000)

    def refuse(offset: int) -> RemotingCommand | None:
        code = ResponseCode.PULL_RETRY_IMMEDIATELY
        return broker.answer(code, min(2000, offset + 800)) if offset < 1600 else None

    broker.refuse = refuse

    chunks = read(broker, 0, 2000, PullSettings(group="g", tags="A"))

    assert [(chunk.begin, chunk.end, chunk.lost) for chunk in chunks] == [(0, 2000, 0)]
    assert all(maximum == pulling.MAX_PULL for _, maximum in broker.pulls)


def test_skipped_messages_without_a_filter_are_lost(capsys: pytest.CaptureFixture[str]) -> None:
    broker = Broker(200)

    def refuse(offset: int) -> RemotingCommand | None:
        is_inside = 64 <= offset < 96
        return broker.answer(ResponseCode.PULL_RETRY_IMMEDIATELY, 96) if is_inside else None

    broker.refuse = refuse
    with pytest.raises(DataLossError, match="messages 64 to 95 are lost, the broker skipped them"):
        read(broker, 0, 200)

    chunks = read(broker, 0, 200, PullSettings(group="g", fails_on_loss=False))

    assert [chunk.lost for chunk in chunks] == [32]
    assert "messages 64 to 95 are lost" in capsys.readouterr().err


def test_consecutive_losses_are_reported_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    broker = Broker(400)

    def refuse(offset: int) -> RemotingCommand | None:
        end = 160 if 64 <= offset < 160 else 256 if 200 <= offset < 256 else None
        return broker.answer(ResponseCode.PULL_RETRY_IMMEDIATELY, end) if end else None

    broker.refuse = refuse

    chunks = read(broker, 0, 400, PullSettings(group="g", fails_on_loss=False))

    assert sum(chunk.lost for chunk in chunks) == 96 + 32
    lines = capsys.readouterr().err.splitlines()
    assert [line.partition("messages ")[2].partition(" are")[0] for line in lines] == [
        "64 to 159",
        "224 to 255",
    ]


def test_reset_of_the_group_is_answered_once_and_read_over() -> None:
    broker = Broker(20)
    answers = [ResponseCode.PULL_OFFSET_MOVED]

    def refuse(offset: int) -> RemotingCommand | None:
        return broker.answer(answers.pop(), 3) if answers else None

    broker.refuse = refuse

    assert len(offsets(read(broker, 0, 20))) == 20


@pytest.mark.parametrize(
    "fields", [None, {}, {"nextBeginOffset": "5", "minOffset": "x", "maxOffset": "9" * 30}]
)
def test_answers_without_offsets_are_invalid(fields: dict[str, str] | None) -> None:
    broker = Broker(20)
    broker.refuse = lambda _: reply(ext_fields=fields or {}, code=ResponseCode.PULL_NOT_FOUND)

    with pytest.raises(PullFailedError, match="sends invalid answers to pulls"):
        read(broker, 0, 20)


def test_answer_that_does_not_go_on_is_invalid() -> None:
    broker = Broker(20)
    broker.refuse = lambda offset: broker.answer(ResponseCode.SUCCESS, offset, b"x")

    with pytest.raises(PullFailedError, match="sends invalid answers to pulls"):
        read(broker, 0, 20)


def test_slave_that_catches_up_loses_nothing() -> None:
    broker = Broker(20)
    answers = [ResponseCode.PULL_NOT_FOUND, ResponseCode.PULL_OFFSET_MOVED] * 2

    def refuse(offset: int) -> RemotingCommand | None:
        return broker.answer(answers.pop(), offset) if offset >= 10 and answers else None

    broker.maximum, broker.refuse = 10, refuse

    assert len(offsets(read(broker, 0, 20))) == 20


def answer_late(broker: Broker, seconds: float) -> Callable[[int], RemotingCommand | None]:
    """Answers of a broker that has its last messages after some seconds."""
    start: list[float] = []

    def refuse(offset: int) -> RemotingCommand | None:
        if offset < 10:
            return None
        start.append(trio.current_time())
        is_early = start[-1] - start[0] < seconds
        return broker.answer(ResponseCode.PULL_NOT_FOUND, offset) if is_early else None

    return refuse


def test_slave_without_a_master_has_all_the_patience(capsys: pytest.CaptureFixture[str]) -> None:
    broker = Broker(20, maximum=10)
    broker.refuse = answer_late(broker, SETTINGS.patience / 2)
    assert len(offsets(read(broker, 0, 20, broker_id=1))) == 20

    settings = PullSettings(group="readers", patience=12.0, fails_on_loss=False)
    broker.refuse = answer_late(broker, SETTINGS.patience / 2)
    assert len(offsets(read(broker, 0, 20, settings))) == 10
    assert "messages 10 to 19 are lost, the broker that was asked" in capsys.readouterr().err
