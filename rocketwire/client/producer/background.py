"""Recalls of delayed messages, and the detection of brokers.

Java: ``DefaultMQProducerImpl.recallMessage``, ``RecallMessageHandle``,
``LatencyFaultToleranceImpl.detectByOneRound``.
"""

from __future__ import annotations

import base64
import binascii
from contextlib import suppress
from typing import TYPE_CHECKING, Final

import trio

from rocketwire.codes import RequestCode
from rocketwire.errors import IllegalMessageError, RocketWireError
from rocketwire.messages.message_queue import MessageQueue
from rocketwire.messages.route import TopicRouteData
from rocketwire.messages.send import RecallMessageRequestHeader, RecallMessageResponseHeader
from rocketwire.policy.resource_names import HALF_TOPICS
from rocketwire.policy.routing import MASTER_ID

if TYPE_CHECKING:
    from rocketwire.client.instance.instance import ClientInstance
    from rocketwire.client.publish.sender import MessageSender

DETECT_TIMEOUT: Final = 0.2  # timeout of a reachability check in seconds (``detectTimeout``)
# Topic of open transactions, whose route no name server is asked for
_ALL_BROKERS: Final = HALF_TOPICS[0]


def decode_recall_handle(recall_handle: str) -> str:
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


async def announce_to_all_brokers(instance: ClientInstance) -> None:
    # Each broker may have a transaction that an earlier process of the group left open, and checks
    # it only with a producer that it knows (Java: the topics of ``TransactionMQProducer``).
    routes = instance.routes
    try:
        while True:
            with suppress(RocketWireError):  # whoever sends reports an absent name server
                groups = (await instance.name_servers.cluster_info()).broker_addr_table or {}
                brokers = [b for b in groups.values() if b and MASTER_ID in (b.broker_addrs or {})]
                if routes.put(_ALL_BROKERS, TopicRouteData(broker_datas=tuple(brokers))):
                    instance.heartbeat_soon()
            await trio.sleep(instance.config.poll_name_server_interval)
    finally:
        routes.forget(_ALL_BROKERS)
