"""The promised content is on disk when ``save`` returns, with the fewest writes."""

import errno
import threading
from pathlib import Path

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from rocketwire_namesrv.runtime import storage
from rocketwire_namesrv.runtime.durable_file import DurableFile


async def test_without_a_path_nothing_is_saved() -> None:
    assert await DurableFile("it", lambda: "", lambda: pytest.fail("not needed")).save()


async def test_failed_save_is_logged(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "folder").write_text("in the way")
    file = DurableFile("the table", lambda: str(tmp_path / "folder" / "file"), lambda: b"one")

    assert not await file.save()

    (record,) = caplog.records
    assert record.levelname == "ERROR"
    assert "the table is not saved" in record.getMessage()


async def test_callers_get_the_result_of_their_write(monkeypatch: pytest.MonkeyPatch) -> None:
    go_on = [threading.Event() for _ in range(3)]
    attempts: list[bytes] = []

    def slow(_: str, content: bytes) -> None:
        attempts.append(content)
        go_on[len(attempts) - 1].wait(10)
        if len(attempts) == 2:
            raise OSError(errno.ENOSPC, "the disk is full")

    monkeypatch.setattr(storage, "save", slow)
    value = [0]
    file = DurableFile("it", lambda: "path", lambda: b"%d" % value[0])
    results: dict[int, bool] = {}

    async def change(number: int) -> None:
        value[0] = number
        results[number] = await file.save()

    with trio.fail_after(60):
        async with trio.open_nursery() as nursery:
            for number in (1, 2, 3):
                nursery.start_soon(change, number)
                await wait_all_tasks_blocked()
            go_on[0].set()
            go_on[1].set()
        go_on[2].set()
        await change(4)

    assert attempts == [b"1", b"3", b"4"]
    assert results == {1: True, 2: False, 3: False, 4: True}


async def test_cancelled_save_is_finished(monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[bytes] = []
    monkeypatch.setattr(storage, "save", lambda _path, content: written.append(content))

    with trio.CancelScope() as scope:
        scope.cancel()
        await DurableFile("it", lambda: "path", lambda: b"one").save()

    assert written == [b"one"]
