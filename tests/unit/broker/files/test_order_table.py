"""The last pops in order, as a file."""

from pathlib import Path
from typing import Any

import pytest

from rocketwire.codes import RequestCode as Code
from rocketwire_broker.files.tables import ORDERS, encode_pop_orders, read_pop_orders
from rocketwire_broker.tables.topics import new_topic
from tests.support.broker_folder import BrokerWithFolder
from tests.support.broker_pops import GROUP, Popper, read_popped

JAVA = (
    '{"orderInfoCount":1,"orderedConsumptionLevel":"QUEUE","table":{"orders@poppers":{'
    '0:{"a":"at2","cm":2,"i":60000,"l":1700000000100,"o":[5,1,4],"oc":{5:1,6:1,9:1},'
    '"ot":{9:1700000099999},"popTime":1700000000100},'
    '3:{"cm":0,"i":60000,"l":1700000000000,"o":[7],"popTime":1700000000000}}}}'
)
"""Text of Java's ``QueueLevelConsumerManager.encode`` after three pops, an acknowledgement of 6 and
a change of the time of 9; its ``l`` is the time of the pop."""


@pytest.fixture
def home(tmp_path: Path) -> BrokerWithFolder:
    home = BrokerWithFolder(tmp_path)
    home.broker.topics.put(new_topic("orders", 4), home.now)
    return home


def test_what_java_wrote_is_read_and_written_alike(home: BrokerWithFolder, tmp_path: Path) -> None:
    home.broker.groups.find_or_create(GROUP, home.now)
    home = home.restart()
    (tmp_path / ORDERS).write_text(JAVA)
    home = home.restart_after_kill()

    pops = dict(home.broker.pop_orders.items())

    first, second = pops[GROUP, "orders", 0], pops[GROUP, "orders", 3]
    assert (first.offsets, first.acknowledged) == ([5, 6, 9], {6})
    assert (first.attempt_id, second.attempt_id) == ("at2", None)
    assert first.visible_at == {9: 1700000099999}
    assert second.visible_time() == 1700000060000
    assert encode_pop_orders(home.broker).decode() == JAVA.replace(',"o":[7],', ',"o":[7],"oc":{},')


def test_queue_stays_blocked_over_a_restart_until_acknowledged(home: BrokerWithFolder) -> None:
    client = home.connect()
    for number in range(4):
        client.send(body=b"%d" % number)
    first, second = Popper(home, client).pop(order=True, count=2)

    home = home.restart(after=1_000)
    popper = Popper(home, home.connect())

    assert popper.pop(order=True) == []
    assert popper.settle(Code.ACK_MESSAGE, first).code == 0
    assert popper.pop(order=True) == []
    assert popper.settle(Code.ACK_MESSAGE, second).code == 0
    assert [message.body for message in popper.pop(order=True)] == [b"2", b"3"]


def test_pop_after_a_restart_waits_and_counts_deliveries(home: BrokerWithFolder) -> None:
    home.connect().send()
    Popper(home, home.connect()).pop(order=True, invisible=10_000)
    home = home.restart(after=1_000)
    popper = Popper(home, home.connect())

    number = popper.ask(order=True, poll=20_000)
    home.pass_time(8_999)
    assert popper.client.answer_to(number) is None
    home.pass_time(1)
    answer = popper.client.answer_to(number)

    assert answer is not None
    assert len(read_popped(answer, order=True)) == 1
    assert (answer.ext_fields or {})["orderCountInfo"] == "0 qo0%0 1;0 0 1"


def test_nothing_waits_for_messages_that_are_visible_at_the_start(home: BrokerWithFolder) -> None:
    home.connect().send()
    Popper(home, home.connect()).pop(order=True, invisible=1_000)

    home = home.restart(after=2_000)

    assert len(Popper(home, home.connect()).pop(order=True)) == 1


def test_pops_of_deleted_topics_groups_and_queues_are_not_written(home: BrokerWithFolder) -> None:
    orders = home.broker.pop_orders
    home.broker.groups.find_or_create(GROUP, home.now)
    for queue in ((GROUP, "gone", 0), ("gone", "orders", 0), (GROUP, "orders", 4)):
        orders.record_pop(queue, [0], 1, 1, None)

    assert b'"table":{}' in encode_pop_orders(home.broker)


@pytest.mark.parametrize(
    "table",
    [
        None,
        {"orders": {"0": {"popTime": 1, "i": 1, "o": [1]}}},
        {"orders@g": []},
        {"orders@g": {"x": {"popTime": 1, "i": 1, "o": [1]}}},
        {"orders@g": {"-1": {"popTime": 1, "i": 1, "o": [1]}}},
        {"orders@g": {"0": {"popTime": 1, "i": 1, "o": []}}},
        {"orders@g": {"0": {"popTime": 1, "i": 1, "o": "1"}}},
        {"orders@g": {"0": {"popTime": 1, "i": 1, "o": [1, "x"]}}},
        {"orders@g": {"0": {"popTime": 1, "i": 1, "o": list(range(65))}}},
        {"orders@g": {"0": {"popTime": 1, "i": None, "o": [1]}}},
        {"orders@g": {"0": {"popTime": True, "i": 1, "o": [1]}}},
        {"orders@g": {"0": {"popTime": 1 << 63, "i": 1, "o": [1]}}},
        {"orders@g": {"0": None}},
    ],
)
def test_entries_that_java_does_not_write_are_left_out(table: Any) -> None:
    assert read_pop_orders(table) == {}


def test_odd_members_of_an_entry_are_left_out() -> None:
    members = {"popTime": 1, "i": 1, "o": [1], "cm": "x", "a": 7, "oc": {"1": "x", "2": 3}}

    pop = read_pop_orders({"orders@g": {"0": members}})["g", "orders", 0]

    assert (pop.acknowledged, pop.attempt_id, dict(pop.counts)) == (set(), None, {2: 3})


def test_the_last_bit_of_a_full_pop_makes_the_number_of_java_negative() -> None:
    members = {"popTime": 1, "i": 1, "o": [0, *range(1, 64)], "cm": -1 << 63}

    pop = read_pop_orders({"orders@g": {"0": members}})["g", "orders", 0]

    assert pop.acknowledged == {63}
