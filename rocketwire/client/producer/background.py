"""What a producer asks brokers besides sending: to give a message back, and whether they are there.

Java: ``DefaultMQProducerImpl.recallMessage``, ``RecallMessageHandle``,
``LatencyFaultToleranceImpl.detectByOneRound``.
"""

from __future__ import annotations

import base64
import binascii
from typing import TYPE_CHECKING, Final

import trio

from rocketwire.codes import RequestCode
from rocketwire.errors import IllegalMessageError, RocketWireError
from rocketwire.messages.message_queue import MessageQueue
from rocketwire.messages.send import RecallMessageRequestHeader

if TYPE_CHECKING:
    from rocketwire.client.instance.instance import ClientInstance
    from rocketwire.client.producer.sender import Publishing
    from rocketwire.messages.send import RecallMessageResponseHeader

DETECT_TIMEOUT: Final = 0.2
"""Seconds for a broker to show that it is there (``detectTimeout``)."""


def broker_in_handle(recall_handle: str) -> str:
    """The broker that a recall handle names.

    Raises:
        IllegalMessageError: not a handle.
    """
    try:
        parts = base64.urlsafe_b64decode(recall_handle.encode()).decode().split(" ")
    except (binascii.Error, UnicodeError) as error:
        raise IllegalMessageError(f"not a recall handle: {recall_handle[:80]!r}") from error
    if len(parts) != 5 or parts[0] != "v1":
        raise IllegalMessageError(f"not a recall handle: {recall_handle[:80]!r}")
    return parts[2]


async def recall_on(
    instance: ClientInstance, group: str, wire_topic: str, recall_handle: str, within: float
) -> str:
    """Take a message back at its broker (code 370); returns its unique key.

    Errors: as of ``Producer.recall``.
    """
    broker = broker_in_handle(recall_handle)
    header = RecallMessageRequestHeader(
        producer_group=group, topic=wire_topic, recall_handle=recall_handle, bname=broker
    )
    await instance.route(wire_topic)
    address = await instance.master(broker, wire_topic)
    answer = await instance.brokers.call(
        address, RequestCode.RECALL_MESSAGE, header, within=within, vip=True
    )
    told: RecallMessageResponseHeader = answer.header
    return told.msg_id or ""


async def keep_looking(instance: ClientInstance, publishing: Publishing, seconds: float) -> None:
    """Ask brokers that may not be reachable for an offset, again and again, until cancelled."""
    while True:
        await trio.sleep(seconds)
        for broker in publishing.faults.due(trio.current_time()):
            address = instance.routes.master(broker)
            if address is None:
                publishing.faults.forget(broker)
                continue
            topic = next(iter(publishing.topics), "")
            queue = MessageQueue(topic=topic, broker_name=broker, queue_id=0)
            try:
                with trio.fail_after(DETECT_TIMEOUT):
                    await instance.brokers.max_offset(address, queue)
            except (RocketWireError, trio.TooSlowError):
                continue
            publishing.faults.detected(broker)
