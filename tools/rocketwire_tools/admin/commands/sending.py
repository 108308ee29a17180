"""Sends of messages, and their times: ``sendMessage``, ``checkMsgSendRT``, etc."""

from __future__ import annotations

import itertools
import logging
import time
from collections import Counter
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple

import trio

from rocketwire.client import Message, Producer, ProducerConfig, SendResult, open_producer
from rocketwire.errors import RocketWireError
from rocketwire_tools.admin import mqadmin_options as mq
from rocketwire_tools.cli.arguments import seconds
from rocketwire_tools.cli.command import Incomplete, NotFoundError, Table, UsageError, Value
from rocketwire_tools.cli.exit_status import UNREACHABLE, line_of, status_of
from rocketwire_tools.values import positive

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Awaitable, Callable

    from rocketwire.client.admin import Admin
    from rocketwire.messages.message_queue import MessageQueue


PRODUCERS: Final = "rocketwire-admin"
"""Producer group."""


async def _send(admin: Admin, args: Namespace) -> Table:
    topic, broker, number = args.topic, args.broker, args.qid
    if number is not None and broker is None:
        raise UsageError("--qid needs --broker")
    keys = [args.key] if args.key else []
    message = Message(topic, args.body.encode(), tags=args.tags, keys=keys)
    config = ProducerConfig(
        send_msg_timeout=admin.clusters.within, enable_trace=args.msg_trace_enable
    )
    async with open_producer(admin.client, PRODUCERS, config) as producer:
        if broker is None:
            result = await producer.send(message)
        else:
            queue = await _queue_at(producer, topic, broker)
            if number is not None:
                queue = replace(queue, queue_id=number)
            result = await producer.send_to(message, queue)
    message_queue = result.message_queue
    row = (message_queue.broker_name, message_queue.queue_id, result.status.name, result.msg_id)
    return Table("brokerName queueId:number status msgId", [row])


async def _queue_at(producer: Producer, topic: str, broker: str) -> MessageQueue:
    for queue in await producer.queues(topic):
        if queue.broker_name == broker:
            return queue
    text = f"{broker} has no queue of {topic}"
    raise NotFoundError(text, kind="broker", name=broker)


_SENDS: Final = mq.group_commands(
    "messages",
    mq.admin_command("sendMessage", "send one message", _send, mq.TOPIC,
        mq.option("-p --body", "body, as text", required=True), mq.option("-k --key", "keys"),
        mq.option("-c --tags", "tag"),
        mq.option("-b --broker", "name of the broker group to send to", metavar="NAME"),
        mq.option("-i --qid", "queue id in that group", type=int),
        mq.boolean_option("-m --msgTraceEnable", "whether to record a message trace")),
)  # fmt: skip


_LOG: Final = logging.getLogger("rocketwire.admin")


class TimedSend(NamedTuple):
    millis: float  # duration in milliseconds
    result: SendResult | None  # the result; None after a failure
    error: str | None  # the error; None after success


class Series:
    """Times sends one after another and skips brokers that did not respond to an earlier send.

    Each further send to a silent broker would take a whole timeout. A broker that returns errors,
    or has no known address, is not skipped: such sends fail fast and may concern single messages.
    """

    def __init__(self) -> None:
        self._silent: dict[str, str] = {}
        self._unsent: Counter[str] = Counter()

    async def send(
        self, broker: str, send: Callable[[], Awaitable[SendResult]]
    ) -> TimedSend | None:
        if broker in self._silent:
            self._unsent[self._silent[broker]] += 1
            return None
        start = time.perf_counter()
        try:
            result, error = await send(), None
        except RocketWireError as failure:
            result, error = None, line_of(failure)
            if status_of(failure) == UNREACHABLE:
                self._silent[broker] = error
        return TimedSend(round((time.perf_counter() - start) * 1000, 3), result, error)

    def reset(self) -> None:
        self._silent.clear()

    def finish(self, table: Table) -> Table | Incomplete:
        for line, number in self._unsent.items():
            _LOG.warning("left out: %s; %d more not sent", line, number)
        return Incomplete(table) if self._unsent else table


def _average(sent: list[TimedSend]) -> float | None:
    # Average duration without the first send, which includes connecting
    durations = [send.millis for send in sent[1:]]
    return round(sum(durations) / len(durations), 3) if durations else None


async def _time_topic(admin: Admin, args: Namespace) -> Table | Incomplete:
    message = Message(args.topic, b"a" * args.size)
    config = ProducerConfig(send_msg_timeout=admin.clusters.within)
    series = Series()
    sent: list[TimedSend] = []
    rows: list[tuple[Value, ...]] = []
    async with open_producer(admin.client, PRODUCERS, config) as producer:
        queues = await producer.queues(args.topic)
        for queue in itertools.islice(itertools.cycle(queues), args.amount):
            broker = queue.broker_name or ""
            timed = await series.send(broker, partial(producer.send_to, message, queue))
            if timed is not None:
                sent.append(timed)
                rows.append(
                    (broker, queue.queue_id, timed.error is None, timed.millis, timed.error)
                )
    failed = any(timed.error is not None for timed in sent)
    rows.append(("average", None, not failed, _average(sent), None))
    return series.finish(
        Table("brokerName queueId:number success millis:number error", rows, failed=failed)
    )


