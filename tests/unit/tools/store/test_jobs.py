"""Several processes read a log with the output of one."""

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from argparse import Namespace
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from rocketwire.store.folder import read_folder
from rocketwire_tools.store import jobs
from rocketwire_tools.store.engine.scan import LogScan
from tests.peers.peers import CURRENT
from tests.support.file_programs import run_store
from tests.support.stores import BrokerStore, damage
from tests.support.stores.fixtures import OpenStore

PART_SIZE = 10_000


def test_parts_begin_at_messages_and_have_all_of_them(open_store: OpenStore) -> None:
    store = open_store(CURRENT, "plain")
    offsets = {message.physical_offset for message in store.truth.pulled}
    files = read_folder([store.root]).commit_log

    parts = jobs.cut([LogScan(files=files)], PART_SIZE)

    starts = {file.offset for file in files}
    assert len(parts) > len(files)
    assert all(part.start in offsets | starts for part in parts)
    assert [part.stop for part in parts[:-1]] == [part.start for part in parts[1:]]
    assert (parts[0].start, parts[-1].stop) == (files[0].offset, files[-1].end)


@pytest.fixture
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Parts of a few messages."""
    monkeypatch.setattr(jobs, "PART_SIZE", PART_SIZE)
    monkeypatch.setattr("rocketwire_tools.store.verbs.export.FOLDER_PART", PART_SIZE)


@pytest.mark.process
@pytest.mark.usefixtures("small_parts")
@pytest.mark.parametrize(
    "words",
    [
        ("stat", "--by", "queue", "--json", "--system"),
        ("messages", "--system", "--json"),
        ("messages", "--ghosts"),
        ("export", "--system", "--broken"),
    ],
    ids=" ".join,
)
def test_processes_give_what_one_gives(words: tuple[str, ...], store: BrokerStore) -> None:
    assert run_store(*words, "--jobs", "2", store.root).out == run_store(*words, store.root).out


@pytest.mark.process
@pytest.mark.usefixtures("small_parts")
@pytest.mark.parametrize("name", ["flip_size", "zero_page", "zero_tail_of_middle_file"])
def test_one_process_reads_what_follows_damage(name: str, store: BrokerStore) -> None:
    damage.DAMAGE[name](store.root)
    words = ("export", "--broken", "--ghosts", store.root)

    assert run_store(*words, "--jobs", "2", status=1) == run_store(*words, status=1)


def failing_work(arguments: Namespace, _: LogScan) -> Iterator[int]:
    """Work that fails, or ends its process."""
    yield 1
    if arguments.ends:
        os._exit(3)
    raise OSError("the disk is broken")


@pytest.mark.process
@pytest.mark.usefixtures("small_parts")
@pytest.mark.parametrize(
    ("ends", "error", "text"),
    [(False, OSError, "the disk is broken"), (True, ChildProcessError, "has ended by itself")],
)
def test_process_that_fails_ends_the_work(
    ends: bool, error: type[Exception], text: str, store: BrokerStore
) -> None:
    scan = LogScan(files=read_folder([store.root]).commit_log)

    with pytest.raises(error, match=text):
        list(jobs.results(Namespace(jobs=2, ends=ends), [scan], failing_work))

    assert multiprocessing.active_children() == []


PROGRAM = f"""
import sys
from rocketwire_tools.store import __main__, jobs
jobs.PART_SIZE = {PART_SIZE}
sys.exit(__main__.main())
"""


@contextmanager
def start(root: Path, stdout: int) -> Generator[subprocess.Popen[bytes]]:
    """The command with two processes, in a group that is killed if the test fails."""
    words = [sys.executable, "-c", PROGRAM, "messages", "--json", "--jobs", "2", str(root)]
    with subprocess.Popen(
        words, start_new_session=True, stderr=subprocess.PIPE, stdout=stdout
    ) as process:
        try:
            yield process
        except BaseException:
            os.killpg(process.pid, signal.SIGKILL)
            raise


def wait_until_alone(group: int) -> None:
    """Wait for the end of all processes of a group."""
    for _ in range(200):
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return
        time.sleep(0.05)
    os.killpg(group, signal.SIGKILL)
    raise AssertionError("a process is left")


@pytest.mark.process
def test_reader_that_has_read_enough_ends_the_command_in_silence(store: BrokerStore) -> None:
    reader, writer = os.pipe()
    os.close(reader)

    with start(store.root, stdout=writer) as process:
        os.close(writer)
        _, errors = process.communicate(timeout=60)

    assert (process.returncode, errors) == (0, b"")
    wait_until_alone(process.pid)


@pytest.mark.process
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_no_process_is_left_after_a_signal(number: int, store: BrokerStore) -> None:
    reader, writer = os.pipe()  # which gets full, so that the command waits
    with start(store.root, stdout=writer) as process:
        os.close(writer)
        os.read(reader, 1)
        if number == signal.SIGINT:
            os.killpg(process.pid, number)  # as a terminal does
        else:
            process.send_signal(number)
        os.close(reader)
        _, errors = process.communicate(timeout=60)

    wait_until_alone(process.pid)
    if number == signal.SIGINT:
        assert (process.returncode, errors) == (130, b"")
