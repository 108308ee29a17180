"""``consume``: prints the messages of a topic as JSON lines, with a consumer of any type.

Only printed messages are acknowledged. Messages are handled one at a time: if a handler reaches the
requested count, all earlier messages are complete. The handler then ends the consumer and is
cancelled with it, so that its own message is redelivered.
"""

from __future__ import annotations

import argparse
import base64
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, TypeVar

import trio

from rocketwire.client import (
    ClientInstance,
    ConsumeConcurrentlyContext,
    ConsumeConcurrentlyStatus,
    ConsumeOrderlyContext,
    ConsumeOrderlyStatus,
    LitePullConsumer,
    LitePullConsumerConfig,
    PopConsumerConfig,
    PushConsumerConfig,
    open_client,
    open_lite_pull_consumer,
    open_pop_consumer,
    open_push_consumer,
)
from rocketwire.client.consumer.member import check_expression
from rocketwire.client.consumer.pop.pop import InitMode
from rocketwire.client.consumer.pull import PullRequest, build_pull_header
from rocketwire.codes import RequestCode, ResponseCode
from rocketwire.errors import BrokerError, ChannelError, LocalProtocolError
from rocketwire.messages import message_const as const
from rocketwire.messages.enums import ConsumeFromWhere, MessageModel
from rocketwire.messages.message_queue import MessageQueue
from rocketwire.policy.pop_handle import handle_of
from rocketwire.policy.resource_names import with_namespace
from rocketwire.policy.subscription import looks_like_sql, subscription_data
from rocketwire_tools.admin import mqadmin_options as mq
from rocketwire_tools.cli.arguments import seconds
from rocketwire_tools.cli.command import Command, Context, RefusedError, UsageError
from rocketwire_tools.cli.exit_status import raise_if_denied
from rocketwire_tools.cli.stdio import JsonLines, Stop, stopping
from rocketwire_tools.values import FORMS, parse_time, positive

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from rocketwire.client.consumer.config import Filter
    from rocketwire.client.consumer.lite.lite_pull_consumer import Polled
    from rocketwire.messages.route import TopicRouteData
    from rocketwire.wire.message.stored import StoredMessage
    from rocketwire_tools.cli.command import Value


def as_members(message: StoredMessage, topic: str, broker_name: str) -> dict[str, Value]:
    """The members of its JSON object; ``topic`` is the subscribed one, without namespace."""
    properties = dict(message.properties or {})
    text, encoded = _body(message.body or b"")
    members: dict[str, Value] = {
        "msgId": message.msg_id,
        "topic": topic,
        "tags": properties.get(const.TAGS),
        "keys": properties.get(const.KEYS),
        "body": text,
        "brokerName": broker_name,
        "queueId": message.queue_id,
        "queueOffset": message.queue_offset,
        "reconsumeTimes": message.reconsume_times,
        "properties": properties,
    }
    if encoded is not None:
        members["bodyBase64"] = encoded
    return members


def _body(body: bytes) -> tuple[str | None, str | None]:
    try:
        return body.decode(), None
    except UnicodeDecodeError:
        return None, base64.b64encode(body).decode()


class MessagePrinter:
    def __init__(self, output: JsonLines, topic: str, count: int | None, stop: Stop) -> None:
        self.printed = 0
        self.last = trio.current_time()  # trio's time of the last message, initially of the start
        self.timed_out = False  # whether the timeout requested the stop
        self._output = output
        self._topic = topic
        self._count = count
        self._stop = stop
        self._turn = trio.Lock()

    async def show(self, message: StoredMessage, broker_name: str) -> bool:
        """Print a message; False if the count is reached or the reader is gone."""
        async with self._turn:
            if self._stop.is_requested:
                return False
            try:
                await self._output.write(as_members(message, self._topic, broker_name))
            except BrokenPipeError:
                self._stop.requested.set()
                return False
            self.printed += 1
            self.last = trio.current_time()
            if self.printed == self._count:
                self._stop.requested.set()
            return True

    @property
    def is_short(self) -> bool:
        return self._count is not None and self.printed < self._count

    async def watch(self, seconds: float | None) -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._watch_reader)
            if seconds is not None:
                nursery.start_soon(self._watch_clock, seconds)

    async def _watch_reader(self) -> None:
        await self._output.until_reader_closes()
        self._stop.requested.set()

    async def _watch_clock(self, seconds: float) -> None:
        last = None
        while last != self.last:
            last = self.last
            await trio.sleep_until(last + seconds)
        self.timed_out = True
        self._stop.requested.set()


