"""SIGTERM ends the store's command as Ctrl-C does."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.peers.peers import CURRENT
from tests.support.stores.fixtures import unpack

pytestmark = pytest.mark.process


def test_sigterm_while_a_private_copy_is_open(tmp_path: Path) -> None:
    root = unpack(CURRENT, "rocksdb", tmp_path / "store").root
    (tmp_path / "private").mkdir()
    command = [
        sys.executable,
        "-m",
        "rocketwire_tools.store",
        "get",
        "--json",
        "--key",
        "large-131072",
        str(root),
    ]
    environment = {**os.environ, "TMPDIR": str(tmp_path / "private")}
    # the message is longer than the pipe, which has no reader
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment, pipesize=4096) as ours:
        assert ours.stdout is not None
        assert ours.stdout.read(1)
        assert [*(tmp_path / "private").iterdir()] != []
        ours.send_signal(signal.SIGTERM)

        assert ours.wait(60) == 143
    assert [*(tmp_path / "private").iterdir()] == []
