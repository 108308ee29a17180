"""Hostile stores: each verb ends with a status and at most one clear line."""

import contextlib
import errno
import os
import re
import resource
import shutil
import socket
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.peers.peers import CURRENT
from tests.support.file_programs import call_store
from tests.support.stores.fixtures import unpack

ESCAPES = "\x1b[31m\x07\x9b2J\u202e\n"
"""Colours, a bell, an erased screen, writing from right to left, and a new line."""

RAW = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")
"""Characters that must not reach a terminal."""

TERABYTE = 1 << 40
MEMORY = 1 << 30
"""Bytes that a verb may take."""

VERBS = (
    ("info",),
    ("stat", "--system", "--by", "queue"),
    ("messages", "--system", "--body", "text"),
    ("messages", "--system", "--json"),
    ("get", "--key", "no such key"),
    ("get", "--at", "orders:0:0"),
    ("check", "--why"),
    ("check", "--json"),
    ("pending",),
    ("export", "--system", "--format", "jsonl"),
    ("rebuild", "--dry-run", "NEW"),
)


def files_below(root: Path) -> list[Path]:
    return [path for path in root.rglob("*") if path.is_file()]


def names_with_escapes(root: Path) -> Path:
    """Topics, files and a pipe have names that change a terminal."""
    queues = root / "consumequeue"
    shutil.copytree(next(queues.iterdir()), queues / f"orders{ESCAPES}")
    for name in ("", "commitlog/", "config/", "index/1"):
        (root / f"{name}{ESCAPES}").write_bytes(b"{}")
    os.mkfifo(root / f"pipe{ESCAPES}")
    return root


def names_that_are_no_utf8(root: Path) -> Path:
    queues = root / "consumequeue"
    shutil.copytree(next(queues.iterdir()), queues / os.fsdecode(b"orders\xff"))
    (root / os.fsdecode(b"\xfe\xff")).write_bytes(b"")
    return root.rename(root.with_name(os.fsdecode(b"store\xff")))


def root_with_escapes(root: Path) -> Path:
    return root.rename(root.with_name(f"store{ESCAPES}"))


def texts_with_escapes(root: Path) -> Path:
    """Configuration and messages have texts that change a terminal."""
    for path in (root / "config").glob("*.json"):
        path.write_text(path.read_text().replace("orders", "o\\u001b[m\\u009b\\u202e"))
    for path in (root / "commitlog").iterdir():
        data = path.read_bytes().replace(b"orders", b"o\x1b[3m\x07").replace(b"KEYS", b"K\x1bYS")
        path.write_bytes(data)
    return root


def replace_files(root: Path, make: Callable[[Path], None]) -> Path:
    for path in files_below(root):
        path.unlink()
        make(path)
    return root


def pipes(root: Path) -> Path:
    """Every file is a pipe without a writer."""
    return replace_files(root, os.mkfifo)


def devices(root: Path) -> Path:
    """Every file is a link to a device that never ends."""
    return replace_files(root, lambda path: path.symlink_to("/dev/zero"))


def folders(root: Path) -> Path:
    """Every file is a folder."""
    return replace_files(root, Path.mkdir)


def device_as_root(root: Path) -> Path:
    root.with_name("0" * 20).symlink_to("/dev/zero")
    return root.with_name("0" * 20)


def circle_as_root(root: Path) -> Path:
    root.with_name("circle").symlink_to("circle")
    return root.with_name("circle")


def socket_as_lock(root: Path) -> Path:
    """Brokers lock the file ``lock``; here it is a socket."""
    (root / "lock").unlink(missing_ok=True)
    with contextlib.chdir(root), socket.socket(socket.AF_UNIX) as listener:
        listener.bind("lock")
    return root


def links_that_lead_outside(root: Path) -> Path:
    """Folders of the store are links to another folder, with a store in it."""
    outside = root.with_name("outside")
    root.rename(outside)
    root.mkdir()
    (root / "commitlog").symlink_to(outside / "commitlog")
    (root / "config").mkdir()
    (root / "config" / "topics.json").symlink_to(outside / "config" / "topics.json")
    return root


def sparse_files(root: Path) -> Path:
    """Every file has a terabyte, of which the disk has only the beginning."""
    (root / "abort").touch()
    for path in files_below(root):
        os.truncate(path, TERABYTE)
    return root


def sparse_log_alone(root: Path) -> Path:
    path = root.with_name("0" * 20)
    path.touch()
    os.truncate(path, TERABYTE)
    return path


def sparse_files_of_other_kinds(root: Path) -> Path:
    """Timers, extensions and batches have sparse files."""
    for name in (
        "timerwheel",
        f"timerlog/{0:020}",
        f"consumequeue_ext/orders/0/{0:020}",
        f"batchconsumequeue/orders/0/{0:020}",
    ):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).touch()
        os.truncate(root / name, TERABYTE)
    return root


