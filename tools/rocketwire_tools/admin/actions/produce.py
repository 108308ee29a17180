"""What ``produce`` does: bodies in, messages out to brokers, results out to stdout.

Rules of this file: results are written in the order of the bodies, each as soon as it and those before it are there.  After the
first failure nothing more is begun; what is on its way is waited for, and written all the same: behind a line for each that failed
before it, so that the line of a message stands where its body stood.
"""

from __future__ import annotations

import logging
import sys
from collections import deque
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import trio

from rocketwire.client import (
    LocalTransactionState,
    Message,
    ProducerConfig,
    open_client,
    open_producer,
)
from rocketwire.client.publish.request_builder import wire_topic
from rocketwire.errors import RocketWireError
from rocketwire.policy.queue_selectors import queue_by_hash
from rocketwire.policy.validation import check_producer_group, check_topic
from rocketwire_tools.admin.cli.exit_status import line_of
from rocketwire_tools.admin.cli.signals import stopping
from rocketwire_tools.admin.cli.stdio import JsonLines, read_lines
from rocketwire_tools.admin.command import LineError, RefusedError, StoppedError, UsageError

if TYPE_CHECKING:
    import argparse
    from collections.abc import AsyncGenerator, Iterator, Sequence

    from rocketwire.client import ClientInstance, Producer, SendResult
    from rocketwire_tools.admin.cli.signals import Stop
    from rocketwire_tools.admin.command import Context, Value

_LOG: Final = logging.getLogger("rocketwire.admin")

OUTCOMES: Final = {
    "commit": LocalTransactionState.COMMIT_MESSAGE,
    "rollback": LocalTransactionState.ROLLBACK_MESSAGE,
    "unknown": LocalTransactionState.UNKNOW,
}
"""What may become of a transaction."""

DEFAULT_SIZE: Final = 100
"""Bytes of a message that is made up."""

BATCH_BYTES: Final = 1 << 20
"""Bytes of bodies beyond which a batch takes no more."""


_NOWHERE: Final[dict[str, Value]] = dict.fromkeys(
    ("offsetMsgId", "brokerName", "queueId", "queueOffset")
)
"""Of a message of which no broker has told where it is."""


@dataclass(eq=False, slots=True)
class _Job:
    """Messages that are sent in one request.

    Attributes:
        number: of the first one, from 1 on.
        bodies: of all.
        lines: what to write of them, once that is known.
        error: why they were not sent.
        done: whether either is known.
    """

    number: int
    bodies: Sequence[bytes]
    lines: list[dict[str, Value]] = field(default_factory=list[dict[str, "Value"]])
    error: RocketWireError | None = None
    done: bool = False


async def produce(context: Context) -> None:
    """Run the command.

    Raises:
        UsageError: options that do not go together.
        LineError: a message could not be sent.
        StoppedError: a signal came first.
    """
    wanted = context.arguments
    _check(wanted)
    outcome = None if wanted.transaction is None else OUTCOMES[wanted.transaction]
    async with stopping() as stop, open_client(context.config) as client:
        sending = _Sending(client, wanted, outcome, stop, context.request_timeout)
        await sending.run()
    if sending.error is not None:
        raise sending.error
    if stop.signal:
        raise StoppedError(stop.signal)


async def _config(client: ClientInstance, topic: str, within: float) -> ProducerConfig:
    """How to send to a topic: to another broker in time where one hangs, if there is another.

    Java's producers leave all the time of a send to its first try, unless told otherwise.
    """
    try:
        brokers = (await client.route(wire_topic(client.config, topic))).broker_datas or ()
    except RocketWireError:  # the first send will say so
        brokers = ()
    if len(brokers) < 2:
        return ProducerConfig(send_msg_timeout=within)
    return ProducerConfig(
        send_msg_timeout=within,
        send_msg_max_timeout_per_request=within / 2,
        send_latency_enable=True,
    )


