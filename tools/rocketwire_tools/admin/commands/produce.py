"""Sends of messages, and their times; ``produce`` sends a message for each line of stdin.

Results are written in the order of the bodies, each as soon as all earlier ones are written. After
the first failure no further message is sent. Results of requests in flight are still written, after
a line for each earlier failure, so that line numbers match the input.
"""

from __future__ import annotations

import itertools
import logging
import sys
import time
from collections import Counter, deque
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple

import trio

from rocketwire.client import (
    LocalTransactionState,
    Message,
    Producer,
    ProducerConfig,
    SendResult,
    open_client,
    open_producer,
)
from rocketwire.client.publish.request_builder import wire_topic
from rocketwire.errors import RocketWireError
from rocketwire.policy.queue_selectors import queue_by_hash
from rocketwire.policy.validation import check_producer_group, check_topic
from rocketwire_tools.admin import mqadmin_options as mq
from rocketwire_tools.cli.arguments import property_pair, seconds
from rocketwire_tools.cli.command import (
    Command,
    Incomplete,
    LineError,
    NotFoundError,
    RefusedError,
    StoppedError,
    Table,
    UsageError,
    Value,
)
from rocketwire_tools.cli.exit_status import UNREACHABLE, line_of, status_of
from rocketwire_tools.cli.stdio import JsonLines, read_lines, stopping
from rocketwire_tools.terminal import ProgressLine, is_watched
from rocketwire_tools.values import positive

if TYPE_CHECKING:
    import argparse
    from argparse import Namespace
    from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Sequence

    from rocketwire.client import ClientInstance
    from rocketwire.client.admin import Admin
    from rocketwire.messages.message_queue import MessageQueue
    from rocketwire_tools.cli.command import Context
    from rocketwire_tools.cli.stdio import Stop

_LOG: Final = logging.getLogger("rocketwire.admin")

OUTCOMES: Final = {
    "commit": LocalTransactionState.COMMIT_MESSAGE,
    "rollback": LocalTransactionState.ROLLBACK_MESSAGE,
    "unknown": LocalTransactionState.UNKNOW,
}
"""Outcomes of a transaction."""

DEFAULT_SIZE: Final = 100
"""Default size of a generated message in bytes."""

BATCH_BYTES: Final = 1 << 20
"""Maximum total of body sizes in a batch, in bytes."""


_NOT_STORED: Final[dict[str, Value]] = dict.fromkeys(
    ("offsetMsgId", "brokerName", "queueId", "queueOffset")
)
"""Members of a message for which no broker reported a position."""


@dataclass(eq=False, slots=True)
class _Job:
    number: int  # number of the first message, from 1
    bodies: Sequence[bytes]
    # output lines after success
    lines: list[dict[str, Value]] = field(default_factory=list[dict[str, "Value"]])
    error: RocketWireError | None = None
    is_complete: bool = False  # whether the request has succeeded or failed


async def produce(context: Context) -> None:
    args = context.arguments
    _check(args)
    outcome = None if args.transaction is None else OUTCOMES[args.transaction]
    async with stopping() as stop, open_client(context.config) as client:
        sending = _Sending(client, args, outcome, stop, context.request_timeout)
        with sending.progress:
            await sending.run()
    if sending.error is not None:
        raise sending.error
    if stop.signal:
        raise StoppedError(stop.signal)


async def _config(client: ClientInstance, topic: str, within: float) -> ProducerConfig:
    # Configure retries: if a topic has several brokers, try another one after half of the timeout.
    # By default the first attempt of Java's producers may use the whole timeout.
    try:
        brokers = (await client.route(wire_topic(client.config, topic))).broker_datas or ()
    except RocketWireError:  # the first send reports it
        brokers = ()
    if len(brokers) < 2:
        return ProducerConfig(send_msg_timeout=within)
    return ProducerConfig(
        send_msg_timeout=within,
        send_msg_max_timeout_per_request=within / 2,
        send_latency_enable=True,
    )


def _check(args: argparse.Namespace) -> None:
    check_topic(args.topic)
    check_producer_group(args.group)
    for first, conflicting in (
        ("transaction", ("batch", "oneway", "order_key", "delay_level")),
        ("batch", ("oneway", "delay_level")),
    ):
        for second in conflicting:
            if getattr(args, first) and getattr(args, second):
                raise UsageError(f"--{first} and --{second.replace('_', '-')} cannot be combined")
    if args.size and not args.count:
        raise UsageError("--size applies to generated messages: it needs --count")


