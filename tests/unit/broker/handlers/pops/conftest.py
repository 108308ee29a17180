import pytest

from tests.support.broker import BrokerAtHand


@pytest.fixture
def home() -> BrokerAtHand:
    return BrokerAtHand(orders=4)
