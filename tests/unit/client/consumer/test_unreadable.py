"""No consumer stops at a message that it cannot read, wherever it is, and whatever is in it."""

import sys
import zlib
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
import trio

from rocketwire.codes import RequestCode as Code
from rocketwire.codes import ResponseCode
from rocketwire.errors import MissingPackageError
from rocketwire.flags import MessageSysFlag
from rocketwire.testing import MemoryNetwork, reply
from rocketwire.wire.command import RemotingCommand
from rocketwire.wire.message.batch import BatchMessage, encode_batch
from rocketwire.wire.message.body_compression import CompressionType
from rocketwire.wire.message.stored import StoredMessage
from tests.support.collecting import collect_bodies
from tests.support.fakes.consumer_fakes import (
    BROKER,
    FLAVOURS,
    NS,
    PULLS,
    list_logged,
    pop_response,
    pull_response,
    route,
    world,
)

COMPRESSED = int(MessageSysFlag.COMPRESSED)
LARGEST = 8 << 20
"""Bytes of the largest body that a consumer reads by default."""

UNREADABLE: list[dict[str, Any]] = [
    *({"sys_flag": COMPRESSED | compression << 8} for compression in (0, *CompressionType, 7)),
    {"sys_flag": COMPRESSED, "body": zlib.compress(bytes(LARGEST + 1))},
    {"sys_flag": COMPRESSED, "reconsume_times": -(2**31)},
    {"sys_flag": COMPRESSED, "reconsume_times": 2**31 - 1},
    {"sys_flag": COMPRESSED, "properties": {"UNIQ_KEY": "1\nWARNING \x1b[31mforged"}},
    {"sys_flag": COMPRESSED, "properties": {"UNIQ_KEY": "x" * 20_000}},
    {
        "sys_flag": int(MessageSysFlag.INNER_BATCH | MessageSysFlag.NEED_UNWRAP),
        "properties": {"INNER_NUM": "3"},
        "body": encode_batch([BatchMessage(body=b"many") for _ in range(1000)]),
    },
]
ODD: list[dict[str, Any]] = [
    {"sys_flag": 0x7FFFFFFF & ~0xFD},
    {"born_timestamp": -(2**63)},
    {"born_timestamp": 2**63 - 1},
    {"properties": {"": "x", "a": ""}},
    {"properties": {"POP_CK": "garbage"}},
    {"properties": {"1ST_POP_TIME": "x"}},
    {"properties": {"RETRY_TOPIC": "elsewhere", "REAL_TOPIC": "x"}},
    {"properties": {"MAX_RECONSUME_TIMES": "x", "RECONSUME_TIME": "y"}},
    {"sys_flag": int(MessageSysFlag.NEED_UNWRAP)},
]
"""Messages that can be read, and that no program of RocketMQ's sends."""


def serve(network: MemoryNetwork, contents: Sequence[dict[str, Any]]) -> None:
    """Let the only queue of the topic have these messages, of which four come at once."""
    message = StoredMessage(topic="orders", body=b"garbage", properties={"UNIQ_KEY": "ID"})
    messages = [replace(message, queue_offset=n, **content) for n, content in enumerate(contents)]
    popped = iter(range(0, len(messages), 4))

    async def answer(request: RemotingCommand) -> RemotingCommand:
        fields = request.ext_fields or {}
        is_pop = request.code == Code.POP_MESSAGE
        if fields["topic"] != "orders":
            await trio.sleep_forever()
        first = next(popped, len(messages)) if is_pop else int(fields["queueOffset"])
        batch = messages[first : first + 4]
        if not batch:
            await trio.sleep(1)
        if is_pop:
            nothing = reply(code=ResponseCode.POLLING_TIMEOUT)
            return pop_response(*batch) if batch else nothing
        return pull_response(*batch, begin=first + len(batch), end=len(messages))

    network.peer(NS).on(Code.GET_ROUTEINFO_BY_TOPIC, route(queues=1))
    for code in PULLS:
        network.peer(BROKER).on(code, answer)


async def consume(
    flavour: str, contents: Sequence[dict[str, Any]], caplog: pytest.LogCaptureFixture
) -> tuple[list[bytes], list[str]]:
    """The bodies that a consumer gets in some seconds, and the warnings about the others."""
    bodies: list[bytes] = []
    async with world() as (network, client):
        serve(network, contents)
        async with collect_bodies(flavour, client, "orders", bodies) as consumer:
            await trio.sleep(8)
            count = consumer.unreadable_messages
        codes = (Code.UPDATE_CONSUMER_OFFSET, Code.CHANGE_MESSAGE_INVISIBLETIME)
        requests = [
            request.ext_fields or {}
            for request in network.peer(BROKER).requests
            if request.code in codes
        ]
    warnings = [line for line in list_logged(caplog) if "is unreadable" in line]
    assert count == len(warnings)
    if flavour != "pop":
        assert requests[-1]["commitOffset"] == str(len(contents))
    elif len(contents) < 10:
        assert len(requests) == count
    return bodies, warnings


@pytest.mark.parametrize("flavour", FLAVOURS)
@pytest.mark.parametrize("layout", ["x12", "1x2", "12x", "x", "xxxx1", "123x4", "1234x"])
async def test_an_unreadable_message_is_skipped_in_any_place(
    autojump_clock: object, layout: str, flavour: str, caplog: pytest.LogCaptureFixture
) -> None:
    contents = [
        {"sys_flag": COMPRESSED} if letter == "x" else {"body": letter.encode()}
        for letter in layout
    ]
    bodies, warnings = await consume(flavour, contents, caplog)

    assert sorted(bodies) == [letter.encode() for letter in layout if letter != "x"]
    bad = [offset for offset, letter in enumerate(layout) if letter == "x"]
    for offset, line in zip(bad, warnings, strict=True):
        assert f", queue 0, offset {offset}, is unreadable" in line
        assert "orders" in line
        assert "zlib" in line


@pytest.mark.parametrize("flavour", FLAVOURS)
async def test_messages_between_unusual_ones_arrive(
    autojump_clock: object, flavour: str, caplog: pytest.LogCaptureFixture
) -> None:
    unusual = [*UNREADABLE, *ODD]
    contents = [
        content
        for number, unusual_content in enumerate(unusual)
        for content in (unusual_content, {"body": b"good-%d" % number})
    ]
    bodies, warnings = await consume(flavour, contents, caplog)

    assert {b"good-%d" % number for number in range(len(unusual))} <= set(bodies)
    assert bodies.count(b"garbage") == len(ODD)
    assert len(warnings) == len(UNREADABLE)
    assert all(line.isprintable() and len(line) < 1000 for line in warnings)


@pytest.mark.parametrize("flavour", FLAVOURS)
@pytest.mark.parametrize(("compression", "module"), [(1, "lz4.frame"), (2, "zstandard")])
async def test_a_consumer_ends_without_its_package_and_names_the_extra(
    autojump_clock: object,
    compression: int,
    module: str,
    flavour: str,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingPackageError, match=r"rocketwire\[compression\]"):
        await consume(flavour, [{"sys_flag": COMPRESSED | compression << 8}], caplog)
