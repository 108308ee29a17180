"""Recalls of delayed messages, and the detection of reachable brokers.

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
from rocketwire.messages.send import RecallMessageRequestHeader, RecallMessageResponseHeader

if TYPE_CHECKING:
    from rocketwire.client.instance.instance import ClientInstance
    from rocketwire.client.publish.sender import MessageSender

DETECT_TIMEOUT: Final = 0.2
"""Timeout of a reachability check in seconds (``detectTimeout``)."""


def decode_recall_handle(recall_handle: str) -> str:
    """Return the broker name in a recall handle.

    Raises:
        IllegalMessageError: the handle is invalid.
    """
    try:
        parts = base64.urlsafe_b64decode(recall_handle.encode()).decode().split(" ")
    except (binascii.Error, UnicodeError) as error:
        raise IllegalMessageError(f"invalid recall handle: {recall_handle[:80]!r}") from error
    if len(parts) != 5 or parts[0] != "v1":
        raise IllegalMessageError(f"invalid recall handle: {recall_handle[:80]!r}")
    return parts[2]


async def recall_message(
    instance: ClientInstance, group: str, wire_topic: str, recall_handle: str, within: float
) -> str:
    """Recall a message at its broker (code 370); returns its unique key.

    For errors see ``Producer.recall``.
    """
    broker = decode_recall_handle(recall_handle)
    header = RecallMessageRequestHeader(
        producer_group=group, topic=wire_topic, recall_handle=recall_handle, bname=broker
    )
    await instance.route(wire_topic)
    address = await instance.master(broker, wire_topic)
    response = await instance.brokers.call(
        address, RequestCode.RECALL_MESSAGE, header, within=within, vip=True
    )
    response_header: RecallMessageResponseHeader = response.header
    return response_header.msg_id or ""


async def detect_brokers(instance: ClientInstance, sender: MessageSender, seconds: float) -> None:
    """Check periodically whether unreachable brokers are reachable again, until cancelled."""
    while True:
        await trio.sleep(seconds)
        for broker in sender.faults.due(trio.current_time()):
            address = instance.routes.master(broker)
            if address is None:
                sender.faults.forget(broker)
                continue
            topic = next(iter(sender.topics), "")
            queue = MessageQueue(topic=topic, broker_name=broker, queue_id=0)
            try:
                with trio.fail_after(DETECT_TIMEOUT):
                    await instance.brokers.max_offset(address, queue)
            except (RocketWireError, trio.TooSlowError):
                continue
            sender.faults.detected(broker)
