"""A program ends silently if its output has no reader any more."""

import io
import os
import sys
from collections.abc import Generator
from contextlib import contextmanager

import pytest

from rocketwire.program import reader_may_go


@contextmanager
def unread_output(monkeypatch: pytest.MonkeyPatch) -> Generator[io.TextIOWrapper]:
    """A standard output that is a pipe without a reader."""
    reader, writer = os.pipe()
    os.close(reader)
    with open(writer, "w", encoding="utf-8") as output, monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", output)
        yield output


def test_output_without_a_reader_is_discarded(monkeypatch: pytest.MonkeyPatch) -> None:
    with unread_output(monkeypatch):
        with reader_may_go():
            sys.stdout.write("x" * 100_000)
            pytest.fail("the write had to fail")
        sys.stdout.write("more")
        sys.stdout.flush()


def test_buffered_output_fails_inside_of_the_block(monkeypatch: pytest.MonkeyPatch) -> None:
    with unread_output(monkeypatch) as output:
        with reader_may_go():
            sys.stdout.write("few bytes")
        output.flush()


def test_an_exit_status_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SystemExit) as end, reader_may_go():
        raise SystemExit(3)
    assert end.value.code == 3


def test_a_process_without_output_ends_as_any_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", None)

    with reader_may_go():
        pass
