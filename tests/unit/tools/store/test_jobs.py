"""Several processes read a log, and the output is that of one."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
from collections import deque
from typing import TYPE_CHECKING, Any

import pytest

from rocketwire.store.folder import read_folder
from rocketwire.wire.checksum import crc32
from rocketwire.wire.message.host import Host
from rocketwire.wire.message.stored import StoredMessage, encode_stored_message
from rocketwire_tools.store import jobs
from rocketwire_tools.store.engine.blocks import BLOCK_SIZE
from rocketwire_tools.store.engine.scan import LogScan
from rocketwire_tools.store.formats.folder_files import FolderFiles
from tests.support.java.peers import CURRENT
from tests.support.stores import damage
from tests.support.stores.fixtures import PACKED

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.support.stores import BrokerStore

PART_SIZE = 10_000
COMMANDS = (
    ("stat", "--by", "queue", "--json", "--system"),
    ("messages", "--system", "--ghosts"),
    ("export", "--system", "--broken"),
)


class Pipe:
    """Both ends of a pipe in one direction."""

    def __init__(self) -> None:
        self._pieces: deque[Any] = deque()

    def send(self, piece: object) -> None:
        """Keep a piece."""
        self._pieces.append(piece)

    def recv(self) -> Any:
        """The first piece."""
        return self._pieces.popleft()

    def close(self) -> None:
        """What was sent stays."""


class Process:
    """Work that is done at once, in this process."""

    def __init__(self, target: Callable[..., None], args: tuple[Any, ...], *, daemon: bool) -> None:
        self._target, self._args = target, args
        assert daemon

    def start(self) -> None:
        """Do the work."""
        self._target(*self._args)

    def terminate(self) -> None:
        """The work is done."""

    def join(self, timeout: float) -> None:
        """The work is done."""


class Context:
    """Starts no processes."""

    Process = Process

    def __init__(self, method: str) -> None:
        assert method == "spawn"

    @staticmethod
    def Pipe() -> tuple[Pipe, Pipe]:
        """A pipe."""
        pipe = Pipe()
        return pipe, pipe


@pytest.fixture
def in_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """The work of processes is done here, in small parts."""
    monkeypatch.setattr(multiprocessing, "get_context", Context)
    monkeypatch.setattr(jobs, "may_fork", lambda: False)
    monkeypatch.setattr(jobs, "PART_SIZE", PART_SIZE)


def statuses(run: Callable[..., Any], root: Path, *options: str) -> list[bytes]:
    """Output of each command; its status need not be 0."""
    outputs: list[bytes] = []
    for command in COMMANDS:
        try:
            output = run(*command, *options, root)
        except AssertionError:
            output = run(*command, *options, root, status=1)
        outputs.append(output.out)
    return outputs


@pytest.mark.slow
@pytest.mark.usefixtures("in_process")
@pytest.mark.parametrize(("release", "kind"), PACKED)
def test_the_output_is_that_of_one_job(
    release: str,
    kind: str,
    packed_store: Callable[[str, str], BrokerStore],
    run: Callable[..., Any],
) -> None:
    root = packed_store(release, kind).root

    assert statuses(run, root, "--jobs", "3") == statuses(run, root)


@pytest.mark.slow
@pytest.mark.usefixtures("in_process")
@pytest.mark.parametrize("name", sorted(damage.DAMAGE))
def test_the_output_of_a_damaged_store_is_that_of_one_job(
    name: str, copy: BrokerStore, run: Callable[..., Any]
) -> None:
    damage.DAMAGE[name](copy.root)
    if not (copy.root / "commitlog").is_dir():
        pytest.skip("there is no log")

    assert statuses(run, copy.root, "--jobs", "2") == statuses(run, copy.root)


def test_parts_begin_at_messages_and_have_all_of_them(
    packed_store: Callable[[str, str], BrokerStore],
) -> None:
    store = packed_store(CURRENT, "plain")
    offsets = {message.physical_offset for message in store.truth.pulled}
    files = read_folder([store.root]).commit_log

    parts = jobs.cut([LogScan(files=files)], PART_SIZE)

    starts = {file.offset for file in files}
    assert len(parts) > len(files)
    assert all(part.start in offsets | starts for part in parts)
    assert [part.stop for part in parts[:-1]] == [part.start for part in parts[1:]]
    assert (parts[0].start, parts[-1].stop) == (files[0].offset, files[-1].end)


def test_a_part_is_read_in_one_block(tmp_path: Path) -> None:
    path = tmp_path / ("0" * 20)
    body = bytes(200_000)
    with path.open("wb") as file:
        while file.tell() < 4 * BLOCK_SIZE:
            message = StoredMessage(
                topic="orders",
                body=body,
                properties={},
                queue_id=0,
                queue_offset=0,
                commit_log_offset=file.tell(),
                store_size=0,
                body_crc=crc32(body),
                born_timestamp=1,
                born_host=Host.parse("10.0.0.2:50000"),
                store_timestamp=1,
                store_host=Host.parse("10.0.0.1:10911"),
            )
            file.write(encode_stored_message(message))

    parts = jobs.cut([LogScan(files=read_folder([path]).commit_log)], jobs.PART_SIZE)

    *others, rest = parts  # which is up to the end of the file
    assert len(others) > 2
    assert max(part.stop - part.start for part in others) <= BLOCK_SIZE
    assert rest.stop - rest.start <= 2 * BLOCK_SIZE


@pytest.mark.process
@pytest.mark.parametrize("verb", ["export", "stat", "messages"])
@pytest.mark.parametrize("may_fork", [True, False])
def test_processes_give_what_one_gives(
    may_fork: bool,
    verb: str,
    packed_store: Callable[[str, str], BrokerStore],
    run: Callable[..., Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(jobs, "PART_SIZE", PART_SIZE)
    monkeypatch.setattr(jobs, "may_fork", lambda: may_fork)
    root = packed_store(CURRENT, "plain").root

    both = run(verb, "--json", "--jobs", "3", root), run(verb, "--json", root)

    assert both[0].out == both[1].out


@pytest.mark.process
def test_what_follows_damage_is_written_after_what_processes_have_written(
    copy: BrokerStore,
    run: Callable[..., Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(jobs, "PART_SIZE", PART_SIZE)
    monkeypatch.setattr(jobs, "may_fork", lambda: True)
    broken = copy.truth.pulled[len(copy.truth.pulled) // 2].physical_offset
    path = copy.root / "commitlog" / f"{broken - broken % 262144:020d}"
    with path.open("r+b") as file:
        file.seek(broken % 262144)
        file.write(bytes(20))
    one, two = tmp_path / "one.jsonl", tmp_path / "two.jsonl"

    run("export", "-o", one, copy.root, status=1)
    run("export", "-o", two, "--jobs", "2", copy.root, status=1)

    assert one.read_bytes() == two.read_bytes()


@pytest.mark.process
@pytest.mark.parametrize(
    ("sink", "output"), [(jobs.SharedFile, "-"), (FolderFiles, "{folder}/out/")]
)
def test_a_full_disk_ends_the_command(
    sink: type[object],
    output: str,
    packed_store: Callable[[str, str], BrokerStore],
    run: Callable[..., Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(*_: object) -> None:
        raise OSError("the disk is full")

    monkeypatch.setattr(jobs, "PART_SIZE", PART_SIZE)
    monkeypatch.setattr(jobs, "may_fork", lambda: True)
    monkeypatch.setattr(sink, "write", fail)
    words = ("export", "-o", output.format(folder=tmp_path), "--jobs", "2")

    answer = run(*words, packed_store(CURRENT, "plain").root, status=2)

    assert answer.err == b"rocketwire-store: the disk is full\n"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.process
def test_a_reader_that_has_read_enough_ends_the_command_in_silence(
    packed_store: Callable[[str, str], BrokerStore],
) -> None:
    lines = (
        "import sys",
        "from rocketwire_tools.store import __main__, jobs",
        f"jobs.PART_SIZE = {PART_SIZE}",
        "sys.exit(__main__.main())",
    )
    root = packed_store(CURRENT, "plain").root
    reader, writer = os.pipe()
    os.close(reader)

    process = subprocess.run(
        [sys.executable, "-c", "\n".join(lines), "messages", "--json", "--jobs", "2", root],
        stdout=writer,
        stderr=subprocess.PIPE,
        check=False,
    )
    os.close(writer)

    assert (process.returncode, process.stderr) == (0, b"")


class ErrorAsItEnds(OSError):
    """Its process gets SIGTERM while it sends this error."""

    def __reduce__(self) -> str:
        os.kill(os.getpid(), signal.SIGTERM)
        return "ErrorAsItEnds"


@pytest.mark.process
def test_a_process_that_is_ended_prints_no_traceback(
    packed_store: Callable[[str, str], BrokerStore],
    run: Callable[..., Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(*_: object) -> None:
        raise ErrorAsItEnds

    monkeypatch.setattr(jobs, "PART_SIZE", PART_SIZE)
    monkeypatch.setattr(jobs, "may_fork", lambda: True)
    monkeypatch.setattr(jobs.SharedFile, "write", fail)
    handler = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        answer = run("export", "--jobs", "2", packed_store(CURRENT, "plain").root, status=2)
    finally:
        signal.signal(signal.SIGTERM, handler)

    assert answer.err == b"rocketwire-store: a process that read the log has ended by itself\n"


@pytest.mark.process
def test_an_error_in_a_process_ends_the_command(
    packed_store: Callable[[str, str], BrokerStore],
    run: Callable[..., Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(jobs, "PART_SIZE", PART_SIZE)
    root = packed_store(CURRENT, "plain").root

    answer = run("stat", "--jobs", "2", "--sql", "a ? b", root, status=2)

    assert answer.err.startswith(b"rocketwire-store: ")


def fail() -> None:
    raise OSError("the disk is broken")


@pytest.mark.process
def test_a_process_beside_sends_its_result() -> None:
    numbers = [1, 2]

    assert jobs.Beside(numbers.copy).result() == [1, 2]


@pytest.mark.process
def test_a_process_beside_that_fails_has_no_result() -> None:
    assert jobs.Beside(fail).result() is None
