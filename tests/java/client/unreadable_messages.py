"""Unreadable messages as any producer can send them, and consumers of every kind."""

from __future__ import annotations

import logging
import time
import zlib
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, Protocol

import trio

from rocketwire.client.consumer.config import PushConsumerConfig
from rocketwire.client.consumer.lite.lite_pull_consumer import open_lite_pull_consumer
from rocketwire.client.consumer.lite.lite_pull_state import LitePullConsumerConfig
from rocketwire.client.consumer.pop import pop_consumer
from rocketwire.client.consumer.pop.pop_consumer import (
    POP_DELAY_LEVEL,
    PopConsumerConfig,
    open_pop_consumer,
)
from rocketwire.client.consumer.push.push_consumer import open_push_consumer
from rocketwire.codes import RequestCode
from rocketwire.flags import MessageSysFlag
from rocketwire.messages.enums import ConsumeFromWhere
from rocketwire.messages.send import SendMessageRequestHeaderV2
from rocketwire.wire.message.properties import encode_properties
from tests.peers.client_settings import PATIENCE
from tests.peers.messages import create_topic, send, unique

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping, Sequence

    import pytest

    from rocketwire.client import ClientInstance
    from rocketwire.wire.message.stored import StoredMessage

COMPRESSED: Final = int(MessageSysFlag.COMPRESSED)
INNER_BATCH: Final = int(MessageSysFlag.INNER_BATCH | MessageSysFlag.NEED_UNWRAP)

PUSH, ORDERLY, LITE, POP = "push", "orderly", "lite pull", "pop"
KINDS: Final = (PUSH, ORDERLY, LITE, POP)

FIRST: Final = PushConsumerConfig(consume_from_where=ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET)

LARGEST: Final = 8 << 20
"""Bytes of the largest body that a consumer reads by default."""

UNREADABLE: Final[Mapping[str, Mapping[str, Any]]] = {
    "not zlib": {"sys_flag": COMPRESSED},
    "not LZ4": {"sys_flag": COMPRESSED | 1 << 8},
    "not ZSTD": {"sys_flag": COMPRESSED | 2 << 8},
    "an unknown type": {"sys_flag": COMPRESSED | 7 << 8},
    "too large": {"sys_flag": COMPRESSED, "body": zlib.compress(bytes(LARGEST + 1))},
    "tried less than never": {"sys_flag": COMPRESSED, "reconsume_times": -(2**31)},
    "tried very often": {"sys_flag": COMPRESSED, "reconsume_times": 2**31 - 1},
    "an id of two lines": {
        "sys_flag": COMPRESSED,
        "properties": {"UNIQ_KEY": "1\nWARNING \x1b[31mforged"},
    },
    "a long id": {"sys_flag": COMPRESSED, "properties": {"UNIQ_KEY": "x" * 20_000}},
}
"""What is special about each message; ``body`` is no compressed one unless it is given."""

ODD: Final[Mapping[str, Mapping[str, Any]]] = {
    "all other flags": {"sys_flag": 0x7FFFFFFF & ~0xFD},
    "an early time": {"born_timestamp": -(2**63)},
    "a late time": {"born_timestamp": 2**63 - 1},
    "no properties": {"properties": {"": "x", "a": ""}},
    "a handle": {"properties": {"POP_CK": "garbage"}},
    "the time of a pop": {"properties": {"1ST_POP_TIME": "x"}},
    "another topic": {"properties": {"RETRY_TOPIC": "elsewhere", "REAL_TOPIC": "x"}},
    "numbers that are none": {"properties": {"MAX_RECONSUME_TIMES": "x", "RECONSUME_TIME": "y"}},
    "a bit of a batch": {"sys_flag": int(MessageSysFlag.NEED_UNWRAP)},
}
"""Messages that can be read, and that no program of RocketMQ's sends."""