def huge_config(root: Path) -> Path:
    """Offsets of groups in a form that Java does not write, a million of them."""
    path = root / "config" / "consumerOffset.json"
    path.write_bytes(b'{"offsetTable":[' + b'{"a":0},' * 1_000_000 + b"0]}")
    return root


def deep_config(root: Path) -> Path:
    """Configuration of a hundred thousand lists, each in the one before."""
    for path in (root / "config").glob("*.json"):
        path.write_bytes(b"[" * 100_000)
    return root


STORES: dict[str, Callable[[Path], Path]] = {
    function.__name__: function
    for function in (
        names_with_escapes,
        names_that_are_no_utf8,
        root_with_escapes,
        texts_with_escapes,
        pipes,
        devices,
        device_as_root,
        circle_as_root,
        socket_as_lock,
        folders,
        sparse_files,
        sparse_log_alone,
        sparse_files_of_other_kinds,
        huge_config,
        deep_config,
    )
}


@contextmanager
def limit_memory() -> Generator[None]:
    """This process gets ``MEMORY`` more, or ``MemoryError``."""
    with open("/proc/self/statm", encoding="ascii") as file:
        pages = int(file.read().split()[0])
    limits = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + MEMORY, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, limits)


def assert_ends_well(verb: tuple[str, ...], root: Path) -> tuple[int, str, str]:
    """A verb ends with a status, one line if there is no store, and nothing that hurts a terminal."""
    places = {"NEW": root.with_name("new"), "STORE": root}
    with limit_memory():
        status, output, errors = call_store(*[places.get(part, part) for part in verb], root)
    text = output.decode()
    assert status in (0, 1, 2), errors
    if status == 2:
        assert re.fullmatch("rocketwire-store: .+\n", errors), errors
    assert not RAW.search(text), RAW.findall(text)
    assert not RAW.search(errors), RAW.findall(errors)
    return status, text, errors


@pytest.fixture(scope="module", params=STORES)
def hostile(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Generator[Path]:
    folder = tmp_path_factory.mktemp("hostile")
    yield STORES[request.param](unpack(CURRENT, "plain", folder).root)
    shutil.rmtree(folder)


@pytest.mark.parametrize("verb", VERBS, ids=" ".join)
def test_verb_takes_little_memory_and_changes_no_terminal(
    verb: tuple[str, ...], hostile: Path
) -> None:
    assert_ends_well(verb, hostile)


@pytest.mark.parametrize("verb", VERBS, ids=" ".join)
@pytest.mark.parametrize("count", [2])
def test_verb_ends_if_files_vanish_while_it_reads(
    verb: tuple[str, ...], count: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = unpack(CURRENT, "plain", tmp_path).root
    opened: list[str] = []
    real = os.open

    def vanishing(path: Any, *arguments: Any, **options: Any) -> int:
        if str(path).startswith(str(root)) and os.path.isfile(path):
            opened.append(path)
            if len(opened) == count:
                shutil.rmtree(os.path.dirname(path))
        return real(path, *arguments, **options)

    monkeypatch.setattr(os, "open", vanishing)
    assert_ends_well(verb, root)


@pytest.mark.parametrize("verb", [("stat",), ("messages", "--json"), ("export",)], ids=" ".join)
def test_disk_that_fails_is_one_line_with_the_file(
    verb: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = unpack(CURRENT, "plain", tmp_path).root
    real = os.preadv

    def failing(descriptor: int, buffers: Any, offset: int) -> int:
        if os.readlink(f"/proc/self/fd/{descriptor}").endswith(f"/commitlog/{262144:020}"):
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return real(descriptor, buffers, offset)

    monkeypatch.setattr(os, "preadv", failing)

    status, _, errors = assert_ends_well(verb, root)

    assert status == 2
    assert errors == f"rocketwire-store: {root}/commitlog/{262144:020}: input/output error\n"


def test_links_in_a_store_lead_to_nothing_outside(tmp_path: Path) -> None:
    root = links_that_lead_outside(unpack(CURRENT, "plain", tmp_path).root)

    for verb in VERBS:
        status, text, errors = assert_ends_well(verb, root)
        assert status == 2 or "orders" not in text.replace("orders:0:0", ""), (verb, errors)


def test_texts_are_shown_with_their_controls_written_out(tmp_path: Path) -> None:
    root = names_with_escapes(unpack(CURRENT, "plain", tmp_path).root)

    _, text, _ = assert_ends_well(("check", "--why"), root)
    _, lines, _ = assert_ends_well(("check", "--json"), root)

    assert "orders\\x1b[31m\\x07\\x9b2J\\u202e\\x0a" in text
    assert "orders\\u001b[31m\\u0007\\u009b2J\\u202e\\n" in lines
