"""The program run inside the test, without a server."""

import io
import sys
from typing import NamedTuple

import pytest

from rocketwire_tools.admin.program import main

VARIABLES = ("NAMESRV_ADDR", "ROCKETWIRE_PROFILE", "ROCKETWIRE_PROFILE_FILE")


class Run(NamedTuple):
    status: int
    out: str
    complaint: str  # standard error


def run(*arguments: str, **environment: str) -> Run:
    """Run the program with these arguments, and nothing of the machine's own settings."""
    out, err = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patch:
        for name in VARIABLES:
            patch.delenv(name, raising=False)
        patch.setenv("XDG_CONFIG_HOME", "nowhere")
        for name, value in environment.items():
            patch.setenv(name, value)
        patch.setattr(sys, "stdout", out)
        patch.setattr(sys, "stderr", err)
        status = main(arguments)
    return Run(status, out.getvalue(), err.getvalue())
