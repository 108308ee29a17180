"""Methods of the push and lite pull consumers of both facades, and how messages are settled."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from rocketwire.client.consumer.config import (
    ConsumeConcurrentlyStatus,
    Filter,
    PushConsumerConfig,
    concurrently_context,
)
from rocketwire.client.consumer.lite import lite_pull_consumer as trio
from rocketwire.client.consumer.push.push_consumer import PushConsumer, open_push_consumer
from rocketwire.client.consumer.retry import report_failed_handler
from rocketwire.errors import LocalProtocolError
from rocketwire.portal.loans import Inbox, Loan, Loans
from rocketwire.portal.methods import ClientUser, delegate

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager

    from rocketwire.client.consumer.config import ConsumeConcurrentlyContext
    from rocketwire.client.consumer.lite.lite_pull_consumer import Polled
    from rocketwire.client.instance.instance import Client
    from rocketwire.messages.message_queue import MessageQueue
    from rocketwire.portal.calls import Post
    from rocketwire.portal.portal import Resource
    from rocketwire.wire.message.stored import StoredMessage


class PushMethods(ClientUser, of=PushConsumer):
    _waiting: Any  # threads or tasks that wait for messages; false without any

    if TYPE_CHECKING:

        def _wake_all(self) -> None:
            """Wake all threads or tasks that wait for messages; from any thread."""

        def _submit(self, loans: Sequence[Loan]) -> None:
            """Let handlers have loans; in trio."""

    subscribe: Final = delegate(PushConsumer.subscribe)
    unsubscribe: Final = delegate(PushConsumer.unsubscribe)
    suspend: Final = delegate(PushConsumer.suspend)
    resume: Final = delegate(PushConsumer.resume)

    @property
    def assigned(self) -> tuple[MessageQueue, ...]:
        assigned: tuple[MessageQueue, ...] = self._client_in_trio.assigned
        return assigned

    @property
    def unreadable_messages(self) -> int:
        return int(self._client_in_trio.unreadable_messages)

    def _prepare(
        self,
        config: PushConsumerConfig,
        group: str,
        listener: Any,
        orderly_listener: Any,
        *,
        orderly: bool,
    ) -> None:
        self.config: PushConsumerConfig = config
        self._group = group
        self._listener = listener
        self._orderly_listener = orderly_listener
        self._orderly = orderly
        self._has_handler = handles = listener is not None or orderly_listener is not None
        self._inbox = Inbox(self._notify)
        self._loans = Loans(self._submit if handles else self._inbox.put, handles=handles)
        self._inbox.loans = self._loans

    def _open_consumer(
        self,
        client: Client,
        subscriptions: Mapping[str, Filter],
        post: Post,
        run: Callable[..., Any],
    ) -> AbstractAsyncContextManager[PushConsumer]:
        self._inbox.clear()
        lend = partial(self._loans.lend, post)
        in_order: Any = lend if self._orderly else None
        if self._orderly_listener is not None:
            in_order = partial(run, self._orderly_listener)
        # also with a borrower trio calls it for a message that an operator sends directly
        concurrent: Any = lend if self._listener is None else partial(run, self._listener)
        return open_push_consumer(
            client,
            self._group,
            subscriptions,
            None if in_order is not None else concurrent,
            orderly_listener=in_order,
            config=self.config,
            borrower=self._loans,
        )

    def _opened(self, resource: Resource[PushConsumer]) -> None:
        resource.on_closed += [self._inbox.drop, self._wake_all]
        self._loans.attach(resource.portal.post, resource.value)

    def _notify(self) -> None:
        if self._waiting:  # they look for messages again after they have said that they wait
            self._wake_all()

    def _split(
        self, loan: Loan
    ) -> Iterator[tuple[Sequence[StoredMessage], ConsumeConcurrentlyContext]]:
        messages, size = loan.messages, self.config.consume_message_batch_max_size
        for start in range(0, len(messages), size):
            part = [messages[start]] if size == 1 else messages[start : start + size]
            yield part, concurrently_context(loan.queue, 0, None)

    def _report(self, part: Sequence[StoredMessage]) -> ConsumeConcurrentlyStatus:
        report_failed_handler(part[0], self._group)
        return ConsumeConcurrentlyStatus.RECONSUME_LATER

    def _check_iteration(self) -> None:
        if self._has_handler:
            raise LocalProtocolError("the consumer has a handler (listener): it cannot be iterated")


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
