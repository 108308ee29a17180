"""What a connection remembers, for those who end it."""

from __future__ import annotations

import trio
from trio.testing import memory_stream_pair

from rocketwire_namesrv.config import Config
from rocketwire_namesrv.connections import Connection
from rocketwire_namesrv.handlers import Peer
from rocketwire_namesrv.occurrences import Reason
from rocketwire_namesrv.session import Session
from rocketwire_namesrv.state import State


def connection(idle_limit: float = 120) -> Connection:
    peer = Peer(1, "client:1")
    _, stream = memory_stream_pair()
    return Connection(stream, Session(State(Config()), peer), peer, idle_limit)


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


async def test_it_is_overdue_when_idle_or_in_the_middle_of_a_frame_for_too_long() -> None:
    now = trio.current_time()
    one = connection(idle_limit=120)
    one.heard, one.frame_since = now, now + 10

    assert one.overdue(now + 69, 60) is None
    assert one.overdue(now + 70, 60) == "a frame took longer than 60 s"
    assert one.overdue(now + 120, 60) == "idle for 120 s"
