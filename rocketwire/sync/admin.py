"""``Admin``: calls of operators for threads; ``open_admin`` opens it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeVar

from rocketwire.client.admin import admin as trio
from rocketwire.client.admin.clusters import ClusterCalls
from rocketwire.client.admin.fanout import ADMIN_TIMEOUT, AdminCalls
from rocketwire.portal.likeness import like
from rocketwire.portal.settings import apply_client_settings, reopens
from rocketwire.portal.walks import Walk
from rocketwire.sync.client import trio_client
from rocketwire.sync.opening import Opened, Part, blocking

if TYPE_CHECKING:
    from collections.abc import Generator
    from typing import Unpack

    from rocketwire.messages.message_queue import MessageQueue
    from rocketwire.portal.typed_settings import ClientSettings
    from rocketwire.sync.client import ClientLike
    from rocketwire.wire.message.stored import StoredMessage


T = TypeVar("T")


class _Calls(Part[trio.Admin, T]):
    ask: Final = blocking(AdminCalls.ask)


class _ClusterCalls(_Calls[T]):
    change: Final = blocking(ClusterCalls.change)


@like(trio.Clusters)
class Clusters(_Calls[trio.Clusters]):
    info: Final = blocking(trio.Clusters.info)
    route: Final = blocking(trio.Clusters.route)
    masters: Final = blocking(trio.Clusters.masters)
    replicas: Final = blocking(trio.Clusters.replicas)
    targets: Final = blocking(trio.Clusters.targets)
    broker_names: Final = blocking(trio.Clusters.broker_names)
    broker_name: Final = blocking(trio.Clusters.broker_name)
    master: Final = blocking(trio.Clusters.master)
    of_topic: Final = blocking(trio.Clusters.of_topic)
    of_topics: Final = blocking(trio.Clusters.of_topics)


@like(trio.Topics)
class Topics(_ClusterCalls[trio.Topics]):
    create_or_update: Final = blocking(trio.Topics.create_or_update)
    update: Final = blocking(trio.Topics.update)
    unrouted_queues: Final = blocking(trio.Topics.unrouted_queues)
    delete: Final = blocking(trio.Topics.delete)
    delete_in_broker: Final = blocking(trio.Topics.delete_in_broker)
    delete_in_name_servers: Final = blocking(trio.Topics.delete_in_name_servers)
    config: Final = blocking(trio.Topics.config)
    configs: Final = blocking(trio.Topics.configs)
    names: Final = blocking(trio.Topics.names)
    system_names: Final = blocking(trio.Topics.system_names)
    stats: Final = blocking(trio.Topics.stats)
    stats_of: Final = blocking(trio.Topics.stats_of)
    consumer_groups: Final = blocking(trio.Topics.consumer_groups)
    order_conf: Final = blocking(trio.Topics.order_conf)
    put_order_conf: Final = blocking(trio.Topics.put_order_conf)
    delete_order_conf: Final = blocking(trio.Topics.delete_order_conf)


@like(trio.Groups)
class Groups(_ClusterCalls[trio.Groups]):
    create_or_update: Final = blocking(trio.Groups.create_or_update)
    update: Final = blocking(trio.Groups.update)
    delete: Final = blocking(trio.Groups.delete)
    config: Final = blocking(trio.Groups.config)
    configs: Final = blocking(trio.Groups.configs)
    topics: Final = blocking(trio.Groups.topics)
    subscription: Final = blocking(trio.Groups.subscription)
    read_forbidden: Final = blocking(trio.Groups.read_forbidden)
    set_request_mode: Final = blocking(trio.Groups.set_request_mode)
    request_modes: Final = blocking(trio.Groups.request_modes)


@like(trio.Offsets)
class Offsets(_ClusterCalls[trio.Offsets]):
    clone: Final = blocking(trio.Offsets.clone)
    copy: Final = blocking(trio.Offsets.copy)
    of_group: Final = blocking(trio.Offsets.of_group)
    of_queues: Final = blocking(trio.Offsets.of_queues)
    of_members: Final = blocking(trio.Offsets.of_members)
    corrections: Final = blocking(trio.Offsets.corrections)
    all_of_broker: Final = blocking(trio.Offsets.all_of_broker)
    delays: Final = blocking(trio.Offsets.delays)
    reset_by_time: Final = blocking(trio.Offsets.reset_by_time)
    reset_queue: Final = blocking(trio.Offsets.reset_queue)
    reset_by_time_old: Final = blocking(trio.Offsets.reset_by_time_old)
    move: Final = blocking(trio.Offsets.move)
    skip_accumulated: Final = blocking(trio.Offsets.skip_accumulated)


@like(trio.Consumers)
class Consumers(_ClusterCalls[trio.Consumers]):
    stats: Final = blocking(trio.Consumers.stats)
    stats_of: Final = blocking(trio.Consumers.stats_of)
    connection: Final = blocking(trio.Consumers.connection)
    running_info: Final = blocking(trio.Consumers.running_info)
    running_infos: Final = blocking(trio.Consumers.running_infos)
    queue_owners: Final = blocking(trio.Consumers.queue_owners)
    time_spans: Final = blocking(trio.Consumers.time_spans)
    time_spans_of: Final = blocking(trio.Consumers.time_spans_of)
    consume_directly: Final = blocking(trio.Consumers.consume_directly)
    producer_connection: Final = blocking(trio.Consumers.producer_connection)
    producers_of: Final = blocking(trio.Consumers.producers_of)


@like(trio.Messages)
class Messages(_ClusterCalls[trio.Messages]):
    by_offset_id: Final = blocking(trio.Messages.by_offset_id)
    by_id: Final = blocking(trio.Messages.by_id)
    by_unique_key: Final = blocking(trio.Messages.by_unique_key)
    by_key: Final = blocking(trio.Messages.by_key)
    by_tag: Final = blocking(trio.Messages.by_tag)
    at: Final = blocking(trio.Messages.at)
    trace: Final = blocking(trio.Messages.trace)
    consume_directly: Final = blocking(trio.Messages.consume_directly)
    send_back: Final = blocking(trio.Messages.send_back)
    resume_half: Final = blocking(trio.Messages.resume_half)

    def walk(
        self,
        topic: str,
        *,
        begin: int | None = None,
        end: int | None = None,
        expression: str | None = None,
        queue: MessageQueue | None = None,
        by: str | None = None,
    ) -> Generator[StoredMessage]:
        async def start(messages: trio.Messages) -> Walk[StoredMessage]:
            return Walk(
                messages.walk(
                    topic, begin=begin, end=end, expression=expression, queue=queue, by=by
                )
            )

        async def next_chunk(_: trio.Messages) -> list[StoredMessage]:
            return await walk.next_chunk()

        async def close(_: trio.Messages) -> None:
            await walk.close()

        walk = self._call(start)
        try:
            while chunk := self._call(next_chunk):
                yield from chunk
        finally:
            self._call(close)


@like(trio.Brokers)
class Brokers(_ClusterCalls[trio.Brokers]):
    config: Final = blocking(trio.Brokers.config)
    update_config: Final = blocking(trio.Brokers.update_config)
    runtime_info: Final = blocking(trio.Brokers.runtime_info)
    stats: Final = blocking(trio.Brokers.stats)
    consume_stats: Final = blocking(trio.Brokers.consume_stats)
    consume_queue: Final = blocking(trio.Brokers.consume_queue)
    timer_metrics: Final = blocking(trio.Brokers.timer_metrics)
    ha_status: Final = blocking(trio.Brokers.ha_status)
    epoch_cache: Final = blocking(trio.Brokers.epoch_cache)
    reset_master_flush_offset: Final = blocking(trio.Brokers.reset_master_flush_offset)
    clean_unused_topics: Final = blocking(trio.Brokers.clean_unused_topics)
    clean_expired_queues: Final = blocking(trio.Brokers.clean_expired_queues)
    delete_expired_commit_log: Final = blocking(trio.Brokers.delete_expired_commit_log)
    cold_data_info: Final = blocking(trio.Brokers.cold_data_info)
    set_cold_data_limit: Final = blocking(trio.Brokers.set_cold_data_limit)
    set_read_ahead_mode: Final = blocking(trio.Brokers.set_read_ahead_mode)
    add_to_container: Final = blocking(trio.Brokers.add_to_container)
    remove_from_container: Final = blocking(trio.Brokers.remove_from_container)


@like(trio.Stores)
class Stores(_Calls[trio.Stores]):
    switch_timer_engine: Final = blocking(trio.Stores.switch_timer_engine)
    check_rocksdb_queues: Final = blocking(trio.Stores.check_rocksdb_queues)
    export_rocksdb_config: Final = blocking(trio.Stores.export_rocksdb_config)


@like(trio.Exports)
class Exports(_ClusterCalls[trio.Exports]):
    topics: Final = blocking(trio.Exports.topics)
    groups: Final = blocking(trio.Exports.groups)


@like(trio.NameServerUpkeep)
class NameServerUpkeep(_Calls[trio.NameServerUpkeep]):
    put_kv: Final = blocking(trio.NameServerUpkeep.put_kv)
    change_kv: Final = blocking(trio.NameServerUpkeep.change_kv)
    delete_kv: Final = blocking(trio.NameServerUpkeep.delete_kv)
    kv_value: Final = blocking(trio.NameServerUpkeep.kv_value)
    kv_namespace: Final = blocking(trio.NameServerUpkeep.kv_namespace)
    configs: Final = blocking(trio.NameServerUpkeep.configs)
    update_configs: Final = blocking(trio.NameServerUpkeep.update_configs)
    wipe_write_perm: Final = blocking(trio.NameServerUpkeep.wipe_write_perm)
    add_write_perm: Final = blocking(trio.NameServerUpkeep.add_write_perm)


@like(trio.StaticTopics)
class StaticTopics(_ClusterCalls[trio.StaticTopics]):
    configs: Final = blocking(trio.StaticTopics.configs)
    create_or_update: Final = blocking(trio.StaticTopics.create_or_update)
    remap: Final = blocking(trio.StaticTopics.remap)
    carry_out: Final = blocking(trio.StaticTopics.carry_out)
    tell: Final = blocking(trio.StaticTopics.tell)
    stats: Final = blocking(trio.StaticTopics.stats)


@like(trio.Users)
class Users(_ClusterCalls[trio.Users]):
    create: Final = blocking(trio.Users.create)
    update: Final = blocking(trio.Users.update)
    delete: Final = blocking(trio.Users.delete)
    get: Final = blocking(trio.Users.get)
    list: Final = blocking(trio.Users.list)
    copy: Final = blocking(trio.Users.copy)


@like(trio.Acls)
class Acls(_ClusterCalls[trio.Acls]):
    create: Final = blocking(trio.Acls.create)
    update: Final = blocking(trio.Acls.update)
    delete: Final = blocking(trio.Acls.delete)
    get: Final = blocking(trio.Acls.get)
    list: Final = blocking(trio.Acls.list)
    copy: Final = blocking(trio.Acls.copy)


@like(trio.LiteTopics)
class LiteTopics(_Calls[trio.LiteTopics]):
    of_broker: Final = blocking(trio.LiteTopics.of_broker)
    parent: Final = blocking(trio.LiteTopics.parent)
    topic: Final = blocking(trio.LiteTopics.topic)
    client_info: Final = blocking(trio.LiteTopics.client_info)
    group: Final = blocking(trio.LiteTopics.group)
    trigger_dispatch: Final = blocking(trio.LiteTopics.trigger_dispatch)
    polling_num: Final = blocking(trio.LiteTopics.polling_num)
    export_pop_records: Final = blocking(trio.LiteTopics.export_pop_records)


@like(trio.Controllers)
class Controllers(_Calls[trio.Controllers]):
    metadata: Final = blocking(trio.Controllers.metadata)
    leader: Final = blocking(trio.Controllers.leader)
    sync_state: Final = blocking(trio.Controllers.sync_state)
    elect_master: Final = blocking(trio.Controllers.elect_master)
    clean_broker: Final = blocking(trio.Controllers.clean_broker)
    config: Final = blocking(trio.Controllers.config)
    update_config: Final = blocking(trio.Controllers.update_config)


class Admin(Opened[trio.Admin]):
    """Calls of operators by subject; see ``rocketwire.client.admin.Admin``."""

    def __init__(
        self,
        client: ClientLike = None,
        *,
        within: float = ADMIN_TIMEOUT,
        **settings: Unpack[ClientSettings],
    ) -> None:
        """Open an admin; for arguments and errors see ``open_admin``."""
        resolved = apply_client_settings(client, settings)
        self.clusters: Final = Clusters(self, lambda admin: admin.clusters)
        self.topics: Final = Topics(self, lambda admin: admin.topics)
        self.groups: Final = Groups(self, lambda admin: admin.groups)
        self.offsets: Final = Offsets(self, lambda admin: admin.offsets)
        self.consumers: Final = Consumers(self, lambda admin: admin.consumers)
        self.messages: Final = Messages(self, lambda admin: admin.messages)
        self.brokers: Final = Brokers(self, lambda admin: admin.brokers)
        self.stores: Final = Stores(self, lambda admin: admin.stores)
        self.exports: Final = Exports(self, lambda admin: admin.exports)
        self.name_servers: Final = NameServerUpkeep(self, lambda admin: admin.name_servers)
        self.static_topics: Final = StaticTopics(self, lambda admin: admin.static_topics)
        self.users: Final = Users(self, lambda admin: admin.users)
        self.acls: Final = Acls(self, lambda admin: admin.acls)
        self.lite: Final = LiteTopics(self, lambda admin: admin.lite)
        self.controllers: Final = Controllers(self, lambda admin: admin.controllers)
        super().__init__(
            lambda: trio.open_admin(trio_client(resolved), within=within),
            reopens=lambda: reopens(resolved),
        )


def open_admin(
    client: ClientLike = None,
    *,
    within: float = ADMIN_TIMEOUT,
    **settings: Unpack[ClientSettings],
) -> Admin:
    """Open an ``Admin``; the end of its block, or ``close``, closes it.

    Args:
        client: an open client; settings or name servers (``host:port;host:port``) of a new one; or
            None for settings from the environment.
        within: timeout of a request in seconds; queries by key have three times as much, cleanup
            six times.
        settings: single settings of a new client.

    Raises:
        IllegalTypeError: ``client`` has another type, or a setting is unknown.
        LocalProtocolError: a configured address is not ``host:port``.
    """
    return Admin(client, within=within, **settings)
