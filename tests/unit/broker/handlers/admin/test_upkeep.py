"""Upkeep, and limits for cold data; the answers are those of a Java broker of 5.5.0."""

from __future__ import annotations

import json

import pytest

from tests.support.broker import BrokerAtHand, Client


@pytest.fixture
def client() -> Client:
    return BrokerAtHand().connect()


def limits(client: Client) -> object:
    return json.loads(client.call(2003).body or b"")["configTable"]


def test_limits_for_cold_data_are_kept_and_shown(client: Client) -> None:
    assert (client.call(2003).body or b"").startswith(b'{"runtimeTable":{},"configTable":{},"cgCo')

    assert client.call(2001, {}, b"readers=5\nauditors=x\n").code == 0
    assert limits(client) == {"readers": 5}
    assert client.call(2002, {}, b"readers").code == 0
    assert client.call(2002).code == 0
    assert limits(client) == {}


def test_limits_are_bounded() -> None:
    client = BrokerAtHand(max_cold_read_limits=2).connect()

    assert client.call(2001, {}, b"a=1\nb=2\na=4\n").code == 0
    assert client.call(2001, {}, b"c=3\na=5\n").code == 1

    assert limits(client) == {"a": 5, "b": 2}


@pytest.mark.parametrize(
    ("mode", "code", "remark"),
    [
        ("0", 0, "success, mode: 0"),
        ("1", 0, "success, mode: 1"),
        ("7", 29, "param value error"),
        ("x", 1, "failed"),
    ],
)
def test_reading_ahead_is_accepted(client: Client, mode: str, code: int, remark: str) -> None:
    answer = client.call(2004, {"READ_AHEAD_MODE": mode})

    assert (answer.code, answer.remark) == (code, f"set commitlog readahead mode {remark}")


def test_there_is_nothing_in_rocksdb(client: Client) -> None:
    check = client.call(354, {"topic": "orders", "checkStoreTime": 0})
    exports = [
        client.call(355, {"configType": kind}).code for kind in ("topics;consumerOffsets", "a")
    ]

    assert (check.code, check.body) == (0, b'{"checkStatus":2}')
    assert exports == [0, 1]
    assert client.call(200056).code == 0


@pytest.mark.parametrize(("engine", "remark"), [("R", "timerRocksDBEnable"), ("X", "param error")])
def test_timers_have_one_place(client: Client, engine: str, remark: str) -> None:
    answer = client.call(5001, {"E_T": engine})

    assert answer.code == 29
    assert remark in (answer.remark or "")
