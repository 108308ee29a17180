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


_SIGTERM_IN_FINALIZER = """
import argparse, os, signal, sys, weakref
from pathlib import Path
from rocketwire_tools.cli.file_program import run_program
from rocketwire_tools.store.sources.databases import private_folder

class Owner: pass

def run(_):
    owner = Owner()
    (private_folder(owner) / "file").touch()
    unlink = os.unlink
    def unlink_slowly(*place, **options):
        os.unlink = unlink
        os.kill(os.getpid(), signal.SIGTERM)
        unlink(*place, **options)
    os.unlink = unlink_slowly
    del owner
    return 0

parser = argparse.ArgumentParser()
parser.set_defaults(run=run)
sys.exit(run_program(lambda: parser, None))
"""


def test_sigterm_while_a_private_copy_is_removed(tmp_path: Path) -> None:
    command = [sys.executable, "-c", _SIGTERM_IN_FINALIZER]
    environment = {**os.environ, "TMPDIR": str(tmp_path)}

    assert subprocess.run(command, env=environment, check=False).returncode == 143
    assert [*tmp_path.iterdir()] == []
