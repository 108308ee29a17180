"""Any bytes are a tar with a store in it, or one clear error; nothing leads out of the archive."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import tarfile
from pathlib import Path
from tempfile import TemporaryDirectory

from rocketwire_tools.store.opened import NoStoreError, OpenedStore
from rocketwire_tools.store.sources.archives import ArchiveError
from tests.fuzz import stores

CASES = 300
"""Damaged seeds in a test: each is written to a file and read whole."""

_FOLDER = TemporaryDirectory(prefix="fuzz-")


def read(data: bytes) -> None:
    """As a store; then each message of its log."""
    path = Path(_FOLDER.name) / "store.tar"
    path.write_bytes(data)
    try:
        store = OpenedStore([path])
    except (ArchiveError, NoStoreError):
        return
    for file in store.log_files:
        assert 0 <= file.start <= file.start + file.size <= file.path.stat().st_size
        assert ".." not in file.name.split("/")
    for scan in store.scans():
        for block in scan:
            assert len(block.messages)


def start() -> list[bytes]:
    """A small store in each form of a tar, and some with members that are no plain files."""
    (log,) = stores.seeds(f"plain-5.5.0/store/commitlog/{0:020}")
    seeds: list[bytes] = []
    for form in (tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT):
        output = io.BytesIO()
        with tarfile.open(fileobj=output, mode="w", format=form) as archive:
            for name, data in (
                (f"store/commitlog/{0:020}", log[:1500]),
                ("store/config/topics.json", b'{"topicConfigTable":{}}'),
                (f"store/consumequeue/{'t' * 120}/0/{0:020}", bytes(40)),
            ):
                member = tarfile.TarInfo(name)
                member.size = len(data)
                if form != tarfile.USTAR_FORMAT or len(name) < 100:
                    archive.addfile(member, io.BytesIO(data))
            link = tarfile.TarInfo("store/lock")
            link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
            archive.addfile(link)
        seeds.append(output.getvalue().rstrip(b"\0") + bytes(1024))
    return [
        *seeds,
        gzip.compress(seeds[0]),
        bz2.compress(seeds[0]),
        lzma.compress(seeds[0]),
        gzip.compress(_sparse(log[:600])),
        _sparse(log[:600]),
    ]


def _sparse(data: bytes) -> bytes:
    """An archive of GNU's old form with a sparse file: its data, then a hole."""
    member = tarfile.TarInfo(f"store/commitlog/{0:020}")
    member.size = len(data)
    head = bytearray(member.tobuf(tarfile.GNU_FORMAT))
    head[156:157] = tarfile.GNUTYPE_SPARSE
    head[386:398] = b"%011o\0" % 0
    head[398:410] = b"%011o\0" % len(data)
    head[483:495] = b"%011o\0" % 100_000
    head[148:156] = b" " * 8
    head[148:156] = b"%06o\0 " % sum(head)
    return bytes(head) + data.ljust(-(-len(data) // 512) * 512, b"\0") + bytes(1024)
