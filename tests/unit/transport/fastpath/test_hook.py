"""``direct_requests``: the switch of the fast path, and channels without it."""

import pytest
import trio
import trio.testing

from rocketwire.errors import IllegalValueError
from rocketwire.transport.channel import open_channel_over
from rocketwire.transport.fastpath import direct_requests
from tests.unit.transport.loopback import open_sequential_channel


@pytest.mark.parametrize(("value", "is_on"), [("", True), ("on", True), ("off", False)])
def test_the_environment_has_a_switch(
    value: str, is_on: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(direct_requests.SWITCH, value)

    assert direct_requests.is_switched_on() == is_on


@pytest.mark.parametrize("value", ["0", "false", "OFF"])
def test_other_values_of_the_switch_fail(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(direct_requests.SWITCH, value)

    with pytest.raises(IllegalValueError, match="ROCKETWIRE_FASTPATH must be on or off"):
        direct_requests.is_switched_on()


async def test_a_channel_without_it_uses_the_reader_task(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(direct_requests, "is_on", False)

    async with open_sequential_channel() as (channel, _):
        await trio.testing.wait_all_tasks_blocked()
        assert channel.direct is None
        assert channel.reader.bypass is None
        assert not channel.reader.allows_bypass


async def test_a_stream_that_is_not_tcp_has_none() -> None:
    stream, _ = trio.testing.memory_stream_pair()

    async with open_channel_over(stream, idle_timeout=None) as channel:
        assert channel.direct is None
