"""What a registration's body says, in the light form that the route table takes.

Rules of this file: values only; how a body is read is the knowledge of ``json_reader`` and
``packed_reader``.

Java: ``RegisterBrokerBody``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rocketwire.errors import DecodeError
from rocketwire.messages.registration import RegisterBrokerBody, stamped
from rocketwire.messages.topic_config import DataVersion, TopicConfig
from rocketwire_namesrv.routes.queue_layouts import QueueSettings

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from rocketwire.messages.route import TopicQueueMappingInfo


@dataclass(frozen=True, slots=True, kw_only=True)
class RegisteredTopics:
    """The body of a registration.

    Attributes:
        topics: name and settings of each topic; with ``only_changes`` of those alone that the
            former body did not have, or had otherwise.
        keys: under which they came, in no order; other than the names only in crafted input.
        data_version: as sent, or of this moment where the broker does not say.
        mappings: static mappings by topic.
        filter_servers: None where the body says nothing of them.
        count: topics in the body, those included that ``topics`` leaves out.
        most_queues: of any topic in ``topics``, for reading or writing.
        size: bytes of the body, unpacked; 0 where it is the former one and was not unpacked.
        image: what tells this body from the next one; None where that is not worth while.
    """

    topics: Collection[tuple[str, QueueSettings]]
    keys: Collection[str]
    data_version: DataVersion
    mappings: Mapping[str, TopicQueueMappingInfo]
    filter_servers: Sequence[str] | None
    count: int
    most_queues: int
    size: int
    image: object = None
    only_changes: bool = False


def registered(
    body: RegisterBrokerBody | None,
    wall_ms: int,
    size: int,
    *,
    topics: Collection[tuple[str, QueueSettings]] | None = None,
    keys: Collection[str] | None = None,
    settings: Iterable[QueueSettings] | None = None,
    count: int | None = None,
    image: object = None,
    only_changes: bool = False,
) -> RegisteredTopics:
    """What a body says.

    Args:
        body: the body, or all of it but the topics.
        wall_ms: wall-clock milliseconds.
        size: of the body.
        topics: its topics, where they have been read otherwise.
        keys: of these.
        settings: each that occurs in these.
        count: of these and those left out.
        image: see ``RegisteredTopics``.
        only_changes: see ``RegisteredTopics``.

    Raises:
        DecodeError: it is null.
    """
    wrapper = None if body is None else body.topic_config_serialize_wrapper
    if body is None or wrapper is None:
        raise DecodeError("null is no registration")
    configs = wrapper.topic_config_table or {}
    version = wrapper.data_version or DataVersion()
    if topics is None:
        topics = topics_of(configs.values())
    if settings is None:
        settings = [each for _, each in topics]
    return RegisteredTopics(
        topics=topics,
        keys=configs.keys() if keys is None else keys,
        data_version=stamped(version, wall_ms) or version,
        mappings=wrapper.topic_queue_mapping_info_map or {},
        filter_servers=body.filter_server_list,
        count=len(topics) if count is None else count,
        most_queues=max((max(each[:2]) for each in settings), default=0),
        size=size,
        image=image,
        only_changes=only_changes,
    )


def topics_of(configs: Iterable[TopicConfig]) -> list[tuple[str, QueueSettings]]:
    """Name and settings of topics; one without a name is none."""
    return [(name, settings_of(one)) for one in configs if (name := one.topic_name) is not None]


def settings_of(one: TopicConfig) -> QueueSettings:
    """The settings of one topic."""
    return QueueSettings(one.read_queue_nums, one.write_queue_nums, one.perm, one.topic_sys_flag)
