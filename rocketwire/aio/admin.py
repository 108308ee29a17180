"""``Admin``: calls of operators for tasks of asyncio; ``open_admin`` opens it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeVar

from rocketwire.aio.client import trio_client
from rocketwire.aio.opening import Opened, Part, awaitable
from rocketwire.client.admin import admin as trio
from rocketwire.client.admin.clusters import ClusterCalls
from rocketwire.client.admin.fanout import ADMIN_TIMEOUT, AdminCalls
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


@like(trio.Clusters)
class Clusters(_Calls[trio.Clusters]):
    info: Final = awaitable(trio.Clusters.info)
    route: Final = awaitable(trio.Clusters.route)
    masters: Final = awaitable(trio.Clusters.masters)
    replicas: Final = awaitable(trio.Clusters.replicas)
    targets: Final = awaitable(trio.Clusters.targets)
    broker_names: Final = awaitable(trio.Clusters.broker_names)
    broker_name: Final = awaitable(trio.Clusters.broker_name)
    master: Final = awaitable(trio.Clusters.master)
    of_topic: Final = awaitable(trio.Clusters.of_topic)
    of_topics: Final = awaitable(trio.Clusters.of_topics)


@like(trio.Topics)
class Topics(_ClusterCalls[trio.Topics]):
    create_or_update: Final = awaitable(trio.Topics.create_or_update)
    update: Final = awaitable(trio.Topics.update)
    unrouted_queues: Final = awaitable(trio.Topics.unrouted_queues)
    delete: Final = awaitable(trio.Topics.delete)
    delete_in_broker: Final = awaitable(trio.Topics.delete_in_broker)
    delete_in_name_servers: Final = awaitable(trio.Topics.delete_in_name_servers)
    config: Final = awaitable(trio.Topics.config)
    configs: Final = awaitable(trio.Topics.configs)
    names: Final = awaitable(trio.Topics.names)
    system_names: Final = awaitable(trio.Topics.system_names)
    stats: Final = awaitable(trio.Topics.stats)
    stats_of: Final = awaitable(trio.Topics.stats_of)
    consumer_groups: Final = awaitable(trio.Topics.consumer_groups)
    order_conf: Final = awaitable(trio.Topics.order_conf)
    put_order_conf: Final = awaitable(trio.Topics.put_order_conf)
    delete_order_conf: Final = awaitable(trio.Topics.delete_order_conf)


@like(trio.Groups)
class Groups(_ClusterCalls[trio.Groups]):
    create_or_update: Final = awaitable(trio.Groups.create_or_update)
    update: Final = awaitable(trio.Groups.update)
    delete: Final = awaitable(trio.Groups.delete)
    config: Final = awaitable(trio.Groups.config)
    configs: Final = awaitable(trio.Groups.configs)
    topics: Final = awaitable(trio.Groups.topics)
    subscription: Final = awaitable(trio.Groups.subscription)
    read_forbidden: Final = awaitable(trio.Groups.read_forbidden)
    set_request_mode: Final = awaitable(trio.Groups.set_request_mode)
    request_modes: Final = awaitable(trio.Groups.request_modes)


@like(trio.Offsets)
class Offsets(_ClusterCalls[trio.Offsets]):
    clone: Final = awaitable(trio.Offsets.clone)
    copy: Final = awaitable(trio.Offsets.copy)
    of_group: Final = awaitable(trio.Offsets.of_group)
    of_queues: Final = awaitable(trio.Offsets.of_queues)
    of_members: Final = awaitable(trio.Offsets.of_members)
    corrections: Final = awaitable(trio.Offsets.corrections)
    all_of_broker: Final = awaitable(trio.Offsets.all_of_broker)
    delays: Final = awaitable(trio.Offsets.delays)
    reset_by_time: Final = awaitable(trio.Offsets.reset_by_time)
    reset_queue: Final = awaitable(trio.Offsets.reset_queue)
    reset_by_time_old: Final = awaitable(trio.Offsets.reset_by_time_old)
    move: Final = awaitable(trio.Offsets.move)
    skip_accumulated: Final = awaitable(trio.Offsets.skip_accumulated)


@like(trio.Consumers)
class Consumers(_ClusterCalls[trio.Consumers]):
    stats: Final = awaitable(trio.Consumers.stats)
    stats_of: Final = awaitable(trio.Consumers.stats_of)
    connection: Final = awaitable(trio.Consumers.connection)
    running_info: Final = awaitable(trio.Consumers.running_info)
    running_infos: Final = awaitable(trio.Consumers.running_infos)
    queue_owners: Final = awaitable(trio.Consumers.queue_owners)
    time_spans: Final = awaitable(trio.Consumers.time_spans)
    time_spans_of: Final = awaitable(trio.Consumers.time_spans_of)
    consume_directly: Final = awaitable(trio.Consumers.consume_directly)
    producer_connection: Final = awaitable(trio.Consumers.producer_connection)
    producers_of: Final = awaitable(trio.Consumers.producers_of)


@like(trio.Messages)
class Messages(_ClusterCalls[trio.Messages]):
    by_offset_id: Final = awaitable(trio.Messages.by_offset_id)
    by_id: Final = awaitable(trio.Messages.by_id)
    by_unique_key: Final = awaitable(trio.Messages.by_unique_key)
    by_key: Final = awaitable(trio.Messages.by_key)
    by_tag: Final = awaitable(trio.Messages.by_tag)
    at: Final = awaitable(trio.Messages.at)
    trace: Final = awaitable(trio.Messages.trace)
    consume_directly: Final = awaitable(trio.Messages.consume_directly)
    send_back: Final = awaitable(trio.Messages.send_back)
    resume_half: Final = awaitable(trio.Messages.resume_half)

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

        walk = await self._call(start)
        try:
            while chunk := await self._call(next_chunk):
                for message in chunk:
                    yield message
        finally:
            await self._call(close)


@like(trio.Brokers)
class Brokers(_ClusterCalls[trio.Brokers]):
    config: Final = awaitable(trio.Brokers.config)
    update_config: Final = awaitable(trio.Brokers.update_config)
    runtime_info: Final = awaitable(trio.Brokers.runtime_info)
    stats: Final = awaitable(trio.Brokers.stats)
    consume_stats: Final = awaitable(trio.Brokers.consume_stats)
    consume_queue: Final = awaitable(trio.Brokers.consume_queue)
    timer_metrics: Final = awaitable(trio.Brokers.timer_metrics)
    ha_status: Final = awaitable(trio.Brokers.ha_status)
    epoch_cache: Final = awaitable(trio.Brokers.epoch_cache)
    reset_master_flush_offset: Final = awaitable(trio.Brokers.reset_master_flush_offset)
    clean_unused_topics: Final = awaitable(trio.Brokers.clean_unused_topics)
    clean_expired_queues: Final = awaitable(trio.Brokers.clean_expired_queues)
    delete_expired_commit_log: Final = awaitable(trio.Brokers.delete_expired_commit_log)
    cold_data_info: Final = awaitable(trio.Brokers.cold_data_info)
    set_cold_data_limit: Final = awaitable(trio.Brokers.set_cold_data_limit)
    set_read_ahead_mode: Final = awaitable(trio.Brokers.set_read_ahead_mode)
    add_to_container: Final = awaitable(trio.Brokers.add_to_container)
    remove_from_container: Final = awaitable(trio.Brokers.remove_from_container)


@like(trio.Stores)
class Stores(_Calls[trio.Stores]):
    switch_timer_engine: Final = awaitable(trio.Stores.switch_timer_engine)
    check_rocksdb_queues: Final = awaitable(trio.Stores.check_rocksdb_queues)
    export_rocksdb_config: Final = awaitable(trio.Stores.export_rocksdb_config)


@like(trio.Exports)
class Exports(_ClusterCalls[trio.Exports]):
    topics: Final = awaitable(trio.Exports.topics)
    groups: Final = awaitable(trio.Exports.groups)


@like(trio.NameServerUpkeep)
class NameServerUpkeep(_Calls[trio.NameServerUpkeep]):
    put_kv: Final = awaitable(trio.NameServerUpkeep.put_kv)
    change_kv: Final = awaitable(trio.NameServerUpkeep.change_kv)
    delete_kv: Final = awaitable(trio.NameServerUpkeep.delete_kv)
    kv_value: Final = awaitable(trio.NameServerUpkeep.kv_value)
    kv_namespace: Final = awaitable(trio.NameServerUpkeep.kv_namespace)
    configs: Final = awaitable(trio.NameServerUpkeep.configs)
    update_configs: Final = awaitable(trio.NameServerUpkeep.update_configs)
    wipe_write_perm: Final = awaitable(trio.NameServerUpkeep.wipe_write_perm)
    add_write_perm: Final = awaitable(trio.NameServerUpkeep.add_write_perm)


@like(trio.StaticTopics)
class StaticTopics(_ClusterCalls[trio.StaticTopics]):
    configs: Final = awaitable(trio.StaticTopics.configs)
    create_or_update: Final = awaitable(trio.StaticTopics.create_or_update)
    remap: Final = awaitable(trio.StaticTopics.remap)
    carry_out: Final = awaitable(trio.StaticTopics.carry_out)
    tell: Final = awaitable(trio.StaticTopics.tell)
    stats: Final = awaitable(trio.StaticTopics.stats)


@like(trio.Users)
class Users(_ClusterCalls[trio.Users]):
    create: Final = awaitable(trio.Users.create)
    update: Final = awaitable(trio.Users.update)
    delete: Final = awaitable(trio.Users.delete)
    get: Final = awaitable(trio.Users.get)
    list: Final = awaitable(trio.Users.list)
    copy: Final = awaitable(trio.Users.copy)


@like(trio.Acls)
class Acls(_ClusterCalls[trio.Acls]):
    create: Final = awaitable(trio.Acls.create)
    update: Final = awaitable(trio.Acls.update)
    delete: Final = awaitable(trio.Acls.delete)
    get: Final = awaitable(trio.Acls.get)
    list: Final = awaitable(trio.Acls.list)
    copy: Final = awaitable(trio.Acls.copy)


@like(trio.LiteTopics)
class LiteTopics(_Calls[trio.LiteTopics]):
    of_broker: Final = awaitable(trio.LiteTopics.of_broker)
    parent: Final = awaitable(trio.LiteTopics.parent)
    topic: Final = awaitable(trio.LiteTopics.topic)
    client_info: Final = awaitable(trio.LiteTopics.client_info)
    group: Final = awaitable(trio.LiteTopics.group)
    trigger_dispatch: Final = awaitable(trio.LiteTopics.trigger_dispatch)
    polling_num: Final = awaitable(trio.LiteTopics.polling_num)
    export_pop_records: Final = awaitable(trio.LiteTopics.export_pop_records)


@like(trio.Controllers)
class Controllers(_Calls[trio.Controllers]):
    metadata: Final = awaitable(trio.Controllers.metadata)
    leader: Final = awaitable(trio.Controllers.leader)
    sync_state: Final = awaitable(trio.Controllers.sync_state)
    elect_master: Final = awaitable(trio.Controllers.elect_master)
    clean_broker: Final = awaitable(trio.Controllers.clean_broker)
    config: Final = awaitable(trio.Controllers.config)
    update_config: Final = awaitable(trio.Controllers.update_config)


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
