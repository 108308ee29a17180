"""``Channel`` over memory streams and, for TLS and refusals, over real ones."""

from __future__ import annotations

import logging
import re
import ssl
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import pytest
import trio
import trio.testing

from rocketwire.errors import (
    ChannelBrokenError,
    ChannelClosedError,
    ChannelError,
    ConnectFailedError,
    DecodeError,
    LocalProtocolError,
    RequestTimeoutError,
)
from rocketwire.flags import CommandFlag
from rocketwire.serving.tls.stream import TlsStream
from rocketwire.transport.channel import Channel, open_channel_over
from rocketwire.transport.writer import MAX_UNSENT
from rocketwire.wire.command import CommandDecoder, RemotingCommand, encode
from tests.support.builders.certificates import authority
from tests.support.tcp_pair import open_channel

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from pathlib import Path

    from rocketwire.transport.peer_requests import Handler


class Peer:
    """The other side, moved by hand."""

    def __init__(self, stream: trio.abc.Stream) -> None:
        self.stream = stream
        self._decoder = CommandDecoder()

    async def next(self) -> RemotingCommand:
        while (command := self._decoder.next_command()) is None:
            self._decoder.feed(bytes(await self.stream.receive_some()))
        return command

    async def answer(self, request: RemotingCommand, code: int = 0) -> None:
        await self.say(RemotingCommand(code=code, opaque=request.opaque, flag=CommandFlag.RESPONSE))

    async def say(self, command: RemotingCommand) -> None:
        await self.stream.send_all(encode(command))


@asynccontextmanager
async def pair(
    *, handler: Handler | None = None, max_served: int = 8, idle_timeout: float | None = None
) -> AsyncGenerator[tuple[Channel, Peer]]:
    ours, theirs = trio.testing.memory_stream_pair()
    async with open_channel_over(
        ours, peer="peer", handler=handler, max_served=max_served, idle_timeout=idle_timeout
    ) as channel:
        yield channel, Peer(theirs)


ASK = RemotingCommand(code=105)


async def test_answers_find_their_requests_in_any_order() -> None:
    codes: dict[int, int] = {}
    async with pair() as (channel, peer), trio.open_nursery() as nursery:

        async def ask(code: int) -> None:
            codes[code] = (await channel.request(RemotingCommand(code=code))).code

        for code in (1, 2, 3):
            nursery.start_soon(ask, code)
        requests = [await peer.next() for _ in range(3)]
        for request in reversed(requests):
            await peer.answer(request, request.code + 100)

    assert codes == {1: 101, 2: 102, 3: 103}
    assert channel.in_flight == 0


async def test_a_oneway_request_waits_for_nothing() -> None:
    async with pair() as (channel, peer):
        await channel.send_oneway(ASK)

        assert (await peer.next()).is_oneway
        assert channel.in_flight == 0


async def test_a_cancelled_request_leaves_nothing_and_its_answer_is_dropped() -> None:
    async with pair() as (channel, peer):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(channel.request, ASK)
            late = await peer.next()
            nursery.cancel_scope.cancel()

        assert channel.in_flight == 0
        await peer.answer(late, 9)
        async with trio.open_nursery() as nursery:

            async def ask() -> None:
                assert (await channel.request(ASK)).code == 0

            nursery.start_soon(ask)
            await peer.answer(await peer.next())


async def test_a_send_cancelled_half_way_goes_out_whole_and_breaks_nothing() -> None:
    ours, theirs = trio.testing.lockstep_stream_pair()
    peer = Peer(theirs)
    async with open_channel_over(ours, peer="peer", idle_timeout=None) as channel:
        with trio.CancelScope() as scope:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(channel.request, RemotingCommand(code=1, body=b"x" * 100))
                await trio.testing.wait_all_tasks_blocked()
                scope.cancel()

        assert channel.in_flight == 0
        async with trio.open_nursery() as nursery:
            nursery.start_soon(channel.request, RemotingCommand(code=2))
            assert (await peer.next()).body == b"x" * 100
            assert (await peer.next()).code == 2
            nursery.cancel_scope.cancel()


