"""Popping, asking whether there is something to pop, acknowledging, and changing the time that messages are hidden (broker.md 13.2, 13.3, 13.5)."""

from rocketwire.codes import RequestCode as Code
from rocketwire.codes import ResponseCode
from rocketwire_broker.tables.topics import new_topic
from tests.support.broker import BrokerAtHand, Client, fields_of
from tests.support.broker_pops import GROUP, Popper


def test_pop_without_permission_or_timers_is_refused(home: BrokerAtHand, popper: Popper) -> None:
    home.broker.topics.put(new_topic("orders", 4, perm=2), home.now)
    without_timers = BrokerAtHand(orders=4, timer_enabled=False)

    assert popper.answer().code == ResponseCode.NO_PERMISSION
    popper = Popper(without_timers, without_timers.connect())
    assert popper.answer().code == ResponseCode.SYSTEM_ERROR


def test_pop_is_in_time_after_a_jump(home: BrokerAtHand, client: Client, popper: Popper) -> None:
    client.send()
    home.pass_time(3_600_000)
    home.broker.clock_advance = 3_600_000

    assert popper.answer(bornTime=home.now - 3_600_000).code == 0


def test_pop_hides_no_more_messages_than_the_limit() -> None:
    home = BrokerAtHand(orders=4, max_hidden_messages=40)
    client = home.connect()
    popper = Popper(home, client)
    for _ in range(64):
        client.send()

    assert len(popper.pop()) == 32
    assert popper.answer().code == ResponseCode.SYSTEM_BUSY
    assert client.pull_now(0).code == 0


def test_pop_continues_after_filtered_messages() -> None:
    home = BrokerAtHand(orders=1, max_filtered=10)
    client = home.connect()
    popper = Popper(home, client)
    for number in range(12):
        client.send(body=b"%d" % number, properties={"TAGS": "B" if number == 11 else "A"})

    answer = popper.answer(count=8, exp="B", expType="TAG", poll=10_000)
    assert answer.code == ResponseCode.POLLING_TIMEOUT
    assert [message.body for message in popper.pop(count=8, exp="B", expType="TAG")] == [b"11"]


def notify(home: BrokerAtHand, client: Client, poll: int, **changes: object) -> int:
    fields: dict[str, object] = {
        "consumerGroup": GROUP,
        "topic": "orders",
        "queueId": -1,
        "pollTime": poll,
        "bornTime": home.now,
    }
    return client.ask(Code.NOTIFICATION, {**fields, **changes})


def test_notification_knows_its_attempt(home: BrokerAtHand, client: Client, popper: Popper) -> None:
    client.send()
    popper.pop(order=True, attemptId="a")

    answers = [
        client.take_answer(notify(home, client, 0, order=True, attemptId=attempt))
        for attempt in ("a", "b")
    ]

    assert [fields_of(answer)["hasMsg"] for answer in answers] == ["true", "false"]


def test_waiting_pops_are_bounded_and_counted() -> None:
    home = BrokerAtHand(orders=4, max_polls=2)
    client = home.connect()
    popper = Popper(home, client)
    for _ in range(2):
        popper.ask(poll=5_000)

    refused = popper.answer(poll=5_000)
    count = client.call(
        Code.POLLING_INFO, {"consumerGroup": GROUP, "topic": "orders", "queueId": 0}
    )

    assert refused.code == ResponseCode.POLLING_FULL
    assert fields_of(count)["pollingNum"] == "2"


def send_three(client: Client) -> None:
    for number in range(3):
        client.send(body=b"%d" % number)


def read_offset(client: Client) -> str:
    answer = client.call(
        Code.QUERY_CONSUMER_OFFSET, {"consumerGroup": GROUP, "topic": "orders", "queueId": 0}
    )
    return fields_of(answer)["offset"]


def test_ack_of_old_handle_is_ignored(home: BrokerAtHand, client: Client, popper: Popper) -> None:
    send_three(client)
    old = popper.pop(order=True)[0]
    home.pass_time(10_000)
    popper.pop(order=True)

    answer = popper.settle(Code.ACK_MESSAGE, old)

    assert answer.code == 0
    assert read_offset(client) == "0"


def test_changed_time_in_order_blocks_the_queue(
    home: BrokerAtHand, client: Client, popper: Popper
) -> None:
    send_three(client)
    [first] = popper.pop(order=True, count=1)

    answer = popper.settle(Code.CHANGE_MESSAGE_INVISIBLETIME, first, invisibleTime=30_000)

    assert fields_of(answer)["reviveQid"] == "999"
    home.pass_time(29_999)
    assert popper.pop(order=True) == []
    home.pass_time(1)
    assert [message.body for message in popper.pop(order=True, count=1)] == [b"0"]
