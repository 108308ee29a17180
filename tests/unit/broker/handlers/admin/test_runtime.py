"""Settings and figures of the broker (broker.md 16)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from rocketwire.serving.tls.settings import KEYS as TLS_KEYS
from rocketwire_broker.config import FIXED, SETTINGS, write_settings
from tests.support.broker import BrokerAtHand

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.support.broker import Client


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"transactionTimeOut=2000\nunknown=1\nbrokerName=broker-a\n", 0),
        (b"transactionTimeOut=3000\nbrokerName=other\n", 16),
        (b"", 0),
        (b"configBlackList=x\n", 16),
        (b"transactionTimeOut=soon\n", 1),
    ],
)
def test_settings_are_changed(client: Client, home: BrokerAtHand, body: bytes, code: int) -> None:
    assert client.call(25, {}, body).code == code
    changed = home.broker.config.transaction_timeout_ms == 2000
    assert changed == body.startswith(b"transactionTimeOut=2000")
    assert home.broker.config.broker_name == "broker-a"


@pytest.mark.parametrize(("code", "answer"), [(907, 0), (1007, 1)])
def test_a_broker_alone_has_no_replicas(client: Client, code: int, answer: int) -> None:
    assert client.call(code).code == answer


def other(text: str) -> str:
    """Another value of a setting."""
    if text in {"true", "false"}:
        return "false" if text == "true" else "true"
    return str(int(text) + 1) if text.isdecimal() else f"{text} 1s"


@pytest.mark.parametrize(
    "name", [*(name for name in SETTINGS if SETTINGS[name].is_fixed), *FIXED, *sorted(TLS_KEYS)]
)
def test_what_a_running_broker_cannot_change_is_refused(
    client: Client, home: BrokerAtHand, name: str
) -> None:
    before = write_settings(home.broker.config)
    value = other(before.get(name, ""))
    answer = client.call(25, {}, f"{name}={value}\nmaxMessageSize=7\n".encode())

    assert (answer.code, write_settings(home.broker.config)) == (16, before)


@pytest.mark.parametrize("name", [name for name in SETTINGS if not SETTINGS[name].is_fixed])
def test_what_is_accepted_is_shown_and_used_by_all_tables(
    client: Client, home: BrokerAtHand, name: str
) -> None:
    value = other(write_settings(home.broker.config)[name])
    broker = home.broker

    assert client.call(25, {}, f"{name}={value}\n".encode()).code == 0
    assert f"{name}={value}\n" in (client.call(26).body or b"").decode()
    assert broker.config is broker.groups.config is broker.topics.config is broker.members.config


def creates_group(home: BrokerAtHand, client: Client) -> bool:
    client.pull(0)
    return "readers" in home.broker.groups


def creates_topic(_: BrokerAtHand, client: Client) -> bool:
    return client.send("payments").code == 0


def keeps_messages(home: BrokerAtHand, client: Client) -> bool:
    client.send(body=bytes(500))
    client.send(body=bytes(500))
    home.pass_time(3_600_000)
    queue = home.broker.store.queue("orders", 0)
    return queue is not None and queue.max_offset - queue.min_offset == 2


@pytest.mark.parametrize(
    ("setting", "works"),
    [
        ("autoCreateSubscriptionGroup=false", creates_group),
        ("rocketwire.maxGroups=1", creates_group),
        ("autoCreateTopicEnable=false", creates_topic),
        ("rocketwire.maxTopics=1", creates_topic),
        ("retainBytes=600", keeps_messages),
        ("fileReservedTime=0.5", keeps_messages),
    ],
)
def test_a_setting_takes_effect_at_once(
    setting: str, works: Callable[[BrokerAtHand, Client], bool]
) -> None:
    before, after = BrokerAtHand(), BrokerAtHand()
    assert works(before, before.connect())

    client = after.connect()
    assert client.call(25, {}, f"{setting}\n".encode()).code == 0
    assert not works(after, client)


def test_topics_can_be_created_as_soon_as_it_is_allowed() -> None:
    home = BrokerAtHand(auto_create_topics=False)
    client = home.connect()

    assert not creates_topic(home, client)
    client.call(25, {}, b"autoCreateTopicEnable=true\n")
    assert creates_topic(home, client)


def test_names_without_effect_are_answered_by_name(client: Client) -> None:
    answer = client.call(25, {}, b"brokerFastFailureEnable=false\n")

    assert (answer.code, answer.remark) == (0, "no effect here: brokerFastFailureEnable")
