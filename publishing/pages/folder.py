"""Files, addresses and ids that pages assume."""

from __future__ import annotations

import gzip
import shutil
import tarfile
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

# Names of a reader's machines and folders -> what they are here.  All else runs as written.
NAMES = {
    "/data/": "~/data/",
    "/etc/rocketmq/": "~/etc/rocketmq/",
    "10.0.0.1:9876": "127.0.0.1:9876",
    "10.0.0.1:40000": "127.0.0.1:36856",  # a producer of the capture
    "10.0.0.2:10911": "127.0.0.1:31944",  # its broker
}

_DATA = ("master", "slave", "before", "after", "broken-store")
# Copies of a broker's store.
STORES = ("store", "STORE", *(f"data/{name}" for name in _DATA))


def prepare(text: str) -> str:
    for name, value in NAMES.items():
        text = text.replace(name, value)
    return text


def copy_fixtures(folder: Path, fixtures: Path) -> None:
    """Put the files into a folder that pages name.

    Args:
        folder: of the commands.
        fixtures: the project's recorded bytes.
    """
    capture = fixtures / "captures" / "java-5.5.0.pcap.gz"
    shutil.copy(capture, folder / "trace.pcap.gz")
    (folder / "trace.pcap").write_bytes(gzip.decompress(capture.read_bytes()))
    with tarfile.open(fixtures / "stores" / "plain-5.5.0.tar.xz") as archive:
        archive.extractall(folder / "plain", filter="data")
    (log,) = sorted((folder / "plain").rglob("commitlog"))[:1]
    for name in STORES:
        shutil.copytree(log.parent, folder / name)
    with tarfile.open(folder / "backup.tar.gz", "w:gz") as archive:
        archive.add(log.parent, "store")
    configuration = folder / "etc" / "rocketmq" / "namesrv.properties"
    configuration.parent.mkdir(parents=True)
    configuration.write_text("listenPort=9876\n", "utf-8")
    shutil.rmtree(folder / "plain")
