"""What all programs have in common."""

from __future__ import annotations

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
