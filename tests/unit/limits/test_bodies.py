"""The largest bodies that brokers write are read; a larger one is refused, and the next one is read."""

import pytest

from rocketwire.client import ClientConfig, open_client
from rocketwire.client.consumer.pulled_messages import read_messages
from rocketwire.codes import RequestCode, ResponseCode
from rocketwire.errors import DecodeError, LimitExceededError
from rocketwire.flags import MessageSysFlag
from rocketwire.messages import decode_body
from rocketwire.messages.groups import SubscriptionGroupList
from rocketwire.messages.queries import ConsumeStats
from rocketwire.testing import open_network, reply
from rocketwire.wire.json.limits import ANSWER_LIMITS
from rocketwire.wire.message.batch import (
    MAX_BATCH_MESSAGES,
    BatchMessage,
    decode_batch,
    encode_batch,
)
from rocketwire.wire.message.body_compression import CompressionType
from rocketwire.wire.message.lazy_reader import StoredMessageReader
from rocketwire.wire.message.stored import StoredMessage, encode_stored_message
from tests.support.fakes.sansio_server import Server, identity, registration_body
from tests.support.values import require

BROKER = "10.0.0.2:10911"
QUEUE = b'{"brokerName":"broker-a","queueId":%d,"topic":"a-topic-of-usual-length-%d"}'
PLACE = b'{"brokerOffset":%d,"consumerOffset":%d,"lastTimestamp":1700000000000,"pullOffset":%d}'


def encode_stats(queues: int) -> bytes:
    rows = (QUEUE % (n % 16, n // 16) + b":" + PLACE % (n, n, n) for n in range(queues))
    return b'{"consumeTps":0.0,"offsetTable":{%b}}' % b",".join(rows)


async def count_queues(*answers: bytes) -> list[int]:
    """Count the queues that a client reads in each answer; -1 if it refuses the answer."""
    bodies = list(answers)
    counts: list[int] = []
    async with open_network() as network:
        network.peer(BROKER).on(RequestCode.GET_CONSUME_STATS, lambda _: reply(body=bodies.pop(0)))
        config = ClientConfig(namesrv_addr="10.0.0.1:9876")
        async with open_client(config, environment={}, connect=network.connect) as client:
            while bodies:
                try:
                    answer = await client.brokers.call(BROKER, RequestCode.GET_CONSUME_STATS)
                except DecodeError:
                    counts.append(-1)
                else:
                    assert isinstance(answer.body, ConsumeStats)
                    counts.append(len(answer.body.offset_table or {}))
    return counts


async def test_stats_of_too_many_values_are_refused_and_the_next_answer_read() -> None:
    endless = b'{"offsetTable":{%b}}' % b",".join([b"{}:{}"] * 1_000_001)

    assert await count_queues(endless, encode_stats(3)) == [-1, 3]


def register_twice(body: bytes) -> list[int]:
    """Register with a body and with a small one; return the codes of the answers."""
    server, bodies = Server(), (body, registration_body(("TA", "TB")))
    return [server.ask(RequestCode.REGISTER_BROKER, identity(), body).code for body in bodies]


def test_a_body_of_a_million_values_is_refused_and_the_next_one_taken() -> None:
    body = b"[%b]" % b",".join([b"1"] * 1_000_001)

    assert register_twice(body) == [ResponseCode.SYSTEM_ERROR, ResponseCode.SUCCESS]


def test_an_odd_body_beyond_its_limit_is_refused_and_the_next_one_taken() -> None:
    body = b'{"topicConfigSerializeWrapper":{%b}}' % b",".join([b"{}:0"] * 262_144)

    assert register_twice(body) == [ResponseCode.SYSTEM_ERROR, ResponseCode.SUCCESS]


def test_a_batch_of_as_many_messages_as_fit_the_greatest_size_is_read() -> None:
    message = BatchMessage(body=b"x", properties={"UNIQ_KEY": "0" * 32, "WAIT": "true"})
    number = 4 * 1024 * 1024 // len(encode_batch([message]))
    assert number < MAX_BATCH_MESSAGES

    assert len(decode_batch(encode_batch([message] * number))) == number


@pytest.mark.parametrize(
    "inner",
    [
        [BatchMessage(body=b"")] * (MAX_BATCH_MESSAGES + 1),
        [BatchMessage(body=b"", properties={f"{number}": "v" for number in range(4000)})] * 66,
    ],
    ids=["messages", "properties"],
)
def test_a_batch_of_more_is_refused_and_the_messages_around_it_are_read(
    inner: list[BatchMessage],
) -> None:
    with pytest.raises(LimitExceededError):
        decode_batch(encode_batch(inner))

    batch = StoredMessage(
        topic="T",
        body=encode_batch(inner),
        queue_offset=1,
        sys_flag=int(MessageSysFlag.INNER_BATCH | MessageSysFlag.NEED_UNWRAP),
        properties={"INNER_NUM": str(len(inner))},
    )
    first, last = (StoredMessage(topic="T", body=b"x", queue_offset=n) for n in (0, 99_999))

    pulled = read_messages(b"".join(map(encode_stored_message, (first, batch, last))), None)

    assert [message.queue_offset for message in pulled.messages] == [0, 99_999]
    assert len(pulled.unreadable) == 1


def test_a_zstd_body_with_too_much_history_is_skipped_alone() -> None:
    flags = int(MessageSysFlag.COMPRESSED | CompressionType.ZSTD.sys_flag)
    window_of_256_mib = bytes.fromhex("28b52ffd0090010000")
    parts = [
        StoredMessage(topic="T", body=b"x", queue_offset=0),
        StoredMessage(topic="T", body=window_of_256_mib, queue_offset=1, sys_flag=flags),
        StoredMessage(topic="T", body=b"x", queue_offset=2),
    ]

    read = StoredMessageReader().read(b"".join(map(encode_stored_message, parts)))

    assert [message.queue_offset for message in read.messages] == [0, 2]
    assert [skipped.queue_offset for skipped in read.unreadable] == [1]


def test_the_groups_of_a_large_cluster_are_read() -> None:
    group = (
        b'{"attributes":{},"brokerId":0,"consumeBroadcastEnable":true,"consumeEnable":true,'
        b'"consumeFromMinEnable":true,"consumeMessageOrderly":false,"consumeTimeoutMinute":15,'
        b'"groupName":"group-%d","groupRetryPolicy":{"type":"CUSTOMIZED"},"groupSysFlag":0,'
        b'"notifyConsumerIdsChangedEnable":true,"retryMaxTimes":16,"retryQueueNums":1,'
        b'"whichBrokerWhenConsumeSlowly":1}'
    )
    body = b'{"groupConfigList":[%b]}' % b",".join(group % number for number in range(35_000))
    assert len(body) < ANSWER_LIMITS.max_size

    groups = require(decode_body(SubscriptionGroupList, body, limits=ANSWER_LIMITS))

    assert len(groups.group_config_list or ()) == 35_000
