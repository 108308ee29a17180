"""Sending: 10, 310 and 320.

Java: ``SendMessageProcessor``, ``AbstractSendMessageProcessor``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, NamedTuple

from rocketwire.codes import RequestCode, ResponseCode
from rocketwire.errors import DecodeError, EncodeError
from rocketwire.flags import MessageSysFlag
from rocketwire.messages.message_const import (
    CLUSTER,
    DELAY,
    INNER_MULTI_DISPATCH,
    LITE_TOPIC,
    MSG_REGION,
    POP_CK,
    PRIORITY,
    REAL_TOPIC,
    TIMER_OUT_MS,
    TRACE_ON,
    UNIQ_KEY,
)
from rocketwire.policy.resource_names import RETRY_PREFIX, SEND_FORBIDDEN_TOPICS, lite_queue
from rocketwire.wire.message.batch import decode_batch
from rocketwire.wire.message.properties import (
    MAX_PROPERTIES_BYTES,
    decode_properties,
    encode_properties,
)
from rocketwire_broker.access.needs import sends_to
from rocketwire_broker.delayed.put_hooks import make_dead_letter, store_sent
from rocketwire_broker.delayed.timers import recall_handle
from rocketwire_broker.handlers.fields import FAQ, integer, text
from rocketwire_broker.handlers.names import topic_problem
from rocketwire_broker.handlers.priorities import choose_queue_by_priority
from rocketwire_broker.handlers.registry import handles
from rocketwire_broker.state.response import RefusedError, Response
from rocketwire_broker.storage.message import SENT_BY_CLIENT, Message
from rocketwire_broker.tables.topics import unit_flag

if TYPE_CHECKING:
    from rocketwire.messages.topic_config import TopicConfig
    from rocketwire.wire.command import RemotingCommand
    from rocketwire_broker.state.broker import Broker
    from rocketwire_broker.tables.peer import Peer

REGION: Final = {MSG_REGION: "DefaultRegion", TRACE_ON: "true"}
"""Fields of each answer to a send (Java: ``BrokerConfig.regionId``, ``traceOn``)."""

TOO_LARGE: Final = (
    "the message is illegal, maybe msg body or properties length not matched. "
    "msg body length limit {}B, msg properties length limit 32KB."
)

_LONG_NAMES: Final = (
    *("topic", "defaultTopic", "defaultTopicQueueNums", "queueId", "sysFlag", "bornTimestamp"),
    *("flag", "properties", "reconsumeTimes", "unitMode", "maxReconsumeTimes", "batch"),
)
_SHORT_NAMES: Final = ("b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m")
_LONG_CODES: Final = (RequestCode.SEND_MESSAGE, RequestCode.SEND_REPLY_MESSAGE)


_TYPE: Final = int(MessageSysFlag.TRANSACTION_MASK)
_PREPARED: Final = int(MessageSysFlag.TRANSACTION_PREPARED)
_INNER_BATCH: Final = int(MessageSysFlag.INNER_BATCH)


class SendFields(NamedTuple):
    """The header of a send; see ``messages.send.SendMessageRequestHeader``."""

    topic: str
    default_topic: str
    default_topic_queues: int
    queue_id: int
    sys_flag: int
    born_timestamp: int
    flag: int
    properties: str
    reconsume_times: int
    unit_mode: bool
    max_reconsume_times: int | None
    batch: bool


def read_send(request: RemotingCommand) -> SendFields:
    """Read the header of a send, with long names (10, 324) or short ones."""
    fields: Mapping[str, str] = request.ext_fields or {}
    names = _LONG_NAMES if request.code in _LONG_CODES else _SHORT_NAMES
    topic, default, queues, queue, sys, born, flag, properties, times, unit, max_tries, batch = (
        names
    )
    return SendFields(
        text(fields, topic),
        text(fields, default),
        integer(fields, queues),
        integer(fields, queue),
        integer(fields, sys),
        integer(fields, born),
        integer(fields, flag),
        fields.get(properties) or "",
        integer(fields, times, 0),
        fields.get(unit) == "true",
        integer(fields, max_tries) if max_tries in fields else None,
        fields.get(batch) == "true",
    )


@handles(RequestCode.SEND_MESSAGE, needs=sends_to("topic"))
@handles(RequestCode.SEND_MESSAGE_V2, RequestCode.SEND_BATCH_MESSAGE, needs=sends_to("b"))
def send(broker: Broker, request: RemotingCommand, peer: Peer, now: int) -> Response:
    header = read_send(request)
    if request.body is None:
        raise DecodeError("the body of the message is null", path="body")
    try:
        return _send(broker, header, request.body, peer, now)
    except RefusedError as refused:
        response = refused.response
        return response._replace(ext_fields={**REGION, **(response.ext_fields or {})})


def _send(broker: Broker, header: SendFields, body: bytes, peer: Peer, now: int) -> Response:
    topic = find_topic(broker, header, peer, now)
    queue_id = choose_queue(broker, header, topic, peer)
    message = Message(
        topic=header.topic,
        queue_id=queue_id,
        body=body,
        properties=decode_properties(header.properties),
        born_host=peer.host,
        flag=header.flag,
        sys_flag=_bits_of_client(header.sys_flag),
        born_timestamp=header.born_timestamp,
        reconsume_times=header.reconsume_times,
    )
    if header.topic.startswith(RETRY_PREFIX):
        _check_retry(broker, header, message, now)
    if header.batch:
        return _store_batch(broker, header, message, now)
    if message.sys_flag & _INNER_BATCH:
        limit = broker.config.max_message_size
        raise RefusedError(ResponseCode.MESSAGE_ILLEGAL, TOO_LARGE.format(limit))
    _mark_as_sent(message)
    message.properties.pop(POP_CK, None)
    if UNIQ_KEY not in message.properties:
        message.properties[UNIQ_KEY] = broker.new_unique_key(now)
    if message.properties.get(LITE_TOPIC):
        _choose_lmq(broker, message)
    message.properties |= REGION
    message.properties[CLUSTER] = broker.config.cluster_name
    check_size(broker, message)
    if PRIORITY in message.properties and not header.topic.startswith(RETRY_PREFIX):
        choose_queue_by_priority(message, topic)
    queue_id = message.queue_id  # that of a dead letter is another one
    try:
        position = store_sent(broker, message, now)
    except EncodeError as error:  # the name of another topic needs room, too
        limit = broker.config.max_message_size
        raise RefusedError(ResponseCode.MESSAGE_ILLEGAL, TOO_LARGE.format(limit)) from error
    fields = {
        **REGION,
        "msgId": broker.message_id(position.physical_offset),
        "queueId": str(queue_id),
        "queueOffset": str(position.queue_offset),
        "transactionId": message.properties[UNIQ_KEY],
    }
    handle = recall_handle(broker, message.properties)
    if handle is not None:
        fields["recallHandle"] = handle
    return Response(ext_fields=fields)


def _bits_of_client(sys_flag: int) -> int:
    # A half message has a property that marks it. Java stores other messages with these bits,
    # and puts them into no queue.
    return sys_flag & ~_TYPE if sys_flag & _PREPARED else sys_flag


def _mark_as_sent(message: Message) -> None:
    # It looks like a delivery after a time or like the end of a transaction. A copy that a client
    # sends must not end the waiting of another message.
    properties = message.properties
    if message.sys_flag & _TYPE or REAL_TOPIC in properties or TIMER_OUT_MS in properties:
        message.prepared_transaction_offset = SENT_BY_CLIENT


# ---------------------------------------------------------------------------- checks


def find_topic(broker: Broker, header: SendFields, peer: Peer, now: int) -> TopicConfig:
    name = header.topic
    topic = broker.topics.get(name)
    if topic is None or name in SEND_FORBIDDEN_TOPICS:
        problem = topic_problem(name)
        if problem is not None:
            raise RefusedError(ResponseCode.INVALID_PARAMETER, problem)
        if name in SEND_FORBIDDEN_TOPICS:
            remark = f"Sending message to topic[{name}] is forbidden."
            raise RefusedError(ResponseCode.NO_PERMISSION, remark)
    if topic is None:
        topic = broker.topics.create_by_send(
            name,
            header.default_topic,
            header.default_topic_queues,
            unit_flag(unit_mode=header.unit_mode),
            now,
        )
    if topic is None and name.startswith(RETRY_PREFIX):
        topic = broker.topics.create_for_group(name, 1, now)
    if topic is None:
        remark = f"topic[{name}] not exist, apply first please!\n{FAQ}"
        raise RefusedError(ResponseCode.TOPIC_NOT_EXIST, remark)
    return topic


def choose_queue(broker: Broker, header: SendFields, topic: TopicConfig, peer: Peer) -> int:
    """Return the queue of a send: the one that it names, or the next one if that is negative."""
    queue_id = header.queue_id
    if queue_id >= max(topic.read_queue_nums, topic.write_queue_nums):
        remark = (
            f"request queueId[{queue_id}] is illegal, {describe_topic(topic)} "
            f"Producer: {peer.address}"
        )
        raise RefusedError(ResponseCode.INVALID_PARAMETER, remark)
    if queue_id >= 0:
        return queue_id
    if topic.write_queue_nums <= 0:
        raise RefusedError(ResponseCode.SYSTEM_ERROR, "/ by zero")
    return broker.store.put_count % topic.write_queue_nums


def describe_topic(topic: TopicConfig) -> str:
    """Return a topic as Java's remarks show it (Java: ``TopicConfig.toString``)."""
    perm = "".join(letter if topic.perm & bit else "-" for bit, letter in ((4, "R"), (2, "W")))
    return (
        f"TopicConfig [topicName={topic.topic_name}, readQueueNums={topic.read_queue_nums}, "
        f"writeQueueNums={topic.write_queue_nums}, perm={perm}{'X' if topic.perm & 1 else '-'}, "
        f"topicFilterType={topic.topic_filter_type}, topicSysFlag={topic.topic_sys_flag}, "
        f"order={str(topic.order).lower()}, attributes={{}}]"
    )


