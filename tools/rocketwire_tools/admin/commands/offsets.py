"""Offsets of groups: ``resetOffsetByTime``, ``skipAccumulatedMessage``, etc."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rocketwire.messages.message_queue import MessageQueue
from rocketwire_tools.admin.cli import mqadmin_options as mq
from rocketwire_tools.admin.cli.arguments import host_and_port
from rocketwire_tools.admin.command import Table, UsageError

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Mapping

    from rocketwire.client.admin import Admin


def _offset_table(offsets: Mapping[MessageQueue, int]) -> Table:
    rows = sorted(
        (queue.broker_name or "", queue.queue_id, offset) for queue, offset in offsets.items()
    )
    return Table("brokerName queueId:number offset:number", rows)


async def _reset(admin: Admin, args: Namespace) -> Table:
    group, topic = args.group, args.topic
    if args.broker is None:
        return _offset_table(
            await admin.offsets.move(
                group, topic, args.timestamp, force=args.force, by=args.cluster
            )
        )
    if args.queue is None:
        raise UsageError("--broker needs --queue")
    name = await admin.clusters.broker_name(args.broker)
    queue = MessageQueue(topic=topic, broker_name=name, queue_id=args.queue)
    offset: int | None = args.offset
    if offset is None:
        offset = await admin.client.brokers.search_offset(args.broker, queue, args.timestamp)
    return _offset_table(await admin.offsets.reset_queue(args.broker, group, queue, offset))


async def _reset_old(admin: Admin, args: Namespace) -> Table:
    resets = await admin.offsets.reset_by_time_old(
        args.group, args.topic, args.timestamp, force=args.force, by=args.cluster
    )
    rows = [
        (
            reset.broker_name, reset.queue_id, reset.broker_offset, reset.consumer_offset,
            reset.timestamp_offset, reset.rollback_offset,
        )
        for reset in resets
    ]  # fmt: skip
    return Table(
        "brokerName queueId:number brokerOffset:number consumerOffset:number "
        "timestampOffset:number rollbackOffset:number",
        rows,
    )


async def _skip(admin: Admin, args: Namespace) -> Table:
    return _offset_table(
        await admin.offsets.skip_accumulated(
            args.group, args.topic, force=args.force, by=args.cluster
        )
    )


async def _clone(admin: Admin, args: Namespace) -> Table:
    return _offset_table(await admin.offsets.copy(args.src_group, args.dest_group, args.topic))


async def _show_members(admin: Admin, args: Namespace) -> Table:
    table = await admin.offsets.of_members(args.group, args.topic, args.origin_client_id)
    rows = sorted(
        (client, queue.broker_name or "", queue.queue_id, offset)
        for client, queues in table.items()
        for queue, offset in queues.items()
    )
    return Table("clientId brokerName queueId:number offset:number", rows)


_GROUP: Final = mq.option("-g --group", "name of the consumer group", required=True)
_WHEN: Final = mq.option(
    "-s --timestamp", "now, milliseconds since 1970, or a time such as 2026-01-31#12:00:00:000",
    type=mq.moment, required=True,
)  # fmt: skip
_FORCE: Final = mq.boolean_option("-f --force", "also move offsets forward", default=True)

COMMANDS: Final = mq.in_group(
    "offsets",
    mq.admin_command("resetOffsetByTime", "set the offsets of a group to a time", _reset, _GROUP,
        mq.TOPIC, _WHEN, _FORCE,
        mq.option("-b --broker", "only on the broker with this address", type=host_and_port,
            metavar="ADDR"),
        mq.option("-q --queue", "only this queue", type=int),
        mq.option("-o --offset", "use this offset instead of the time", type=int), mq.VIA),
    mq.admin_command("resetOffsetByTimeOld", "set the offsets of an offline group to a time",
        _reset_old, _GROUP, mq.TOPIC, _WHEN, _FORCE, mq.VIA),
    mq.admin_command("skipAccumulatedMessage", "skip all messages that a group has not consumed",
        _skip, _GROUP, mq.TOPIC, _FORCE, mq.VIA),
    mq.admin_command("cloneGroupOffset", "copy the offsets of one group to another", _clone,
        mq.TOPIC, mq.option("-s --srcGroup", "source group", required=True),
        mq.option("-d --destGroup", "target group", required=True),
        mq.boolean_option("-o --offline", "accepted for mqadmin; has no effect", default=None)),
    mq.admin_command("getConsumerStatus", "show the offsets in the memory of members",
        _show_members, _GROUP, mq.TOPIC, mq.option("-i --originClientId", "only this member")),
)  # fmt: skip
