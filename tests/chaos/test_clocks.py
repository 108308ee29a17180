"""The wall clock may step as it likes: silence is measured with the other one, and no wait of a broker gets longer."""

from __future__ import annotations

import time
from collections import Counter
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, NamedTuple

import pytest
import trio

from rocketwire_broker.config import Config
from rocketwire_broker.server.clock import Clock
from rocketwire_broker.server.programs import open_broker
from tests.support.broker import bodies
from tests.support.broker_pops import Popper
from tests.support.broker_wire import WireClient
from tests.support.running_server import CLUSTER_INFO, registration, request, running, settings

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from trio.testing import MockClock

    from rocketwire_broker.server.server import BrokerServer

pytestmark = pytest.mark.chaos

DAY = 86_400
HOUR = 3_600


@pytest.mark.parametrize("step", [DAY, -DAY, 10 * 365 * DAY])
async def test_a_step_of_the_wall_clock_expires_no_broker_and_keeps_none(
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

        other = site.connect()
        assert b"broker-a" not in ((await other.ask(CLUSTER_INFO)).body or b"")


class Waiting(NamedTuple):
    """A client of a broker; its clock is the wall clock.

    Attributes:
        wall: seconds by which the wall clock is ahead of a monotonic one.
        wire: its connection.
    """

    wall: list[float]
    wire: WireClient

    @property
    def now(self) -> int:
        """Milliseconds since 1970."""
        return int((time.monotonic() + self.wall[0]) * 1000)

    def send_timed(self, body: bytes, milliseconds: int) -> None:
        """Send a message that is delivered later, by the client's clock."""
        properties = {"TIMER_DELIVER_MS": str(self.now + milliseconds)}
        assert self.wire.send(body=body, properties=properties).code == 0

    def pop_all(self, *wanted: bytes) -> list[bytes]:
        """Pop until there are these messages."""
        found: list[bytes] = []
        popper = Popper(self, self.wire)
        deadline = time.monotonic() + 60
        while Counter(wanted) - Counter(found):
            answer = self.wire.answer_to(popper.ask(queue=-1, poll=2_000, invisible=2_000), 20)
            assert answer is not None, found
            assert "timeout too much" not in (answer.remark or "")
            assert time.monotonic() < deadline, found
            found += bodies(answer)
        return found


@asynccontextmanager
async def waiting() -> AsyncGenerator[tuple[BrokerServer, Waiting]]:
    async with open_broker(Config(listen_port=0)) as server:
        wall = [time.time() - time.monotonic()]
        server.clock = Clock(lambda: wall[0])
        address = f"127.0.0.1:{server.broker.config.listen_port}"
        wire = await trio.to_thread.run_sync(WireClient, address)
        with wire:
            yield server, Waiting(wall, wire)


async def jump(server: BrokerServer, client: Waiting, seconds: int) -> None:
    """Let the wall clock jump, and wait until the broker has noticed it."""
    client.wall[0] += seconds
    with trio.fail_after(60):
        while abs(server.clock.now() - server.broker.clock_advance - client.now) > 1_000:
            await trio.sleep(0.05)


async def test_after_a_sleep_of_the_machine_what_was_due_meanwhile_comes_at_once() -> None:
    async with waiting() as (server, client):
        in_thread = trio.to_thread.run_sync
        await in_thread(client.send_timed, b"timed", (HOUR - 60) * 1000)
        await in_thread(client.wire.send)
        assert await in_thread(client.pop_all, b"body") == [b"body"]
        await jump(server, client, HOUR)

        await in_thread(client.pop_all, b"body", b"timed")


async def test_after_a_jump_back_pops_and_timed_messages_wait_no_longer() -> None:
    async with waiting() as (server, client):
        in_thread = trio.to_thread.run_sync
        await in_thread(client.send_timed, b"before", 5_000)
        await jump(server, client, -HOUR)
        await in_thread(client.send_timed, b"after", 5_000)
        await in_thread(client.wire.send)

        found = await in_thread(client.pop_all, b"body", b"body", b"before", b"after")
        assert found[0] == b"body"
