"""Messages that consumers send back: 36.

Java: ``AbstractSendMessageProcessor.consumerSendMsgBack``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rocketwire.codes import RequestCode, ResponseCode
from rocketwire.flags import Perm
from rocketwire.messages import decode_header
from rocketwire.messages.message_const import DELAY, ORIGIN_MESSAGE_ID, RETRY_TOPIC, WAIT
from rocketwire.messages.send import ConsumerSendMsgBackRequestHeader
from rocketwire.policy.resource_names import RETRY_PREFIX
from rocketwire_broker.access.accounts import Permission
from rocketwire_broker.access.needs import reads
from rocketwire_broker.delayed.put_hooks import make_dead_letter, store_message
from rocketwire_broker.handlers.fields import FAQ, check_permission, require
from rocketwire_broker.handlers.registry import handles
from rocketwire_broker.state.response import SUCCESS, Response
from rocketwire_broker.storage.message import Message, read_stored

if TYPE_CHECKING:
    from rocketwire.wire.command import RemotingCommand
    from rocketwire_broker.state.broker import Broker
    from rocketwire_broker.tables.peer import Peer

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
    properties.setdefault(RETRY_TOPIC, message.topic)
    properties.setdefault(ORIGIN_MESSAGE_ID, broker.message_id(offset))
    properties[WAIT] = "false"
    times = message.reconsume_times
    message.reconsume_times = times + 1
    message.prepared_transaction_offset = 0
    if level < 0 or times >= max_retries:
        make_dead_letter(broker, message, name, now)
        properties[DELAY] = "0"
    else:
        message.topic, message.queue_id = topic_name, broker.store.put_count % queues
        properties[DELAY] = str(level or FIRST_LEVEL + times)
    store_message(broker, message, now)
    return SUCCESS
