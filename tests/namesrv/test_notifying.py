"""Telling brokers: only while the server lives; the rest is in ``test_opening`` and ``test_server``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import trio

from rocketwire.wire.command import RemotingCommand
from rocketwire_namesrv.config import Config
from rocketwire_namesrv.notifying import Notifier
from rocketwire_namesrv.state import State
from rocketwire_namesrv.tls import TlsContexts

if TYPE_CHECKING:
    import pytest

COMMAND = RemotingCommand(code=905)


async def test_nobody_is_told_before_the_server_runs_and_after_it_has_stopped() -> None:
    state = State(Config())

    Notifier(state, TlsContexts(state.config.tls)).send([("127.0.0.1:1", COMMAND)])


async def test_an_address_that_is_none_is_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    state = State(Config())
    notifier = Notifier(state, TlsContexts(state.config.tls))
    async with trio.open_nursery() as nursery:
        notifier.tasks = nursery
        notifier.send([("nowhere", COMMAND)])

    assert ["broker nowhere is not told"] == [
        record.getMessage().partition(" of the")[0] for record in caplog.records
    ]