async def _bodies(args: argparse.Namespace) -> AsyncGenerator[list[bytes]]:
    if args.count is None:
        _LOG.info("waiting for lines on stdin")
        async with aclosing(read_lines(sys.stdin.fileno())) as chunks:
            async for lines in chunks:
                yield [line for line in lines if line]
        return
    size, step = args.size or DEFAULT_SIZE, args.batch or 1
    for first in range(1, args.count + 1, step):
        numbers = range(first, min(first + step, args.count + 1))
        yield [(b"%d " % number).ljust(size, b"x")[:size] for number in numbers]


def batches(bodies: Sequence[bytes], max_messages: int) -> Iterator[list[bytes]]:
    part: list[bytes] = []
    size = 0
    for body in bodies:
        if part and (len(part) >= max_messages or size + len(body) > BATCH_BYTES):
            yield part
            part, size = [], 0
        part.append(body)
        size += len(body)
    if part:
        yield part


class _Sending:
    def __init__(
        self,
        client: ClientInstance,
        args: argparse.Namespace,
        outcome: LocalTransactionState | None,
        stop: Stop,
        within: float,
    ) -> None:
        self.error: LineError | None = None
        self._client = client
        self._within = within
        self._args = args
        self._outcome = outcome
        self._stop = stop
        self._jobs: deque[_Job] = deque()
        self._failed: list[dict[str, Value]] = []
        self._lost: list[int] = []
        self._next: int | None = 1
        self._output = JsonLines(sys.stdout.fileno())
        is_shown = is_watched() and not sys.stdout.isatty()
        # shows how many messages have a line
        self.progress = ProgressLine("{:,} messages", is_shown=is_shown)
        self._written = 0
        self._turn = trio.Lock()

    async def run(self) -> None:
        send, receive = trio.open_memory_channel[_Job](0)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._send_all, receive)
            async with self._stop.cancel_when_stopped():
                await self._feed(send)
            send.close()
        if self.error is not None:
            lost = [number for number in self._lost if number != self.error.number]
            self.error.details = describe_failures(lost, self._next)

    async def _feed(self, send: trio.MemorySendChannel[_Job]) -> None:
        number = 1
        async with aclosing(_bodies(self._args)) as chunks:
            async for bodies in chunks:
                for part in batches(bodies, self._args.batch or 1):
                    await send.send(_Job(number, part))
                    self._next = number = number + len(part)
        self._next = None

    async def _send_all(self, receive: trio.MemoryReceiveChannel[_Job]) -> None:
        # Start workers when the first message is available; before, no request is sent
        args = self._args
        async with receive:
            try:
                first = await receive.receive()
            except trio.EndOfChannel:
                return
            self._jobs.append(first)
            config = await _config(self._client, args.topic, self._within)
            async with (
                open_producer(
                    self._client, args.group, config, check=lambda half: self._outcome
                ) as producer,
                trio.open_nursery() as workers,
            ):
                workers.start_soon(self._work, producer, first, receive)
                for _ in range(1, 1 if args.order_key else args.in_flight):
                    workers.start_soon(self._work, producer, None, receive)

    async def _work(
        self, producer: Producer, job: _Job | None, receive: trio.MemoryReceiveChannel[_Job]
    ) -> None:
        if job is not None:
            await self._process(job, producer)
        async for following in receive:
            self._jobs.append(following)
            await self._process(following, producer)

    async def _process(self, job: _Job, producer: Producer) -> None:
        try:
            job.lines = await self._send(job, producer)
        except RocketWireError as error:
            job.error = error
            self._stop.requested.set()
        job.is_complete = True
        await self._write()

    async def _write(self) -> None:
        async with self._turn:
            while self._jobs and self._jobs[0].is_complete:
                job = self._jobs.popleft()
                if job.error is not None:
                    error = line_of(job.error)
                    line = {"status": "FAILED", "msgId": None, **_NOT_STORED, "error": error}
                    self._failed += [line] * len(job.bodies)
                    self._lost += range(job.number, job.number + len(job.bodies))
                    self._fail(job.number, job.error)
                    continue
                try:
                    for line in (*self._failed, *job.lines):
                        await self._output.write(line)
                        self._written += 1
                        self.progress.show(self._written)
                except BrokenPipeError:
                    self._fail(job.number, RefusedError("the reader of the results is gone"))
                self._failed.clear()

    def _fail(self, number: int, cause: Exception) -> None:
        self._stop.requested.set()
        if self.error is None:
            self.error = LineError(number)
            self.error.__cause__ = cause

    async def _send(self, job: _Job, producer: Producer) -> list[dict[str, Value]]:
        messages = [self._message(body) for body in job.bodies]
        first = messages[0]
        if self._outcome is not None:
            outcome = self._outcome
            ended = await producer.send_in_transaction(first, lambda message, half: outcome)
            (line,) = _lines(ended.send_result, 1)
            return [{**line, "transactionState": ended.state.name}]
        queue = None
        if self._args.order_key:
            queue = queue_by_hash(await producer.queues(first.topic), self._args.order_key)
        if self._args.oneway:
            msg_id = await producer.send_oneway(first, queue)
            return [{"status": "ONEWAY", "msgId": msg_id, **_NOT_STORED}]
        if self._args.batch:
            result = await producer.send_batch(messages, queue=queue)
        elif queue is not None:
            result = await producer.send_to(first, queue)
        else:
            result = await producer.send(first)
        return _lines(result, len(messages))

    def _message(self, body: bytes) -> Message:
        args = self._args
        return Message(
            args.topic, body, tags=args.tag, keys=args.key, properties=dict(args.property),
            delay_level=args.delay_level or 0,
        )  # fmt: skip


