"""The file of known brokers follows the table, and the log has a line when all of them are back."""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import trio
from trio.testing import MockClock

from rocketwire_namesrv.config.config import Config
from rocketwire_namesrv.routes.warm_start import KnownBroker, WarmStart
from rocketwire_namesrv.runtime import logging_setup
from rocketwire_namesrv.runtime.storage import load_brokers
from rocketwire_namesrv.server.known_brokers import LOOK_SECONDS, remember_for_ever
from tests.support.fakes.sansio_server import SLAVE, Server

MASTER = KnownBroker("C", "b1", 0)
GONE = KnownBroker("C", "gone", 0)


@pytest.fixture(autouse=True)
def _log_reaches_caplog(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", logging_setup.LOGGER.name)


@pytest.fixture(autouse=True)
def _files_are_written_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    async def at_once(work: Callable[..., object], *arguments: object, **_: object) -> object:
        return work(*arguments)

    monkeypatch.setattr(trio.to_thread, "run_sync", at_once)


@asynccontextmanager
async def run_remembering(server: Server) -> AsyncGenerator[None]:
    async with trio.open_nursery() as nursery:
        nursery.start_soon(remember_for_ever, server)
        await wait_for_look()
        yield
        nursery.cancel_scope.cancel()


async def wait_for_look() -> None:
    await trio.sleep(LOOK_SECONDS * 1.5)
    await trio.testing.wait_all_tasks_blocked()


def config(folder: Path) -> Config:
    return Config(warm_start_seconds=60, known_brokers_path=str(folder / "known.json"))


async def test_the_file_follows_the_brokers(tmp_path: Path, autojump_clock: MockClock) -> None:
    server = Server(config(tmp_path))
    path = str(tmp_path / "known.json")
    async with run_remembering(server):
        contents = [load_brokers(path)]
        slave = server.connect()
        server.register()
        server.register(SLAVE, 1, session=slave)
        await wait_for_look()
        contents.append(load_brokers(path))
        slave.connection_lost(server.now, "closed")
        await wait_for_look()
        contents.append(load_brokers(path))

    assert contents == [[], [MASTER, KnownBroker("C", "b1", 1)], [MASTER]]


async def test_who_is_waited_for_stays_in_the_file_until_the_wait_is_over(
    tmp_path: Path, autojump_clock: MockClock, caplog: pytest.LogCaptureFixture
) -> None:
    start = trio.current_time()
    server = Server(config(tmp_path), started=start, warm_start=WarmStart([MASTER, GONE], 60))
    path = str(tmp_path / "known.json")
    async with run_remembering(server):
        server.register()
        await wait_for_look()
        content_before = load_brokers(path)
        await trio.sleep(60)
        await wait_for_look()
        content_after = load_brokers(path)

    assert (content_before, content_after) == ([MASTER, GONE], [MASTER])
    assert "routes are not returned before 2 brokers are back" in caplog.text
    assert "routes are returned now, without 1 brokers: C/gone/0" in caplog.text


async def test_the_log_reports_when_all_are_back(
    tmp_path: Path, autojump_clock: MockClock, caplog: pytest.LogCaptureFixture
) -> None:
    start = trio.current_time()
    server = Server(config(tmp_path), started=start, warm_start=WarmStart([MASTER], 60))
    async with run_remembering(server):
        server.register()
        await wait_for_look()

    assert "routes are returned now, all brokers are back" in caplog.text


async def test_without_the_setting_nothing_is_written(tmp_path: Path) -> None:
    await remember_for_ever(Server(Config(known_brokers_path=str(tmp_path / "known.json"))))

    assert load_brokers(str(tmp_path / "known.json")) == []
