"""Invalid arguments are refused by the called function, in one line; clients need trio."""

# Arguments are invalid on purpose.
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false
# pyright: reportUnknownLambdaType=false, reportArgumentType=false

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from rocketwire.client import (
    BrokerIdentity,
    ClientConfig,
    Credentials,
    LitePullConsumerConfig,
    Message,
    PopConsumerConfig,
    ProducerConfig,
    PushConsumerConfig,
    open_client,
    open_lite_pull_consumer,
    open_pool,
    open_pop_consumer,
    open_producer,
    open_push_consumer,
    open_registration,
)
from rocketwire.client.admin import open_admin
from rocketwire.client.consumer.config import parse_subscriptions
from rocketwire.errors import (
    IllegalMessageError,
    IllegalTypeError,
    IllegalValueError,
    LocalProtocolError,
    NotInTrioError,
)
from rocketwire.messages.enums import MessageModel
from rocketwire.policy.process_queue import Thresholds
from tests.support.fakes import producer_fakes
from tests.support.fakes.consumer_fakes import ignore, world
from tests.support.tables import cases


def as_any(function: object) -> Any:
    """A class or function as programs call it that no type checker reads."""
    return function


# ---------------------------------------------------------------------- messages


@pytest.mark.parametrize(
    ("part", "value", "text"),
    [
        ("body", "text", "body: expected bytes, for example text.encode(), got 'text' (str)"),
        ("body", None, "Message.body: expected bytes, got None"),
        ("body", 5, "got 5 (int)"),
        ("topic", None, "Message.topic: expected a text (str), got None"),
        ("topic", b"orders", "use topic.decode()"),
        ("tags", b"new", "Message.tags: expected a text (str); use tags.decode()"),
        ("tags", ["a"], "got ['a'] (list)"),
        ("keys", 5, "Message.keys: expected a text or a sequence of texts, got 5 (int)"),
        ("keys", b"k", "Message.keys: "),
        ("keys", ["a", 5], "Message.keys[1]: expected a text (str), got 5 (int)"),
        ("properties", {"a": 1}, "Message.properties['a']: expected a text (str), got 1 (int)"),
        ("properties", {1: "a"}, "Message.properties: expected names that are texts"),
        ("properties", [("a", "b")], "Message.properties: expected a mapping"),
        ("properties", {"a": None}, "got None"),
        ("flag", True, "Message.flag: expected a whole number (int), got True (bool)"),
        ("flag", "1", "Message.flag: "),
        ("wait_store_msg_ok", 1, "Message.wait_store_msg_ok: expected True or False"),
        ("delay_level", True, "Message.delay_level: "),
        ("delay_seconds", 1.5, "Message.delay_seconds: "),
        ("delay_millis", "1", "Message.delay_millis: "),
        ("deliver_millis", False, "Message.deliver_millis: "),
        ("sharding_key", 1, "Message.sharding_key: "),
        ("body", "x" * 1000, "..."),
    ],
)
def test_a_part_of_a_message_of_the_wrong_type_is_refused(part: str, value: Any, text: str) -> None:
    with pytest.raises(TypeError) as caught:
        Message(**{"topic": "orders", "body": b"x", part: value})
    assert text in str(caught.value)
    assert isinstance(caught.value, (IllegalMessageError, IllegalTypeError))
    assert len(str(caught.value)) < 200


@pytest.mark.parametrize(
    "delays",
    [
        {"delay_level": 3, "delay_seconds": 8},
        {"delay_seconds": 0, "deliver_millis": 1},
        {"delay_seconds": 1, "delay_millis": 1},
    ],
)
def test_a_message_with_two_delays_is_refused(delays: dict[str, Any]) -> None:
    with pytest.raises(IllegalMessageError, match=f"one delay, not both {' and '.join(delays)}"):
        Message("orders", b"x", **delays)


def test_equivalent_types_are_accepted() -> None:
    class Text(str):
        __slots__ = ()

    message = Message(
        Text("orders"), bytearray(b"x"), keys=("a", "b"), properties=dict.fromkeys(["p"], Text("q"))
    )
    assert message.body == b"x"
    assert type(message.body) is bytes
    assert Message("o", memoryview(b"xy"), delay_seconds=3, sharding_key="k").body == b"xy"
    assert Message("o", b"x", keys="a").joined_keys == "a"
    assert Message("o", b"x", keys=["a"], properties={"a": "b"}).joined_keys == "a"
    assert as_any(Message)("o", b"x", keys=frozenset("a"), properties=None, flag=2).flag == 2


