"""Runs of the cases for brokers: at our broker in this process, or at any address."""

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any

import trio

from rocketwire_broker.config import Config
from rocketwire_broker.server.server import BrokerServer
from rocketwire_tools.conformance.broker_cases import ALL
from rocketwire_tools.conformance.model.case import Case, Profile
from rocketwire_tools.conformance.model.placeholders import wall_clock
from rocketwire_tools.conformance.run.broker_run import BrokerRun
from rocketwire_tools.conformance.run.runner import Settings
from rocketwire_tools.conformance.run.target import Address, Target
from tests.integration.conformance.runs import Played

QUICK = {"transaction_timeout_ms": 2_000, "transaction_check_ms": 1_000}
"""As the Java brokers of tests have it, so that checks of transactions come soon."""


@asynccontextmanager
async def our_broker(**settings: Any) -> AsyncGenerator[BrokerServer]:
    for name, value in (QUICK | {"listen_port": 0}).items():
        settings.setdefault(name, value)
    server = BrokerServer(Config(**settings))
    async with trio.open_nursery() as nursery:
        await nursery.start(server.run)
        yield server
        nursery.cancel_scope.cancel()


async def play_at_ours(
    server: BrokerServer, cases: Sequence[Case] = ALL, *, patience: float = 6.0
) -> Played:
    # Carry out cases at our broker, in its time, which a test's clock may move.
    address = Address("127.0.0.1", server.broker.config.listen_port)
    return await play_at(address, cases, patience=patience, clock=server.clock.now)


async def play_at(
    address: Address,
    cases: Sequence[Case] = ALL,
    *,
    profile: Profile = Profile.JAVA_5_5,
    patience: float = 6.0,
    clock: Callable[[], int] = wall_clock,
) -> Played:
    """Carry out cases at a broker.

    Raises:
        AssertionError: it is no broker.
    """
    settings = Settings(profile=profile, patience=patience, destructive=True, clock=clock)
    run = BrokerRun(settings, lambda _: None, Target(address))
    started = trio.current_time()
    assert await run.probe_target() is None
    verdicts = await run.cases(cases)
    assert run.left_behind == []
    return Played(verdicts, trio.current_time() - started)
