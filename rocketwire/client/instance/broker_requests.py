"""Serves the requests that brokers send to a client, by the producer or consumer of the group.

If this client does not have the group, the response is code 1, as in Java; a one-way request is
ignored.

Java: ``ClientRemotingProcessor``.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Final, Protocol

from rocketwire.client.instance.task_stacks import task_stacks
from rocketwire.client.outages import Outages
from rocketwire.codes import RequestCode as Code
from rocketwire.codes import ResponseCode
from rocketwire.errors import DecodeError
from rocketwire.messages import decode_body, decode_header, encode_body
from rocketwire.messages.callbacks import (
    ConsumeMessageDirectlyResultRequestHeader,
    GetConsumerRunningInfoRequestHeader,
    GetConsumerStatusBody,
    GetConsumerStatusRequestHeader,
    NotifyConsumerIdsChangedRequestHeader,
)
from rocketwire.messages.message_queue import MessageQueue
from rocketwire.messages.offsets import (
    ResetOffsetBody,
    ResetOffsetBodyForC,
    ResetOffsetRequestHeader,
)
from rocketwire.messages.send import ReplyMessageRequestHeader
from rocketwire.messages.transactions import CheckTransactionStateRequestHeader
from rocketwire.versions import MQVersion
from rocketwire.wire.command import RemotingCommand
from rocketwire.wire.json.limits import ANSWER_LIMITS
from rocketwire.wire.message.lazy_reader import decode_stored_messages

if TYPE_CHECKING:
    from rocketwire.client.config import ClientConfig
    from rocketwire.client.net.nameservers import NameServers
    from rocketwire.client.net.pool import ChannelPool
    from rocketwire.messages.callbacks import ConsumeMessageDirectlyResult, ConsumerRunningInfo
    from rocketwire.messages.heartbeat import ConsumerData
    from rocketwire.messages.route import TopicRouteData
    from rocketwire.wire.message.stored import StoredMessage

_LOG: Final = logging.getLogger("rocketwire.client")

# Property of a half message: the producer group that decides its transaction
PRODUCER_GROUP: Final = "PGROUP"


class ProducerMember(Protocol):
    @property
    def group(self) -> str: ...  # an instance has one producer of a group

    def topics(self) -> Collection[str]: ...  # whose routes must be refreshed

    def route_changed(self, topic: str, route: TopicRouteData) -> None: ...

    # A broker checks a transaction (code 39). The result must go to ``address``; ``message`` is the
    # half message, with its real topic.
    async def check_transaction(
        self, address: str, header: CheckTransactionStateRequestHeader, message: StoredMessage
    ) -> None: ...

    # A reply arrived (code 326); returns whether this producer has sent the request.
    def reply_received(self, header: ReplyMessageRequestHeader, body: bytes) -> bool: ...


class ConsumerMember(Protocol):
    @property
    def group(self) -> str: ...  # an instance has one consumer of a group

    def topics(self) -> Collection[str]: ...  # whose routes must be refreshed, and the retry topic

    def route_changed(self, topic: str, route: TopicRouteData) -> None: ...

    def heartbeat(self) -> ConsumerData: ...

    def rebalance_soon(self) -> None: ...  # the members of the group may have changed (code 40)

    # At an operator's request (code 220)
    async def reset_offsets(self, topic: str, offsets: Mapping[MessageQueue, int]) -> None: ...

    # Of the assigned queues (code 221)
    def offsets(self, topic: str) -> Mapping[MessageQueue, int]: ...

    def running_info(self) -> ConsumerRunningInfo: ...  # code 307, without name servers and version

    # At an operator's request (code 309)
    async def consume_directly(
        self, message: StoredMessage, broker_name: str
    ) -> ConsumeMessageDirectlyResult: ...


class Members(Protocol):
    """The attributes of a client instance that ``BrokerRequests`` uses."""

    config: ClientConfig
    pool: ChannelPool
    name_servers: NameServers
    producers: dict[str, ProducerMember]
    consumers: dict[str, ConsumerMember]


class BrokerRequests:
    def __init__(self, instance: Members) -> None:
        self._instance = instance
        self._outages = Outages()

    def install(self) -> None:
        for code, handler in (
            (Code.CHECK_TRANSACTION_STATE, self._check_transaction),
            (Code.NOTIFY_CONSUMER_IDS_CHANGED, self._ids_changed),
            (Code.RESET_CONSUMER_CLIENT_OFFSET, self._reset_offsets),
            (Code.GET_CONSUMER_STATUS_FROM_CLIENT, self._status),
            (Code.GET_CONSUMER_RUNNING_INFO, self._running_info),
            (Code.CONSUME_MESSAGE_DIRECTLY, self._consume_directly),
            (Code.PUSH_REPLY_MESSAGE_TO_CLIENT, self._reply),
        ):
            self._instance.pool.handle(code, handler)

    async def _check_transaction(self, address: str, request: RemotingCommand) -> None:
        message = _decode_message(request)
        group = (message.properties or {}).get(PRODUCER_GROUP) or ""
        producer = self._instance.producers.get(group)
        if producer is None:
            self._outages.report(
                f"transactions of group {group}",
                f"broker {address} checks a transaction, but there is no producer of the group",
                "open a producer of the group with check=...",
            )
            return
        self._outages.end(f"transactions of group {group}")
        header = decode_header(CheckTransactionStateRequestHeader, request.ext_fields)
        await producer.check_transaction(address, header, message)

    async def _ids_changed(self, _address: str, request: RemotingCommand) -> None:
        header = decode_header(NotifyConsumerIdsChangedRequestHeader, request.ext_fields)
        consumer = self._consumer(header.consumer_group)
        if consumer is not None:
            consumer.rebalance_soon()

    async def _reset_offsets(self, _address: str, request: RemotingCommand) -> None:
        header = decode_header(ResetOffsetRequestHeader, request.ext_fields)
        consumer = self._consumer(header.group)
        if consumer is not None:
            await consumer.reset_offsets(header.topic or "", decode_reset_offsets(request.body))

    async def _status(self, _address: str, request: RemotingCommand) -> RemotingCommand:
        header = decode_header(GetConsumerStatusRequestHeader, request.ext_fields)
        consumer = self._consumer(header.group)
        offsets: Mapping[MessageQueue, int] = {}
        if consumer is not None:
            offsets = consumer.offsets(header.topic or "")
        return _success(GetConsumerStatusBody(message_queue_table=offsets))

    async def _running_info(self, _address: str, request: RemotingCommand) -> RemotingCommand:
        header = decode_header(GetConsumerRunningInfoRequestHeader, request.ext_fields)
        consumer = self._consumer(header.consumer_group)
        if consumer is None:
            return _no_consumer(header.consumer_group)
        info = consumer.running_info()
        config = self._instance.config
        properties = {
            "PROP_NAMESERVER_ADDR": "".join(
                f"{address};" for address in self._instance.name_servers.addresses
            ),
            "PROP_CLIENT_VERSION": MQVersion(config.version).name,
            **(info.properties or {}),
        }
        jstack = task_stacks() if header.jstack_enable else None
        return _success(replace(info, properties=properties, jstack=jstack))

    async def _consume_directly(self, _address: str, request: RemotingCommand) -> RemotingCommand:
        header = decode_header(ConsumeMessageDirectlyResultRequestHeader, request.ext_fields)
        consumer = self._consumer(header.consumer_group)
        if consumer is None:
            return _no_consumer(header.consumer_group)
        message = _decode_message(request)
        return _success(await consumer.consume_directly(message, header.broker_name or ""))

    async def _reply(self, _address: str, request: RemotingCommand) -> RemotingCommand:
        # respond 0 even if no producer waits for the reply, as Java does
        header = decode_header(ReplyMessageRequestHeader, request.ext_fields)
        body = request.body or b""
        producers = self._instance.producers.values()
        if not any(producer.reply_received(header, body) for producer in producers):
            _LOG.info("ignored a reply to a request that is no longer pending")
        return RemotingCommand(code=ResponseCode.SUCCESS)

    def _consumer(self, group: str | None) -> ConsumerMember | None:
        return self._instance.consumers.get(group or "")


def decode_reset_offsets(body: bytes | None) -> Mapping[MessageQueue, int]:
    # in the format for Java, or for C++ clients
    try:
        java_body = decode_body(ResetOffsetBody, body, limits=ANSWER_LIMITS)
    except DecodeError:
        cpp_body = decode_body(ResetOffsetBodyForC, body, limits=ANSWER_LIMITS)
        rows = (cpp_body.offset_table if cpp_body else None) or ()
        return {
            MessageQueue(
                broker_name=row.broker_name, queue_id=row.queue_id, topic=row.topic
            ): row.offset
            for row in rows
        }
    return (java_body.offset_table if java_body else None) or {}


def _success(body: object) -> RemotingCommand:
    return RemotingCommand(code=ResponseCode.SUCCESS, body=encode_body(body))


def _no_consumer(group: str | None) -> RemotingCommand:
    remark = f"this client has no consumer of group {group}"
    return RemotingCommand(code=ResponseCode.SYSTEM_ERROR, remark=remark)


def _decode_message(request: RemotingCommand) -> StoredMessage:
    messages = decode_stored_messages(request.body or b"")
    if not messages:
        raise DecodeError("the request contains no message", path="body")
    return messages[0]
