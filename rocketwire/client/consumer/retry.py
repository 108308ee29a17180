"""Giving a message back that could not be handled, so that the group gets it again later, or among its dead letters.

Java: ``DefaultMQPushConsumerImpl.sendMessageBack``, ``MQClientAPIImpl.consumerSendMessageBack``.
"""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from rocketwire.client.consumer.queues import queues_of
from rocketwire.client.log_text import log_text
from rocketwire.client.periodic import now_millis
from rocketwire.codes import RequestCode
from rocketwire.errors import BrokerNotFoundError, RocketWireError
from rocketwire.messages.message_const import (
    DELAY,
    ORIGIN_MESSAGE_ID,
    RETRY_TOPIC,
    TRANSACTION_PREPARED,
)
from rocketwire.messages.send import ConsumerSendMsgBackRequestHeader, SendMessageRequestHeaderV2
from rocketwire.policy.resource_names import retry_topic
from rocketwire.policy.routing import DEFAULT_TOPIC
from rocketwire.wire.message.properties import encode_properties

if TYPE_CHECKING:
    from rocketwire.client.instance.instance import ClientInstance
    from rocketwire.messages.message_queue import MessageQueue
    from rocketwire.wire.message.stored import StoredMessage

_LOG: Final = logging.getLogger("rocketwire.client")

INNER_PRODUCER_GROUP: Final = "CLIENT_INNER_PRODUCER"
"""Producer group of messages that a consumer sends to be retried."""

SEND_BACK_TIMEOUT: Final = 5.0
"""Seconds for a broker to take a message back."""


def send_back_header(
    group: str, message: StoredMessage, delay_level: int, max_reconsume_times: int
) -> ConsumerSendMsgBackRequestHeader:
    """What a broker is told of a message that is given back (code 36), whoever gives it.

    The levels are those of ``send_message_back``.
    """
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
    """Give a message back (code 36), or, where its broker does not take it, send it to the group's retry topic.

    Args:
        instance: carries the requests.
        group: with its namespace.
        message: as it was consumed.
        broker_name: where it is stored.
        delay_level: -1 for the dead letters at once, 0 to have the broker choose, else a level.
        max_reconsume_times: tries before the dead letters.

    Returns:
        Whether the message is in good hands now.
    """
    header = send_back_header(group, message, delay_level, max_reconsume_times)
    header = replace(header, bname=broker_name)
    try:
        address = await instance.master(broker_name, message.topic)
        await instance.brokers.call(
            address, RequestCode.CONSUMER_SEND_MSG_BACK, header, within=SEND_BACK_TIMEOUT, vip=True
        )
    except RocketWireError as error:
        _LOG.warning(
            "%s did not take message %s back: %s", broker_name, log_text(message.msg_id), error
        )
    else:
        return True
    try:
        await send_to_retry_topic(instance, group, message, max_reconsume_times)
    except RocketWireError as error:
        _LOG.warning("message %s was not sent to be retried: %s", log_text(message.msg_id), error)
        return False
    return True


async def send_to_retry_topic(
    instance: ClientInstance, group: str, message: StoredMessage, max_reconsume_times: int
) -> None:
    """Send a message as a new one to the group's retry topic, to whichever of its brokers takes it.

    The broker delays it by the number of tries, and puts it with the dead letters after the last,
    or as long as a member of the group holds the lock of an orderly queue.

    Args:
        instance: carries the request.
        group: with its namespace.
        message: as it was consumed.
        max_reconsume_times: tries before the dead letters.

    Raises:
        ClientError, ChannelError: nobody took it.
    """
    topic = retry_topic(group)
    queues = await queues_of(instance, topic)
    first = message.queue_offset % len(queues) if queues else 0
    by_broker: dict[str | None, MessageQueue] = {}
    for queue in (*queues[first:], *queues[:first]):
        by_broker.setdefault(queue.broker_name, queue)
    failure: RocketWireError = BrokerNotFoundError(topic)
    for queue in by_broker.values():
        try:
            await _send_to(instance, queue, message, max_reconsume_times)
        except RocketWireError as error:
            failure = error
        else:
            return
    raise failure


async def _send_to(
    instance: ClientInstance, queue: MessageQueue, message: StoredMessage, max_reconsume_times: int
) -> None:
    """Send a message as a new one to one queue of a retry topic."""
    topic, name = queue.topic or "", queue.broker_name
    tries = message.reconsume_times + 1
    properties = dict(message.properties or {})
    properties.setdefault(ORIGIN_MESSAGE_ID, message.msg_id)
    properties |= {RETRY_TOPIC: message.topic, DELAY: str(3 + message.reconsume_times)}
    properties.pop(TRANSACTION_PREPARED, None)
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
        reconsume_times=tries,
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
