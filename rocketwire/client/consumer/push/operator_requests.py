"""Lets a push consumer consume a message now, as an operator requests.

Java: ``ConsumeMessageConcurrentlyService.consumeMessageDirectly``.
"""

from __future__ import annotations

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
from rocketwire.messages.callbacks import ConsumeMessageDirectlyResult
from rocketwire.messages.enums import CMResult
from rocketwire.messages.message_queue import MessageQueue

if TYPE_CHECKING:
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
