"""Hooks: code that sees each send, receive, handler call and settlement of a client.

A hook is a subclass of ``ClientHook``; ``ClientConfig.hooks`` has the hooks of a client. Without
hooks the clients do not import this module.

Java: ``SendMessageHook``, ``ConsumeMessageHook`` and their contexts.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Generator, Iterable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Final, Protocol, TypeVar, cast

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
    """A send of a message or batch."""

    before: ClassVar[str] = "send_message_before"
    after: ClassVar[str] = "send_message_after"

    client: HookedClient
    producer_group: str  #: group of the producer, with namespace
    #: the message, or those of the batch; ``send_message_before`` may replace them
    messages: Sequence[Message]
    is_oneway: bool = field(default=False, kw_only=True)  #: whether no response is expected
    #: the result; None before the end, after an error and for one-way sends
    send_result: SendResult | None = None
    exception: BaseException | None = None  #: the error; None without one
    #: results of ``send_message_before`` of each hook
    states: list[object] = field(default_factory=list[object])


@dataclass(slots=True, eq=False, repr=False)
class ConsumeMessageContext:
    """A call of a handler; or messages that an application has taken in batches, and handled."""

    before: ClassVar[str] = "consume_message_before"
    after: ClassVar[str] = "consume_message_after"

    client: HookedClient
    consumer_group: str  #: group of the consumer, with namespace
    message_queue: MessageQueue  #: queue of the messages; for a retried message, of the retry topic
    #: messages of the call, with the topics that they were sent to
    messages: Sequence[StoredMessage]
    #: duration, if an application has handled the messages before the hook is called; None if a
    #: handler is called
    seconds: float | None = None
    status: object = None  #: result of the handler; None before the end and after an error
    successes: int = 0  #: number of the first messages that succeeded
    #: the error of the handler, or its cancellation; None without one
    exception: BaseException | None = None
    #: results of ``consume_message_before`` of each hook
    states: list[object] = field(default_factory=list[object])


@dataclass(slots=True, eq=False, repr=False)
class OperationContext:
    """What the contexts of receives, settlements and commits have in common."""

    method: ClassVar[str]  # of ``ClientHook``

    client: HookedClient
    consumer_group: str  #: group of the consumer, with namespace
    operation: str  #: what was done; see the subclasses
    topic: str  #: topic of the messages or of the queue
    broker_name: str  #: broker of the messages or of the queue
    #: the messages; empty after a failed receive, and of a commit
    messages: Sequence[StoredMessage]
    seconds: float  #: duration
    exception: BaseException | None = None  #: the error; None without one


class ReceiveMessageContext(OperationContext):
    """A ``pull`` or ``pop`` by a background task, or a ``poll``: it brought messages or failed."""

    __slots__ = ()
    method = "receive_message_after"


class SettleMessageContext(OperationContext):
    """A request that settles messages at their broker.

    ``ack`` and ``change_invisible_time`` of pop consumers, ``send_back`` of push consumers.
    """

    __slots__ = ()
    method = "settle_message_after"


class CommitOffsetContext(OperationContext):
    """A request that stores an offset of a push or lite pull consumer at its broker: ``commit``."""

    __slots__ = ("in_background", "message_queue", "offset")
    method = "commit_offset_after"

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
        self.offset: int = offset  #: offset of the first message that is not handled
        #: whether a background task commits; else ``poll``, ``commit`` or ``close`` of a lite pull
        #: consumer does
        self.in_background: bool = in_background


class ClientHook(Hook):
    """Base class of hooks; its methods do nothing.

    Methods run in the task of the send or handler call, and must not block. An error of a hook is
    logged and changes nothing else. A hook may be used by several clients.
    """

    #: whether methods may be called in several threads at once. If all hooks of a client are,
    #: ``rocketwire.sync`` and ``rocketwire.aio`` call ``send_message_before`` and
    #: ``send_message_after`` of ``Producer.send`` in the thread of the sender. All other methods
    #: are called in trio's thread.
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


_FAILED: Final = object()  # state of a hook whose first method failed; its second is not called


class HookChain:
    """Hooks that are called one after the other; the last methods in reverse order."""

    __slots__ = ("_hooks", "_reported", "is_thread_safe")

    def __init__(self, hooks: Iterable[ClientHook]) -> None:
        self._hooks = tuple(hooks)
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
        context = SendMessageContext(client, producer_group, messages, is_oneway=is_oneway)
        with self.watch(context):
            result = await send(context.messages)
            if not is_oneway:
                context.send_result = cast("SendResult", result)
            return result

    @contextmanager
    def watch(self, context: SendMessageContext | ConsumeMessageContext) -> Generator[None]:
        """Let hooks see the send or handler call of the block; its errors are raised again."""
        context.states = [self._call_hook(hook, context.before, context) for hook in self._hooks]
        try:
            yield
        except BaseException as error:
            context.exception = error
            raise
        finally:
            for hook, state in zip(self._hooks[::-1], context.states[::-1], strict=True):
                if state is not _FAILED:
                    self._call_hook(hook, context.after, context, state)

    async def observe(
        self,
        request: Awaitable[T],
        build_context: Callable[[float, BaseException | None], OperationContext],
    ) -> T:
        started = trio.current_time()
        failure: BaseException | None = None
        try:
            return await request
        except BaseException as error:
            failure = error
            raise
        finally:
            context = build_context(trio.current_time() - started, failure)
            self._call(context.method, context)

    def receive(
        self,
        client: HookedClient,
        consumer_group: str,
        operation: str,
        queue: MessageQueue,
        messages: Sequence[StoredMessage],
        seconds: float,
        error: BaseException | None = None,
    ) -> None:
        topic, broker_name = queue.topic or "", queue.broker_name or ""
        context = ReceiveMessageContext(
            client, consumer_group, operation, topic, broker_name, messages, seconds, error
        )
        self._call(context.method, context)

    def retry(self, client: HookedClient, topic: str, broker_name: str) -> None:
        self._call("send_message_retry", client, topic, broker_name)

    def started(self, client: HookedClient) -> None:
        self._call("client_started", client)

    def closed(self, client: HookedClient) -> None:
        self._call("client_closed", client)

    def _call(self, method: str, *arguments: object) -> None:
        for hook in self._hooks:
            self._call_hook(hook, method, *arguments)

    def _call_hook(self, hook: ClientHook, method: str, *arguments: object) -> object:
        try:
            return getattr(hook, method)(*arguments)
        except Exception:  # noqa: BLE001 - of a hook; logged
            # the first error of a hook with its traceback, and later ones for debugging only
            level = logging.DEBUG if hook in self._reported else logging.ERROR
            self._reported.add(hook)
            _LOG.log(level, "hook %s failed", type(hook).__name__, exc_info=True)
            return _FAILED
