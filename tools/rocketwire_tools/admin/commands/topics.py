"""Topics: ``updateTopic``, ``topicList``, ``topicStatus`` and their kin."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from rocketwire.flags import TopicSysFlag
from rocketwire.messages import to_json
from rocketwire.messages.topic_config import TopicConfig
from rocketwire.policy.allocation import AllocateMessageQueueAveragely, sorted_queues
from rocketwire.policy.routing import subscribe_queues
from rocketwire.policy.topic_attributes import parse_attribute_changes
from rocketwire_tools.admin.cli.mqadmin_options import (
    BROKER,
    CLUSTER,
    ONE_OF,
    TOPIC,
    VIA,
    addresses,
    admin_command,
    boolean,
    list_command,
    option,
    words,
)
from rocketwire_tools.admin.command import (
    Column,
    Kind,
    Record,
    RefusedError,
    Table,
    UsageError,
    Value,
)
from rocketwire_tools.numbers import natural

if TYPE_CHECKING:
    from argparse import Namespace

    from rocketwire.client.admin import Admin

_GROUP: Final = "topics"
_NUMBER: Final = Kind.NUMBER


async def _update(admin: Admin, wanted: Namespace) -> Table:
    flag = (TopicSysFlag.UNIT if wanted.unit else 0) | (
        TopicSysFlag.UNIT_SUB if wanted.has_unit_sub else 0
    )
    config = TopicConfig(
        topic_name=wanted.topic,
        read_queue_nums=wanted.read_queue_nums,
        write_queue_nums=wanted.write_queue_nums,
        perm=wanted.perm,
        order=wanted.order,
        topic_sys_flag=int(flag),
        attributes=parse_attribute_changes(wanted.attributes),
    )
    done = await admin.topics.create_or_update(
        config, broker=wanted.broker_addr, cluster=wanted.cluster_name
    )
    if wanted.order:
        if wanted.cluster_name is not None:
            names = await admin.clusters.broker_names(wanted.cluster_name)
        else:
            names = (await admin.clusters.broker_name(wanted.broker_addr),)
        text = ";".join(f"{name}:{wanted.write_queue_nums}" for name in sorted(names))
        await admin.topics.put_order_conf(wanted.topic, text, whole=wanted.cluster_name is not None)
    return Table(("topic", "brokerAddr"), [(wanted.topic, address) for address in done])


async def _delete(admin: Admin, wanted: Namespace) -> Record:
    await admin.topics.delete(wanted.topic, wanted.cluster_name)
    return Record({"deleted": wanted.topic, "clusterName": wanted.cluster_name})


async def _list(admin: Admin, wanted: Namespace) -> Table:
    if not wanted.cluster_model:
        return Table(("topic",), [(name,) for name in sorted(await admin.topics.names())])
    rows: list[tuple[str, str, str]] = []
    for cluster in sorted((await admin.clusters.info()).cluster_addr_table or {}):
        for topic in sorted(await admin.topics.names(cluster)):
            groups = await admin.topics.consumer_groups(topic)
            rows += [(cluster, topic, group) for group in groups or ("",)]
    return Table(("clusterName", "topic", "consumerGroup"), rows)


async def _route(admin: Admin, wanted: Namespace) -> Table | str:
    route = await admin.clusters.route(wanted.topic)
    if not wanted.list:
        return json.dumps(to_json(route), indent=2, ensure_ascii=False)
    groups = {one.broker_name: one for one in route.broker_datas or ()}
    columns = (
        "clusterName", "brokerName", Column("brokerAddrs", Kind.VALUE), Column("readQueueNums", _NUMBER),
        Column("writeQueueNums", _NUMBER), Column("perm", _NUMBER),
    )  # fmt: skip
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
    return Table(columns, rows)


async def _status(admin: Admin, wanted: Namespace) -> Table:
    table = dict((await admin.topics.stats(wanted.topic, by=wanted.cluster)).offset_table or {})
    if not table:
        raise RefusedError(f"no broker has a queue of {wanted.topic}")
    if wanted.cluster is None:  # as mqadmin
        table |= await admin.static_topics.stats(wanted.topic)
    columns = (
        "brokerName", Column("queueId", _NUMBER), Column("minOffset", _NUMBER), Column("maxOffset", _NUMBER),
        Column("lastUpdated", Kind.TIME),
    )  # fmt: skip
    rows = [
        (
            queue.broker_name, queue.queue_id, one.min_offset, one.max_offset,
            one.last_update_timestamp or None,
        )
        for queue, one in sorted(
            table.items(), key=lambda item: (item[0].broker_name or "", item[0].queue_id)
        )
    ]  # fmt: skip
    return Table(columns, rows)


async def _clusters(admin: Admin, wanted: Namespace) -> Table:
    found = await admin.clusters.of_topics(wanted.topic)
    return Table(("clusterName",), [(name,) for name in found])


async def _update_perm(admin: Admin, wanted: Namespace) -> Table:
    if wanted.cluster_name is not None:
        cluster = set(await addresses(admin, wanted))
        held = (await admin.clusters.of_topic(wanted.topic)).values()
        targets = [address for address in held if address in cluster]
    else:
        targets = [wanted.broker_addr]
    rows: list[tuple[str, int, int]] = []
    for address in targets:
        before = await admin.topics.update_perm(wanted.topic, wanted.perm, broker=address)
        rows.append((address, before[address], wanted.perm))
    columns = ("brokerAddr", Column("permBefore", _NUMBER), Column("perm", _NUMBER))
    return Table(columns, rows, failed=not rows)


async def _order_conf(admin: Admin, wanted: Namespace) -> Record:
    topic: str = wanted.topic
    if wanted.method == "put":
        if wanted.order_conf is None:
            raise UsageError("put needs --order-conf")
        await admin.topics.put_order_conf(topic, wanted.order_conf)
    elif wanted.method == "delete":
        await admin.topics.delete_order_conf(topic)
    value = await admin.topics.order_conf(topic)
    missing = value is None and wanted.method == "get"
    return Record({"topic": topic, "orderConf": value}, failed=missing)


async def _allocate(admin: Admin, wanted: Namespace) -> Table:
    route = await admin.clusters.route(wanted.topic)
    queues = sorted_queues(subscribe_queues(wanted.topic, route))
    share = AllocateMessageQueueAveragely()
    rows = [
        (client, queue.broker_name, queue.queue_id)
        for client in wanted.ip_list
        for queue in share.allocate(client, queues, wanted.ip_list)
    ]
    return Table(("ip", "brokerName", Column("queueId", _NUMBER)), rows)


_QUEUES: Final = 8
"""Queues of a new topic unless told otherwise, as mqadmin has it."""

_PERM: Final = option(
    "-p --perm", "2 to write, 4 to read, 6 for both", type=int, choices=(2, 4, 6), default=6
)
COMMANDS: Final = (
    admin_command(
        "updateTopic", "create or change a topic", _update, BROKER, CLUSTER, TOPIC,
        option("-r --readQueueNums", "queues to read from", type=natural, default=_QUEUES),
        option("-w --writeQueueNums", "queues to write to", type=natural, default=_QUEUES),
        _PERM,
        option("-o --order", "whether its messages are ordered", type=boolean, default=False),
        option("-u --unit", "whether it is a unit's topic", type=boolean, default=False),
        option("-s --hasUnitSub", "whether units subscribe to it", type=boolean, default=False),
        option("-a --attributes", "changes of attributes: +name=value,-name", default=""),
        group=_GROUP, one_of=ONE_OF,
    ),
    list_command(
        "updateTopicList", "create or change the topics in a file", TopicConfig, lambda admin: admin.topics.create_or_update_all,
        named=("topic", lambda one: one.topic_name), group=_GROUP,
    ),
    admin_command(
        "deleteTopic", "delete a topic from brokers and name servers", _delete, TOPIC,
        option("-c --clusterName", "name of the cluster", required=True),
        group=_GROUP,
    ),
    admin_command(
        "topicList", "list all topics", _list,
        option("-c --clusterModel", "with clusters and consumer groups", switch=True),
        group=_GROUP,
    ),
    admin_command(
        "topicRoute", "tell where a topic lives", _route, TOPIC,
        option("-l --list", "as a table", switch=True),
        group=_GROUP,
    ),
    admin_command(
        "topicStatus", "tell the offsets of every queue", _status, TOPIC, VIA, group=_GROUP, collects=True
    ),
    admin_command(
        "topicClusterList", "list the clusters that have a topic", _clusters, TOPIC, group=_GROUP
    ),
    admin_command(
        "updateTopicPerm", "change the permission of a topic", _update_perm, BROKER, CLUSTER, TOPIC,
        option("-p --perm", "2 to write, 4 to read, 6 for both", type=int, choices=(2, 4, 6), required=True),
        group=_GROUP, one_of=ONE_OF,
    ),
    admin_command(
        "updateOrderConf", "tell, set or delete the queues of an ordered topic", _order_conf, TOPIC,
        option("-m --method", "what to do", required=True, choices=("put", "get", "delete")),
        option("-v --orderConf", "broker:queues;broker:queues"),
        group=_GROUP,
    ),
    admin_command(
        "allocateMQ", "tell how members would share the queues", _allocate, TOPIC,
        option("-i --ipList", "members, with commas between", type=words, required=True),
        group=_GROUP,
    ),
)  # fmt: skip