def check_size(broker: Broker, message: Message) -> None:
    limit = broker.config.max_message_size
    if len(message.body or b"") > limit or _are_too_large(message.properties):
        raise RefusedError(ResponseCode.MESSAGE_ILLEGAL, TOO_LARGE.format(limit))


def _are_too_large(properties: Mapping[str, str]) -> bool:
    characters = sum(map(len, properties)) + sum(map(len, properties.values()))
    if 4 * characters + 2 * len(properties) <= MAX_PROPERTIES_BYTES:
        return False  # a character has four bytes at most
    text_form = encode_properties(properties)
    return len(text_form.encode("utf-8", "surrogatepass")) > MAX_PROPERTIES_BYTES


def _choose_lmq(broker: Broker, message: Message) -> None:
    name = lite_queue(message.topic, message.properties[LITE_TOPIC])
    message.properties[INNER_MULTI_DISPATCH] = name
    queues = broker.store.lmqs
    if name not in queues and len(queues) >= broker.config.max_lmqs:
        remark = "[LMQ_CONSUME_QUEUE_NUM_EXCEEDED]lmq consume queue num exceeded."
        raise RefusedError(ResponseCode.LMQ_QUOTA_EXCEEDED, remark)


def _check_retry(broker: Broker, header: SendFields, message: Message, now: int) -> None:
    name = header.topic.removeprefix(RETRY_PREFIX)
    group = broker.groups.find_or_create(name, now)
    if group is None:
        remark = f"subscription group not exist, {name} \n{FAQ}"
        raise RefusedError(ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST, remark)
    if header.batch:
        remark = f"batch request does not support retry group {header.topic}"
        raise RefusedError(ResponseCode.MESSAGE_ILLEGAL, remark)
    max_retries = header.max_reconsume_times
    if header.reconsume_times > (
        group.retry_max_times if max_retries is None else max_retries
    ) or broker.locks.is_any_held(name, now):
        make_dead_letter(broker, message, name, now)


