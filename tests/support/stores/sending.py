"""Send to the broker, and record its responses."""

import random
import time
from collections.abc import Iterable, Sequence

from rocketwire.client import Message, Producer, ProducerConfig, SendResult, open_producer
from rocketwire.codes import RequestCode
from rocketwire.messages.message_queue import MessageQueue
from rocketwire.messages.send import SendMessageRequestHeaderV2
from rocketwire.wire.message.body_compression import CompressionType
from rocketwire.wire.message.properties import decode_properties
from tests.support.stores.cluster import BROKER_NAME, PATIENCE, Session
from tests.support.stores.truth import Sent, digest

PROLOGUE = b"The quick brown fox jumps over the lazy dog. "
NEVER = 1 << 30
"""Bytes from which on a producer compresses that shall not."""

_OWN_BY_SENDER = frozenset(("UNIQ_KEY", "WAIT"))


def now() -> int:
    return time.time_ns() // 1_000_000


def text_body(size: int, number: int = 0) -> bytes:
    start = b"%d. " % number
    return (start + PROLOGUE * (size // len(PROLOGUE) + 1))[:size]


def noise_body(size: int, seed: int = 0) -> bytes:
    return random.Random(seed).randbytes(size)


def describe_sent(
    message: Message, result: SendResult, born_from: int, *, number: int = 0, how: str = "single"
) -> Sent:
    """The response to the producer of a message, which has that number in its batch."""
    properties = {
        name: value
        for name, value in message.wire_properties().items()
        if name not in _OWN_BY_SENDER
    }
    unique_keys, ids = result.msg_id.split(","), result.offset_msg_id.split(",")
    return Sent(
        topic=message.topic,
        queue_id=result.message_queue.queue_id,
        queue_offset=result.queue_offset + number,
        offset_msg_id=ids[min(number, len(ids) - 1)],
        unique_key=unique_keys[min(number, len(unique_keys) - 1)],
        keys=tuple((message.keys,) if isinstance(message.keys, str) else message.keys),
        tags=message.tags,
        flag=message.flag,
        properties=properties,
        body_size=len(message.body),
        body_digest=digest(message.body),
        born_from=born_from,
        born_to=now(),
        how=how,
    )


class Sender:
    def __init__(self, session: Session) -> None:
        self.session = session
        self.sent: list[Sent] = []

    async def send_all(
        self,
        messages: Iterable[Message],
        queue_ids: Sequence[int] = (0,),
        *,
        compression: CompressionType | None = None,
    ) -> list[SendResult]:
        """Send messages to these queues in turn, each in a request.

        Args:
            compression: of bodies of 1024 bytes and more; None for not compressed.
        """
        config = ProducerConfig(
            send_msg_timeout=PATIENCE,
            compress_msg_body_over_howmuch=NEVER if compression is None else 1024,
            compress_type=compression or CompressionType.ZLIB,
        )
        results: list[SendResult] = []
        async with open_producer(self.session.client, "stores", config) as producer:
            for number, message in enumerate(messages):
                queue = self.queue(message.topic, queue_ids[number % len(queue_ids)])
                results.append(await self.send_by(producer, message, queue))
        return results

    async def send_by(
        self, producer: Producer, message: Message, queue: MessageQueue
    ) -> SendResult:
        started = now()
        result = await producer.send_to(message, queue)
        self.sent.append(describe_sent(message, result, started))
        return result

    async def send_batch(self, messages: Sequence[Message], queue_id: int = 0) -> SendResult:
        config = ProducerConfig(send_msg_timeout=PATIENCE, compress_msg_body_over_howmuch=NEVER)
        async with open_producer(self.session.client, "stores", config) as producer:
            started = now()
            queue = self.queue(messages[0].topic, queue_id)
            result = await producer.send_batch(messages, queue=queue)
        self.sent += [
            describe_sent(message, result, started, number=number, how="batch")
            for number, message in enumerate(messages)
        ]
        return result

    async def send_raw(
        self,
        topic: str,
        body: bytes,
        properties: str,
        *,
        queue_id: int = 0,
        sys_flag: int = 0,
        flag: int = 0,
        whole: bytes | None = None,
        born: int | None = None,
    ) -> Sent:
        """Send a request whose fields are exactly these.

        Args:
            whole: the body before compression, if it differs.
            born: the born timestamp; None for the time now.
        """
        born = now() if born is None else born
        header = SendMessageRequestHeaderV2(
            producer_group="stores",
            topic=topic,
            default_topic="TBW102",
            default_topic_queue_nums=4,
            queue_id=queue_id,
            sys_flag=sys_flag,
            born_timestamp=born,
            flag=flag,
            properties=properties,
            reconsume_times=0,
            unit_mode=False,
            max_reconsume_times=0,
            batch=False,
            broker_name=BROKER_NAME,
        )
        answer = await self.session.call(RequestCode.SEND_MESSAGE_V2, header, body)
        texts = decode_properties(properties)
        application = {name: text for name, text in texts.items() if name not in _OWN_BY_SENDER}
        self.sent.append(
            Sent(
                topic=topic,
                queue_id=answer.header.queue_id,
                queue_offset=answer.header.queue_offset,
                offset_msg_id=answer.header.msg_id,
                unique_key=texts.get("UNIQ_KEY", ""),
                keys=tuple(filter(None, texts.get("KEYS", "").split(" "))),  # as Java does
                tags=texts.get("TAGS"),
                flag=flag,
                properties=application,
                body_size=len(body if whole is None else whole),
                body_digest=digest(body if whole is None else whole),
                born_from=born,
                born_to=born,
                how="raw",
            )
        )
        return self.sent[-1]

    @staticmethod
    def queue(topic: str, queue_id: int) -> MessageQueue:
        return MessageQueue(topic=topic, broker_name=BROKER_NAME, queue_id=queue_id)
