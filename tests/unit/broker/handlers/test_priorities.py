"""Messages with a priority: their queues, and the order of pops."""

import pytest

from rocketwire.messages.groups import SubscriptionGroupConfig
from rocketwire_broker.handlers.sends import pops_by_priority
from tests.support.broker import BrokerAtHand, Client, fields_of
from tests.support.broker_pops import GROUP, Popper
from tests.unit.broker.groups import create_topic

NAME = "_SYS_MSG_PRIORITY_"


@pytest.fixture
def home() -> BrokerAtHand:
    return BrokerAtHand(orders=4)


@pytest.fixture
def client(home: BrokerAtHand) -> Client:
    client = home.connect()
    assert create_topic(client, "orders", attributes="+message.type=PRIORITY").code == 0
    return client


@pytest.mark.parametrize(
    ("properties", "queue"),
    [
        ({NAME: "2"}, "2"),
        ({NAME: "99"}, "3"),
        ({NAME: "-1"}, "0"),
        ({NAME: "high"}, "0"),
        ({NAME: "2", "DELAY": "1"}, "0"),
        ({NAME: "2", "__SHARDINGKEY": "key"}, "0"),
    ],
)
def test_queue_of_a_priority(client: Client, properties: dict[str, str], queue: str) -> None:
    assert fields_of(client.send(properties=properties))["queueId"] == queue


def test_pops_are_ordered_by_priority(home: BrokerAtHand, client: Client) -> None:
    popper = Popper(home, client)
    client.send(body=b"again", properties={NAME: "3"})
    popper.pop(queue=-1, invisible=1_000)
    home.pass_time(1_000)
    for priority in (0, 2, 1, 3):
        client.send(body=b"%d" % priority, properties={NAME: str(priority)})

    assert [message.body for message in popper.pop(queue=-1)] == [b"3", b"2", b"1", b"0", b"again"]


def test_share_of_the_pops_goes_by_priority(home: BrokerAtHand, client: Client) -> None:
    config = SubscriptionGroupConfig(group_name=GROUP, attributes={"priority.factor": "30"})
    home.broker.groups.put(config, home.now)

    shares = [pops_by_priority(home.broker, "orders", GROUP, turn) for turn in range(100)]

    assert sum(shares) == 30
    assert not pops_by_priority(home.broker, "TBW102", GROUP, 0)