# ---------------------------------------------------------------------------- batches


def _store_batch(broker: Broker, header: SendFields, batch: Message, now: int) -> Response:
    body = batch.body or b""
    limit = broker.config.max_message_size
    if len(body) > limit or DELAY in batch.properties:
        raise RefusedError(ResponseCode.MESSAGE_ILLEGAL, TOO_LARGE.format(limit))
    messages = [
        Message(
            topic=batch.topic,
            queue_id=batch.queue_id,
            body=item.body,
            properties={name: value for name, value in item.properties.items() if value},
            born_host=batch.born_host,
            flag=item.flag,
            sys_flag=batch.sys_flag,
            born_timestamp=batch.born_timestamp,
        )
        for item in decode_batch(body)
    ]
    for message in messages:
        message.properties.pop(INNER_MULTI_DISPATCH, None)  # a batch is in no LMQ
        _mark_as_sent(message)
    try:
        positions = broker.put_all(messages, now)
    except EncodeError as error:
        raise RefusedError(ResponseCode.MESSAGE_ILLEGAL, str(error)) from error
    fields = {
        **REGION,
        "msgId": ",".join(broker.message_id(position.physical_offset) for position in positions),
        "queueId": str(batch.queue_id),
        "queueOffset": str(positions[0].queue_offset if positions else 0),
    }
    if UNIQ_KEY in batch.properties:
        fields["transactionId"] = batch.properties[UNIQ_KEY]
    return Response(ext_fields=fields)
