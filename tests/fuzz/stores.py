"""Seeds of the formats of stores: files of the packed stores of real brokers, cut to a few messages, units or records."""

import tarfile
from functools import cache

from tests.support.stores.fixtures import PACKED, archive_of

SIZE = 4096
"""Bytes of a file that become a seed; of files of zeros and text all are taken."""


@cache
def _files() -> dict[str, bytes]:
    files: dict[str, bytes] = {}
    for release, kind in PACKED:
        with tarfile.open(archive_of(release, kind)) as archive:
            for member in archive:
                stream = archive.extractfile(member) if member.isfile() else None
                if stream is not None and member.name.startswith("store/"):
                    files[f"{kind}-{release}/{member.name}"] = stream.read(SIZE).rstrip(b"\0")
    return files


def seeds(*parts: str) -> list[bytes]:
    names = [name for name in _files() if any(part in name for part in parts)]
    return sorted({_files()[name] for name in names} - {b""})
