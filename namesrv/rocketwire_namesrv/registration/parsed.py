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
    """The identity of a body: two bodies of a broker with the same one are equal."""

    digest: Digest  #: of the bytes as sent
    packed: bool  #: whether they are read as a zlib stream
    version: int  #: of the sender
    crc: int  #: the checksum in the header, 0 for none


class BodyRecord(NamedTuple):
    """The record of a body, for comparison with the broker's next one."""

    identity: BodyIdentity
    content: RegisterBrokerBody  #: all but the topics
    topic_count: int  #: topics in the body


@dataclass(frozen=True, slots=True, kw_only=True)
class RegisteredTopics:
    #: name and settings of each topic; empty if the body is ``unchanged``
    topics: Collection[tuple[str, QueueSettings]]
    #: the keys of the topics, in no order; they differ from the names in crafted input only
    keys: Collection[str]
    #: as sent, or stamped with the current time if the broker sent no timestamp
    data_version: DataVersion
    mappings: Mapping[str, TopicQueueMappingInfo]  #: static mappings by topic
    filter_servers: Sequence[str] | None  #: None if the body does not contain the list
    count: int  #: topics in the body
    max_queues: int  #: the largest number of read or write queues of a topic in ``topics``
    longest_name: int  #: length of the longest name in ``topics``, or more
    #: kept for the broker's next body; None if the body is small or not ordinary
    record: BodyRecord | None = None
    unchanged: bool = False  #: whether the body is the previous one of the broker
    left_out: int = 0  #: number of topics that were left out of ``topics`` because of a limit


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
