"""Texts from the network in logs."""

import pytest

from rocketwire.controls import MAX_LENGTH, log_text
from rocketwire.errors import BrokerError


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("", ""),
        ("7F00000100001035240C387F44784E8B780003", "7F00000100001035240C387F44784E8B780003"),
        ("Z\u00fcrich \u5317\u4eac", "Z\u00fcrich \u5317\u4eac"),
        ("1\nWARNING forged", "1\\x0aWARNING forged"),
        ("\x1b[31m", "\\x1b[31m"),
        ("a\u2028b\u202ec", "a\\u2028b\\u202ec"),
        ("x" * MAX_LENGTH, "x" * MAX_LENGTH),
        ("x" * 20_000, "x" * MAX_LENGTH + "... (20000 characters)"),
    ],
)
def test_no_text_begins_a_line_moves_a_terminal_or_is_long(text: str, shown: str) -> None:
    assert log_text(text) == shown


def test_remark_of_a_broker_moves_no_terminal() -> None:
    error = BrokerError(1, "no\x1b[2J\u202e\x9b", 11, "b:1")
    assert str(error).endswith("SYSTEM_ERROR (1) no\\x1b[2J\\u202e\\x9b")
