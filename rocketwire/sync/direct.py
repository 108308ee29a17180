"""Sends of threads over connections of their own; see ``rocketwire.portal.direct``.

A thread takes a *lane* for a send: queues and connections that no other thread uses meanwhile. If
all lanes are taken, the send goes through trio, which joins the sends of many threads.
"""

from __future__ import annotations

import os
import select
import socket
import struct
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Final, TypeAlias

from rocketwire.client.addresses import split_address
from rocketwire.client.send_result import SendResult
from rocketwire.errors import ChannelBrokenError, DecodeError, RequestTimeoutError, RocketWireError
from rocketwire.portal.direct import MAX_OPAQUE, MAX_RESPONSE, WARM_SENDS, Attempt, DirectPath
from rocketwire.portal.portal import plain_sockets
from rocketwire.transport.fastpath.direct_requests import StartedRequest
from rocketwire.wire.command import decode
from rocketwire.wire.frame import cut_frames

if TYPE_CHECKING:
    from rocketwire.client.message import Message
    from rocketwire.client.producer.producer import Producer
    from rocketwire.wire.request_template import RequestTemplate

FailedAttempt: TypeAlias = tuple[Attempt, RocketWireError]
"""An attempt and its error, for ``Attempt.send_again``."""

MAX_LANES: Final = 8  # maximum connections of a producer to a broker, for as many threads at a time
# Seconds after which a connection is checked before it is used: the broker may have closed it
IDLE_SECONDS: Final = 1.0

_READ_SIZE: Final = 4096


class DirectConnection:
    def __init__(self, address: str, target: str, connect_timeout: float) -> None:
        self.address = address
        self.is_open: bool = True
        self._socket = socket.create_connection(split_address(target), connect_timeout)
        plain_sockets.add(self._socket)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._socket.settimeout(None)
        self._descriptor = self._socket.fileno()
        self._poll = select.poll()  # unlike select.select, it takes any descriptor
        self._poll.register(self._descriptor, select.POLLIN)
        self._timeout = -1.0
        self._opaque = 0
        self._used_at = time.monotonic()

    def request(
        self, template: RequestTemplate, values: tuple[object, ...], body: bytes, timeout: float
    ) -> StartedRequest | None:
        """Send a request and wait for bytes; see ``DirectRequests.request``."""
        if not self.is_open:  # another socket can have the descriptor
            return None
        now = time.monotonic()
        # readable without a request: the broker has closed it
        if now - self._used_at > IDLE_SECONDS and self._poll.poll(0):
            self.close()
            return None
        self._used_at = now
        if timeout != self._timeout:
            self._set_timeout(timeout)
        self._opaque = opaque = self._opaque + 1 if self._opaque != MAX_OPAQUE else 1
        frame = template.frame(values, body, opaque)
        data: bytes | None = None
        try:
            written = os.write(self._descriptor, frame)
            while written < len(frame):
                written += os.write(self._descriptor, frame[written:])
            data = os.read(self._descriptor, _READ_SIZE)
        except BlockingIOError:  # the timeout
            data = None
        except OSError:
            data = b""
        if not data:
            self.close()
        return StartedRequest(opaque, now, data)

    def finish(self, attempt: Attempt) -> SendResult:
        # the response is unusual, or not complete
        deadline, sent_at = attempt.deadline, attempt.started.sent_at
        data, start = attempt.started.data, b""
        while data:
            try:
                frames, start = cut_frames(start + data, MAX_RESPONSE)
                for frame in frames:
                    response = decode(frame)
                    if response.is_response and response.opaque == attempt.started.opaque:
                        return attempt.read(response, frame)
            except DecodeError as error:
                broken = f"the received bytes cannot be decoded: {error}"
                raise ChannelBrokenError(broken) from error
            self._set_timeout(max(0.001, deadline - time.monotonic()))
            try:
                data = os.read(self._descriptor, _READ_SIZE)
            except BlockingIOError:
                data = None
            except OSError:
                data = b""
        if data is None:
            raise RequestTimeoutError(self.address, attempt.request_code, deadline - sent_at)
        raise ChannelBrokenError(f"{self.address}: the peer closed the connection")

    def close(self) -> None:
        self.is_open = False
        self._socket.close()

    def _set_timeout(self, seconds: float) -> None:
        whole = int(seconds)
        interval = struct.pack("ll", whole, int((seconds - whole) * 1_000_000) or (whole == 0))
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, interval)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, interval)
        self._timeout = seconds


class Lane:
    def __init__(self, producer: Producer) -> None:
        self._connections: dict[str, DirectConnection] = {}
        self._path = DirectPath(producer, self._connect)
        self._instance = producer.instance

    def _connect(self, address: str) -> DirectConnection | None:
        connection = self._connections.get(address)
        if connection is None or not connection.is_open:
            self._connections.pop(address, None)
            try:
                target = self._instance.pool.remap(address)
                timeout = self._instance.config.connect_timeout
                connection = DirectConnection(address, target, timeout)
            except (OSError, ValueError, RocketWireError):  # trio's own attempt reports the error
                return None
            self._connections[address] = connection
        return connection

    def send(self, message: Message, within: float) -> SendResult | FailedAttempt | None:
        # the attempt and its error are to be continued in trio; None if nothing was sent
        attempt = self._path.send(message, within)
        if attempt is None or isinstance(attempt, SendResult):
            return attempt
        try:
            result: SendResult = attempt.connection.finish(attempt)
        except RocketWireError as error:
            self.close()
            return attempt, error
        return result

    def close(self) -> None:
        for connection in self._connections.values():
            connection.close()
        self._connections.clear()


class DirectSends:
    def __init__(self) -> None:
        self._free: list[Lane] = []
        self._count = 0
        self._sends = 0
        self._closed = False

    def send(
        self, producer: Producer, message: Message, within: float
    ) -> SendResult | FailedAttempt | None:
        try:
            lane = self._free.pop()
        except IndexError:
            self._sends += 1
            if self._sends <= WARM_SENDS or self._count >= MAX_LANES:
                return None
            if not producer.allows_direct_sends:
                return None
            self._count += 1
            lane = Lane(producer)
        try:
            return lane.send(message, within)
        except Exception:
            raise
        except BaseException:  # an interrupt: a part of the response may be unread
            lane.close()
            raise
        finally:
            self._free.append(lane)
            if self._closed:
                self.close()

    def close(self) -> None:
        self._closed = True
        with suppress(IndexError):
            while True:
                self._free.pop().close()
