"""For tests of programs that use this library: channels in memory, and servers that answer as a test says.

Nothing here opens a socket or waits for real time, so it goes with trio's ``autojump_clock``::

    async with open_network() as network:
        broker = network.peer("broker:10911")
        broker.expect(RequestCode.GET_MAX_OFFSET, reply(GetMaxOffsetResponseHeader(offset=7)))
        async with open_client(config, connect=network.connect) as client:
            assert await client.brokers.max_offset("broker:10911", queue) == 7

Rules of this file: what a test expected and did not happen, and what happened and nobody expected, fails at the end of the
block with an ``AssertionError`` that names it.
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
from rocketwire.transport.channel import Channel, over
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
"""An answer, a function that makes one of the request, or None for silence."""

MAX_REMEMBERED: Final = 100_000
"""Requests that one scripted peer remembers; the oldest are dropped."""


def reply(
    header: object | None = None,
    body: object | bytes | None = None,
    *,
    code: int = ResponseCode.SUCCESS,
    remark: str | None = None,
    ext_fields: Mapping[str, str] | None = None,
    version: int = CURRENT_VERSION,
) -> RemotingCommand:
    """An answer.

    Args:
        header: an instance of a header class.
        body: an instance of a body class, or bytes.
        code: how the request ended.
        remark: what is said about it.
        ext_fields: further ones.
        version: protocol version of who answers.
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
    idle_timeout: float | None = None,
) -> AsyncGenerator[tuple[Channel, Channel]]:
    """Two channels that are connected with each other, for the length of the block.

    Args:
        handler: answers what the second one asks the first.
        peer_handler: answers what the first one asks the second.
        idle_timeout: seconds of silence after which each of them closes; None for never.
    """
    left, right = memory_stream_pair()
    async with (
        over(left, peer="memory peer", handler=handler, idle_timeout=idle_timeout) as one,
        over(right, peer="memory peer", handler=peer_handler, idle_timeout=idle_timeout) as other,
    ):
        yield one, other


class _Expected(NamedTuple):
    code: int
    answer: Scripted


class ScriptedPeer:
    """A server in memory: it answers what the test has told it to, and remembers what it was asked.

    Attributes:
        address: where it is reached.
        requests: what it was asked, one-way requests included, in the order of arrival.
        connections: how often it was connected to.
        is_up: whether it can be connected to.
        channels: those that are open now, the youngest last.
    """

    def __init__(self, address: str, nursery: trio.Nursery) -> None:
        """A server that answers nothing yet; ``MemoryNetwork.peer`` makes one."""
        self.address = address
        self.requests: deque[RemotingCommand] = deque(maxlen=MAX_REMEMBERED)
        self.connections = 0
        self.is_up = True
        self._nursery = nursery
        self._expected: deque[_Expected] = deque()
        self._always: dict[int, Scripted] = {}
        self.channels: list[Channel] = []
        self._failures: list[str] = []
        self._changed = trio.Event()

    # ------------------------------------------------------------------ the script

    def on(self, code: int, answer: Scripted) -> None:
        """Answer every request of that code so, whenever it comes; replaces what was said before."""
        self._always[code] = answer

    def expect(self, code: int, answer: Scripted) -> None:
        """The next request, after those expected before, has that code; answer it so.

        While anything is expected, a request that ``on`` knows may come between.
        """
        self._expected.append(_Expected(code, answer))

    def codes(self) -> list[int]:
        """The codes of what it was asked."""
        return [request.code for request in self.requests]

    async def asked(self, code: int, times: int = 1) -> RemotingCommand:
        """Wait until requests of that code have come so many times; returns the last of them."""
        while len(found := [one for one in self.requests if one.code == code]) < times:
            await self._changed.wait()
        return found[times - 1]

    # ------------------------------------------------------------------ the other direction

    async def request(self, command: RemotingCommand) -> RemotingCommand:
        """Ask the client that connected last.

        Raises:
            LocalProtocolError: nobody is connected.
        """
        return await self._channel().request(command)

    async def send_oneway(self, command: RemotingCommand) -> None:
        """Tell something to the client that connected last.

        Raises:
            LocalProtocolError: nobody is connected.
        """
        await self._channel().send_oneway(command)

    async def disconnect(self) -> None:
        """Close all connections; new ones can be made."""
        for channel in tuple(self.channels):
            await channel.aclose()

    async def go_down(self) -> None:
        """Close all connections, and refuse new ones until ``is_up`` is set."""
        self.is_up = False
        await self.disconnect()

    def _channel(self) -> Channel:
        if not self.channels:
            raise LocalProtocolError(f"nobody is connected to {self.address}")
        return self.channels[-1]

    # ------------------------------------------------------------------ serving

    async def accept(self) -> trio.abc.Stream:
        """Be connected to; ``MemoryNetwork.connect`` does it.

        Raises:
            ConnectFailedError: it is down.
        """
        if not self.is_up:
            raise ConnectFailedError(f"{self.address}: connection refused")
        theirs, ours = memory_stream_pair()
        await self._nursery.start(self._run, ours)
        self.connections += 1
        return theirs

    async def _run(
        self, stream: trio.abc.Stream, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED
    ) -> None:
        async with over(stream, peer="client", handler=self._serve, idle_timeout=None) as channel:
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
        if callable(answer):
            made = answer(request)
            return await made if isawaitable(made) else made
        return answer

    def _answer_to(self, request: RemotingCommand) -> Scripted:
        if self._expected and self._expected[0].code == request.code:
            return self._expected.popleft().answer
        if request.code in self._always:
            return self._always[request.code]
        code = RequestCode(request.code)
        self._failures.append(f"{self.address}: nobody expected request {code!r}")
        return reply(code=ResponseCode.REQUEST_CODE_NOT_SUPPORTED, remark="not in the script")

    def verdict(self) -> list[str]:
        """What happened and nobody expected, and what was expected and did not happen."""
        missing = [
            f"{self.address}: request {RequestCode(one.code)!r} never came"
            for one in self._expected
        ]
        return self._failures + missing


class MemoryNetwork:
    """Addresses with scripted servers behind them; made by ``open_network``."""

    def __init__(self, nursery: trio.Nursery) -> None:
        """A network of nobody."""
        self._nursery = nursery
        self._peers: dict[str, ScriptedPeer] = {}

    def peer(self, address: str) -> ScriptedPeer:
        """The server at ``host:port``; the same one for the same address."""
        if address not in self._peers:
            self._peers[address] = ScriptedPeer(address, self._nursery)
        return self._peers[address]

    async def connect(self, host: str, port: int) -> trio.abc.Stream:
        """Connect to a server of this network; what ``open_client(connect=...)`` and ``open_pool`` take.

        Raises:
            ConnectFailedError: there is none, or it is down.
        """
        peer = self._peers.get(f"{host}:{port}")
        if peer is None:
            raise ConnectFailedError(f"{host}:{port}: nobody of the network is there")
        return await peer.accept()

    def verdict(self) -> list[str]:
        """What went otherwise than the scripts say, of all servers."""
        return [line for peer in self._peers.values() for line in peer.verdict()]


@asynccontextmanager
async def open_network() -> AsyncGenerator[MemoryNetwork]:
    """A network in memory for the length of the block.

    Raises:
        AssertionError: at the end of the block, when something went otherwise than the scripts say.
    """
    async with background() as nursery:
        network = MemoryNetwork(nursery)
        yield network
    if unexpected := network.verdict():
        raise AssertionError("\n".join(unexpected))
