"""Static topics, whose queues stay when brokers come and go: ``updateStaticTopic``, ``remappingStaticTopic``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import trio

from rocketwire.errors import DecodeError
from rocketwire.messages import decode_body
from rocketwire.messages.topics import TopicRemappingDetailWrapper
from rocketwire_tools.admin.cli.mqadmin_options import TOPIC, admin_command, boolean, option, words
from rocketwire_tools.admin.command import Column, Kind, Table, UsageError

if TYPE_CHECKING:
    from argparse import Namespace

    from rocketwire.client.admin import Admin

_GROUP: Final = "topics"
_NUMBER: Final = Kind.NUMBER


async def _update(admin: Admin, wanted: Namespace) -> Table:
    if wanted.map_file is not None:
        return await _as_in_file(admin, wanted)
    if wanted.total_queue_num is None:
        raise UsageError("--total-queue-num is needed")
    brokers = await _brokers(admin, wanted)
    return _planned(
        await admin.static_topics.create_or_update(
            wanted.topic, wanted.total_queue_num, brokers, force=wanted.force_replace
        )
    )


async def _remap(admin: Admin, wanted: Namespace) -> Table:
    if wanted.map_file is not None:
        return await _as_in_file(admin, wanted)
    brokers = await _brokers(admin, wanted)
    return _planned(
        await admin.static_topics.remap(wanted.topic, brokers, force=wanted.force_replace)
    )


async def _as_in_file(admin: Admin, wanted: Namespace) -> Table:
    """What mqadmin has written to a file, which it can tell brokers itself no more: it reads the file only for an option that it has not."""
    name: str = wanted.map_file
    try:
        plan = decode_body(TopicRemappingDetailWrapper, await trio.Path(name).read_bytes())
    except (OSError, DecodeError) as error:
        raise UsageError(f"{name}: {error}") from error
    if plan is None or plan.topic != wanted.topic:
        raise UsageError(f"{name} is not about {wanted.topic}")
    return _planned(await admin.static_topics.carry_out(plan, force=wanted.force_replace))


async def _brokers(admin: Admin, wanted: Namespace) -> list[str]:
    if wanted.brokers is not None:
        return list(wanted.brokers)
    return [
        name for cluster in wanted.clusters for name in await admin.clusters.broker_names(cluster)
    ]


def _planned(plan: TopicRemappingDetailWrapper) -> Table:
    """Where each logical queue is now."""
    rows: list[tuple[int, str, int]] = []
    for broker, part in (plan.broker_config_map or {}).items():
        detail = part.mapping_detail
        for number, items in ((detail.hosted_queues if detail else None) or {}).items():
            if items and items[-1].bname == broker:
                rows.append((number, broker, items[-1].queue_id))
    columns = (Column("logicalQueueId", _NUMBER), "brokerName", Column("queueId", _NUMBER))
    return Table(columns, sorted(rows))


_STATIC: Final = (
    TOPIC,
    option("-b --brokers", "names of brokers, with commas between", type=words),
    option("-c --clusters", "names of clusters, with commas between", type=words),
    option(
        "-fr --forceReplace",
        "tell brokers also what they think is old",
        type=boolean,
        default=False,
    ),
    option(
        "-mf --mapFile", "tell brokers what this file of mqadmin's says instead", metavar="FILE"
    ),
)

_ONE_OF: Final = ("brokers", "clusters", "map_file")

COMMANDS: Final = (
    admin_command(
        "updateStaticTopic", "create a static topic, or give it more queues", _update, *_STATIC,
        option("-qn --totalQueueNum", "logical queues in all", type=int),
        group=_GROUP, one_of=_ONE_OF,
    ),
    admin_command(
        "remappingStaticTopic", "move the queues of a static topic", _remap, *_STATIC,
        group=_GROUP, one_of=_ONE_OF,
    ),
)  # fmt: skip
