"""What ``consume`` does: a consumer of any kind whose handler prints.

Rules of this file: what was printed is acknowledged, and nothing else.  Messages are handled one after the other, so that a
handler that finds that there were enough knows that those before it are done with; it then ends the consumer and is cancelled
with it, which leaves its message to others.
"""

from __future__ import annotations

import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Final, TypeAlias

import trio

from rocketwire.client import (
    ClientInstance,
    ConsumeConcurrentlyStatus,
    ConsumeOrderlyStatus,
    LitePullConsumerConfig,
    PopConsumerConfig,
    PushConsumerConfig,
    open_client,
    open_lite_pull_consumer,
    open_pop_consumer,
    open_push_consumer,
)
from rocketwire.client.consumer.filter_check import check_expression
from rocketwire.client.consumer.pop.pop import InitMode
from rocketwire.codes import ResponseCode
from rocketwire.errors import BrokerError, ChannelError, LocalProtocolError
from rocketwire.messages.enums import ConsumeFromWhere, MessageModel
from rocketwire.policy.pop_handle import handle_of
from rocketwire.policy.resource_names import with_namespace
from rocketwire.policy.subscription import subscription_data
from rocketwire_tools.admin.actions.message_output import Printing
from rocketwire_tools.admin.actions.preflight import check_permissions, reach_any
from rocketwire_tools.admin.cli.signals import stopping
from rocketwire_tools.admin.cli.stdio import JsonLines
from rocketwire_tools.admin.command import RefusedError, UsageError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Awaitable, Callable, Sequence

    from rocketwire.client import (
        ConsumeConcurrentlyContext,
        ConsumeOrderlyContext,
        LitePullConsumer,
    )
    from rocketwire.client.consumer.config import Filter
    from rocketwire.client.consumer.lite.lite_pull_state import Polled
    from rocketwire.wire.message.stored import StoredMessage
    from rocketwire_tools.admin.cli.signals import Stop
    from rocketwire_tools.admin.command import Context

MODES: Final = ("orderly", "pop", "broadcast", "pull")
"""Options that choose a consumer; without any it is a push consumer."""

SQL: Final = "sql:"
"""In front of a filter that is an SQL92 expression."""

GRACE: Final = 3.0
"""Seconds for a message that is being printed when it is time to stop; after that it counts as not printed."""

FROM: Final = {
    "first": ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET,
    "last": ConsumeFromWhere.CONSUME_FROM_LAST_OFFSET,
}


async def consume(context: Context) -> None:
    """Run the command.

    Raises:
        UsageError: options that do not go together.
        RefusedError: fewer messages came in time than were wanted.
    """
    wanted = context.arguments
    _check(wanted)
    async with (
        stopping() as stop,
        open_client(context.config, own_instance=not wanted.broadcast) as client,
    ):
        route = await client.route(with_namespace(context.config.namespace, wanted.topic))
        reached = await reach_any(client, route)
        if reached is not None:
            await check_permissions(client, wanted, *reached)
        output = JsonLines(sys.stdout.fileno())
        printing = Printing(output, wanted.topic, wanted.count, stop)
        consuming = _Consuming(client, wanted, printing, stop)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(printing.watch, wanted.timeout)
            await consuming.run()
            nursery.cancel_scope.cancel()
    if printing.timed_out and printing.is_short:
        raise RefusedError(
            f"{printing.printed} of {wanted.count} messages came, and none for {wanted.timeout:g} s"
        )


def _check(wanted: argparse.Namespace) -> None:
    """Raises ``UsageError`` for options that do not go together."""
    modes = [mode for mode in MODES if getattr(wanted, mode)]
    if len(modes) > 1:
        raise UsageError(f"--{modes[0]} and --{modes[1]} do not go together")
    for mode in ("broadcast", "pull"):
        if wanted.fail_first and getattr(wanted, mode):
            raise UsageError(f"--{mode} has no retries, which --fail-first would show")
    if wanted.pop and (wanted.start or "last") not in FROM:
        raise UsageError("with --pop a group begins at its first or its last message")


def subscription(text: str | None) -> Filter:
    """What a filter means: tags, or an SQL92 expression after ``sql:``."""
    if text is not None and text[: len(SQL)].lower() == SQL:
        return (text[len(SQL) :].strip(), "SQL92")
    return text or "*"


_Place: TypeAlias = tuple[ConsumeFromWhere, int | None]


def _place(start: str | None) -> _Place:
    """Where a group begins: in Java's words, and milliseconds since 1970 if at a time."""
    if start is None:
        return ConsumeFromWhere.CONSUME_FROM_LAST_OFFSET, None
    if start in FROM:
        return FROM[start], None
    return ConsumeFromWhere.CONSUME_FROM_TIMESTAMP, int(start)


