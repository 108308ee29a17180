"""Messages to replay."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from rocketwire_tools.store.replaying.outgoing import NO_BATCH, ReplayMessage
from tests.support.fakes.storing_cluster import StoringCluster

if TYPE_CHECKING:
    from collections.abc import Callable

    Make = Callable[..., list[ReplayMessage]]


@pytest.fixture
def cluster() -> StoringCluster:
    """A cluster with the topics ``orders`` (two queues) and ``bills`` (one)."""
    return StoringCluster(orders=2, bills=1)


@pytest.fixture
def make() -> Make:
    """A function that makes messages of a topic, round the queues, with keys ``k0``, ``k1``, ..."""

    def make(count: int, topic: str = "orders", queues: int = 2) -> list[ReplayMessage]:
        return [
            ReplayMessage(
                physical_offset=100 * number,
                batch_index=NO_BATCH,
                topic=topic,
                queue_id=number % queues,
                queue_offset=number // queues,
                unique_key=f"k{number}",
                body=b"body %d" % number,
                born=1_700_000_000_000 + number,
                flag=number,
                sys_flag=0,
                properties=f"UNIQ_KEY\x01k{number}\x02TAGS\x01t\x02",
            )
            for number in range(count)
        ]

    return make
