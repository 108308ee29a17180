"""Offsets of groups: ``resetOffsetByTime``, ``skipAccumulatedMessage``, ``cloneGroupOffset``, ``getConsumerStatus``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rocketwire.messages.message_queue import MessageQueue
from rocketwire_tools.admin.cli.arguments import host_and_port
from rocketwire_tools.admin.cli.mqadmin_options import (
    TOPIC,
    VIA,
    admin_command,
    boolean,
    moment,
    option,
)
from rocketwire_tools.admin.command import Column, Kind, Table, UsageError

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Mapping

    from rocketwire.client.admin import Admin

_GROUP: Final = "offsets"
_NUMBER: Final = Kind.NUMBER


def _table(offsets: Mapping[MessageQueue, int]) -> Table:
    rows = sorted((one.broker_name or "", one.queue_id, offset) for one, offset in offsets.items())
    return Table(("brokerName", Column("queueId", _NUMBER), Column("offset", _NUMBER)), rows)


async def _reset(admin: Admin, wanted: Namespace) -> Table:
    group, topic = wanted.group, wanted.topic
    if wanted.broker is None:
        return _table(
            await admin.offsets.move(
                group, topic, wanted.timestamp, force=wanted.force, by=wanted.cluster
            )
        )
    if wanted.queue is None:
        raise UsageError("--broker needs --queue")
    name = await admin.clusters.broker_name(wanted.broker)
    queue = MessageQueue(topic=topic, broker_name=name, queue_id=wanted.queue)
    offset: int | None = wanted.offset
    if offset is None:
        offset = await admin.client.brokers.search_offset(wanted.broker, queue, wanted.timestamp)
    return _table(await admin.offsets.reset_queue(wanted.broker, group, queue, offset))


async def _reset_old(admin: Admin, wanted: Namespace) -> Table:
    columns = (
        "brokerName", Column("queueId", _NUMBER), Column("brokerOffset", _NUMBER), Column("consumerOffset", _NUMBER),
        Column("timestampOffset", _NUMBER), Column("rollbackOffset", _NUMBER),
    )  # fmt: skip
    found = await admin.offsets.reset_by_time_old(
        wanted.group, wanted.topic, wanted.timestamp, force=wanted.force, by=wanted.cluster
    )
    rows = [
        (one.broker_name, one.queue_id, one.broker_offset, one.consumer_offset, one.timestamp_offset, one.rollback_offset)
        for one in found
    ]  # fmt: skip
    return Table(columns, rows)


async def _skip(admin: Admin, wanted: Namespace) -> Table:
    return _table(
        await admin.offsets.skip_accumulated(
            wanted.group, wanted.topic, force=wanted.force, by=wanted.cluster
        )
    )


async def _clone(admin: Admin, wanted: Namespace) -> Table:
    return _table(await admin.offsets.copy(wanted.src_group, wanted.dest_group, wanted.topic))


async def _members(admin: Admin, wanted: Namespace) -> Table:
    table = await admin.offsets.of_members(wanted.group, wanted.topic, wanted.origin_client_id)
    rows = sorted(
        (client, queue.broker_name or "", queue.queue_id, offset)
        for client, queues in table.items()
        for queue, offset in queues.items()
    )
    columns = ("clientId", "brokerName", Column("queueId", _NUMBER), Column("offset", _NUMBER))
    return Table(columns, rows)


_WHOSE: Final = option("-g --group", "name of the consumer group", required=True)
_WHEN: Final = option(
    "-s --timestamp", "now, milliseconds since 1970, or as 2026-01-31#12:00:00:000",
    type=moment, required=True,
)  # fmt: skip
_FORCE: Final = option(
    "-f --force", "also where that moves a queue on rather than back", type=boolean, default=True
)

COMMANDS: Final = (
    admin_command(
        "resetOffsetByTime", "set the offsets of a group to a time", _reset, _WHOSE, TOPIC, _WHEN, _FORCE,
        option("-b --broker", "only at this broker's address", type=host_and_port, metavar="ADDR"),
        option("-q --queue", "only this queue", type=int),
        option("-o --offset", "this offset, rather than that of the time", type=int),
        VIA, group=_GROUP,
    ),
    admin_command(
        "resetOffsetByTimeOld", "commit the offsets of a time for a group that is away", _reset_old,
        _WHOSE, TOPIC, _WHEN, _FORCE, VIA, group=_GROUP,
    ),
    admin_command(
        "skipAccumulatedMessage", "have a group go on with what comes from now on", _skip,
        _WHOSE, TOPIC, _FORCE, VIA, group=_GROUP,
    ),
    admin_command(
        "cloneGroupOffset", "give one group the offsets of another", _clone, TOPIC,
        option("-s --srcGroup", "from whom", required=True),
        option("-d --destGroup", "to whom", required=True),
        option("-o --offline", "accepted as mqadmin does, which does nothing with it", type=boolean),
        group=_GROUP,
    ),
    admin_command(
        "getConsumerStatus", "tell the offsets that members have in memory", _members, _WHOSE, TOPIC,
        option("-i --originClientId", "only of this member"),
        group=_GROUP,
    ),
)  # fmt: skip
