"""Steps of the wall clock do not change when brokers are silent: another clock measures that."""

import time

import pytest
import trio
from trio.testing import MockClock

from tests.support.running_server import CLUSTER_INFO, registration, request, running, settings

pytestmark = pytest.mark.chaos

DAY = 86_400


@pytest.mark.parametrize("step", [DAY, -DAY, 10 * 365 * DAY])
async def test_step_of_the_wall_clock_expires_no_broker_and_keeps_none(
    step: int, monkeypatch: pytest.MonkeyPatch, autojump_clock: MockClock
) -> None:
    wall = [time.time()]
    monkeypatch.setattr(time, "time", lambda: wall[0])
    beat = request(904, brokerAddr="10.0.0.1:10911", brokerName="broker-a", clusterName="C")
    async with running(settings(kv_config_path="")) as site:
        client = site.connect()
        assert (await client.ask(registration(heartbeatTimeoutMillis="10000"))).code == 0
        for _ in range(4):
            wall[0] += step
            await trio.sleep(6)
            assert b"broker-a" in ((await client.ask(CLUSTER_INFO)).body or b"")
            await client.ask(beat)

        await trio.sleep(20)

        second_client = site.connect()
        assert b"broker-a" not in ((await second_client.ask(CLUSTER_INFO)).body or b"")
