"""Notices to brokers; ``test_opening`` and ``test_server`` test those that arrive."""

import pytest
import trio

from rocketwire.codes import RequestCode
from rocketwire.serving.events import Event, LimitExceeded
from rocketwire.serving.tls.contexts import TlsContexts
from rocketwire.wire.command import RemotingCommand
from rocketwire_namesrv.config.config import Config
from rocketwire_namesrv.protocol.state import State
from rocketwire_namesrv.server.notifier import Notifier

COMMAND = RemotingCommand(code=RequestCode.NOTIFY_MIN_BROKER_ID_CHANGE)


def make_notifier(config: Config, events: list[Event]) -> Notifier:
    state = State(config)
    return Notifier(state, TlsContexts(config.tls), lambda added, _peer: events.extend(added))


async def notify(notifier: Notifier, count: int) -> None:
    async with trio.open_nursery() as nursery:
        notifier.tasks = nursery
        notifier.send([("nowhere", COMMAND)] * count)


async def test_without_a_running_server_no_broker_is_notified() -> None:
    make_notifier(Config(), []).send([("127.0.0.1:1", COMMAND)])


async def test_an_address_that_is_none_is_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    await notify(make_notifier(Config(), []), 1)

    (text,) = caplog.messages
    assert text.startswith("broker nowhere is not notified of the")


async def test_beyond_the_limit_brokers_are_not_told(caplog: pytest.LogCaptureFixture) -> None:
    events: list[Event] = []
    notifier = make_notifier(Config(max_notifications=2), events)
    await notify(notifier, 3)
    await notify(notifier, 1)

    assert len(caplog.records) == 3
    (refusal,) = events
    assert isinstance(refusal, LimitExceeded)
    assert refusal.limit == "rocketwire.maxNotifications"
