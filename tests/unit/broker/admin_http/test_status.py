"""The content of the status page: topics, groups and their lag, and messages that wait."""

import pytest

from rocketwire.codes import RequestCode
from rocketwire_broker.admin_http import status
from rocketwire_broker.admin_http.status import status_of
from tests.support.broker import BrokerAtHand, Client
from tests.unit.broker.groups import join_readers


@pytest.fixture
def client(home: BrokerAtHand) -> Client:
    client = home.connect()
    assert join_readers(client, "orders", client_id="client-1").code == 0
    return client


def commit(client: Client, offset: int, topic: str = "orders", queue: int = 0) -> None:
    fields: dict[str, object] = {"consumerGroup": "readers", "topic": topic, "queueId": queue}
    code = RequestCode.UPDATE_CONSUMER_OFFSET
    assert client.call(code, {**fields, "commitOffset": offset}).code == 0


def test_a_topic_has_its_queues_messages_and_readers(client: Client, home: BrokerAtHand) -> None:
    for queue in (0, 1, 1):
        client.send(queue=queue)

    (line,) = status_of(home.broker, home.now, "orders").topics

    assert (line.name, line.queues, line.perm) == ("orders", "4 4", "RW")
    assert (line.kept, line.stored, line.groups) == (3, 3, 1)


def test_group_counts_once_and_retry_topics_come_last(client: Client, home: BrokerAtHand) -> None:
    client.send(topic="%RETRY%readers")
    client.send()
    commit(client, 1)

    lines = status_of(home.broker, home.now).topics

    assert [(line.name, line.groups) for line in lines] == [("orders", 1), ("%RETRY%readers", 0)]


def test_a_group_has_members_and_a_lag(client: Client, home: BrokerAtHand) -> None:
    for queue in (0, 1, 1):
        client.send(queue=queue)
    commit(client, 1)

    (line,) = status_of(home.broker, home.now).groups

    assert (line.name, line.mode, line.member_count) == ("readers", "clustering", 1)
    assert line.members[0].client_id == "client-1"
    assert (line.lag, line.progress[0].consumed) == (2, 1)
    assert line.subscriptions["orders"] == "*"


def test_a_lag_is_never_negative(client: Client, home: BrokerAtHand) -> None:
    client.send()
    commit(client, 10)

    assert status_of(home.broker, home.now).groups[0].lag == 0


def test_retries_and_dead_letters_are_counted(client: Client, home: BrokerAtHand) -> None:
    client.send(topic="%RETRY%readers")
    commit(client, 0, "%RETRY%readers")
    client.send(topic="%RETRY%readers", j=17)

    (line,) = status_of(home.broker, home.now).groups

    assert (line.lag, line.retries, line.dead) == (1, 1, 1)


def test_messages_that_wait_are_counted_by_their_reason(home: BrokerAtHand, client: Client) -> None:
    client.send(properties={"DELAY": "2"})
    client.send(properties={"TIMER_DELAY_SEC": "10"})
    client.send(properties={"TRAN_MSG": "true", "PGROUP": "producers"}, f=4)
    client.pull(0, hold=1000)

    totals = status_of(home.broker, home.now).totals

    assert (totals.delayed, totals.timed, totals.transactions, totals.waiting) == (1, 1, 1, 1)


def test_the_systems_topics_and_groups_are_listed_when_asked_for(home: BrokerAtHand) -> None:
    assert status_of(home.broker, home.now).topics == ()
    status = status_of(home.broker, home.now, system=True)
    assert "TBW102" in {line.name for line in status.topics}
    assert "TOOLS_CONSUMER" in {line.name for line in status.groups}


def test_lists_are_bounded_and_say_how_many_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(status, "MAX_TOPICS", 2)
    home = BrokerAtHand()
    client = home.connect()
    for name in ("a1", "a2", "a3", "b"):
        client.send(topic=name)

    result = status_of(home.broker, home.now, "a")

    assert ([line.name for line in result.topics], result.topic_count) == (["a1", "a2"], 3)