async def test_a_request_cancelled_before_its_turn_is_not_sent() -> None:
    async with pair() as (channel, peer):
        with trio.CancelScope() as scope:
            scope.cancel()
            await channel.request(RemotingCommand(code=1))
        with trio.CancelScope() as scope:
            scope.cancel()
            await channel.send_oneway(RemotingCommand(code=2))

        await channel.send_oneway(RemotingCommand(code=3))
        assert (await peer.next()).code == 3
        assert channel.in_flight == 0


async def test_who_comes_when_too_much_is_unsent_waits_first() -> None:
    ours, theirs = trio.testing.lockstep_stream_pair()
    peer = Peer(theirs)
    large = RemotingCommand(code=1, body=bytes(MAX_UNSENT))
    async with (
        open_channel_over(ours, peer="peer", idle_timeout=None) as channel,
        trio.open_nursery() as nursery,
    ):
        nursery.start_soon(channel.send_oneway, large)
        await trio.testing.wait_all_tasks_blocked()
        nursery.start_soon(channel.request, RemotingCommand(code=2))
        await trio.testing.wait_all_tasks_blocked()
        assert channel.in_flight == 0

        assert (await peer.next()).code == 1
        assert (await peer.next()).code == 2
        nursery.cancel_scope.cancel()


async def test_who_waits_to_send_waits_no_longer_than_the_deadline(
    autojump_clock: trio.testing.MockClock,
) -> None:
    ours, _theirs = trio.testing.lockstep_stream_pair()
    async with (
        open_channel_over(ours, peer="peer", idle_timeout=None) as channel,
        trio.open_nursery() as nursery,
    ):
        nursery.start_soon(channel.send_oneway, RemotingCommand(code=1, body=bytes(MAX_UNSENT)))
        await trio.testing.wait_all_tasks_blocked()
        with pytest.raises(RequestTimeoutError) as caught:
            await channel.request(RemotingCommand(code=2), deadline=trio.current_time() + 3)
        nursery.cancel_scope.cancel()

    assert (caught.value.request_code, caught.value.seconds) == (2, 3)
    assert channel.in_flight == 0


async def test_who_waits_to_send_is_told_when_the_connection_ends() -> None:
    ours, theirs = trio.testing.lockstep_stream_pair()
    ended: list[ChannelError] = []
    async with (
        open_channel_over(ours, peer="peer", idle_timeout=None) as channel,
        trio.open_nursery() as nursery,
    ):

        async def tell() -> None:
            try:
                await channel.send_oneway(RemotingCommand(code=1, body=bytes(MAX_UNSENT)))
            except ChannelError as error:
                ended.append(error)

        for _ in range(2):
            nursery.start_soon(tell)
        await trio.testing.wait_all_tasks_blocked()
        await trio.aclose_forcefully(theirs)

    assert [type(error) for error in ended] == [ChannelBrokenError] * 2


async def test_a_request_with_a_deadline_waits_no_longer(
    autojump_clock: trio.testing.MockClock,
) -> None:
    async with pair() as (channel, peer), trio.open_nursery() as nursery:
        nursery.start_soon(channel.request, ASK)
        with pytest.raises(RequestTimeoutError) as caught:
            await channel.request(RemotingCommand(code=2), deadline=trio.current_time() + 3)
        assert trio.current_time() == 3
        assert (caught.value.address, caught.value.request_code) == ("peer", 2)
        assert caught.value.seconds == 3
        assert channel.in_flight == 1
        await peer.answer(await peer.next())
        late = await peer.next()
        await peer.answer(late)
        await trio.testing.wait_all_tasks_blocked()
        assert channel.is_open


async def test_the_earliest_of_several_deadlines_comes_first(
    autojump_clock: trio.testing.MockClock,
) -> None:
    ended: list[tuple[int, float]] = []
    async with pair(idle_timeout=100) as (channel, _), trio.open_nursery() as nursery:

        async def ask(seconds: int) -> None:
            with pytest.raises(RequestTimeoutError):
                await channel.request(ASK, deadline=trio.current_time() + seconds)
            ended.append((seconds, trio.current_time()))

        for seconds in (5, 2, 9):
            nursery.start_soon(ask, seconds)

    assert ended == [(2, 2), (5, 5), (9, 9)]


