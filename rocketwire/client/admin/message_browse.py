"""Reads messages at their offsets, without a group's offsets: of a queue, or all of a topic.

Java: ``QueryMsgByOffsetSubCommand``, ``PrintMessageSubCommand``.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import TYPE_CHECKING, Final

from rocketwire.client.admin.clusters import ClusterCalls
from rocketwire.client.admin.fanout import leave_out
from rocketwire.client.consumer.pull import PullCalls, PullRequest, PullStatus
from rocketwire.client.consumer.pulled_messages import ReadReport
from rocketwire.client.consumer.queues import find_master, get_queues
from rocketwire.client.periodic import now_millis
from rocketwire.errors import ChannelError
from rocketwire.messages.message_queue import MessageQueue
from rocketwire.policy.resource_names import has_own_route
from rocketwire.policy.subscription import subscription_data

if TYPE_CHECKING:
    from rocketwire.client.instance.instance import ClientInstance
    from rocketwire.wire.message.stored import StoredMessage

TOOLS_GROUP: Final = "TOOLS_CONSUMER"
"""Consumer group of operators' pulls (Java: ``MixAll.TOOLS_CONSUMER_GROUP``)."""


class MessageBrowse(ClusterCalls):
    """Requests that read messages.

    For errors see ``AdminCalls.ask``; ``TopicRouteNotFoundError`` for unknown topics.
    """

    def __init__(self, client: ClientInstance, within: float) -> None:
        """Send nothing yet."""
        super().__init__(client, within)
        self._pulls = PullCalls(client)
        self._report = ReadReport(TOOLS_GROUP)

    async def at(self, queue: MessageQueue, offset: int) -> StoredMessage | None:
        """Fetch the message at an offset of a queue; None if there is none (code 11).

        Java: ``QueryMsgByOffsetSubCommand``.

        Raises:
            BrokerNotFoundError: the queue's broker has no known address.
        """
        messages = await self._pull(queue, offset, None, 1)
        return messages[1][0] if messages[1] and messages[1][0].queue_offset == offset else None

    async def walk(
        self,
        topic: str,
        *,
        begin: int | None = None,
        end: int | None = None,
        expression: str | None = None,
        queue: MessageQueue | None = None,
        by: str | None = None,
    ) -> AsyncGenerator[StoredMessage]:
        """Yield the messages of a topic, queue by queue (codes 29, 30, 31, 11).

        Close the generator (``contextlib.aclosing``) if you do not read it to its end. Within
        ``leaving_out`` it skips the remaining queues of a broker that does not respond.
        Java: ``PrintMessageSubCommand``.

        Args:
            begin: earliest store time, milliseconds since 1970; None for the oldest message.
            end: store time limit, exclusive; None for the current end.
            expression: tags, for example ``a || b``.
            queue: only this queue.
            by: see ``Clusters.of_topic``.
        """
        queues = await self._queues(topic, queue, by)
        errors: dict[str, ChannelError] = {}
        has_response = False
        for walked_queue in queues:
            address = await find_master(self.client, walked_queue)
            if address in errors:
                continue
            try:
                async with aclosing(
                    self._read(walked_queue, address, begin, end, expression)
                ) as messages:
                    async for message in messages:
                        yield message
            except ChannelError as error:
                errors[address] = leave_out(address, error)
            else:
                has_response = True
        if errors and not has_response:
            raise next(iter(errors.values()))

    async def _queues(
        self, topic: str, queue: MessageQueue | None, by: str | None
    ) -> tuple[MessageQueue, ...]:
        """Return the queues to read."""
        places = await self._clusters.of_topic(topic, by=by)
        if queue is not None:
            return (queue,)
        if has_own_route(topic):
            return await get_queues(self.client, topic)
        # they have one queue in each broker
        return tuple(MessageQueue(topic=topic, broker_name=name, queue_id=0) for name in places)

    async def _read(
        self,
        queue: MessageQueue,
        address: str,
        begin: int | None,
        end: int | None,
        expression: str | None,
    ) -> AsyncGenerator[StoredMessage]:
        """Yield the messages of a queue; for the arguments see ``walk``."""
        brokers = self.client.brokers
        if begin is None:
            offset = await brokers.min_offset(address, queue)
        else:
            offset = await brokers.search_offset(address, queue, begin)
        last = await brokers.max_offset(address, queue)
        if end is not None:
            last = min(last, await brokers.search_offset(address, queue, end))
        while offset < last:
            offset, messages = await self._pull(queue, offset, expression, 32)
            for message in messages:
                if message.queue_offset < last:
                    yield message

    async def _pull(
        self, queue: MessageQueue, offset: int, expression: str | None, number: int
    ) -> tuple[int, list[StoredMessage]]:
        request = PullRequest(
            queue=queue,
            offset=offset,
            group=TOOLS_GROUP,
            subscription=subscription_data(queue.topic or "", expression, version=now_millis()),
            max_msg_nums=number,
            suspend_timeout=0,
            send_subscription=True,
        )
        result = await self._pulls.pull(request, within=self.within)
        self._report.report_pull(queue, result)
        if result.status is PullStatus.NO_NEW_MSG:
            return max(result.next_begin_offset, result.max_offset), []
        return max(result.next_begin_offset, offset + 1), result.messages
