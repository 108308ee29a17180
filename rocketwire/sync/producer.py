"""``Producer``: sends messages from ordinary threads; ``open_producer`` opens it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

from rocketwire.client.handlers import sync_function
from rocketwire.client.message import Message
from rocketwire.client.producer.lifecycle import open_producer as open_trio_producer
from rocketwire.client.producer.producer import Producer as TrioProducer
from rocketwire.client.publish.config import ProducerConfig
from rocketwire.client.send_result import SendResult
from rocketwire.portal.calls import ThreadCall, run_in_caller
from rocketwire.portal.direct import ProducerMethods, call_hooks
from rocketwire.portal.methods import opens
from rocketwire.portal.settings import apply_settings
from rocketwire.sync.direct import DirectSends
from rocketwire.sync.opening import FacadeClient, Pool

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Executor
    from typing import Unpack

    from rocketwire.client.producer.transactions import LocalTransactionState, TransactionSendResult
    from rocketwire.client.producer.transactions import TransactionCheck as TrioTransactionCheck
    from rocketwire.portal.portal import Resource
    from rocketwire.portal.settings import ProducerSettings
    from rocketwire.sync.client import ClientLike
    from rocketwire.wire.message.stored import StoredMessage


TransactionCheck: TypeAlias = "Callable[[StoredMessage], LocalTransactionState | None]"
"""Returns the state of a transaction: (half message) -> state. None means unknown."""

LocalTransaction: TypeAlias = "Callable[[Message, SendResult], LocalTransactionState | None]"
"""Runs the local transaction in the calling thread: (message, result of the half message) -> state.

None means unknown.
"""


class Producer(ProducerMethods, FacadeClient[TrioProducer]):
    """A producer of a group, for any number of threads; ``open_producer`` opens it."""

    def __init__(
        self,
        client: ClientLike,
        group: str,
        config: ProducerConfig | None = None,
        *,
        check: TransactionCheck | None = None,
        executor: Executor | None = None,
        **settings: Unpack[ProducerSettings],
    ) -> None:
        """Open a producer; for arguments and errors see ``open_producer``."""
        resolved, producer_config = apply_settings(client, config, ProducerConfig, settings)
        self.config: ProducerConfig = producer_config
        pool = Pool(executor, 1)
        self._direct = DirectSends()
        checker: TrioTransactionCheck | None = None
        if check is not None:
            checker = partial(pool.run, sync_function("check", check, "message"))
        self._use_client(
            resolved,
            lambda trio_client: open_trio_producer(
                trio_client, group, producer_config, check=checker
            ),
            pool=pool,
        )

    def _open(self) -> Resource[TrioProducer]:
        self._direct.close()
        self._direct = DirectSends()
        return super()._open()

    def close(self) -> None:
        self._direct.close()
        super().close()

    def send(self, message: Message, *, within: float | None = None) -> SendResult:
        producer = self._client_in_trio
        hooks = producer.sender.hooks
        limit = self.config.send_msg_timeout if within is None else within
        if hooks is None:
            return self._send(producer, message, limit)
        if not hooks.is_thread_safe:
            return self._call(TrioProducer.send, message, within=within)
        with call_hooks(hooks, producer, message) as context:
            message = context.messages[0]
            context.send_result = result = self._send(producer, message, limit)
            return result

    def _send(self, producer: TrioProducer, message: Message, limit: float) -> SendResult:
        if not isinstance(message, Message):  # pyright: ignore[reportUnnecessaryIsInstance] - of callers without types
            return self._call(TrioProducer.send, message)  # says so
        sent = self._direct.send(producer, message, limit)
        if isinstance(sent, SendResult):
            return sent
        if sent is None:
            return self._call(TrioProducer.send_unhooked, message, limit)
        attempt, error = sent
        return self._call(attempt.send_again, error)

    def send_in_transaction(
        self, message: Message, execute: LocalTransaction, *, within: float | None = None
    ) -> TransactionSendResult:
        resource = self._open_resource
        portal, send = resource.portal, resource.value.send_in_transaction
        sync_function("execute", execute, "message, result")

        async def execute_here(half: Message, result: SendResult) -> Any:
            return await run_in_caller(portal.post, call, partial(execute, half, result))

        call = ThreadCall(send, (message, execute_here), {"within": within})
        result: TransactionSendResult = portal.wait(call)
        return result


@opens(Producer)
def open_producer(*_: Any, **__: Any) -> Any:
    """Open a producer; ``close`` or the end of its block closes it.

    Args:
        client: an open client; settings or name servers (``host:port;host:port``) of a new one,
            which is closed with the producer; or None for settings from the environment.
        group: producer group; a client has one producer of a group.
        config: settings of the producer.
        check: returns the state of a transaction when a broker checks it: a function of (half
            message).
        executor: the threads in which ``check`` is called; None for a thread of the producer.
        settings: single settings of the producer or of a new client.

    Raises:
        IllegalHandlerError: ``check`` cannot be called with a message, or is a coroutine function.
        IllegalTypeError: an argument has the wrong type, or a setting is unknown.
        IllegalNameError: the name of the group is invalid.
        LocalProtocolError: the client already has a producer of that group.
    """
