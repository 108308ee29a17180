"""``PushConsumer``: receives messages for tasks of asyncio; ``open_push_consumer`` opens it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

from rocketwire.aio.opening import Endpoint, FacadeClient, get_endpoint, wake
from rocketwire.client.consumer.config import (
    Filter,
    MessageListenerConcurrently,
    MessageListenerOrderly,
    PushConsumerConfig,
)
from rocketwire.client.consumer.push.push_consumer import PushConsumer as TrioPushConsumer
from rocketwire.client.handlers import async_handler, check_listeners
from rocketwire.errors import IllegalHandlerError
from rocketwire.portal.consumers import PushMethods
from rocketwire.portal.loans import PAUSE, Batch, Delivery, check_limit
from rocketwire.portal.methods import opens
from rocketwire.portal.settings import apply_settings

if TYPE_CHECKING:
    from typing import Unpack

    from rocketwire.aio.client import ClientLike
    from rocketwire.portal.loans import Loan
    from rocketwire.portal.settings import PushConsumerSettings

Listener: TypeAlias = MessageListenerConcurrently
"""Handles messages in the loop. None means success; an exception means ``RECONSUME_LATER``."""

OrderlyListener: TypeAlias = MessageListenerOrderly
"""Handles messages in order, in the loop. None means success.

An exception means that they are handled again.
"""


class PushConsumer(PushMethods, FacadeClient[TrioPushConsumer]):
    """A push consumer of a group, for any number of tasks."""

    def __init__(
        self,
        client: ClientLike,
        group: str,
        subscriptions: Mapping[str, Filter],
        listener: Listener | None = None,
        *,
        orderly_listener: OrderlyListener | None = None,
        orderly: bool = False,
        config: PushConsumerConfig | None = None,
        **settings: Unpack[PushConsumerSettings],
    ) -> None:
        """Open nothing yet; for arguments and errors see ``open_push_consumer``."""
        resolved, config = apply_settings(client, config, PushConsumerConfig, settings)
        self._waiting: dict[asyncio.Future[None], Endpoint] = {}
        listener, orderly_listener = check_listeners(
            async_handler, listener, orderly_listener, orderly=orderly
        )
        self._prepare(config, group, listener, orderly_listener, orderly=orderly)
        run = partial(self._run_in_loop, None)
        self._use_client(
            resolved,
            lambda trio_client: self._open_consumer(trio_client, subscriptions, self._post, run),
        )

    def _submit(self, loans: Sequence[Loan]) -> None:
        if self._endpoint is not None:
            self._endpoint.post(partial(self._start, loans))

    def _start(self, loans: Sequence[Loan]) -> None:
        for loan in loans:
            self._start_handler(self._handle(loan))

    async def _handle(self, loan: Loan) -> None:
        for part, context in self._split(loan):
            try:
                status = await self._listener(part, context)
            except IllegalHandlerError as error:  # it would fail for every message
                if self._opening is not None:
                    self._opening.fail_soon(error)
                self._loans.abandon(loan)
                return
            except Exception:  # noqa: BLE001 - of the application; logged and retried
                status = self._report(part)
            loan.add_result(part, status, context)
        self._loans.settle(loan, soon=len(self._handlers) > 1)

    def _wake_all(self) -> None:
        for future, endpoint in self._waiting.copy().items():  # each in its own loop
            endpoint.post(partial(wake, future))

    async def _wait(self, take: Callable[[], Any], within: float | None) -> Any:
        self._check_iteration()
        resource = self._open_resource
        if resource.portal.is_forked:
            resource = await self._open_again()
        taken = take()
        if taken is not None:
            return taken
        resource.value  # noqa: B018 - raises if the consumer has ended
        endpoint = get_endpoint()
        with suppress(TimeoutError):
            async with asyncio.timeout(within):
                if self._inbox.lags:
                    await asyncio.sleep(PAUSE)
                while True:
                    future = endpoint.loop.create_future()
                    self._waiting[future] = endpoint
                    try:
                        if (taken := take()) is not None:
                            return taken
                        if resource.is_closed or self._resource is None:
                            if resource.error is not None:
                                raise resource.error
                            return None
                        await future
                    finally:
                        del self._waiting[future]
        return None

    async def poll(self, max: int = 32, within: float | None = None) -> Batch | None:  # noqa: A002 - the usual word
        """Return the next messages of a queue; None if there are none in time.

        They are handled when ``Batch.ack`` is called.

        Args:
            max: maximum number of messages.
            within: timeout in seconds; None to wait for ever.

        Raises:
            IllegalValueError: ``max`` is not a positive number.
            LocalProtocolError: the consumer has a listener.
            ChannelClosedError: the consumer was closed.
        """
        check_limit(max)
        batch: Batch | None = await self._wait(partial(self._inbox.take, max), within)
        return batch

    def batches(self, max: int = 32) -> AsyncIterator[Batch]:  # noqa: A002 - the usual word
        """Iterate over batches of at most ``max`` messages; the next one acknowledges the last."""
        check_limit(max)
        return self._iterate(partial(self._inbox.take, max))

    def __aiter__(self) -> AsyncIterator[Delivery]:
        """Iterate over messages; the next one acknowledges the last."""
        return self._iterate(self._inbox.take_one)

    async def _iterate(self, take: Callable[[], Any]) -> AsyncIterator[Any]:
        while True:
            taken = None if self._has_handler else take()
            if taken is None and (taken := await self._wait(take, None)) is None:
                return
            yield taken
            taken.ack()

    async def close(self) -> None:
        self._inbox.drop()
        await super().close()
        self._wake_all()


@opens(PushConsumer)
def open_push_consumer(*_: Any, **__: Any) -> Any:
    """Open a push consumer with ``async with`` or ``await``; the block's end or ``close`` ends it.

    Args:
        client: an open client; settings or name servers (``host:port;host:port``) of a new one,
            which is closed with the consumer; or None for settings from the environment. A client
            has at most one consumer of a group.
        group: consumer group.
        subscriptions: filter by topic: tags as ``a || b``, ``*`` for all, or expression and type,
            for example ``("a > 5", "SQL92")``.
        listener: a coroutine function of (messages, context) that handles messages in any order.
            Without a listener the consumer is iterated, or polled.
        orderly_listener: a coroutine function of (messages, context) that handles the messages of
            each queue in order.
        orderly: whether iteration keeps order; implied by ``orderly_listener``.
        config: settings of the consumer.
        settings: single settings of the consumer or of a new client.

    Raises:
        IllegalHandlerError: a listener is not async, or does not take two arguments.
        IllegalTypeError: an argument has the wrong type, or a setting is unknown.
        LocalProtocolError: a name or an expression is invalid, there are two listeners, or the
            client already has a consumer of the group.
        BrokerError: the broker rejects an expression.
        ClientError, ChannelError: the broker is not reachable.

    Closing: pulls end, handlers get ``await_termination`` to finish, offsets are stored, queues are
    unlocked, and the consumer is unregistered. Messages that were not handled are redelivered, here
    or to another member.
    """
