"""What a connection remembers, for those who end it."""

from __future__ import annotations

import math

from trio.testing import memory_stream_pair

from rocketwire_namesrv.config.config import Config
from rocketwire_namesrv.events import Reason
from rocketwire_namesrv.protocol.handlers import Peer
from rocketwire_namesrv.protocol.session import Session
from rocketwire_namesrv.protocol.state import State
from rocketwire_namesrv.server.connection import Deadlines, TaskConnection


def connection(idle_limit: float = 120) -> TaskConnection:
    peer = Peer(1, "client:1")
    _, stream = memory_stream_pair()
    return TaskConnection(stream, Session(State(Config()), peer), peer, idle_limit)


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


def reason(one: TaskConnection, seconds: float, deadlines: Deadlines) -> str | None:
    overdue = one.overdue(one.since + seconds, deadlines)
    return None if overdue is None else overdue.what


async def test_it_is_overdue_when_idle_or_in_the_middle_of_a_frame_for_too_long() -> None:
    one = connection(idle_limit=120)
    one.frame_since = one.since + 10
    deadlines = Deadlines(frame=60)

    assert reason(one, 69, deadlines) is None
    assert reason(one, 70, deadlines) == "a frame took longer than 60 s"
    assert reason(one, 120, deadlines) == "idle for 120 s"


async def test_it_is_overdue_when_its_answers_are_not_taken() -> None:
    one = connection(idle_limit=120)
    one.heard += 10
    one.sending = True

    assert reason(one, 40, Deadlines(send=30)) == "responses were not read for 30 s"
    assert reason(one, 39, Deadlines(send=30)) is None
    assert reason(one, 40, Deadlines()) is None
    one.sending = False
    assert reason(one, 40, Deadlines(send=30)) is None


async def test_it_is_overdue_when_it_does_not_begin() -> None:
    one = connection(idle_limit=120)

    assert reason(one, 10, Deadlines(first_frame=10)) == "without a frame for 10 s"
    assert reason(one, 9, Deadlines(first_frame=10)) is None
    one.heard += 1
    assert reason(one, 10, Deadlines(first_frame=10)) is None


async def test_an_end_that_is_overdue_names_the_setting_and_the_client() -> None:
    one = connection(idle_limit=120)
    overdue = one.overdue(one.since + 120, Deadlines())

    assert overdue is not None
    assert overdue.limit == "serverChannelMaxIdleTimeSeconds"
    assert overdue.text == f"connection of {one.peer.address} closed: idle for 120 s"


def test_deadlines_come_from_the_settings() -> None:
    assert Deadlines.of(Config()) == (60, 60, math.inf)
    config = Config(
        frame_deadline_seconds=0, send_deadline_seconds=-1, first_frame_deadline_seconds=5
    )
    assert Deadlines.of(config) == (math.inf, math.inf, 5)
