"""Stores in a tar, which may be compressed.

A member of a plain tar is read where it stands.  Members of a compressed tar, and sparse members,
are unpacked into a private folder, under names of our own: no name in an archive leads anywhere.
"""

from __future__ import annotations

import itertools
import os
import shutil
import tarfile
from typing import IO, TYPE_CHECKING, Any, Final

from rocketwire.store.folder import MAX_FILES, StoreFile, is_file_place, offset_of_name
from rocketwire_tools.store.sources.databases import private_folder
from rocketwire_tools.terminal import print_error

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

MAX_UNPACKED: Final = 256 << 30
"""Default limit of the bytes that are unpacked of one archive; holes of sparse files are none."""

MAX_MEMBER: Final = 1 << 40
"""Bytes of the longest member, holes included; files of a store are shorter than 2 GiB."""

MAX_HEADERS: Final = 8 << 20
"""Bytes of the headers of one member."""

_PIECE: Final = 1 << 20
_ROOM: Final = 256 << 20
"""Bytes of the disk that stay free."""

_STREAMS: Final = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstandard", b"BZh": "bz2"}
_DAMAGES: Final = ("ZstdError", "LZMAError", "error")
"""Errors of packages that decompress."""

_XZ: Final = b"\xfd7zXZ\x00"
_USTAR: Final = 257
_TOP_FOLDERS: Final = ("commitlog", "consumequeue", "batchconsumequeue", "config", "timerlog")


class ArchiveError(Exception):
    """An archive cannot be read, or is larger than allowed."""


def is_archive(path: Path) -> bool:
    """Whether a file is a tar, or compressed; by its first bytes."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        head = file.read(512)
    return _compression(head) is not None or head[_USTAR : _USTAR + 5] == b"ustar"


def read_archive(
    path: Path, owner: object, *, max_unpacked: int = MAX_UNPACKED
) -> tuple[list[StoreFile], list[str]]:
    """The files of the store in an archive, and the names of links and special files.

    Args:
        path: the archive.
        owner: what is unpacked goes when this object does.
        max_unpacked: bytes.

    Raises:
        ArchiveError: the archive is damaged or too large, or holds no store or several.
        ImportError: a package for its compression is missing.
    """
    with path.open("rb") as file:
        module = _compression(file.read(512))
        file.seek(0)
        members = _Members(path, owner, max_unpacked, is_packed=module is not None)
        files: list[StoreFile] = []
        try:
            stream = file if module is None else _decompressor(module)(file)
            for each in members.read(stream):
                files.append(each)  # noqa: PERF402 - those before an error are kept
        except ArchiveError as error:
            raise ArchiveError(f"{path}: {error}") from None
        except Exception as error:
            is_damage = isinstance(error, (tarfile.TarError, EOFError, ValueError, OSError))
            if not is_damage and type(error).__name__ not in _DAMAGES:
                raise
            if not files:
                raise ArchiveError(f"{path}: {error}") from None
            print_error(f"{path}: {error}; the files up to there are read")
    if members.unpacked:
        print_error(
            f"{path}: unpacked {members.unpacked:,} bytes into {members.folder}, for as long as"
            " this command runs"
        )
    prefix = _prefix(path, {file.name for file in files})
    ignored = [name.removeprefix(prefix) for name in members.ignored if name.startswith(prefix)]
    folders = (name.removeprefix(prefix) for name in members.folders if name.startswith(prefix))
    return _below(prefix, files), [*ignored, *filter(is_file_place, folders)]


def _compression(head: bytes) -> str | None:
    for magic, module in _STREAMS.items():
        if head.startswith(magic):
            return module
    return "lzma" if head.startswith(_XZ) else None


def _decompressor(module: str) -> Callable[[IO[bytes]], Any]:
    if module == "zstandard":
        import zstandard

        return lambda file: zstandard.ZstdDecompressor().stream_reader(
            file, read_across_frames=True
        )
    if module == "gzip":
        import gzip

        return lambda file: gzip.GzipFile(fileobj=file)
    if module == "bz2":
        import bz2

        return bz2.BZ2File
    import lzma

    return lzma.LZMAFile


class _Headers:
    """A stream for ``tarfile``, which reads headers through it; their length is bounded."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self.seek = stream.seek
        self.tell = stream.tell
        self.length = 0

    def read(self, size: int) -> bytes:
        """Bytes of a header."""
        self.length += size
        if self.length > MAX_HEADERS:
            raise ArchiveError(f"the headers of a member are longer than {MAX_HEADERS} bytes")
        data: bytes = self._stream.read(size)
        return data