async def test_many_large_requests_at_once_over_tcp_arrive_whole() -> None:
    async def serve(stream: trio.SocketStream) -> None:
        peer = Peer(stream)
        for _ in range(20):
            request = await peer.next()
            assert request.body == bytes([request.code]) * 300_000
            await peer.answer(request, request.code + 100)

    codes: list[int] = []
    async with trio.open_nursery() as nursery:
        listeners = await trio.open_tcp_listeners(0, host="127.0.0.1")
        port = listeners[0].socket.getsockname()[1]
        nursery.start_soon(trio.serve_listeners, serve, listeners)
        async with open_channel("127.0.0.1", port) as channel, trio.open_nursery() as inner:

            async def ask(code: int) -> None:
                body = bytes([code]) * 300_000
                codes.append((await channel.request(RemotingCommand(code=code, body=body))).code)

            for code in range(20):
                inner.start_soon(ask, code)
        nursery.cancel_scope.cancel()

    assert sorted(codes) == list(range(100, 120))


@pytest.mark.parametrize("ending", ["close", "rubbish", "aclose"])
async def test_every_waiter_is_woken_when_the_connection_ends(ending: str) -> None:
    errors: list[ChannelError] = []
    async with pair() as (channel, peer), trio.open_nursery() as nursery:

        async def ask() -> None:
            try:
                await channel.request(ASK)
            except ChannelError as error:
                errors.append(error)

        nursery.start_soon(ask)
        nursery.start_soon(ask)
        await peer.next()
        await peer.next()
        if ending == "close":
            await peer.stream.aclose()
        elif ending == "rubbish":
            await peer.stream.send_all(b"\xff" * 12)
        else:
            await channel.aclose()

    wanted = ChannelClosedError if ending == "aclose" else ChannelBrokenError
    assert [type(error) for error in errors] == [wanted] * 2
    assert errors[0] is not errors[1]
    assert isinstance(errors[0].__cause__, DecodeError) == (ending == "rubbish")


async def test_a_cancelled_call_is_cancelled_also_if_its_channel_has_been_closed() -> None:
    async with pair() as (channel, _):
        await channel.aclose()

        for call in (channel.request, channel.send_oneway):
            with trio.CancelScope() as scope:
                scope.cancel()
                await call(ASK)
            assert scope.cancelled_caught


async def test_a_closed_channel_takes_nothing_more() -> None:
    async with pair() as (channel, _):
        await channel.aclose()
        await channel.aclose()

        with pytest.raises(ChannelClosedError):
            await channel.request(ASK)
        with pytest.raises(ChannelClosedError):
            await channel.send_oneway(ASK)
        assert not channel.is_open


async def test_the_block_goes_on_after_the_peer_has_gone() -> None:
    async with pair() as (channel, peer):
        await peer.stream.aclose()
        await trio.testing.wait_all_tasks_blocked()

        with pytest.raises(ChannelBrokenError, match="peer: the peer closed"):
            await channel.request(ASK)


class Lost(trio.abc.Stream):
    """A connection that has been reset: sending or receiving says so, whichever is tried."""

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
    ("sending", "told"), [(True, "could not send"), (False, "the connection was lost")]
)
async def test_a_connection_that_is_lost_is_broken_with_its_cause(sending: bool, told: str) -> None:
    async with open_channel_over(Lost(sending=sending), peer="peer", idle_timeout=None) as channel:
        with pytest.raises(ChannelBrokenError, match=told) as caught:
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


async def test_what_comes_when_the_channel_was_closed_is_dropped() -> None:
    asked = list[int]()

    async def handler(request: RemotingCommand) -> None:
        asked.append(request.code)

    async with open_channel_over(
        Late(), peer="peer", handler=handler, idle_timeout=None
    ) as channel:
        await trio.testing.wait_all_tasks_blocked()
        await channel.aclose()

    assert not asked


