"""Messages: find and read them, their traces, and requests to handle or send them again.

Java: ``MQAdminImpl``, ``DefaultMQAdminExtImpl``, ``QueryMsgByKeySubCommand``,
``QueryMsgByOffsetSubCommand``, ``PrintMessageSubCommand``, ``QueryMsgTraceByIdSubCommand``.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from rocketwire.client.addresses import join_address
from rocketwire.client.admin.clusters import ClusterCalls
from rocketwire.client.admin.consumers import Consumers
from rocketwire.client.admin.fanout import leave_out, read_from_each
from rocketwire.client.consumer.pull import PullCalls, PullRequest, PullStatus
from rocketwire.client.consumer.pulled_messages import ReadReport
from rocketwire.client.consumer.queues import find_master, get_queues
from rocketwire.client.consumer.retry import build_send_back_header
from rocketwire.client.periodic import now_millis
from rocketwire.client.trace import TRACE_TOPIC
from rocketwire.codes import RequestCode as Code
from rocketwire.codes import ResponseCode
from rocketwire.errors import (
    BrokerError,
    ChannelError,
    DecodeError,
    MissingPackageError,
)
from rocketwire.messages import encode_header
from rocketwire.messages import message_const as const
from rocketwire.messages.message_queue import MessageQueue
from rocketwire.messages.queries import QueryMessageRequestHeader, ViewMessageRequestHeader
from rocketwire.messages.transactions import ResumeCheckHalfMessageRequestHeader
from rocketwire.policy.resource_names import LMQ_PREFIX, has_own_route
from rocketwire.policy.subscription import subscription_data
from rocketwire.policy.trace_records import TraceContext, read_trace
from rocketwire.wire.message.ids import decode_offset_message_id
from rocketwire.wire.message.lazy_reader import StoredMessageReader, decode_stored_messages

if TYPE_CHECKING:
    from rocketwire.client.instance.instance import ClientInstance
    from rocketwire.messages.callbacks import ConsumeMessageDirectlyResult
    from rocketwire.wire.message.stored import StoredMessage

INDEX_OF_KEYS: Final = "K"
INDEX_OF_TAGS: Final = "T"
# Values of ``QueryMessageRequestHeader.index_type`` (Java: ``MessageConst.INDEX_TAG_TYPE``)
INDEX_OF_IDS: Final = "U"
# Messages of one unique key; brokers give no more (Java: ``QueryMessageProcessor``)
MAX_UNIQUE: Final = 32
HOUR_MILLIS: Final = 3_600_000  # unit by which entries of an index in RocksDB are sorted
FOREVER: Final = 2**63 - 1  # a time that never comes, in milliseconds
# Ext field: whether the key is a unique key (Java: ``MixAll.UNIQUE_MSG_QUERY_FLAG``)
UNIQUE_KEY_QUERY: Final = "_UNIQUE_KEY_QUERY"
# Consumer group of operators' pulls (Java: ``MixAll.TOOLS_CONSUMER_GROUP``)
TOOLS_GROUP: Final = "TOOLS_CONSUMER"


class Messages(ClusterCalls):
    """Requests for messages; ``TopicRouteNotFoundError`` for unknown topics.

    ``begin`` and ``end`` are the earliest and the latest store time, in milliseconds since 1970.
    """

    def __init__(self, client: ClientInstance, within: float) -> None:
        super().__init__(client, within)
        self._pulls = PullCalls(client)
        self._report = ReadReport(TOOLS_GROUP)

    # ------------------------------------------------------------------ one message

    async def by_offset_id(self, topic: str, offset_msg_id: str) -> StoredMessage:
        """Fetch a message by the broker's id, a position (code 33; Java: ``viewMessage``).

        Raises:
            DecodeError: the id is invalid.
            BrokerError: 1, the log has no message at that offset any more.
        """
        position = decode_offset_message_id(offset_msg_id)
        address = join_address(position.store_host.ip, position.store_host.port)
        header = ViewMessageRequestHeader(topic=topic, offset=position.commit_log_offset)
        messages = _messages_of(await self.body_of(address, Code.VIEW_MESSAGE_BY_ID, header))
        if len(messages) != 1:
            raise DecodeError(f"{len(messages)} messages instead of one", path="body")
        return messages[0]

    async def by_id(
        self, topic: str, msg_id: str, *, cluster: str | None = None
    ) -> StoredMessage | None:
        """Find a message by its id, the broker's or the sender's; None if there is none.

        Both have the same format. Java connects to the address in any id; this method only to
        addresses of known brokers. For ``cluster`` see ``by_unique_key``. Java:
        ``DefaultMQAdminExt.viewMessage``.
        """
        stored = await self._of_broker(topic, msg_id)
        if stored is not None:
            return stored
        messages = await self.by_unique_key(topic, msg_id, cluster=cluster)
        return messages[0] if messages else None

    async def _of_broker(self, topic: str, msg_id: str) -> StoredMessage | None:
        async def ask(_: str) -> StoredMessage:
            return await self.by_offset_id(topic, msg_id)

        try:
            host = decode_offset_message_id(msg_id).store_host
            ports = {address.rpartition(":")[2] for address in await self._clusters.replicas()}
            if str(host.port) not in ports:
                return None
            (message,) = (await read_from_each((join_address(host.ip, host.port),), ask)).values()
        except (DecodeError, BrokerError, ChannelError):
            return None  # then it is a sender's
        return message

    async def by_unique_key(
        self,
        topic: str,
        msg_id: str,
        *,
        begin: int = 0,
        end: int = FOREVER,
        cluster: str | None = None,
    ) -> tuple[StoredMessage, ...]:
        """Find messages by the sender's id; a retried send may have several (code 12).

        Java searches the last three days by default. Java: ``queryMessageByUniqKey``.

        Args:
            cluster: only on brokers of this one; of a lite topic's queue (``%LMQ%...``) the parent
                topic, mqadmin's ``-c``.
        """
        header = QueryMessageRequestHeader(
            topic=topic, key=msg_id, max_num=MAX_UNIQUE, begin_timestamp=begin, end_timestamp=end,
            index_type=INDEX_OF_IDS,
        )  # fmt: skip
        messages = await self._query(header, cluster, unique=True)
        return tuple(message for message in messages if message.msg_id == msg_id)

    async def by_key(
        self,
        topic: str,
        key: str,
        *,
        max_num: int = 64,
        begin: int = 0,
        end: int = FOREVER,
        cluster: str | None = None,
        last_key: str | None = None,
    ) -> tuple[StoredMessage, ...]:
        """Find messages by a key of the sender (code 12; Java: ``queryMessage``).

        Args:
            max_num: most messages of each broker.
            cluster: see ``by_unique_key``.
            last_key: continue after this entry of an index in RocksDB (``index_key``; since 5.5.0).
        """
        header = QueryMessageRequestHeader(
            topic=topic, key=key, max_num=max_num, begin_timestamp=begin, end_timestamp=end,
            index_type=INDEX_OF_KEYS, last_key=last_key,
        )  # fmt: skip
        return await self._indexed(header, cluster, lambda message: key in _keys(message))

    async def by_tag(
        self,
        topic: str,
        tag: str,
        *,
        max_num: int = 64,
        begin: int = 0,
        end: int = FOREVER,
        cluster: str | None = None,
        last_key: str | None = None,
    ) -> tuple[StoredMessage, ...]:
        """Find messages by a tag, from brokers that index tags (code 12, since 5.5.0).

        Java: ``queryMessage``. For the arguments see ``by_key``.
        """
        header = QueryMessageRequestHeader(
            topic=topic, key=tag, max_num=max_num, begin_timestamp=begin, end_timestamp=end,
            index_type=INDEX_OF_TAGS, last_key=last_key,
        )  # fmt: skip
        return await self._indexed(header, cluster, lambda message: _tag(message) == tag)

    async def _indexed(
        self,
        header: QueryMessageRequestHeader,
        cluster: str | None,
        holds: Callable[[StoredMessage], bool],
    ) -> tuple[StoredMessage, ...]:
        # query messages, and compare keys exactly: brokers compare hash codes only
        messages = await self._query(header, cluster, unique=False)
        topic = header.topic or ""
        is_routed = has_own_route(topic)  # messages of a lite topic are its parent's
        return tuple(
            message
            for message in messages
            if (message.topic == topic or not is_routed) and holds(message)
        )

    async def _query(
        self, header: QueryMessageRequestHeader, cluster: str | None, *, unique: bool
    ) -> list[StoredMessage]:
        topic = header.topic or ""
        addresses = list((await self._clusters.of_topic(topic, by=cluster)).values())
        if cluster is not None and has_own_route(topic):
            of_cluster = await self._clusters.replicas(cluster)
            addresses = [a for a in addresses if a in of_cluster]
        elif cluster is not None and topic.startswith(LMQ_PREFIX):
            header = replace(header, topic=cluster)
        fields = {**encode_header(header), UNIQUE_KEY_QUERY: str(unique).lower()}
        accepted = (ResponseCode.SUCCESS, ResponseCode.QUERY_NOT_FOUND)

        async def ask(address: str) -> tuple[StoredMessage, ...]:
            answer = await self.ask(
                address, Code.QUERY_MESSAGE, fields, accepted=accepted, within=self.within * 3
            )
            return _messages_of(answer.command.body)

        messages_by_address = await read_from_each(addresses, ask)
        return [message for messages in messages_by_address.values() for message in messages]

    # ------------------------------------------------------------------ reading queues

    async def at(self, queue: MessageQueue, offset: int) -> StoredMessage | None:
        """Fetch the message at an offset of a queue; None if there is none (code 11).

        Java: ``QueryMsgByOffsetSubCommand``.
        """
        messages = await self._pull(queue, offset, None, 1)
        return messages[1][0] if messages[1] and messages[1][0].queue_offset == offset else None

    async def walk(
        self,
        topic: str,
        *,
        begin: int | None = None,
        end: int | None = None,
        expression: str | None = None,
        queue: MessageQueue | None = None,
        by: str | None = None,
    ) -> AsyncGenerator[StoredMessage]:
        """Yield the messages of a topic, queue by queue (codes 29, 30, 31, 11).

        Close the generator (``contextlib.aclosing``) if you do not read it to its end. Within
        ``leaving_out`` it skips the remaining queues of a broker that does not respond.
        Java: ``PrintMessageSubCommand``.

        Args:
            begin: None for the oldest message.
            end: store time limit, exclusive; None for the current end.
            expression: tags, for example ``a || b``.
            queue: only this queue.
        """
        queues = await self._queues(topic, queue, by)
        errors: dict[str, ChannelError] = {}
        has_response = False
        for walked_queue in queues:
            address = await find_master(self.client, walked_queue)
            if address in errors:
                continue
            try:
                async with aclosing(
                    self._read(walked_queue, address, begin, end, expression)
                ) as messages:
                    async for message in messages:
                        yield message
            except ChannelError as error:
                errors[address] = leave_out(address, error)
            else:
                has_response = True
        if errors and not has_response:
            raise next(iter(errors.values()))

    async def _queues(
        self, topic: str, queue: MessageQueue | None, by: str | None
    ) -> tuple[MessageQueue, ...]:
        addresses = await self._clusters.of_topic(topic, by=by)
        if queue is not None:
            return (queue,)
        if has_own_route(topic):
            return await get_queues(self.client, topic)
        # they have one queue in each broker
        return tuple(MessageQueue(topic=topic, broker_name=name, queue_id=0) for name in addresses)

    async def _read(
        self,
        queue: MessageQueue,
        address: str,
        begin: int | None,
        end: int | None,
        expression: str | None,
    ) -> AsyncGenerator[StoredMessage]:
        brokers = self.client.brokers
        if begin is None:
            offset = await brokers.min_offset(address, queue)
        else:
            offset = await brokers.search_offset(address, queue, begin)
        last = await brokers.max_offset(address, queue)
        if end is not None:
            last = min(last, await brokers.search_offset(address, queue, end))
        while offset < last:
            offset, messages = await self._pull(queue, offset, expression, 32)
            for message in messages:
                if message.queue_offset < last:
                    yield message

    async def _pull(
        self, queue: MessageQueue, offset: int, expression: str | None, max_messages: int
    ) -> tuple[int, list[StoredMessage]]:
        request = PullRequest(
            queue=queue,
            offset=offset,
            group=TOOLS_GROUP,
            subscription=subscription_data(queue.topic or "", expression, version=now_millis()),
            max_msg_nums=max_messages,
            suspend_timeout=0,
            send_subscription=True,
        )
        result = await self._pulls.pull(request, within=self.within)
        self._report.report_pull(queue, result)
        if result.status is PullStatus.NO_NEW_MSG:
            return max(result.next_begin_offset, result.max_offset), []
        return max(result.next_begin_offset, offset + 1), result.messages

    # ------------------------------------------------------------------ traces and operations

    async def trace(
        self,
        msg_id: str,
        *,
        trace_topic: str = TRACE_TOPIC,
        max_num: int = 64,
        begin: int = 0,
        end: int = FOREVER,
    ) -> list[TraceContext]:
        """Fetch the trace of a message: its senders and consumers, in order of time (code 12).

        ``msg_id`` is the sender's, ``max_num`` limits the trace messages. Only clients with enabled
        trace are recorded, a few seconds later. Java: ``QueryMsgTraceByIdSubCommand``.
        """
        messages = await self.by_key(trace_topic, msg_id, max_num=max_num, begin=begin, end=end)
        records = (
            record
            for message in messages
            for record in read_trace((message.body or b"").decode("utf-8", "replace"))
            if record.msg_id == msg_id
        )
        unique = dict.fromkeys(records)
        return sorted(unique, key=lambda record: record.time_stamp or 0)

    async def consume_directly(
        self, group: str, client_id: str, topic: str, msg_id: str
    ) -> ConsumeMessageDirectlyResult | None:
        """Let a member of a group handle a message now (codes 33 or 12, 309).

        None if the message does not exist. Java: ``DefaultMQAdminExt.consumeMessageDirectly``.

        Raises:
            BrokerError: 206, the member is not connected; 207, it did not respond in time.
        """
        message = await self.by_id(topic, msg_id)
        if message is None:
            return None
        address = join_address(message.store_host.ip, message.store_host.port)
        return await Consumers(self.client, self.within).consume_directly(
            address, group, client_id, topic, message.offset_msg_id
        )

    async def send_back(
        self,
        message: StoredMessage,
        group: str,
        *,
        delay_level: int = 0,
        max_reconsume_times: int = 16,
    ) -> None:
        """Send a message back, so that a group gets it again (code 36).

        Java: ``consumerSendMessageBack``.

        Args:
            delay_level: -1 for a dead letter, 0 to let the broker choose, else 1 to 18.
            max_reconsume_times: attempts before a message becomes a dead letter.

        Raises:
            BrokerError: 26, the broker does not have the group; 1, the message has expired.
        """
        header = build_send_back_header(group, message, delay_level, max_reconsume_times)
        address = join_address(message.store_host.ip, message.store_host.port)
        await self.ask(address, Code.CONSUMER_SEND_MSG_BACK, header)

    async def resume_half(self, topic: str, msg_id: str) -> bool:
        """Let a broker check an expired half message again (code 323); returns whether it exists.

        Java: ``resumeCheckHalfMessage``. ``BrokerError`` 1: it could not be stored again.
        """
        message = await self.by_id(topic, msg_id)
        if message is None:
            return False
        header = ResumeCheckHalfMessageRequestHeader(topic=topic, msg_id=message.offset_msg_id)
        address = join_address(message.store_host.ip, message.store_host.port)
        await self.ask(address, Code.RESUME_CHECK_HALF_MESSAGE, header)
        return True


def _messages_of(body: bytes | None) -> tuple[StoredMessage, ...]:
    # a message whose body cannot be decompressed keeps it as it was stored
    try:
        read = StoredMessageReader().read(body or b"")
    except MissingPackageError:
        return decode_stored_messages(body or b"", decompress=False)
    messages = list(read.messages)
    for unreadable in read.unreadable:
        if unreadable.stored is None:
            raise unreadable.error
        messages.append(unreadable.stored)
    return (*messages, *decode_stored_messages(read.rest, decompress=False))


def index_key(message: StoredMessage, index_type: str, key: str) -> str:
    # Java: ``QueryMsgByKeySubCommand``; ``index_type`` is ``K`` for a key, ``T`` for a tag
    hour = message.store_timestamp - message.store_timestamp % HOUR_MILLIS
    return f"{hour}@{message.topic}@{index_type}@{key}@{message.msg_id}@{message.commit_log_offset}"


def _keys(message: StoredMessage) -> list[str]:
    return ((message.properties or {}).get(const.KEYS) or "").split(const.KEY_SEPARATOR)


def _tag(message: StoredMessage) -> str | None:
    return (message.properties or {}).get(const.TAGS)
