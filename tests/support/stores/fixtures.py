"""Stores among the fixtures: real bytes for tests without Java.

Each is in a file ``tests/fixtures/stores/<kind>-<release>.tar.xz``.
"""

import lzma
import tarfile
from collections.abc import Callable
from functools import cache, lru_cache
from io import BytesIO
from pathlib import Path
from typing import Final, TypeAlias

import pytest

from tests.peers import manifest
from tests.peers.peers import CURRENT, MIDDLE, OLD
from tests.support.stores.store import TRUTH, BrokerStore, open_folder

OpenStore: TypeAlias = "Callable[[str, str], BrokerStore]"

FOLDER: Final = "stores"
PACKED: Final = (
    *((CURRENT, kind) for kind in ("plain", "killed", "features", "timers", "pop", "popkv")),
    *((CURRENT, kind) for kind in ("inner", "ipv6", "slave", "controller", "lmq", "crc", "ext")),
    *((CURRENT, kind) for kind in ("rocksdb", "rocksv2", "rockskilled")),
    *((OLD, kind) for kind in ("plain", "killed", "features", "ipv6", "slave")),
    *((MIDDLE, kind) for kind in ("plain", "rocksboth")),
)
"""Release and kind of the stores that are packed."""

MAX_BYTES: Final = 150_000


def archive_of(release: str, kind: str) -> Path:
    return manifest.FIXTURES / _name(release, kind)


def _name(release: str, kind: str) -> str:
    return f"{FOLDER}/{kind}-{release}.tar.xz"


def unpack(release: str, kind: str, folder: Path) -> BrokerStore:
    """Unpack a store into an empty folder; the caller may change it."""
    with tarfile.open(fileobj=BytesIO(_archive(release, kind))) as archive:
        archive.extractall(folder, filter="data")
    return open_folder(folder)


@pytest.fixture(scope="session")
def open_store(tmp_path_factory: pytest.TempPathFactory) -> OpenStore:
    """Open the packed store of a release and kind, which tests only read."""

    @cache
    def open_store(release: str, kind: str) -> BrokerStore:
        return unpack(release, kind, tmp_path_factory.mktemp("packed"))

    return open_store


@lru_cache(maxsize=3)
def _archive(release: str, kind: str) -> bytes:
    """A packed store without its compression; tests unpack the same few again and again."""
    return lzma.decompress(archive_of(release, kind).read_bytes())


def pack(store: BrokerStore) -> None:
    truth = store.truth
    path = archive_of(truth.release, truth.kind)
    path.parent.mkdir(exist_ok=True)
    with tarfile.open(path, "w:xz", preset=9) as archive:
        for part in (store.root, store.root.parent / TRUTH):
            archive.add(part, part.name, filter=_without_owner)
    if path.stat().st_size > MAX_BYTES:
        raise ValueError(f"{path.name} has {path.stat().st_size} bytes, more than {MAX_BYTES}")
    current = manifest.load()
    file = _name(truth.release, truth.kind)
    others = [entry for entry in current.get("store", []) if entry["file"] != file]
    how = f"the kind {truth.kind} of tests/support/stores: a broker and its clients on loopback"
    origin = {"kind": "recorded", "product": f"Apache RocketMQ {truth.release}", "how": how}
    manifest.save({**current, "store": [*others, {"file": file, "sha256": "", "origin": origin}]})


def _without_owner(member: tarfile.TarInfo) -> tarfile.TarInfo:
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    return member
