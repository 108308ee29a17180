"""Texts of the errors of the operating system, without their numbers."""

import errno

import pytest

from rocketwire.os_errors import os_error_text, reason_of_no_connection
from rocketwire.serving.sockets import BindError


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (
            FileNotFoundError(errno.ENOENT, "No such file or directory", "/a"),
            "/a: no such file or directory",
        ),
        (PermissionError(errno.EACCES, "Permission denied"), "permission denied"),
        (OSError("no address"), "no address"),
        (BindError("Failed to bind to a:1"), "Failed to bind to a:1"),
        (ValueError("x"), "x"),
        (TimeoutError(), "TimeoutError"),
    ],
)
def test_texts_of_errors_have_no_numbers(error: Exception, expected: str) -> None:
    assert os_error_text(error) == expected


def test_the_reason_of_a_failed_connection_is_that_of_the_first_address() -> None:
    refused = ConnectionRefusedError(errno.ECONNREFUSED, "Connection refused")
    grouped, unexplained = OSError("all attempts failed"), OSError("all attempts failed")
    grouped.__cause__ = ExceptionGroup("", [ExceptionGroup("", [refused]), OSError("no")])
    unexplained.__cause__ = ValueError("no reason")

    assert reason_of_no_connection(grouped) is refused
    assert reason_of_no_connection(refused) is refused
    assert reason_of_no_connection(unexplained) is unexplained
