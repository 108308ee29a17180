"""Topics with fixed queue numbers: ``updateStaticTopic``, ``remappingStaticTopic``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import trio

from rocketwire.errors import DecodeError
from rocketwire.messages import decode_body
from rocketwire.messages.topics import TopicRemappingDetailWrapper
from rocketwire_tools.admin import mqadmin_options as mq
from rocketwire_tools.cli.command import Table, UsageError

if TYPE_CHECKING:
    from argparse import Namespace

    from rocketwire.client.admin import Admin


async def _update(admin: Admin, args: Namespace) -> Table:
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

COMMANDS: Final = mq.in_group(
    "topics",
    mq.admin_command("updateStaticTopic", "create a static topic, or add queues to it", _update,
        *_STATIC, mq.option("-qn --totalQueueNum", "total number of logical queues", type=int),
        one_of=_ONE_OF, changes=True),
    mq.admin_command("remappingStaticTopic", "move the queues of a static topic", _remap, *_STATIC,
        one_of=_ONE_OF, changes=True),
)  # fmt: skip