_NO_QUEUE: Final = -1


# A consumer retries for ever, because a broker may come back. The user of the command line needs
# the error at once: is a broker reachable, and does the user have permission?


async def connect_to_any(client: ClientInstance, route: TopicRouteData) -> tuple[str, str] | None:
    """Connect to a broker of a topic; None without one, ``ChannelError`` if none responds."""
    failure: ChannelError | None = None
    for broker in route.broker_datas or ():
        for address in (broker.broker_addrs or {}).values():
            try:
                await client.pool.connect(address)
            except ChannelError as error:
                failure = error
            else:
                return broker.broker_name or "", address
    if failure is not None:
        raise failure
    return None


async def check_permissions(
    client: ClientInstance, args: argparse.Namespace, broker: str, address: str
) -> None:
    """Send what a consumer will send; ``BrokerError`` 16, or 1 of 4.x's plain ACL, denies it."""
    namespace = client.config.namespace
    topic, group = (with_namespace(namespace, name) for name in (args.topic, args.group))
    queue = MessageQueue(topic=topic, broker_name=broker, queue_id=0)
    try:
        stored_offset = await client.brokers.consumer_offset(
            address, group, queue, zero_if_not_found=False if args.start else None
        )
        if client.config.credentials is not None:
            await _pull_nothing(client, address, group, queue)
            if stored_offset is None and args.start != "first" and not (args.pop or args.broadcast):
                await _look_up_start(client, address, queue, args.start)
    except BrokerError as error:
        raise_if_denied(error)
    except ChannelError:
        return  # the consumer will try again


async def _pull_nothing(
    client: ClientInstance, address: str, group: str, queue: MessageQueue
) -> None:
    # Pull from a queue that does not exist: the plain ACL of 4.x checks topics only in pulls
    request = PullRequest(
        queue=MessageQueue(topic=queue.topic, broker_name=queue.broker_name, queue_id=_NO_QUEUE),
        offset=0,
        group=group,
        subscription=subscription_data(queue.topic or "", version=0),
        suspend_timeout=0,
        send_subscription=True,
    )
    try:
        await client.brokers.call(
            address, RequestCode.PULL_MESSAGE, build_pull_header(request, to_slave=False)
        )
    except BrokerError as error:
        raise_if_denied(error)


async def _look_up_start(
    client: ClientInstance, address: str, queue: MessageQueue, start: str | None
) -> None:
    # Look up the start offset. Brokers of 5.x may allow a user to read a topic but not to query its
    # offsets. A group without stored offsets then never starts.
    if start is None or start == "last":
        await client.brokers.max_offset(address, queue)
    else:
        await client.brokers.search_offset(address, queue, int(start))


Status = TypeVar("Status")

MODES: Final = ("orderly", "pop", "broadcast", "pull")
"""Options that select the type of consumer; the default is a push consumer."""

SQL: Final = "sql:"
"""Prefix of a filter that is an SQL92 expression."""

GRACE: Final = 3.0
"""Seconds to finish printing a message after a stop; after that it counts as not printed."""

FROM: Final = {
    "first": ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET,
    "last": ConsumeFromWhere.CONSUME_FROM_LAST_OFFSET,
}


async def consume(context: Context) -> None:
    args = context.arguments
    _check(args)
    async with (
        stopping() as stop,
        open_client(context.config, own_instance=not args.broadcast) as client,
    ):
        route = await client.route(with_namespace(context.config.namespace, args.topic))
        reachable = await connect_to_any(client, route)
        if reachable is not None:
            await check_permissions(client, args, *reachable)
        output = JsonLines(sys.stdout.fileno())
        printing = MessagePrinter(output, args.topic, args.count, stop)
        consuming = _Consuming(client, args, printing, stop)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(printing.watch, args.timeout)
            await consuming.run()
            nursery.cancel_scope.cancel()
    if printing.timed_out and printing.is_short:
        raise RefusedError(
            f"{printing.printed} of {args.count} messages arrived, then none for {args.timeout:g} s"
        )


