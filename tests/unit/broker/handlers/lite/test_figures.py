"""Lite topics for operators."""

from __future__ import annotations

from typing import Any, TypeVar

import pytest

from rocketwire.messages import decode_body
from rocketwire.messages.lite import (
    GetLiteGroupInfoResponseBody,
    GetLiteTopicInfoResponseBody,
)
from rocketwire.messages.message_queue import MessageQueue
from tests.support.broker import BrokerAtHand, Client
from tests.support.broker_lite import GROUP, PARENT, Reader, light, put_group, put_parent, send

T = TypeVar("T")


@pytest.fixture
def home() -> BrokerAtHand:
    home = BrokerAtHand()
    put_parent(home, minutes=30)
    put_group(home)
    return home


def ask(client: Client, cls: type[T], code: int, **fields: Any) -> T:
    """Ask, and return the typed body."""
    answer = client.call(code, fields)
    assert answer.code == 0, answer.remark
    body = decode_body(cls, answer.body)
    assert body is not None
    return body


def test_a_lite_topic_belongs_to_the_broker_of_its_queue(
    home: BrokerAtHand, client: Client
) -> None:
    routes = home.broker.routes
    routes.on_asked = lambda: None
    opaque = client.ask(200076, {"parentTopic": PARENT, "liteTopic": "a"})
    assert client.answer_to(opaque) is None

    routes.put(PARENT, [MessageQueue(topic=PARENT, broker_name="b", queue_id=0)], home.now)
    home.settle()

    answer = client.answer_to(opaque)
    assert answer is not None
    body = decode_body(GetLiteTopicInfoResponseBody, answer.body)
    assert body is not None
    assert (body.sharding_to_broker, body.subscriber) == (False, ())
    assert body.topic_offset is not None
    assert body.topic_offset.max_offset == 0


def test_the_lag_of_a_group(home: BrokerAtHand, client: Client, reader: Reader) -> None:
    send(client, "a", "1")
    send(client, "b", "1", "2")
    send(client, "c", "1")
    for name in ("a", "b", "unknown"):
        home.broker.offsets.commit(GROUP, light(name), 0, 0, home.now)
    home.broker.offsets.commit(GROUP, light("c"), 0, 1, home.now)
    home.broker.offsets.commit(GROUP, "orders", 0, 0, home.now)

    body = ask(client, GetLiteGroupInfoResponseBody, 200078, group=GROUP, topK=1)

    assert (body.parent_topic, body.total_lag_count) == (PARENT, 3)
    lags = body.lag_count_top_k or ()
    assert len(lags) == 1
    first = lags[0]
    expected = ("b", 2, home.now)
    assert (first.lite_topic, first.lag_count, first.earliest_unconsumed_timestamp) == expected
    assert (body.lag_timestamp_top_k, body.earliest_unconsumed_timestamp) == ((), -1)


@pytest.mark.parametrize(
    ("lite_topic", "offset", "lag", "wrapper"),
    [
        ("a", 1, 1, (2, 1)),
        ("a", 0, 2, (2, 0)),
        ("a", 2, 0, (2, 2)),
        ("a", None, 0, None),
        ("unknown", 0, -1, None),
    ],
)
def test_the_lag_in_a_lite_topic(
    home: BrokerAtHand,
    client: Client,
    lite_topic: str,
    offset: int | None,
    lag: int,
    wrapper: tuple[int, int] | None,
) -> None:
    send(client, "a", "1", "2")
    if offset is not None:
        home.broker.offsets.commit(GROUP, light(lite_topic), 0, offset, home.now)

    body = ask(
        client, GetLiteGroupInfoResponseBody, 200078, group=GROUP, liteTopic=lite_topic, topK=1
    )

    assert body.total_lag_count == lag
    offsets = body.lite_topic_offset_wrapper
    assert (
        None if offsets is None else (offsets.broker_offset, offsets.consumer_offset)
    ) == wrapper
    is_behind = wrapper is not None and wrapper[1] < wrapper[0]
    assert body.earliest_unconsumed_timestamp == (home.now if is_behind else -1)


@pytest.mark.parametrize(
    ("code", "fields", "expected"),
    [
        (200075, {"topic": "none"}, (17, "Topic [none] not exist.")),
        (200075, {"topic": "TBW102"}, (29, "Topic [TBW102] type not match.")),
        (200076, {"parentTopic": "none", "liteTopic": "a"}, (17, "Topic [none] not exist.")),
        (
            200077,
            {"parentTopic": PARENT, "group": "a b", "clientId": "c"},
            (26, "Group [a b] not exist."),
        ),
        (
            200077,
            {"parentTopic": PARENT, "group": "other", "clientId": "c"},
            (29, f"Subscription [other]-[{PARENT}] not match."),
        ),
        (200078, {"group": "other", "topK": 1}, (29, "Group [other] is not a LITE group.")),
        (200078, {"group": GROUP, "topK": 0}, (1, "java.lang.IllegalArgumentException")),
        (200079, {"group": "a b"}, (26, "Group [a b] not exist.")),
    ],
)
def test_requests_about_what_is_not_there_are_refused(
    client: Client, code: int, fields: dict[str, object], expected: tuple[int, str]
) -> None:
    answer = client.call(code, fields)

    assert (answer.code, answer.remark) == expected
