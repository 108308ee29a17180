"""Lite topics: ``getBrokerLiteInfo``, ``getLiteTopicInfo``, ``triggerLiteDispatch`` and their kin."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeVar

from rocketwire.client.admin.fanout import call_each, read_from_each
from rocketwire.messages import to_json
from rocketwire_tools.admin.cli.mqadmin_options import (
    BROKER,
    ONE_OF,
    addresses,
    admin_command,
    option,
)
from rocketwire_tools.admin.command import Column, Kind, Record, Table, Value
from rocketwire_tools.numbers import positive

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Awaitable, Callable, Mapping

    from rocketwire.client.admin import Admin

_GROUP: Final = "lite topics"
_NUMBER: Final = Kind.NUMBER

T = TypeVar("T")


async def _by_name(places: Mapping[str, str], call: Callable[[str], Awaitable[T]]) -> dict[str, T]:
    """What the brokers at these addresses tell, by their names, without those that do not answer."""
    told = await read_from_each(places.values(), call)
    return {name: told[address] for name, address in places.items() if address in told}


async def _of_broker(admin: Admin, wanted: Namespace) -> Table:
    each = await read_from_each(await addresses(admin, wanted), admin.lite.of_broker)
    rows = [
        (
            address, one.store_type, one.max_lmq_num, one.current_lmq_num, one.lite_subscription_count,
            one.order_info_count, one.cq_table_size, one.offset_table_size, one.event_map_size,
            *([dict(one.topic_meta or {}), _lists(one.group_meta)] if wanted.show_detail else []),
        )
        for address, one in each.items()
    ]  # fmt: skip
    columns: tuple[Column | str, ...] = (
        "brokerAddr", "storeType", Column("maxLmqNum", _NUMBER), Column("currentLmqNum", _NUMBER),
        Column("liteSubscriptionCount", _NUMBER), Column("orderInfoCount", _NUMBER), Column("cqTableSize", _NUMBER),
        Column("offsetTableSize", _NUMBER), Column("eventMapSize", _NUMBER),
        *([Column("topicMeta", Kind.VALUE), Column("groupMeta", Kind.VALUE)] if wanted.show_detail else []),
    )  # fmt: skip
    return Table(columns, rows)


def _lists(table: Mapping[str, tuple[str, ...]] | None) -> Value:
    return {key: sorted(values) for key, values in (table or {}).items()}


async def _parent(admin: Admin, wanted: Namespace) -> Table:
    topic: str = wanted.parent_topic
    places = await admin.clusters.of_topic(topic)
    each = await _by_name(places, lambda address: admin.lite.parent(address, topic))
    rows = [
        (name, one.ttl, one.lite_topic_count, one.lmq_num, sorted(one.groups or ()))
        for name, one in each.items()
    ]
    columns: tuple[Column | str, ...] = (
        "brokerName", Column("ttl", _NUMBER), Column("liteTopicCount", _NUMBER), Column("lmqNum", _NUMBER),
        Column("groups", Kind.VALUE),
    )  # fmt: skip
    return Table(columns, rows)


async def _topic(admin: Admin, wanted: Namespace) -> Table:
    places = await admin.clusters.of_topic(wanted.parent_topic)
    each = await _by_name(
        places,
        lambda address: admin.lite.topic(address, wanted.parent_topic, wanted.lite_topic),
    )
    rows: list[tuple[Value, ...]] = []
    for name, one in each.items():
        ends, members = one.topic_offset, one.subscriber or ()
        shown = [f"{member.client_id}@{member.group}" for member in members]
        rows.append((
            name, ends.min_offset if ends else None, ends.max_offset if ends else None,
            (ends.last_update_timestamp or None) if ends else None, one.sharding_to_broker, len(members),
            *([shown] if wanted.show_client_id else []),
        ))  # fmt: skip
    columns: tuple[Column | str, ...] = (
        "brokerName", Column("minOffset", _NUMBER), Column("maxOffset", _NUMBER), Column("lastUpdate", Kind.TIME),
        "sharding", Column("subClientCount", _NUMBER),
        *([Column("subscribers", Kind.VALUE)] if wanted.show_client_id else []),
    )  # fmt: skip
    return Table(columns, rows)


async def _client(admin: Admin, wanted: Namespace) -> Table:
    places = await admin.clusters.of_topic(wanted.parent_topic)
    each = await _by_name(
        places,
        lambda address: admin.lite.client_info(
            address, wanted.parent_topic, wanted.group, wanted.client_id
        ),
    )
    rows = [
        (
            name, one.lite_topic_count if one.lite_topic_count >= 0 else None, one.last_access_time if one.last_access_time > 0 else None,
            one.last_consume_time if one.last_consume_time > 0 else None,
            *([sorted(one.lite_topic_set or ())] if wanted.show_detail else []),
        )
        for name, one in each.items()
    ]  # fmt: skip
    columns: tuple[Column | str, ...] = (
        "brokerName", Column("liteTopicCount", _NUMBER), Column("lastAccessTime", Kind.TIME),
        Column("lastConsumeTime", Kind.TIME),
        *([Column("liteTopics", Kind.VALUE)] if wanted.show_detail else []),
    )  # fmt: skip
    return Table(columns, rows)


async def _group(admin: Admin, wanted: Namespace) -> Record:
    places = await admin.clusters.of_topic(wanted.parent_topic)
    each = await _by_name(
        places,
        lambda address: admin.lite.group(
            address, wanted.group, wanted.lite_topic, top_k=wanted.top_k
        ),
    )
    found = list(each.values())
    lags = [lag for one in found for lag in one.lag_count_top_k or ()]
    waits = [lag for one in found for lag in one.lag_timestamp_top_k or ()]
    oldest = [
        one.earliest_unconsumed_timestamp for one in found if one.earliest_unconsumed_timestamp > 0
    ]
    offsets = {name: one.lite_topic_offset_wrapper for name, one in each.items()}
    return Record(
        {
            "group": wanted.group,
            "parentTopic": wanted.parent_topic,
            "totalLagCount": sum(max(one.total_lag_count, 0) for one in found),
            "earliestUnconsumedTimestamp": min(oldest, default=None),
            "offsets": {name: to_json(one) if one else None for name, one in offsets.items()},
            "lagCountTopK": [to_json(one) for one in sorted(lags, key=lambda lag: -lag.lag_count)],
            "lagTimestampTopK": [
                to_json(one)
                for one in sorted(waits, key=lambda lag: lag.earliest_unconsumed_timestamp)
            ],
        }
    )


async def _dispatch(admin: Admin, wanted: Namespace) -> Table:
    places = await admin.clusters.of_topic(wanted.parent_topic)
    told = {name: address for name, address in places.items() if wanted.broker_name in (None, name)}
    await call_each(
        told.values(),
        lambda address: admin.lite.trigger_dispatch(address, wanted.group, wanted.client_id),
    )
    return Table(("brokerName", "brokerAddr"), list(told.items()), failed=not told)


_PARENT: Final = option("-p --parentTopic", "name of the parent topic", required=True)
_WHOSE: Final = option("-g --group", "name of the consumer group", required=True)

COMMANDS: Final = (
    admin_command(
        "getBrokerLiteInfo", "tell how many lite topics brokers have", _of_broker, BROKER,
        option("-c --cluster --clusterName", "name of a cluster", metavar="NAME"),
        option("-d --showDetail", "with parent topics and groups", switch=True), group=_GROUP, one_of=ONE_OF, collects=True,
    ),
    admin_command(
        "getParentTopicInfo", "tell of a parent topic", _parent, _PARENT, group=_GROUP, collects=True
    ),
    admin_command(
        "getLiteTopicInfo", "tell the offsets of a lite topic, and who subscribes", _topic, _PARENT,
        option("-l --liteTopic", "name of the lite topic", required=True),
        option("-s --showClientId", "name the subscribers", switch=True), group=_GROUP, collects=True,
    ),
    admin_command(
        "getLiteClientInfo", "tell the lite topics of a client", _client, _PARENT, _WHOSE,
        option("-c --clientId", "which client", required=True, metavar="ID"),
        option("-s --showDetail", "name the lite topics", switch=True), group=_GROUP, collects=True,
    ),
    admin_command(
        "getLiteGroupInfo", "tell how far a group is with its lite topics", _group, _PARENT, _WHOSE,
        option("-l --liteTopic", "only this lite topic"),
        option("-k --topK", "how many of those most behind each broker names", type=positive, default=20),
        group=_GROUP, collects=True,
    ),
    admin_command(
        "triggerLiteDispatch", "have brokers look for messages of lite topics now", _dispatch, _PARENT, _WHOSE,
        option("-c --clientId", "only for this client", metavar="ID"),
        option("-b --brokerName", "only at this broker group", metavar="NAME"), group=_GROUP,
    ),
)  # fmt: skip
