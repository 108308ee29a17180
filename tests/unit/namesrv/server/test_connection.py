"""The state of a connection that its end is reported with."""

from __future__ import annotations

from trio.testing import memory_stream_pair

from rocketwire_namesrv.config.config import Config
from rocketwire_namesrv.events import Reason
from rocketwire_namesrv.protocol.handlers import Peer
from rocketwire_namesrv.protocol.session import Session
from rocketwire_namesrv.protocol.state import State
from rocketwire_namesrv.server.connection import TaskConnection


def connection() -> TaskConnection:
    peer = Peer(1, "client:1")
    _, stream = memory_stream_pair()
    return TaskConnection(stream, Session(State(Config()), peer), peer)


async def test_the_first_reason_for_its_end_is_the_one() -> None:
    one = connection()
    one.finish("idle", Reason.IDLE)
    one.close("closed by the peer")

    assert (one.closing, one.reason) == ("idle", Reason.IDLE)
    assert one.scope.cancel_called


async def test_what_is_not_reading_is_left_to_finish() -> None:
    one = connection()
    one.finish("the server stops")
    assert not one.scope.cancel_called

    other = connection()
    other.reading = True
    other.finish("the server stops")
    assert other.scope.cancel_called