def describe_failures(lost: Sequence[int], unsent: int | None) -> str:
    runs: list[list[int]] = []
    for number in lost:
        if runs and runs[-1][-1] == number - 1:
            runs[-1][1:] = [number]
        else:
            runs.append([number])
    words = ", ".join("-".join(map(str, run)) for run in runs)
    text = f"; also not acknowledged: {words}" if words else ""
    return text if unsent is None else f"{text}; not sent: {unsent} and later"


def _lines(result: SendResult, count: int) -> list[dict[str, Value]]:
    ids = result.msg_id.split(",")
    offset_ids = result.offset_msg_id.split(",")
    return [
        {
            "status": result.status.name,
            "msgId": ids[index] if index < len(ids) else None,
            "offsetMsgId": offset_ids[index] if index < len(offset_ids) else None,
            "brokerName": result.message_queue.broker_name,
            "queueId": result.message_queue.queue_id,
            "queueOffset": result.queue_offset + index,
        }
        for index in range(count)
    ]


_EPILOG: Final = """\
Each acknowledged message is written as one JSON object on a line, in the order of the input:
  {"status":"SEND_OK","msgId":...,"offsetMsgId":...,"brokerName":...,"queueId":...,
   "queueOffset":...}
--transaction adds "transactionState". With --oneway the status is "ONEWAY" and only "msgId" is set.

If a topic has several brokers and one does not respond within half of --request-timeout, the
message is sent to another broker (both may store it); the first one is avoided for 30 seconds.

Empty lines are skipped, because RocketMQ has no empty messages. The program ends at the first
message that cannot be sent. It waits for requests in flight and then reports that message, further
messages without acknowledgement, and the first message that was not sent. If a later message was
stored, the failed ones before it have lines too: {"status":"FAILED",...,"error":...}. SIGINT and
SIGTERM end the program in the same way (exit status 130 and 143).

examples:
  seq 10 | rocketwire-admin produce -n localhost:9876 -t orders --tag new
  rocketwire-admin produce -n localhost:9876 -t orders --count 1000 --size 1024 --batch 32
"""


_OPTIONS: Final = (
    mq.option("-t --topic", "name of the topic", required=True),
    mq.option("-g --group", "producer group", default="rocketwire-admin-produce"),
    mq.option("--tag -c", "tag, for filters of consumers"),
    mq.option("--key -k", "key, for message queries; repeatable", action="append", default=[]),
    mq.option("--property -p", "user property; repeatable", action="append", default=[],
        type=property_pair, metavar="NAME=VALUE"),
    mq.option("--delay-level",
        "delay level of the broker (default levels: 1 to 18; a larger number means the last)",
        type=positive, metavar="N"),
    mq.option("--batch", "send up to N available messages in one request", type=positive,
        metavar="N"),
    mq.option("--oneway", "send without waiting for a response", switch=True),
    mq.option("--order-key", "send to the queue of this key, one message at a time", metavar="K"),
    mq.option("--transaction",
        "send half messages and end them like this; also the response to checks of brokers",
        choices=list(OUTCOMES), metavar=None),
    mq.option("--count", "send N generated messages instead of stdin", type=positive, metavar="N"),
    mq.option("--size", "size of a generated message in bytes (default 100)", type=positive,
        metavar="B"),
    mq.option("--in-flight",
        "maximum concurrent requests (default 16; always 1 with --order-key)", type=positive,
        default=16, metavar="N"),
)  # fmt: skip


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

COMMANDS: Final = (
    *_SENDS, *_TIMES,
    Command(name="produce", help="send a message for each line of stdin, or generated messages",
        options=_OPTIONS, run=produce, epilog=_EPILOG, group="messages", streams=True),
)  # fmt: skip
