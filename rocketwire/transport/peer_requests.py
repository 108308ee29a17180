"""Answers to what the peer of a channel asks."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Final, TypeAlias

import trio

from rocketwire.codes import RequestCode, ResponseCode
from rocketwire.errors import ChannelError, LocalProtocolError
from rocketwire.wire.command import RemotingCommand

if TYPE_CHECKING:
    from rocketwire.connection import Connection

_LOG: Final = logging.getLogger("rocketwire.channel")

MAX_SERVED: Final = 2_048
"""Requests of the peer that are worked on at once; more are answered with ``SYSTEM_BUSY``.

A broker checks all transactions that are due one after the other, and drops a message that it has
checked 15 times in vain (Java: ``TransactionalMessageServiceImpl.check``).  A Java producer holds
2,000 of these checks (``checkRequestHoldMax``).
"""

MAX_SERVED_BYTES: Final = 256 << 20
"""Bytes of the bodies of these requests; one request is always worked on."""

Handler: TypeAlias = Callable[[RemotingCommand], Awaitable[RemotingCommand | None]]
"""Answers a request of the peer; None for no answer.  One-way requests come here too, and nothing is answered to them."""


class Serving:
    """What is being answered to one peer."""

    def __init__(self, handler: Handler | None, peer: str, most: int) -> None:
        """Args: handler: answers; None to refuse everything.  peer: who asks.  most: requests at once."""
        self._handler = handler
        self._peer = peer
        self._most = most
        self._served = 0
        self._bytes = 0
        self._refused = 0

    async def serve(
        self,
        request: RemotingCommand,
        connection: Connection,
        send: Callable[[bytes], Awaitable[None]],
    ) -> None:
        """Answer a request over the connection that it came from, unless it ends meanwhile or none is wanted."""
        response = await self.response_to(request)
        if response is None or request.is_oneway or not connection.is_open:
            return
        try:
            await send(connection.send_response(request, response, now=trio.current_time()))
        except (ChannelError, LocalProtocolError) as error:
            _LOG.info(
                "%s: no answer to request %s: %s", self._peer, RequestCode(request.code).text, error
            )

    async def response_to(self, request: RemotingCommand) -> RemotingCommand | None:
        """What is answered to a request; ``SYSTEM_ERROR`` where the handler fails."""
        if self._handler is None:
            remark = f" request type {request.code} not supported"
            return RemotingCommand(code=ResponseCode.REQUEST_CODE_NOT_SUPPORTED, remark=remark)
        size = len(request.body or b"")
        if self._served >= self._most or (self._served and self._bytes + size > MAX_SERVED_BYTES):
            self._note_refusal(request)
            return RemotingCommand(
                code=ResponseCode.SYSTEM_BUSY, remark="too many requests at once"
            )
        self._served += 1
        self._bytes += size
        try:
            return await self._handler(request)
        except Exception as error:  # noqa: BLE001 - somebody else's code; the peer is told and the log has it
            _LOG.exception("%s: request %s failed", self._peer, RequestCode(request.code).text)
            remark = f"{type(error).__name__}: {error}"
            return RemotingCommand(code=ResponseCode.SYSTEM_ERROR, remark=remark)
        finally:
            self._served -= 1
            self._bytes -= size
            if self._refused and not self._served:
                _LOG.warning("%s: %d requests were refused in all", self._peer, self._refused)
                self._refused = 0

    def _note_refusal(self, request: RemotingCommand) -> None:
        """Log the first of the requests that are refused until none is worked on any more."""
        self._refused += 1
        if self._refused == 1:
            _LOG.warning(
                "%s: %d requests with %d bytes are worked on already; request %d and further ones "
                "are refused",
                self._peer,
                self._served,
                self._bytes,
                request.code,
            )
