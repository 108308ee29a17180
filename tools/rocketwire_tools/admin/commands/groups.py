"""Consumer groups and their offsets: ``updateSubGroup``, ``resetOffsetByTime``, etc."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from rocketwire.client.admin import NOW
from rocketwire.client.admin.fanout import read_from_each
from rocketwire.errors import BrokerError, DecodeError
from rocketwire.messages import decode_body, to_json
from rocketwire.messages.enums import MessageRequestMode
from rocketwire.messages.groups import GroupRetryPolicy, SubscriptionGroupConfig
from rocketwire.messages.message_queue import MessageQueue
from rocketwire.policy.routing import MASTER_ID
from rocketwire.policy.topic_attributes import apply_attribute_changes, parse_attribute_changes
from rocketwire_tools.admin import mqadmin_options as mq
from rocketwire_tools.cli.arguments import host_and_port
from rocketwire_tools.cli.command import CellType, Column, NotFoundError, Table, UsageError
from rocketwire_tools.cli.exit_status import raise_if_denied
from rocketwire_tools.values import natural

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Mapping

    from rocketwire.client.admin import Admin
    from rocketwire.client.admin.changes import Change


async def _update(admin: Admin, args: Namespace) -> list[Change[SubscriptionGroupConfig]]:
    values = mq.select_given(args, *_VALUES)
    if args.group_retry_policy is not None:
        try:
            policy = decode_body(GroupRetryPolicy, args.group_retry_policy.encode())
        except DecodeError as error:
            raise UsageError(f"--group-retry-policy: {error}") from error
        values["group_retry_policy"] = policy
    attributes = parse_attribute_changes(args.attributes)

    def edit(group: SubscriptionGroupConfig) -> SubscriptionGroupConfig:
        changed = apply_attribute_changes(group.attributes, attributes)
        return replace(group, attributes=changed, **values)

    return await admin.groups.update({args.group_name: edit}, new=_NEW, **mq.target(args))


def _no_group(args: Namespace) -> NotFoundError:
    text = f"no such group {args.group_name}: no broker has a configuration of it"
    return NotFoundError(text, kind="group", name=args.group_name)


async def _show_config(admin: Admin, args: Namespace) -> Table:
    async def ask(address: str) -> SubscriptionGroupConfig | None:
        try:
            return (await admin.groups.configs(address)).get(args.group_name)
        except BrokerError as error:
            raise_if_denied(error)
            return None

    table = (await admin.clusters.info()).broker_addr_table or {}
    masters = {name: (group.broker_addrs or {}).get(MASTER_ID) for name, group in table.items()}
    addresses = {name: address for name, address in sorted(masters.items()) if address is not None}
    by_broker = await read_from_each(addresses.values(), ask)
    configs = ((name, by_broker.get(address)) for name, address in addresses.items())
    rows: list[tuple[str, Any]] = [
        (name, to_json(config)) for name, config in configs if config is not None
    ]
    if not rows:
        raise _no_group(args)
    names = list(dict.fromkeys(key for _, config in rows for key in config))
    headings = [Column("brokerName"), *(Column(name, CellType.VALUE) for name in names)]
    return Table(headings, [(name, *(config.get(key) for key in names)) for name, config in rows])


_TOPIC: Final = mq.option("-t --topicName --topic", "name of the topic", required=True)
_HEADINGS: Final = "brokerAddr group setting"
_NEW: Final = SubscriptionGroupConfig(consume_from_min_enable=False, consume_broadcast_enable=False)
"""Configuration of a new group, as in mqadmin."""
_VALUES: Final = (
    "consume_enable", "consume_from_min_enable", "consume_broadcast_enable",
    "consume_message_orderly", "retry_queue_nums", "retry_max_times", "broker_id",
    "which_broker_when_consume_slowly", "notify_consumer_ids_changed_enable",
)  # fmt: skip

_GROUPS: Final = mq.group_commands(
    "consumer groups",
    mq.broker_change("updateSubGroup", "create or change a consumer group", _HEADINGS, _update,
        mq.GROUP,
        mq.boolean_option("-s --consumeEnable", "whether the group may consume", default=None),
        mq.boolean_option("-m --consumeFromMinEnable",
            "whether the group may start at the oldest message", default=None),
        mq.boolean_option("-d --consumeBroadcastEnable", "whether broadcasting is allowed",
            default=None),
        mq.boolean_option("-o --consumeMessageOrderly", "whether the group consumes in order",
            default=None),
        mq.option("-q --retryQueueNums", "number of queues of the retry topic", type=natural),
        mq.option("-r --retryMaxTimes", "maximum retries before the dead-letter topic", type=int),
        mq.option("-p --groupRetryPolicy", "delays between retries, as JSON"),
        mq.option("-i --brokerId", "id of the replica to read from", type=int),
        mq.option("-w --whichBrokerWhenConsumeSlowly",
            "id of the replica to read from if consumption is slow", type=int),
        mq.boolean_option("-a --notifyConsumerIdsChanged",
            "whether members are notified of changes", default=None,
            dest="notify_consumer_ids_changed_enable"),
        mq.option("--attributes", "changes of attributes: +name=value,-name", default=""),
        epilog="What is not given stays as it is. A new group may consume, not in order, not"
        " broadcasting,\nfrom after the newest message; it has 1 retry queue and 16 retries."),
    mq.list_command("updateSubGroupList", "create or change the groups in a file",
        SubscriptionGroupConfig, lambda admin, _: admin.groups.update, "group"),
    mq.broker_change("deleteSubGroup", "delete a consumer group", _HEADINGS,
        lambda admin, args: admin.groups.delete(
            args.group_name, clean_offset=args.remove_offset, **mq.target(args)), mq.GROUP,
        mq.boolean_option("-r --removeOffset", "also delete the offsets; without it a broker of 5.5"
            " that creates groups automatically creates the group again at once"),
        missing=_no_group),
    mq.admin_command("getConsumerConfig", "show the configuration of a group in each broker",
        _show_config, mq.GROUP, collects=True),
    mq.broker_change("setConsumeMode", "let a group pull or pop a topic", _HEADINGS,
        lambda admin, args: admin.groups.set_request_mode(
            args.group_name, args.topic, MessageRequestMode(args.mode),
            pop_share_queue_num=args.pop_share_queue_num, **mq.target(args)), _TOPIC, mq.GROUP,
        mq.option("-m --mode", "how consumers receive messages", required=True,
            type=str.upper, choices=("PULL", "POP")),
        mq.option("-q --popShareQueueNum", "queues of other members that each pops too; -1 for all",
            type=int)),
)  # fmt: skip


def _offset_table(
    before: Mapping[MessageQueue, int], after: Mapping[MessageQueue, int], millis: int | None = None
) -> Table:
    rows = [
        (queue.broker_name, queue.queue_id, before.get(queue), offset, millis)
        for queue, offset in sorted(after.items(), key=lambda item: _queue_key(item[0]))
    ]
    return Table("brokerName queueId:number before:number offset:number resetTo:time", rows)


def _queue_key(queue: MessageQueue) -> tuple[str, int]:
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

_OFFSETS: Final = mq.group_commands(
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

COMMANDS: Final = (*_GROUPS, *_OFFSETS)