class _Consuming:
    """A run of the command."""

    def __init__(
        self, client: ClientInstance, wanted: argparse.Namespace, printing: Printing, stop: Stop
    ) -> None:
        """Nothing is consumed before ``run``."""
        self._client = client
        self._wanted = wanted
        self._printing = printing
        self._stop = stop
        self._scope = trio.CancelScope()
        self._filter = subscription(wanted.filter)

    async def run(self) -> None:
        """Consume until it is time to stop."""
        modes: dict[str, Callable[[], Awaitable[None]]] = {"pop": self._pop, "pull": self._pull}
        chosen = next((run for mode, run in modes.items() if getattr(self._wanted, mode)), None)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._end_soon)
            with self._scope:
                await (chosen or self._push)()
            nursery.cancel_scope.cancel()

    async def _end_soon(self) -> None:
        """When it is time to stop, have an end even if nobody takes what is being printed."""
        await self._stop.asked.wait()
        await trio.sleep(GRACE)
        self._scope.cancel()

    async def _leave(self) -> None:
        """Called by a handler whose message was not printed: does not return, and leaves the message unhandled."""
        self._scope.cancel()
        await trio.sleep_forever()

    def _fails(self, message: StoredMessage) -> bool:
        """Whether to say that a message could not be handled."""
        return self._wanted.fail_first and message.reconsume_times == 0

    # ------------------------------------------------------------------ pushed

    async def _push(self) -> None:
        wanted = self._wanted
        where, millis = _place(wanted.start)
        model = MessageModel.BROADCASTING if wanted.broadcast else MessageModel.CLUSTERING
        config = PushConsumerConfig(
            message_model=model,
            consume_from_where=where,
            consume_timestamp_millis=millis,
            begin_as_told=wanted.start is not None,
            consume_thread_max=1,
            await_termination=GRACE,
        )
        async with open_push_consumer(
            self._client,
            wanted.group,
            {wanted.topic: self._filter},
            None if wanted.orderly else self._concurrently,
            orderly_listener=self._orderly if wanted.orderly else None,
            config=config,
        ):
            await self._stop.asked.wait()

    async def _concurrently(
        self, messages: Sequence[StoredMessage], context: ConsumeConcurrentlyContext
    ) -> ConsumeConcurrentlyStatus:
        for message in messages:
            if not await self._printing.show(message, context.message_queue.broker_name or ""):
                await self._leave()
            if self._fails(message):
                return ConsumeConcurrentlyStatus.RECONSUME_LATER
        return ConsumeConcurrentlyStatus.CONSUME_SUCCESS

    async def _orderly(
        self, messages: Sequence[StoredMessage], context: ConsumeOrderlyContext
    ) -> ConsumeOrderlyStatus:
        for message in messages:
            if not await self._printing.show(message, context.message_queue.broker_name or ""):
                await self._leave()
            if self._fails(message):
                return ConsumeOrderlyStatus.SUSPEND_CURRENT_QUEUE_A_MOMENT
        return ConsumeOrderlyStatus.SUCCESS

    # ------------------------------------------------------------------ popped

    async def _pop(self) -> None:
        wanted = self._wanted
        await self._check_pops()
        usual = PopConsumerConfig()
        config = PopConsumerConfig(
            init_mode=InitMode.MIN if wanted.start == "first" else InitMode.MAX,
            pop_batch_nums=min(wanted.count or usual.pop_batch_nums, usual.pop_batch_nums),
            consume_thread_max=1,
            await_termination=GRACE,
        )
        async with open_pop_consumer(
            self._client, wanted.group, {wanted.topic: self._filter}, self._popped, config=config
        ):
            await self._stop.asked.wait()

    async def _check_pops(self) -> None:
        """Raises what a broker answers that knows no pops: a consumer would go on asking it for ever."""
        from rocketwire.client.admin import open_admin

        namespace = self._client.config.namespace
        topic, group = (
            with_namespace(namespace, one) for one in (self._wanted.topic, self._wanted.group)
        )
        async with open_admin(self._client) as admin:
            for address in (await admin.clusters.of_topic(topic)).values():
                try:
                    await admin.lite.polling_num(address, group, topic)
                except BrokerError as error:
                    if error.code == ResponseCode.REQUEST_CODE_NOT_SUPPORTED:
                        raise
                except ChannelError:
                    continue  # the consumer waits for it to come back

    async def _popped(self, message: StoredMessage) -> bool:
        """One that is not printed any more is given back, for otherwise it would stay hidden for a minute."""
        if not await self._printing.show(message, handle_of(message).broker_name):
            return False
        return not self._fails(message)

    # ------------------------------------------------------------------ pulled

    async def _pull(self) -> None:
        wanted = self._wanted
        where, millis = _place(wanted.start)
        config = LitePullConsumerConfig(
            consume_from_where=where,
            consume_timestamp_millis=millis,
            begin_as_told=wanted.start is not None,
        )
        text, kind = self._filter if isinstance(self._filter, tuple) else (self._filter, None)
        namespace = self._client.config.namespace
        asked = subscription_data(
            with_namespace(namespace, wanted.topic), text, expression_type=kind, version=0
        )
        await check_expression(self._client, with_namespace(namespace, wanted.group), asked)
        async with open_lite_pull_consumer(self._client, wanted.group, config=config) as consumer:
            consumer.subscribe(wanted.topic, text, expression_type=kind)
            while not self._stop.is_asked:
                polled = await self._polled(consumer)
                if polled is not None:
                    await self._print_all(consumer, polled)
            await consumer.commit()

    async def _polled(self, consumer: LitePullConsumer) -> Polled | None:
        """The next messages; None when it is time to stop."""
        polled = None
        async with trio.open_nursery() as nursery:

            async def stop() -> None:
                await self._stop.asked.wait()
                nursery.cancel_scope.cancel()

            nursery.start_soon(stop)
            while polled is None:
                polled = await consumer.poll()
            nursery.cancel_scope.cancel()
        return polled

    async def _print_all(self, consumer: LitePullConsumer, polled: Polled) -> None:
        """Print them; those that are not printed are as if they had not been polled."""
        queue = polled.message_queue
        for message in polled.messages:
            if not await self._printing.show(message, queue.broker_name or ""):
                with suppress(LocalProtocolError):  # the queue may be somebody else's by now
                    consumer.go_back(queue, message.queue_offset)
                return
