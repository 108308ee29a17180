"""``Channel`` over memory streams and, for TLS and refusals, over real ones."""

from __future__ import annotations

import logging
import re
import ssl
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest
import trio
from trio.testing import lockstep_stream_pair, memory_stream_pair, wait_all_tasks_blocked

from rocketwire import errors
from rocketwire.codes import ResponseCode
from rocketwire.flags import CommandFlag
from rocketwire.serving.tls.stream import TlsStream
from rocketwire.transport.channel import Channel, open_channel_over
from rocketwire.transport.writer import MAX_UNSENT
from rocketwire.wire.command import CommandDecoder, RemotingCommand, decode, encode
from tests.support.builders.certificates import authority
from tests.support.tcp_pair import open_channel
from tests.unit.transport.loopback import serve_tcp

if TYPE_CHECKING:
    import socket
    from collections.abc import AsyncGenerator, Callable
    from pathlib import Path

    from rocketwire.transport.peer_requests import Handler


class Peer:
    """The other end of a channel."""

    def __init__(self, stream: trio.abc.Stream) -> None:
        self.stream = stream
        self.receives = 0
        self._decoder = CommandDecoder()

    @staticmethod
    def of_socket(there: socket.socket) -> Peer:
        there.setblocking(False)
        return Peer(trio.SocketStream(trio.socket.from_stdlib_socket(there)))

    async def next(self) -> RemotingCommand:
        while (command := self._decoder.next_command()) is None:
            self.receives += 1
            self._decoder.feed(bytes(await self.stream.receive_some()))
        return command

    async def answer(self, *requests: RemotingCommand, code: int | None = None) -> None:
        """Send responses at once; their codes are 100 more than those of the requests."""
        await self.send(
            *(
                RemotingCommand(
                    code=request.code + 100 if code is None else code,
                    opaque=request.opaque,
                    flag=CommandFlag.RESPONSE,
                )
                for request in requests
            )
        )

    async def send(self, *commands: RemotingCommand) -> None:
        await self.stream.send_all(b"".join(map(encode, commands)))


@asynccontextmanager
async def open_pair(
    streams: Callable[[], tuple[trio.abc.Stream, trio.abc.Stream]] = memory_stream_pair,
    **settings: Any,
) -> AsyncGenerator[tuple[Channel, Peer]]:
    """A channel in memory, and its other end."""
    ours, theirs = streams()
    defaults: dict[str, Any] = {"peer": "peer", "idle_timeout": None}
    async with open_channel_over(ours, **defaults | settings) as channel:
        yield channel, Peer(theirs)


@asynccontextmanager
async def open_full_pair() -> AsyncGenerator[tuple[Channel, Peer, trio.Nursery]]:
    """A channel with too many unsent bytes, its other end, and a nursery."""
    async with open_pair(lockstep_stream_pair) as (channel, peer), trio.open_nursery() as nursery:
        nursery.start_soon(channel.send_oneway, RemotingCommand(code=1, body=bytes(MAX_UNSENT)))
        await wait_all_tasks_blocked()
        yield channel, peer, nursery
        nursery.cancel_scope.cancel()


ASK = RemotingCommand(code=105)


async def test_responses_find_their_requests_in_any_order() -> None:
    codes: dict[int, int] = {}
    async with open_pair() as (channel, peer), trio.open_nursery() as nursery:

        async def ask(code: int) -> None:
            codes[code] = (await channel.request(RemotingCommand(code=code))).code

        for code in (1, 2, 3):
            nursery.start_soon(ask, code)
        requests = [await peer.next() for _ in range(3)]
        for request in reversed(requests):
            await peer.answer(request)

    assert codes == {1: 101, 2: 102, 3: 103}
    assert channel.in_flight == 0


async def test_a_cancelled_request_is_forgotten_and_its_response_dropped() -> None:
    async with open_pair() as (channel, peer):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(channel.request, ASK)
            cancelled = await peer.next()
            nursery.cancel_scope.cancel()

        assert channel.in_flight == 0
        await peer.answer(cancelled, code=9)
        async with trio.open_nursery() as nursery:

            async def ask() -> None:
                assert (await channel.request(ASK)).code == 205

            nursery.start_soon(ask)
            await peer.answer(await peer.next())


