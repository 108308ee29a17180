"""``LitePullConsumer``: polls for messages; ``open_lite_pull_consumer`` opens it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rocketwire.aio.client import trio_client
from rocketwire.aio.opening import Opened, awaitable, immediate
from rocketwire.client.consumer.lite import lite_pull_consumer as trio
from rocketwire.client.consumer.lite.lite_pull_state import LitePullConsumerConfig
from rocketwire.portal.likeness import like
from rocketwire.portal.settings import apply_settings, reopens

if TYPE_CHECKING:
    from typing import Unpack

    from rocketwire.aio.client import ClientLike
    from rocketwire.client.consumer.lite.lite_pull_state import Polled
    from rocketwire.messages.message_queue import MessageQueue
    from rocketwire.portal.typed_settings import LitePullConsumerSettings


@like(trio.LitePullConsumer)
class LitePullConsumer(Opened[trio.LitePullConsumer]):
    """A lite pull consumer of a group."""

    def __init__(
        self,
        client: ClientLike,
        group: str,
        *,
        config: LitePullConsumerConfig | None = None,
        **settings: Unpack[LitePullConsumerSettings],
    ) -> None:
        """Open nothing yet; for arguments and errors see ``open_lite_pull_consumer``."""
        resolved, own = apply_settings(client, config, LitePullConsumerConfig, settings)
        self.config = own
        self._kept: list[Polled | None] = []
        super().__init__(
            lambda: trio.open_lite_pull_consumer(trio_client(resolved), group, config=own),
            reopens=lambda: reopens(resolved),
        )

    async def poll(self, within: float = 5.0) -> Polled | None:
        if self._kept:
            return self._kept.pop()
        polled: Polled | None = await self._call_and_keep(
            self._kept, trio.LitePullConsumer.poll, within
        )
        return polled

    subscribe: Final = immediate(trio.LitePullConsumer.subscribe)
    assign: Final = immediate(trio.LitePullConsumer.assign)
    fetch_message_queues: Final = awaitable(trio.LitePullConsumer.fetch_message_queues)
    pause: Final = immediate(trio.LitePullConsumer.pause)
    resume: Final = immediate(trio.LitePullConsumer.resume)
    seek: Final = awaitable(trio.LitePullConsumer.seek)
    go_back: Final = immediate(trio.LitePullConsumer.go_back)
    seek_to_begin: Final = awaitable(trio.LitePullConsumer.seek_to_begin)
    seek_to_end: Final = awaitable(trio.LitePullConsumer.seek_to_end)
    offset_range: Final = awaitable(trio.LitePullConsumer.offset_range)
    offset_for_timestamp: Final = awaitable(trio.LitePullConsumer.offset_for_timestamp)
    commit: Final = awaitable(trio.LitePullConsumer.commit)
    committed: Final = awaitable(trio.LitePullConsumer.committed)

    @property
    def assignment(self) -> tuple[MessageQueue, ...]:
        return self._thing.assignment

    @property
    def unreadable_messages(self) -> int:
        return self._thing.unreadable_messages


def open_lite_pull_consumer(
    client: ClientLike,
    group: str,
    *,
    config: LitePullConsumerConfig | None = None,
    **settings: Unpack[LitePullConsumerSettings],
) -> LitePullConsumer:
    """Open a consumer with ``async with`` or ``await``; the block's end or ``close`` ends it.

    It has no queues before ``subscribe`` or ``assign``.

    Args:
        client: an open client; settings or name servers (``host:port;host:port``) of a new one,
            which is closed with the consumer; or None for settings from the environment.
        group: consumer group.
        config: settings of the consumer.
        settings: single settings of the consumer or of a new client.

    Raises:
        IllegalTypeError: an argument has the wrong type, or a setting is unknown.
        LocalProtocolError: the group name is invalid, or the client already has a consumer of the
            group.

    Closing: with ``auto_commit`` the offsets of handled messages are stored. The messages of the
    last ``poll`` do not count as handled, unless ``commit`` was called: they are redelivered.
    """
    return LitePullConsumer(client, group, config=config, **settings)
