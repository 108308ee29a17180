"""Offsets of groups: ``resetOffsetByTime``, ``skipAccumulatedMessage``, etc."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rocketwire.client.admin import NOW
from rocketwire.messages.message_queue import MessageQueue
from rocketwire_tools.admin import mqadmin_options as mq
from rocketwire_tools.cli.arguments import host_and_port
from rocketwire_tools.cli.command import Table, UsageError

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Mapping

    from rocketwire.client.admin import Admin


def _offset_table(
    before: Mapping[MessageQueue, int], after: Mapping[MessageQueue, int], millis: int | None = None
) -> Table:
    rows = [
        (queue.broker_name, queue.queue_id, before.get(queue), offset, millis)
        for queue, offset in sorted(after.items(), key=lambda item: _place(item[0]))
    ]
    return Table("brokerName queueId:number before:number offset:number resetTo:time", rows)


def _place(queue: MessageQueue) -> tuple[str, int]:
    return queue.broker_name or "", queue.queue_id


async def _reset(admin: Admin, args: Namespace) -> Table:
    if args.broker is None:
        return await _move(admin, args, args.timestamp)
    if args.queue is None:
        raise UsageError("--broker needs --queue")
    name = await admin.clusters.broker_name(args.broker)
    queue = MessageQueue(topic=args.topic, broker_name=name, queue_id=args.queue)
    brokers, offset, millis = admin.client.brokers, args.offset, None
    if offset is None:
        millis = args.timestamp
        offset = await brokers.search_offset(args.broker, queue, millis)
    present = await brokers.consumer_offset(args.broker, args.group, queue)
    offsets = {queue: offset}
    if not args.dry_run:
        offsets = await admin.offsets.reset_queue(args.broker, args.group, queue, offset)
    return _offset_table({} if present is None else {queue: present}, offsets, millis)


async def _move(admin: Admin, args: Namespace, timestamp: int) -> Table:
    group, topic, force, by = args.group, args.topic, args.force, args.cluster
    before = await admin.offsets.of_group(group, topic, by=by)
    offsets = await admin.offsets.move(
        group, topic, timestamp, force=force, by=by, dry_run=args.dry_run
    )
    return _offset_table(before, offsets, None if timestamp == NOW else timestamp)


async def _reset_old(admin: Admin, args: Namespace) -> Table:
    resets = await admin.offsets.reset_by_time_old(
        args.group, args.topic, args.timestamp, force=args.force, by=args.cluster,
        dry_run=args.dry_run,
    )  # fmt: skip
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
    return await _move(admin, args, NOW)


async def _clone(admin: Admin, args: Namespace) -> Table:
    before = await admin.offsets.of_group(args.dest_group, args.topic)
    offsets = await admin.offsets.copy(
        args.src_group, args.dest_group, args.topic, dry_run=args.dry_run
    )
    return _offset_table(before, offsets)


async def _show_members(admin: Admin, args: Namespace) -> Table:
    table = await admin.offsets.of_members(args.group, args.topic, args.origin_client_id)
    rows = sorted(
        (client, queue.broker_name or "", queue.queue_id, offset)
        for client, queues in table.items()
        for queue, offset in queues.items()
    )
    searched = f"no member of group {args.group} has offsets of topic {args.topic}"
    return Table("clientId brokerName queueId:number offset:number", rows, searched=searched)


_GROUP: Final = mq.option("-g --group", "name of the consumer group", required=True)
_WHEN: Final = mq.option(
    "-s --timestamp", "store time of the next message", type=mq.moment, required=True
)
_FORCE: Final = mq.boolean_option("-f --force", "also move offsets forward", default=True)

COMMANDS: Final = mq.in_group(
    "offsets",
    mq.admin_command("resetOffsetByTime", "set the offsets of a group to a time", _reset, _GROUP,
        mq.TOPIC, _WHEN, _FORCE,
        mq.option("-b --broker", "only on the broker with this address", type=host_and_port,
            metavar="ADDR"),
        mq.option("-q --queue", "only this queue", type=int),
        mq.option("-o --offset", "use this offset instead of the time", type=int), mq.VIA,
        changes=True),
    mq.admin_command("resetOffsetByTimeOld", "set the offsets of an offline group to a time",
        _reset_old, _GROUP, mq.TOPIC, _WHEN, _FORCE, mq.VIA, changes=True),
    mq.admin_command("skipAccumulatedMessage", "skip all messages that a group has not consumed",
        _skip, _GROUP, mq.TOPIC, _FORCE, mq.VIA, changes=True),
    mq.admin_command("cloneGroupOffset", "copy the offsets of one group to another", _clone,
        mq.TOPIC, mq.option("-s --srcGroup", "source group", required=True),
        mq.option("-d --destGroup", "target group", required=True),
        mq.boolean_option("-o --offline", "accepted for mqadmin; has no effect", default=None),
        changes=True),
    mq.admin_command("getConsumerStatus", "show the offsets in the memory of members",
        _show_members, _GROUP, mq.TOPIC, mq.option("-i --originClientId", "only this member")),
)  # fmt: skip
