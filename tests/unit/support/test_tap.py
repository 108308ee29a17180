"""The tap passes on what it is given, and keeps whole frames whatever pieces they came in."""

from __future__ import annotations

import trio

from tests.support.raw_call import frame
from tests.support.tap import TO_CLIENT, TO_SERVER, Tap, run_tap

ONE = frame(106, opaque=1)
TWO = frame(105, {"topic": "T"}, b"body", opaque=2)


async def echo(stream: trio.SocketStream) -> None:
    async for piece in stream:
        await stream.send_all(piece)


async def through_tap(*pieces: bytes) -> Tap:
    """Send pieces through a tap to an echo, read them back, end the stream; returns the tap."""
    with trio.fail_after(60):
        async with trio.open_nursery() as nursery:
            listeners: list[trio.SocketListener] = await nursery.start(trio.serve_tcp, echo, 0)
            port = listeners[0].socket.getsockname()[1]
            tap: Tap = await nursery.start(run_tap, port)
            async with await trio.open_tcp_stream("127.0.0.1", tap.port) as stream:
                for piece in pieces:
                    await stream.send_all(piece)
                    await read_exactly(stream, piece)
                await stream.send_eof()
                assert await stream.receive_some() == b""
            nursery.cancel_scope.cancel()
    return tap


async def read_exactly(stream: trio.SocketStream, expected: bytes) -> None:
    data = b""
    while len(data) < len(expected):
        data += await stream.receive_some()
    assert expected == data


async def test_every_frame_of_both_directions_is_kept_however_it_was_cut() -> None:
    tap = await through_tap(ONE[:3], ONE[3:] + TWO[:20], TWO[20:] + ONE)

    sent = [kept.data for kept in tap.frames if kept.direction == TO_SERVER]
    answered = [kept.data for kept in tap.frames if kept.direction == TO_CLIENT]
    assert sent == [ONE, TWO, ONE]
    assert answered == [ONE, TWO, ONE]
    assert {kept.connection for kept in tap.frames} == {1}
    assert tap.unfinished == {}


async def test_what_is_no_whole_frame_is_kept_apart() -> None:
    tap = await through_tap(ONE, TWO[:-1])

    assert [kept.data for kept in tap.frames if kept.direction == TO_SERVER] == [ONE]
    assert tap.unfinished[1, TO_SERVER] == TWO[:-1]
