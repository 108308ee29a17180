"""RocksDBs of a store, each opened on a private copy.

A RocksDB that was not closed has its newest records in its own log, which is replayed when it is
opened.  So it is never opened in the store.  Files of options are not read: they name folders.
"""

from __future__ import annotations

import re
import shutil
import tempfile
import weakref
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from rocketwire.store.folder import plain_files
from rocketwire_tools.store.engine.blocks import open_blocks
from rocketwire_tools.terminal import print_error

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Sequence

    from rocketwire.store.folder import StoreFile

DEFAULT_FAMILY: Final = "default"
_COPIED: Final = re.compile(r"[0-9]{1,20}\.(?:sst|log)|MANIFEST-[0-9]{1,20}|CURRENT|IDENTITY")
_CURRENT: Final = re.compile(rb"MANIFEST-[0-9]{1,20}\n")
MAX_COPIED: Final = 16 << 30
"""Bytes of the files that are copied.  A RocksDB keeps its own log far below them."""

_TRIES: Final = 3  # a running broker removes files of a RocksDB while they are copied


class DatabaseError(Exception):
    """A RocksDB cannot be opened or read."""


class Database:
    """A RocksDB, opened for reading; raises ``DatabaseError`` if that is impossible."""

    def __init__(self, files: Sequence[StoreFile], name: str) -> None:
        import rocksdict  # a large package, which few stores need

        self.name = name
        # why it cannot be read to its end; empty if it can.  Standard error gets it too.
        self.failure = ""
        folder = Path(tempfile.mkdtemp(prefix="rocketwire-store-"))
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        for tries_left in reversed(range(_TRIES)):
            try:
                _copy(files, folder)
                path = str(folder)
                # names of its column families
                self.families: list[str] = rocksdict.Rdict.list_cf(path, _options(rocksdict, path))
                families = {family: _options(rocksdict, path) for family in self.families}
                self._rdict: Any = rocksdict.Rdict(
                    path,
                    _options(rocksdict, path),
                    column_families=families,
                    access_type=rocksdict.AccessType.read_only(error_if_log_file_exist=False),
                )
            except Exception as error:  # noqa: BLE001 - rocksdict has no class of its own
                if not tries_left:
                    raise DatabaseError(_first_line(error)) from None
                files = plain_files(files[0].path.parent)
            else:
                return

    def get(self, key: bytes, family: str = DEFAULT_FAMILY) -> bytes | None:
        with self._reading():
            value: bytes | None = self._rdict.get_column_family(family).get(key)
            return value
        return None

    def items(
        self, start: bytes = b"", family: str = DEFAULT_FAMILY
    ) -> Iterator[tuple[bytes, bytes]]:
        if family not in self.families:
            return
        with self._reading():
            cursor = self._rdict.get_column_family(family).iter()
            cursor.seek(start)
            while cursor.valid():
                yield cursor.key(), cursor.value()
                cursor.next()
            cursor.status()

    def key_before(self, key: bytes) -> bytes | None:
        with self._reading():
            cursor = self._rdict.iter()
            cursor.seek_for_prev(key)
            last: bytes | None = cursor.key() if cursor.valid() else None
            cursor.status()
            return last
        return None

    def read_all(self) -> None:
        for family in self.families:
            for _ in self.items(family=family):
                pass

    @contextmanager
    def _reading(self) -> Generator[None]:
        try:
            yield
        except Exception as error:  # noqa: BLE001 - rocksdict has no class of its own
            if not self.failure:
                self.failure = _first_line(error)
                print_error(f"{self.name} is not read to its end: {self.failure}")


def _options(rocksdict: Any, path: str) -> Any:
    options = rocksdict.Options(raw_mode=True)
    options.set_db_log_dir(path)
    options.set_wal_dir(path)
    return options


def _copy(files: Sequence[StoreFile], folder: Path) -> None:
    """Copy the files of a RocksDB that hold data; tables, which never change, are linked to."""
    for old in folder.iterdir():
        old.unlink()
    bytes_left = MAX_COPIED
    for file in files:
        name = file.base_name
        if not _COPIED.fullmatch(name):
            continue
        if name.endswith(".sst"):
            (folder / name).symlink_to(file.path)
            continue
        bytes_left -= file.size
        if bytes_left < 0:
            raise DatabaseError(f"files that are no tables have more than {MAX_COPIED} bytes")
        with open_blocks(file) as blocks, (folder / name).open("xb") as output:
            position = blocks.next_data(0)
            while view := blocks.read(position):
                output.seek(position)
                output.write(view)
                position = blocks.next_data(position + len(view))
            output.truncate(file.size)
    if not _CURRENT.fullmatch((folder / "CURRENT").read_bytes()):
        raise DatabaseError("CURRENT names no manifest")


def _first_line(error: Exception) -> str:
    text = str(error).strip() or type(error).__name__
    return text.splitlines()[0]