async def test_a_send_that_is_cancelled_half_way_is_completed() -> None:
    async with open_pair(lockstep_stream_pair) as (channel, peer):
        with trio.CancelScope() as scope:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(channel.request, RemotingCommand(code=1, body=b"x" * 100))
                await wait_all_tasks_blocked()
                scope.cancel()

        assert channel.in_flight == 0
        async with trio.open_nursery() as nursery:
            nursery.start_soon(channel.request, RemotingCommand(code=2))
            assert (await peer.next()).body == b"x" * 100
            assert (await peer.next()).code == 2
            nursery.cancel_scope.cancel()


async def test_a_request_cancelled_before_its_turn_is_not_sent() -> None:
    async with open_pair() as (channel, peer):
        for call in (channel.request, channel.send_oneway):
            with trio.CancelScope() as scope:
                scope.cancel()
                await call(RemotingCommand(code=1))

        await channel.send_oneway(RemotingCommand(code=3))
        assert (await peer.next()).code == 3
        assert channel.in_flight == 0


async def test_a_request_waits_while_too_much_is_unsent() -> None:
    async with open_full_pair() as (channel, peer, nursery):
        nursery.start_soon(channel.request, RemotingCommand(code=2))
        await wait_all_tasks_blocked()
        assert channel.in_flight == 0
        assert (await peer.next()).code == 1
        assert (await peer.next()).code == 2


async def test_waiting_to_send_ends_at_the_deadline(autojump_clock: object) -> None:
    async with open_full_pair() as (channel, _, _):
        with pytest.raises(errors.RequestTimeoutError) as caught:
            await channel.request(RemotingCommand(code=2), deadline=trio.current_time() + 3)
    assert (caught.value.request_code, caught.value.seconds) == (2, 3)
    assert channel.in_flight == 0


async def test_waiting_to_send_ends_with_the_connection() -> None:
    failures: list[errors.ChannelError] = []
    async with open_pair(lockstep_stream_pair) as (channel, peer), trio.open_nursery() as nursery:

        async def send() -> None:
            try:
                await channel.send_oneway(RemotingCommand(code=1, body=bytes(MAX_UNSENT)))
            except errors.ChannelError as error:
                failures.append(error)

        for _ in range(2):
            nursery.start_soon(send)
        await wait_all_tasks_blocked()
        await trio.aclose_forcefully(peer.stream)

    assert [type(error) for error in failures] == [errors.ChannelBrokenError] * 2


async def test_a_request_ends_at_its_deadline(autojump_clock: object) -> None:
    async with open_pair() as (channel, peer), trio.open_nursery() as nursery:
        nursery.start_soon(channel.request, ASK)
        with pytest.raises(errors.RequestTimeoutError) as caught:
            await channel.request(RemotingCommand(code=2), deadline=trio.current_time() + 3)
        assert trio.current_time() == 3
        error = caught.value
        assert (error.address, error.request_code, error.seconds) == ("peer", 2, 3)
        assert channel.in_flight == 1
        for _ in range(2):
            await peer.answer(await peer.next())
        await wait_all_tasks_blocked()
        assert channel.is_open


async def test_the_earliest_of_several_deadlines_comes_first(autojump_clock: object) -> None:
    ends: list[tuple[int, float]] = []
    async with open_pair(idle_timeout=100) as (channel, _), trio.open_nursery() as nursery:

        async def ask(seconds: int) -> None:
            with pytest.raises(errors.RequestTimeoutError):
                await channel.request(ASK, deadline=trio.current_time() + seconds)
            ends.append((seconds, trio.current_time()))

        for seconds in (5, 2, 9):
            nursery.start_soon(ask, seconds)

    assert ends == [(2, 2), (5, 5), (9, 9)]


async def test_many_large_requests_at_once_over_tcp_arrive_whole() -> None:
    async def serve(stream: trio.SocketStream) -> None:
        peer = Peer(stream)
        for _ in range(20):
            request = await peer.next()
            assert request.body == bytes([request.code]) * 300_000
            await peer.answer(request)

    codes: list[int] = []
    async with (
        serve_tcp(serve) as port,
        open_channel("127.0.0.1", port) as channel,
        trio.open_nursery() as nursery,
    ):

        async def ask(code: int) -> None:
            body = bytes([code]) * 300_000
            codes.append((await channel.request(RemotingCommand(code=code, body=body))).code)

        for code in range(20):
            nursery.start_soon(ask, code)

    assert sorted(codes) == list(range(100, 120))


