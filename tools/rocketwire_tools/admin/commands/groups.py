"""Groups of consumers, and the connections of clients."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from rocketwire.client.admin import NOW
from rocketwire.client.admin.fanout import call_each, leave_out, read_from_each
from rocketwire.errors import (
    BrokerError,
    ChannelError,
    DecodeError,
    RocketWireError,
    TopicRouteNotFoundError,
)
from rocketwire.messages import decode_body, to_json
from rocketwire.messages.enums import MessageRequestMode
from rocketwire.messages.groups import GroupRetryPolicy, SubscriptionGroupConfig
from rocketwire.messages.message_queue import MessageQueue
from rocketwire.policy.resource_names import RETRY_PREFIX
from rocketwire.policy.routing import MASTER_ID
from rocketwire.policy.topic_attributes import apply_attribute_changes, parse_attribute_changes
from rocketwire.versions import MQVersion
from rocketwire_tools.admin import mqadmin_options as mq
from rocketwire_tools.cli.arguments import host_and_port
from rocketwire_tools.cli.command import (
    CellType,
    Column,
    NotFoundError,
    Record,
    Table,
    UsageError,
    Value,
    record,
)
from rocketwire_tools.cli.exit_status import Denied, raise_if_denied
from rocketwire_tools.values import natural

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Mapping

    from rocketwire.client.admin import Admin
    from rocketwire.client.admin.changes import Change
    from rocketwire.messages.callbacks import ConsumerRunningInfo
    from rocketwire.messages.connections import Connection, ConsumerConnection
    from rocketwire.messages.queries import ConsumeStats, OffsetWrapper


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


_NUMBER: Final = CellType.NUMBER


async def _show_progress(admin: Admin, args: Namespace) -> Table:
    if args.group_name is None:
        return await _show_all_progress(admin)
    group: str = args.group_name
    stats = await admin.consumers.stats(group, args.topic_name, by=args.cluster)
    owners = await admin.consumers.queue_owners(group) if args.show_client_ip else {}
    table = stats.offset_table or {}
    oldest = await _find_oldest(admin, table)
    rows: list[list[Value]] = [
        [
            queue.topic, queue.broker_name, queue.queue_id, offsets.broker_offset,
            offsets.consumer_offset, *([owners.get(queue)] if args.show_client_ip else []),
            offsets.broker_offset - offsets.consumer_offset, _in_flight(offsets),
            offsets.last_timestamp or None, oldest.get(queue),
        ]
        for queue, offsets in sorted(table.items(), key=lambda item: _by_lag(*item))
    ]  # fmt: skip
    client = " clientId" if args.show_client_ip else ""
    age = time.time() - min(oldest.values(), default=0) / 1000
    of_topic = f" in topic {args.topic_name}" if args.topic_name else ""
    return Table(
        f"topic brokerName queueId:number brokerOffset:number consumerOffset:number{client} "
        "diff:number inflight:number lastTimestamp:time oldestWaiting:time",
        rows,
        searched=f"no offsets of group {group}{of_topic}: it has not consumed yet",
        footer=f"{_lag(stats):,} messages behind" + (f", oldest {age:,.0f} s" if oldest else ""),
    )


def _by_lag(queue: MessageQueue, offsets: OffsetWrapper) -> tuple[int, str, str, int]:
    lag = offsets.broker_offset - offsets.consumer_offset
    return -lag, queue.topic or "", queue.broker_name or "", queue.queue_id


async def _find_oldest(
    admin: Admin, table: Mapping[MessageQueue, OffsetWrapper]
) -> dict[MessageQueue, int]:
    async def ask(queue: MessageQueue) -> int | None:
        try:
            message = await admin.messages.at(queue, table[queue].consumer_offset)
        except RocketWireError:  # the user may not pull, or the queue has no route of its own
            return None
        return message.store_timestamp if message else None

    behind = [queue for queue, each in table.items() if each.broker_offset > each.consumer_offset]
    times = await call_each(behind, ask)
    return {queue: millis for queue, millis in times.items() if millis is not None}


def _in_flight(offsets: OffsetWrapper) -> int | None:
    # Messages pulled but not consumed; None before 5.0: brokers report no pull offset
    pulled = offsets.pull_offset - offsets.consumer_offset
    return pulled if pulled >= 0 else None


def _lag(stats: ConsumeStats) -> int:
    table = stats.offset_table or {}
    return sum(offsets.broker_offset - offsets.consumer_offset for offsets in table.values())


async def _show_all_progress(admin: Admin) -> Table:
    rows: list[tuple[Value, ...]] = []
    denied = Denied()
    for name in sorted(await admin.topics.names()):
        if not name.startswith(RETRY_PREFIX):
            continue
        group = name.removeprefix(RETRY_PREFIX)
        try:
            stats = await admin.consumers.stats(group)
            members, count = await _find_members(admin, group)
        except ChannelError as error:
            leave_out(group, error)
            continue
        except (BrokerError, TopicRouteNotFoundError) as error:
            denied.note(error)
            continue
        connections = (members.connection_set if members else None) or ()
        version = (
            MQVersion(min(connection.version for connection in connections)).name
            if connections
            else None
        )
        consume_type = members.consume_type if members else None
        model = members.message_model if members else None
        rows.append(
            (group, count, version, consume_type, model, round(stats.consume_tps, 2), _lag(stats))
        )
    denied.report(is_empty=not rows)
    rows.sort(key=lambda row: (-int(str(row[-1])), row[0]))
    return Table(
        "group count:number version type model tps:number diffTotal:number",
        rows,
        searched="no group has ever had a member",
        footer=f"{sum(int(str(row[-1])) for row in rows):,} messages behind in {len(rows)} groups",
    )


async def _find_members(admin: Admin, group: str) -> tuple[ConsumerConnection | None, int | None]:
    try:
        connections = await admin.consumers.connection(group)
    except ChannelError as error:
        leave_out(group, error)
        return None, None
    except BrokerError as error:
        raise_if_denied(error)
        return None, 0
    return connections, len(connections.connection_set or ())


def _member(connection: Connection) -> dict[str, Value]:
    return {
        "clientId": connection.client_id,
        "clientAddr": connection.client_addr,
        "language": mq.language_name(connection.language),
        "version": MQVersion(connection.version).name,
    }


async def _show_consumer(admin: Admin, args: Namespace) -> Record:
    consumer = await admin.consumers.connection(args.consumer_group, broker=args.broker_addr)
    return record(
        connections=[_member(connection) for connection in consumer.connection_set or ()],
        subscriptions={
            topic: subscription.sub_string
            for topic, subscription in (consumer.subscription_table or {}).items()
        },
        consumeType=consumer.consume_type,
        messageModel=consumer.message_model,
        consumeFromWhere=consumer.consume_from_where,
    )


async def _show_producer(admin: Admin, args: Namespace) -> Table:
    producer = await admin.consumers.producer_connection(args.producer_group, args.topic)
    rows = [tuple(_member(connection).values()) for connection in producer.connection_set or ()]
    searched = f"no producer of group {args.producer_group} is connected"
    return Table("clientId clientAddr language version", rows, searched=searched)


async def _list_producers(admin: Admin, args: Namespace) -> Table:
    rows = [
        (
            group, producer.client_id, producer.remote_ip, mq.language_name(producer.language),
            MQVersion(producer.version).name, producer.last_update_timestamp,
        )
        for group, members in sorted((await admin.consumers.producers_of(args.broker)).items())
        for producer in members
    ]  # fmt: skip
    headings = "group clientId remoteIP language version lastUpdateTimestamp:time"
    return Table(headings, rows, searched=f"no producer is connected to {args.broker}")


def _describe_member(info: ConsumerRunningInfo) -> Table:
    queues: dict[str, Any] = {
        f"{queue.topic}/{queue.broker_name}/{queue.queue_id}": to_json(process)
        for queue, process in (info.mq_table or {}).items()
    }
    names = list(dict.fromkeys(name for process in queues.values() for name in process))
    return Table(
        ("queue", *(Column(name, CellType.VALUE) for name in names)),
        [(queue, *(process.get(name) for name in names)) for queue, process in queues.items()],
        footer=f"\n{info.jstack}" if info.jstack else None,
        document={
            "properties": dict(info.properties or {}),
            "subscriptions": {s.topic or "": s.sub_string for s in info.subscription_set or ()},
            "queues": queues,
            "rates": {topic: to_json(rate) for topic, rate in (info.status_table or {}).items()},
            "jstack": info.jstack,
        },
    )


async def _show_status(admin: Admin, args: Namespace) -> Table:
    group: str = args.consumer_group
    if args.client_id is not None:
        info = await admin.consumers.running_info(
            group, args.client_id, stack=args.jstack, broker=args.broker_addr
        )
        return _describe_member(info)
    members = await admin.consumers.connection(group, broker=args.broker_addr)
    infos = await admin.consumers.running_infos(group, stack=args.jstack)
    rows: list[list[Value]] = []
    for member in members.connection_set or ():
        running = infos.get(member.client_id or "")
        subscriptions = (running.subscription_set or ()) if running else ()
        rows.append([
            member.client_id, MQVersion(member.version).name,
            len(running.mq_table or {}) if running else None,
            [f"{s.topic} {s.sub_string}" for s in subscriptions] if running else None,
            *([running.jstack if running else None] if args.jstack else []),
        ])  # fmt: skip
    variants = {str(row[3]) for row in rows if row[3] is not None}
    stack = " jstack" if args.jstack else ""
    table = Table(
        f"clientId version queues:number subscriptions:value{stack}", rows, failed=len(variants) > 1
    )
    if not args.jstack:
        return table
    return replace(
        table,
        columns=table.typed[:-1],
        rows=[row[:-1] for row in rows],
        footer="".join(f"\n{row[0]}\n{row[-1]}" for row in rows),
        document=[dict(zip((c.name for c in table.typed), row, strict=True)) for row in rows],
    )


_JSTACK: Final = mq.option("-s --jstack", "show stack traces of the threads", switch=True)

_CONNECTIONS: Final = mq.group_commands(
    "consumers and producers",
    mq.admin_command("consumerProgress", "show the progress of a group or of all groups",
        _show_progress, mq.option("-g --groupName", "name of the consumer group (default all)"),
        mq.option("-t --topicName", "only this topic"),
        mq.boolean_option("-s --showClientIP", "show the owner of each queue"), mq.VIA,
        collects=True),
    mq.admin_command("consumerConnection", "show the members of a group and their subscriptions",
        _show_consumer, mq.CONSUMER_GROUP, mq.BROKER, collects=True),
    mq.admin_command("consumerStatus", "show the state of the members of a group", _show_status,
        mq.CONSUMER_GROUP, mq.BROKER, _JSTACK,
        mq.option("-i --clientId", "only this member, with all details"), collects=True,
        epilog="Exit status 1 if the subscriptions of the members differ."),
    mq.admin_command("producerConnection", "show the producers of a topic", _show_producer,
        mq.TOPIC, mq.option("-g --producerGroup", "name of the producer group", required=True),
        collects=True),
    mq.admin_command("producer", "list all producers of a broker", _list_producers,
        mq.option("-b --broker", "address of the broker, host:port", type=host_and_port,
            required=True)),
)  # fmt: skip

COMMANDS: Final = (*_GROUPS, *_OFFSETS, *_CONNECTIONS)
