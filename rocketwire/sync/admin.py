"""``Admin``: calls of operators for threads; ``open_admin`` opens it."""

from __future__ import annotations

from typing import TYPE_CHECKING

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
from rocketwire.sync.client import trio_client
from rocketwire.sync.opening import Opened, Part, blocking

if TYPE_CHECKING:
    from collections.abc import Generator
    from typing import Unpack

    from rocketwire.messages.message_queue import MessageQueue
    from rocketwire.portal.typed_settings import ClientSettings
    from rocketwire.sync.client import ClientLike
    from rocketwire.wire.message.stored import StoredMessage


@like(TrioClusters)
class Clusters(Part[trio.Admin, TrioClusters]):
    """Requests for clusters and the addresses of their brokers."""

    ask = blocking(TrioClusters.ask)
    info = blocking(TrioClusters.info)
    route = blocking(TrioClusters.route)
    masters = blocking(TrioClusters.masters)
    replicas = blocking(TrioClusters.replicas)
    targets = blocking(TrioClusters.targets)
    broker_names = blocking(TrioClusters.broker_names)
    broker_name = blocking(TrioClusters.broker_name)
    master = blocking(TrioClusters.master)
    of_topic = blocking(TrioClusters.of_topic)
    of_topics = blocking(TrioClusters.of_topics)


@like(TrioTopics)
class Topics(Part[trio.Admin, TrioTopics]):
    """Requests for topics; for errors see ``AdminCalls.ask`` and ``NameServers.call``."""

    ask = blocking(TrioTopics.ask)
    change = blocking(TrioTopics.change)
    create_or_update = blocking(TrioTopics.create_or_update)
    create_or_update_all = blocking(TrioTopics.create_or_update_all)
    update_perm = blocking(TrioTopics.update_perm)
    delete = blocking(TrioTopics.delete)
    delete_in_broker = blocking(TrioTopics.delete_in_broker)
    delete_in_name_servers = blocking(TrioTopics.delete_in_name_servers)
    config = blocking(TrioTopics.config)
    configs = blocking(TrioTopics.configs)
    names = blocking(TrioTopics.names)
    system_names = blocking(TrioTopics.system_names)
    stats = blocking(TrioTopics.stats)
    stats_of = blocking(TrioTopics.stats_of)
    consumer_groups = blocking(TrioTopics.consumer_groups)
    order_conf = blocking(TrioTopics.order_conf)
    put_order_conf = blocking(TrioTopics.put_order_conf)
    delete_order_conf = blocking(TrioTopics.delete_order_conf)


@like(TrioGroups)
class Groups(Part[trio.Admin, TrioGroups]):
    """Requests for consumer groups; for errors see ``AdminCalls.ask``."""

    ask = blocking(TrioGroups.ask)
    change = blocking(TrioGroups.change)
    create_or_update = blocking(TrioGroups.create_or_update)
    create_or_update_all = blocking(TrioGroups.create_or_update_all)
    delete = blocking(TrioGroups.delete)
    config = blocking(TrioGroups.config)
    configs = blocking(TrioGroups.configs)
    topics = blocking(TrioGroups.topics)
    subscription = blocking(TrioGroups.subscription)
    read_forbidden = blocking(TrioGroups.read_forbidden)
    set_request_mode = blocking(TrioGroups.set_request_mode)
    request_modes = blocking(TrioGroups.request_modes)


@like(TrioOffsets)
class Offsets(Part[trio.Admin, TrioOffsets]):
    """Requests for offsets."""

    ask = blocking(TrioOffsets.ask)
    change = blocking(TrioOffsets.change)
    clone = blocking(TrioOffsets.clone)
    copy = blocking(TrioOffsets.copy)
    of_queues = blocking(TrioOffsets.of_queues)
    of_members = blocking(TrioOffsets.of_members)
    corrections = blocking(TrioOffsets.corrections)
    all_of_broker = blocking(TrioOffsets.all_of_broker)
    delays = blocking(TrioOffsets.delays)
    reset_by_time = blocking(TrioOffsets.reset_by_time)
    reset_queue = blocking(TrioOffsets.reset_queue)
    reset_by_time_old = blocking(TrioOffsets.reset_by_time_old)
    move = blocking(TrioOffsets.move)
    skip_accumulated = blocking(TrioOffsets.skip_accumulated)


