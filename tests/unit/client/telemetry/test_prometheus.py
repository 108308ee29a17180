"""The counters of ``PrometheusHook``, and the state of clients that it shows."""

import re
from pathlib import Path
from typing import Any

import pytest
import trio
from prometheus_client import CollectorRegistry, generate_latest

from rocketwire.client import (
    ConsumeConcurrentlyStatus,
    Message,
    PrometheusHook,
    PushConsumerConfig,
    open_lite_pull_consumer,
    open_push_consumer,
)
from rocketwire.client.telemetry.prometheus import read_again
from rocketwire.codes import RequestCode as Code
from rocketwire.codes import ResponseCode
from rocketwire.errors import SendFailedError
from rocketwire.testing import reply
from tests.support.fakes import consumer_fakes, producer_fakes
from tests.support.fakes.consumer_fakes import bring_messages, ignore, make_messages

GUIDE = Path(__file__).parents[4] / "docs" / "guide" / "observing-clients.md"


class Metrics:
    """A hook with a registry of its own."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.hook = PrometheusHook(self.registry)

    def value(self, name: str, **labels: str) -> float | None:
        return self.registry.get_sample_value(name, {"client_id": "1.1.1.1@i", **labels})


@pytest.fixture
def metrics() -> Metrics:
    return Metrics()


# ---------------------------------------------------------------------- sends


async def test_sends_are_counted_and_timed_by_their_result(metrics: Metrics) -> None:
    async with producer_fakes.world(client={"hooks": [metrics.hook]}, brokers=("a",)) as opened:
        await opened.producer.send(Message("T", b"x"))
        await opened.producer.send_batch([Message("T", b"x"), Message("T", b"y")])
        opened.a.on(Code.SEND_MESSAGE_V2, reply(code=ResponseCode.NO_PERMISSION))
        with pytest.raises(SendFailedError):
            await opened.producer.send(Message("T", b"x"))

    for status, sends, messages in (("success", 2, 3), ("failure", 1, 1)):
        labels = {"topic": "T", "invocation_status": status}
        assert metrics.value("rocketmq_send_cost_time_count", **labels) == sends
        assert metrics.value("rocketmq_send_cost_time_bucket", le="+Inf", **labels) == sends
        assert metrics.value("rocketmq_client_sent_messages_total", **labels) == messages
    assert metrics.value("rocketmq_client_send_retries_total", topic="T") == 2


async def test_the_buckets_are_those_of_java(metrics: Metrics, autojump_clock: object) -> None:
    async with producer_fakes.world(client={"hooks": [metrics.hook]}) as opened:
        await opened.producer.send(Message("T", b"x"))
    async with consumer_fakes.world(hooks=[metrics.hook]) as (network, client):
        bring_messages(network, make_messages())
        async with open_push_consumer(client, "g", {"orders": "*"}, ignore):
            await trio.sleep(1)
    text = generate_latest(metrics.registry).decode()
    bounds = {
        name: [
            float(line.split('le="')[1].split('"')[0])
            for line in text.splitlines()
            if line.startswith(f"{name}_bucket") and 'status="success"' in line
        ]
        for name in ("rocketmq_send_cost_time", "rocketmq_process_time")
    }
    sends, calls = "1 5 10 20 50 200 500 inf", "1 5 10 100 1000 10000 60000 inf"
    assert bounds == {
        "rocketmq_send_cost_time": [float(bound) for bound in sends.split()],
        "rocketmq_process_time": [float(bound) for bound in calls.split()],
    }


async def test_the_guide_has_all_metrics(metrics: Metrics, autojump_clock: object) -> None:
    async def later(*_: object) -> ConsumeConcurrentlyStatus:
        await trio.lowlevel.checkpoint()
        return ConsumeConcurrentlyStatus.RECONSUME_LATER

    async with producer_fakes.world(client={"hooks": [metrics.hook]}, brokers=("a",)) as opened:
        opened.a.on(Code.SEND_MESSAGE_V2, reply(code=ResponseCode.NO_PERMISSION))
        with pytest.raises(SendFailedError):
            await opened.producer.send(Message("T", b"x"))
    async with consumer_fakes.world(hooks=[metrics.hook]) as (network, client):
        bring_messages(network, make_messages())
        async with open_push_consumer(client, "g", {"orders": "*"}, later):
            await trio.sleep(1)
            network.peer(consumer_fakes.BROKER).on(
                Code.PULL_MESSAGE, consumer_fakes.refusal(ResponseCode.SYSTEM_ERROR)
            )
            await network.peer(consumer_fakes.BROKER).disconnect()
            await trio.sleep(5)
            families = list(metrics.registry.collect())
    actual = {
        family.name + ("_total" if family.type == "counter" else ""): (
            family.type,
            {label for sample in family.samples for label in sample.labels} - {"le"},
        )
        for family in families
    }
    page = GUIDE.read_text("utf-8").partition("## Prometheus")[2]
    rows = re.findall(r"^\| `(rocketmq_\w+)` \| (\w+) \| ([^|]+) \|", page, re.MULTILINE)
    documented = {
        name: (metric_type, set(re.findall(r"`(\w+)`", labels)))
        for name, metric_type, labels in rows
    }
    assert documented == actual


def test_a_registry_has_one_hook() -> None:
    registry = CollectorRegistry()
    PrometheusHook(registry)
    with pytest.raises(ValueError, match="Duplicated timeseries"):
        PrometheusHook(registry)


async def test_the_state_of_a_client_is_shown_until_it_closes(metrics: Metrics) -> None:
    async with producer_fakes.world(client={"hooks": [metrics.hook]}, brokers=("a",)) as opened:
        await opened.producer.send(Message("T", b"x"))
        text = await trio.to_thread.run_sync(generate_latest, metrics.registry)
        assert b'rocketmq_client_connections{client_id="1.1.1.1@i"} 2.0' in text
        assert metrics.value("rocketmq_client_requests_in_flight") == 0
    assert metrics.value("rocketmq_client_connections") is None
    assert (
        metrics.value("rocketmq_send_cost_time_count", topic="T", invocation_status="success") == 1
    )


# ---------------------------------------------------------------------- consumers


GROUP = {"topic": "orders", "consumer_group": "g"}


async def test_handled_messages_are_counted(metrics: Metrics, autojump_clock: object) -> None:
    async def first_only(_: object, context: Any) -> ConsumeConcurrentlyStatus:
        await trio.lowlevel.checkpoint()
        context.ack_index = 0
        return ConsumeConcurrentlyStatus.CONSUME_SUCCESS

    config = PushConsumerConfig(consume_message_batch_max_size=3)
    async with consumer_fakes.world(hooks=[metrics.hook]) as (network, client):
        bring_messages(network, make_messages(3))
        async with open_push_consumer(client, "g", {"orders": "*"}, first_only, config=config):
            await trio.sleep(1)
    for status, calls, messages in (("success", 0, 1), ("failure", 1, 2)):
        labels = {**GROUP, "invocation_status": status}
        assert metrics.value("rocketmq_process_time_count", **labels) == calls
        assert metrics.value("rocketmq_client_consumed_messages_total", **labels) == messages
    assert metrics.value("rocketmq_client_received_messages_total", **GROUP, operation="pull") == 3
    settled = {**GROUP, "operation": "send_back", "invocation_status": "success"}
    assert metrics.value("rocketmq_client_settled_messages_total", **settled) == 2


CACHED, BYTES = "rocketmq_consumer_cached_messages", "rocketmq_consumer_cached_bytes"
LAG = "rocketmq_client_consumer_lag_messages"


@pytest.mark.parametrize("flavour", ["concurrent", "pop"])
async def test_the_backlog_of_a_consumer_is_shown(autojump_clock: object, flavour: str) -> None:
    metrics, release = Metrics(), trio.Event()

    async def wait(*_: object) -> None:
        await release.wait()

    is_pop = flavour == "pop"
    async with consumer_fakes.world(hooks=[metrics.hook]) as (network, client):
        bring_messages(network, make_messages(3, body=b"12345"), end=10)
        async with consumer_fakes.consumer(flavour, client, handler=wait):
            await trio.sleep(1)
            assert metrics.value(CACHED, **GROUP) == 3
            assert metrics.value(BYTES, **GROUP) == (None if is_pop else 15)
            assert metrics.value(LAG, **GROUP) == (None if is_pop else 10)
            release.set()
            await trio.sleep(1)
            assert metrics.value(CACHED, **GROUP) == 0
            assert metrics.value(LAG, **GROUP) == (None if is_pop else 7)
        assert metrics.value(CACHED, **GROUP) is None
    settled = {**GROUP, "operation": "ack", "invocation_status": "success"}
    if is_pop:
        assert metrics.value("rocketmq_client_settled_messages_total", **settled) == 3


async def test_the_backlog_of_lite_pulls_is_shown(metrics: Metrics, autojump_clock: object) -> None:
    async with consumer_fakes.world(hooks=[metrics.hook]) as (network, client):
        bring_messages(network, make_messages(3), end=3)
        async with open_lite_pull_consumer(client, "g") as consumer:
            consumer.subscribe("orders")
            await trio.sleep(5)
            assert metrics.value(CACHED, **GROUP) == 3
            assert metrics.value(LAG, **GROUP) == 3
            assert await consumer.poll() is not None
            assert metrics.value(CACHED, **GROUP) == 0
            assert metrics.value(LAG, **GROUP) == 0
    assert metrics.value("rocketmq_client_received_messages_total", **GROUP, operation="poll") == 3


async def test_failed_pulls_are_counted(metrics: Metrics, autojump_clock: object) -> None:
    async with consumer_fakes.world(hooks=[metrics.hook]) as (network, client):
        network.peer(consumer_fakes.BROKER).on(
            Code.PULL_MESSAGE, consumer_fakes.refusal(ResponseCode.SYSTEM_ERROR)
        )
        async with consumer_fakes.consumer("concurrent", client):
            await trio.sleep(1.5)
    errors = metrics.value("rocketmq_client_receive_errors_total", **GROUP, operation="pull")
    assert errors is not None
    assert errors >= 2


async def test_names_have_no_namespace(metrics: Metrics, autojump_clock: object) -> None:
    async with (
        consumer_fakes.world(hooks=[metrics.hook], namespace="n") as (_, client),
        consumer_fakes.consumer("pop", client),
    ):
        await trio.sleep(1)
        assert metrics.value(CACHED, **GROUP) == 0


@pytest.mark.parametrize(("failures", "is_read"), [(0, True), (4, True), (5, False)])
def test_tables_that_change_meanwhile_are_read_again(failures: int, is_read: bool) -> None:
    calls = 0

    def read() -> int:
        nonlocal calls
        calls += 1
        if calls <= failures:
            raise RuntimeError("dictionary changed size during iteration")
        return 7

    if is_read:
        assert read_again(read) == 7
    else:
        with pytest.raises(RuntimeError):
            read_again(read)
