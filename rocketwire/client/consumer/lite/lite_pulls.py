"""``LitePulls``: pulls of consumers that pull at their own pace, from brokers of any age."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from rocketwire.client.consumer.pull import PullCalls
from rocketwire.codes import ResponseCode
from rocketwire.errors import BrokerError
from rocketwire.wire.message.stored import DEFAULT_LIMITS

if TYPE_CHECKING:
    from rocketwire.client.consumer.pull import PullRequest, PullResult
    from rocketwire.client.instance.instance import ClientInstance
    from rocketwire.messages.message_queue import MessageQueue
    from rocketwire.wire.message.stored import StoredLimits


class LitePulls:
    """Lite pulls (code 361).

    From brokers that know none, as those of 4.9.4, pulls as of push consumers (code 11).

    Java's consumer gets no message from such brokers.
    """

    def __init__(self, instance: ClientInstance, limits: StoredLimits = DEFAULT_LIMITS) -> None:
        """Nothing is sent yet.

        Args:
            instance: carries the requests.
            limits: how much one answer may hold.
        """
        self._pulls = PullCalls(instance, limits)
        self._without: set[str | None] = set()

    async def pull(self, request: PullRequest) -> PullResult:
        """The answer to a pull; errors and cancellation as of ``PullCalls.pull``."""
        broker = request.queue.broker_name
        if broker not in self._without:
            try:
                return await self._pulls.pull(replace(request, lite=True))
            except BrokerError as error:
                if error.code != ResponseCode.REQUEST_CODE_NOT_SUPPORTED:
                    raise
            self._without.add(broker)
        return await self._pulls.pull(request)

    def forget(self, queue: MessageQueue) -> None:
        """As ``PullCalls.forget``."""
        self._pulls.forget(queue)
