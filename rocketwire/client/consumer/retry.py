"""Sends a failed message back, so that the group gets it again later, or it becomes a dead letter.

Java: ``DefaultMQPushConsumerImpl.sendMessageBack``, ``MQClientAPIImpl.consumerSendMessageBack``.
"""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from rocketwire.client.consumer.queues import get_queues
from rocketwire.client.periodic import now_millis
from rocketwire.codes import RequestCode
from rocketwire.controls import log_text
from rocketwire.errors import BrokerNotFoundError, RocketWireError
from rocketwire.messages.message_const import (
    DELAY,
    INSTANCE_ID,
    KEYS,
    MAX_RECONSUME_TIMES,
    ORIGIN_MESSAGE_ID,
    RECONSUME_TIME,
    RETRY_TOPIC,
    TRANSACTION_PREPARED,
)
from rocketwire.messages.send import ConsumerSendMsgBackRequestHeader, SendMessageRequestHeaderV2
from rocketwire.policy.resource_names import RETRY_PREFIX, dlq_topic, retry_topic, without_namespace
from rocketwire.policy.routing import DEFAULT_TOPIC
from rocketwire.wire.message.properties import encode_properties

if TYPE_CHECKING:
    from rocketwire.client.instance.instance import ClientInstance
    from rocketwire.messages.message_queue import MessageQueue
    from rocketwire.wire.message.stored import StoredMessage

_LOG: Final = logging.getLogger("rocketwire.client")

# Producer group of messages that a consumer sends to a retry topic
INNER_PRODUCER_GROUP: Final = "CLIENT_INNER_PRODUCER"
SEND_BACK_TIMEOUT: Final = 5.0  # timeout of a send-back in seconds


def with_real_topic(message: StoredMessage, group: str, namespace: str = "") -> StoredMessage:
    # Java: ``DefaultMQPushConsumerImpl.resetRetryAndNamespace``
    topic = message.topic
    if topic == RETRY_PREFIX + group:
        topic = (message.properties or {}).get(RETRY_TOPIC) or topic
    topic = without_namespace(topic, namespace)
    return message if topic == message.topic else replace(message, topic=topic)


def describe_message(message: StoredMessage, group: str) -> str:
    topic = log_text(with_real_topic(message, group).topic)
    keys = (message.properties or {}).get(KEYS)
    shown_keys = f"keys {log_text(keys)}, " if keys else ""
    attempt = f"{shown_keys}attempt {message.reconsume_times + 1}"
    return f"{log_text(message.msg_id)} of topic {topic}, {attempt}"


def report_failed_handler(message: StoredMessage, group: str) -> None:
    _LOG.exception("%s: the handler failed for message %s", group, describe_message(message, group))


def _report_dead_letter(message: StoredMessage, group: str, max_reconsume_times: int) -> None:
    described, attempts = describe_message(message, group), max_reconsume_times + 1
    topic = dlq_topic(group)
    _LOG.error("%s: message %s of %d: now a dead letter in %s", group, described, attempts, topic)


def build_send_back_header(
    group: str, message: StoredMessage, delay_level: int, max_reconsume_times: int
) -> ConsumerSendMsgBackRequestHeader:
    return ConsumerSendMsgBackRequestHeader(
        offset=message.commit_log_offset,
        group=group,
        delay_level=delay_level,
        origin_msg_id=message.msg_id,
        origin_topic=message.topic,
        max_reconsume_times=max_reconsume_times,
    )


async def send_message_back(
    instance: ClientInstance,
    group: str,
    message: StoredMessage,
    broker_name: str,
    *,
    delay_level: int = 0,
    max_reconsume_times: int,
) -> bool:
    """Send a message back (code 36), or to the retry topic; returns whether a broker has it."""
    header = build_send_back_header(group, message, delay_level, max_reconsume_times)
    header = replace(header, bname=broker_name)
    try:
        address = await instance.master(broker_name, message.topic)
        request = instance.brokers.call(
            address, RequestCode.CONSUMER_SEND_MSG_BACK, header, within=SEND_BACK_TIMEOUT, vip=True
        )
        await instance.observe_settlement(group, "send_back", broker_name, [message], request)
    except RocketWireError as error:
        _LOG.warning(
            "broker %s did not accept message %s back: %s",
            broker_name,
            log_text(message.msg_id),
            error,
        )
    else:
        if delay_level < 0 or message.reconsume_times >= max_reconsume_times:
            _report_dead_letter(message, group, max_reconsume_times)
        return True
    try:
        await send_to_retry_topic(instance, group, message, max_reconsume_times)
    except RocketWireError as error:
        _LOG.warning(
            "message %s was not sent to the retry topic: %s", log_text(message.msg_id), error
        )
        return False
    return True


async def send_to_retry_topic(
    instance: ClientInstance, group: str, message: StoredMessage, max_reconsume_times: int
) -> None:
    # The broker delays it by the number of attempts. After the last attempt, or while a member of
    # the group has the lock of an orderly queue, the broker stores it as a dead letter.
    topic = retry_topic(group)
    queues = await get_queues(instance, topic)
    first = message.queue_offset % len(queues) if queues else 0
    queue_by_broker: dict[str | None, MessageQueue] = {}
    for queue in (*queues[first:], *queues[:first]):
        queue_by_broker.setdefault(queue.broker_name, queue)
    failure: RocketWireError = BrokerNotFoundError(topic)
    for name, queue in queue_by_broker.items():
        request = _send_to_queue(instance, queue, message, max_reconsume_times)
        try:
            await instance.observe_settlement(group, "send_back", name or "", [message], request)
        except RocketWireError as error:
            failure = error
        else:
            if message.reconsume_times >= max_reconsume_times:
                _report_dead_letter(message, group, max_reconsume_times)
            return
    raise failure


async def _send_to_queue(
    instance: ClientInstance, queue: MessageQueue, message: StoredMessage, max_reconsume_times: int
) -> None:
    topic, name = queue.topic or "", queue.broker_name
    count_attempts = message.reconsume_times + 1
    properties = dict(message.properties or {})
    properties.setdefault(ORIGIN_MESSAGE_ID, message.msg_id)
    properties |= {
        RETRY_TOPIC: message.topic,
        RECONSUME_TIME: str(count_attempts),
        MAX_RECONSUME_TIMES: str(max_reconsume_times),
        DELAY: str(3 + message.reconsume_times),
    }
    properties.pop(TRANSACTION_PREPARED, None)
    if instance.config.namespace:
        properties[INSTANCE_ID] = instance.config.namespace
    header = SendMessageRequestHeaderV2(
        producer_group=INNER_PRODUCER_GROUP,
        topic=topic,
        default_topic=DEFAULT_TOPIC,
        default_topic_queue_nums=4,
        queue_id=queue.queue_id,
        sys_flag=0,
        born_timestamp=now_millis(),
        flag=message.flag,
        properties=encode_properties(properties),
        reconsume_times=count_attempts,
        unit_mode=False,
        max_reconsume_times=max_reconsume_times,
        batch=False,
        broker_name=name,
    )
    address = await instance.master(name or "", topic)
    body = message.body or b""
    await instance.brokers.call(
        address, RequestCode.SEND_MESSAGE_V2, header, body, within=SEND_BACK_TIMEOUT, vip=True
    )
