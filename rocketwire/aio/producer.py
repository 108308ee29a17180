"""``Producer``: sends messages from tasks of asyncio; ``open_producer`` opens it."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING, Any, Self, TypeAlias

from rocketwire.aio.direct import DirectSends
from rocketwire.aio.opening import FacadeClient, get_endpoint
from rocketwire.client.handlers import check_callable
from rocketwire.client.message import Message
from rocketwire.client.producer.lifecycle import open_producer as open_trio_producer
from rocketwire.client.producer.producer import Producer as TrioProducer
from rocketwire.client.publish.config import ProducerConfig
from rocketwire.errors import RocketWireError
from rocketwire.portal.direct import ProducerMethods, call_hooks
from rocketwire.portal.methods import opens
from rocketwire.portal.settings import apply_settings

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from typing import Unpack

    from rocketwire.aio.client import ClientLike
    from rocketwire.client.producer.transactions import LocalTransactionState, TransactionSendResult
    from rocketwire.client.producer.transactions import TransactionCheck as TrioTransactionCheck
    from rocketwire.client.send_result import SendResult
    from rocketwire.portal.settings import ProducerSettings
    from rocketwire.wire.message.stored import StoredMessage


Outcome: TypeAlias = "LocalTransactionState | Awaitable[LocalTransactionState | None] | None"

TransactionCheck: TypeAlias = "Callable[[StoredMessage], Outcome]"
"""Returns the state of a transaction: (half message) -> state. None means unknown.

May be a coroutine function.
"""

LocalTransaction: TypeAlias = "Callable[[Message, SendResult], Outcome]"
"""Runs the local transaction: (message, result of the half message) -> state. None means unknown.

May be a coroutine function.
"""


class Producer(ProducerMethods, FacadeClient[TrioProducer]):
    """A producer of a group, for any number of tasks; ``open_producer`` opens it."""

    def __init__(
        self,
        client: ClientLike,
        group: str,
        config: ProducerConfig | None = None,
        *,
        check: TransactionCheck | None = None,
        **settings: Unpack[ProducerSettings],
    ) -> None:
        """Open nothing yet; for arguments and errors see ``open_producer``."""
        resolved, config = apply_settings(client, config, ProducerConfig, settings)
        self.config: ProducerConfig = config
        self._loop: asyncio.AbstractEventLoop | None = None
        self._direct: DirectSends | None = None
        checker: TrioTransactionCheck | None = None
        if check is not None:
            check_callable("check", check, "message")
            checker = partial(self._run_in_loop, None, check)
        self._use_client(
            resolved,
            lambda trio_client: open_trio_producer(trio_client, group, self.config, check=checker),
        )

    async def open(self) -> Self:
        await super().open()
        self._loop = asyncio.get_running_loop()
        self._direct = DirectSends(self._client_in_trio, self._loop)
        return self

    async def close(self) -> None:
        direct, self._direct = self._direct, None
        if direct is not None and asyncio.get_running_loop() is self._loop:
            await direct.close()
        await super().close()

    async def send(self, message: Message, *, within: float | None = None) -> SendResult:
        direct = self._direct
        if direct is None or asyncio.get_running_loop() is not self._loop:
            return await self._call(TrioProducer.send, message, within=within)
        hooks = direct.hooks
        limit = self.config.send_msg_timeout if within is None else within
        if hooks is None:
            return await self._send(direct, message, limit)
        if not hooks.is_thread_safe:
            return await self._call(TrioProducer.send, message, within=within)
        with call_hooks(hooks, self._client_in_trio, message) as context:
            message = context.messages[0]
            context.send_result = result = await self._send(direct, message, limit)
            return result

    async def _send(self, direct: DirectSends, message: Message, limit: float) -> SendResult:
        if not isinstance(message, Message):  # pyright: ignore[reportUnnecessaryIsInstance] - of callers without types
            return await self._call(TrioProducer.send, message)  # says so
        attempt = direct.start(message, limit)
        if attempt is None:
            return await self._call(TrioProducer.send_unhooked, message, limit)
        try:
            result: SendResult = await attempt.future
        except RocketWireError as error:
            failure = error
        except asyncio.CancelledError:
            attempt.connection.forget(attempt)
            raise
        else:
            return result
        return await self._call(attempt.send_again, failure)

    async def send_in_transaction(
        self, message: Message, execute: LocalTransaction, *, within: float | None = None
    ) -> TransactionSendResult:
        check_callable("execute", execute, "message, result")
        execute_here = partial(self._run_in_loop, get_endpoint(), execute)
        return await self._call(
            TrioProducer.send_in_transaction, message, execute_here, within=within
        )


@opens(Producer)
def open_producer(*_: Any, **__: Any) -> Any:
    """Open a producer with ``async with`` or ``await``; the end of the block or ``close`` ends it.

    Args:
        client: an open client; settings or name servers (``host:port;host:port``) of a new one,
            which is closed with the producer; or None for settings from the environment.
        group: producer group; a client has one producer of a group.
        config: settings of the producer.
        check: returns the state of a transaction when a broker checks it: a function or
            coroutine function of (half message), called in the loop.
        settings: single settings of the producer or of a new client.

    Raises:
        IllegalHandlerError: ``check`` cannot be called with a message.
        IllegalTypeError: an argument has the wrong type, or a setting is unknown.
        IllegalNameError: the name of the group is invalid.
        LocalProtocolError: the client already has a producer of that group.
    """
