import pytest

from tests.support.broker import BrokerAtHand


@pytest.fixture
def home() -> BrokerAtHand:
    """A broker with the topic that is popped."""
    return BrokerAtHand(orders=4)
