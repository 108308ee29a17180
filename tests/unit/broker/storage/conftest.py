import pytest

from tests.unit.broker.storage.stores import LogAtHand


@pytest.fixture
def log() -> LogAtHand:
    """A commit log in memory."""
    return LogAtHand()
