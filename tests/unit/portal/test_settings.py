"""Settings as keywords, and their types for type checkers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any, assert_type

import pytest

from rocketwire import aio, sync
from rocketwire.client import (
    ClientConfig,
    LitePullConsumerConfig,
    Message,
    PopConsumerConfig,
    ProducerConfig,
    PushConsumerConfig,
    SendResult,
    TransactionSendResult,
)
from rocketwire.client.consumer.lite.lite_pull_consumer import Polled
from rocketwire.errors import IllegalTypeError, IllegalValueError
from rocketwire.messages.message_queue import MessageQueue
from rocketwire.messages.route import TopicRouteData
from rocketwire.portal import settings as typed_settings
from rocketwire.portal.loans import Batch
from rocketwire.portal.settings import (
    ProducerSettings,
    apply_client_settings,
    apply_settings,
    reopens,
)
from rocketwire.wire.message.stored import StoredMessage


def test_settings_go_to_the_client_or_to_the_producer() -> None:
    client, config = apply_settings(
        "h:1", None, ProducerConfig, {"send_msg_timeout": 9.0, "namespace": "n"}
    )
    assert client == ClientConfig(namesrv_addr="h:1", namespace="n")
    assert config == ProducerConfig(send_msg_timeout=9.0)


def test_settings_change_a_config() -> None:
    base = ProducerConfig(compress_level=1)
    _, config = apply_settings("h:1", base, ProducerConfig, {"send_msg_timeout": 9.0})
    assert config == ProducerConfig(compress_level=1, send_msg_timeout=9.0)


def test_without_client_the_environment_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NAMESRV_ADDR", "e:9")
    assert apply_client_settings(None, {"unit_name": "u"}) == ClientConfig(
        namesrv_addr="e:9", unit_name="u"
    )


def test_wrong_settings_are_rejected() -> None:
    with pytest.raises(IllegalTypeError, match="nothing: there is no such setting"):
        apply_settings("h:1", None, ProducerConfig, {"nothing": 1})
    with pytest.raises(IllegalTypeError, match=r"name_servers: .*; did you mean namesrv_addr"):
        apply_settings("h:1", None, ProducerConfig, {"name_servers": 1})
    with pytest.raises(IllegalValueError):
        apply_settings("h:1", None, ProducerConfig, {"send_msg_timeout": 0})
    with pytest.raises(IllegalTypeError, match="because of namespace"):
        apply_client_settings(object(), {"namespace": "n"})


def test_a_client_reopens_if_its_settings_say_so() -> None:
    assert not reopens("h:1")
    assert reopens(ClientConfig(reopen_after_fork=True))


@pytest.mark.parametrize(
    ("typed", "configs"),
    [
        (typed_settings.ClientSettings, [ClientConfig]),
        (typed_settings.ProducerSettings, [ClientConfig, ProducerConfig]),
        (typed_settings.PushConsumerSettings, [ClientConfig, PushConsumerConfig]),
        (typed_settings.PopConsumerSettings, [ClientConfig, PopConsumerConfig]),
        (typed_settings.LitePullConsumerSettings, [ClientConfig, LitePullConsumerConfig]),
    ],
)
def test_type_checkers_know_every_setting(typed: type[Any], configs: list[type[Any]]) -> None:
    expected = {
        field.name: str(field.type) for config in reversed(configs) for field in fields(config)
    }
    actual = {
        name: reference.__forward_arg__
        for base in typed.__mro__ + tuple(getattr(typed, "__orig_bases__", ()))
        for name, reference in getattr(base, "__annotations__", {}).items()
    }

    assert actual == expected


def of_threads(
    producer: sync.Producer,
    consumer: sync.PushConsumer,
    poller: sync.LitePullConsumer,
    admin: sync.Admin,
    servers: sync.NameServers,
    message: Message,
    queue: MessageQueue,
) -> None:
    assert_type(producer.send(message), SendResult)
    assert_type(producer.send_to(message, queue, within=1.0), SendResult)
    assert_type(producer.send_many([message]), list[SendResult])
    assert_type(producer.queues("t"), tuple[MessageQueue, ...])
    assert_type(producer.request(message), StoredMessage)
    assert_type(consumer.poll(8, within=1.0), Batch | None)
    assert_type(next(iter(consumer)).message, StoredMessage)
    assert_type(next(consumer.batches(8)).messages, Sequence[StoredMessage])
    assert_type(poller.poll(1.0), Polled | None)
    assert_type(poller.committed(queue), int | None)
    assert_type(admin.topics.names(), tuple[str, ...])
    assert_type(servers.route("t"), TopicRouteData)


async def of_asyncio(
    producer: aio.Producer,
    consumer: aio.PushConsumer,
    poller: aio.LitePullConsumer,
    admin: aio.Admin,
    message: Message,
    queue: MessageQueue,
) -> None:
    assert_type(await producer.send(message), SendResult)
    assert_type(await producer.send_to(message, queue, within=1.0), SendResult)
    assert_type(
        await producer.send_in_transaction(message, lambda m, r: None), TransactionSendResult
    )
    async for delivery in consumer:
        assert_type(delivery.message, StoredMessage)
    async for batch in consumer.batches(8):
        assert_type(batch.messages, Sequence[StoredMessage])
    assert_type(await poller.poll(1.0), Polled | None)
    assert_type(await admin.topics.names(), tuple[str, ...])


def of_settings() -> None:
    assert_type(sync.open_producer(None, "g", send_msg_timeout=1.0), sync.Producer)
    sync.open_producer(None, "g", send_msg_timeout="x")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType] - invalid on purpose
    sync.open_producer(None, "g", nothing=1)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue] - invalid on purpose


def test_the_types_of_settings_are_loaded_at_run_time_too() -> None:
    assert "send_msg_timeout" in ProducerSettings.__annotations__
