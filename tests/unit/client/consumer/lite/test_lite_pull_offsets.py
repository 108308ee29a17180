"""A lite pull consumer commits past messages that it never returns, and only handled ones."""

import pytest
import trio

from rocketwire.client.consumer.lite.lite_pull_consumer import open_lite_pull_consumer
from rocketwire.codes import RequestCode as Code
from rocketwire.codes import ResponseCode
from rocketwire.flags import MessageSysFlag
from rocketwire.messages.message_queue import MessageQueue
from rocketwire.messages.pull import PullMessageResponseHeader
from rocketwire.testing import reply
from rocketwire.wire.command import RemotingCommand
from rocketwire.wire.message.stored import StoredMessage, encode_stored_message
from tests.support.fakes.consumer_fakes import BROKER, world

QUEUE = MessageQueue(topic="orders", broker_name="b", queue_id=0)
BAD = int(MessageSysFlag.COMPRESSED)


class Log:
    """A queue from letters: ``x`` is unreadable, ``o`` has another tag, others are selected."""

    def __init__(self, letters: str) -> None:
        self.letters = letters

    async def pull(self, request: RemotingCommand) -> RemotingCommand:
        """The answer to a pull."""
        fields = request.ext_fields or {}
        first = int(fields["queueOffset"])
        end = len(self.letters)
        chosen = [
            StoredMessage(
                topic="orders",
                body=letter.encode(),
                queue_offset=offset,
                sys_flag=BAD if letter == "x" else 0,
                properties={"TAGS": "wanted"},
            )
            for offset, letter in enumerate(self.letters)
            if offset >= first and letter != "o"
        ]
        code = ResponseCode.SUCCESS
        if first == end:
            await trio.sleep(10)
            code = ResponseCode.PULL_NOT_FOUND
        elif not chosen:
            code = ResponseCode.PULL_RETRY_IMMEDIATELY
        header = PullMessageResponseHeader(
            next_begin_offset=end, min_offset=0, max_offset=end, suggest_which_broker_id=0
        )
        body = b"".join(map(encode_stored_message, chosen))
        return reply(header, body or None, code=code)


async def read_committed_offsets(letters: str, polls: int, *, seek: int | None = None) -> list[int]:
    """The offsets that a consumer stores of such a queue, which is polled so often."""
    async with world() as (network, client):
        broker = network.peer(BROKER)
        broker.on(Code.LITE_PULL_MESSAGE, Log(letters).pull)
        async with open_lite_pull_consumer(client, "g") as consumer:
            consumer.assign([QUEUE])
            await trio.sleep(2)
            for _ in range(polls):
                await consumer.poll(1)
            if seek is not None:
                consumer.go_back(QUEUE, seek)
            await consumer.commit()
        return [
            int((request.ext_fields or {})["commitOffset"])
            for request in broker.requests
            if request.code == Code.UPDATE_CONSUMER_OFFSET
        ]


@pytest.mark.parametrize(
    ("letters", "offset"),
    [("x", 1), ("xx", 2), ("oo", 2), ("1xx", 3), ("1oo", 3), ("x1", 2), ("1x2", 3), ("12", 2)],
)
async def test_the_committed_offset_includes_skipped_messages(
    autojump_clock: object, letters: str, offset: int
) -> None:
    assert (await read_committed_offsets(letters, polls=1))[-1] == offset


@pytest.mark.parametrize(("letters", "polls"), [("1xx", 0), ("", 1)])
async def test_no_offset_is_committed_without_a_polled_message(
    autojump_clock: object, letters: str, polls: int
) -> None:
    assert await read_committed_offsets(letters, polls) == []


async def test_seeking_back_commits_that_offset(autojump_clock: object) -> None:
    assert (await read_committed_offsets("1xx", polls=1, seek=0))[-1] == 0
