"""``fused.py`` is what the declarations give, and nothing else."""

from __future__ import annotations

import runpy
import subprocess
import sys
from pathlib import Path

import pytest

from rocketwire.wire.layouts import derive
from rocketwire.wire.layouts import functions as layouts
from rocketwire.wire.layouts.interpreter import interpreted


def test_the_functions_are_those_that_the_declarations_give() -> None:
    assert derive.FILE.read_text() == derive.derived()


def test_they_are_written_by_a_command(monkeypatch: pytest.MonkeyPatch) -> None:
    written = list[str]()

    def write_text(_: Path, text: str) -> None:
        written.append(text)

    monkeypatch.setattr(Path, "write_text", write_text)
    monkeypatch.delitem(sys.modules, "rocketwire.wire.layouts.derive")
    runpy.run_module("rocketwire.wire.layouts.derive", run_name="__main__")

    assert written == [derive.derived()]


@pytest.mark.process
def test_whoever_only_reads_and_writes_needs_no_construct() -> None:
    program = "import rocketwire, sys; print('construct' in sys.modules)"
    environment = {"ROCKETWIRE_CONSTRUCT": "", "PYTHONPATH": ":".join(sys.path)}
    printed = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True, env=environment
    )

    assert printed.stdout == "False\n"


def test_what_is_declared_can_be_looked_at_and_nothing_else() -> None:
    assert layouts.LENGTH.sizeof() == layouts.LENGTH_SIZE
    with pytest.raises(AttributeError, match="has no attribute 'NOTHING'"):
        _ = layouts.NOTHING


def test_what_construct_runs_itself_is_found_by_the_same_names() -> None:
    build, parse = interpreted("build", "BATCH"), interpreted("parse", "BATCH")

    assert parse(build([(1, b"body", "name")])) == layouts.parse_batch(
        build([(1, b"body", "name")])
    )