@pytest.mark.parametrize("ending", ["close", "rubbish", "aclose"])
async def test_every_pending_request_fails_when_the_connection_ends(ending: str) -> None:
    failures: list[errors.ChannelError] = []
    async with open_pair() as (channel, peer), trio.open_nursery() as nursery:

        async def ask() -> None:
            try:
                await channel.request(ASK)
            except errors.ChannelError as error:
                failures.append(error)

        for _ in range(2):
            nursery.start_soon(ask)
            await peer.next()
        if ending == "close":
            await peer.stream.aclose()
        elif ending == "rubbish":
            await peer.stream.send_all(b"\xff" * 12)
        else:
            await channel.aclose()

    expected = errors.ChannelClosedError if ending == "aclose" else errors.ChannelBrokenError
    assert [type(error) for error in failures] == [expected] * 2
    assert failures[0] is not failures[1]
    assert isinstance(failures[0].__cause__, errors.DecodeError) == (ending == "rubbish")


async def test_a_closed_channel_refuses_calls_unless_they_are_cancelled() -> None:
    async with open_pair() as (channel, _):
        await channel.aclose()
        await channel.aclose()

        for call in (channel.request, channel.send_oneway):
            with pytest.raises(errors.ChannelClosedError):
                await call(ASK)
            with trio.CancelScope() as scope:
                scope.cancel()
                await call(ASK)
            assert scope.cancelled_caught
        assert not channel.is_open


class Lost(trio.abc.Stream):
    """A connection that was reset, which is noticed by sending or by receiving."""

    def __init__(self, *, sending: bool) -> None:
        self._sending = sending

    async def send_all(self, data: bytes | bytearray | memoryview) -> None:
        await trio.lowlevel.checkpoint()
        if self._sending:
            raise trio.BrokenResourceError

    async def wait_send_all_might_not_block(self) -> None:
        await trio.lowlevel.checkpoint()

    async def receive_some(self, max_bytes: int | None = None) -> bytes:
        if self._sending:
            await trio.sleep_forever()
        await trio.lowlevel.checkpoint()
        raise trio.BrokenResourceError

    async def aclose(self) -> None:
        await trio.lowlevel.checkpoint()


@pytest.mark.parametrize(
    ("sending", "text"), [(True, "could not send"), (False, "the connection was lost")]
)
async def test_the_error_of_a_lost_connection_has_its_cause(sending: bool, text: str) -> None:
    async with open_channel_over(Lost(sending=sending), peer="peer", idle_timeout=None) as channel:
        with pytest.raises(errors.ChannelBrokenError, match=text) as caught:
            await channel.request(ASK)
    assert isinstance(caught.value.__cause__, trio.BrokenResourceError)


class Late(Lost):
    """A connection whose bytes come when it was closed here."""

    def __init__(self) -> None:
        super().__init__(sending=False)
        self._closed = trio.Event()

    async def receive_some(self, max_bytes: int | None = None) -> bytes:
        with trio.CancelScope(shield=True):
            await self._closed.wait()
        return encode(RemotingCommand(code=7, opaque=7))

    async def aclose(self) -> None:
        self._closed.set()


async def test_requests_that_come_after_the_close_are_dropped() -> None:
    codes = list[int]()

    async def handler(request: RemotingCommand) -> None:
        codes.append(request.code)

    async with open_channel_over(
        Late(), peer="peer", handler=handler, idle_timeout=None
    ) as channel:
        await wait_all_tasks_blocked()
        await channel.aclose()

    assert not codes


# ---------------------------------------------------------------------- requests of the peer


async def test_requests_of_the_peer_are_answered_by_the_handler() -> None:
    async def handler(request: RemotingCommand) -> RemotingCommand | None:
        return None if request.code == 7 else RemotingCommand(code=request.code + 1)

    async with open_pair(handler=handler) as (_, peer):
        for code, flag in ((7, 0), (5, CommandFlag.ONEWAY), (40, 0)):
            await peer.send(RemotingCommand(code=code, opaque=code, flag=flag))
        response = await peer.next()

    assert (response.code, response.opaque, response.flag) == (41, 40, CommandFlag.RESPONSE)


async def test_a_handler_can_send_requests_over_its_channel() -> None:
    channels: list[Channel] = []

    async def handler(_: RemotingCommand) -> RemotingCommand:
        return RemotingCommand(code=(await channels[0].request(ASK)).code)

    async with open_pair(handler=handler) as (channel, peer):
        channels.append(channel)
        await peer.send(RemotingCommand(code=1, opaque=1))
        await peer.answer(await peer.next(), code=33)

        assert (await peer.next()).code == 33


