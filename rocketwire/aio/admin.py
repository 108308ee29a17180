"""``Admin``: calls of operators for tasks of asyncio; ``open_admin`` opens it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocketwire.aio.client import trio_client
from rocketwire.aio.opening import Opened, Part, awaitable
from rocketwire.client.admin import admin as trio
from rocketwire.client.admin.auth import Acls as TrioAcls
from rocketwire.client.admin.auth import Users as TrioUsers
from rocketwire.client.admin.brokers import Brokers as TrioBrokers
from rocketwire.client.admin.clusters import Clusters as TrioClusters
from rocketwire.client.admin.consumers import Consumers as TrioConsumers
from rocketwire.client.admin.controllers import Controllers as TrioControllers
from rocketwire.client.admin.fanout import ADMIN_TIMEOUT
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


@like(TrioClusters)
class Clusters(Part[trio.Admin, TrioClusters]):
    """Requests for clusters and the addresses of their brokers."""

    ask = awaitable(TrioClusters.ask)
    info = awaitable(TrioClusters.info)
    route = awaitable(TrioClusters.route)
    masters = awaitable(TrioClusters.masters)
    replicas = awaitable(TrioClusters.replicas)
    targets = awaitable(TrioClusters.targets)
    broker_names = awaitable(TrioClusters.broker_names)
    broker_name = awaitable(TrioClusters.broker_name)
    master = awaitable(TrioClusters.master)
    of_topic = awaitable(TrioClusters.of_topic)
    of_topics = awaitable(TrioClusters.of_topics)


@like(TrioTopics)
class Topics(Part[trio.Admin, TrioTopics]):
    """Requests for topics; for errors see ``AdminCalls.ask`` and ``NameServers.call``."""

    ask = awaitable(TrioTopics.ask)
    change = awaitable(TrioTopics.change)
    create_or_update = awaitable(TrioTopics.create_or_update)
    create_or_update_all = awaitable(TrioTopics.create_or_update_all)
    update_perm = awaitable(TrioTopics.update_perm)
    delete = awaitable(TrioTopics.delete)
    delete_in_broker = awaitable(TrioTopics.delete_in_broker)
    delete_in_name_servers = awaitable(TrioTopics.delete_in_name_servers)
    config = awaitable(TrioTopics.config)
    configs = awaitable(TrioTopics.configs)
    names = awaitable(TrioTopics.names)
    system_names = awaitable(TrioTopics.system_names)
    stats = awaitable(TrioTopics.stats)
    stats_of = awaitable(TrioTopics.stats_of)
    consumer_groups = awaitable(TrioTopics.consumer_groups)
    order_conf = awaitable(TrioTopics.order_conf)
    put_order_conf = awaitable(TrioTopics.put_order_conf)
    delete_order_conf = awaitable(TrioTopics.delete_order_conf)


@like(TrioGroups)
class Groups(Part[trio.Admin, TrioGroups]):
    """Requests for consumer groups; for errors see ``AdminCalls.ask``."""

    ask = awaitable(TrioGroups.ask)
    change = awaitable(TrioGroups.change)
    create_or_update = awaitable(TrioGroups.create_or_update)
    create_or_update_all = awaitable(TrioGroups.create_or_update_all)
    delete = awaitable(TrioGroups.delete)
    config = awaitable(TrioGroups.config)
    configs = awaitable(TrioGroups.configs)
    topics = awaitable(TrioGroups.topics)
    subscription = awaitable(TrioGroups.subscription)
    read_forbidden = awaitable(TrioGroups.read_forbidden)
    set_request_mode = awaitable(TrioGroups.set_request_mode)
    request_modes = awaitable(TrioGroups.request_modes)


@like(TrioOffsets)
class Offsets(Part[trio.Admin, TrioOffsets]):
    """Requests for offsets."""

    ask = awaitable(TrioOffsets.ask)
    change = awaitable(TrioOffsets.change)
    clone = awaitable(TrioOffsets.clone)
    copy = awaitable(TrioOffsets.copy)
    of_queues = awaitable(TrioOffsets.of_queues)
    of_members = awaitable(TrioOffsets.of_members)
    corrections = awaitable(TrioOffsets.corrections)
    all_of_broker = awaitable(TrioOffsets.all_of_broker)
    delays = awaitable(TrioOffsets.delays)
    reset_by_time = awaitable(TrioOffsets.reset_by_time)
    reset_queue = awaitable(TrioOffsets.reset_queue)
    reset_by_time_old = awaitable(TrioOffsets.reset_by_time_old)
    move = awaitable(TrioOffsets.move)
    skip_accumulated = awaitable(TrioOffsets.skip_accumulated)


@like(TrioConsumers)
class Consumers(Part[trio.Admin, TrioConsumers]):
    """Requests for the members of consumer groups; for errors see ``AdminCalls.ask``."""

    ask = awaitable(TrioConsumers.ask)
    change = awaitable(TrioConsumers.change)
    stats = awaitable(TrioConsumers.stats)
    stats_of = awaitable(TrioConsumers.stats_of)
    connection = awaitable(TrioConsumers.connection)
    running_info = awaitable(TrioConsumers.running_info)
    running_infos = awaitable(TrioConsumers.running_infos)
    queue_owners = awaitable(TrioConsumers.queue_owners)
    time_spans = awaitable(TrioConsumers.time_spans)
    time_spans_of = awaitable(TrioConsumers.time_spans_of)
    consume_directly = awaitable(TrioConsumers.consume_directly)
    producer_connection = awaitable(TrioConsumers.producer_connection)
    producers_of = awaitable(TrioConsumers.producers_of)


@like(TrioMessages)
class Messages(Part[trio.Admin, TrioMessages]):
    """Requests for messages."""

    ask = awaitable(TrioMessages.ask)
    change = awaitable(TrioMessages.change)
    by_offset_id = awaitable(TrioMessages.by_offset_id)
    by_id = awaitable(TrioMessages.by_id)
    by_unique_key = awaitable(TrioMessages.by_unique_key)
    by_key = awaitable(TrioMessages.by_key)
    by_tag = awaitable(TrioMessages.by_tag)
    at = awaitable(TrioMessages.at)
    trace = awaitable(TrioMessages.trace)
    consume_directly = awaitable(TrioMessages.consume_directly)
    send_back = awaitable(TrioMessages.send_back)
    resume_half = awaitable(TrioMessages.resume_half)

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
class Brokers(Part[trio.Admin, TrioBrokers]):
    """Calls to brokers by address; for errors see ``AdminCalls.ask``."""

    ask = awaitable(TrioBrokers.ask)
    change = awaitable(TrioBrokers.change)
    config = awaitable(TrioBrokers.config)
    update_config = awaitable(TrioBrokers.update_config)
    runtime_info = awaitable(TrioBrokers.runtime_info)
    stats = awaitable(TrioBrokers.stats)
    consume_stats = awaitable(TrioBrokers.consume_stats)
    consume_queue = awaitable(TrioBrokers.consume_queue)
    timer_metrics = awaitable(TrioBrokers.timer_metrics)
    ha_status = awaitable(TrioBrokers.ha_status)
    epoch_cache = awaitable(TrioBrokers.epoch_cache)
    reset_master_flush_offset = awaitable(TrioBrokers.reset_master_flush_offset)
    clean_unused_topics = awaitable(TrioBrokers.clean_unused_topics)
    clean_expired_queues = awaitable(TrioBrokers.clean_expired_queues)
    delete_expired_commit_log = awaitable(TrioBrokers.delete_expired_commit_log)
    cold_data_info = awaitable(TrioBrokers.cold_data_info)
    update_cold_data_config = awaitable(TrioBrokers.update_cold_data_config)
    remove_cold_data_config = awaitable(TrioBrokers.remove_cold_data_config)
    set_read_ahead_mode = awaitable(TrioBrokers.set_read_ahead_mode)
    add_to_container = awaitable(TrioBrokers.add_to_container)
    remove_from_container = awaitable(TrioBrokers.remove_from_container)


@like(TrioStores)
class Stores(Part[trio.Admin, TrioStores]):
    """Requests for the store of a broker, by address. For errors see ``AdminCalls.ask``."""

    ask = awaitable(TrioStores.ask)
    switch_timer_engine = awaitable(TrioStores.switch_timer_engine)
    check_rocksdb_queues = awaitable(TrioStores.check_rocksdb_queues)
    export_rocksdb_config = awaitable(TrioStores.export_rocksdb_config)


@like(TrioExports)
class Exports(Part[trio.Admin, TrioExports]):
    """Requests for users' topics and groups; for errors see ``AdminCalls.ask``."""

    ask = awaitable(TrioExports.ask)
    change = awaitable(TrioExports.change)
    topics = awaitable(TrioExports.topics)
    groups = awaitable(TrioExports.groups)


