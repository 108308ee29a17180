"""Plans for static topics; that brokers take them is tested against Java in the cases of operators' calls."""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocketwire.errors import LocalProtocolError
from rocketwire.messages.message_queue import MessageQueue
from rocketwire.messages.static_topics import LogicQueueMappingItem, TopicQueueMappingDetail
from rocketwire.messages.topics import TopicConfigAndQueueMapping, TopicOffset
from rocketwire.policy import static_topics

NOW = 1_700_000_000_000


def owners(configs: dict[str, TopicConfigAndQueueMapping]) -> dict[int, str]:
    return {
        number: items[-1].bname or ""
        for number, items in static_topics.leaders("t", configs).items()
    }


def create(number: int, *brokers: str) -> dict[str, TopicConfigAndQueueMapping]:
    plan = static_topics.plan_creation("t", number, brokers, {}, now_ms=NOW)
    return dict(static_topics.add_other_brokers(plan, brokers).broker_config_map or {})


def test_a_new_topic_is_shared_evenly_with_one_total() -> None:
    configs = create(5, "a", "b")

    assert Counter(owners(configs).values()) == {"a": 3, "b": 2}
    assert {config.write_queue_nums for config in configs.values()} == {3, 2}
    assert static_topics.epoch_of("t", configs) == NOW
    assert {
        config.mapping_detail.total_queues for config in configs.values() if config.mapping_detail
    } == {5}


def test_more_queues_go_where_there_are_fewest_and_the_old_ones_stay() -> None:
    previous = create(4, "a", "b")
    plan = static_topics.plan_creation("t", 6, ["a", "b", "c"], previous, now_ms=NOW)
    changed = dict(plan.broker_config_map or {})
    assert {number: owners(changed)[number] for number in range(4)} == owners(previous)
    assert [owners(changed)[number] for number in (4, 5)] == ["c", "c"]
    assert static_topics.epoch_of("t", changed) == NOW + 1000


def test_a_broker_without_queues_gets_the_mapping() -> None:
    plan = static_topics.add_other_brokers(
        static_topics.plan_creation("t", 1, ["a"], {}, now_ms=NOW), ["a", "b"]
    )
    config = (plan.broker_config_map or {})["b"]

    assert (config.read_queue_nums, config.write_queue_nums) == (0, 0)
    assert config.mapping_detail is not None
    assert (config.mapping_detail.bname, config.mapping_detail.total_queues) == ("b", 1)


def test_a_topic_cannot_shrink_nor_become_static() -> None:
    configs = create(2, "a")
    with pytest.raises(LocalProtocolError, match="has 2 logical queues"):
        static_topics.plan_creation("t", 2, ["a"], configs, now_ms=NOW)
    ordinary = {"a": TopicConfigAndQueueMapping(topic_name="t")}
    with pytest.raises(LocalProtocolError, match="not a static topic"):
        static_topics.plan_creation("t", 4, ["a"], ordinary, now_ms=NOW)
    with pytest.raises(LocalProtocolError, match="no target broker"):
        static_topics.plan_remapping("t", [], configs, now_ms=NOW)


def test_brokers_that_disagree_get_no_change() -> None:
    configs = create(2, "a", "b")
    detail = configs["b"].mapping_detail
    assert detail is not None
    configs["b"] = replace(configs["b"], mapping_detail=replace(detail, epoch=1))
    with pytest.raises(LocalProtocolError, match="do not agree"):
        static_topics.plan_remapping("t", ["a"], configs, now_ms=NOW)


@given(
    st.integers(1, 12),
    st.lists(st.sampled_from("abcd"), min_size=1, unique=True),
    st.lists(st.sampled_from("abcd"), min_size=1, unique=True),
)
def test_remapping_shares_evenly_and_moves_no_more_than_it_has_to(
    number: int, old_brokers: list[str], new_brokers: list[str]
) -> None:
    configs = create(number, *old_brokers)
    old = owners(configs)
    plan = static_topics.plan_remapping("t", new_brokers, configs, now_ms=NOW)
    ends = {
        MessageQueue(topic="t", broker_name=broker, queue_id=queue): 7
        for broker in old_brokers
        for queue in range(number)
    }
    moved = dict(static_topics.with_logic_offsets(plan, ends).broker_config_map or {})
    new = owners(moved)

    counts = Counter(new.values())
    assert set(counts) <= set(new_brokers)
    assert max(counts.values()) - min(counts[name] for name in new_brokers) <= 1
    kept = sum((Counter(old.values()) & counts).values())
    assert sum(old[queue] == new[queue] for queue in old) == kept
    assert not set(plan.broker_to_map_in or ()) & set(plan.broker_to_map_out or ())