class _Members:
    """The plain files of an archive.

    Attributes:
        folder: private, for what is unpacked.
        unpacked: bytes.
        folders: names of folders.
        ignored: names of other members.
    """

    def __init__(self, path: Path, owner: object, max_unpacked: int, *, is_packed: bool) -> None:
        self._path = path
        self._owner = owner
        self._left = max_unpacked
        self._limit = max_unpacked
        self._is_packed = is_packed
        self._numbers = itertools.count()
        self.folder: Path | None = None
        self.unpacked = 0
        self.folders: list[str] = []
        self.ignored: list[str] = []

    def read(self, stream: Any) -> Iterator[StoreFile]:
        headers: Any = _Headers(stream)
        size = 0 if self._is_packed else self._path.stat().st_size
        with tarfile.open(fileobj=headers, mode="r:") as archive:
            for count, member in enumerate(_each(archive, headers)):
                if count >= MAX_FILES:
                    raise ArchiveError(f"more than {MAX_FILES} members")
                name = _clean(member.name)
                if member.isdir():
                    self.folders.append(name)
                    continue
                if not member.isreg():
                    self.ignored.append(name)
                    continue
                if not 0 <= member.size <= MAX_MEMBER:
                    raise ArchiveError(f"{name} has {member.size} bytes")
                if member.sparse is None and not self._is_packed:
                    end = min(member.offset_data + member.size, size)
                    yield _file(
                        self._path, name, member, member.offset_data, end - member.offset_data
                    )
                else:
                    yield self._unpack(stream, member, name)

    def _unpack(self, stream: Any, member: tarfile.TarInfo, name: str) -> StoreFile:
        if self.folder is None:
            self.folder = private_folder(self._owner)
        target = self.folder / f"{next(self._numbers):08d}"
        sparse: Any = member.sparse
        parts: list[tuple[int, int]] = [(0, member.size)] if sparse is None else sparse
        stream.seek(member.offset_data)
        with target.open("xb") as output:
            output.truncate(member.size)
            for offset, length in parts:
                if not 0 <= offset <= offset + length <= member.size:
                    raise ArchiveError(f"{name}: a piece lies outside of the file")
                output.seek(offset)
                self._copy(stream, output, length, name)
        return _file(target, name, member, 0, member.size)

    def _copy(self, stream: Any, output: IO[bytes], length: int, name: str) -> None:
        while length:
            data = stream.read(min(length, _PIECE))
            if not data:
                raise EOFError(f"it is cut off in {name}")
            length -= len(data)
            self._left -= len(data)
            if self._left < 0:
                raise ArchiveError(f"more than {self._limit} bytes; unpack it, and give the folder")
            if data.count(0) == len(data):
                output.seek(len(data), os.SEEK_CUR)  # stays a hole
                continue
            if self.unpacked % (64 * _PIECE) < len(data):
                self._require_room(output)
            output.write(data)
            self.unpacked += len(data)

    def _require_room(self, output: IO[bytes]) -> None:
        if shutil.disk_usage(os.path.dirname(output.name)).free < _ROOM:
            raise ArchiveError(f"too little room in {self.folder}; set TMPDIR to another disk")


def _each(archive: Any, headers: _Headers) -> Iterator[tarfile.TarInfo]:
    """Members one by one; those that were read are forgotten."""
    while True:
        headers.length = 0
        member: tarfile.TarInfo | None = archive.next()
        if member is None:
            return
        yield member
        archive.members.clear()


def _clean(name: str) -> str:
    """A name without empty parts and dots.

    Raises:
        ArchiveError: it leads out of the archive.
    """
    parts = [part for part in name.split("/") if part not in ("", ".")]
    if ".." in parts or name.startswith("/"):
        raise ArchiveError(f"{name!r} leads out of the archive")
    return "/".join(parts)


def _file(path: Path, name: str, member: tarfile.TarInfo, start: int, size: int) -> StoreFile:
    return StoreFile(
        root=path,
        offset=0,
        size=max(size, 0),
        start=start,
        name=name,
        modified=float(member.mtime),
        allocated=max(size, 0),
        is_packed=True,
    )


def _prefix(path: Path, names: Iterable[str]) -> str:
    """What the names of files of the store begin with.

    Raises:
        ArchiveError: there are several stores.
    """
    roots = sorted(_roots(names))
    if len(roots) > 1:
        several = ", ".join(root or "." for root in roots[:5])
        raise ArchiveError(f"{path} holds several stores: {several}; unpack it, and give one")
    return f"{roots[0]}/" if roots and roots[0] else ""


def _below(prefix: str, files: Iterable[StoreFile]) -> list[StoreFile]:
    """The files of the store; of a name that stands twice the last one counts."""
    named = {file.name: file for file in files}
    return [
        file.below(name.removeprefix(prefix))
        for name, file in named.items()
        if name.startswith(prefix)
    ]


def _roots(names: Iterable[str]) -> set[str]:
    """Folders that have a log; without one those with other folders of a store."""
    with_log: set[str] = set()
    others: set[str] = set()
    bare: set[str] = set()
    for name in names:
        parts = name.split("/")
        is_mapped = offset_of_name(parts[-1]) is not None
        if is_mapped and parts[-2:-1] == ["commitlog"]:
            with_log.add("/".join(parts[:-2]))
        elif is_mapped and len(parts) > 2 and parts[-3].startswith("dledger-"):
            with_log.add("/".join(parts[:-3]))
        elif is_mapped and len(parts) < 3:
            bare.add("/".join(parts[:-1]))
        for place, part in enumerate(parts[:-1]):
            if part in _TOP_FOLDERS:
                others.add("/".join(parts[:place]))
                break
    return with_log or others or bare
