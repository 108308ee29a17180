"""Marks of the modules whose tests kill drivers, brokers and name servers for minutes."""

from __future__ import annotations

import os
from typing import Final

import pytest

READ: Final = "ROCKETWIRE_SPARK_KILLS"
"""Set for these tests; ``long`` for a million messages; ``make test-all`` sets it."""


def marks_of_kills() -> list[pytest.MarkDecorator]:
    """The marks of a module that runs if the variable of the environment is set."""
    return [
        pytest.mark.java,
        pytest.mark.filterwarnings("default"),  # PySpark leaves sockets to the collector
        pytest.mark.skipif(
            not os.environ.get(READ),
            reason=f"processes start for minutes: make test-all, or set {READ}",
        ),
    ]
