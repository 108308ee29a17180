"""Planning static topics: which broker hosts which logical queue, before and after a change; pure.

A logical queue is a list of stretches, each of one queue of one broker; the last stretch's broker is its *leader*, who takes
messages.  Every broker of the cluster knows the epoch and the number of logical queues; those that host or hosted one know its
stretches.

Rules of this file: a plan is checked before it is made and after; what Java would refuse is refused.

Java: ``TopicQueueMappingUtils``, ``LogicQueueMappingItem``.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from rocketwire.errors import LocalProtocolError
from rocketwire.messages.message_queue import MessageQueue
from rocketwire.messages.static_topics import LogicQueueMappingItem, TopicQueueMappingDetail
from rocketwire.messages.topics import (
    TopicConfigAndQueueMapping,
    TopicOffset,
    TopicRemappingDetailWrapper,
)
from rocketwire.policy.routing import GLOBAL_SCOPE, mock_broker_name

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

CREATE_OR_UPDATE: Final = "CREATE_OR_UPDATE"
REMAPPING: Final = "REMAPPING"

BLOCK: Final = 10_000
"""Logical offsets of a new leader begin at a multiple of this (Java: ``DEFAULT_BLOCK_SEQ_SIZE``)."""

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
    """A static topic with so many logical queues, or with more than it has, new ones where there are fewest.

    Java: ``createTopicConfigMapping``, which draws lots between brokers that have equally few.

    Args:
        topic: its name.
        queue_nums: logical queues.
        targets: names of the brokers that may host new ones; those that host some already are added.
        configs: what brokers know of the topic.
        now_ms: milliseconds since 1970.

    Raises:
        LocalProtocolError: it has that many queues already, or more; or what brokers know does not fit together.
    """
    hosted = leaders(topic, configs)
    if queue_nums <= len(hosted):
        raise LocalProtocolError(
            f"{topic} has {len(hosted)} logical queues, there cannot be {queue_nums}"
        )
    brokers = list(dict.fromkeys([*targets, *(_leader(items) for items in hosted.values())]))
    counts = Counter(_leader(items) for items in hosted.values())
    planned = dict(configs)
    for queue_id in range(len(hosted), queue_nums):
        broker = min(brokers, key=lambda name: counts[name])
        counts[broker] += 1
        planned[broker], physical = _one_more(topic, broker, planned.get(broker))
        item = LogicQueueMappingItem(bname=broker, queue_id=physical)
        planned[broker] = _hosting(planned[broker], queue_id, (item,))
    epoch = max(epoch_of(topic, configs) + EPOCH_STEP, now_ms)
    planned = _stamped(planned, epoch, queue_nums)
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
    """The logical queues of a static topic shared evenly by these brokers, as few moved as possible.

    Java: ``remappingStaticTopic``.

    Raises:
        LocalProtocolError: there is no such static topic, no target, or what brokers know does not fit together.
    """
    hosted = leaders(topic, configs)
    if not hosted or not targets:
        raise LocalProtocolError(f"no logical queue of {topic}, or nobody to have it")
    owners = _shared({queue_id: _leader(items) for queue_id, items in hosted.items()}, targets)
    planned = dict(configs)
    map_in: dict[str, None] = {}
    map_out: dict[str, None] = {}
    for queue_id, items in sorted(hosted.items()):
        old, new = _leader(items), owners[queue_id]
        if old == new:
            continue
        map_in[new] = map_out[old] = None
        planned[new], physical = _one_more(topic, new, planned.get(new))
        item = LogicQueueMappingItem(
            bname=new, queue_id=physical, gen=items[-1].gen + 1, logic_offset=-1
        )
        for broker in (new, old):
            planned[broker] = _hosting(planned[broker], queue_id, (*items, item))
    epoch = max(epoch_of(topic, configs) + EPOCH_STEP, now_ms)
    return TopicRemappingDetailWrapper(
        topic=topic,
        type=REMAPPING,
        epoch=epoch,
        broker_config_map=_stamped(planned, epoch, len(hosted)),
        broker_to_map_in=tuple(map_in),
        broker_to_map_out=tuple(map_out),
    )


def completed(
    plan: TopicRemappingDetailWrapper, brokers: Iterable[str]
) -> TopicRemappingDetailWrapper:
    """The plan with what the other brokers of the cluster are told: that there is the topic, and nothing of it there.

    Java: ``completeNoTargetBrokers``.
    """
    known = dict(plan.broker_config_map or {})
    total = max((_detail(one).total_queues for one in known.values()), default=0)
    for broker in brokers:
        if broker not in known:
            known[broker] = _empty(plan.topic or "", broker)
    return replace(plan, broker_config_map=_stamped(known, plan.epoch, total))


def with_logic_offsets(
    plan: TopicRemappingDetailWrapper, ends: Mapping[MessageQueue, int], *, block: int = BLOCK
) -> TopicRemappingDetailWrapper:
    """The remapping with the logical offset at which each new leader begins, safely above what the old one has given.

    Args:
        plan: of ``plan_remapping``.
        ends: end of each queue of the old leaders, asked when they take no more messages.
        block: new leaders begin at a multiple of this.

    Raises:
        LocalProtocolError: the end of an old leader's queue is not known, or before its stretch.
    """
    planned = dict(plan.broker_config_map or {})
    for broker in plan.broker_to_map_out or ():
        for queue_id, items in (_detail(planned[broker]).hosted_queues or {}).items():
            if len(items) < 2 or items[-1].logic_offset > 0:
                continue
            old, new = items[-2], items[-1]
            queue = MessageQueue(topic=plan.topic, broker_name=old.bname, queue_id=old.queue_id)
            if ends.get(queue, -1) < old.start_offset:
                raise LocalProtocolError(f"no end of {queue} that could be")
            start = round_up(old.logic_offset + ends[queue] - old.start_offset, block)
            decided = (*items[:-1], replace(new, logic_offset=start))
            for name in (new.bname or "", broker):
                planned[name] = _hosting(planned[name], queue_id, decided)
    return replace(plan, broker_config_map=planned)


def round_up(offset: int, block: int) -> int:
    """The next multiple of a block, or the one after it when that is near (Java: ``blockSeqRoundUp``)."""
    number, left = divmod(offset, block)
    return (number + (1 if left < block // 2 else 2)) * block


def logical_offsets(
    topic: str,
    configs: Mapping[str, TopicConfigAndQueueMapping],
    physical: Mapping[MessageQueue, TopicOffset],
) -> dict[MessageQueue, TopicOffset]:
    """Offsets of the logical queues, from those of the queues they are made of (Java: ``convertPhysicalTopicStats``)."""
    found: dict[MessageQueue, TopicOffset] = {}
    for queue_id, items in leaders(topic, configs, complete=False).items():
        decided = [item for item in items if item.logic_offset >= 0]
        if not decided:
            continue
        first, last = (
            physical.get(MessageQueue(topic=topic, broker_name=one.bname, queue_id=one.queue_id))
            for one in (decided[0], decided[-1])
        )
        if first is None or last is None:
            continue
        scope = _detail(configs[_leader(items)]).scope or GLOBAL_SCOPE
        queue = MessageQueue(topic=topic, broker_name=mock_broker_name(scope), queue_id=queue_id)
        found[queue] = TopicOffset(
            min_offset=max(_logical(decided[0], first.min_offset), 0),
            max_offset=max(_logical(decided[-1], last.max_offset), 0),
            last_update_timestamp=last.last_update_timestamp,
        )
    return found


def _logical(item: LogicQueueMappingItem, offset: int) -> int:
    """The logical offset of a place in a stretch, or of its beginning where that is before it."""
    if item.end_offset >= item.start_offset:
        offset = min(offset, item.end_offset)
    return item.logic_offset + max(offset - item.start_offset, 0)


# ---------------------------------------------------------------------------- what brokers know


def epoch_of(topic: str, configs: Mapping[str, TopicConfigAndQueueMapping]) -> int:
    """The epoch that all brokers have; -1 where there is none (Java: ``checkNameEpochNumConsistence``).

    Raises:
        LocalProtocolError: a broker has the topic as an ordinary one, or they do not agree.
    """
    seen: set[tuple[int, int, str | None]] = set()
    for broker, config in configs.items():
        detail = config.mapping_detail
        if detail is None:
            raise LocalProtocolError(f"{topic} is no static topic on {broker}")
        if detail.bname != broker or detail.topic != topic or detail.dirty:
            raise LocalProtocolError(
                f"{broker} knows {detail.topic} of {detail.bname}, or is not sure"
            )
        seen.add((detail.epoch, detail.total_queues, detail.scope))
    if len(seen) > 1:
        raise LocalProtocolError(f"brokers do not agree on epoch, queues or scope: {sorted(seen)}")
    return next(iter(seen))[0] if seen else -1


def leaders(
    topic: str, configs: Mapping[str, TopicConfigAndQueueMapping], *, complete: bool = True
) -> dict[int, Items]:
    """The stretches of each logical queue, as its leader has them (Java: ``checkAndBuildMappingItems``).

    Args:
        topic: its name.
        configs: what brokers know.
        complete: they have to agree, and every logical queue has to have a leader.

    Raises:
        LocalProtocolError: that does not hold, or two logical queues have the same queue of a broker.
    """
    if complete:
        epoch_of(topic, configs)
    found: dict[int, Items] = {}
    details = [one.mapping_detail for one in configs.values() if one.mapping_detail is not None]
    for detail in sorted(details, key=lambda one: -one.epoch):
        for queue_id, items in (detail.hosted_queues or {}).items():
            if items and _leader(items) == detail.bname:
                found.setdefault(queue_id, items)
    places = Counter((item.bname, item.queue_id) for items in found.values() for item in items)
    if any(number > 1 for number in places.values()):
        raise LocalProtocolError(f"two logical queues of {topic} share a queue")
    total = max((detail.total_queues for detail in details), default=0)
    if complete and sorted(found) != list(range(total)):
        raise LocalProtocolError(
            f"{topic} has {total} logical queues, and leaders of {sorted(found)}"
        )
    return found


def _shared(owners: Mapping[int, str], targets: Collection[str]) -> dict[int, str]:
    """Owner of each queue when the targets have equally many; ties go to those that have most."""
    before = Counter(owners.values())
    order = sorted(dict.fromkeys(targets), key=lambda name: -before[name])
    share, left = divmod(len(owners), len(order))
    room = {name: share + (place < left) for place, name in enumerate(order)}
    kept: dict[int, str] = {}
    waiting: list[int] = []
    for queue_id, owner in sorted(owners.items()):
        if room.get(owner, 0) > 0:
            room[owner] -= 1
            kept[queue_id] = owner
        else:
            waiting.append(queue_id)
    free = [name for name in order for _ in range(room[name])]
    return kept | dict(zip(waiting, free, strict=True))


# ---------------------------------------------------------------------------- one broker's part


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


def _one_more(
    topic: str, broker: str, config: TopicConfigAndQueueMapping | None
) -> tuple[TopicConfigAndQueueMapping, int]:
    """The broker's part with one queue more, and that queue's id."""
    known = config or _empty(topic, broker)
    number = known.write_queue_nums
    return replace(
        known, write_queue_nums=number + 1, read_queue_nums=known.read_queue_nums + 1
    ), number


def _hosting(
    config: TopicConfigAndQueueMapping, queue_id: int, items: Items
) -> TopicConfigAndQueueMapping:
    detail = _detail(config)
    queues = {**(detail.hosted_queues or {}), queue_id: items}
    return replace(config, mapping_detail=replace(detail, hosted_queues=queues))


def _stamped(
    configs: Mapping[str, TopicConfigAndQueueMapping], epoch: int, total: int
) -> dict[str, TopicConfigAndQueueMapping]:
    return {
        broker: replace(
            config, mapping_detail=replace(_detail(config), epoch=epoch, total_queues=total)
        )
        for broker, config in configs.items()
    }
