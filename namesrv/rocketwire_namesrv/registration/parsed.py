"""The content of a registration body, in the light form that the route table takes.

Rules of this file: values only; ``json_reader`` and ``packed_reader`` know how a body is read.

Java: ``RegisterBrokerBody``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from rocketwire.errors import DecodeError
from rocketwire.messages.registration import RegisterBrokerBody, with_timestamp
from rocketwire.messages.topic_config import DataVersion, TopicConfig
from rocketwire_namesrv.routes.queue_layouts import QueueSettings

if TYPE_CHECKING:
    from rocketwire.messages.route import TopicQueueMappingInfo
    from rocketwire_namesrv.registration.digests import Digest


class BodyIdentity(NamedTuple):
    """The identity of a body: two bodies of a broker with the same one are equal.

    Attributes:
        digest: of the bytes as sent.
        packed: whether they are read as a zlib stream.
        version: of the sender.
        crc: the checksum in the header, 0 for none.
    """

    digest: Digest
    packed: bool
    version: int
    crc: int


class BodyRecord(NamedTuple):
    """The record of a body, for comparison with the broker's next one.

    Attributes:
        content: all but the topics.
        topic_count: topics in the body.
    """

    identity: BodyIdentity
    content: RegisterBrokerBody
    topic_count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RegisteredTopics:
    """The content of a registration body.

    Attributes:
        topics: name and settings of each topic; empty if the body is ``unchanged``.
        keys: the keys of the topics, in no order; they differ from the names in crafted input only.
        data_version: as sent, or stamped with the current time if the broker sent no timestamp.
        mappings: static mappings by topic.
        filter_servers: None if the body does not contain the list.
        count: topics in the body.
        max_queues: the largest number of read or write queues of a topic in ``topics``.
        longest_name: length of the longest name in ``topics``, or more.
        record: kept for the broker's next body; None if the body is small or not ordinary.
        unchanged: whether the body is the previous one of the broker.
        left_out: number of topics that were left out of ``topics`` because of a limit.
    """

    topics: Collection[tuple[str, QueueSettings]]
    keys: Collection[str]
    data_version: DataVersion
    mappings: Mapping[str, TopicQueueMappingInfo]
    filter_servers: Sequence[str] | None
    count: int
    max_queues: int
    longest_name: int
    record: BodyRecord | None = None
    unchanged: bool = False
    left_out: int = 0


def read_registration(
    body: RegisterBrokerBody | None,
    wall_ms: int,
    *,
    topics: Collection[tuple[str, QueueSettings]] | None = None,
    keys: Collection[str] | None = None,
    settings: Iterable[QueueSettings] | None = None,
    longest_name: int | None = None,
    record: BodyRecord | None = None,
    unchanged: bool = False,
) -> RegisteredTopics:
    """Return the content of a body.

    Args:
        body: the body, or all of it but the topics.
        topics: its topics; None if they are in ``body``.
        keys: of ``topics``.
        settings: each that occurs in ``topics``.
        longest_name: see ``RegisteredTopics``; None to have the names measured.
        record: see ``RegisteredTopics``.
        unchanged: see ``RegisteredTopics``.

    Raises:
        DecodeError: the body is null.
    """
    wrapper = None if body is None else body.topic_config_serialize_wrapper
    if body is None or wrapper is None:
        raise DecodeError("null is no registration")
    configs = wrapper.topic_config_table or {}
    version = wrapper.data_version or DataVersion()
    if topics is None:
        topics = topics_of(configs.values())
    if settings is None:
        settings = [queues for _, queues in topics]
    if longest_name is None:
        longest_name = max((len(name) for name, _ in topics), default=0)
    return RegisteredTopics(
        topics=topics,
        keys=configs.keys() if keys is None else keys,
        data_version=with_timestamp(version, wall_ms) or version,
        mappings=wrapper.topic_queue_mapping_info_map or {},
        filter_servers=body.filter_server_list,
        count=len(topics) if record is None else record.topic_count,
        max_queues=max((max(queues[:2]) for queues in settings), default=0),
        longest_name=longest_name,
        record=record,
        unchanged=unchanged,
    )


def topics_of(configs: Iterable[TopicConfig]) -> list[tuple[str, QueueSettings]]:
    """Return name and settings of topics; a topic without a name is left out."""
    return [
        (name, settings_of(config)) for config in configs if (name := config.topic_name) is not None
    ]


def settings_of(config: TopicConfig) -> QueueSettings:
    return QueueSettings(
        config.read_queue_nums, config.write_queue_nums, config.perm, config.topic_sys_flag
    )
