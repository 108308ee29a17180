"""A message that becomes a dead letter is one line of the log: topic, keys, attempt."""

import logging
import time

import pytest

from rocketwire.client import Message
from tests.java.facades.dialects import ALL, Face, run
from tests.java.facades.test_facades import FIRST, new_topic
from tests.peers.client_settings import PATIENCE, patient
from tests.peers.cluster import JavaCluster
from tests.peers.messages import unique

NOW = "now a dead letter in "


@pytest.mark.parametrize("orderly", [False, True], ids=["concurrent", "orderly"])
@pytest.mark.parametrize("dialect", ALL)
def test_each_dead_letter_is_one_error(
    java_cluster: JavaCluster, dialect: str, orderly: bool, caplog: pytest.LogCaptureFixture
) -> None:
    topic, group = new_topic(java_cluster, queues=1), unique("billing")
    config = patient(namesrv_addr=java_cluster.address)

    def fail(*_: object) -> None:
        raise ValueError("broken")

    async def scenario(face: Face) -> None:
        async with (
            await face.open("producer", config, unique("p"), send_msg_timeout=PATIENCE) as producer,
            await face.open(
                "push_consumer",
                config,
                group,
                {topic: "*"},
                **{"orderly_listener" if orderly else "listener": face.function(fail)},
                consume_from_where=FIRST,
                max_reconsume_times=1 if orderly else 0,
            ),
        ):
            for number in range(2):
                await producer.send(Message(topic, b"x", keys=(f"order-{number}",)))
            deadline = time.monotonic() + PATIENCE
            while caplog.text.count(NOW) < 2 and time.monotonic() < deadline:
                await face.sleep(0.1)

    with caplog.at_level(logging.ERROR, "rocketwire.client"):
        run(dialect, scenario)

    attempts = "2 of 2" if orderly else "1 of 1"
    lines = [record.getMessage() for record in caplog.records]
    letters = sorted(line.partition(" of topic ") for line in lines if NOW in line)
    assert [end for _, _, end in letters] == [
        f"{topic}, keys order-{number}, attempt {attempts}: {NOW}%DLQ%{group}"
        for number in range(2)
    ]
    assert all(begin.startswith(f"{group}: message ") for begin, _, _ in letters)
    failures = [line for line in lines if "the handler failed" in line]
    assert failures[0].endswith(f" of topic {topic}, keys order-0, attempt 1")
    assert len(failures) == (4 if orderly else 2)