def _check(args: argparse.Namespace) -> None:
    modes = [mode for mode in MODES if getattr(args, mode)]
    if len(modes) > 1:
        raise UsageError(f"--{modes[0]} and --{modes[1]} cannot be combined")
    for mode in ("broadcast", "pull"):
        if args.fail_first and getattr(args, mode):
            raise UsageError(f"--fail-first has no effect with --{mode}, which has no retries")
    if args.pop and (args.start or "last") not in FROM:
        raise UsageError("--pop supports only --from first and --from last")
    if isinstance(subscription(args.filter), str) and looks_like_sql(args.filter or ""):
        raise UsageError(
            f"{args.filter!r} looks like SQL: write --filter {f'sql: {args.filter}'!r}"
        )


def subscription(text: str | None) -> Filter:
    if text is not None and text[: len(SQL)].lower() == SQL:
        return (text[len(SQL) :].strip(), "SQL92")
    return text or "*"


def _start(start: str | None) -> dict[str, Any]:
    is_time = start is not None and start not in FROM
    return {
        "consume_from_where": FROM.get(start or "last", ConsumeFromWhere.CONSUME_FROM_TIMESTAMP),
        "consume_timestamp_millis": int(start) if start is not None and is_time else None,
        "exact_start": start is not None,
    }


class _Consuming:
    def __init__(
        self, client: ClientInstance, args: argparse.Namespace, printing: MessagePrinter, stop: Stop
    ) -> None:
        self._client = client
        self._args = args
        self._printing = printing
        self._stop = stop
        self._scope = trio.CancelScope()
        self._filter = subscription(args.filter)

    async def run(self) -> None:
        modes: dict[str, Callable[[], Awaitable[None]]] = {"pop": self._pop, "pull": self._pull}
        selected = next((run for mode, run in modes.items() if getattr(self._args, mode)), None)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._cancel_after_grace)
            with self._scope:
                await (selected or self._push)()
            nursery.cancel_scope.cancel()

    async def _cancel_after_grace(self) -> None:
        await self._stop.requested.wait()
        await trio.sleep(GRACE)
        self._scope.cancel()

    async def _leave(self) -> None:
        # End the consumer from its handler; never returns, so the message stays unacknowledged
        self._scope.cancel()
        await trio.sleep_forever()

    def _must_fail(self, message: StoredMessage) -> bool:
        return self._args.fail_first and message.reconsume_times == 0

    async def _push(self) -> None:
        args = self._args
        model = MessageModel.BROADCASTING if args.broadcast else MessageModel.CLUSTERING
        config = PushConsumerConfig(
            message_model=model, consume_thread_max=1, await_termination=GRACE, **_start(args.start)
        )
        status, orderly = ConsumeConcurrentlyStatus, ConsumeOrderlyStatus
        concurrently = self._handle(status.CONSUME_SUCCESS, status.RECONSUME_LATER)
        in_order = self._handle(orderly.SUCCESS, orderly.SUSPEND_CURRENT_QUEUE_A_MOMENT)
        async with open_push_consumer(
            self._client,
            args.group,
            {args.topic: self._filter},
            None if args.orderly else concurrently,
            orderly_listener=in_order if args.orderly else None,
            config=config,
        ):
            await self._stop.requested.wait()

    def _handle(self, done: Status, failed: Status) -> Callable[..., Awaitable[Status]]:
        async def handle(
            messages: Sequence[StoredMessage],
            context: ConsumeConcurrentlyContext | ConsumeOrderlyContext,
        ) -> Status:
            for message in messages:
                if not await self._printing.show(message, context.message_queue.broker_name or ""):
                    await self._leave()
                if self._must_fail(message):
                    return failed
            return done

        return handle

    async def _pop(self) -> None:
        args = self._args
        await self._check_pops()
        defaults = PopConsumerConfig()
        config = PopConsumerConfig(
            init_mode=InitMode.MIN if args.start == "first" else InitMode.MAX,
            pop_batch_nums=min(args.count or defaults.pop_batch_nums, defaults.pop_batch_nums),
            consume_thread_max=1,
            await_termination=GRACE,
        )
        async with open_pop_consumer(
            self._client, args.group, {args.topic: self._filter}, self._handle_popped, config=config
        ):
            await self._stop.requested.wait()

    async def _check_pops(self) -> None:
        # Raise ``BrokerError`` if a broker does not support pop: consumers would retry forever
        from rocketwire.client.admin import open_admin

        namespace = self._client.config.namespace
        topic, group = (
            with_namespace(namespace, name) for name in (self._args.topic, self._args.group)
        )
        async with open_admin(self._client) as admin:
            for address in (await admin.clusters.of_topic(topic)).values():
                try:
                    await admin.lite.polling_num(address, group, topic)
                except BrokerError as error:
                    if error.code == ResponseCode.REQUEST_CODE_NOT_SUPPORTED:
                        raise
                except ChannelError:
                    continue  # the consumer waits until the broker is back

    async def _handle_popped(self, message: StoredMessage) -> bool:
        if not await self._printing.show(message, handle_of(message).broker_name):
            return False
        return not self._must_fail(message)

    async def _pull(self) -> None:
        args = self._args
        config = LitePullConsumerConfig(**_start(args.start))
        text, expression_type = (
            self._filter if isinstance(self._filter, tuple) else (self._filter, None)
        )
        namespace = self._client.config.namespace
        requested = subscription_data(
            with_namespace(namespace, args.topic), text, expression_type=expression_type, version=0
        )
        await check_expression(self._client, with_namespace(namespace, args.group), requested)
        async with open_lite_pull_consumer(self._client, args.group, config=config) as consumer:
            consumer.subscribe(args.topic, text, expression_type=expression_type)
            while not self._stop.is_requested:
                polled = await self._poll(consumer)
                if polled is not None:
                    await self._print_all(consumer, polled)
            await consumer.commit()

    async def _poll(self, consumer: LitePullConsumer) -> Polled | None:
        polled = None
        async with self._stop.cancel_when_stopped():
            while polled is None:
                polled = await consumer.poll()
        return polled

    async def _print_all(self, consumer: LitePullConsumer, polled: Polled) -> None:
        # Print polled messages; moves the position back to the first one that was not printed
        queue = polled.message_queue
        for message in polled.messages:
            if not await self._printing.show(message, queue.broker_name or ""):
                with suppress(LocalProtocolError):  # another member may own the queue now
                    consumer.go_back(queue, message.queue_offset)
                return


