"""Transactions that a process of the group left open are checked with the next one, at Java's broker and ours."""

import time
from typing import Any

import pytest

from rocketwire.client import LocalTransactionState, Message
from tests.java.facades.dialects import ALL, Face, run
from tests.java.facades.test_facades import new_topic
from tests.peers.client_settings import PATIENCE, patient
from tests.peers.cluster import JavaCluster
from tests.peers.messages import unique


@pytest.mark.parametrize("dialect", ALL)
def test_a_producer_that_sends_nothing_is_asked(java_cluster: JavaCluster, dialect: str) -> None:
    topic, group = new_topic(java_cluster), unique("transfers")
    checked: list[bytes | None] = []

    def check(message: Any) -> LocalTransactionState:
        checked.append(message.body)
        return LocalTransactionState.COMMIT_MESSAGE

    async def scenario(face: Face) -> None:
        async with await face.open(
            "producer", patient(namesrv_addr=java_cluster.address), group, send_msg_timeout=PATIENCE
        ) as producer:
            unknown = face.function(lambda *_: LocalTransactionState.UNKNOW)
            await producer.send_in_transaction(Message(topic, b"left open"), unknown)
        async with await face.open(
            "producer", patient(namesrv_addr=java_cluster.address), group, check=check
        ):
            deadline = time.monotonic() + 25  # checks are a second apart, heartbeats 30 s
            while not checked and time.monotonic() < deadline:
                await face.sleep(0.1)
        assert checked == [b"left open"]

    run(dialect, scenario)
