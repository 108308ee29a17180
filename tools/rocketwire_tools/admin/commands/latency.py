"""How long sends take: ``checkMsgSendRT``, ``clusterRT``, ``sendMsgStatus``."""

from __future__ import annotations

import itertools
import logging
import time
from collections import Counter
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple

import trio

from rocketwire.client import Message, ProducerConfig, open_producer
from rocketwire.errors import RocketWireError
from rocketwire_tools.admin.cli.arguments import seconds
from rocketwire_tools.admin.cli.exit_status import UNREACHABLE, line_of, status_of
from rocketwire_tools.admin.cli.mqadmin_options import TOPIC, admin_command, boolean, option
from rocketwire_tools.admin.command import Column, Incomplete, Kind, Table, Value
from rocketwire_tools.numbers import positive

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Awaitable, Callable

    from rocketwire.client import Producer, SendResult
    from rocketwire.client.admin import Admin

_LOG: Final = logging.getLogger("rocketwire.admin")

_GROUP: Final = "messages"
_NUMBER: Final = Kind.NUMBER
_PRODUCERS: Final = "rocketwire-admin"
"""Group of these producers."""


class Sent(NamedTuple):
    """One send, timed.

    Attributes:
        millis: how long it took.
        result: what the broker said; None where it failed.
        error: why it failed; None where it did not.
    """

    millis: float
    result: SendResult | None
    error: str | None


class Series:
    """Sends one after the other, without those to a broker that has not answered one: each would take all of its time.

    A broker that refuses, or that nobody knows an address of, is sent the rest: that takes no time, and may be of one message.
    """

    def __init__(self) -> None:
        """Every broker is expected to answer."""
        self._silent: dict[str, str] = {}
        self._unsent: Counter[str] = Counter()

    async def send(self, broker: str, send: Callable[[], Awaitable[SendResult]]) -> Sent | None:
        """Time one send to a broker; None where it was not sent."""
        if broker in self._silent:
            self._unsent[self._silent[broker]] += 1
            return None
        began = time.perf_counter()
        try:
            result, error = await send(), None
        except RocketWireError as failure:
            result, error = None, line_of(failure)
            if status_of(failure) == UNREACHABLE:
                self._silent[broker] = error
        return Sent(round((time.perf_counter() - began) * 1000, 3), result, error)

    def expect_again(self) -> None:
        """Every broker is expected to answer again."""
        self._silent.clear()

    def ended(self, table: Table) -> Table | Incomplete:
        """What to return of all that was sent; says on stderr how much was not."""
        for line, number in self._unsent.items():
            _LOG.warning("left out: %s; %d more not sent", line, number)
        return Incomplete(table) if self._unsent else table


def _average(sent: list[Sent]) -> float | None:
    """Of all but the first, which also connects."""
    rest = [one.millis for one in sent[1:]]
    return round(sum(rest) / len(rest), 3) if rest else None


async def _check(admin: Admin, wanted: Namespace) -> Table | Incomplete:
    """Each message to the next queue of the topic."""
    message = Message(wanted.topic, b"a" * wanted.size)
    config = ProducerConfig(send_msg_timeout=admin.clusters.within)
    series = Series()
    sent: list[Sent] = []
    rows: list[tuple[Value, ...]] = []
    async with open_producer(admin.client, _PRODUCERS, config) as producer:
        queues = await producer.queues(wanted.topic)
        for queue in itertools.islice(itertools.cycle(queues), wanted.amount):
            broker = queue.broker_name or ""
            one = await series.send(broker, partial(producer.send_to, message, queue))
            if one is not None:
                sent.append(one)
                rows.append((broker, queue.queue_id, one.error is None, one.millis, one.error))
    failed = any(one.error is not None for one in sent)
    rows.append(("average", None, not failed, _average(sent), None))
    columns = (
        "brokerName", Column("queueId", _NUMBER), "success", Column("millis", _NUMBER), "error",
    )  # fmt: skip
    return series.ended(Table(columns, rows, failed=failed))


