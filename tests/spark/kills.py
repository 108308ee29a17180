"""Marks of the modules whose tests kill drivers, brokers and name servers for minutes."""

import os
from typing import Final

import pytest

READ: Final = "ROCKETWIRE_SPARK_KILLS"
"""Set for tests that read, and for those in which servers stop; ``long`` for a million messages."""
WRITE: Final = "ROCKETWIRE_SINK_KILLS"
"""Number of kills of tests that write."""


def marks_of_kills(variable: str = READ) -> list[pytest.MarkDecorator]:
    """The marks of a module that runs if a variable of the environment is set.

    Args:
        variable: ``READ`` or ``WRITE``; ``make test-all`` sets both.
    """
    return [
        pytest.mark.java,
        pytest.mark.filterwarnings("default"),  # PySpark leaves sockets to the collector
        pytest.mark.skipif(
            not os.environ.get(variable),
            reason=f"processes start for minutes: make test-all, or set {variable}",
        ),
    ]
