"""Who is connected and how far they are: ``consumerProgress``, ``consumerConnection``, ``consumerStatus``, ``producerConnection``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rocketwire.client.admin.fanout import leave_out
from rocketwire.errors import BrokerError, ChannelError, TopicRouteNotFoundError
from rocketwire.messages import to_json
from rocketwire.policy.resource_names import RETRY_PREFIX
from rocketwire.versions import MQVersion
from rocketwire_tools.admin.cli.arguments import host_and_port
from rocketwire_tools.admin.cli.exit_status import Denied, raise_if_denied
from rocketwire_tools.admin.cli.mqadmin_options import (
    BROKER,
    CONSUMER_GROUP,
    TOPIC,
    VIA,
    admin_command,
    boolean,
    language_name,
    option,
)
from rocketwire_tools.admin.command import Column, Kind, Record, Table, Value

if TYPE_CHECKING:
    from argparse import Namespace

    from rocketwire.client.admin import Admin
    from rocketwire.messages.connections import Connection, ConsumerConnection
    from rocketwire.messages.queries import ConsumeStats, OffsetWrapper

_GROUP: Final = "consumers and producers"
_NUMBER: Final = Kind.NUMBER


async def _progress(admin: Admin, wanted: Namespace) -> Table:
    if wanted.group_name is None:
        return await _all_progress(admin)
    group: str = wanted.group_name
    stats = await admin.consumers.stats(group, wanted.topic_name, by=wanted.cluster)
    owners = await admin.consumers.queue_owners(group) if wanted.show_client_ip else {}
    columns: tuple[Column | str, ...] = (
        "topic", "brokerName", Column("queueId", _NUMBER), Column("brokerOffset", _NUMBER),
        Column("consumerOffset", _NUMBER), *([Column("clientId")] if wanted.show_client_ip else []),
        Column("diff", _NUMBER), Column("inflight", _NUMBER), Column("lastTime", Kind.TIME),
    )  # fmt: skip
    rows: list[list[Value]] = []
    for queue, one in (stats.offset_table or {}).items():
        client = [owners.get(queue)] if wanted.show_client_ip else []
        rows.append([
            queue.topic, queue.broker_name, queue.queue_id, one.broker_offset, one.consumer_offset, *client,
            one.broker_offset - one.consumer_offset, _in_flight(one), one.last_timestamp or None,
        ])  # fmt: skip
    return Table(
        columns, sorted(rows, key=lambda row: (str(row[0]), str(row[1]), int(str(row[2]))))
    )


def _in_flight(one: OffsetWrapper) -> int | None:
    """Messages that were pulled and are not consumed; None of brokers before 5.0, which do not tell how far the group has pulled."""
    return one.pull_offset - one.consumer_offset if one.pull_offset >= one.consumer_offset else None


def _lag(stats: ConsumeStats) -> int:
    table = stats.offset_table or {}
    return sum(one.broker_offset - one.consumer_offset for one in table.values())


async def _all_progress(admin: Admin) -> Table:
    """Every group that has a retry topic."""
    columns = (
        "group", Column("count", _NUMBER), "version", "type", "model", Column("tps", _NUMBER),
        Column("diffTotal", _NUMBER),
    )  # fmt: skip
    rows: list[tuple[Value, ...]] = []
    denied = Denied()
    for name in sorted(await admin.topics.names()):
        if not name.startswith(RETRY_PREFIX):
            continue
        group = name.removeprefix(RETRY_PREFIX)
        try:
            stats = await admin.consumers.stats(group)
            members, count = await _members(admin, group)
        except ChannelError as error:
            leave_out(group, error)
            continue
        except (BrokerError, TopicRouteNotFoundError) as error:
            denied.note(error)
            continue
        found = (members.connection_set if members else None) or ()
        version = MQVersion(min(one.version for one in found)).name if found else None
        kind = members.consume_type if members else None
        model = members.message_model if members else None
        rows.append((group, count, version, kind, model, round(stats.consume_tps, 2), _lag(stats)))
    denied.tell(is_empty=not rows)
    return Table(columns, rows)


async def _members(admin: Admin, group: str) -> tuple[ConsumerConnection | None, int | None]:
    """Who is connected, and how many; None where some may be, to a broker that does not answer."""
    try:
        found = await admin.consumers.connection(group)
    except ChannelError as error:
        leave_out(group, error)
        return None, None
    except BrokerError as error:
        raise_if_denied(error)
        return None, 0
    return found, len(found.connection_set or ())


def _connections(found: tuple[Connection, ...]) -> list[Value]:
    return [
        {
            "clientId": one.client_id,
            "clientAddr": one.client_addr,
            "language": language_name(one.language),
            "version": MQVersion(one.version).name,
        }
        for one in found
    ]


async def _consumer_connection(admin: Admin, wanted: Namespace) -> Record:
    found = await admin.consumers.connection(wanted.consumer_group, broker=wanted.broker_addr)
    return Record(
        {
            "connections": _connections(found.connection_set or ()),
            "subscriptions": {
                topic: one.sub_string for topic, one in (found.subscription_table or {}).items()
            },
            "consumeType": found.consume_type,
            "messageModel": found.message_model,
            "consumeFromWhere": found.consume_from_where,
        }
    )


async def _producer_connection(admin: Admin, wanted: Namespace) -> Table:
    found = await admin.consumers.producer_connection(wanted.producer_group, wanted.topic)
    rows = [
        (one.client_id, one.client_addr, language_name(one.language), MQVersion(one.version).name)
        for one in found.connection_set or ()
    ]
    return Table(("clientId", "clientAddr", "language", "version"), rows)


async def _producers(admin: Admin, wanted: Namespace) -> Table:
    columns = (
        "group",
        "clientId",
        "remoteIP",
        "language",
        "version",
        Column("lastUpdate", Kind.TIME),
    )
    rows = [
        (group, one.client_id, one.remote_ip, language_name(one.language), MQVersion(one.version).name, one.last_update_timestamp)
        for group, members in sorted((await admin.consumers.producers_of(wanted.broker)).items())
        for one in members
    ]  # fmt: skip
    return Table(columns, rows)


async def _status(admin: Admin, wanted: Namespace) -> Record | Table:
    group: str = wanted.consumer_group
    if wanted.client_id is not None:
        info = await admin.consumers.running_info(
            group, wanted.client_id, stack=wanted.jstack, broker=wanted.broker_addr
        )
        table = {
            f"{queue.topic}/{queue.broker_name}/{queue.queue_id}": to_json(one)
            for queue, one in (info.mq_table or {}).items()
        }
        return Record(
            {
                "properties": dict(info.properties or {}),
                "subscriptions": {
                    one.topic or "": one.sub_string for one in info.subscription_set or ()
                },
                "queues": table,
                "rates": {topic: to_json(one) for topic, one in (info.status_table or {}).items()},
                "jstack": info.jstack,
            }
        )
    members = await admin.consumers.connection(group, broker=wanted.broker_addr)
    told = await admin.consumers.running_infos(group, stack=wanted.jstack)
    columns: list[Column | str] = [
        "clientId",
        "version",
        Column("queues", _NUMBER),
        Column("subscriptions", Kind.VALUE),
    ]
    if wanted.jstack:
        columns.append("jstack")
    rows: list[list[Value]] = []
    for one in members.connection_set or ():
        info_ = told.get(one.client_id or "")
        row: list[Value] = [one.client_id, MQVersion(one.version).name]
        row.append(len(info_.mq_table or {}) if info_ else None)
        row.append(
            [f"{s.topic} {s.sub_string}" for s in info_.subscription_set or ()] if info_ else None
        )
        rows.append([*row, *([info_.jstack if info_ else None] if wanted.jstack else [])])
    subscriptions = {str(row[3]) for row in rows if row[3] is not None}
    return Table(columns, rows, failed=len(subscriptions) > 1)


_JSTACK: Final = option("-s --jstack", "with the stacks of its threads", switch=True)

COMMANDS: Final = (
    admin_command(
        "consumerProgress", "tell how far a group is, or all groups", _progress,
        option("-g --groupName", "name of the consumer group; without it all groups"),
        option("-t --topicName", "only of this topic"),
        option("-s --showClientIP", "which member has each queue", type=boolean, default=False),
        VIA, group=_GROUP, collects=True,
    ),
    admin_command(
        "consumerConnection", "tell who is connected and subscribes to what", _consumer_connection,
        CONSUMER_GROUP, BROKER, group=_GROUP, collects=True,
    ),
    admin_command(
        "consumerStatus", "tell what members are doing", _status, CONSUMER_GROUP, BROKER, _JSTACK,
        option("-i --clientId", "one member, with all it tells"),
        group=_GROUP, collects=True, epilog="Exit status 1 if members of the group do not subscribe to the same.",
    ),
    admin_command(
        "producerConnection", "tell who produces to a topic", _producer_connection, TOPIC,
        option("-g --producerGroup", "name of the producer group", required=True),
        group=_GROUP, collects=True,
    ),
    admin_command(
        "producer", "list all producers that a broker knows", _producers,
        option("-b --broker", "address of the broker, host:port", type=host_and_port, required=True),
        group=_GROUP,
    ),
)  # fmt: skip