async def test_every_send_refuses_other_types_than_messages() -> None:
    async with producer_fakes.world() as it:
        wrong: Any = "text"
        for send in (
            it.producer.send,
            it.producer.send_oneway,
            it.producer.request,
            lambda value: it.producer.send_batch([value]),
            lambda value: it.producer.send_ordered(value, "k"),
            lambda value: it.producer.send_by(value, lambda queues: queues[0]),
            lambda value: it.producer.send_in_transaction(value, lambda *_: None),
            lambda value: it.producer.send_to(value, value),
        ):
            with pytest.raises(IllegalTypeError, match="message: expected a Message, got 'text'"):
                await send(wrong)


# ---------------------------------------------------------------------- settings


@pytest.mark.parametrize(
    ("settings", "cls"),
    cases(
        (ClientConfig, {"namesrv_addr": 9876}, {"namesrv_addr": b"a:1"}),
        (ClientConfig, {"namesrv_addr": ["a:1", 5]}, {"credentials": ("a", "b")}, {"tls": True}),
        (ClientConfig, {"instance_name": None}, {"unit_mode": "true"}, {"version": True}),
        (ClientConfig, {"connect_timeout": "3"}, {"connect_timeout": True}),
        (ClientConfig, {"serialize_type": "JSON"}),
        (Credentials, {"access_key": "a", "secret_key": None}),
        (Credentials, {"access_key": "a", "secret_key": "b", "security_token": 5}),
        (ProducerConfig, {"send_msg_timeout": None}, {"max_message_size": 1e6}),
        (ProducerConfig, {"retry_response_codes": [1]}, {"retry_response_codes": frozenset("1")}),
        (ProducerConfig, {"compress_type": "ZSTD"}),
        (PushConsumerConfig, {"message_model": "CLUSTERING"}, {"consume_from_where": "first"}),
        (PushConsumerConfig, {"thresholds": 1000}, {"consume_thread_max": False}),
        (PushConsumerConfig, {"allocate_message_queue_strategy": Thresholds}),
        (PushConsumerConfig, {"local_offset_store_dir": 5}, {"enable_trace": "yes"}),
        (PushConsumerConfig, {"trace_topic": 5}),
        (LitePullConsumerConfig, {"auto_commit": 1}),
        (PopConsumerConfig, {"init_mode": 0}, {"enable_trace": "yes"}, {"trace_topic": 5}),
    ),
)
def test_a_setting_of_the_wrong_type_is_refused(settings: Any, cls: type[Any]) -> None:
    with pytest.raises(IllegalTypeError, match=r"^\w+\.\w+: expected .*, got .+") as caught:
        cls(**settings)
    assert "\n" not in str(caught.value)


def test_a_secret_is_not_shown() -> None:
    with pytest.raises(IllegalTypeError) as caught:
        as_any(Credentials)("a", 12345)
    assert "12345" not in str(caught.value)


@pytest.mark.parametrize(
    ("settings", "cls"),
    cases(
        (ClientConfig, {"connect_timeout": -1}, {"connect_timeout": 0}),
        (ClientConfig, {"mq_client_api_timeout": float("nan")}, {"channel_idle_timeout": -1}),
        (ClientConfig, {"heartbeat_broker_interval": 0}, {"version": -1}),
        (ProducerConfig, {"send_msg_timeout": -3}, {"retry_times_when_send_failed": -1}),
        (ProducerConfig, {"max_message_size": 0}, {"default_topic_queue_nums": 0}),
        (PushConsumerConfig, {"consume_thread_max": 0}, {"consume_message_batch_max_size": -1}),
        (PushConsumerConfig, {"pull_batch_size": 0}, {"pull_interval": -1}),
        (PushConsumerConfig, {"max_reconsume_times": -2}, {"thresholds": Thresholds(count=-1)}),
        (PushConsumerConfig, {"thresholds": Thresholds(span=0)}),
        (LitePullConsumerConfig, {"pull_batch_size": -10}, {"rebalance_interval": 0}),
        (PopConsumerConfig, {"pop_invisible_time": 4}, {"pop_invisible_time": 301}),
        (PopConsumerConfig, {"pop_batch_nums": 33}, {"consume_thread_max": 0}),
    ),
)
def test_a_setting_out_of_bounds_is_refused(settings: Any, cls: type[Any]) -> None:
    with pytest.raises(IllegalValueError, match=r"^\w+\.\w+: expected a number .*, got .+"):
        cls(**settings)


# ---------------------------------------------------------------------- subscriptions


@pytest.mark.parametrize(
    ("subscriptions", "text"),
    [
        ("orders", """for example {"orders": "*"}, got 'orders' (str)"""),
        (["orders"], """for example {"orders": "*"}, got ['orders'] (list)"""),
        (None, "got None"),
        ({None: "*"}, "subscriptions: topic: expected a text (str), got None"),
        ({"orders": ["a", "b"]}, """subscriptions['orders']: expected tags as "a || b\""""),
        ({"orders": b"a"}, "subscriptions['orders']: "),
        ({"orders": ("a > 5", 1)}, "subscriptions['orders']: "),
        ({"orders": ("a", "b", "c")}, "subscriptions['orders']: "),
    ],
)
async def test_invalid_subscriptions_cause_an_example(subscriptions: Any, text: str) -> None:
    async with world() as (_, client):
        for opened in (
            open_push_consumer(client, "g", subscriptions),
            open_pop_consumer(client, "g", subscriptions, ignore),
        ):
            with pytest.raises(IllegalTypeError) as caught:
                async with opened:
                    pass
            assert text in str(caught.value)