@like(TrioConsumers)
class Consumers(Part[trio.Admin, TrioConsumers]):
    """Requests for the members of consumer groups; for errors see ``AdminCalls.ask``."""

    ask = blocking(TrioConsumers.ask)
    change = blocking(TrioConsumers.change)
    stats = blocking(TrioConsumers.stats)
    stats_of = blocking(TrioConsumers.stats_of)
    connection = blocking(TrioConsumers.connection)
    running_info = blocking(TrioConsumers.running_info)
    running_infos = blocking(TrioConsumers.running_infos)
    queue_owners = blocking(TrioConsumers.queue_owners)
    time_spans = blocking(TrioConsumers.time_spans)
    time_spans_of = blocking(TrioConsumers.time_spans_of)
    consume_directly = blocking(TrioConsumers.consume_directly)
    producer_connection = blocking(TrioConsumers.producer_connection)
    producers_of = blocking(TrioConsumers.producers_of)


@like(TrioMessages)
class Messages(Part[trio.Admin, TrioMessages]):
    """Requests for messages."""

    ask = blocking(TrioMessages.ask)
    change = blocking(TrioMessages.change)
    by_offset_id = blocking(TrioMessages.by_offset_id)
    by_id = blocking(TrioMessages.by_id)
    by_unique_key = blocking(TrioMessages.by_unique_key)
    by_key = blocking(TrioMessages.by_key)
    by_tag = blocking(TrioMessages.by_tag)
    at = blocking(TrioMessages.at)
    trace = blocking(TrioMessages.trace)
    consume_directly = blocking(TrioMessages.consume_directly)
    send_back = blocking(TrioMessages.send_back)
    resume_half = blocking(TrioMessages.resume_half)

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
class Brokers(Part[trio.Admin, TrioBrokers]):
    """Calls to brokers by address; for errors see ``AdminCalls.ask``."""

    ask = blocking(TrioBrokers.ask)
    change = blocking(TrioBrokers.change)
    config = blocking(TrioBrokers.config)
    update_config = blocking(TrioBrokers.update_config)
    runtime_info = blocking(TrioBrokers.runtime_info)
    stats = blocking(TrioBrokers.stats)
    consume_stats = blocking(TrioBrokers.consume_stats)
    consume_queue = blocking(TrioBrokers.consume_queue)
    timer_metrics = blocking(TrioBrokers.timer_metrics)
    ha_status = blocking(TrioBrokers.ha_status)
    epoch_cache = blocking(TrioBrokers.epoch_cache)
    reset_master_flush_offset = blocking(TrioBrokers.reset_master_flush_offset)
    clean_unused_topics = blocking(TrioBrokers.clean_unused_topics)
    clean_expired_queues = blocking(TrioBrokers.clean_expired_queues)
    delete_expired_commit_log = blocking(TrioBrokers.delete_expired_commit_log)
    cold_data_info = blocking(TrioBrokers.cold_data_info)
    update_cold_data_config = blocking(TrioBrokers.update_cold_data_config)
    remove_cold_data_config = blocking(TrioBrokers.remove_cold_data_config)
    set_read_ahead_mode = blocking(TrioBrokers.set_read_ahead_mode)
    add_to_container = blocking(TrioBrokers.add_to_container)
    remove_from_container = blocking(TrioBrokers.remove_from_container)


@like(TrioStores)
class Stores(Part[trio.Admin, TrioStores]):
    """Requests for the store of a broker, by address. For errors see ``AdminCalls.ask``."""

    ask = blocking(TrioStores.ask)
    switch_timer_engine = blocking(TrioStores.switch_timer_engine)
    check_rocksdb_queues = blocking(TrioStores.check_rocksdb_queues)
    export_rocksdb_config = blocking(TrioStores.export_rocksdb_config)


