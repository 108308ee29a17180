"""Finds the first message of a queue that was stored at or after a time.

Brokers before 5.0 return the message whose store time is *nearest*, which may be older, or any
message of that millisecond; Java's consumers start there. Java:
``ConsumeQueue.getOffsetInQueueByTime`` of 4.9.4.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rocketwire.client.consumer.pull import PullCalls, PullRequest, PullStatus
from rocketwire.client.consumer.queues import find_replica
from rocketwire.policy.subscription import subscription_data

if TYPE_CHECKING:
    from rocketwire.client.instance.instance import ClientInstance
    from rocketwire.messages.message_queue import MessageQueue

# Maximum pulls of messages that are too old; enough for two thousand in a millisecond
_PULLS: Final = 64


async def find_offset_at(
    instance: ClientInstance, group: str, queue: MessageQueue, timestamp_millis: int
) -> int:
    """Return the offset of that message; the end of the queue if there is none."""
    # One millisecond earlier, so that no message of the millisecond itself is missed.
    search_millis = max(timestamp_millis - 1, 0)
    address = (await find_replica(instance, queue)).address
    offset = await instance.brokers.search_offset(address, queue, search_millis)
    pulls = PullCalls(instance)
    for _ in range(_PULLS):
        result = await pulls.pull(
            PullRequest(
                queue=queue,
                offset=offset,
                group=group,
                subscription=subscription_data(queue.topic or "", version=0),
                suspend_timeout=0,
                send_subscription=True,
            )
        )
        for message in result.messages:
            if message.store_timestamp >= timestamp_millis:
                return message.queue_offset
        if result.status is PullStatus.NO_NEW_MSG or result.next_begin_offset <= offset:
            break
        offset = result.next_begin_offset
    return offset
