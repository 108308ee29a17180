"""A command line has one line for an error; a program without a reader ends silently."""

import argparse
import io
import os
import sys
from collections.abc import Generator
from contextlib import contextmanager

import pytest

from rocketwire.program import ProgramParser, port, reader_may_go


def test_an_error_is_one_line_and_names_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    parser = ProgramParser(prog="tool")
    verbs = parser.add_subparsers(required=True, metavar="VERB")
    verbs.add_parser("show").add_argument("file")

    with pytest.raises(SystemExit) as ended:
        parser.parse_args(["show"])

    assert ended.value.code == 2
    assert capsys.readouterr().err == (
        "tool show: error: the following arguments are required: file; see tool show --help\n"
    )


@pytest.mark.parametrize(("text", "number"), [("0", 0), ("9876", 9876), ("65535", 65535)])
def test_ports_are_read(text: str, number: int) -> None:
    assert port(text) == number


@pytest.mark.parametrize("text", ["", "-1", "65536", "abc", "1.0", "٣", "9" * 5000])
def test_other_texts_are_no_ports(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match="must be a port from 0 to 65535"):
        port(text)


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