class Bodies:
    """Remembers the bodies that a consumer was given."""

    def __init__(self) -> None:
        self.all: list[bytes] = []

    async def many(self, messages: Sequence[StoredMessage], _: object) -> None:
        self.all += [message.body or b"" for message in messages]

    async def one(self, message: StoredMessage) -> None:
        self.all.append(message.body or b"")

    @property
    def sizes(self) -> list[int]:
        return [len(body) for body in self.all]


class Consumer(Protocol):
    """What consumers of every kind have."""

    @property
    def unreadable_messages(self) -> int: ...


@asynccontextmanager
async def consuming(
    kind: str,
    client: ClientInstance,
    topic: str,
    bodies: Bodies,
    *,
    group: str | None = None,
    **settings: Any,
) -> AsyncGenerator[Consumer]:
    """A consumer of a kind, from the topic's first message on.

    ``settings`` are those that all kinds have.
    """
    group = group or unique("g")
    if kind == POP:
        pop = PopConsumerConfig(**settings)
        async with open_pop_consumer(
            client, group, {topic: "*"}, bodies.one, config=pop
        ) as popping:
            yield popping
    elif kind == LITE:
        where = ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET
        lite = LitePullConsumerConfig(consume_from_where=where, pull_batch_size=32, **settings)
        async with (
            open_lite_pull_consumer(client, group, config=lite) as pulling,
            trio.open_nursery() as nursery,
        ):
            pulling.subscribe(topic)

            async def poll() -> None:
                while True:
                    polled = await pulling.poll(1)
                    bodies.all += [one.body or b"" for one in polled.messages] if polled else []

            nursery.start_soon(poll)
            yield pulling
            nursery.cancel_scope.cancel()
    else:
        listeners: dict[str, Any] = {
            "orderly_listener" if kind == ORDERLY else "listener": bodies.many
        }
        push = replace(FIRST, **settings)
        async with open_push_consumer(
            client, group, {topic: "*"}, config=push, **listeners
        ) as pushing:
            yield pushing


def redeliver_late(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let pop consumers ask for unreadable messages after two hours instead of ten seconds.

    A test that takes more than ten seconds on a slow machine would count them again.
    """
    monkeypatch.setattr(pop_consumer, "POP_DELAY_LEVEL", POP_DELAY_LEVEL[-1:])


async def send_as_it_is(
    client: ClientInstance,
    topic: str,
    body: bytes = b"garbage",
    *,
    properties: Mapping[str, str] | None = None,
    **fields: Any,
) -> None:
    """Send a message to the first queue.

    ``fields`` are those of the header that differ from usual ones.
    """
    header = SendMessageRequestHeaderV2(
        producer_group="tests",
        topic=topic,
        default_topic="TBW102",
        default_topic_queue_nums=4,
        queue_id=0,
        sys_flag=0,
        born_timestamp=round(time.time() * 1000),
        flag=0,
        properties=encode_properties(properties),
        reconsume_times=0,
        unit_mode=False,
        max_reconsume_times=0,
        batch=False,
        broker_name="broker-a",
    )
    address = await client.master("broker-a", topic)
    code = RequestCode.SEND_MESSAGE_V2
    await client.brokers.call(address, code, replace(header, **fields), body, within=PATIENCE)


async def poisoned_topic(
    client: ClientInstance, sys_flag: int = COMPRESSED, *, layout: str = "12xx3x45"
) -> str:
    """A topic with one queue: an ``x`` of the layout is an unreadable message, a letter a body."""
    topic = await create_topic(client, unique("poisoned"), queues=1)
    for letter in layout:
        if letter == "x":
            await send_as_it_is(client, topic, sys_flag=sys_flag)
        else:
            await send(client, topic, [letter.encode()], queue_id=0)
    return topic


def warnings_of(caplog: pytest.LogCaptureFixture) -> list[str]:
    """The warnings about unreadable messages."""
    return [
        one.getMessage()
        for one in caplog.records
        if one.levelno == logging.WARNING and "is unreadable" in one.getMessage()
    ]
