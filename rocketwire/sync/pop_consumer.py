"""``PopConsumer``: the broker keeps track of each message; ``open_pop_consumer`` opens it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from rocketwire.client.consumer.pop import pop_consumer as trio
from rocketwire.client.consumer.pop.pop_consumer import PopConsumerConfig
from rocketwire.client.handlers import sync_function
from rocketwire.portal.methods import ClientUser, delegate, opens
from rocketwire.portal.settings import apply_settings
from rocketwire.sync.opening import FacadeClient, Pool

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from concurrent.futures import Executor
    from typing import Unpack

    from rocketwire.client.consumer.config import Filter
    from rocketwire.portal.settings import PopConsumerSettings
    from rocketwire.sync.client import ClientLike
    from rocketwire.wire.message.stored import StoredMessage

PopListener: TypeAlias = "Callable[[StoredMessage], bool | None]"
"""Handles a message. After False or an exception the message is redelivered later.

Any other result acknowledges it.
"""


class PopConsumer(ClientUser, FacadeClient[trio.PopConsumer], of=trio.PopConsumer):
    """A pop consumer of a group."""

    def __init__(
        self,
        client: ClientLike,
        group: str,
        subscriptions: Mapping[str, Filter],
        listener: PopListener,
        *,
        config: PopConsumerConfig | None = None,
        executor: Executor | None = None,
        **settings: Unpack[PopConsumerSettings],
    ) -> None:
        """Open a consumer; for arguments and errors see ``open_pop_consumer``."""
        resolved, consumer_config = apply_settings(client, config, PopConsumerConfig, settings)
        self.config: PopConsumerConfig = consumer_config
        sync_function("handler (listener)", listener, "message")
        threads = Pool(executor, consumer_config.consume_thread_max)
        run = partial(threads.run, listener)
        self._use_client(
            resolved,
            lambda trio_client: trio.open_pop_consumer(
                trio_client, group, subscriptions, run, config=consumer_config
            ),
            pool=threads,
        )

    subscribe: Final = delegate(trio.PopConsumer.subscribe)

    @property
    def unreadable_messages(self) -> int:
        return self._client_in_trio.unreadable_messages


@opens(PopConsumer)
def open_pop_consumer(*_: Any, **__: Any) -> Any:
    """Open a pop consumer; the end of its block, or ``close``, closes it.

    It requires brokers of 5.0 or newer.

    Args:
        client: an open client; settings or name servers (``host:port;host:port``) of a new one,
            which is closed with the consumer; or None for settings from the environment.
        group: consumer group.
        subscriptions: see ``open_push_consumer``.
        listener: a function of (message) that handles a message.
        config: settings of the consumer.
        executor: the threads in which the listener is called; None for threads of the consumer.
        settings: single settings of the consumer or of a new client.

    Raises:
        IllegalHandlerError, IllegalTypeError: see ``open_push_consumer``.
        LocalProtocolError: a name or an expression is invalid, or the client already has a consumer
            of the group.
        BrokerError: the broker rejects an expression.
        ClientError, ChannelError: the broker is not reachable.

    Closing: running handlers get ``await_termination`` to finish. Messages without a handler are
    returned at once and redelivered after 10 seconds; others that are not acknowledged are
    redelivered when their time is up.
    """
