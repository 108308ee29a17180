"""Texts of others cannot change a terminal."""

import os

import pytest

from rocketwire_tools.terminal import csv_cell, escape_line_breaks, print_error, printable


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (None, ""),
        (7, "7"),
        ("Grüße 世界 🚀", "Grüße 世界 🚀"),
        ("\x1b[31m\x07\r\n\x7f", "\\x1b[31m\\x07\\x0d\\x0a\\x7f"),
        ("\x9b2J", "\\x9b2J"),
        ("abc\u202ecba\u2066", "abc\\u202ecba\\u2066"),
        ("a\u2028b", "a\\u2028b"),
        (os.fsdecode(b"name\xff"), "name\\xff"),
        ("a\ud800b", "a\\ud800b"),
    ],
)
def test_controls_are_written_out(text: object, shown: str) -> None:
    assert printable(text) == shown


def test_an_error_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    print_error("no\nlines\x1b[2J")

    assert capsys.readouterr() == ("", "no\\x0alines\\x1b[2J\n")


def test_json_has_escapes_in_their_place() -> None:
    text = '"\x7f\x85\x9b\u200e\u2028\u202e\u2066 ü 世 \u2030"'

    escaped = '"\\u007f\\u0085\\u009b\\u200e\\u2028\\u202e\\u2066 ü 世 \u2030"'
    assert escape_line_breaks(text.encode()) == escaped.encode()


@pytest.mark.parametrize(
    ("text", "cell"),
    [
        ("=1+1", "'=1+1"),
        ("+cmd|x", "'+cmd|x"),
        ("-x", "'-x"),
        ("@sum", "'@sum"),
        ("-1.5", "-1.5"),
        ("a=b", "a=b"),
        ("a\nb", "a\\x0ab"),
    ],
)
def test_csv_cell_of_a_formula(text: str, cell: str) -> None:
    assert csv_cell(text) == cell
