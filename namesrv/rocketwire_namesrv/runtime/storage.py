"""The only file access of the name server: the KV configuration and the configuration file.

Rules of this file: a save is atomic and durable (a second file, fsync, rename, fsync of the
folder), and the previous content stays as ``<path>.bak``; an invalid file is never overwritten,
because the server does not start with it. Java can read the files. The functions block: the driver
saves in a thread.

Java: ``KVConfigManager.load``/``persist`` and ``MixAll.string2File``, which overwrite in place.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Mapping
from typing import Final

from rocketwire.durable_file import make_folder, replace_file, write_all
from rocketwire.errors import DecodeError, RocketWireError
from rocketwire.messages import decode_body, from_json
from rocketwire.messages.kvconfig import KVConfigSerializeWrapper
from rocketwire.wire.java_utf8 import decode_utf8
from rocketwire.wire.json import fastjson
from rocketwire_namesrv.routes.warm_start import KnownBroker, read_brokers

_PRIVATE: Final = 0o600  # of a new file; an existing one keeps its mode
_NO_RENAME_HERE: Final = frozenset({errno.EACCES, errno.EBUSY, errno.EPERM, errno.EXDEV})
_LIMITS: Final = fastjson.JsonLimits(max_size=1 << 30, max_count=10_000_000)  # our own file


class StorageError(RocketWireError):
    """A file is invalid, and the server must not start with it."""


def read_start(path: str, size: int) -> bytes:
    with open(path, "rb") as file:
        return file.read(size)


def load_kv(path: str) -> dict[str, dict[str, str | None]]:
    """Read the KV configuration: namespace -> key -> value; empty if there is no file yet.

    Raises:
        OSError: the file is there and cannot be read.
        StorageError: it is not the document that a name server writes.
    """
    try:
        with open(path, "rb") as file:
            data = file.read()
    except (FileNotFoundError, NotADirectoryError):
        return {}
    if not data:
        return {}
    try:
        wrapper = _read_kv(decode_utf8(data))
    except DecodeError as error:
        raise StorageError(f"{path}: {error}") from error
    if wrapper is None:
        return {}
    if wrapper.config_table is None:
        raise StorageError(f"{path}: there is no object named configTable in it")
    return {
        str(namespace): {str(key): value for key, value in items.items()}  # no key without quotes
        for namespace, items in wrapper.config_table.items()
    }


def _read_kv(text: str) -> KVConfigSerializeWrapper | None:
    # references stay texts, and NULs around the document are skipped, as in Java
    data = text.removeprefix("\ufeff").strip("\0 \t\n\r\f\b").encode("utf-8")
    if not data:
        raise DecodeError("there is no document in it")
    if b"$ref" not in data:
        return decode_body(KVConfigSerializeWrapper, data, limits=_LIMITS)
    document = fastjson.loads_as_written(data, limits=_LIMITS)
    return from_json(KVConfigSerializeWrapper, document)


def load_brokers(path: str) -> list[KnownBroker]:
    """Read the brokers of before the restart; empty if there is no file yet.

    Raises:
        OSError: the file is there and cannot be read.
        StorageError: it is not a list of brokers.
    """
    try:
        with open(path, "rb") as file:
            return read_brokers(file.read())
    except FileNotFoundError:
        return []
    except DecodeError as error:
        raise StorageError(f"{path}: {error}") from error


def kv_document(table: Mapping[str, Mapping[str, str]]) -> bytes:
    """Return the content of ``kvConfig.json``, byte for byte as Java writes it."""
    return fastjson.dumps({"configTable": table})


def save(path: str, content: bytes) -> None:
    """Replace a file's content durably, and keep the previous content in ``<path>.bak``.

    A symbolic link stays one: its target is replaced.  If the folder is not writable or the file is
    a mount point, the file is overwritten in place, as Java does.

    Raises:
        OSError: the file is not saved; its old content is still there, in it or in ``.bak``.
    """
    make_folder(os.path.dirname(path) or ".", 0o777)
    try:
        with open(path, "rb") as file:
            previous = file.read()
            mode = os.fstat(file.fileno()).st_mode & 0o777
    except FileNotFoundError:
        mode = _PRIVATE
    else:
        _put(f"{path}.bak", previous, mode)
    _put(os.path.realpath(path), content, mode)


def _put(path: str, content: bytes, mode: int) -> None:
    try:
        replace_file(path, content, mode)
    except OSError as error:
        if error.errno not in _NO_RENAME_HERE:
            raise
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, mode)
        try:
            write_all(descriptor, content)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
