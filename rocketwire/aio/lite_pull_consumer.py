"""``LitePullConsumer``: polls for messages; ``open_lite_pull_consumer`` opens it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from rocketwire.aio.opening import FacadeClient
from rocketwire.client.consumer.lite import lite_pull_consumer as trio
from rocketwire.client.consumer.lite.lite_pull_consumer import LitePullConsumerConfig
from rocketwire.portal.consumers import LitePullMethods, poll_into
from rocketwire.portal.methods import opens
from rocketwire.portal.settings import apply_settings

if TYPE_CHECKING:
    from typing import Unpack

    from rocketwire.aio.client import ClientLike
    from rocketwire.client.consumer.lite.lite_pull_consumer import Polled
    from rocketwire.portal.settings import LitePullConsumerSettings


class LitePullConsumer(LitePullMethods, FacadeClient[trio.LitePullConsumer]):
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
        resolved, config = apply_settings(client, config, LitePullConsumerConfig, settings)
        self.config: LitePullConsumerConfig = config
        self._kept: list[Polled] = []
        self._use_client(
            resolved, partial(trio.open_lite_pull_consumer, group=group, config=config)
        )

    async def poll(self, within: float = 5.0) -> Polled | None:
        if self._kept:
            return self._kept.pop()
        results: list[Polled | None] = []
        try:
            await self._call(poll_into, results, within)
        except BaseException:  # trio may have polled before it was cancelled
            self._kept += [polled for polled in results if polled is not None]
            raise
        return results[0]


@opens(LitePullConsumer)
def open_lite_pull_consumer(*_: Any, **__: Any) -> Any:
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