_EPILOG: Final = """\
Each message is written as one JSON object on a line:
  {"msgId":...,"topic":...,"tags":...,"keys":...,"body":...,"brokerName":...,"queueId":...,
   "queueOffset":...,"reconsumeTimes":...,"properties":{...}}
If the body is not UTF-8, "body" is null and "bodyBase64" has the body.

Only printed messages count as consumed. A message beyond --count, or one that the reader of the
output did not accept, is delivered to other members or next time. SIGINT, SIGTERM and a closed
output (| head) end the program with stored offsets and exit status 0. If --timeout and --count are
both set, the exit status is 1 if fewer messages arrived.

examples:
  rocketwire-admin consume -n localhost:9876 -t orders -g watchers --filter 'new || paid'
  rocketwire-admin consume -n localhost:9876 -t orders -g sums \\
      --filter "sql: a > 5 AND b = 'x'" --from first --timeout 10
  rocketwire-admin consume -n localhost:9876 -t orders -g once --count 1 | jq -r .body
"""


def start_of_group(text: str) -> str:
    if text in ("first", "last"):
        return text
    try:
        return str(parse_time(text))
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text!r}: must be first, last, {FORMS}") from error


_OPTIONS: Final = (
    mq.option("-t --topic", "name of the topic", required=True),
    mq.option("-g --group", "consumer group; its members share the messages", required=True),
    mq.option("--filter", "tags such as 'a || b', or SQL92 on properties such as \"sql: a > 5\"",
        metavar="EXPR"),
    mq.option_group(
        "type of consumer (default: push, concurrent)",
        mq.option("--orderly", "consume each queue in order, locked for this member", switch=True),
        mq.option("--pop", "pop and acknowledge each message; queues have no owner", switch=True),
        mq.option("--broadcast",
            "receive all messages; offsets are stored in ~/.rocketmq_offsets", switch=True),
        mq.option("--pull", "lite pull: poll messages and commit after printing", switch=True),
    ),
    mq.option("--from",
        "start of a group without stored offsets: the oldest message, after the newest, or a "
        f"time: {FORMS} (default as in Java: after the newest message, or the start of a new "
        "topic)",
        dest="start", type=start_of_group, metavar="first|last|TIME"),
    mq.option("--count", "end after N messages", type=positive, metavar="N"),
    mq.option("--timeout", "end after S seconds without a message", type=seconds, metavar="S"),
    mq.option("--fail-first", "fail the first delivery of each message, to see its redelivery",
        switch=True),
)  # fmt: skip

COMMANDS: Final = (
    Command(name="consume", help="print the messages of a topic as they arrive", options=_OPTIONS,
        run=consume, epilog=_EPILOG, group="messages", streams=True),
)  # fmt: skip