async def test_requests_of_the_peer_are_answered_by_the_handler() -> None:
    async def handler(request: RemotingCommand) -> RemotingCommand | None:
        return None if request.code == 7 else RemotingCommand(code=request.code + 1)

    async with pair(handler=handler) as (_, peer):
        for code, flag in ((7, 0), (5, CommandFlag.ONEWAY), (40, 0)):
            await peer.say(RemotingCommand(code=code, opaque=code, flag=flag))
        answer = await peer.next()

    assert (answer.code, answer.opaque, answer.flag) == (41, 40, CommandFlag.RESPONSE)


async def test_a_handler_may_ask_over_the_same_channel() -> None:
    channels: list[Channel] = []

    async def handler(_: RemotingCommand) -> RemotingCommand:
        return RemotingCommand(code=(await channels[0].request(ASK)).code)

    async with pair(handler=handler) as (channel, peer):
        channels.append(channel)
        await peer.say(RemotingCommand(code=1, opaque=1))
        await peer.answer(await peer.next(), 33)

        assert (await peer.next()).code == 33


async def test_an_answer_that_has_no_form_on_the_wire_is_not_sent() -> None:
    async def handler(_: RemotingCommand) -> RemotingCommand:
        return RemotingCommand(code=2**40)

    async with pair(handler=handler) as (channel, peer):
        await peer.say(RemotingCommand(code=1, opaque=1))
        await trio.testing.wait_all_tasks_blocked()

        assert channel.is_open


async def test_without_a_handler_the_peer_is_told_that_nothing_is_supported() -> None:
    async with pair() as (_, peer):
        await peer.say(RemotingCommand(code=905, opaque=3))
        answer = await peer.next()

    assert (answer.code, answer.remark) == (3, " request type 905 not supported")


