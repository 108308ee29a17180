"""Lite topics: ``getBrokerLiteInfo``, ``getLiteTopicInfo``, ``triggerLiteDispatch``, etc."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeVar

from rocketwire.client.admin.fanout import read_from_each
from rocketwire.messages import to_json
from rocketwire_tools.admin import mqadmin_options as mq
from rocketwire_tools.cli.command import Record, RefusedError, Table, Value, record
from rocketwire_tools.values import positive

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Awaitable, Callable, Mapping

    from rocketwire.client.admin import Admin


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

COMMANDS: Final = mq.group_commands(
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