async def _time_broker(admin: Admin, args: Namespace) -> Table | Incomplete:
    topic: str = args.broker_name
    await admin.clusters.master(topic)  # or a broker would create a topic of that name
    message = Message(topic, b"hello jodie" * -(-args.message_size // 11))
    config = ProducerConfig(send_msg_timeout=admin.clusters.within)
    series = Series()
    async with open_producer(admin.client, "PID_SMSC", config) as producer:
        await producer.send(Message(topic, b"hello jodie" * 2))
        attempts = [
            await series.send(topic, partial(producer.send, message)) for _ in range(args.count)
        ]
    sent = [timed for timed in attempts if timed is not None]
    rows: list[tuple[Value, ...]] = []
    for timed in sent:
        queue_id = timed.result.message_queue.queue_id if timed.result else None
        rows.append((
            timed.millis, timed.result.status.name if timed.result else None,
            timed.result.msg_id if timed.result else None, queue_id,
            timed.result.queue_offset if timed.result else None, timed.error,
        ))  # fmt: skip
    failed = any(timed.error is not None for timed in sent)
    return series.finish(
        Table(
            "millis:number status msgId queueId:number queueOffset:number error",
            rows,
            failed=failed,
        )
    )


async def _time_clusters(admin: Admin, args: Namespace) -> Table | Incomplete:
    table = (await admin.clusters.info()).cluster_addr_table or {}
    clusters = [args.cluster] if args.cluster is not None else sorted(table)
    rows: list[tuple[Value, ...]] = []
    config = ProducerConfig(send_msg_timeout=admin.clusters.within)
    series = Series()
    async with open_producer(admin.client, PRODUCERS, config) as producer:
        for index in range(args.rounds):
            if index:
                await trio.sleep(args.interval)
            for cluster in clusters:
                for name in await admin.clusters.broker_names(cluster):
                    series.reset()
                    rows.append((cluster, name, *await _time_round(producer, series, name, args)))
    failed = any(error is not None for *_, error in rows)
    return series.finish(
        Table(
            "clusterName brokerName millis:number successCount:number failCount:number error",
            rows,
            failed=failed,
        )
    )


async def _time_round(
    producer: Producer, series: Series, topic: str, args: Namespace
) -> tuple[Value, ...]:
    message = Message(topic, b"a" * args.size)
    attempts = [
        await series.send(topic, partial(producer.send, message)) for _ in range(args.amount)
    ]
    sent = [timed for timed in attempts if timed is not None]
    errors = [timed.error for timed in sent if timed.error is not None]
    error = errors[0] if errors else None
    if len(sent) < len(attempts):
        error = f"{error}; {len(attempts) - len(sent)} more not sent"
    return _average(sent), len(sent) - len(errors), len(errors), error


_AMOUNT: Final = mq.option("-a --amount", "number of messages", type=positive, default=100)
_SIZE: Final = mq.option("-s --size", "size of a message in bytes", type=positive, default=128)
_FAILED: Final = (
    "Exit status 1 if a send failed, 3 if sends were skipped because a broker did not respond."
)

_TIMES: Final = mq.group_commands(
    "messages",
    mq.admin_command("checkMsgSendRT", "time sends to the queues of a topic", _time_topic, mq.TOPIC,
        _AMOUNT, _SIZE, epilog=_FAILED),
    mq.admin_command("clusterRT", "time sends to every broker", _time_clusters, _AMOUNT, _SIZE,
        mq.option("-c --cluster", "only brokers of this cluster", metavar="NAME"),
        mq.option("-i --interval", "seconds between rounds", type=seconds, default=10.0),
        mq.option("--rounds", "number of rounds (default 1; mqadmin never ends)", default=1,
            type=positive),
        mq.boolean_option("-p --printLog", "accepted for mqadmin; see --output", default=None),
        mq.option("-m --machineRoom", "accepted for mqadmin; has no effect", metavar="NAME"),
        epilog=f"Messages go to the topic with the broker's name. {_FAILED}"),
    mq.admin_command("sendMsgStatus", "time sends to a broker's own topic", _time_broker,
        mq.option("-b --brokerName", "name of the broker group", required=True),
        mq.option("-s --messageSize", "size of a message in bytes, rounded up to a multiple of 11",
            type=positive, default=128),
        mq.option("-c --count", "number of messages after a first one that is not counted",
            type=positive, default=50),
        epilog=_FAILED),
)  # fmt: skip

COMMANDS: Final = (*_SENDS, *_TIMES)
