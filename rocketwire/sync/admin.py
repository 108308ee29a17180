"""``Admin``: calls of operators for threads; ``open_admin`` opens it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeVar

from rocketwire.client.admin import admin as trio
from rocketwire.client.admin.auth import Acls as TrioAcls
from rocketwire.client.admin.auth import Users as TrioUsers
from rocketwire.client.admin.brokers import Brokers as TrioBrokers
from rocketwire.client.admin.clusters import ClusterCalls
from rocketwire.client.admin.clusters import Clusters as TrioClusters
from rocketwire.client.admin.consumers import Consumers as TrioConsumers
from rocketwire.client.admin.controllers import Controllers as TrioControllers
from rocketwire.client.admin.fanout import ADMIN_TIMEOUT, AdminCalls
from rocketwire.client.admin.groups import Exports as TrioExports
from rocketwire.client.admin.groups import Groups as TrioGroups
from rocketwire.client.admin.lite import LiteTopics as TrioLiteTopics
from rocketwire.client.admin.messages import Messages as TrioMessages
from rocketwire.client.admin.name_servers import NameServerUpkeep as TrioNameServerUpkeep
from rocketwire.client.admin.offsets import Offsets as TrioOffsets
from rocketwire.client.admin.static_topics import StaticTopics as TrioStaticTopics
from rocketwire.client.admin.storage_engine import Stores as TrioStores
from rocketwire.client.admin.topics import Topics as TrioTopics
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


@like(TrioClusters)
class Clusters(_Calls[TrioClusters]):
    info: Final = blocking(TrioClusters.info)
    route: Final = blocking(TrioClusters.route)
    masters: Final = blocking(TrioClusters.masters)
    replicas: Final = blocking(TrioClusters.replicas)
    targets: Final = blocking(TrioClusters.targets)
    broker_names: Final = blocking(TrioClusters.broker_names)
    broker_name: Final = blocking(TrioClusters.broker_name)
    master: Final = blocking(TrioClusters.master)
    of_topic: Final = blocking(TrioClusters.of_topic)
    of_topics: Final = blocking(TrioClusters.of_topics)


@like(TrioTopics)
class Topics(_ClusterCalls[TrioTopics]):
    create_or_update: Final = blocking(TrioTopics.create_or_update)
    update: Final = blocking(TrioTopics.update)
    unrouted_queues: Final = blocking(TrioTopics.unrouted_queues)
    delete: Final = blocking(TrioTopics.delete)
    delete_in_broker: Final = blocking(TrioTopics.delete_in_broker)
    delete_in_name_servers: Final = blocking(TrioTopics.delete_in_name_servers)
    config: Final = blocking(TrioTopics.config)
    configs: Final = blocking(TrioTopics.configs)
    names: Final = blocking(TrioTopics.names)
    system_names: Final = blocking(TrioTopics.system_names)
    stats: Final = blocking(TrioTopics.stats)
    stats_of: Final = blocking(TrioTopics.stats_of)
    consumer_groups: Final = blocking(TrioTopics.consumer_groups)
    order_conf: Final = blocking(TrioTopics.order_conf)
    put_order_conf: Final = blocking(TrioTopics.put_order_conf)
    delete_order_conf: Final = blocking(TrioTopics.delete_order_conf)


@like(TrioGroups)
class Groups(_ClusterCalls[TrioGroups]):
    create_or_update: Final = blocking(TrioGroups.create_or_update)
    update: Final = blocking(TrioGroups.update)
    delete: Final = blocking(TrioGroups.delete)
    config: Final = blocking(TrioGroups.config)
    configs: Final = blocking(TrioGroups.configs)
    topics: Final = blocking(TrioGroups.topics)
    subscription: Final = blocking(TrioGroups.subscription)
    read_forbidden: Final = blocking(TrioGroups.read_forbidden)
    set_request_mode: Final = blocking(TrioGroups.set_request_mode)
    request_modes: Final = blocking(TrioGroups.request_modes)


@like(TrioOffsets)
class Offsets(_ClusterCalls[TrioOffsets]):
    clone: Final = blocking(TrioOffsets.clone)
    copy: Final = blocking(TrioOffsets.copy)
    of_group: Final = blocking(TrioOffsets.of_group)
    of_queues: Final = blocking(TrioOffsets.of_queues)
    of_members: Final = blocking(TrioOffsets.of_members)
    corrections: Final = blocking(TrioOffsets.corrections)
    all_of_broker: Final = blocking(TrioOffsets.all_of_broker)
    delays: Final = blocking(TrioOffsets.delays)
    reset_by_time: Final = blocking(TrioOffsets.reset_by_time)
    reset_queue: Final = blocking(TrioOffsets.reset_queue)
    reset_by_time_old: Final = blocking(TrioOffsets.reset_by_time_old)
    move: Final = blocking(TrioOffsets.move)
    skip_accumulated: Final = blocking(TrioOffsets.skip_accumulated)


@like(TrioConsumers)
class Consumers(_ClusterCalls[TrioConsumers]):
    stats: Final = blocking(TrioConsumers.stats)
    stats_of: Final = blocking(TrioConsumers.stats_of)
    connection: Final = blocking(TrioConsumers.connection)
    running_info: Final = blocking(TrioConsumers.running_info)
    running_infos: Final = blocking(TrioConsumers.running_infos)
    queue_owners: Final = blocking(TrioConsumers.queue_owners)
    time_spans: Final = blocking(TrioConsumers.time_spans)
    time_spans_of: Final = blocking(TrioConsumers.time_spans_of)
    consume_directly: Final = blocking(TrioConsumers.consume_directly)
    producer_connection: Final = blocking(TrioConsumers.producer_connection)
    producers_of: Final = blocking(TrioConsumers.producers_of)


@like(TrioMessages)
class Messages(_ClusterCalls[TrioMessages]):
    by_offset_id: Final = blocking(TrioMessages.by_offset_id)
    by_id: Final = blocking(TrioMessages.by_id)
    by_unique_key: Final = blocking(TrioMessages.by_unique_key)
    by_key: Final = blocking(TrioMessages.by_key)
    by_tag: Final = blocking(TrioMessages.by_tag)
    at: Final = blocking(TrioMessages.at)
    trace: Final = blocking(TrioMessages.trace)
    consume_directly: Final = blocking(TrioMessages.consume_directly)
    send_back: Final = blocking(TrioMessages.send_back)
    resume_half: Final = blocking(TrioMessages.resume_half)

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
        async def start(messages: TrioMessages) -> Walk[StoredMessage]:
            return Walk(
                messages.walk(
                    topic, begin=begin, end=end, expression=expression, queue=queue, by=by
                )
            )

        async def next_chunk(_: TrioMessages) -> list[StoredMessage]:
            return await walk.next_chunk()

        async def close(_: TrioMessages) -> None:
            await walk.close()

        walk = self._call(start)
        try:
            while chunk := self._call(next_chunk):
                yield from chunk
        finally:
            self._call(close)


@like(TrioBrokers)
class Brokers(_ClusterCalls[TrioBrokers]):
    config: Final = blocking(TrioBrokers.config)
    update_config: Final = blocking(TrioBrokers.update_config)
    runtime_info: Final = blocking(TrioBrokers.runtime_info)
    stats: Final = blocking(TrioBrokers.stats)
    consume_stats: Final = blocking(TrioBrokers.consume_stats)
    consume_queue: Final = blocking(TrioBrokers.consume_queue)
    timer_metrics: Final = blocking(TrioBrokers.timer_metrics)
    ha_status: Final = blocking(TrioBrokers.ha_status)
    epoch_cache: Final = blocking(TrioBrokers.epoch_cache)
    reset_master_flush_offset: Final = blocking(TrioBrokers.reset_master_flush_offset)
    clean_unused_topics: Final = blocking(TrioBrokers.clean_unused_topics)
    clean_expired_queues: Final = blocking(TrioBrokers.clean_expired_queues)
    delete_expired_commit_log: Final = blocking(TrioBrokers.delete_expired_commit_log)
    cold_data_info: Final = blocking(TrioBrokers.cold_data_info)
    set_cold_data_limit: Final = blocking(TrioBrokers.set_cold_data_limit)
    set_read_ahead_mode: Final = blocking(TrioBrokers.set_read_ahead_mode)
    add_to_container: Final = blocking(TrioBrokers.add_to_container)
    remove_from_container: Final = blocking(TrioBrokers.remove_from_container)


@like(TrioStores)
class Stores(_Calls[TrioStores]):
    switch_timer_engine: Final = blocking(TrioStores.switch_timer_engine)
    check_rocksdb_queues: Final = blocking(TrioStores.check_rocksdb_queues)
    export_rocksdb_config: Final = blocking(TrioStores.export_rocksdb_config)


@like(TrioExports)
class Exports(_ClusterCalls[TrioExports]):
    topics: Final = blocking(TrioExports.topics)
    groups: Final = blocking(TrioExports.groups)


@like(TrioNameServerUpkeep)
class NameServerUpkeep(_Calls[TrioNameServerUpkeep]):
    put_kv: Final = blocking(TrioNameServerUpkeep.put_kv)
    change_kv: Final = blocking(TrioNameServerUpkeep.change_kv)
    delete_kv: Final = blocking(TrioNameServerUpkeep.delete_kv)
    kv_value: Final = blocking(TrioNameServerUpkeep.kv_value)
    kv_namespace: Final = blocking(TrioNameServerUpkeep.kv_namespace)
    configs: Final = blocking(TrioNameServerUpkeep.configs)
    update_configs: Final = blocking(TrioNameServerUpkeep.update_configs)
    wipe_write_perm: Final = blocking(TrioNameServerUpkeep.wipe_write_perm)
    add_write_perm: Final = blocking(TrioNameServerUpkeep.add_write_perm)


@like(TrioStaticTopics)
class StaticTopics(_ClusterCalls[TrioStaticTopics]):
    configs: Final = blocking(TrioStaticTopics.configs)
    create_or_update: Final = blocking(TrioStaticTopics.create_or_update)
    remap: Final = blocking(TrioStaticTopics.remap)
    carry_out: Final = blocking(TrioStaticTopics.carry_out)
    tell: Final = blocking(TrioStaticTopics.tell)
    stats: Final = blocking(TrioStaticTopics.stats)


@like(TrioUsers)
class Users(_ClusterCalls[TrioUsers]):
    create: Final = blocking(TrioUsers.create)
    update: Final = blocking(TrioUsers.update)
    delete: Final = blocking(TrioUsers.delete)
    get: Final = blocking(TrioUsers.get)
    list: Final = blocking(TrioUsers.list)
    copy: Final = blocking(TrioUsers.copy)


@like(TrioAcls)
class Acls(_ClusterCalls[TrioAcls]):
    create: Final = blocking(TrioAcls.create)
    update: Final = blocking(TrioAcls.update)
    delete: Final = blocking(TrioAcls.delete)
    get: Final = blocking(TrioAcls.get)
    list: Final = blocking(TrioAcls.list)
    copy: Final = blocking(TrioAcls.copy)


@like(TrioLiteTopics)
class LiteTopics(_Calls[TrioLiteTopics]):
    of_broker: Final = blocking(TrioLiteTopics.of_broker)
    parent: Final = blocking(TrioLiteTopics.parent)
    topic: Final = blocking(TrioLiteTopics.topic)
    client_info: Final = blocking(TrioLiteTopics.client_info)
    group: Final = blocking(TrioLiteTopics.group)
    trigger_dispatch: Final = blocking(TrioLiteTopics.trigger_dispatch)
    polling_num: Final = blocking(TrioLiteTopics.polling_num)
    export_pop_records: Final = blocking(TrioLiteTopics.export_pop_records)


@like(TrioControllers)
class Controllers(_Calls[TrioControllers]):
    metadata: Final = blocking(TrioControllers.metadata)
    leader: Final = blocking(TrioControllers.leader)
    sync_state: Final = blocking(TrioControllers.sync_state)
    elect_master: Final = blocking(TrioControllers.elect_master)
    clean_broker: Final = blocking(TrioControllers.clean_broker)
    config: Final = blocking(TrioControllers.config)
    update_config: Final = blocking(TrioControllers.update_config)


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
