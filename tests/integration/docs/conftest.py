"""A cluster for the examples of the pages, and a folder with what they name."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[3]
NAME_SERVER = "127.0.0.1:9876"
"""The address that the pages name."""


def blocks(page: Path, language: str) -> list[str]:
    """The code blocks of a page in one language."""
    text = page.read_text("utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


class Reader:
    """Somebody who types what a page shows, in an empty folder."""

    def __init__(self, folder: Path, address: str) -> None:
        self.folder = folder
        self.address = address
        self.environment = {
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": os.pathsep.join(
                str(ROOT / each) for each in (".", "namesrv", "broker", "tools")
            ),
            "HOME": str(folder),
            "LC_ALL": "C.UTF-8",
            "MPLCONFIGDIR": str(folder),
        }

    def text(self, text: str) -> str:
        """A text of a page with the address of the cluster of the test."""
        return text.replace(NAME_SERVER, self.address)

    def type(self, line: str) -> subprocess.CompletedProcess[str]:
        """Run a line in a shell."""
        return subprocess.run(
            ["/bin/sh", "-ec", self.text(line)],
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )


@pytest.fixture
def dev_cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of the name server of ``rocketwire dev``."""
    command = [str(Path(sys.executable).parent / "rocketwire"), "dev"]
    server = subprocess.Popen(
        [*command, "--port", "0", "--broker-port", "0", "--status-port", "0"],
        cwd=tmp_path_factory.mktemp("cluster"),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert server.stdout is not None
    try:
        lines: list[str] = []
        for line in server.stdout:
            lines.append(line)
            if match := re.search(r"ready: name server (\S+),", line):
                yield match[1]
                break
        else:
            pytest.fail(f"rocketwire dev did not start: {''.join(lines)}")
    finally:
        server.terminate()
        server.wait(60)
        server.stdout.close()


@pytest.fixture
def reader(tmp_path: Path, dev_cluster: str) -> Reader:
    """A reader with a capture and a store, as the pages name them."""
    fixtures = ROOT / "tests" / "fixtures"
    shutil.copy(fixtures / "captures" / "java-5.5.0.pcap.gz", tmp_path / "trace.pcap")
    with tarfile.open(fixtures / "stores" / "plain-5.5.0.tar.xz") as archive:
        archive.extractall(tmp_path / "packed", filter="data")
    (log,) = sorted((tmp_path / "packed").rglob("commitlog"))[:1]
    (tmp_path / "STORE").symlink_to(log.parent)
    return Reader(tmp_path, dev_cluster)
