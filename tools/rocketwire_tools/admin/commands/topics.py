"""Topics: ``updateTopic``, ``topicList``, ``topicStatus``, etc."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from rocketwire.flags import TopicSysFlag
from rocketwire.messages import to_json
from rocketwire.messages.topic_config import TopicConfig
from rocketwire.policy.allocation import AllocateMessageQueueAveragely, sorted_queues
from rocketwire.policy.routing import subscribe_queues
from rocketwire.policy.topic_attributes import parse_attribute_changes
from rocketwire_tools.admin.cli import mqadmin_options as mq
from rocketwire_tools.admin.command import Record, RefusedError, Table, UsageError, Value, record
from rocketwire_tools.numbers import natural

if TYPE_CHECKING:
    from argparse import Namespace

    from rocketwire.client.admin import Admin


async def _update(admin: Admin, args: Namespace) -> Table:
    flag = (TopicSysFlag.UNIT if args.unit else 0) | (
        TopicSysFlag.UNIT_SUB if args.has_unit_sub else 0
    )
    config = TopicConfig(
        topic_name=args.topic,
        read_queue_nums=args.read_queue_nums,
        write_queue_nums=args.write_queue_nums,
        perm=args.perm,
        order=args.order,
        topic_sys_flag=int(flag),
        attributes=parse_attribute_changes(args.attributes),
    )
    brokers = await admin.topics.create_or_update(config, **mq.target(args))
    if args.order:
        if args.cluster_name is not None:
            names = await admin.clusters.broker_names(args.cluster_name)
        else:
            names = (await admin.clusters.broker_name(args.broker_addr),)
        text = ";".join(f"{name}:{args.write_queue_nums}" for name in sorted(names))
        await admin.topics.put_order_conf(args.topic, text, whole=args.cluster_name is not None)
    return mq.named_table("topic", args.topic, brokers)


async def _delete(admin: Admin, args: Namespace) -> Record:
    await admin.topics.delete(args.topic, args.cluster_name)
    return record(deleted=args.topic, clusterName=args.cluster_name)


async def _list(admin: Admin, args: Namespace) -> Table:
    if not args.cluster_model:
        return Table("topic", [(name,) for name in sorted(await admin.topics.names())])
    rows: list[tuple[str, str, str]] = []
    for cluster in sorted((await admin.clusters.info()).cluster_addr_table or {}):
        for topic in sorted(await admin.topics.names(cluster)):
            groups = await admin.topics.consumer_groups(topic)
            rows += [(cluster, topic, group) for group in groups or ("",)]
    return Table("clusterName topic consumerGroup", rows)


async def _show_route(admin: Admin, args: Namespace) -> Table | str:
    route = await admin.clusters.route(args.topic)
    if not args.list:
        return json.dumps(to_json(route), indent=2, ensure_ascii=False)
    groups = {broker.broker_name: broker for broker in route.broker_datas or ()}
    rows: list[tuple[Value, ...]] = []
    for queues in route.queue_datas or ():
        group = groups.get(queues.broker_name)
        places = {
            str(key): value
            for key, value in ((group.broker_addrs if group else None) or {}).items()
        }
        rows.append((
            group.cluster if group else None, queues.broker_name, places,
            queues.read_queue_nums, queues.write_queue_nums, queues.perm,
        ))  # fmt: skip
    return Table(
        "clusterName brokerName brokerAddrs:value readQueueNums:number "
        "writeQueueNums:number perm:number",
        rows,
    )


async def _show_status(admin: Admin, args: Namespace) -> Table:
    table = dict((await admin.topics.stats(args.topic, by=args.cluster)).offset_table or {})
    if not table:
        raise RefusedError(f"no broker has a queue of topic {args.topic}")
    if args.cluster is None:  # as mqadmin
        table |= await admin.static_topics.stats(args.topic)
    rows = [
        (
            queue.broker_name, queue.queue_id, offsets.min_offset, offsets.max_offset,
            offsets.last_update_timestamp or None,
        )
        for queue, offsets in sorted(
            table.items(), key=lambda item: (item[0].broker_name or "", item[0].queue_id)
        )
    ]  # fmt: skip
    return Table(
        "brokerName queueId:number minOffset:number maxOffset:number lastUpdated:time", rows
    )


async def _list_clusters(admin: Admin, args: Namespace) -> Table:
    clusters = await admin.clusters.of_topics(args.topic)
    return Table("clusterName", [(name,) for name in clusters])


async def _update_perm(admin: Admin, args: Namespace) -> Table:
    if args.cluster_name is not None:
        cluster = set(await mq.addresses(admin, args))
        holders = (await admin.clusters.of_topic(args.topic)).values()
        targets = [address for address in holders if address in cluster]
    else:
        targets = [args.broker_addr]
    rows: list[tuple[str, int, int]] = []
    for address in targets:
        previous = await admin.topics.update_perm(args.topic, args.perm, broker=address)
        rows.append((address, previous[address], args.perm))
    return Table("brokerAddr permBefore:number perm:number", rows, failed=not rows)


async def _change_order_conf(admin: Admin, args: Namespace) -> Record:
    topic: str = args.topic
    if args.method == "put":
        if args.order_conf is None:
            raise UsageError("--method put needs --order-conf")
        await admin.topics.put_order_conf(topic, args.order_conf)
    elif args.method == "delete":
        await admin.topics.delete_order_conf(topic)
    value = await admin.topics.order_conf(topic)
    missing = value is None and args.method == "get"
    return record(topic=topic, orderConf=value, failed=missing)


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
"""Default number of queues of a new topic, as in mqadmin."""

_PERM: Final = mq.option(
    "-p --perm", "2 to write, 4 to read, 6 for both", type=int, choices=(2, 4, 6), default=6
)
COMMANDS: Final = mq.in_group(
    "topics",
    mq.broker_command("updateTopic", "create or change a topic", _update, mq.TOPIC,
        mq.option("-r --readQueueNums", "number of queues to read from", type=natural,
            default=_QUEUES),
        mq.option("-w --writeQueueNums", "number of queues to write to", type=natural,
            default=_QUEUES),
        _PERM, mq.boolean_option("-o --order", "whether its messages are ordered"),
        mq.boolean_option("-u --unit", "whether it is the topic of a unit"),
        mq.boolean_option("-s --hasUnitSub", "whether units subscribe to it"),
        mq.option("-a --attributes", "changes of attributes: +name=value,-name", default="")),
    mq.list_command("updateTopicList", "create or change the topics in a file", TopicConfig,
        lambda admin: admin.topics.create_or_update_all,
        named=("topic", lambda config: config.topic_name)),
    mq.admin_command("deleteTopic", "delete a topic from brokers and name servers", _delete,
        mq.TOPIC, mq.option("-c --clusterName", "name of the cluster", required=True)),
    mq.admin_command("topicList", "list all topics", _list,
        mq.option("-c --clusterModel", "show clusters and consumer groups", switch=True)),
    mq.admin_command("topicRoute", "show the route of a topic", _show_route, mq.TOPIC,
        mq.option("-l --list", "show a table", switch=True)),
    mq.admin_command("topicStatus", "show the offsets of all queues", _show_status, mq.TOPIC,
        mq.VIA, collects=True),
    mq.admin_command("topicClusterList", "list the clusters that have a topic", _list_clusters,
        mq.TOPIC),
    mq.broker_command("updateTopicPerm", "change the permission of a topic", _update_perm, mq.TOPIC,
        mq.option("-p --perm", "2 to write, 4 to read, 6 for both", type=int, choices=(2, 4, 6),
            required=True)),
    mq.admin_command("updateOrderConf", "show, set or delete the queues of an ordered topic",
        _change_order_conf, mq.TOPIC,
        mq.option("-m --method", "what to do", required=True, choices=("put", "get", "delete")),
        mq.option("-v --orderConf", "broker:queues;broker:queues")),
    mq.admin_command("allocateMQ", "show how members would share the queues", _allocate, mq.TOPIC,
        mq.option("-i --ipList", "members, separated by commas", type=mq.words, required=True)),
)  # fmt: skip
