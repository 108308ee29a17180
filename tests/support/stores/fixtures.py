"""Stores among the fixtures: real bytes for tests without Java.

Each is in a file ``tests/fixtures/stores/<kind>-<release>.tar.xz``.
"""

from __future__ import annotations

import lzma
import tarfile
from functools import lru_cache
from io import BytesIO
from typing import TYPE_CHECKING, Final

from tests.peers import manifest
from tests.peers.peers import CURRENT, MIDDLE, OLD
from tests.support.stores.store import BrokerStore, open_folder

if TYPE_CHECKING:
    from pathlib import Path

PACKED: Final = (
    *((CURRENT, kind) for kind in ("plain", "killed", "features", "timers", "pop", "popkv")),
    *((CURRENT, kind) for kind in ("inner", "ipv6", "slave", "controller", "lmq", "crc", "ext")),
    *((CURRENT, kind) for kind in ("rocksdb", "rocksv2", "rockskilled")),
    *((OLD, kind) for kind in ("plain", "killed", "features", "ipv6", "slave")),
    *((MIDDLE, kind) for kind in ("plain", "rocksboth")),
)
"""Release and kind of the stores that are packed."""


def archive_of(release: str, kind: str) -> Path:
    """The file of a packed store."""
    return manifest.FIXTURES / "stores" / f"{kind}-{release}.tar.xz"


def unpack(release: str, kind: str, folder: Path) -> BrokerStore:
    """Unpack a store into an empty folder; the caller may change it."""
    with tarfile.open(fileobj=BytesIO(_archive(release, kind))) as archive:
        archive.extractall(folder, filter="data")
    return open_folder(folder)


@lru_cache(maxsize=3)
def _archive(release: str, kind: str) -> bytes:
    """A packed store without its compression; tests unpack the same few again and again."""
    return lzma.decompress(archive_of(release, kind).read_bytes())