async def test_a_response_that_cannot_be_encoded_is_not_sent() -> None:
    async def handler(_: RemotingCommand) -> RemotingCommand:
        return RemotingCommand(code=2**40)

    async with open_pair(handler=handler) as (channel, peer):
        await peer.send(RemotingCommand(code=1, opaque=1))
        await wait_all_tasks_blocked()

        assert channel.is_open


async def fail(_: RemotingCommand) -> RemotingCommand:
    raise ValueError("no")


@pytest.mark.parametrize(
    ("handler", "expected", "text"),
    [
        (None, (ResponseCode.REQUEST_CODE_NOT_SUPPORTED, " request type 4711 not supported"), ""),
        (fail, (ResponseCode.SYSTEM_ERROR, "ValueError: no"), "request code 4711 failed"),
    ],
)
async def test_requests_without_a_response_of_the_handler_are_refused(
    handler: Handler | None, expected: tuple[int, str], text: str, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.ERROR):
        async with open_pair(handler=handler) as (channel, peer):
            await peer.send(RemotingCommand(code=4711, opaque=3))
            response = await peer.next()
            assert channel.is_open

    assert (response.code, response.remark) == expected
    assert text in caplog.text
    assert bool(text) is bool(caplog.text)


class Waiting:
    """A handler that waits until its event is set."""

    def __init__(self) -> None:
        self.event = trio.Event()

    async def __call__(self, _: RemotingCommand) -> RemotingCommand:
        await self.event.wait()
        return RemotingCommand(code=0)


async def test_served_bodies_have_a_common_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    handler = Waiting()
    monkeypatch.setattr("rocketwire.transport.peer_requests.MAX_SERVED_BYTES", 10)
    async with open_pair(handler=handler) as (_, peer):
        for opaque, size in enumerate([11, 0, 6, 6]):  # the first is always served
            await peer.send(RemotingCommand(code=1, opaque=opaque, body=bytes(size) or None))
            await wait_all_tasks_blocked()
        refused = {(await peer.next()).opaque for _ in range(3)}
        handler.event.set()
        responses = [await peer.next()]
        await wait_all_tasks_blocked()
        await peer.send(RemotingCommand(code=1, opaque=9, body=bytes(6)))
        responses.append(await peer.next())

    assert refused == {1, 2, 3}
    assert [(response.code, response.opaque) for response in responses] == [(0, 0), (0, 9)]


async def test_requests_that_are_refused_are_two_warnings(caplog: pytest.LogCaptureFixture) -> None:
    handler = Waiting()
    async with open_pair(handler=handler, max_served=1) as (_, peer):
        await peer.send(RemotingCommand(code=39, opaque=1))
        await wait_all_tasks_blocked()
        for opaque in range(2, 5):
            await peer.send(RemotingCommand(code=39, opaque=opaque))
            response = await peer.next()
            assert (response.code, response.opaque) == (ResponseCode.SYSTEM_BUSY, opaque)
        handler.event.set()
        await peer.next()
        await wait_all_tasks_blocked()

    assert caplog.messages == [
        "peer: 1 requests with 0 bytes are being handled; "
        "request 39 and further requests are rejected",
        "peer: 3 requests were rejected in total",
    ]


async def test_silence_ends_the_connection_and_traffic_keeps_it(autojump_clock: object) -> None:
    async with open_pair(idle_timeout=10) as (channel, peer):
        await trio.sleep(6)
        await channel.send_oneway(ASK)
        await trio.sleep(6)
        assert channel.is_open
        await peer.send(RemotingCommand(code=0, flag=CommandFlag.RESPONSE))
        await trio.sleep(9)
        assert channel.is_open
        await trio.sleep(2)

        with pytest.raises(
            errors.ChannelBrokenError, match="no bytes were sent or received for 10 s"
        ):
            await channel.request(ASK)


async def test_too_many_requests_at_once_are_refused_here() -> None:
    async with open_pair(max_in_flight=1) as (channel, _), trio.open_nursery() as nursery:
        nursery.start_soon(channel.request, ASK)
        await wait_all_tasks_blocked()
        with pytest.raises(errors.LocalProtocolError):
            await channel.request(ASK)
        nursery.cancel_scope.cancel()


# ---------------------------------------------------------------------- TCP and TLS