@like(TrioExports)
class Exports(Part[trio.Admin, TrioExports]):
    """Requests for users' topics and groups; for errors see ``AdminCalls.ask``."""

    ask = blocking(TrioExports.ask)
    change = blocking(TrioExports.change)
    topics = blocking(TrioExports.topics)
    groups = blocking(TrioExports.groups)


@like(TrioNameServerUpkeep)
class NameServerUpkeep(Part[trio.Admin, TrioNameServerUpkeep]):
    """Requests to name servers; for errors see ``NameServers.call``."""

    ask = blocking(TrioNameServerUpkeep.ask)
    put_kv = blocking(TrioNameServerUpkeep.put_kv)
    delete_kv = blocking(TrioNameServerUpkeep.delete_kv)
    kv_value = blocking(TrioNameServerUpkeep.kv_value)
    kv_namespace = blocking(TrioNameServerUpkeep.kv_namespace)
    configs = blocking(TrioNameServerUpkeep.configs)
    update_configs = blocking(TrioNameServerUpkeep.update_configs)
    wipe_write_perm = blocking(TrioNameServerUpkeep.wipe_write_perm)
    add_write_perm = blocking(TrioNameServerUpkeep.add_write_perm)


@like(TrioStaticTopics)
class StaticTopics(Part[trio.Admin, TrioStaticTopics]):
    """Requests for static topics; for errors see ``AdminCalls.ask``."""

    ask = blocking(TrioStaticTopics.ask)
    change = blocking(TrioStaticTopics.change)
    configs = blocking(TrioStaticTopics.configs)
    create_or_update = blocking(TrioStaticTopics.create_or_update)
    remap = blocking(TrioStaticTopics.remap)
    carry_out = blocking(TrioStaticTopics.carry_out)
    tell = blocking(TrioStaticTopics.tell)
    stats = blocking(TrioStaticTopics.stats)


@like(TrioUsers)
class Users(Part[trio.Admin, TrioUsers]):
    """Requests for users; for errors see ``AdminCalls.ask``."""

    ask = blocking(TrioUsers.ask)
    change = blocking(TrioUsers.change)
    create = blocking(TrioUsers.create)
    update = blocking(TrioUsers.update)
    delete = blocking(TrioUsers.delete)
    get = blocking(TrioUsers.get)
    list = blocking(TrioUsers.list)
    copy = blocking(TrioUsers.copy)


@like(TrioAcls)
class Acls(Part[trio.Admin, TrioAcls]):
    """Requests for policies; for errors see ``AdminCalls.ask``."""

    ask = blocking(TrioAcls.ask)
    change = blocking(TrioAcls.change)
    create = blocking(TrioAcls.create)
    update = blocking(TrioAcls.update)
    delete = blocking(TrioAcls.delete)
    get = blocking(TrioAcls.get)
    list = blocking(TrioAcls.list)
    copy = blocking(TrioAcls.copy)


@like(TrioLiteTopics)
class LiteTopics(Part[trio.Admin, TrioLiteTopics]):
    """Requests for lite topics and pops, to brokers by address. For errors see ``ask``."""

    ask = blocking(TrioLiteTopics.ask)
    of_broker = blocking(TrioLiteTopics.of_broker)
    parent = blocking(TrioLiteTopics.parent)
    topic = blocking(TrioLiteTopics.topic)
    client_info = blocking(TrioLiteTopics.client_info)
    group = blocking(TrioLiteTopics.group)
    trigger_dispatch = blocking(TrioLiteTopics.trigger_dispatch)
    polling_num = blocking(TrioLiteTopics.polling_num)
    export_pop_records = blocking(TrioLiteTopics.export_pop_records)


@like(TrioControllers)
class Controllers(Part[trio.Admin, TrioControllers]):
    """Requests to controllers by address; for errors see ``AdminCalls.ask``."""

    ask = blocking(TrioControllers.ask)
    metadata = blocking(TrioControllers.metadata)
    leader = blocking(TrioControllers.leader)
    sync_state = blocking(TrioControllers.sync_state)
    elect_master = blocking(TrioControllers.elect_master)
    clean_broker = blocking(TrioControllers.clean_broker)
    config = blocking(TrioControllers.config)
    update_config = blocking(TrioControllers.update_config)


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
