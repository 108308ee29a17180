"""Support for tests of programs that use this library: channels and scripted servers in memory.

Nothing here opens a socket or waits for real time, so it works with trio's ``autojump_clock``::

    async with open_network() as network:
        broker = network.peer("broker:10911")
        broker.expect(RequestCode.GET_MAX_OFFSET, reply(GetMaxOffsetResponseHeader(offset=7)))
        async with open_client(config, connect=network.connect) as client:
            assert await client.brokers.max_offset("broker:10911", queue) == 7

A request that is missing or unexpected raises ``AssertionError`` at the end of the block.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable
from contextlib import asynccontextmanager
from inspect import isawaitable
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

import trio
from trio.testing import memory_stream_pair

from rocketwire.codes import CURRENT_VERSION, RequestCode, ResponseCode
from rocketwire.errors import ConnectFailedError, LocalProtocolError
from rocketwire.messages import encode_body, encode_header
from rocketwire.transport.channel import Channel, open_channel_over
from rocketwire.transport.nursery import background
from rocketwire.wire.command import RemotingCommand

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping

    from rocketwire.transport.peer_requests import Handler

__all__ = [
    "MemoryNetwork",
    "ScriptedPeer",
    "memory_channel_pair",
    "open_network",
    "reply",
]

Scripted: TypeAlias = (
    RemotingCommand
    | Callable[[RemotingCommand], "RemotingCommand | Awaitable[RemotingCommand | None] | None"]
    | None
)
"""A response, a function that makes one from the request, or None for no response."""

# Maximum requests that a scripted peer records; the oldest are dropped
MAX_REMEMBERED: Final = 100_000


def reply(
    header: object | None = None,
    body: object | bytes | None = None,
    *,
    code: int = ResponseCode.SUCCESS,
    remark: str | None = None,
    ext_fields: Mapping[str, str] | None = None,
    version: int = CURRENT_VERSION,
) -> RemotingCommand:
    """Build a response.

    Args:
        header: an instance of a header class.
        body: an instance of a body class, or bytes.
        code: response code.
        remark: error text.
        ext_fields: further ext fields.
        version: protocol version of the sender.
    """
    fields = {**({} if header is None else encode_header(header)), **(ext_fields or {})}
    return RemotingCommand(
        code=code,
        remark=remark,
        ext_fields=fields or None,
        body=body if body is None or isinstance(body, bytes) else encode_body(body),
        version=version,
    )


@asynccontextmanager
async def memory_channel_pair(
    *,
    handler: Handler | None = None,
    peer_handler: Handler | None = None,
) -> AsyncGenerator[tuple[Channel, Channel]]:
    """Open two channels that are connected to each other, for the length of the block.

    Args:
        handler: answers requests that the first channel receives.
        peer_handler: answers requests that the second channel receives.
    """
    stream, peer_stream = memory_stream_pair()
    name = "memory peer"
    async with (
        open_channel_over(stream, peer=name, handler=handler, idle_timeout=None) as channel,
        open_channel_over(peer_stream, peer=name, handler=peer_handler, idle_timeout=None) as peer,
    ):
        yield channel, peer


class _Expected(NamedTuple):
    code: int
    answer: Scripted


class ScriptedPeer:
    """A scripted server in memory, which records its requests."""

    def __init__(self, address: str, nursery: trio.Nursery) -> None:
        self.address = address  #: its address, as ``host:port``
        #: the received requests, including one-way requests, in the order of arrival
        self.requests: deque[RemotingCommand] = deque(maxlen=MAX_REMEMBERED)
        self.connections: int = 0  #: number of connections accepted so far
        self.is_up: bool = True  #: whether it accepts connections
        self._nursery = nursery
        self._expected: deque[_Expected] = deque()
        self._always: dict[int, Scripted] = {}
        self.channels: list[Channel] = []  #: the open channels, the newest last
        self._failures: list[str] = []
        self._changed = trio.Event()

    # ------------------------------------------------------------------ the script

    def on(self, code: int, answer: Scripted) -> None:
        """Answer every request of that code with ``answer``; replaces an earlier ``on``."""
        self._always[code] = answer

    def expect(self, code: int, answer: Scripted) -> None:
        """Expect a request of that code after those expected earlier, and answer it.

        Requests with an ``on`` answer may come between expected requests.
        """
        self._expected.append(_Expected(code, answer))

    def codes(self) -> list[int]:
        return [request.code for request in self.requests]

    async def asked(self, code: int, times: int = 1) -> RemotingCommand:
        """Wait until ``times`` requests of that code have been received; return the last."""
        while True:
            requests = [request for request in self.requests if request.code == code]
            if len(requests) >= times:
                return requests[times - 1]
            await self._changed.wait()

    # ------------------------------------------------------------------ the other direction

    async def request(self, command: RemotingCommand) -> RemotingCommand:
        """Send a request to the client that connected last, and return its response.

        Raises:
            LocalProtocolError: no client is connected.
        """
        return await self._channel().request(command)

    async def send_oneway(self, command: RemotingCommand) -> None:
        """Send a one-way request to the client that connected last.

        Raises:
            LocalProtocolError: no client is connected.
        """
        await self._channel().send_oneway(command)

    async def disconnect(self) -> None:
        for channel in tuple(self.channels):
            await channel.aclose()

    async def go_down(self) -> None:
        self.is_up = False
        await self.disconnect()

    def _channel(self) -> Channel:
        if not self.channels:
            raise LocalProtocolError(f"no client is connected to {self.address}")
        return self.channels[-1]

    # ------------------------------------------------------------------ serving

    async def accept(self) -> trio.abc.Stream:
        """Accept a connection and return the client's stream; use ``MemoryNetwork.connect``.

        Raises:
            ConnectFailedError: the server is down.
        """
        if not self.is_up:
            raise ConnectFailedError(f"{self.address}: connection refused")
        client_stream, server_stream = memory_stream_pair()
        await self._nursery.start(self._run, server_stream)
        self.connections += 1
        return client_stream

    async def _run(
        self, stream: trio.abc.Stream, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED
    ) -> None:
        async with open_channel_over(
            stream, peer="client", handler=self._serve, idle_timeout=None
        ) as channel:
            self.channels.append(channel)
            task_status.started()
            try:
                await channel.wait_closed()
            finally:
                self.channels.remove(channel)

    async def _serve(self, request: RemotingCommand) -> RemotingCommand | None:
        self.requests.append(request)
        self._changed.set()
        self._changed = trio.Event()
        answer = self._answer_to(request)
        if not callable(answer):
            return answer
        response = answer(request)
        return await response if isawaitable(response) else response

    def _answer_to(self, request: RemotingCommand) -> Scripted:
        if self._expected and self._expected[0].code == request.code:
            return self._expected.popleft().answer
        if request.code in self._always:
            return self._always[request.code]
        code = RequestCode(request.code)
        self._failures.append(f"{self.address}: unexpected request {code!r}")
        return reply(code=ResponseCode.REQUEST_CODE_NOT_SUPPORTED, remark="not in the script")

    def verdict(self) -> list[str]:
        codes = [RequestCode(expected.code) for expected in self._expected]
        return self._failures + [
            f"{self.address}: request {code!r} was not received" for code in codes
        ]


class MemoryNetwork:
    """A network of scripted servers in memory; use ``open_network``."""

    def __init__(self, nursery: trio.Nursery) -> None:
        self._nursery = nursery
        self._peers: dict[str, ScriptedPeer] = {}

    def peer(self, address: str) -> ScriptedPeer:
        """Return the server at ``host:port``, which is created at the first call."""
        if address not in self._peers:
            self._peers[address] = ScriptedPeer(address, self._nursery)
        return self._peers[address]

    async def connect(self, host: str, port: int) -> trio.abc.Stream:
        """Connect to a server; an argument for ``open_client(connect=...)`` and ``open_pool``.

        Raises:
            ConnectFailedError: the network has no such server, or the server is down.
        """
        peer = self._peers.get(f"{host}:{port}")
        if peer is None:
            raise ConnectFailedError(f"{host}:{port}: the network has no server there")
        return await peer.accept()

    def verdict(self) -> list[str]:
        return [line for peer in self._peers.values() for line in peer.verdict()]


@asynccontextmanager
async def open_network() -> AsyncGenerator[MemoryNetwork]:
    """Open a network in memory for the length of the block.

    Raises:
        AssertionError: at the end of the block, if a server deviated from its script.
    """
    async with background() as nursery:
        network = MemoryNetwork(nursery)
        yield network
    if unexpected := network.verdict():
        raise AssertionError("\n".join(unexpected))
