"""Errors of the operating system are told without their numbers."""

from __future__ import annotations

import errno

import pytest

from rocketwire.os_errors import os_error_text
from rocketwire_namesrv.runtime.sockets import BindError


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
def test_the_text_has_no_number(error: Exception, expected: str) -> None:
    assert os_error_text(error) == expected