async def _status(admin: Admin, wanted: Namespace) -> Table | Incomplete:
    """To the topic that each broker has under its own name."""
    topic: str = wanted.broker_name
    message = Message(topic, b"hello jodie" * -(-wanted.message_size // 11))
    config = ProducerConfig(send_msg_timeout=admin.clusters.within)
    series = Series()
    async with open_producer(admin.client, "PID_SMSC", config) as producer:
        await producer.send(Message(topic, b"hello jodie" * 2))
        each = [
            await series.send(topic, partial(producer.send, message)) for _ in range(wanted.count)
        ]
    sent = [one for one in each if one is not None]
    rows: list[tuple[Value, ...]] = []
    for one in sent:
        place = one.result.message_queue if one.result else None
        rows.append((
            one.millis, one.result.status.name if one.result else None, one.result.msg_id if one.result else None,
            place.queue_id if place else None, one.result.queue_offset if one.result else None, one.error,
        ))  # fmt: skip
    columns = (
        Column("millis", _NUMBER), "sendResult", "msgId", Column("queueId", _NUMBER),
        Column("queueOffset", _NUMBER), "error",
    )  # fmt: skip
    failed = any(one.error is not None for one in sent)
    return series.ended(Table(columns, rows, failed=failed))


async def _clusters(admin: Admin, wanted: Namespace) -> Table | Incomplete:
    """To the topic that each broker has under its own name."""
    table = (await admin.clusters.info()).cluster_addr_table or {}
    clusters = [wanted.cluster] if wanted.cluster is not None else sorted(table)
    rows: list[tuple[Value, ...]] = []
    config = ProducerConfig(send_msg_timeout=admin.clusters.within)
    series = Series()
    async with open_producer(admin.client, _PRODUCERS, config) as producer:
        for number in range(wanted.rounds):
            if number:
                await trio.sleep(wanted.interval)
            for cluster in clusters:
                for name in await admin.clusters.broker_names(cluster):
                    series.expect_again()
                    rows.append((cluster, name, *await _round(producer, series, name, wanted)))
    columns = (
        "clusterName", "brokerName", Column("millis", _NUMBER), Column("successCount", _NUMBER),
        Column("failCount", _NUMBER), "error",
    )  # fmt: skip
    failed = any(error is not None for *_, error in rows)
    return series.ended(Table(columns, rows, failed=failed))


async def _round(
    producer: Producer, series: Series, topic: str, wanted: Namespace
) -> tuple[Value, ...]:
    """What became of the messages to one topic, and why the first of those failed that did."""
    message = Message(topic, b"a" * wanted.size)
    each = [await series.send(topic, partial(producer.send, message)) for _ in range(wanted.amount)]
    sent = [one for one in each if one is not None]
    errors = [one.error for one in sent if one.error is not None]
    error = errors[0] if errors else None
    if len(sent) < len(each):
        error = f"{error}; {len(each) - len(sent)} more not sent"
    return _average(sent), len(sent) - len(errors), len(errors), error


_AMOUNT: Final = option("-a --amount", "messages", type=positive, default=100)
_SIZE: Final = option("-s --size", "bytes of each", type=positive, default=128)
_FAILED: Final = (
    "Exit status 1 if one could not be sent, 3 if more were not, as their broker had not answered."
)

COMMANDS: Final = (
    admin_command(
        "checkMsgSendRT", "send messages to the queues of a topic in turn, and time that", _check, TOPIC, _AMOUNT, _SIZE,
        group=_GROUP, epilog=_FAILED,
    ),
    admin_command(
        "clusterRT", "send messages to every broker, and time that", _clusters, _AMOUNT, _SIZE,
        option("-c --cluster", "only brokers of this cluster", metavar="NAME"),
        option("-i --interval", "seconds between two rounds", type=seconds, default=10.0),
        option("--rounds", "how many; mqadmin never ends", type=positive, default=1),
        option("-p --printLog", "accepted as mqadmin does; see --output", type=boolean),
        option("-m --machineRoom", "accepted as mqadmin does; nothing shows it", metavar="NAME"),
        group=_GROUP, epilog=f"They go to the topic that each broker has under its own name. {_FAILED}",
    ),
    admin_command(
        "sendMsgStatus", "send messages to a broker's own topic, and time that", _status,
        option("-b --brokerName", "name of the broker group", required=True, metavar="NAME"),
        option("-s --messageSize", "bytes of each, in steps of 11", type=positive, default=128),
        option("-c --count", "messages, after one that is not counted", type=positive, default=50),
        group=_GROUP, epilog=_FAILED,
    ),
)  # fmt: skip
