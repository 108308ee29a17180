"""Hooks: code that sees each send, receive, handler call and settlement of a client.

A hook is a subclass of ``ClientHook``; ``ClientConfig.hooks`` has the hooks of a client. Without
hooks the clients do not import this module.

Java: ``SendMessageHook``, ``ConsumeMessageHook`` and their contexts.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Protocol, TypeVar, cast

import trio

from rocketwire.client.config import Hook

if TYPE_CHECKING:
    from rocketwire.client.config import ClientConfig
    from rocketwire.client.message import Message
    from rocketwire.client.send_result import SendResult
    from rocketwire.messages.message_queue import MessageQueue
    from rocketwire.wire.message.stored import StoredMessage

_LOG: Final = logging.getLogger("rocketwire.client")

T = TypeVar("T")


class HookedClient(Protocol):
    """The parts of a client that hooks see."""

    @property
    def client_id(self) -> str: ...

    @property
    def config(self) -> ClientConfig: ...

    def broker_address(self, broker_name: str) -> str | None:
        """Return the address of a master; None if it is unknown."""
        ...


@dataclass(slots=True, eq=False, repr=False)
class SendMessageContext:
    """A send of a message or batch.

    Attributes:
        client: the client.
        producer_group: group of the producer, with namespace.
        messages: the message, or those of the batch; ``send_message_before`` may replace them.
        is_oneway: whether no response is expected.
        send_result: the result; None before the end, after an error and for one-way sends.
        exception: the error; None without one.
        states: results of ``send_message_before`` of each hook.
    """

    client: HookedClient
    producer_group: str
    messages: Sequence[Message]
    is_oneway: bool = field(default=False, kw_only=True)
    send_result: SendResult | None = None
    exception: BaseException | None = None
    states: list[object] = field(default_factory=list[object])


@dataclass(slots=True, eq=False, repr=False)
class ConsumeMessageContext:
    """A call of a handler; or messages that an application has taken in batches, and handled.

    Attributes:
        client: the client.
        consumer_group: group of the consumer, with namespace.
        message_queue: queue of the messages; for a retried message, of the retry topic.
        messages: messages of the call, with the topics that they were sent to.
        status: result of the handler; None before the end and after an error.
        successes: number of the first messages that succeeded.
        exception: the error of the handler, or its cancellation; None without one.
        seconds: duration, if an application has handled the messages before the hook is called;
            None if a handler is called.
        states: results of ``consume_message_before`` of each hook.
    """

    client: HookedClient
    consumer_group: str
    message_queue: MessageQueue
    messages: Sequence[StoredMessage]
    seconds: float | None = None
    status: object = None
    successes: int = 0
    exception: BaseException | None = None
    states: list[object] = field(default_factory=list[object])


@dataclass(slots=True, eq=False, repr=False)
class _OperationContext:
    client: HookedClient
    consumer_group: str
    operation: str
    topic: str
    broker_name: str
    messages: Sequence[StoredMessage]
    seconds: float
    exception: BaseException | None = None


class ReceiveMessageContext(_OperationContext):
    """A pull, pop or poll that brought messages or failed.

    Attributes:
        client: the client.
        consumer_group: group of the consumer, with namespace.
        operation: ``pull`` or ``pop`` by a background task; ``poll`` by the application.
        topic: the topic.
        broker_name: broker of the messages.
        messages: the messages; empty after an error.
        seconds: duration.
        exception: the error; None without one.
    """

    __slots__ = ()


class SettleMessageContext(_OperationContext):
    """A request that settles messages at their broker.

    Attributes:
        client: the client.
        consumer_group: group of the consumer, with namespace.
        operation: ``ack`` and ``change_invisible_time`` of pop consumers, ``send_back`` of push
            consumers.
        topic: topic of the messages.
        broker_name: the broker.
        messages: the messages.
        seconds: duration.
        exception: the error; None without one.
    """

    __slots__ = ()


class CommitOffsetContext(_OperationContext):
    """A request that stores an offset of a push or lite pull consumer at its broker.

    Attributes:
        client: the client.
        consumer_group: group of the consumer, with namespace.
        operation: ``commit``.
        topic: topic of the queue.
        broker_name: the broker.
        messages: empty.
        seconds: duration.
        exception: the error; None without one.
        message_queue: the queue.
        offset: offset of the first message that is not handled.
        in_background: whether a background task commits; else ``poll``, ``commit`` or ``close``
            of a lite pull consumer does.
    """

    __slots__ = ("in_background", "message_queue", "offset")

    def __init__(
        self,
        client: HookedClient,
        consumer_group: str,
        message_queue: MessageQueue,
        offset: int,
        seconds: float,
        exception: BaseException | None = None,
        *,
        in_background: bool,
    ) -> None:
        topic, broker_name = message_queue.topic or "", message_queue.broker_name or ""
        super().__init__(
            client, consumer_group, "commit", topic, broker_name, (), seconds, exception
        )
        self.message_queue: MessageQueue = message_queue
        self.offset: int = offset
        self.in_background: bool = in_background


class ClientHook(Hook):
    """Base class of hooks; its methods do nothing.

    Methods run in the task of the send or handler call, and must not block. An error of a hook is
    logged and changes nothing else. A hook may be used by several clients.

    Attributes:
        is_thread_safe: whether methods may be called in several threads at once. If all hooks of a
            client are, ``rocketwire.sync`` and ``rocketwire.aio`` call ``send_message_before`` and
            ``send_message_after`` of ``Producer.send`` in the thread of the sender. All other
            methods are called in trio's thread.
    """

    is_thread_safe: bool = False

    def client_started(self, client: HookedClient) -> None:
        """Handle the start of a client."""

    def client_closed(self, client: HookedClient) -> None:
        """Handle the end of a client."""

    def send_message_before(self, context: SendMessageContext) -> object:
        """Handle the start of a send; ``send_message_after`` gets the result as ``state``."""
        return None

    def send_message_after(self, context: SendMessageContext, state: object) -> None:
        """Handle the end of a send."""

    def send_message_retry(self, client: HookedClient, topic: str, broker_name: str) -> None:
        """Handle another attempt of a send, at the broker with that name."""

    def consume_message_before(self, context: ConsumeMessageContext) -> object:
        """Handle the start of a handler call; the handler sees context variables that it sets.

        ``consume_message_after`` gets the result as ``state``.
        """
        return None

    def consume_message_after(self, context: ConsumeMessageContext, state: object) -> None:
        """Handle the end of a handler call."""

    def receive_message_after(self, context: ReceiveMessageContext) -> None:
        """Handle messages that were received, or an error."""

    def settle_message_after(self, context: SettleMessageContext) -> None:
        """Handle the end of a settlement."""

    def commit_offset_after(self, context: CommitOffsetContext) -> None:
        """Handle the end of a commit."""


_FAILED: Final = object()
"""State of a hook whose first method failed; its second is not called."""


class HookChain:
    """Hooks that are called one after the other; the last methods in reverse order.

    Attributes:
        is_thread_safe: whether all hooks are; see ``ClientHook``.
    """

    __slots__ = ("_hooks", "_reported", "_reversed", "is_thread_safe")

    def __init__(self, hooks: Iterable[ClientHook]) -> None:
        self._hooks = tuple(hooks)
        self._reversed = self._hooks[::-1]
        self.is_thread_safe: bool = all(hook.is_thread_safe for hook in self._hooks)
        self._reported: set[ClientHook] = set()

    def with_hook(self, hook: ClientHook) -> HookChain:
        return HookChain((*self._hooks, hook))

    async def send(
        self,
        client: HookedClient,
        producer_group: str,
        messages: Sequence[Message],
        send: Callable[[Sequence[Message]], Awaitable[T]],
        *,
        is_oneway: bool = False,
    ) -> T:
        """Send messages between the two methods of each hook.

        Args:
            send: sends the messages that the hooks may have replaced; its errors are raised again.
            client, producer_group, messages, is_oneway: see ``SendMessageContext``.
        """
        context = SendMessageContext(client, producer_group, messages, is_oneway=is_oneway)
        self.send_before(context)
        try:
            result = await send(context.messages)
            if not is_oneway:
                context.send_result = cast("SendResult", result)
            return result
        except BaseException as error:
            context.exception = error
            raise
        finally:
            self.send_after(context)

    def send_before(self, context: SendMessageContext) -> None:
        context.states = self._before(lambda hook: hook.send_message_before(context))

    def send_after(self, context: SendMessageContext) -> None:
        self._after(context.states, lambda hook, state: hook.send_message_after(context, state))

    def consume_before(self, context: ConsumeMessageContext) -> None:
        context.states = self._before(lambda hook: hook.consume_message_before(context))

    def consume_after(self, context: ConsumeMessageContext) -> None:
        self._after(context.states, lambda hook, state: hook.consume_message_after(context, state))

    def _before(self, method: Callable[[ClientHook], object]) -> list[object]:
        states: list[object] = []
        for hook in self._hooks:
            try:
                states.append(method(hook))
            except Exception:  # noqa: BLE001 - of a hook; logged
                states.append(self._report(hook))
        return states

    def _after(self, states: list[object], method: Callable[[ClientHook, object], None]) -> None:
        for hook, state in zip(self._reversed, reversed(states), strict=True):
            if state is not _FAILED:
                try:
                    method(hook, state)
                except Exception:  # noqa: BLE001 - of a hook; logged
                    self._report(hook)

    def retry(self, client: HookedClient, topic: str, broker_name: str) -> None:
        self._call(lambda hook: hook.send_message_retry(client, topic, broker_name))

    def receive(
        self,
        client: HookedClient,
        consumer_group: str,
        operation: str,
        topic: str,
        broker_name: str,
        messages: Sequence[StoredMessage],
        seconds: float,
        error: BaseException | None = None,
    ) -> None:
        """Call ``receive_message_after``; for the arguments see ``ReceiveMessageContext``."""
        context = ReceiveMessageContext(
            client, consumer_group, operation, topic, broker_name, messages, seconds, error
        )
        self._call(lambda hook: hook.receive_message_after(context))

    async def settle(
        self,
        client: HookedClient,
        consumer_group: str,
        operation: str,
        topic: str,
        broker_name: str,
        messages: Sequence[StoredMessage],
        request: Awaitable[T],
    ) -> T:
        """Await a request that settles messages, and call ``settle_message_after``.

        For the arguments see ``SettleMessageContext``; errors are raised again.
        """
        started = trio.current_time()
        failure: BaseException | None = None
        try:
            return await request
        except BaseException as error:
            failure = error
            raise
        finally:
            seconds = trio.current_time() - started
            context = SettleMessageContext(
                client, consumer_group, operation, topic, broker_name, messages, seconds, failure
            )
            self._call(lambda hook: hook.settle_message_after(context))

    async def commit(
        self,
        client: HookedClient,
        consumer_group: str,
        message_queue: MessageQueue,
        offset: int,
        request: Awaitable[None],
        *,
        in_background: bool,
    ) -> None:
        """Await a request that stores an offset, and call ``commit_offset_after``.

        For the arguments see ``CommitOffsetContext``; errors are raised again.
        """
        started = trio.current_time()
        failure: BaseException | None = None
        try:
            await request
        except BaseException as error:
            failure = error
            raise
        finally:
            context = CommitOffsetContext(
                client,
                consumer_group,
                message_queue,
                offset,
                trio.current_time() - started,
                failure,
                in_background=in_background,
            )
            self._call(lambda hook: hook.commit_offset_after(context))

    def started(self, client: HookedClient) -> None:
        self._call(lambda hook: hook.client_started(client))

    def closed(self, client: HookedClient) -> None:
        self._call(lambda hook: hook.client_closed(client))

    def _call(self, method: Callable[[ClientHook], None]) -> None:
        for hook in self._hooks:
            try:
                method(hook)
            except Exception:  # noqa: BLE001 - of a hook; logged
                self._report(hook)

    def _report(self, hook: ClientHook) -> object:
        # log the first error of a hook with its traceback, and later ones for debugging only
        level = logging.DEBUG if hook in self._reported else logging.ERROR
        self._reported.add(hook)
        _LOG.log(level, "hook %s failed", type(hook).__name__, exc_info=True)
        return _FAILED