@like(TrioNameServerUpkeep)
class NameServerUpkeep(Part[trio.Admin, TrioNameServerUpkeep]):
    """Requests to name servers; for errors see ``NameServers.call``."""

    ask = awaitable(TrioNameServerUpkeep.ask)
    put_kv = awaitable(TrioNameServerUpkeep.put_kv)
    delete_kv = awaitable(TrioNameServerUpkeep.delete_kv)
    kv_value = awaitable(TrioNameServerUpkeep.kv_value)
    kv_namespace = awaitable(TrioNameServerUpkeep.kv_namespace)
    configs = awaitable(TrioNameServerUpkeep.configs)
    update_configs = awaitable(TrioNameServerUpkeep.update_configs)
    wipe_write_perm = awaitable(TrioNameServerUpkeep.wipe_write_perm)
    add_write_perm = awaitable(TrioNameServerUpkeep.add_write_perm)


@like(TrioStaticTopics)
class StaticTopics(Part[trio.Admin, TrioStaticTopics]):
    """Requests for static topics; for errors see ``AdminCalls.ask``."""

    ask = awaitable(TrioStaticTopics.ask)
    change = awaitable(TrioStaticTopics.change)
    configs = awaitable(TrioStaticTopics.configs)
    create_or_update = awaitable(TrioStaticTopics.create_or_update)
    remap = awaitable(TrioStaticTopics.remap)
    carry_out = awaitable(TrioStaticTopics.carry_out)
    tell = awaitable(TrioStaticTopics.tell)
    stats = awaitable(TrioStaticTopics.stats)


