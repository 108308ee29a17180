"""``PushConsumer``: receives messages for tasks of asyncio; ``open_push_consumer`` opens it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from rocketwire.aio.client import trio_client
from rocketwire.aio.opening import Endpoint, Opened, endpoint, immediate
from rocketwire.client.consumer.config import (
    ConsumeConcurrentlyStatus,
    Filter,
    MessageListenerConcurrently,
    MessageListenerOrderly,
    PushConsumerConfig,
    concurrently_context,
)
from rocketwire.client.consumer.push.lending import failed_messages
from rocketwire.client.consumer.push.push_consumer import PushConsumer as TrioPushConsumer
from rocketwire.client.consumer.push.push_consumer import open_push_consumer as open_trio_consumer
from rocketwire.client.consumer.retry import report_failed_handler
from rocketwire.client.handlers import async_handler, check_listeners
from rocketwire.errors import IllegalHandlerError, LocalProtocolError
from rocketwire.portal.inbox import PAUSE, Batch, Delivery, Inbox, check_limit
from rocketwire.portal.likeness import like
from rocketwire.portal.loans import Loan, Loans
from rocketwire.portal.settings import apply_settings, reopens

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager
    from typing import Unpack

    from rocketwire.aio.client import ClientLike
    from rocketwire.messages.message_queue import MessageQueue
    from rocketwire.portal.resources import Resource
    from rocketwire.portal.typed_settings import PushConsumerSettings

_LATER: Final = ConsumeConcurrentlyStatus.RECONSUME_LATER

Listener: TypeAlias = MessageListenerConcurrently
"""Handles messages in the loop. None means success; an exception means ``RECONSUME_LATER``."""

OrderlyListener: TypeAlias = MessageListenerOrderly
"""Handles messages in order, in the loop. None means success.

