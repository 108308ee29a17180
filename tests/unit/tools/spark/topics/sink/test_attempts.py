"""Attempts of a request."""

from types import SimpleNamespace
from typing import Any

import pytest
import trio

from rocketwire.client import ClientConfig
from rocketwire.codes import RequestCode
from rocketwire.errors import (
    BrokerError,
    RequestTimeoutError,
    SendFailedError,
    TopicRouteNotFoundError,
)
from rocketwire.messages.route import BrokerData, ClusterInfo, QueueData, TopicRouteData
from rocketwire_tools.spark.topics.connection import open_connection
from rocketwire_tools.spark.topics.sink.attempts import (
    NOTHING,
    Present,
    SinkError,
    absence_of,
    producer_config,
    with_retries,
)
from rocketwire_tools.spark.topics.sink.options import read_sink_options
from tests.unit.tools.spark.topics.sink.conftest import Rows


class Attempts:
    """A request that fails some times."""

    def __init__(self, *errors: Exception) -> None:
        self.errors = list(errors)
        self.times: list[float] = []

    async def __call__(self) -> str:
        self.times.append(trio.current_time())
        if self.errors:
            raise self.errors.pop(0)
        return "result"


def busy() -> BrokerError:
    return BrokerError(2, "busy", RequestCode.SEND_MESSAGE_V2, "b:1")


async def test_request_is_repeated_until_it_succeeds(autojump_clock: Any) -> None:
    request = Attempts(busy(), RequestTimeoutError("b:1", 310, 3.0))

    assert await with_retries(request, "a", 60) == "result"
    assert len(request.times) == 3


async def test_request_is_given_up_when_the_time_is_over(autojump_clock: Any) -> None:
    with pytest.raises(SinkError, match="after 3 seconds of retries: check the broker's load"):
        await with_retries(Attempts(*(busy() for _ in range(9))), "a", 5)


class Route:
    """A topic whose brokers are away for some attempts."""

    def __init__(self, *away: str) -> None:
        self.away = list(away)

    async def absence(self, topic: str) -> str:
        return self.away.pop(0) if len(self.away) > 1 else self.away[0]


async def test_missing_route_is_awaited_while_brokers_are_away(autojump_clock: Any) -> None:
    missing = TopicRouteNotFoundError("a")
    request = Attempts(missing, SendFailedError("a", ("b",)), missing)
    request.errors[1].__cause__ = missing

    assert await with_retries(request, "a", 60, Route("broker b").absence) == "result"


async def test_missing_route_is_given_up_when_the_time_is_over(autojump_clock: Any) -> None:
    request = Attempts(*[TopicRouteNotFoundError("a")] * 9)
    with pytest.raises(SinkError, match="after 3 seconds of retries; waited for broker b: see"):
        await with_retries(request, "a", 5, Route("broker b").absence)


def test_bodies_are_compressed_only_above_the_option() -> None:
    servers = {"nameServers": "a:1"}
    uncompressed = producer_config(read_sink_options(servers))
    compressing = producer_config(read_sink_options({**servers, "compressAbove": "4k"}))

    assert uncompressed.compress_msg_body_over_howmuch > 64 << 20
    assert compressing.compress_msg_body_over_howmuch == 4097


def absence(rows: Rows, topic: str, present: Present, **options: str) -> str:
    """Name the missing servers, as a task does."""

    async def ask() -> str:
        async with open_connection(rows.settings(**options).connection) as client:
            return await absence_of(client, topic, present)

    return trio.run(ask)


def test_route_of_the_planned_write_is_awaited(rows: Rows) -> None:
    topic = rows.cluster.topic()
    present = rows.plan(topic=topic)
    assert present.has_route

    text = absence(rows, "gone-since", present)

    assert text == "the route of the topic, which was there when the write was planned"
    assert absence(rows, "gone-since", NOTHING) == "a broker with the topic"


def test_broker_of_the_planned_write_is_awaited(rows: Rows) -> None:
    first = rows.cluster.broker
    second = rows.cluster.add_broker()
    present = rows.plan()
    second.stop()

    text = absence(rows, "of-its-own", present)

    name = second.state.config.broker_name
    assert text == f"broker {name}, which was registered when the write was planned"
    first.stop()
    assert absence(rows, "of-its-own", present).startswith("a broker: none is registered at name")


@pytest.mark.parametrize(
    ("perm", "text"), [(6, "a master of broker b"), (4, "")], ids=["no master", "read only"]
)
async def test_topic_with_a_route_and_without_writable_queues(perm: int, text: str) -> None:
    queues = QueueData(broker_name="b", perm=perm, read_queue_nums=4, write_queue_nums=4)
    names = SimpleNamespace(
        cluster_info=Answer(ClusterInfo(broker_addr_table={"b": BrokerData(broker_name="b")})),
        route=Answer(TopicRouteData(queue_datas=(queues,))),
    )
    config = ClientConfig(namesrv_addr="n:1")
    client: Any = SimpleNamespace(config=config, name_servers=names)

    assert await absence_of(client, "a", NOTHING) == text


class Answer:
    """A question that always has one answer."""

    def __init__(self, value: object) -> None:
        self._value = value

    async def __call__(self, *_: str) -> object:
        return self._value
