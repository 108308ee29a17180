"""The first message of a queue that was stored at a time or later, whatever the broker's search makes of the time.

Java's brokers before 5.0 answer with the message whose time is *nearest*, which may be an older one, or with any of those of the
very millisecond; Java's consumers begin there.  Java: ``ConsumeQueue.getOffsetInQueueByTime`` of 4.9.4.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rocketwire.client.consumer.pull import PullCalls, PullRequest, PullStatus
from rocketwire.client.consumer.queues import replica_of
from rocketwire.policy.subscription import subscription_data

if TYPE_CHECKING:
    from rocketwire.client.instance.instance import ClientInstance
    from rocketwire.messages.message_queue import MessageQueue

_PULLS: Final = 64
"""Most looks at messages that are too old: two thousand of one millisecond."""


async def offset_at(
    instance: ClientInstance, group: str, queue: MessageQueue, timestamp_millis: int
) -> int:
    """The offset of that message; the queue's end if there is none.

    Args:
        instance: carries the requests.
        group: for which it is looked.
        queue: where.
        timestamp_millis: the time.

    Raises:
        ClientError, ChannelError: the broker does not tell.
    """
    before = max(timestamp_millis - 1, 0)  # nothing of the millisecond itself is passed over
    address = (await replica_of(instance, queue)).address
    offset = await instance.brokers.search_offset(address, queue, before)
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