def test_a_new_leader_begins_above_all_that_the_old_one_gave() -> None:
    plan = static_topics.plan_remapping("t", ["b"], create(1, "a"), now_ms=NOW)
    queue = MessageQueue(topic="t", broker_name="a", queue_id=0)
    with pytest.raises(LocalProtocolError, match="end offset is missing"):
        static_topics.with_logic_offsets(plan, {})

    decided = dict(static_topics.with_logic_offsets(plan, {queue: 123}).broker_config_map or {})
    first, second = static_topics.leaders("t", decided)[0]

    assert (first.bname, second.bname) == ("a", "b")
    assert (second.gen, second.logic_offset) == (1, 10_000)
    physical = {
        queue: TopicOffset(min_offset=3, max_offset=123),
        MessageQueue(topic="t", broker_name="b", queue_id=0): TopicOffset(max_offset=4),
    }
    logical = MessageQueue(topic="t", broker_name="__syslo__global__", queue_id=0)
    offsets = static_topics.logical_offsets("t", decided, physical)[logical]
    assert (offsets.min_offset, offsets.max_offset) == (3, 10_004)


@pytest.mark.parametrize(
    ("offset", "rounded"), [(0, 10), (4, 10), (5, 20), (9, 20), (10, 20), (15, 30)]
)
def test_an_offset_near_a_block_is_rounded_up_to_the_next(offset: int, rounded: int) -> None:
    assert static_topics.round_up(offset, 10) == rounded


def detail_of(
    configs: dict[str, TopicConfigAndQueueMapping], broker: str
) -> TopicQueueMappingDetail:
    detail = configs[broker].mapping_detail
    assert detail is not None
    return detail


def change(
    configs: dict[str, TopicConfigAndQueueMapping], broker: str, detail: TopicQueueMappingDetail
) -> dict[str, TopicConfigAndQueueMapping]:
    return {**configs, broker: replace(configs[broker], mapping_detail=detail)}


Queues = Mapping[int, tuple[LogicQueueMappingItem, ...]]


@pytest.mark.parametrize(
    ("make", "refusal"),
    [
        (lambda _: {"dirty": True}, "or a dirty one"),
        (lambda queues: {"hosted_queues": {0: queues[0], 1: queues[0]}}, "share a queue"),
        (
            lambda queues: {"hosted_queues": {0: queues[0]}},
            r"has 2 logical queues, and leaders of \[0\]",
        ),
    ],
    ids=["dirty", "two logical queues of one queue", "no leader"],
)
def test_a_broken_mapping_is_not_believed(
    make: Callable[[Queues], dict[str, Any]], refusal: str
) -> None:
    configs = create(2, "a")
    detail = detail_of(configs, "a")
    broken = change(configs, "a", replace(detail, **make(detail.hosted_queues or {})))

    with pytest.raises(LocalProtocolError, match=refusal):
        static_topics.leaders("t", broken)


@pytest.mark.parametrize(
    ("members", "expected"),
    [({"logic_offset": -1}, []), ({"end_offset": 5}, [(0, 5)]), ({}, [(0, 9)])],
    ids=["offset not known", "ended", "open"],
)
def test_offsets_of_a_stretch_count_up_to_its_end(
    members: dict[str, Any], expected: list[tuple[int, int]]
) -> None:
    configs = create(1, "a")
    (item,) = static_topics.leaders("t", configs)[0]
    detail = replace(detail_of(configs, "a"), hosted_queues={0: (replace(item, **members),)})
    queue = MessageQueue(topic="t", broker_name="a", queue_id=0)
    physical = {queue: TopicOffset(min_offset=0, max_offset=9)}

    result = static_topics.logical_offsets("t", change(configs, "a", detail), physical).values()
    assert [(offsets.min_offset, offsets.max_offset) for offsets in result] == expected
    assert static_topics.logical_offsets("t", configs, {}) == {}
