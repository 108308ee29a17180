"""The common behaviour of all programs."""

import os
import subprocess
import sys
import tomllib
from importlib import import_module
from pathlib import Path

import pytest

from rocketwire import __version__

PROJECT = Path(__file__).parents[3] / "pyproject.toml"
PROGRAMS = tomllib.loads(PROJECT.read_text("utf-8"))["project"]["scripts"]


@pytest.mark.parametrize("program", PROGRAMS)
def test_every_program_prints_its_version(
    program: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", [program, "--version"])
    module, _, function = PROGRAMS[program].partition(":")
    try:
        status = getattr(import_module(module), function)()
    except SystemExit as end:
        status = end.code

    assert not status
    assert capsys.readouterr() == (f"{__version__}\n", "")


COMMANDS = (
    ("rocketwire-namesrv", "-p"),
    ("rocketwire-namesrv", "-h"),
    ("rocketwire-namesrv", "--sample-config"),
    ("rocketwire-admin", "--help"),
    ("rocketwire-pcap", "--help"),
    ("rocketwire-codec", "--help"),
    ("rocketwire-conformance", "--list"),
    ("rocketwire-store", "messages", "--help"),
)


@pytest.mark.process
@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_a_program_ends_silently_without_a_reader(command: tuple[str, ...]) -> None:
    program, *arguments = command
    reader, writer = os.pipe()
    os.close(reader)
    module = PROGRAMS[program].partition(":")[0]
    try:
        result = subprocess.run(
            [sys.executable, "-m", module, *arguments],
            stdout=writer,
            stderr=subprocess.PIPE,
            check=False,
        )
    finally:
        os.close(writer)

    assert result.stderr == b""
    assert result.returncode in (0, 1)