def test_none_and_expressions_are_subscriptions() -> None:
    subscriptions: Any = {"a": None, "b": "x || y", "c": ("a > 5", "SQL92")}
    assert parse_subscriptions(subscriptions) == [
        ("a", None, None),
        ("b", "x || y", None),
        ("c", "a > 5", "SQL92"),
    ]


async def test_subscriptions_groups_and_configs_are_checked(autojump_clock: object) -> None:
    wrong: Any = None
    async with world() as (_, client):
        async with open_push_consumer(client, "g", {}) as push:
            subscribe: Any = push.subscribe
            for arguments in ((None,), (["orders"],), ("orders", 5), ("orders", b"a")):
                with pytest.raises(IllegalTypeError):
                    subscribe(*arguments)
        async with open_lite_pull_consumer(client, "g") as lite:
            with pytest.raises(IllegalTypeError):
                lite.subscribe(wrong)
            with pytest.raises(LocalProtocolError):
                lite.subscribe("no such name!")
        for opened in (
            open_push_consumer(client, wrong, {}),
            open_lite_pull_consumer(client, wrong),
            open_pop_consumer(client, wrong, {}, ignore),
            open_producer(client, wrong),
            as_any(open_push_consumer)(client, "g", {}, config=ProducerConfig()),
            as_any(open_lite_pull_consumer)(client, "g", config=PushConsumerConfig()),
            as_any(open_pop_consumer)(client, "g", {}, ignore, config=PushConsumerConfig()),
            as_any(open_producer)(client, "g", ClientConfig()),
        ):  # fmt: skip
            with pytest.raises(IllegalTypeError):
                async with opened:
                    pass


# ---------------------------------------------------------------------- clients


NOWHERE = "127.0.0.1:1"


OPENERS: dict[str, Callable[[Any], Any]] = {
    "client": open_client,
    "producer": lambda client: open_producer(client, "g"),
    "push": lambda client: open_push_consumer(client, "g", {"orders": "*"}, ignore),
    "broadcast": lambda client: open_push_consumer(
        client, "g", {}, config=PushConsumerConfig(message_model=MessageModel.BROADCASTING)
    ),
    "lite": lambda client: open_lite_pull_consumer(client, "g"),
    "pop": lambda client: open_pop_consumer(client, "g", {"orders": "*"}, ignore),
    "admin": open_admin,
    "registration": lambda client: open_registration(
        BrokerIdentity(cluster_name="c", broker_name="b", broker_addr=NOWHERE), (), client
    ),
}


@pytest.mark.parametrize("opener", OPENERS)
@pytest.mark.parametrize("client", [NOWHERE, ClientConfig(namesrv_addr=NOWHERE)])
async def test_everything_is_opened_with_settings_or_addresses(
    autojump_clock: object, opener: str, client: object
) -> None:
    async with OPENERS[opener](client) as opened:
        assert opened is not None


@pytest.mark.parametrize("opener", [*OPENERS])
@pytest.mark.parametrize("client", [None, 9876, b"a:1", ["a:1"]])
async def test_other_types_than_clients_are_refused(opener: str, client: object) -> None:
    with pytest.raises(
        IllegalTypeError, match=r"(client|config): expected .*'host:port;host:port'"
    ):
        async with OPENERS[opener](client):
            pass


async def test_a_client_that_was_given_stays_open() -> None:
    async with world() as (_, client):
        async with open_producer(client, "p"), open_lite_pull_consumer(client, "g"):
            assert client.consumers.keys() == {"g"}
        await client.route("orders")


# ---------------------------------------------------------------------- outside of trio

TEXT = r"rocketwire\.client needs trio: call it from trio\.run\(\.\.\.\)"


@pytest.mark.parametrize("opener", [*OPENERS, "pool"])
def test_opening_outside_of_trio_is_refused(opener: str) -> None:
    openers = dict(OPENERS)
    openers["pool"] = lambda address: open_pool(ClientConfig(namesrv_addr=address))
    opened = openers[opener]

    async def enter() -> None:
        async with opened(NOWHERE):
            pass

    with pytest.raises(NotInTrioError, match=TEXT) as caught:
        asyncio.run(enter())
    assert isinstance(caught.value, RuntimeError)
    with pytest.raises(NotInTrioError, match=TEXT):
        enter().send(None)