async def test_a_connection_over_tcp_and_a_handshake_that_fails() -> None:
    async def serve(stream: trio.SocketStream) -> None:
        data = bytes(await stream.receive_some())
        if data[:1] == b"\x16":
            await stream.send_all(b"no TLS here")
            return
        await Peer(stream).answer(decode(data))
        await stream.receive_some()

    async with serve_tcp(serve) as port:
        async with open_channel("127.0.0.1", port) as channel:
            assert (await channel.request(ASK)).code == 205
        with pytest.raises(errors.ConnectFailedError, match="no TLS handshake"):
            async with open_channel("127.0.0.1", port, tls=ssl.create_default_context()):
                pass


@pytest.mark.parametrize("host", ["x" * 64, "x..y", "a\0b"])
async def test_an_invalid_host_name_is_not_connected_to(host: str) -> None:
    with pytest.raises(errors.ConnectFailedError, match=f"^{re.escape(host)}:1: "):
        async with open_channel(host, 1):
            pass


async def test_an_invalid_name_of_a_certificate_fails_the_handshake() -> None:
    tls = ssl.create_default_context()
    async with serve_tcp(trio.SocketStream.receive_some) as port:
        for name in (".example", "ü..y"):
            with pytest.raises(errors.ConnectFailedError, match="no TLS handshake"):
                async with open_channel("127.0.0.1", port, tls=tls, server_hostname=name):
                    pass


async def test_a_handshake_can_be_cancelled() -> None:
    received = trio.Event()

    async def serve(stream: trio.SocketStream) -> None:
        await stream.receive_some()
        received.set()
        await trio.sleep_forever()

    async with serve_tcp(serve) as port, trio.open_nursery() as nursery:

        async def connect() -> None:
            async with open_channel("127.0.0.1", port, tls=ssl.create_default_context()):
                pass

        nursery.start_soon(connect)
        await received.wait()
        nursery.cancel_scope.cancel()


@pytest.fixture
def contexts(tmp_path: Path) -> tuple[ssl.SSLContext, ssl.SSLContext]:
    """TLS of a server that demands certificates, and of a client that has none."""
    issuer = authority()
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(*issuer.issue("localhost").write(tmp_path, "server"))
    server.verify_mode = ssl.CERT_REQUIRED
    server.load_verify_locations(cadata=issuer.certificate_pem.decode())
    client = ssl.create_default_context(cadata=issuer.certificate_pem.decode())
    client.check_hostname = False
    return server, client


async def test_a_channel_over_tls(contexts: tuple[ssl.SSLContext, ssl.SSLContext]) -> None:
    server, client = contexts
    server.verify_mode = ssl.CERT_NONE

    async def serve(stream: trio.SocketStream) -> None:
        peer = Peer(trio.SSLStream(stream, server, server_side=True))
        await peer.answer(await peer.next())

    async with serve_tcp(serve) as port, open_channel("127.0.0.1", port, tls=client) as channel:
        assert (await channel.request(ASK)).code == 205


async def test_the_alert_of_a_server_that_demands_a_certificate_is_reported(
    contexts: tuple[ssl.SSLContext, ssl.SSLContext],
) -> None:
    """The alert comes when the client has finished its handshake, and before any response."""
    server, client = contexts

    async def serve(stream: trio.SocketStream) -> None:
        with pytest.raises(trio.BrokenResourceError):
            await TlsStream(stream, server).do_handshake()  # trio's would not send the alert

    async with serve_tcp(serve) as port, open_channel("127.0.0.1", port, tls=client) as channel:
        await channel.wait_closed()
        with pytest.raises(errors.ChannelBrokenError, match="alert certificate required"):
            await channel.request(ASK)


@pytest.mark.parametrize(
    ("speaks", "text"),
    [(False, "does it want TLS"), (True, r"^peer: the peer closed the connection$")],
)
async def test_the_error_mentions_tls_if_the_peer_closes_without_a_byte(
    speaks: bool, text: str, mock_clock: trio.testing.MockClock
) -> None:
    async with open_pair() as (channel, peer):
        if speaks:
            mock_clock.jump(1)
            await peer.send(RemotingCommand(code=1, flag=CommandFlag.ONEWAY))
            await wait_all_tasks_blocked()
        await peer.stream.aclose()
        await channel.wait_closed()
        with pytest.raises(errors.ChannelBrokenError, match=text):
            await channel.request(ASK)
