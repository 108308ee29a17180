"""``PushConsumer``: receives messages for ordinary threads; ``open_push_consumer`` opens it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from threading import Condition
from typing import TYPE_CHECKING, Any, TypeAlias

from rocketwire.client.consumer.config import (
    ConsumeConcurrentlyContext,
    ConsumeConcurrentlyStatus,
    ConsumeOrderlyContext,
    ConsumeOrderlyStatus,
    Filter,
    PushConsumerConfig,
)
from rocketwire.client.consumer.push.push_consumer import PushConsumer as TrioPushConsumer
from rocketwire.client.handlers import check_listeners, sync_function
from rocketwire.portal.consumers import PushMethods
from rocketwire.portal.loans import PAUSE, Batch, Delivery, check_limit
from rocketwire.portal.methods import opens
from rocketwire.portal.settings import apply_settings
from rocketwire.sync.opening import FacadeClient, Pool
from rocketwire.wire.message.stored import StoredMessage

if TYPE_CHECKING:
    from concurrent.futures import Executor
    from contextlib import AbstractAsyncContextManager
    from typing import Unpack

    from rocketwire.client.instance.instance import Client
    from rocketwire.portal.loans import Loan
    from rocketwire.portal.settings import PushConsumerSettings
    from rocketwire.sync.client import ClientLike


Listener: TypeAlias = Callable[
    [Sequence[StoredMessage], ConsumeConcurrentlyContext], ConsumeConcurrentlyStatus | None
]
"""Handles messages. None means success; an exception means ``RECONSUME_LATER``."""

OrderlyListener: TypeAlias = Callable[
    [Sequence[StoredMessage], ConsumeOrderlyContext], ConsumeOrderlyStatus | None
]
"""Handles messages in order. None means success; an exception means that they are handled again."""


class PushConsumer(PushMethods, FacadeClient[TrioPushConsumer]):
    """A push consumer of a group, for any number of threads."""

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
        executor: Executor | None = None,
        **settings: Unpack[PushConsumerSettings],
    ) -> None:
        """Open a consumer; for arguments and errors see ``open_push_consumer``."""
        resolved, config = apply_settings(client, config, PushConsumerConfig, settings)
        self._ready = Condition()
        self._waiting = 0
        check_listeners(sync_function, listener, orderly_listener, orderly=orderly)
        self._prepare(config, group, listener, orderly_listener, orderly=orderly)
        self._threads = threads = Pool(executor, config.consume_thread_max)

        def open_trio(client: Client) -> AbstractAsyncContextManager[TrioPushConsumer]:
            self._ready, self._waiting = Condition(), 0  # a fork may have copied a locked one
            post = self._opening.portal.post
            return self._open_consumer(client, subscriptions, post, threads.run)

        self._use_client(resolved, open_trio, pool=threads)

    def _submit(self, loans: Sequence[Loan]) -> None:
        with suppress(RuntimeError):  # the program ends, and so do all pools
            for loan in loans:
                self._threads.executor.submit(self._handle, loan)

    def _handle(self, loan: Loan) -> None:
        for part, context in self._split(loan):
            try:
                status = self._listener(part, context)
            except Exception:  # noqa: BLE001 - of the application; logged and retried
                status = self._report(part)
            loan.add_result(part, status, context)
        self._loans.settle(loan)

    def _wake_all(self) -> None:
        with self._ready:
            self._ready.notify_all()

    def _wait(self, take: Callable[[], Any], within: float | None) -> Any:
        self._check_iteration()
        resource = self._open_resource
        taken = take()
        if taken is not None:
            return taken
        resource.value  # noqa: B018 - raises if the consumer has ended
        deadline = None if within is None else time.monotonic() + within
        if self._inbox.lags and (within is None or within > PAUSE):
            time.sleep(PAUSE)
        with self._ready:
            self._waiting += 1
            try:
                while (taken := take()) is None:
                    if resource.is_closed or self._closed:
                        if resource.error is not None:
                            raise resource.error
                        return None
                    seconds_left = None if deadline is None else deadline - time.monotonic()
                    if seconds_left is not None and seconds_left <= 0:
                        return None
                    self._ready.wait(seconds_left)
            finally:
                self._waiting -= 1
        return taken

    def poll(self, max: int = 32, within: float | None = None) -> Batch | None:  # noqa: A002 - the usual word
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
        batch: Batch | None = self._wait(partial(self._inbox.take, max), within)
        return batch

    def batches(self, max: int = 32) -> Iterator[Batch]:  # noqa: A002 - the usual word
        """Iterate over batches of at most ``max`` messages; the next one acknowledges the last."""
        check_limit(max)
        return self._iterate(partial(self._inbox.take, max))

    def __iter__(self) -> Iterator[Delivery]:
        """Iterate over messages; the next one acknowledges the last."""
        return self._iterate(self._inbox.take_one)

    def _iterate(self, take: Callable[[], Any]) -> Iterator[Any]:
        while True:
            taken = None if self._has_handler else take()
            if taken is None and (taken := self._wait(take, None)) is None:
                return
            yield taken
            taken.ack()

    def close(self) -> None:
        self._inbox.drop()
        super().close()
        self._wake_all()


@opens(PushConsumer)
def open_push_consumer(*_: Any, **__: Any) -> Any:
    """Open a push consumer; ``close`` or the end of its block closes it.

    Args:
        client: an open client; settings or name servers (``host:port;host:port``) of a new one,
            which is closed with the consumer; or None for settings from the environment. A client
            has at most one consumer of a group.
        group: consumer group.
        subscriptions: filter by topic: tags as ``a || b``, ``*`` for all, or expression and type,
            for example ``("a > 5", "SQL92")``.
        listener: a function of (messages, context) that handles messages in any order. Without a
            listener the consumer is iterated, or polled.
        orderly_listener: a function of (messages, context) that handles the messages of each queue
            in order.
        orderly: whether iteration keeps order; implied by ``orderly_listener``.
        config: settings of the consumer.
        executor: the threads in which listeners are called; None for threads of the consumer.
        settings: single settings of the consumer or of a new client.

    Raises:
        IllegalHandlerError: a listener is a coroutine function, or does not take two arguments.
        IllegalTypeError: an argument has the wrong type, or a setting is unknown.
        LocalProtocolError: a name or an expression is invalid, there are two listeners, or the
            client already has a consumer of the group.
        BrokerError: the broker rejects an expression.
        ClientError, ChannelError: the broker is not reachable.

    Closing: pulls end, handlers get ``await_termination`` to finish, offsets are stored, queues are
    unlocked, and the consumer is unregistered. Messages that were not handled are redelivered, here
    or to another member.
    """