An exception means that they are handled again.
"""


@like(TrioPushConsumer)
class PushConsumer(Opened[TrioPushConsumer]):
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
        resolved, own = apply_settings(client, config, PushConsumerConfig, settings)
        self.config = own
        self._group = group
        self._listener, orderly_listener = check_listeners(
            async_handler, listener, orderly_listener, orderly=orderly
        )
        self._waiting: dict[asyncio.Future[None], Endpoint] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._inbox = Inbox(self._notify)
        handles = listener is not None or orderly_listener is not None
        self._has_handler = handles
        self._loans = Loans(self._submit if handles else self._inbox.put, handles=handles)
        self._inbox.loans = self._loans

        def opener() -> AbstractAsyncContextManager[TrioPushConsumer]:
            self._inbox.clear()
            portal = self._portal
            concurrent: Any = partial(self._loans.concurrently, portal)
            in_order: Any = None
            if self._listener is not None:
                concurrent = partial(self._run_there, self._listener)
            if orderly_listener is not None:
                in_order = partial(self._run_there, orderly_listener)
            elif orderly:
                in_order = partial(self._loans.orderly, portal)
            return open_trio_consumer(
                trio_client(resolved),
                group,
                subscriptions,
                None if in_order is not None else concurrent,
                orderly_listener=in_order,
                config=own,
                borrower=self._loans,
            )

        super().__init__(opener, reopens=lambda: reopens(resolved))

    def _opened(self, resource: Resource[TrioPushConsumer]) -> None:
        resource.on_closed += [self._inbox.drop, self._wake_all]
        self._loans.attach(resource.portal, resource.thing)

    # ------------------------------------------------------------------ handlers

    def _submit(self, loans: Sequence[Loan]) -> None:
        """Let the loop handle loans; in trio."""
        if self._endpoint is not None:
            self._endpoint.post(partial(self._start, loans))

    def _start(self, loans: Sequence[Loan]) -> None:
        for loan in loans:
            task = asyncio.get_running_loop().create_task(self._handle(loan))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _handle(self, loan: Loan) -> None:
        """Call the listener for the messages of a loan."""
        listener, size = self._listener, self.config.consume_message_batch_max_size
        messages = loan.messages
        for start in range(0, len(messages), size):
            part = [messages[start]] if size == 1 else messages[start : start + size]
            context = concurrently_context(loan.queue, 0, None)
            try:
                status = None if listener is None else await listener(part, context)
            except IllegalHandlerError as error:  # it would fail for every message
                self._fail(error)
                self._loans.abandon(loan)
                return
            except Exception:  # noqa: BLE001 - of the application; logged and retried
                report_failed_handler(part[0], self._group)
                status = ConsumeConcurrentlyStatus.RECONSUME_LATER
            if status is _LATER or context.ack_index is not None:
                failed = failed_messages(part, status, context)
                if failed:
                    loan.failures.append((failed, context))
        self._loans.settle(loan, soon=len(self._tasks) > 1)

    def _fail(self, error: Exception) -> None:
        """End the consumer with an error."""
        if self._opening is not None:
            self._opening.fail_soon(error)

    # ------------------------------------------------------------------ iteration

    def _notify(self) -> None:
        if self._waiting:  # they look for messages again after they have said that they wait
            self._wake_all()

    def _wake_all(self) -> None:
        """Wake all tasks that wait, each in its own loop; from any thread."""
        for future, where in self._waiting.copy().items():
            where.post(partial(_wake, future))

    async def _wait(self, take: Callable[[], Any], within: float | None) -> Any:
        """Return what ``take`` returns when it is not None; None after the timeout.

        Raises:
            ClientForkedError: this process is a fork of the one that opened the consumer.
            ChannelClosedError: the consumer was closed; or the error that has ended it.
        """
        if self._has_handler:
            raise LocalProtocolError("the consumer has a handler (listener): it cannot be iterated")
        resource = self._open_resource
        if resource.portal.is_forked:
            resource = await self._open_again()
        taken = take()
        if taken is not None:
            return taken
        resource.thing  # noqa: B018 - raises if the consumer has ended
        where = endpoint()
        with suppress(TimeoutError):
            async with asyncio.timeout(within):
                if self._inbox.lags:
                    await asyncio.sleep(PAUSE)
                while True:
                    future = where.loop.create_future()
                    self._waiting[future] = where
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
            max: most messages.
            within: timeout in seconds; None to wait for ever.

        Raises:
            IllegalValueError: ``max`` is not a positive number.
            LocalProtocolError: the consumer has a listener.
            ChannelClosedError: the consumer was closed.
        """
        check_limit(max)
        batch: Batch | None = await self._wait(partial(self._inbox.take, max), within)
        return batch

    async def batches(self, max: int = 32) -> AsyncIterator[Batch]:  # noqa: A002 - the usual word
        """Iterate over batches of at most ``max`` messages; the next one acknowledges the last."""
        check_limit(max)
        while True:
            batch = None if self._has_handler else self._inbox.take(max)
            if batch is None and (batch := await self.poll(max)) is None:
                return
            yield batch
            batch.ack()

    async def __aiter__(self) -> AsyncIterator[Delivery]:
        """Iterate over messages; the next one acknowledges the last."""
        while True:
            delivery = None if self._has_handler else self._inbox.take_one()
            if delivery is None:
                delivery = await self._wait(self._inbox.take_one, None)
            if delivery is None:
                return
            yield delivery
            delivery.ack()

    # ------------------------------------------------------------------ the trio consumer

    async def close(self) -> None:
        self._inbox.drop()
        await super().close()
        tasks = [task for task in self._tasks if task is not asyncio.current_task()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._wake_all()

    subscribe: Final = immediate(TrioPushConsumer.subscribe)
    unsubscribe: Final = immediate(TrioPushConsumer.unsubscribe)
    suspend: Final = immediate(TrioPushConsumer.suspend)
    resume: Final = immediate(TrioPushConsumer.resume)

    @property
    def assigned(self) -> tuple[MessageQueue, ...]:
        return self._thing.assigned

    @property
    def unreadable_messages(self) -> int:
        return self._thing.unreadable_messages


def _wake(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)


def open_push_consumer(
    client: ClientLike,
    group: str,
    subscriptions: Mapping[str, Filter],
    listener: Listener | None = None,
    *,
    orderly_listener: OrderlyListener | None = None,
    orderly: bool = False,
    config: PushConsumerConfig | None = None,
    **settings: Unpack[PushConsumerSettings],
) -> PushConsumer:
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
    return PushConsumer(
        client,
        group,
        subscriptions,
        listener,
        orderly_listener=orderly_listener,
        orderly=orderly,
        config=config,
        **settings,
    )
