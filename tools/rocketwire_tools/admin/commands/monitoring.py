"""``startMonitoring``: checks all consuming groups at intervals; writes JSON lines."""

from __future__ import annotations

import sys
from contextlib import aclosing
from typing import TYPE_CHECKING, Final

import trio

from rocketwire.client.admin import Admin, open_admin
from rocketwire.client.periodic import now_millis
from rocketwire.errors import RocketWireError
from rocketwire.policy.resource_names import RETRY_PREFIX, is_retry_topic
from rocketwire_tools.admin import mqadmin_options as mq
from rocketwire_tools.cli.arguments import seconds
from rocketwire_tools.cli.command import Command, Context, Value
from rocketwire_tools.cli.signals import stopping
from rocketwire_tools.cli.stdio import JsonLines
from rocketwire_tools.numbers import positive

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Iterator, Mapping

    from rocketwire.messages.callbacks import ConsumerRunningInfo, ProcessQueueInfo
    from rocketwire.messages.message_queue import MessageQueue
    from rocketwire.messages.queries import OffsetWrapper

_BLOCKED_MILLIS: Final = 60_000
"""Idle time of a queue that is reported (Java: ``ConsumerRunningInfo.analyzeProcessQueue``)."""

_Line = dict[str, "Value"]


async def _monitor(context: Context) -> None:
    args = context.arguments
    output = JsonLines(sys.stdout.fileno())
    async with (
        stopping() as stop,
        open_admin(context.config, within=context.request_timeout) as admin,
        stop.cancel_when_stopped(),
    ):
        number = 0
        while args.rounds is None or number < args.rounds:
            if number:
                await trio.sleep(args.interval)
            number += 1
            async with aclosing(_findings(admin)) as findings:
                async for line in findings:
                    await output.write({"round": number, "time": now_millis(), **line})


async def _findings(admin: Admin) -> AsyncGenerator[_Line]:
    # Findings of one round; groups without connected members are skipped, as in Java
    for name in sorted(await admin.topics.names()):
        if not is_retry_topic(name):
            continue
        group = name.removeprefix(RETRY_PREFIX)
        try:
            await admin.consumers.connection(group)
            table = (await admin.consumers.stats(group)).offset_table or {}
            infos = await admin.consumers.running_infos(group)
        except RocketWireError:
            continue
        for topic in sorted({queue.topic or "" for queue in table}):
            of_topic = {queue: offsets for queue, offsets in table.items() if queue.topic == topic}
            yield {"kind": "undone", "group": group, "topic": topic, **await _lag(admin, of_topic)}
        for line in find_member_problems(infos):
            yield {**line, "group": group}


async def _lag(admin: Admin, table: Mapping[MessageQueue, OffsetWrapper]) -> _Line:
    lags = [offsets.broker_offset - offsets.consumer_offset for offsets in table.values()]
    delay = 0
    for queue, offsets in table.items():
        if offsets.last_timestamp > 0 and offsets.broker_offset > 0:
            try:
                newest = await admin.messages.at(queue, offsets.broker_offset - 1)
            except RocketWireError:
                continue
            if newest is not None:
                delay = max(delay, newest.store_timestamp - offsets.last_timestamp)
    return {
        "total": sum(lag for lag in lags if lag > 0),
        "singleQueue": max(0, *lags),
        "delayMillis": delay,
    }


def find_member_problems(infos: Mapping[str, ConsumerRunningInfo]) -> Iterator[_Line]:
    subscriptions = {
        tuple(
            sorted(
                (subscription.topic or "", subscription.sub_string or "")
                for subscription in info.subscription_set or ()
            )
        )
        for info in infos.values()
    }
    if len(subscriptions) > 1:
        yield {"kind": "subscriptions", "finding": "members have different subscriptions"}
    for client_id, info in infos.items():
        orderly = (info.properties or {}).get("PROP_CONSUMEORDERLY") == "true"
        for queue, process in (info.mq_table or {}).items():
            finding = _find_queue_problem(process, orderly=orderly)
            if finding is not None:
                queue_name = f"{queue.topic}/{queue.broker_name}/{queue.queue_id}"
                yield {
                    "kind": "queue",
                    "clientId": client_id,
                    "queue": queue_name,
                    "finding": finding,
                }


def _find_queue_problem(process: ProcessQueueInfo, *, orderly: bool) -> str | None:
    now = now_millis()
    if orderly:
        if not process.locked:
            return f"not locked for {now - process.last_lock_timestamp} ms"
        if process.droped and process.try_unlock_times > 0:
            return f"failed to unlock {process.try_unlock_times} times"
        return None
    waited = now - process.last_consume_timestamp
    if waited > _BLOCKED_MILLIS and process.cached_msg_count > 0:
        return f"{process.cached_msg_count} messages wait; none was consumed for {waited} ms"
    return None


COMMANDS: Final = (
    Command(name="startMonitoring", help="report lags of groups and faults of members at intervals",
        run=_monitor,
        options=(
            mq.option("-i --interval", "seconds between rounds (default 60)", type=seconds,
                default=60.0),
            mq.option("--rounds", "number of rounds (default: unlimited)", type=positive),
        ),
        group="consumers and producers", streams=True,
        epilog="SIGINT and SIGTERM end it (exit status 0)."),
)  # fmt: skip