async def test_a_handler_that_fails_is_answered_with_a_system_error(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def handler(_: RemotingCommand) -> RemotingCommand:
        raise ValueError("no")

    with caplog.at_level(logging.ERROR):
        async with pair(handler=handler) as (channel, peer):
            await peer.say(RemotingCommand(code=1, opaque=1))
            answer = await peer.next()
            assert channel.is_open

    assert (answer.code, answer.remark) == (1, "ValueError: no")
    assert "request code 1 failed" in caplog.text


async def test_more_requests_than_are_served_at_once_are_told_to_come_back() -> None:
    async def handler(_: RemotingCommand) -> RemotingCommand:
        await trio.sleep_forever()
        raise AssertionError

    async with pair(handler=handler, max_served=1) as (_, peer):
        await peer.say(RemotingCommand(code=1, opaque=1))
        await trio.testing.wait_all_tasks_blocked()
        await peer.say(RemotingCommand(code=1, opaque=2))
        answer = await peer.next()

    assert (answer.code, answer.opaque) == (2, 2)


async def test_bodies_of_requests_that_are_served_at_once_have_a_limit_together(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    goes_on = trio.Event()

    async def handler(_: RemotingCommand) -> RemotingCommand:
        await goes_on.wait()
        return RemotingCommand(code=0)

    monkeypatch.setattr("rocketwire.transport.peer_requests.MAX_SERVED_BYTES", 10)
    async with pair(handler=handler) as (_, peer):
        for opaque, size in enumerate([11, 0, 6, 6]):  # the first is always served
            await peer.say(RemotingCommand(code=1, opaque=opaque, body=bytes(size) or None))
            await trio.testing.wait_all_tasks_blocked()
        refused = {(await peer.next()).opaque for _ in range(3)}
        goes_on.set()
        served = await peer.next()
        await trio.testing.wait_all_tasks_blocked()
        await peer.say(RemotingCommand(code=1, opaque=9, body=bytes(6)))
        later = await peer.next()

    assert refused == {1, 2, 3}
    assert [(one.code, one.opaque) for one in (served, later)] == [(0, 0), (0, 9)]


async def test_requests_that_are_refused_are_two_warnings(caplog: pytest.LogCaptureFixture) -> None:
    goes_on = trio.Event()

    async def handler(_: RemotingCommand) -> RemotingCommand:
        await goes_on.wait()
        return RemotingCommand(code=0)

    async with pair(handler=handler, max_served=1) as (_, peer):
        await peer.say(RemotingCommand(code=39, opaque=1))
        await trio.testing.wait_all_tasks_blocked()
        for opaque in range(2, 5):
            await peer.say(RemotingCommand(code=39, opaque=opaque))
            await peer.next()
        goes_on.set()
        await peer.next()
        await trio.testing.wait_all_tasks_blocked()

    assert caplog.messages == [
        "peer: 1 requests with 0 bytes are being handled; "
        "request 39 and further requests are rejected",
        "peer: 3 requests were rejected in total",
    ]


async def test_silence_ends_it_and_traffic_keeps_it(autojump_clock: trio.testing.MockClock) -> None:
    async with pair(idle_timeout=10) as (channel, peer):
        await trio.sleep(6)
        await channel.send_oneway(ASK)
        await trio.sleep(6)
        assert channel.is_open
        await peer.say(RemotingCommand(code=0, flag=CommandFlag.RESPONSE))
        await trio.sleep(9)
        assert channel.is_open
        await trio.sleep(2)

        with pytest.raises(ChannelBrokenError, match="no bytes were sent or received for 10 s"):
            await channel.request(ASK)


async def test_too_many_requests_at_once_are_refused_here() -> None:
    ours, theirs = trio.testing.memory_stream_pair()
    async with (
        open_channel_over(ours, max_in_flight=1, idle_timeout=None) as channel,
        trio.open_nursery() as nursery,
    ):
        nursery.start_soon(channel.request, ASK)
        await trio.testing.wait_all_tasks_blocked()

        with pytest.raises(LocalProtocolError):
            await channel.request(ASK)
        nursery.cancel_scope.cancel()
    await trio.aclose_forcefully(theirs)


async def test_nobody_there_is_a_failed_connection() -> None:
    listeners = await trio.open_tcp_listeners(0, host="127.0.0.1")
    port = listeners[0].socket.getsockname()[1]
    await listeners[0].aclose()

    with pytest.raises(ConnectFailedError, match=f"127.0.0.1:{port}"):
        async with open_channel("127.0.0.1", port):
            pass


async def test_a_connection_over_tcp_and_a_handshake_that_fails() -> None:
    async def serve(stream: trio.SocketStream) -> None:
        data = bytes(await stream.receive_some())
        if data[:1] == b"\x16":
            await stream.send_all(b"no TLS here")
            return
        decoder = CommandDecoder()
        decoder.feed(data)
        request = decoder.next_command()
        assert request is not None
        answer = RemotingCommand(code=0, opaque=request.opaque, flag=CommandFlag.RESPONSE)
        await stream.send_all(encode(answer))
        await stream.receive_some()

    async with trio.open_nursery() as nursery:
        listeners = await trio.open_tcp_listeners(0, host="127.0.0.1")
        port = listeners[0].socket.getsockname()[1]
        nursery.start_soon(trio.serve_listeners, serve, listeners)
        async with open_channel("127.0.0.1", port) as channel:
            assert (await channel.request(ASK)).code == 0
        with pytest.raises(ConnectFailedError, match="no TLS handshake"):
            async with open_channel("127.0.0.1", port, tls=ssl.create_default_context()):
                pass
        nursery.cancel_scope.cancel()


@pytest.mark.parametrize("host", ["x" * 64, "x..y", "a\0b"])
async def test_what_cannot_be_the_name_of_a_host_is_not_connected_to(host: str) -> None:
    with pytest.raises(ConnectFailedError, match=f"^{re.escape(host)}:1: "):
        async with open_channel(host, 1):
            pass


async def test_what_cannot_be_the_name_in_a_certificate_fails_the_handshake() -> None:
    listeners = await trio.open_tcp_listeners(0, host="127.0.0.1")
    port = listeners[0].socket.getsockname()[1]
    tls = ssl.create_default_context()
    for name in (".example", "ü..y"):
        with pytest.raises(ConnectFailedError, match="no TLS handshake"):
            async with open_channel("127.0.0.1", port, tls=tls, server_hostname=name):
                pass
    await listeners[0].aclose()


async def test_a_handshake_can_be_cancelled() -> None:
    async with trio.open_nursery() as nursery:
        listeners = await trio.open_tcp_listeners(0, host="127.0.0.1")
        port = listeners[0].socket.getsockname()[1]

        async def connect() -> None:
            async with open_channel("127.0.0.1", port, tls=ssl.create_default_context()):
                pass

        nursery.start_soon(connect)
        stream = await listeners[0].accept()
        await stream.receive_some()
        nursery.cancel_scope.cancel()
    await trio.aclose_forcefully(stream)
    await listeners[0].aclose()


async def test_a_channel_over_tls(tmp_path: Path) -> None:
    issuer = authority()
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(*issuer.issue("localhost").write(tmp_path, "server"))
    client = ssl.create_default_context(cadata=issuer.certificate_pem.decode())
    client.check_hostname = False

    async def serve(stream: trio.SocketStream) -> None:
        peer = Peer(trio.SSLStream(stream, server, server_side=True))
        await peer.answer(await peer.next())

    async with trio.open_nursery() as nursery:
        listeners = await trio.open_tcp_listeners(0, host="127.0.0.1")
        port = listeners[0].socket.getsockname()[1]
        nursery.start_soon(trio.serve_listeners, serve, listeners)
        async with open_channel("127.0.0.1", port, tls=client) as channel:
            assert (await channel.request(ASK)).code == 0
        nursery.cancel_scope.cancel()


async def test_a_server_that_wants_another_certificate_says_so(tmp_path: Path) -> None:
    """It does after our side has finished the handshake: the alert comes before any response."""
    issuer = authority()
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(*issuer.issue("localhost").write(tmp_path, "server"))
    server.verify_mode = ssl.CERT_REQUIRED
    server.load_verify_locations(cadata=issuer.certificate_pem.decode())
    client = ssl.create_default_context(cadata=issuer.certificate_pem.decode())

    async def serve(stream: trio.SocketStream) -> None:
        with pytest.raises(trio.BrokenResourceError):
            await TlsStream(stream, server).do_handshake()  # trio's would not send the alert

    async with trio.open_nursery() as nursery:
        listeners = await trio.open_tcp_listeners(0, host="127.0.0.1")
        port = listeners[0].socket.getsockname()[1]
        nursery.start_soon(trio.serve_listeners, serve, listeners)
        async with open_channel("127.0.0.1", port, tls=client) as channel:
            await channel.wait_closed()
            with pytest.raises(ChannelBrokenError, match="alert certificate required"):
                await channel.request(ASK)
        nursery.cancel_scope.cancel()


async def test_who_closes_without_a_word_may_want_tls() -> None:
    async with pair() as (channel, peer):
        await peer.stream.aclose()
        await channel.wait_closed()
        with pytest.raises(ChannelBrokenError, match="does it want TLS"):
            await channel.request(ASK)


async def test_who_has_spoken_and_closes_is_not_asked_for_tls(
    mock_clock: trio.testing.MockClock,
) -> None:
    async with pair() as (channel, peer):
        mock_clock.jump(1)
        await peer.say(RemotingCommand(code=1, flag=CommandFlag.ONEWAY))
        await trio.testing.wait_all_tasks_blocked()
        await peer.stream.aclose()
        await channel.wait_closed()
        with pytest.raises(ChannelBrokenError, match=r"the peer closed the connection$"):
            await channel.request(ASK)


async def test_an_answer_counts_although_rubbish_came_right_behind_it() -> None:
    answers: list[RemotingCommand] = []

    async def ask(channel: Channel) -> None:
        answers.append(await channel.request(RemotingCommand(code=1)))

    async with pair() as (channel, peer), trio.open_nursery() as nursery:
        nursery.start_soon(ask, channel)
        request = await peer.next()
        answer = RemotingCommand(code=0, opaque=request.opaque, flag=CommandFlag.RESPONSE)
        await peer.stream.send_all(encode(answer) + b"\xff" * 8)

    assert [each.opaque for each in answers] == [request.opaque]
