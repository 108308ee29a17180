"""Sending: 10, 310 and 320; recalls (370), replies (324, 325), and what consumers send back (36).

A priority is the number of a queue. Pops of a topic whose type is ``PRIORITY`` read the highest
queue first, in the share of pops that the group's ``priority.factor`` sets, and redeliveries last.

Java: ``SendMessageProcessor``, ``AbstractSendMessageProcessor``, ``RecallMessageProcessor``,
``ReplyMessageProcessor``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, NamedTuple

from rocketwire.codes import RequestCode, ResponseCode
from rocketwire.errors import DecodeError, EncodeError
from rocketwire.flags import MessageSysFlag, Perm, TopicSysFlag
from rocketwire.messages import decode_header
from rocketwire.messages import message_const as const
from rocketwire.messages.send import ConsumerSendMsgBackRequestHeader, RecallMessageRequestHeader
from rocketwire.policy.resource_names import RETRY_PREFIX, SEND_FORBIDDEN_TOPICS, lite_queue
from rocketwire.wire.message.batch import decode_batch
from rocketwire.wire.message.properties import (
    MAX_PROPERTIES_BYTES,
    decode_properties,
    encode_properties,
)
from rocketwire_broker.access.accounts import Permission
from rocketwire_broker.access.needs import reads, sends_to
from rocketwire_broker.delayed.delays import parse_handle, recall_handle
from rocketwire_broker.delayed.put_hooks import make_dead_letter, store_message, store_sent
from rocketwire_broker.handlers.requests import (
    FAQ,
    check_permission,
    handles,
    integer,
    require,
    text,
    topic_problem,
)
from rocketwire_broker.state.response import LATER, SUCCESS, RefusedError, Response
from rocketwire_broker.storage.message import (
    INT,
    SENT_BY_CLIENT,
    Message,
    parse_number,
    read_stored,
)

if TYPE_CHECKING:
    from rocketwire.messages.topic_config import TopicConfig
    from rocketwire.wire.command import RemotingCommand
    from rocketwire_broker.state.broker import Broker
    from rocketwire_broker.tables.members import Peer


MESSAGE_TYPE: Final = "message.type"
PRIORITY_FACTOR: Final = "priority.factor"
_ALWAYS: Final = 100
_OTHER_TYPES: Final = (
    const.DELAY,
    const.TIMER_DELIVER_MS,
    const.TIMER_DELAY_SEC,
    const.TIMER_DELAY_MS,
    const.SHARDING_KEY,
)


def choose_queue_by_priority(message: Message, topic: TopicConfig) -> None:
    """Let a message go to the queue of its priority; one of another type loses its priority."""
    properties = message.properties
    priority = parse_number(properties.get(const.PRIORITY), INT)
    if priority is None or priority < 0:
        return
    is_half = properties.get(const.TRANSACTION_PREPARED) == "true"
    if is_half or any(name in properties for name in _OTHER_TYPES):
        del properties[const.PRIORITY]
    elif topic.write_queue_nums:
        message.queue_id = min(priority, topic.write_queue_nums - 1)


def pops_by_priority(broker: Broker, topic_name: str, group_name: str, turn: int) -> bool:
    """Return whether a pop reads the highest queue first; ``turn`` is the number of the pop."""
    topic = broker.topics.get(topic_name)
    if topic is None or (topic.attributes or {}).get(MESSAGE_TYPE) != "PRIORITY":
        return False
    group = broker.groups.get(group_name)
    attributes = (None if group is None else group.attributes) or {}
    factor = parse_number(attributes.get(PRIORITY_FACTOR))
    return turn % _ALWAYS < (_ALWAYS if factor is None else factor)


REGION: Final = {const.MSG_REGION: "DefaultRegion", const.TRACE_ON: "true"}
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
_UNIT: Final = int(TopicSysFlag.UNIT)


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
    message.properties.pop(const.POP_CK, None)
    if const.UNIQ_KEY not in message.properties:
        message.properties[const.UNIQ_KEY] = broker.new_unique_key(now)
    if message.properties.get(const.LITE_TOPIC):
        _choose_lmq(broker, message)
    message.properties |= REGION
    message.properties[const.CLUSTER] = broker.config.cluster_name
    check_size(broker, message)
    if const.PRIORITY in message.properties and not header.topic.startswith(RETRY_PREFIX):
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
        "transactionId": message.properties[const.UNIQ_KEY],
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
    if (
        message.sys_flag & _TYPE
        or const.REAL_TOPIC in properties
        or const.TIMER_OUT_MS in properties
    ):
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
            _UNIT if header.unit_mode else 0,
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
    name = lite_queue(message.topic, message.properties[const.LITE_TOPIC])
    message.properties[const.INNER_MULTI_DISPATCH] = name
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
    if len(body) > limit or const.DELAY in batch.properties:
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
        message.properties.pop(const.INNER_MULTI_DISPATCH, None)  # a batch is in no LMQ
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
    if const.UNIQ_KEY in batch.properties:
        fields["transactionId"] = batch.properties[const.UNIQ_KEY]
    return Response(ext_fields=fields)


_ILLEGAL: Final = ResponseCode.ILLEGAL_OPERATION
_REGION: Final = {const.MSG_REGION: REGION[const.MSG_REGION]}
_RECALL_TAG: Final = "_RECALL_TAG_"


@handles(RequestCode.RECALL_MESSAGE, needs=sends_to("topic"))
def recall(broker: Broker, request: RemotingCommand, peer: Peer, now: int) -> Response:
    """370: do not deliver a message that waits for its time; its unique key is the answer."""
    header = decode_header(RecallMessageRequestHeader, request.ext_fields)
    try:
        message = _recall(broker, header, peer, now)
        store_message(broker, message, now)
    except RefusedError as refused:
        return refused.response._replace(ext_fields=_REGION)
    return Response(ext_fields={**_REGION, "msgId": message.properties[const.UNIQ_KEY]})


def _recall(broker: Broker, header: RecallMessageRequestHeader, peer: Peer, now: int) -> Message:
    if not broker.config.recall_enabled:
        raise RefusedError(ResponseCode.NO_PERMISSION, "recall failed, operation is forbidden")
    topic = require(header.topic, "topic")
    if topic not in broker.topics:
        remark = f"recall failed, the topic[{topic}] not exist"
        raise RefusedError(ResponseCode.TOPIC_NOT_EXIST, remark)
    handle = parse_handle(header.recall_handle or "")
    if handle.topic != topic:
        raise RefusedError(_ILLEGAL, "recall failed, topic not match")
    if handle.broker_name != broker.config.broker_name:
        raise RefusedError(_ILLEGAL, "recall failed, broker service not available")
    time = handle.timestamp
    if time is None or not 0 < time - now < broker.config.timer_max_delay_ms:
        raise RefusedError(_ILLEGAL, "recall failed, timestamp invalid")
    return Message(
        topic=topic,
        queue_id=0,
        body=b"0",
        properties={
            const.TAGS: _RECALL_TAG,
            const.TIMER_DEL_UNIQKEY: handle.unique_key,
            const.UNIQ_KEY: handle.unique_key,
            const.TIMER_DELIVER_MS: str(time),
            const.BORN_TIMESTAMP: str(now),
            const.PRODUCER_GROUP: header.producer_group or "",
        },
        born_host=peer.host,
        born_timestamp=now,
    )


_ERROR: Final = ResponseCode.SYSTEM_ERROR


@handles(RequestCode.SEND_REPLY_MESSAGE, needs=sends_to("topic"))
@handles(RequestCode.SEND_REPLY_MESSAGE_V2, needs=sends_to("b"))
def reply(broker: Broker, request: RemotingCommand, peer: Peer, now: int) -> Response | None:
    """324 and 325: pass a reply to the client that asked, and answer whether it took it."""
    header = read_send(request)
    group = text(request.ext_fields or {}, "a" if request.code == V2 else "producerGroup")
    try:
        queue_id = choose_queue(broker, header, find_topic(broker, header, peer, now), peer)
    except RefusedError as refused:
        return refused.response._replace(ext_fields=REGION)
    message = Message(
        topic=header.topic,
        queue_id=queue_id,
        body=request.body,
        properties={**decode_properties(header.properties), **REGION},
        born_host=peer.host,
        flag=header.flag,
        born_timestamp=header.born_timestamp,
        reconsume_times=header.reconsume_times,
    )
    client_id = message.properties.get(const.REPLY_TO_CLIENT)
    if client_id is None:
        problem = f"reply message properties[{const.REPLY_TO_CLIENT}] is null"
        return _finish_reply(broker, message, problem, now)
    requester = broker.members.producer(client_id)
    if requester is None:
        problem = f"push reply message fail, channel of <{client_id}> not found."
        return _finish_reply(broker, message, problem, now)

    def on_answer(answer: RemotingCommand | None, now: int) -> None:
        taken = answer is not None and answer.code == ResponseCode.SUCCESS
        problem = None if taken else f"push reply message to {client_id}fail."
        response = _finish_reply(broker, message, problem, now)
        if not request.is_oneway:
            broker.answer(peer, request.opaque, response)

    fields = _reply_fields(broker, header, group, message, peer, now)
    code = RequestCode.PUSH_REPLY_MESSAGE_TO_CLIENT
    broker.ask(requester.peer, code, fields, request.body or b"", on_answer, now)
    return LATER


def _reply_fields(
    broker: Broker, header: SendFields, group: str, message: Message, peer: Peer, now: int
) -> dict[str, str]:
    return {
        "bornHost": peer.address,
        "bornTimestamp": str(header.born_timestamp),
        "defaultTopic": header.default_topic,
        "defaultTopicQueueNums": str(header.default_topic_queues),
        "flag": str(header.flag),
        "producerGroup": group,
        "properties": encode_properties({const.PUSH_REPLY_TIME: str(now), **message.properties}),
        "queueId": str(header.queue_id),
        "reconsumeTimes": str(header.reconsume_times),
        "storeHost": broker.address,
        "storeTimestamp": str(now),
        "sysFlag": str(header.sys_flag),
        "topic": header.topic,
        "unitMode": str(header.unit_mode).lower(),
    }


def _finish_reply(broker: Broker, message: Message, problem: str | None, now: int) -> Response:
    fields = {**REGION, "msgId": "0", "queueId": str(message.queue_id), "queueOffset": "0"}
    if broker.config.store_replies:
        position = store_message(broker, message, now)
        fields["msgId"] = broker.message_id(position.physical_offset)
        fields["queueOffset"] = str(position.queue_offset)
    code = ResponseCode.SUCCESS if problem is None else _ERROR
    return Response(code, problem, fields)


V2: Final = RequestCode.SEND_REPLY_MESSAGE_V2


FIRST_LEVEL: Final = 3  # delay level of the first retry, if the consumer asks for none


@handles(RequestCode.CONSUMER_SEND_MSG_BACK, needs=reads("originTopic", "group"))
def send_back(broker: Broker, request: RemotingCommand, peer: Peer, now: int) -> Response:
    """36: deliver a message again later, or make it a dead letter."""
    header = decode_header(ConsumerSendMsgBackRequestHeader, request.ext_fields)
    name = require(header.group, "group")
    group = broker.groups.find_or_create(name, now)
    if group is None:
        remark = f"subscription group not exist, {name} \n{FAQ}"
        return Response(ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST, remark)
    queues = group.retry_queue_nums
    if queues <= 0:
        return SUCCESS
    topic_name = f"{RETRY_PREFIX}{name}"
    topic = broker.topics.create_for_group(topic_name, queues, now)
    if topic is None:
        return Response(ResponseCode.SYSTEM_ERROR, f"topic[{topic_name}] not exist")
    if not topic.perm & Perm.WRITE:
        remark = f"the topic[{topic_name}] sending message is forbidden"
        return Response(ResponseCode.NO_PERMISSION, remark)
    offset = require(header.offset, "offset")
    record = broker.store.record_at(offset)
    if record is None:
        return Response(ResponseCode.SYSTEM_ERROR, f"look message by offset failed, {offset}")
    message = Message.of(read_stored(record))
    check_permission(broker, request, peer, message.topic, Permission.SUB)
    level = require(header.delay_level, "delayLevel")
    max_retries = header.max_reconsume_times
    if max_retries is None:
        max_retries = group.retry_max_times
    properties = message.properties
    properties.setdefault(const.RETRY_TOPIC, message.topic)
    properties.setdefault(const.ORIGIN_MESSAGE_ID, broker.message_id(offset))
    properties[const.WAIT] = "false"
    times = message.reconsume_times
    message.reconsume_times = times + 1
    message.prepared_transaction_offset = 0
    if level < 0 or times >= max_retries:
        make_dead_letter(broker, message, name, now)
        properties[const.DELAY] = "0"
    else:
        message.topic, message.queue_id = topic_name, broker.store.put_count % queues
        properties[const.DELAY] = str(level or FIRST_LEVEL + times)
    store_message(broker, message, now)
    return SUCCESS
