"""Topics, lite topics among them."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeVar

import trio

from rocketwire.client.admin.changes import Change
from rocketwire.client.admin.fanout import read_from_each
from rocketwire.errors import DecodeError
from rocketwire.flags import TopicSysFlag
from rocketwire.messages import decode_body, to_json
from rocketwire.messages.topic_config import TopicConfig
from rocketwire.messages.topics import TopicRemappingDetailWrapper
from rocketwire.policy.allocation import AllocateMessageQueueAveragely, sorted_queues
from rocketwire.policy.resource_names import DLQ_PREFIX, RETRY_PREFIX, has_own_route
from rocketwire.policy.routing import subscribe_queues
from rocketwire.policy.topic_attributes import apply_attribute_changes, parse_attribute_changes
from rocketwire_tools.admin import mqadmin_options as mq
from rocketwire_tools.cli.command import Record, RefusedError, Table, UsageError, Value, record
from rocketwire_tools.values import natural, positive

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Awaitable, Callable, Mapping

    from rocketwire.client.admin import Admin


async def _update(admin: Admin, args: Namespace) -> list[Change[Any]]:
    attributes = parse_attribute_changes(args.attributes)

    def edit(topic: TopicConfig) -> TopicConfig:
        flag = topic.topic_sys_flag
        for bit, is_set in (
            (TopicSysFlag.UNIT, args.unit),
            (TopicSysFlag.UNIT_SUB, args.has_unit_sub),
        ):
            if is_set is not None:
                flag = flag | bit if is_set else flag & ~bit
        return replace(
            topic,
            topic_sys_flag=int(flag),
            attributes=apply_attribute_changes(topic.attributes, attributes),
            **mq.select_given(args, "read_queue_nums", "write_queue_nums", "perm", "order"),
        )

    new = TopicConfig(read_queue_nums=_QUEUES, write_queue_nums=_QUEUES)
    changes: list[Change[Any]] = []
    changes += await admin.topics.update(
        {args.topic: edit}, new=new, force=args.force, **mq.target(args)
    )
    configs = {change.address: change.after for change in changes if change.after is not None}
    is_ordered = args.write_queue_nums is not None and any(each.order for each in configs.values())
    if args.order or is_ordered:
        numbers = {
            await admin.clusters.broker_name(address): config.write_queue_nums
            for address, config in configs.items()
        }
        orders = await admin.topics.put_order_conf(
            args.topic,
            ";".join(f"{name}:{number}" for name, number in sorted(numbers.items())),
            whole=args.cluster_name is not None,
            dry_run=args.dry_run,
        )
        changes += (
            Change(address, topic, {"orderConf": before}, {"orderConf": after})
            for address, topic, before, after in orders
        )
    return changes


async def _delete(admin: Admin, args: Namespace) -> Table:
    changes = await admin.topics.delete(args.topic, args.cluster_name, dry_run=args.dry_run)
    nothing = f"no broker has topic {args.topic}: only its route is deleted"
    return mq.change_table("brokerAddr topic setting", changes, nothing)


async def _list(admin: Admin, args: Namespace) -> Table:
    if not args.cluster_model:
        return Table("topic", [(name,) for name in sorted(await admin.topics.names())])
    rows: list[tuple[str, str, str]] = []
    for cluster in sorted((await admin.clusters.info()).cluster_addr_table or {}):
        for topic in sorted(await admin.topics.names(cluster)):
            if topic.startswith((RETRY_PREFIX, DLQ_PREFIX)):
                continue
            groups = await admin.topics.consumer_groups(topic)
            rows += [(cluster, topic, group) for group in groups or ("",)]
    return Table("clusterName topic consumerGroup", rows)


async def _show_route(admin: Admin, args: Namespace) -> Table:
    route = await admin.clusters.route(args.topic)
    groups = {broker.broker_name: broker for broker in route.broker_datas or ()}
    rows: list[tuple[Value, ...]] = []
    for queues in route.queue_datas or ():
        group = groups.get(queues.broker_name)
        addresses = {
            str(key): value
            for key, value in ((group.broker_addrs if group else None) or {}).items()
        }
        rows.append((
            group.cluster if group else None, queues.broker_name, addresses,
            queues.read_queue_nums, queues.write_queue_nums, queues.perm,
        ))  # fmt: skip
    return Table(
        "clusterName brokerName brokerAddrs:value readQueueNums:number "
        "writeQueueNums:number perm:number",
        rows,
        document=None if args.list else to_json(route),
    )


async def _show_status(admin: Admin, args: Namespace) -> Table:
    table = dict((await admin.topics.stats(args.topic, by=args.cluster)).offset_table or {})
    if not table:
        raise RefusedError(f"no broker has a queue of topic {args.topic}")
    sizes: dict[str | None, int] = {}
    if has_own_route(args.topic):
        route = await admin.clusters.route(args.topic)
        if not route.topic_queue_mapping_by_broker:
            sizes = {each.broker_name: each.read_queue_nums for each in route.queue_datas or ()}
            table = await admin.topics.unrouted_queues(args.topic) | table
    if args.cluster is None:  # as mqadmin
        table |= await admin.static_topics.stats(args.topic)
    rows = [
        (
            queue.broker_name, queue.queue_id, offsets.min_offset, offsets.max_offset,
            offsets.last_update_timestamp or None,
            queue.queue_id < sizes[queue.broker_name] if queue.broker_name in sizes else None,
        )
        for queue, offsets in sorted(
            table.items(), key=lambda item: (item[0].broker_name or "", item[0].queue_id)
        )
    ]  # fmt: skip
    return Table(
        "brokerName queueId:number minOffset:number maxOffset:number lastUpdateTimestamp:time "
        "inRoute",
        rows,
    )


async def _list_clusters(admin: Admin, args: Namespace) -> Table:
    clusters = await admin.clusters.of_topics(args.topic)
    searched = f"no cluster has topic {args.topic}"
    return Table("clusterName", [(name,) for name in clusters], searched=searched)


async def _update_perm(admin: Admin, args: Namespace) -> list[Change[TopicConfig]]:
    if args.cluster_name is not None:
        cluster = set(await mq.addresses(admin, args))
        holders = (await admin.clusters.of_topic(args.topic)).values()
        targets = [address for address in holders if address in cluster]
    else:
        targets = [args.broker_addr]
    if not targets:
        raise RefusedError(f"no broker of cluster {args.cluster_name} has topic {args.topic}")
    return [
        change
        for address in targets
        for change in await admin.topics.update(
            {args.topic: lambda topic: replace(topic, perm=args.perm)},
            broker=address,
            dry_run=args.dry_run,
        )
    ]


async def _change_order_conf(admin: Admin, args: Namespace) -> Record | Table:
    topic, dry_run = args.topic, args.dry_run
    if args.method == "get":
        value = await admin.topics.order_conf(topic)
        return record(topic=topic, orderConf=value, failed=value is None)
    if args.method == "delete":
        changes = await admin.topics.delete_order_conf(topic, dry_run=dry_run)
    elif args.order_conf is None:
        raise UsageError("--method put needs --order-conf")
    else:
        changes = await admin.topics.put_order_conf(topic, args.order_conf, dry_run=dry_run)
    return mq.change_table("namesrvAddr topic", changes)


async def _allocate(admin: Admin, args: Namespace) -> Table:
    route = await admin.clusters.route(args.topic)
    queues = sorted_queues(subscribe_queues(args.topic, route))
    share = AllocateMessageQueueAveragely()
    rows = [
        (client, queue.broker_name, queue.queue_id)
        for client in args.ip_list
        for queue in share.allocate(client, queues, args.ip_list)
    ]
    return Table("ip brokerName queueId:number", rows)


_QUEUES: Final = 8
"""Number of queues of a new topic, as in mqadmin."""

_KEPT: Final = "What is not given stays as it is. A new topic has no attributes and no order."

_TOPICS: Final = mq.group_commands(
    "topics",
    mq.broker_change("updateTopic", "create or change a topic", "addr topic setting", _update,
        mq.TOPIC,
        mq.option("-r --readQueueNums", f"number of queues to read from (new topic: {_QUEUES})",
            type=natural),
        mq.option("-w --writeQueueNums", f"number of queues to write to (new topic: {_QUEUES})",
            type=natural),
        mq.option("-p --perm", "2 to write, 4 to read, 6 for both (new topic: 6)", type=int,
            choices=(2, 4, 6)),
        mq.boolean_option("-o --order", "whether its messages are ordered", default=None),
        mq.boolean_option("-u --unit", "whether it is the topic of a unit", default=None),
        mq.boolean_option("-s --hasUnitSub", "whether units subscribe to it", default=None),
        mq.option("-a --attributes", "changes of attributes: +name=value,-name", default=""),
        mq.FORCE, epilog=_KEPT),
    mq.list_command("updateTopicList", "create or change the topics in a file", TopicConfig,
        lambda admin, args: partial(admin.topics.update, force=args.force), "topic", mq.FORCE),
    mq.admin_command("deleteTopic", "delete a topic from brokers and name servers", _delete,
        mq.TOPIC, mq.option("-c --clusterName", "name of the cluster", required=True),
        changes=True),
    mq.admin_command("topicList", "list all topics", _list,
        mq.option("-c --clusterModel", "show clusters and consumer groups", switch=True)),
    mq.admin_command("topicRoute", "show the route of a topic", _show_route, mq.TOPIC,
        mq.option("-l --list", "also in JSON, show only queues and addresses", switch=True)),
    mq.admin_command("topicStatus", "show the offsets of all queues", _show_status, mq.TOPIC,
        mq.VIA, collects=True),
    mq.admin_command("topicClusterList", "list the clusters that have a topic", _list_clusters,
        mq.TOPIC),
    mq.broker_change("updateTopicPerm", "change the permission of a topic",
        "brokerAddr topic setting", _update_perm, mq.TOPIC,
        mq.option("-p --perm", "2 to write, 4 to read, 6 for both", type=int, choices=(2, 4, 6),
            required=True)),
    mq.admin_command("updateOrderConf", "show, set or delete the queues of an ordered topic",
        _change_order_conf, mq.TOPIC,
        mq.option("-m --method", "what to do", required=True, choices=("put", "get", "delete")),
        mq.option("-v --orderConf", "broker:queues;broker:queues"), changes=True),
    mq.admin_command("allocateMQ", "show how members would share the queues", _allocate, mq.TOPIC,
        mq.option("-i --ipList", "members, separated by commas", type=mq.words, required=True)),
)  # fmt: skip


async def _update_static(admin: Admin, args: Namespace) -> Table:
    if args.map_file is not None:
        return await _apply_file(admin, args)
    if args.total_queue_num is None:
        raise UsageError("--total-queue-num is required")
    brokers = await _brokers(admin, args)
    plan = await admin.static_topics.create_or_update(
        args.topic, args.total_queue_num, brokers, force=args.force_replace, dry_run=args.dry_run
    )
    return _mapping_table(plan)


async def _remap(admin: Admin, args: Namespace) -> Table:
    if args.map_file is not None:
        return await _apply_file(admin, args)
    brokers = await _brokers(admin, args)
    return _mapping_table(
        await admin.static_topics.remap(
            args.topic, brokers, force=args.force_replace, dry_run=args.dry_run
        )
    )


async def _apply_file(admin: Admin, args: Namespace) -> Table:
    # Apply a mapping that mqadmin wrote to a file. mqadmin itself cannot: it lacks the option.
    name: str = args.map_file
    try:
        plan = decode_body(TopicRemappingDetailWrapper, await trio.Path(name).read_bytes())
    except (OSError, DecodeError) as error:
        raise UsageError(f"{name}: {error}") from error
    if plan is None or plan.topic != args.topic:
        raise UsageError(f"{name} is not a mapping of topic {args.topic}")
    if not args.dry_run:
        plan = await admin.static_topics.carry_out(plan, force=args.force_replace)
    return _mapping_table(plan)


async def _brokers(admin: Admin, args: Namespace) -> list[str]:
    if args.brokers is not None:
        return list(args.brokers)
    return [
        name for cluster in args.clusters for name in await admin.clusters.broker_names(cluster)
    ]


def _mapping_table(plan: TopicRemappingDetailWrapper) -> Table:
    rows: list[tuple[int, str, int]] = []
    for broker, part in (plan.broker_config_map or {}).items():
        detail = part.mapping_detail
        for number, items in ((detail.hosted_queues if detail else None) or {}).items():
            if items and items[-1].bname == broker:
                rows.append((number, broker, items[-1].queue_id))
    return Table("logicalQueueId:number brokerName queueId:number", sorted(rows))


_STATIC: Final = (
    mq.TOPIC,
    mq.option("-b --brokers", "broker names, separated by commas", type=mq.words),
    mq.option("-c --clusters", "cluster names, separated by commas", type=mq.words),
    mq.boolean_option("-fr --forceReplace", "also apply mappings that brokers consider outdated"),
    mq.option("-mf --mapFile", "apply the mapping in this file of mqadmin", metavar="FILE"),
)

_ONE_OF: Final = ("brokers", "clusters", "map_file")

_STATIC_TOPICS: Final = mq.group_commands(
    "topics",
    mq.admin_command("updateStaticTopic", "create a static topic, or add queues to it",
        _update_static, *_STATIC,
        mq.option("-qn --totalQueueNum", "total number of logical queues", type=int),
        one_of=_ONE_OF, changes=True),
    mq.admin_command("remappingStaticTopic", "move the queues of a static topic", _remap, *_STATIC,
        one_of=_ONE_OF, changes=True),
)  # fmt: skip


T = TypeVar("T")


async def _call_by_name(
    admin: Admin, args: Namespace, call: Callable[[str], Awaitable[T]]
) -> dict[str, T]:
    addresses = await admin.clusters.of_topic(args.parent_topic)
    by_address = await read_from_each(addresses.values(), call)
    return {
        name: by_address[address] for name, address in addresses.items() if address in by_address
    }


async def _show_broker(admin: Admin, args: Namespace) -> Table:
    by_broker = await read_from_each(await mq.addresses(admin, args), admin.lite.of_broker)
    rows = [
        (
            address, info.store_type, info.max_lmq_num, info.current_lmq_num,
            info.lite_subscription_count, info.order_info_count, info.cq_table_size,
            info.offset_table_size, info.event_map_size,
            *([dict(info.topic_meta or {}), _lists(info.group_meta)] if args.show_detail else []),
        )
        for address, info in by_broker.items()
    ]  # fmt: skip
    headings = (
        "brokerAddr storeType maxLmqNum:number currentLmqNum:number liteSubscriptionCount:number "
        "orderInfoCount:number cqTableSize:number offsetTableSize:number eventMapSize:number"
    )
    details = " topicMeta:value groupMeta:value" if args.show_detail else ""
    return Table(headings + details, rows)


def _lists(table: Mapping[str, tuple[str, ...]] | None) -> Value:
    return {key: sorted(values) for key, values in (table or {}).items()}


async def _show_parent(admin: Admin, args: Namespace) -> Table:
    by_broker = await _call_by_name(
        admin, args, lambda address: admin.lite.parent(address, args.parent_topic)
    )
    rows = [
        (name, info.ttl, info.lite_topic_count, info.lmq_num, sorted(info.groups or ()))
        for name, info in by_broker.items()
    ]
    return Table("brokerName ttl:number liteTopicCount:number lmqNum:number groups:value", rows)


async def _show_topic(admin: Admin, args: Namespace) -> Table:
    by_broker = await _call_by_name(
        admin,
        args,
        lambda address: admin.lite.topic(address, args.parent_topic, args.lite_topic),
    )
    rows: list[tuple[Value, ...]] = []
    for name, info in by_broker.items():
        ends, members = info.topic_offset, info.subscriber or ()
        shown = [f"{member.client_id}@{member.group}" for member in members]
        rows.append((
            name, ends.min_offset if ends else None, ends.max_offset if ends else None,
            (ends.last_update_timestamp or None) if ends else None, info.sharding_to_broker,
            len(members), *([shown] if args.show_client_id else []),
        ))  # fmt: skip
    headings = (
        "brokerName minOffset:number maxOffset:number lastUpdateTimestamp:time sharding "
        "subClientCount:number"
    )
    return Table(headings + (" subscribers:value" if args.show_client_id else ""), rows)


async def _show_client(admin: Admin, args: Namespace) -> Table:
    by_broker = await _call_by_name(
        admin,
        args,
        lambda address: admin.lite.client_info(
            address, args.parent_topic, args.group, args.client_id
        ),
    )
    rows = [
        (
            name, info.lite_topic_count if info.lite_topic_count >= 0 else None,
            info.last_access_time if info.last_access_time > 0 else None,
            info.last_consume_time if info.last_consume_time > 0 else None,
            *([sorted(info.lite_topic_set or ())] if args.show_detail else []),
        )
        for name, info in by_broker.items()
    ]  # fmt: skip
    headings = "brokerName liteTopicCount:number lastAccessTime:time lastConsumeTime:time"
    return Table(headings + (" liteTopics:value" if args.show_detail else ""), rows)


async def _show_group(admin: Admin, args: Namespace) -> Record:
    by_broker = await _call_by_name(
        admin,
        args,
        lambda address: admin.lite.group(address, args.group, args.lite_topic, top_k=args.top_k),
    )
    groups = list(by_broker.values())
    lags = [lag for info in groups for lag in info.lag_count_top_k or ()]
    waits = [lag for info in groups for lag in info.lag_timestamp_top_k or ()]
    oldest = [
        info.earliest_unconsumed_timestamp
        for info in groups
        if info.earliest_unconsumed_timestamp > 0
    ]
    offsets = {name: info.lite_topic_offset_wrapper for name, info in by_broker.items()}
    return record(
        group=args.group,
        parentTopic=args.parent_topic,
        totalLagCount=sum(max(info.total_lag_count, 0) for info in groups),
        earliestUnconsumedTimestamp=min(oldest, default=None),
        offsets={name: to_json(info) if info else None for name, info in offsets.items()},
        lagCountTopK=[to_json(info) for info in sorted(lags, key=lambda lag: -lag.lag_count)],
        lagTimestampTopK=[
            to_json(info)
            for info in sorted(waits, key=lambda lag: lag.earliest_unconsumed_timestamp)
        ],
    )


async def _find_dispatching(admin: Admin, args: Namespace) -> list[str]:
    addresses = await admin.clusters.of_topic(args.parent_topic)
    if args.broker_name is None:
        return list(addresses.values())
    if args.broker_name not in addresses:
        raise RefusedError(f"no broker {args.broker_name} has topic {args.parent_topic}")
    return [addresses[args.broker_name]]


_PARENT: Final = mq.option("-p --parentTopic", "name of the parent topic", required=True)
_GROUP: Final = mq.option("-g --group", "name of the consumer group", required=True)

_LITE: Final = mq.group_commands(
    "lite topics",
    mq.admin_command("getBrokerLiteInfo", "show the number of lite topics of brokers", _show_broker,
        mq.BROKER, mq.option("-c --cluster --clusterName", "name of a cluster", metavar="NAME"),
        mq.option("-d --showDetail", "show parent topics and groups", switch=True),
        one_of=mq.ONE_OF, collects=True),
    mq.admin_command("getParentTopicInfo", "show a parent topic", _show_parent, _PARENT,
        collects=True),
    mq.admin_command("getLiteTopicInfo", "show the offsets and subscribers of a lite topic",
        _show_topic, _PARENT, mq.option("-l --liteTopic", "name of the lite topic", required=True),
        mq.option("-s --showClientId", "show the subscribers", switch=True), collects=True),
    mq.admin_command("getLiteClientInfo", "show the lite topics of a client", _show_client, _PARENT,
        _GROUP, mq.option("-c --clientId", "id of the client", required=True),
        mq.option("-s --showDetail", "show the lite topics", switch=True), collects=True),
    mq.admin_command("getLiteGroupInfo", "show the progress of a group in its lite topics",
        _show_group, _PARENT, _GROUP, mq.option("-l --liteTopic", "only this lite topic"),
        mq.option("-k --topK", "number of topics with the largest lag per broker", type=positive,
            default=20),
        collects=True),
    mq.order_command("triggerLiteDispatch", "make brokers dispatch messages of lite topics now",
        "brokerAddr", _find_dispatching, lambda admin, args, broker:
            admin.lite.trigger_dispatch(broker, args.group, args.client_id), _PARENT, _GROUP,
        mq.option("-c --clientId", "only for this client"),
        mq.option("-b --brokerName", "only in this broker group")),
)  # fmt: skip

COMMANDS: Final = (*_TOPICS, *_STATIC_TOPICS, *_LITE)
