"""Errors of a command line: one line, which names the call that shows the options."""

import argparse

import pytest

from rocketwire.program import ProgramParser, port


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
