"""Methods of a lite pull consumer, for both facades."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rocketwire.client.consumer.lite import lite_pull_consumer as trio
from rocketwire.portal.methods import ClientUser, delegate

if TYPE_CHECKING:
    from rocketwire.client.consumer.lite.lite_pull_consumer import Polled
    from rocketwire.messages.message_queue import MessageQueue


class LitePullMethods(ClientUser, of=trio.LitePullConsumer):
    subscribe: Final = delegate(trio.LitePullConsumer.subscribe)
    assign: Final = delegate(trio.LitePullConsumer.assign)
    fetch_message_queues: Final = delegate(trio.LitePullConsumer.fetch_message_queues)
    pause: Final = delegate(trio.LitePullConsumer.pause)
    resume: Final = delegate(trio.LitePullConsumer.resume)
    seek: Final = delegate(trio.LitePullConsumer.seek)
    go_back: Final = delegate(trio.LitePullConsumer.go_back)
    seek_to_begin: Final = delegate(trio.LitePullConsumer.seek_to_begin)
    seek_to_end: Final = delegate(trio.LitePullConsumer.seek_to_end)
    offset_range: Final = delegate(trio.LitePullConsumer.offset_range)
    offset_for_timestamp: Final = delegate(trio.LitePullConsumer.offset_for_timestamp)
    commit: Final = delegate(trio.LitePullConsumer.commit)
    committed: Final = delegate(trio.LitePullConsumer.committed)

    @property
    def assignment(self) -> tuple[MessageQueue, ...]:
        assignment: tuple[MessageQueue, ...] = self._client_in_trio.assignment
        return assignment

    @property
    def unreadable_messages(self) -> int:
        return int(self._client_in_trio.unreadable_messages)


async def poll_into(
    consumer: trio.LitePullConsumer, results: list[Polled | None], within: float
) -> None:
    # the caller finds the result also if it was cancelled too late
    results.append(await consumer.poll(within))