def _check(wanted: argparse.Namespace) -> None:
    """Raises ``UsageError`` for options that do not go together, ``IllegalNameError`` for what is no name."""
    check_topic(wanted.topic)
    check_producer_group(wanted.group)
    for first, others in (
        ("transaction", ("batch", "oneway", "order_key", "delay_level")),
        ("batch", ("oneway", "delay_level")),
    ):
        for other in others:
            if getattr(wanted, first) and getattr(wanted, other):
                raise UsageError(f"--{first} and --{other.replace('_', '-')} do not go together")
    if wanted.size and not wanted.count:
        raise UsageError("--size is of messages that are made up: it needs --count")


async def _bodies(wanted: argparse.Namespace) -> AsyncGenerator[list[bytes]]:
    """The bodies, as many at once as there are."""
    if wanted.count is None:
        _LOG.info("waiting for lines on stdin")
        async with aclosing(read_lines(sys.stdin.fileno())) as pieces:
            async for lines in pieces:
                yield [line for line in lines if line]
        return
    size, step = wanted.size or DEFAULT_SIZE, wanted.batch or 1
    for first in range(1, wanted.count + 1, step):
        numbers = range(first, min(first + step, wanted.count + 1))
        yield [(b"%d " % number).ljust(size, b"x")[:size] for number in numbers]


def batches(bodies: Sequence[bytes], most: int) -> Iterator[list[bytes]]:
    """Parts of so many messages, and of ``BATCH_BYTES``, at most."""
    part: list[bytes] = []
    size = 0
    for body in bodies:
        if part and (len(part) >= most or size + len(body) > BATCH_BYTES):
            yield part
            part, size = [], 0
        part.append(body)
        size += len(body)
    if part:
        yield part


