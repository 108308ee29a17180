"""Plans for static topics: the brokers that host the logical queues, before and after a change.

A logical queue is a list of mapping items, each a queue of a broker.  The broker of the last item
is the *leader*, which stores new messages.  Every broker of the cluster stores the epoch and the
number of logical queues; brokers that host or hosted a logical queue store its items.
Configurations are checked before and after a change, as in Java.

Java: ``TopicQueueMappingUtils``, ``LogicQueueMappingItem``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from rocketwire.errors import LocalProtocolError
from rocketwire.messages.message_queue import MessageQueue
from rocketwire.messages.static_topics import LogicQueueMappingItem, TopicQueueMappingDetail
from rocketwire.messages.topics import (
    TopicConfigAndQueueMapping,
    TopicOffset,
    TopicRemappingDetailWrapper,
)
from rocketwire.policy.routing import GLOBAL_SCOPE, mock_broker_name

CREATE_OR_UPDATE: Final = "CREATE_OR_UPDATE"
REMAPPING: Final = "REMAPPING"

# New leaders begin at a multiple of this logical offset (Java: ``DEFAULT_BLOCK_SEQ_SIZE``)
BLOCK: Final = 10_000

EPOCH_STEP: Final = 1000

Items = tuple[LogicQueueMappingItem, ...]


def plan_creation(
    topic: str,
    queue_nums: int,
    targets: Collection[str],
    configs: Mapping[str, TopicConfigAndQueueMapping],
    *,
    now_ms: int,
) -> TopicRemappingDetailWrapper:
    """Plan a static topic, or more logical queues for one, at the brokers with the fewest.

    Java: ``createTopicConfigMapping``, which chooses randomly among brokers with equally few.

    Args:
        queue_nums: number of logical queues.
        targets: names of brokers that may host new queues, besides those that host some already.
        configs: the topic's configuration by broker name.

    Raises:
        LocalProtocolError: the topic has that many queues or more, or the brokers do not agree.
    """
    hosted = leaders(topic, configs)
    if queue_nums <= len(hosted):
        raise LocalProtocolError(
            f"{topic} has {len(hosted)} logical queues, the new number is {queue_nums}"
        )
    brokers = list(dict.fromkeys([*targets, *(_leader(items) for items in hosted.values())]))
    counts = Counter(_leader(items) for items in hosted.values())
    planned = dict(configs)
    for queue_id in range(len(hosted), queue_nums):
        broker = min(brokers, key=lambda name: counts[name])
        counts[broker] += 1
        planned[broker], physical = _add_queue(topic, broker, planned.get(broker))
        item = LogicQueueMappingItem(bname=broker, queue_id=physical)
        planned[broker] = _with_items(planned[broker], queue_id, (item,))
    epoch = max(epoch_of(topic, configs) + EPOCH_STEP, now_ms)
    planned = _with_epoch(planned, epoch, queue_nums)
    leaders(topic, planned)
    return TopicRemappingDetailWrapper(
        topic=topic, type=CREATE_OR_UPDATE, epoch=epoch, broker_config_map=planned
    )


def plan_remapping(
    topic: str,
    targets: Collection[str],
    configs: Mapping[str, TopicConfigAndQueueMapping],
    *,
    now_ms: int,
) -> TopicRemappingDetailWrapper:
    """Plan to share the logical queues of a static topic evenly, with as few moves as possible.

    Java: ``remappingStaticTopic``.

    Raises:
        LocalProtocolError: no such static topic, no target, or the brokers do not agree.
    """
    hosted = leaders(topic, configs)
    if not hosted or not targets:
        raise LocalProtocolError(f"{topic} has no logical queue, or there is no target broker")
    owners = _share({queue_id: _leader(items) for queue_id, items in hosted.items()}, targets)
    planned = dict(configs)
    map_in: dict[str, None] = {}
    map_out: dict[str, None] = {}
    for queue_id, items in sorted(hosted.items()):
        old, new = _leader(items), owners[queue_id]
        if old == new:
            continue
        map_in[new] = map_out[old] = None
        planned[new], physical = _add_queue(topic, new, planned.get(new))
        item = LogicQueueMappingItem(
            bname=new, queue_id=physical, gen=items[-1].gen + 1, logic_offset=-1
        )
        for broker in (new, old):
            planned[broker] = _with_items(planned[broker], queue_id, (*items, item))
    epoch = max(epoch_of(topic, configs) + EPOCH_STEP, now_ms)
    return TopicRemappingDetailWrapper(
        topic=topic,
        type=REMAPPING,
        epoch=epoch,
        broker_config_map=_with_epoch(planned, epoch, len(hosted)),
        broker_to_map_in=tuple(map_in),
        broker_to_map_out=tuple(map_out),
    )


def add_other_brokers(
    plan: TopicRemappingDetailWrapper, brokers: Iterable[str]
) -> TopicRemappingDetailWrapper:
    """Add an empty configuration for each other broker of the cluster to a plan.

    Java: ``completeNoTargetBrokers``.
    """
    configs = dict(plan.broker_config_map or {})
    total = max((_detail(config).total_queues for config in configs.values()), default=0)
    for broker in brokers:
        if broker not in configs:
            configs[broker] = _empty(plan.topic or "", broker)
    return replace(plan, broker_config_map=_with_epoch(configs, plan.epoch, total))


def with_logic_offsets(
    plan: TopicRemappingDetailWrapper, ends: Mapping[MessageQueue, int], *, block: int = BLOCK
) -> TopicRemappingDetailWrapper:
    """Set the first logical offset of each new leader, above all offsets of the old leader.

    Args:
        plan: the result of ``plan_remapping``.
        ends: end offset of each queue of the old leaders, after they have stopped storing messages.
        block: new leaders begin at a multiple of this.

    Raises:
        LocalProtocolError: the end of an old leader's queue is missing, or before its item's start.
    """
    planned = dict(plan.broker_config_map or {})
    for broker in plan.broker_to_map_out or ():
        for queue_id, items in (_detail(planned[broker]).hosted_queues or {}).items():
            if len(items) < 2 or items[-1].logic_offset > 0:
                continue
            old, new = items[-2], items[-1]
            queue = MessageQueue(topic=plan.topic, broker_name=old.bname, queue_id=old.queue_id)
            if ends.get(queue, -1) < old.start_offset:
                raise LocalProtocolError(f"{queue}: the end offset is missing or too small")
            start = round_up(old.logic_offset + ends[queue] - old.start_offset, block)
            decided = (*items[:-1], replace(new, logic_offset=start))
            for name in (new.bname or "", broker):
                planned[name] = _with_items(planned[name], queue_id, decided)
    return replace(plan, broker_config_map=planned)


def round_up(offset: int, block: int) -> int:
    """Round up to a multiple of ``block``, at least half of one (Java: ``blockSeqRoundUp``)."""
    number, remainder = divmod(offset, block)
    return (number + (1 if remainder < block // 2 else 2)) * block


def logical_offsets(
    topic: str,
    configs: Mapping[str, TopicConfigAndQueueMapping],
    physical: Mapping[MessageQueue, TopicOffset],
) -> dict[MessageQueue, TopicOffset]:
    """Compute the offsets of logical queues from those of their physical queues.

    Java: ``convertPhysicalTopicStats``.
    """
    offsets: dict[MessageQueue, TopicOffset] = {}
    for queue_id, items in leaders(topic, configs, complete=False).items():
        decided = [item for item in items if item.logic_offset >= 0]
        if not decided:
            continue
        first, last = (
            physical.get(MessageQueue(topic=topic, broker_name=item.bname, queue_id=item.queue_id))
            for item in (decided[0], decided[-1])
        )
        if first is None or last is None:
            continue
        scope = _detail(configs[_leader(items)]).scope or GLOBAL_SCOPE
        queue = MessageQueue(topic=topic, broker_name=mock_broker_name(scope), queue_id=queue_id)
        offsets[queue] = TopicOffset(
            min_offset=max(_logical(decided[0], first.min_offset), 0),
            max_offset=max(_logical(decided[-1], last.max_offset), 0),
            last_update_timestamp=last.last_update_timestamp,
        )
    return offsets


def _logical(item: LogicQueueMappingItem, offset: int) -> int:
    if item.end_offset >= item.start_offset:
        offset = min(offset, item.end_offset)
    return item.logic_offset + max(offset - item.start_offset, 0)


# ---------------------------------------------------------------------------- configurations


def epoch_of(topic: str, configs: Mapping[str, TopicConfigAndQueueMapping]) -> int:
    # Java: ``checkNameEpochNumConsistence``
    versions: set[tuple[int, int, str | None]] = set()
    for broker, config in configs.items():
        detail = config.mapping_detail
        if detail is None:
            raise LocalProtocolError(f"{topic} is not a static topic on {broker}")
        if detail.bname != broker or detail.topic != topic or detail.dirty:
            raise LocalProtocolError(
                f"{broker} has a mapping of {detail.topic} on {detail.bname}, or a dirty one"
            )
        versions.add((detail.epoch, detail.total_queues, detail.scope))
    if len(versions) > 1:
        differences = sorted(versions)
        raise LocalProtocolError(f"brokers do not agree on epoch, queues or scope: {differences}")
    return next(iter(versions))[0] if versions else -1


def leaders(
    topic: str, configs: Mapping[str, TopicConfigAndQueueMapping], *, complete: bool = True
) -> dict[int, Items]:
    # Java: ``checkAndBuildMappingItems``, which compares all brokers if they must be ``complete``
    if complete:
        epoch_of(topic, configs)
    by_queue: dict[int, Items] = {}
    details = [c.mapping_detail for c in configs.values() if c.mapping_detail is not None]
    for detail in sorted(details, key=lambda detail: -detail.epoch):
        for queue_id, items in (detail.hosted_queues or {}).items():
            if items and _leader(items) == detail.bname:
                by_queue.setdefault(queue_id, items)
    queues = Counter((item.bname, item.queue_id) for items in by_queue.values() for item in items)
    if any(number > 1 for number in queues.values()):
        raise LocalProtocolError(f"two logical queues of {topic} share a queue")
    total = max((detail.total_queues for detail in details), default=0)
    if complete and sorted(by_queue) != list(range(total)):
        raise LocalProtocolError(
            f"{topic} has {total} logical queues, and leaders of {sorted(by_queue)}"
        )
    return by_queue


def _share(owners: Mapping[int, str], targets: Collection[str]) -> dict[int, str]:
    # if the queues do not divide evenly, the fullest targets keep one more
    queue_counts = Counter(owners.values())
    order = sorted(dict.fromkeys(targets), key=lambda name: -queue_counts[name])
    share, remainder = divmod(len(owners), len(order))
    room = {name: share + (index < remainder) for index, name in enumerate(order)}
    unmoved: dict[int, str] = {}
    moving: list[int] = []
    for queue_id, owner in sorted(owners.items()):
        if room.get(owner, 0) > 0:
            room[owner] -= 1
            unmoved[queue_id] = owner
        else:
            moving.append(queue_id)
    free = [name for name in order for _ in range(room[name])]
    return unmoved | dict(zip(moving, free, strict=True))


# ---------------------------------------------------------------------------- one broker


def _leader(items: Sequence[LogicQueueMappingItem]) -> str:
    return items[-1].bname or ""


def _detail(config: TopicConfigAndQueueMapping) -> TopicQueueMappingDetail:
    return config.mapping_detail or TopicQueueMappingDetail()


def _empty(topic: str, broker: str) -> TopicConfigAndQueueMapping:
    return TopicConfigAndQueueMapping(
        topic_name=topic,
        read_queue_nums=0,
        write_queue_nums=0,
        mapping_detail=TopicQueueMappingDetail(topic=topic, bname=broker),
    )


def _add_queue(
    topic: str, broker: str, config: TopicConfigAndQueueMapping | None
) -> tuple[TopicConfigAndQueueMapping, int]:
    config = config or _empty(topic, broker)
    number = config.write_queue_nums
    return replace(
        config, write_queue_nums=number + 1, read_queue_nums=config.read_queue_nums + 1
    ), number


def _with_items(
    config: TopicConfigAndQueueMapping, queue_id: int, items: Items
) -> TopicConfigAndQueueMapping:
    detail = _detail(config)
    queues = {**(detail.hosted_queues or {}), queue_id: items}
    return replace(config, mapping_detail=replace(detail, hosted_queues=queues))


def _with_epoch(
    configs: Mapping[str, TopicConfigAndQueueMapping], epoch: int, total: int
) -> dict[str, TopicConfigAndQueueMapping]:
    return {
        broker: replace(
            config, mapping_detail=replace(_detail(config), epoch=epoch, total_queues=total)
        )
        for broker, config in configs.items()
    }
