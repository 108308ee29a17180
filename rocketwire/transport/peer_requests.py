"""Responses to requests of a channel's peer."""

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
"""Maximum concurrent requests of the peer; further requests are answered with ``SYSTEM_BUSY``.

A broker sends checks of all pending transactions in sequence, and drops a message after 15 failed
checks (Java: ``TransactionalMessageServiceImpl.check``).  A Java producer queues 2,000 of these
checks (``checkRequestHoldMax``).
"""

# Maximum bytes of the bodies of concurrent requests; a single request may be larger
MAX_SERVED_BYTES: Final = 256 << 20

Handler: TypeAlias = Callable[[RemotingCommand], Awaitable[RemotingCommand | None]]
"""Answers a request of the peer; None for no response.  One-way requests get no response."""


class PeerRequests:
    def __init__(self, handler: Handler | None, peer: str, limit: int) -> None:
        self._handler = handler
        self._peer = peer
        self._limit = limit
        self._active = 0
        self._active_bytes = 0
        self._rejected = 0

    async def serve(
        self,
        request: RemotingCommand,
        connection: Connection,
        send: Callable[[bytes], Awaitable[None]],
    ) -> None:
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
        if self._handler is None:
            remark = f" request type {request.code} not supported"
            return RemotingCommand(code=ResponseCode.REQUEST_CODE_NOT_SUPPORTED, remark=remark)
        size = len(request.body or b"")
        total = self._active_bytes + size
        if self._active >= self._limit or (self._active and total > MAX_SERVED_BYTES):
            self._log_rejection(request)
            return RemotingCommand(
                code=ResponseCode.SYSTEM_BUSY, remark="too many requests at once"
            )
        self._active += 1
        self._active_bytes += size
        try:
            return await self._handler(request)
        except Exception as error:  # noqa: BLE001 - the application's code can raise anything
            _LOG.exception("%s: request %s failed", self._peer, RequestCode(request.code).text)
            remark = f"{type(error).__name__}: {error}"
            return RemotingCommand(code=ResponseCode.SYSTEM_ERROR, remark=remark)
        finally:
            self._active -= 1
            self._active_bytes -= size
            if self._rejected and not self._active:
                _LOG.warning("%s: %d requests were rejected in total", self._peer, self._rejected)
                self._rejected = 0

    def _log_rejection(self, request: RemotingCommand) -> None:
        self._rejected += 1
        if self._rejected == 1:
            _LOG.warning(
                "%s: %d requests with %d bytes are being handled; request %d and further requests "
                "are rejected",
                self._peer,
                self._active,
                self._active_bytes,
                request.code,
            )
