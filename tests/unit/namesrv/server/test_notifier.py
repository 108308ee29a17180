"""Telling brokers: only while the server lives; the rest is in ``test_opening`` and ``test_server``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import trio

from rocketwire.serving.events import Event
from rocketwire.serving.limits import LimitExceeded
from rocketwire.serving.tls.contexts import TlsContexts
from rocketwire.wire.command import RemotingCommand
from rocketwire_namesrv.config.config import Config
from rocketwire_namesrv.protocol.state import State
from rocketwire_namesrv.server.notifier import Notifier

if TYPE_CHECKING:
    import pytest


COMMAND = RemotingCommand(code=905)


def notifier(state: State, happened: list[Event] | None = None) -> Notifier:
    def note(events: Iterable[Event], _: str | None) -> None:
        (happened if happened is not None else list[Event]()).extend(events)

    return Notifier(state, TlsContexts(state.config.tls), note)


async def test_nobody_is_told_before_the_server_runs_and_after_it_has_stopped() -> None:
    state = State(Config())

    notifier(state).send([("127.0.0.1:1", COMMAND)])


async def test_an_address_that_is_none_is_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    state = State(Config())
    one = notifier(state)
    async with trio.open_nursery() as nursery:
        one.tasks = nursery
        one.send([("nowhere", COMMAND)])

    assert ["broker nowhere is not notified"] == [
        record.getMessage().partition(" of the")[0] for record in caplog.records
    ]


async def test_beyond_the_limit_brokers_are_not_told(caplog: pytest.LogCaptureFixture) -> None:
    happened: list[Event] = []
    one = notifier(State(Config(max_notifications=2)), happened)
    async with trio.open_nursery() as nursery:
        one.tasks = nursery
        one.send([("nowhere", COMMAND)] * 3)
    async with trio.open_nursery() as nursery:
        one.tasks = nursery
        one.send([("nowhere", COMMAND)])

    assert len(caplog.records) == 3
    (refused,) = happened
    assert isinstance(refused, LimitExceeded)
    assert refused.limit == "rocketwire.maxNotifications"