class _Sending:
    """A run of the command.

    Attributes:
        error: the first failure, if there was one.
    """

    def __init__(
        self,
        client: ClientInstance,
        wanted: argparse.Namespace,
        outcome: LocalTransactionState | None,
        stop: Stop,
        within: float,
    ) -> None:
        """Nothing is sent before ``run``."""
        self.error: LineError | None = None
        self._client = client
        self._within = within
        self._wanted = wanted
        self._outcome = outcome
        self._stop = stop
        self._jobs: deque[_Job] = deque()
        self._failed: list[dict[str, Value]] = []
        self._lost: list[int] = []
        self._next: int | None = 1
        self._output = JsonLines(sys.stdout.fileno())
        self._turn = trio.Lock()

    async def run(self) -> None:
        """Send everything, or until it is time to stop."""
        send, receive = trio.open_memory_channel[_Job](0)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._send_all, receive)
            async with trio.open_nursery() as feeding:
                feeding.start_soon(self._cancel_when_asked, feeding.cancel_scope)
                await self._feed(send)
                feeding.cancel_scope.cancel()
            send.close()
        if self.error is not None:
            lost = [number for number in self._lost if number != self.error.number]
            self.error.others = others(lost, self._next)

    async def _cancel_when_asked(self, scope: trio.CancelScope) -> None:
        await self._stop.asked.wait()
        scope.cancel()

    async def _feed(self, send: trio.MemorySendChannel[_Job]) -> None:
        number = 1
        async with aclosing(_bodies(self._wanted)) as pieces:
            async for bodies in pieces:
                for part in batches(bodies, self._wanted.batch or 1):
                    await send.send(_Job(number, part))
                    self._next = number = number + len(part)
        self._next = None

    async def _send_all(self, receive: trio.MemoryReceiveChannel[_Job]) -> None:
        """Sends what comes; asks nobody anything before something has."""
        wanted = self._wanted
        async with receive:
            try:
                first = await receive.receive()
            except trio.EndOfChannel:
                return
            self._jobs.append(first)
            config = await _config(self._client, wanted.topic, self._within)
            async with (
                open_producer(
                    self._client, wanted.group, config, check=lambda half: self._outcome
                ) as producer,
                trio.open_nursery() as workers,
            ):
                workers.start_soon(self._work, producer, first, receive)
                for _ in range(1, 1 if wanted.order_key else wanted.in_flight):
                    workers.start_soon(self._work, producer, None, receive)

    async def _work(
        self, producer: Producer, job: _Job | None, receive: trio.MemoryReceiveChannel[_Job]
    ) -> None:
        if job is not None:
            await self._deal_with(job, producer)
        async for following in receive:
            self._jobs.append(following)
            await self._deal_with(following, producer)

    async def _deal_with(self, job: _Job, producer: Producer) -> None:
        try:
            job.lines = await self._sent(job, producer)
        except RocketWireError as error:
            job.error = error
            self._stop.asked.set()
        job.done = True
        await self._write()

    async def _write(self) -> None:
        """Write what is known, as far as everything before it is known too."""
        async with self._turn:
            while self._jobs and self._jobs[0].done:
                job = self._jobs.popleft()
                if job.error is not None:
                    self._failed += [_unsent(job.error)] * len(job.bodies)
                    self._lost += range(job.number, job.number + len(job.bodies))
                    self._fail(job.number, job.error)
                    continue
                try:
                    for line in (*self._failed, *job.lines):
                        await self._output.write(line)
                except BrokenPipeError:
                    self._fail(job.number, RefusedError("nobody reads what became of it"))
                self._failed.clear()

    def _fail(self, number: int, cause: Exception) -> None:
        """Begin nothing more."""
        self._stop.asked.set()
        if self.error is None:
            self.error = LineError(number)
            self.error.__cause__ = cause

    async def _sent(self, job: _Job, producer: Producer) -> list[dict[str, Value]]:
        messages = [self._message(body) for body in job.bodies]
        first = messages[0]
        if self._outcome is not None:
            outcome = self._outcome
            ended = await producer.send_in_transaction(first, lambda message, half: outcome)
            (line,) = _lines(ended.send_result, 1)
            return [{**line, "transactionState": ended.state.name}]
        queue = None
        if self._wanted.order_key:
            queue = queue_by_hash(await producer.queues(first.topic), self._wanted.order_key)
        if self._wanted.oneway:
            return [_oneway(await producer.send_oneway(first, queue))]
        if self._wanted.batch:
            result = await producer.send_batch(messages, queue=queue)
        elif queue is not None:
            result = await producer.send_to(first, queue)
        else:
            result = await producer.send(first)
        return _lines(result, len(messages))

    def _message(self, body: bytes) -> Message:
        wanted = self._wanted
        return Message(
            wanted.topic,
            body,
            tags=wanted.tag,
            keys=wanted.key,
            properties=dict(wanted.property),
            delay_level=wanted.delay_level or 0,
        )


def others(lost: Sequence[int], following: int | None) -> str:
    """What to say of the messages behind the first that failed.

    Args:
        lost: those that failed too, in order.
        following: the first that was not begun; None where all were.
    """
    runs: list[list[int]] = []
    for number in lost:
        if runs and runs[-1][-1] == number - 1:
            runs[-1][1:] = [number]
        else:
            runs.append([number])
    words = ", ".join("-".join(map(str, run)) for run in runs)
    text = f"; no acknowledgement either of {words}" if words else ""
    return text if following is None else f"{text}; none from {following} on was sent"


def _unsent(error: RocketWireError) -> dict[str, Value]:
    """What to write of a message that was not acknowledged."""
    return {"status": "FAILED", "msgId": None, **_NOWHERE, "error": line_of(error)}


def _lines(result: SendResult, count: int) -> list[dict[str, Value]]:
    """What to write of each message of a request."""
    ids = result.msg_id.split(",")
    offset_ids = result.offset_msg_id.split(",")
    return [
        {
            "status": result.status.name,
            "msgId": ids[at] if at < len(ids) else None,
            "offsetMsgId": offset_ids[at] if at < len(offset_ids) else None,
            "brokerName": result.message_queue.broker_name,
            "queueId": result.message_queue.queue_id,
            "queueOffset": result.queue_offset + at,
        }
        for at in range(count)
    ]


def _oneway(msg_id: str) -> dict[str, Value]:
    return {"status": "ONEWAY", "msgId": msg_id, **_NOWHERE}
