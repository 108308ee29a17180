"""``PrometheusHook``: metrics of clients in the form that Prometheus reads (extra ``observe``).

Metrics of Java's client have its names, labels and buckets, in milliseconds; others begin with
``rocketmq_client_``. Labels are names of topics and groups that the application uses.

Java: ``org.apache.rocketmq.client.java.metrics`` (``HistogramEnum``, ``GaugeEnum``,
``MetricLabels``, ``InvocationStatus``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar, cast

from prometheus_client import REGISTRY, Counter, Histogram
from prometheus_client.metrics_core import GaugeMetricFamily
from prometheus_client.registry import Collector, CollectorRegistry

from rocketwire.client.consumer.member import GroupMember
from rocketwire.client.hooks import ClientHook
from rocketwire.policy.resource_names import without_namespace

if TYPE_CHECKING:
    from prometheus_client.metrics_core import Metric

    from rocketwire.client.hooks import (
        ConsumeMessageContext,
        HookedClient,
        ReceiveMessageContext,
        SendMessageContext,
        SettleMessageContext,
    )
    from rocketwire.client.instance.instance import ClientInstance

T = TypeVar("T")

SEND_BUCKETS: Final = (1, 5, 10, 20, 50, 200, 500)  # bounds in milliseconds of the buckets of sends
# Bounds in milliseconds of the buckets of handler calls
PROCESS_BUCKETS: Final = (1, 5, 10, 100, 1000, 10_000, 60_000)
SUCCESS, FAILURE = "success", "failure"  # values of the label ``invocation_status``

_PRODUCER: Final = ("topic", "client_id")
_CONSUMER: Final = ("topic", "consumer_group", "client_id")
_STATUS: Final = "invocation_status"

_ATTEMPTS: Final = 5  # attempts to read tables that the client's thread may change meanwhile


class _Sends(NamedTuple):
    cost: Histogram
    messages: Counter


class _Calls(NamedTuple):
    succeeded: Histogram
    failed: Histogram
    successes: Counter
    failures: Counter


class PrometheusHook(ClientHook):
    """Counts what clients do; pass it in ``ClientConfig.hooks``.

    A registry has one hook, for any number of clients.
    """

    is_thread_safe = True  # the metrics are, and the same series is never created twice

    def __init__(self, registry: CollectorRegistry = REGISTRY) -> None:
        """Create the metrics in a registry.

        Raises:
            ValueError: the registry has them already.
        """

        def counter(name: str, text: str, *labels: str) -> Counter:
            return Counter(f"rocketmq_client_{name}", text, labels, registry=registry)

        own_result = "Messages of handler calls, by their own result."
        brought = "Messages that pulls, pops and polls brought."
        settled = "Messages that were acknowledged, hidden for longer, or sent back."
        of_operation = (*_CONSUMER, "operation")
        self._cost = Histogram(
            "rocketmq_send_cost_time",
            "Milliseconds of sends, retries included.",
            (*_PRODUCER, _STATUS),
            buckets=SEND_BUCKETS,
            registry=registry,
        )
        self._sent = counter(
            "sent_messages", "Messages of sends, each of a batch.", *_PRODUCER, _STATUS
        )
        self._retries = counter("send_retries", "Attempts of sends after the first.", *_PRODUCER)
        self._process_time = Histogram(
            "rocketmq_process_time",
            "Milliseconds of handler calls.",
            (*_CONSUMER, _STATUS),
            buckets=PROCESS_BUCKETS,
            registry=registry,
        )
        self._consumed = counter("consumed_messages", own_result, *_CONSUMER, _STATUS)
        self._received = counter("received_messages", brought, *of_operation)
        self._receive_errors = counter("receive_errors", "Failed pulls and pops.", *of_operation)
        self._settled = counter("settled_messages", settled, *of_operation, _STATUS)
        self._sends: dict[tuple[str, str, str], _Sends] = {}
        self._calls: dict[tuple[str, str, str], _Calls] = {}
        self._clients = _Clients()
        registry.register(self._clients)

    def client_started(self, client: HookedClient) -> None:
        self._clients.add(cast("ClientInstance", client))

    def client_closed(self, client: HookedClient) -> None:
        self._clients.remove(cast("ClientInstance", client))

    def send_message_before(self, context: SendMessageContext) -> object:
        return perf_counter()

    def send_message_after(self, context: SendMessageContext, state: object) -> None:
        milliseconds = 1000 * (perf_counter() - cast("float", state))
        messages = context.messages
        status = SUCCESS if context.exception is None else FAILURE
        key = (messages[0].topic, context.client.client_id, status)
        sends = self._sends.get(key)
        if sends is None:
            sends = self._sends[key] = _Sends(self._cost.labels(*key), self._sent.labels(*key))
        sends.cost.observe(milliseconds)
        sends.messages.inc(len(messages))

    def send_message_retry(self, client: HookedClient, topic: str, broker_name: str) -> None:
        self._retries.labels(topic, client.client_id).inc()

    def consume_message_before(self, context: ConsumeMessageContext) -> object:
        return perf_counter()

    def consume_message_after(self, context: ConsumeMessageContext, state: object) -> None:
        seconds = context.seconds
        milliseconds = 1000 * (
            perf_counter() - cast("float", state) if seconds is None else seconds
        )
        messages, successes = context.messages, context.successes
        key = (messages[0].topic, context.consumer_group, context.client.client_id)
        calls = self._calls.get(key)
        if calls is None:
            labels = _labels(context.client, key[0], key[1])
            calls = self._calls[key] = _Calls(
                self._process_time.labels(*labels, SUCCESS),
                self._process_time.labels(*labels, FAILURE),
                self._consumed.labels(*labels, SUCCESS),
                self._consumed.labels(*labels, FAILURE),
            )
        if successes == len(messages):
            calls.succeeded.observe(milliseconds)
            calls.successes.inc(successes)
        else:
            calls.failed.observe(milliseconds)
            calls.successes.inc(successes)
            calls.failures.inc(len(messages) - successes)

    def receive_message_after(self, context: ReceiveMessageContext) -> None:
        labels = _labels(context.client, context.topic, context.consumer_group)
        if context.exception is not None:
            self._receive_errors.labels(*labels, context.operation).inc()
        else:
            self._received.labels(*labels, context.operation).inc(len(context.messages))

    def settle_message_after(self, context: SettleMessageContext) -> None:
        labels = _labels(context.client, context.topic, context.consumer_group)
        status = SUCCESS if context.exception is None else FAILURE
        self._settled.labels(*labels, context.operation, status).inc(len(context.messages))


class _Clients(Collector):
    # the state of the open clients, read when Prometheus asks, in the thread that serves it

    def __init__(self) -> None:
        self._clients: list[ClientInstance] = []

    def add(self, client: ClientInstance) -> None:
        self._clients = [*self._clients, client]

    def remove(self, client: ClientInstance) -> None:
        self._clients = [each for each in self._clients if each is not client]

    def describe(self) -> list[GaugeMetricFamily]:
        return [GaugeMetricFamily(name, text, labels=labels) for name, labels, text in _GAUGES]

    def collect(self) -> Iterator[Metric]:
        connections, in_flight, cached, cached_bytes, lag = families = self.describe()
        for client in self._clients:
            pool = client.pool
            addresses = read_again(partial(getattr, pool, "addresses"))
            requests = read_again(partial(getattr, pool, "in_flight"))
            connections.add_metric([client.client_id], len(addresses))
            in_flight.add_metric([client.client_id], requests)
            for consumer in list(client.consumers.values()):
                if not isinstance(consumer, GroupMember):
                    continue
                for topic, held in read_again(consumer.cached_messages).items():
                    labels = _labels(client, topic, consumer.group)
                    cached.add_metric(labels, held.messages)
                    if held.size is not None:
                        cached_bytes.add_metric(labels, held.size)
                    if held.lag is not None:
                        lag.add_metric(labels, held.lag)
        yield from families


_CLIENT: Final = ("client_id",)
_GAUGES: Final = (
    ("rocketmq_client_connections", _CLIENT, "Open connections of the client's pool."),
    (
        "rocketmq_client_requests_in_flight",
        _CLIENT,
        "Requests without a response so far, waiting pulls and pops included.",
    ),
    (
        "rocketmq_consumer_cached_messages",
        _CONSUMER,
        "Messages that a consumer holds and has not finished.",
    ),
    (
        "rocketmq_consumer_cached_bytes",
        _CONSUMER,
        "Bytes of the bodies of these messages; not of pop consumers.",
    ),
    (
        "rocketmq_client_consumer_lag_messages",
        _CONSUMER,
        "Messages behind the end of the assigned queues at their last pull; not of pop consumers.",
    ),
)


def _labels(client: HookedClient, topic: str, group: str) -> tuple[str, str, str]:
    namespace = client.config.namespace
    if namespace:
        topic, group = without_namespace(topic, namespace), without_namespace(group, namespace)
    return topic, group, client.client_id


def read_again(read: Callable[[], T]) -> T:
    # another thread may change the table meanwhile
    for _ in range(_ATTEMPTS - 1):
        try:
            return read()
        except RuntimeError:  # dictionary changed size during iteration
            continue
    return read()
