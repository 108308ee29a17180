"""Requests of operators to a push consumer: consume a message now, and return the state.

Java: ``ConsumeMessageConcurrentlyService.consumeMessageDirectly``,
``DefaultMQPushConsumerImpl.consumerRunningInfo``.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import trio

from rocketwire.client.consumer.config import (
    ConsumeConcurrentlyContext,
    ConsumeConcurrentlyStatus,
    ConsumeOrderlyContext,
    ConsumeOrderlyStatus,
)
from rocketwire.client.consumer.push.concurrent import ConcurrentConsumption, with_real_topic
from rocketwire.client.consumer.push.orderly import OrderlyConsumption
from rocketwire.messages.callbacks import ConsumeMessageDirectlyResult, ConsumerRunningInfo
from rocketwire.messages.enums import CMResult, ConsumeType
from rocketwire.messages.message_queue import MessageQueue

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rocketwire.client.consumer.offset_store import OffsetStore
    from rocketwire.client.consumer.stats import ConsumerStats
    from rocketwire.messages.heartbeat import SubscriptionData
    from rocketwire.policy.process_queue import ProcessQueue
    from rocketwire.wire.message.stored import StoredMessage

_RESULT = {
    ConsumeConcurrentlyStatus.CONSUME_SUCCESS: CMResult.CR_SUCCESS,
    ConsumeConcurrentlyStatus.RECONSUME_LATER: CMResult.CR_LATER,
    ConsumeOrderlyStatus.SUCCESS: CMResult.CR_SUCCESS,
    ConsumeOrderlyStatus.COMMIT: CMResult.CR_COMMIT,
    ConsumeOrderlyStatus.ROLLBACK: CMResult.CR_ROLLBACK,
    ConsumeOrderlyStatus.SUSPEND_CURRENT_QUEUE_A_MOMENT: CMResult.CR_LATER,
    None: CMResult.CR_SUCCESS,
}


async def consume_directly(
    consumption: ConcurrentConsumption | OrderlyConsumption,
    message: StoredMessage,
    broker_name: str,
    group: str,
) -> ConsumeMessageDirectlyResult:
    """Let the handler consume a message, independent of the process queue (code 309).

    Args:
        consumption: consumption with the handler.
        broker_name: broker that stores it.
    """
    message = with_real_topic(message, group)
    queue = MessageQueue(topic=message.topic, broker_name=broker_name, queue_id=message.queue_id)
    started = trio.current_time()
    auto_commit, remark = True, None
    result = CMResult.CR_THROW_EXCEPTION
    try:
        if isinstance(consumption, OrderlyConsumption):
            orderly = ConsumeOrderlyContext(message_queue=queue)
            result = _RESULT[await consumption.listener([message], orderly)]
            auto_commit = orderly.auto_commit
        else:
            context = ConsumeConcurrentlyContext(message_queue=queue)
            result = _RESULT[await consumption.listener([message], context)]
    except Exception as error:  # noqa: BLE001 - of the application; sent to the operator
        remark = f"{type(error).__name__}: {error}"
    return ConsumeMessageDirectlyResult(
        order=consumption.is_orderly,
        auto_commit=auto_commit,
        consume_result=result,
        remark=remark,
        spent_time_mills=round((trio.current_time() - started) * 1000),
    )


def build_running_info(
    subscriptions: Mapping[str, SubscriptionData],
    process_queues: Mapping[MessageQueue, ProcessQueue[StoredMessage]],
    offsets: OffsetStore,
    stats: ConsumerStats,
    *,
    is_orderly: bool,
    threads: int,
    started_millis: int,
    unreadable: int,
) -> ConsumerRunningInfo:
    """Build the state of a consumer (code 307), without the fields that the instance adds."""
    now, millis = trio.current_time(), time.time() * 1000

    def to_millis(trio_time: float) -> int:
        return round(millis - (now - trio_time) * 1000)

    return ConsumerRunningInfo(
        properties={
            "PROP_CONSUMEORDERLY": str(is_orderly).lower(),
            "PROP_CONSUME_TYPE": ConsumeType.CONSUME_PASSIVELY.value,
            "PROP_THREADPOOL_CORE_SIZE": str(threads),
            "PROP_CONSUMER_START_TIMESTAMP": str(started_millis),
            "PROP_UNREADABLE_MESSAGES": str(unreadable),
        },
        subscription_set=tuple(subscriptions.values()),
        mq_table={
            queue: process.info(offsets.get(queue) or 0, to_millis)
            for queue, process in process_queues.items()
        },
        status_table={topic: stats.status(topic, now) for topic in subscriptions},
    )