@like(TrioUsers)
class Users(Part[trio.Admin, TrioUsers]):
    """Requests for users; for errors see ``AdminCalls.ask``."""

    ask = awaitable(TrioUsers.ask)
    change = awaitable(TrioUsers.change)
    create = awaitable(TrioUsers.create)
    update = awaitable(TrioUsers.update)
    delete = awaitable(TrioUsers.delete)
    get = awaitable(TrioUsers.get)
    list = awaitable(TrioUsers.list)
    copy = awaitable(TrioUsers.copy)


@like(TrioAcls)
class Acls(Part[trio.Admin, TrioAcls]):
    """Requests for policies; for errors see ``AdminCalls.ask``."""

    ask = awaitable(TrioAcls.ask)
    change = awaitable(TrioAcls.change)
    create = awaitable(TrioAcls.create)
    update = awaitable(TrioAcls.update)
    delete = awaitable(TrioAcls.delete)
    get = awaitable(TrioAcls.get)
    list = awaitable(TrioAcls.list)
    copy = awaitable(TrioAcls.copy)


@like(TrioLiteTopics)
class LiteTopics(Part[trio.Admin, TrioLiteTopics]):
    """Requests for lite topics and pops, to brokers by address. For errors see ``ask``."""

    ask = awaitable(TrioLiteTopics.ask)
    of_broker = awaitable(TrioLiteTopics.of_broker)
    parent = awaitable(TrioLiteTopics.parent)
    topic = awaitable(TrioLiteTopics.topic)
    client_info = awaitable(TrioLiteTopics.client_info)
    group = awaitable(TrioLiteTopics.group)
    trigger_dispatch = awaitable(TrioLiteTopics.trigger_dispatch)
    polling_num = awaitable(TrioLiteTopics.polling_num)
    export_pop_records = awaitable(TrioLiteTopics.export_pop_records)


@like(TrioControllers)
class Controllers(Part[trio.Admin, TrioControllers]):
    """Requests to controllers by address; for errors see ``AdminCalls.ask``."""

    ask = awaitable(TrioControllers.ask)
    metadata = awaitable(TrioControllers.metadata)
    leader = awaitable(TrioControllers.leader)
    sync_state = awaitable(TrioControllers.sync_state)
    elect_master = awaitable(TrioControllers.elect_master)
    clean_broker = awaitable(TrioControllers.clean_broker)
    config = awaitable(TrioControllers.config)
    update_config = awaitable(TrioControllers.update_config)


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
        self.clusters = Clusters(self, lambda admin: admin.clusters)
        self.topics = Topics(self, lambda admin: admin.topics)
        self.groups = Groups(self, lambda admin: admin.groups)
        self.offsets = Offsets(self, lambda admin: admin.offsets)
        self.consumers = Consumers(self, lambda admin: admin.consumers)
        self.messages = Messages(self, lambda admin: admin.messages)
        self.brokers = Brokers(self, lambda admin: admin.brokers)
        self.stores = Stores(self, lambda admin: admin.stores)
        self.exports = Exports(self, lambda admin: admin.exports)
        self.name_servers = NameServerUpkeep(self, lambda admin: admin.name_servers)
        self.static_topics = StaticTopics(self, lambda admin: admin.static_topics)
        self.users = Users(self, lambda admin: admin.users)
        self.acls = Acls(self, lambda admin: admin.acls)
        self.lite = LiteTopics(self, lambda admin: admin.lite)
        self.controllers = Controllers(self, lambda admin: admin.controllers)
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
