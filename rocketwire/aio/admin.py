"""``Admin``: calls of operators for tasks of asyncio; ``open_admin`` opens it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeVar

from rocketwire.aio.client import trio_client
from rocketwire.aio.opening import Opened, Part, awaitable
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

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from typing import Unpack

    from rocketwire.aio.client import ClientLike
    from rocketwire.messages.message_queue import MessageQueue
    from rocketwire.portal.typed_settings import ClientSettings
    from rocketwire.wire.message.stored import StoredMessage


T = TypeVar("T")


class _Calls(Part[trio.Admin, T]):
    ask: Final = awaitable(AdminCalls.ask)


class _ClusterCalls(_Calls[T]):
    change: Final = awaitable(ClusterCalls.change)


@like(TrioClusters)
class Clusters(_Calls[TrioClusters]):
    info: Final = awaitable(TrioClusters.info)
    route: Final = awaitable(TrioClusters.route)
    masters: Final = awaitable(TrioClusters.masters)
    replicas: Final = awaitable(TrioClusters.replicas)
    targets: Final = awaitable(TrioClusters.targets)
    broker_names: Final = awaitable(TrioClusters.broker_names)
    broker_name: Final = awaitable(TrioClusters.broker_name)
    master: Final = awaitable(TrioClusters.master)
    of_topic: Final = awaitable(TrioClusters.of_topic)
    of_topics: Final = awaitable(TrioClusters.of_topics)


@like(TrioTopics)
class Topics(_ClusterCalls[TrioTopics]):
    create_or_update: Final = awaitable(TrioTopics.create_or_update)
    update: Final = awaitable(TrioTopics.update)
    unrouted_queues: Final = awaitable(TrioTopics.unrouted_queues)
    delete: Final = awaitable(TrioTopics.delete)
    delete_in_broker: Final = awaitable(TrioTopics.delete_in_broker)
    delete_in_name_servers: Final = awaitable(TrioTopics.delete_in_name_servers)
    config: Final = awaitable(TrioTopics.config)
    configs: Final = awaitable(TrioTopics.configs)
    names: Final = awaitable(TrioTopics.names)
    system_names: Final = awaitable(TrioTopics.system_names)
    stats: Final = awaitable(TrioTopics.stats)
    stats_of: Final = awaitable(TrioTopics.stats_of)
    consumer_groups: Final = awaitable(TrioTopics.consumer_groups)
    order_conf: Final = awaitable(TrioTopics.order_conf)
    put_order_conf: Final = awaitable(TrioTopics.put_order_conf)
    delete_order_conf: Final = awaitable(TrioTopics.delete_order_conf)


@like(TrioGroups)
class Groups(_ClusterCalls[TrioGroups]):
    create_or_update: Final = awaitable(TrioGroups.create_or_update)
    update: Final = awaitable(TrioGroups.update)
    delete: Final = awaitable(TrioGroups.delete)
    config: Final = awaitable(TrioGroups.config)
    configs: Final = awaitable(TrioGroups.configs)
    topics: Final = awaitable(TrioGroups.topics)
    subscription: Final = awaitable(TrioGroups.subscription)
    read_forbidden: Final = awaitable(TrioGroups.read_forbidden)
    set_request_mode: Final = awaitable(TrioGroups.set_request_mode)
    request_modes: Final = awaitable(TrioGroups.request_modes)


@like(TrioOffsets)
class Offsets(_ClusterCalls[TrioOffsets]):
    clone: Final = awaitable(TrioOffsets.clone)
    copy: Final = awaitable(TrioOffsets.copy)
    of_group: Final = awaitable(TrioOffsets.of_group)
    of_queues: Final = awaitable(TrioOffsets.of_queues)
    of_members: Final = awaitable(TrioOffsets.of_members)
    corrections: Final = awaitable(TrioOffsets.corrections)
    all_of_broker: Final = awaitable(TrioOffsets.all_of_broker)
    delays: Final = awaitable(TrioOffsets.delays)
    reset_by_time: Final = awaitable(TrioOffsets.reset_by_time)
    reset_queue: Final = awaitable(TrioOffsets.reset_queue)
    reset_by_time_old: Final = awaitable(TrioOffsets.reset_by_time_old)
    move: Final = awaitable(TrioOffsets.move)
    skip_accumulated: Final = awaitable(TrioOffsets.skip_accumulated)


@like(TrioConsumers)
class Consumers(_ClusterCalls[TrioConsumers]):
    stats: Final = awaitable(TrioConsumers.stats)
    stats_of: Final = awaitable(TrioConsumers.stats_of)
    connection: Final = awaitable(TrioConsumers.connection)
    running_info: Final = awaitable(TrioConsumers.running_info)
    running_infos: Final = awaitable(TrioConsumers.running_infos)
    queue_owners: Final = awaitable(TrioConsumers.queue_owners)
    time_spans: Final = awaitable(TrioConsumers.time_spans)
    time_spans_of: Final = awaitable(TrioConsumers.time_spans_of)
    consume_directly: Final = awaitable(TrioConsumers.consume_directly)
    producer_connection: Final = awaitable(TrioConsumers.producer_connection)
    producers_of: Final = awaitable(TrioConsumers.producers_of)


@like(TrioMessages)
class Messages(_ClusterCalls[TrioMessages]):
    by_offset_id: Final = awaitable(TrioMessages.by_offset_id)
    by_id: Final = awaitable(TrioMessages.by_id)
    by_unique_key: Final = awaitable(TrioMessages.by_unique_key)
    by_key: Final = awaitable(TrioMessages.by_key)
    by_tag: Final = awaitable(TrioMessages.by_tag)
    at: Final = awaitable(TrioMessages.at)
    trace: Final = awaitable(TrioMessages.trace)
    consume_directly: Final = awaitable(TrioMessages.consume_directly)
    send_back: Final = awaitable(TrioMessages.send_back)
    resume_half: Final = awaitable(TrioMessages.resume_half)

    async def walk(
        self,
        topic: str,
        *,
        begin: int | None = None,
        end: int | None = None,
        expression: str | None = None,
        queue: MessageQueue | None = None,
        by: str | None = None,
    ) -> AsyncGenerator[StoredMessage]:
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

        walk = await self._call(start)
        try:
            while chunk := await self._call(next_chunk):
                for message in chunk:
                    yield message
        finally:
            await self._call(close)


@like(TrioBrokers)
class Brokers(_ClusterCalls[TrioBrokers]):
    config: Final = awaitable(TrioBrokers.config)
    update_config: Final = awaitable(TrioBrokers.update_config)
    runtime_info: Final = awaitable(TrioBrokers.runtime_info)
    stats: Final = awaitable(TrioBrokers.stats)
    consume_stats: Final = awaitable(TrioBrokers.consume_stats)
    consume_queue: Final = awaitable(TrioBrokers.consume_queue)
    timer_metrics: Final = awaitable(TrioBrokers.timer_metrics)
    ha_status: Final = awaitable(TrioBrokers.ha_status)
    epoch_cache: Final = awaitable(TrioBrokers.epoch_cache)
    reset_master_flush_offset: Final = awaitable(TrioBrokers.reset_master_flush_offset)
    clean_unused_topics: Final = awaitable(TrioBrokers.clean_unused_topics)
    clean_expired_queues: Final = awaitable(TrioBrokers.clean_expired_queues)
    delete_expired_commit_log: Final = awaitable(TrioBrokers.delete_expired_commit_log)
    cold_data_info: Final = awaitable(TrioBrokers.cold_data_info)
    set_cold_data_limit: Final = awaitable(TrioBrokers.set_cold_data_limit)
    set_read_ahead_mode: Final = awaitable(TrioBrokers.set_read_ahead_mode)
    add_to_container: Final = awaitable(TrioBrokers.add_to_container)
    remove_from_container: Final = awaitable(TrioBrokers.remove_from_container)


@like(TrioStores)
class Stores(_Calls[TrioStores]):
    switch_timer_engine: Final = awaitable(TrioStores.switch_timer_engine)
    check_rocksdb_queues: Final = awaitable(TrioStores.check_rocksdb_queues)
    export_rocksdb_config: Final = awaitable(TrioStores.export_rocksdb_config)


@like(TrioExports)
class Exports(_ClusterCalls[TrioExports]):
    topics: Final = awaitable(TrioExports.topics)
    groups: Final = awaitable(TrioExports.groups)


@like(TrioNameServerUpkeep)
class NameServerUpkeep(_Calls[TrioNameServerUpkeep]):
    put_kv: Final = awaitable(TrioNameServerUpkeep.put_kv)
    change_kv: Final = awaitable(TrioNameServerUpkeep.change_kv)
    delete_kv: Final = awaitable(TrioNameServerUpkeep.delete_kv)
    kv_value: Final = awaitable(TrioNameServerUpkeep.kv_value)
    kv_namespace: Final = awaitable(TrioNameServerUpkeep.kv_namespace)
    configs: Final = awaitable(TrioNameServerUpkeep.configs)
    update_configs: Final = awaitable(TrioNameServerUpkeep.update_configs)
    wipe_write_perm: Final = awaitable(TrioNameServerUpkeep.wipe_write_perm)
    add_write_perm: Final = awaitable(TrioNameServerUpkeep.add_write_perm)


@like(TrioStaticTopics)
class StaticTopics(_ClusterCalls[TrioStaticTopics]):
    configs: Final = awaitable(TrioStaticTopics.configs)
    create_or_update: Final = awaitable(TrioStaticTopics.create_or_update)
    remap: Final = awaitable(TrioStaticTopics.remap)
    carry_out: Final = awaitable(TrioStaticTopics.carry_out)
    tell: Final = awaitable(TrioStaticTopics.tell)
    stats: Final = awaitable(TrioStaticTopics.stats)


@like(TrioUsers)
class Users(_ClusterCalls[TrioUsers]):
    create: Final = awaitable(TrioUsers.create)
    update: Final = awaitable(TrioUsers.update)
    delete: Final = awaitable(TrioUsers.delete)
    get: Final = awaitable(TrioUsers.get)
    list: Final = awaitable(TrioUsers.list)
    copy: Final = awaitable(TrioUsers.copy)


@like(TrioAcls)
class Acls(_ClusterCalls[TrioAcls]):
    create: Final = awaitable(TrioAcls.create)
    update: Final = awaitable(TrioAcls.update)
    delete: Final = awaitable(TrioAcls.delete)
    get: Final = awaitable(TrioAcls.get)
    list: Final = awaitable(TrioAcls.list)
    copy: Final = awaitable(TrioAcls.copy)


@like(TrioLiteTopics)
class LiteTopics(_Calls[TrioLiteTopics]):
    of_broker: Final = awaitable(TrioLiteTopics.of_broker)
    parent: Final = awaitable(TrioLiteTopics.parent)
    topic: Final = awaitable(TrioLiteTopics.topic)
    client_info: Final = awaitable(TrioLiteTopics.client_info)
    group: Final = awaitable(TrioLiteTopics.group)
    trigger_dispatch: Final = awaitable(TrioLiteTopics.trigger_dispatch)
    polling_num: Final = awaitable(TrioLiteTopics.polling_num)
    export_pop_records: Final = awaitable(TrioLiteTopics.export_pop_records)


@like(TrioControllers)
class Controllers(_Calls[TrioControllers]):
    metadata: Final = awaitable(TrioControllers.metadata)
    leader: Final = awaitable(TrioControllers.leader)
    sync_state: Final = awaitable(TrioControllers.sync_state)
    elect_master: Final = awaitable(TrioControllers.elect_master)
    clean_broker: Final = awaitable(TrioControllers.clean_broker)
    config: Final = awaitable(TrioControllers.config)
    update_config: Final = awaitable(TrioControllers.update_config)


class Admin(Opened[trio.Admin]):
    """Calls of operators by subject; see ``rocketwire.client.admin.Admin``."""

    def __init__(
        self,
        client: ClientLike = None,
        *,
        within: float = ADMIN_TIMEOUT,
        **settings: Unpack[ClientSettings],
    ) -> None:
        """Open nothing yet; for arguments and errors see ``open_admin``."""
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
    """Open an ``Admin`` with ``async with`` or ``await``; the block's end or ``close`` ends it.

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
