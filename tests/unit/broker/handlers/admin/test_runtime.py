"""Settings and figures of the broker (broker.md 16)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from rocketwire.messages import decode_body
from rocketwire.messages.brokers import BrokerStatsData
from rocketwire.messages.config_text import read_config
from rocketwire.messages.kvconfig import KVTable

if TYPE_CHECKING:
    from tests.support.broker import BrokerAtHand, Client


def test_settings_are_shown_with_a_version(client: Client) -> None:
    answer = client.call(26)

    values = read_config(answer.body or b"")

    assert values["brokerName"] == "broker-a"
    assert values["brokerRole"] == "ASYNC_MASTER"
    assert "timestamp" in (answer.ext_fields or {})["version"]


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"transactionTimeOut=2000\nunknown=1\nbrokerName=other\n", 0),
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


def test_figures_have_the_keys_that_mqadmin_reads(client: Client) -> None:
    client.send()
    client.pulled()
    body = decode_body(KVTable, client.call(28).body or b"")

    assert body is not None
    table = dict(body.table or {})
    assert table["getTransferedTps"] == table["getTransferredTps"]
    assert len(table["putTps"].split()) == 3
    assert (table["msgPutTotalTodayNow"], table["msgGetTotalTodayNow"]) == ("1", "1")
    assert table["runtime"].startswith("[ 0 days, 0 hours, 0 minutes, ")
    assert {
        "brokerVersionDesc",
        "sendThreadPoolQueueSize",
        "pullThreadPoolQueueSize",
        "sendThreadPoolQueueHeadWaitTimeMills",
        "pullThreadPoolQueueHeadWaitTimeMills",
        "pageCacheLockTimeMills",
        "earliestMessageTimeStamp",
        "commitLogDiskRatio",
        "timerReadBehind",
        "timerOffsetBehind",
        "timerCongestNum",
        "timerEnqueueTps",
        "timerDequeueTps",
        "brokerActive",
        "consumeQueueDiskRatio",
        "putMessageAverageSize",
    } <= set(table)


def test_a_counter_is_shown_over_three_periods(client: Client) -> None:
    client.send()
    fields: dict[str, object] = {"statsName": "TOPIC_PUT_NUMS", "statsKey": "orders"}

    body = decode_body(BrokerStatsData, client.call(315, fields).body or b"")
    missing = client.call(315, {**fields, "statsKey": "missing"})

    assert body is not None
    assert body.stats_minute is not None
    assert body.stats_minute.sum == 1
    assert (missing.code, missing.remark) == (1, "The stats <TOPIC_PUT_NUMS> <missing> not exist")


@pytest.mark.parametrize(("code", "answer"), [(907, 0), (1007, 1)])
def test_a_broker_alone_has_no_replicas(client: Client, code: int, answer: int) -> None:
    assert client.call(code).code == answer
