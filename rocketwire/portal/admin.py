"""Methods of an ``Admin`` and of ``NameServers`` for both facades; messages are read in chunks."""

from __future__ import annotations

from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, Final

from rocketwire.client.admin import admin as trio
from rocketwire.client.admin.clusters import ClusterCalls
from rocketwire.client.admin.fanout import AdminCalls
from rocketwire.client.instance.instance import open_or_reuse_client
from rocketwire.client.net.nameserver_api import NameServerCalls
from rocketwire.client.net.nameservers import NameServers as TrioNameServers
from rocketwire.client.net.nameservers import SingleNameServer as TrioSingleNameServer
from rocketwire.errors import LocalProtocolError
from rocketwire.portal.methods import ClientUser, Facade, PartOfClient, delegate

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable

    from rocketwire.client.instance.instance import Client
    from rocketwire.wire.message.stored import StoredMessage

MAX_CHUNK: Final = 256  # maximum messages that cross to a facade together


class Walk:
    """An asynchronous generator of messages in trio, which a facade reads in chunks."""

    def __init__(self, start: Callable[[trio.Messages], AsyncGenerator[StoredMessage]]) -> None:
        self._start = start
        self._items: AsyncGenerator[StoredMessage] | None = None

    async def next_chunk(self, messages: trio.Messages) -> list[StoredMessage]:
        # cancellation ends the generator
        if self._items is None:
            self._items = self._start(messages)
        chunk: list[StoredMessage] = []
        async for item in self._items:
            chunk.append(item)
            if len(chunk) == MAX_CHUNK:
                break
        return chunk

    async def close(self, _: trio.Messages) -> None:
        if self._items is not None:
            await self._items.aclose()


class _Calls(Facade):
    ask: Final = delegate(AdminCalls.ask)


class _ClusterCalls(_Calls):
    change: Final = delegate(ClusterCalls.change)


class Clusters(_Calls, of=trio.Clusters):
    info: Final = delegate(trio.Clusters.info)
    route: Final = delegate(trio.Clusters.route)
    masters: Final = delegate(trio.Clusters.masters)
    replicas: Final = delegate(trio.Clusters.replicas)
    targets: Final = delegate(trio.Clusters.targets)
    broker_names: Final = delegate(trio.Clusters.broker_names)
    broker_name: Final = delegate(trio.Clusters.broker_name)
    master: Final = delegate(trio.Clusters.master)
    of_topic: Final = delegate(trio.Clusters.of_topic)
    of_topics: Final = delegate(trio.Clusters.of_topics)


class Topics(_ClusterCalls, of=trio.Topics):
    create_or_update: Final = delegate(trio.Topics.create_or_update)
    update: Final = delegate(trio.Topics.update)
    unrouted_queues: Final = delegate(trio.Topics.unrouted_queues)
    delete: Final = delegate(trio.Topics.delete)
    delete_in_broker: Final = delegate(trio.Topics.delete_in_broker)
    delete_in_name_servers: Final = delegate(trio.Topics.delete_in_name_servers)
    config: Final = delegate(trio.Topics.config)
    configs: Final = delegate(trio.Topics.configs)
    names: Final = delegate(trio.Topics.names)
    system_names: Final = delegate(trio.Topics.system_names)
    stats: Final = delegate(trio.Topics.stats)
    stats_of: Final = delegate(trio.Topics.stats_of)
    consumer_groups: Final = delegate(trio.Topics.consumer_groups)
    order_conf: Final = delegate(trio.Topics.order_conf)
    put_order_conf: Final = delegate(trio.Topics.put_order_conf)
    delete_order_conf: Final = delegate(trio.Topics.delete_order_conf)


class Groups(_ClusterCalls, of=trio.Groups):
    create_or_update: Final = delegate(trio.Groups.create_or_update)
    update: Final = delegate(trio.Groups.update)
    delete: Final = delegate(trio.Groups.delete)
    config: Final = delegate(trio.Groups.config)
    configs: Final = delegate(trio.Groups.configs)
    topics: Final = delegate(trio.Groups.topics)
    subscription: Final = delegate(trio.Groups.subscription)
    read_forbidden: Final = delegate(trio.Groups.read_forbidden)
    set_request_mode: Final = delegate(trio.Groups.set_request_mode)
    request_modes: Final = delegate(trio.Groups.request_modes)


class Offsets(_ClusterCalls, of=trio.Offsets):
    clone: Final = delegate(trio.Offsets.clone)
    copy: Final = delegate(trio.Offsets.copy)
    of_group: Final = delegate(trio.Offsets.of_group)
    of_queues: Final = delegate(trio.Offsets.of_queues)
    of_members: Final = delegate(trio.Offsets.of_members)
    corrections: Final = delegate(trio.Offsets.corrections)
    all_of_broker: Final = delegate(trio.Offsets.all_of_broker)
    delays: Final = delegate(trio.Offsets.delays)
    reset_by_time: Final = delegate(trio.Offsets.reset_by_time)
    reset_queue: Final = delegate(trio.Offsets.reset_queue)
    reset_by_time_old: Final = delegate(trio.Offsets.reset_by_time_old)
    move: Final = delegate(trio.Offsets.move)
    skip_accumulated: Final = delegate(trio.Offsets.skip_accumulated)


class Consumers(_ClusterCalls, of=trio.Consumers):
    stats: Final = delegate(trio.Consumers.stats)
    stats_of: Final = delegate(trio.Consumers.stats_of)
    connection: Final = delegate(trio.Consumers.connection)
    running_info: Final = delegate(trio.Consumers.running_info)
    running_infos: Final = delegate(trio.Consumers.running_infos)
    queue_owners: Final = delegate(trio.Consumers.queue_owners)
    time_spans: Final = delegate(trio.Consumers.time_spans)
    time_spans_of: Final = delegate(trio.Consumers.time_spans_of)
    consume_directly: Final = delegate(trio.Consumers.consume_directly)
    producer_connection: Final = delegate(trio.Consumers.producer_connection)
    producers_of: Final = delegate(trio.Consumers.producers_of)


class Messages(_ClusterCalls, of=trio.Messages):
    by_offset_id: Final = delegate(trio.Messages.by_offset_id)
    by_id: Final = delegate(trio.Messages.by_id)
    by_unique_key: Final = delegate(trio.Messages.by_unique_key)
    by_key: Final = delegate(trio.Messages.by_key)
    by_tag: Final = delegate(trio.Messages.by_tag)
    at: Final = delegate(trio.Messages.at)
    trace: Final = delegate(trio.Messages.trace)
    consume_directly: Final = delegate(trio.Messages.consume_directly)
    send_back: Final = delegate(trio.Messages.send_back)
    resume_half: Final = delegate(trio.Messages.resume_half)


class Brokers(_ClusterCalls, of=trio.Brokers):
    config: Final = delegate(trio.Brokers.config)
    update_config: Final = delegate(trio.Brokers.update_config)
    runtime_info: Final = delegate(trio.Brokers.runtime_info)
    stats: Final = delegate(trio.Brokers.stats)
    consume_stats: Final = delegate(trio.Brokers.consume_stats)
    consume_queue: Final = delegate(trio.Brokers.consume_queue)
    timer_metrics: Final = delegate(trio.Brokers.timer_metrics)
    ha_status: Final = delegate(trio.Brokers.ha_status)
    epoch_cache: Final = delegate(trio.Brokers.epoch_cache)
    reset_master_flush_offset: Final = delegate(trio.Brokers.reset_master_flush_offset)
    clean_unused_topics: Final = delegate(trio.Brokers.clean_unused_topics)
    clean_expired_queues: Final = delegate(trio.Brokers.clean_expired_queues)
    delete_expired_commit_log: Final = delegate(trio.Brokers.delete_expired_commit_log)
    cold_data_info: Final = delegate(trio.Brokers.cold_data_info)
    set_cold_data_limit: Final = delegate(trio.Brokers.set_cold_data_limit)
    set_read_ahead_mode: Final = delegate(trio.Brokers.set_read_ahead_mode)
    add_to_container: Final = delegate(trio.Brokers.add_to_container)
    remove_from_container: Final = delegate(trio.Brokers.remove_from_container)


class Stores(_Calls, of=trio.Stores):
    switch_timer_engine: Final = delegate(trio.Stores.switch_timer_engine)
    check_rocksdb_queues: Final = delegate(trio.Stores.check_rocksdb_queues)
    export_rocksdb_config: Final = delegate(trio.Stores.export_rocksdb_config)


class Exports(_ClusterCalls, of=trio.Exports):
    topics: Final = delegate(trio.Exports.topics)
    groups: Final = delegate(trio.Exports.groups)


class NameServerUpkeep(_Calls, of=trio.NameServerUpkeep):
    put_kv: Final = delegate(trio.NameServerUpkeep.put_kv)
    change_kv: Final = delegate(trio.NameServerUpkeep.change_kv)
    delete_kv: Final = delegate(trio.NameServerUpkeep.delete_kv)
    kv_value: Final = delegate(trio.NameServerUpkeep.kv_value)
    kv_namespace: Final = delegate(trio.NameServerUpkeep.kv_namespace)
    configs: Final = delegate(trio.NameServerUpkeep.configs)
    update_configs: Final = delegate(trio.NameServerUpkeep.update_configs)
    wipe_write_perm: Final = delegate(trio.NameServerUpkeep.wipe_write_perm)
    add_write_perm: Final = delegate(trio.NameServerUpkeep.add_write_perm)


class StaticTopics(_ClusterCalls, of=trio.StaticTopics):
    configs: Final = delegate(trio.StaticTopics.configs)
    create_or_update: Final = delegate(trio.StaticTopics.create_or_update)
    remap: Final = delegate(trio.StaticTopics.remap)
    carry_out: Final = delegate(trio.StaticTopics.carry_out)
    tell: Final = delegate(trio.StaticTopics.tell)
    stats: Final = delegate(trio.StaticTopics.stats)


class Users(_ClusterCalls, of=trio.Users):
    create: Final = delegate(trio.Users.create)
    update: Final = delegate(trio.Users.update)
    delete: Final = delegate(trio.Users.delete)
    get: Final = delegate(trio.Users.get)
    list: Final = delegate(trio.Users.list)
    copy: Final = delegate(trio.Users.copy)


class Acls(_ClusterCalls, of=trio.Acls):
    create: Final = delegate(trio.Acls.create)
    update: Final = delegate(trio.Acls.update)
    delete: Final = delegate(trio.Acls.delete)
    get: Final = delegate(trio.Acls.get)
    list: Final = delegate(trio.Acls.list)
    copy: Final = delegate(trio.Acls.copy)


class LiteTopics(_Calls, of=trio.LiteTopics):
    of_broker: Final = delegate(trio.LiteTopics.of_broker)
    parent: Final = delegate(trio.LiteTopics.parent)
    topic: Final = delegate(trio.LiteTopics.topic)
    client_info: Final = delegate(trio.LiteTopics.client_info)
    group: Final = delegate(trio.LiteTopics.group)
    trigger_dispatch: Final = delegate(trio.LiteTopics.trigger_dispatch)
    polling_num: Final = delegate(trio.LiteTopics.polling_num)
    export_pop_records: Final = delegate(trio.LiteTopics.export_pop_records)


class Controllers(_Calls, of=trio.Controllers):
    metadata: Final = delegate(trio.Controllers.metadata)
    leader: Final = delegate(trio.Controllers.leader)
    sync_state: Final = delegate(trio.Controllers.sync_state)
    elect_master: Final = delegate(trio.Controllers.elect_master)
    clean_broker: Final = delegate(trio.Controllers.clean_broker)
    config: Final = delegate(trio.Controllers.config)
    update_config: Final = delegate(trio.Controllers.update_config)


class _Requests(Facade):
    """The requests that one name server serves, or any."""

    route: Final = delegate(NameServerCalls.route)
    cluster_info: Final = delegate(NameServerCalls.cluster_info)
    member_group: Final = delegate(NameServerCalls.member_group)
    all_topics: Final = delegate(NameServerCalls.all_topics)
    topics_of_cluster: Final = delegate(NameServerCalls.topics_of_cluster)
    system_topics: Final = delegate(NameServerCalls.system_topics)
    unit_topics: Final = delegate(NameServerCalls.unit_topics)
    unit_subscribed_topics: Final = delegate(NameServerCalls.unit_subscribed_topics)
    unit_subscribed_other_topics: Final = delegate(NameServerCalls.unit_subscribed_other_topics)
    register_topic: Final = delegate(NameServerCalls.register_topic)
    delete_topic: Final = delegate(NameServerCalls.delete_topic)
    wipe_write_perm: Final = delegate(NameServerCalls.wipe_write_perm)
    add_write_perm: Final = delegate(NameServerCalls.add_write_perm)
    kv_value: Final = delegate(NameServerCalls.kv_value)
    kv_namespace: Final = delegate(NameServerCalls.kv_namespace)
    put_kv: Final = delegate(NameServerCalls.put_kv)
    delete_kv: Final = delegate(NameServerCalls.delete_kv)
    configuration: Final = delegate(NameServerCalls.configuration)
    update_configuration: Final = delegate(NameServerCalls.update_configuration)


class SingleNameServer(_Requests, PartOfClient, of=TrioSingleNameServer):
    call: Final = delegate(TrioSingleNameServer.call)

    def __init__(self, servers: NameServers, address: str) -> None:
        super().__init__(servers, partial(find_server, address))
        self.address = address


class NameServers(_Requests, ClientUser, of=TrioNameServers):
    call: Final = delegate(TrioNameServers.call)

    @property
    def addresses(self) -> tuple[str, ...]:
        addresses: tuple[str, ...] = self._client_in_trio.addresses
        return addresses

    @property
    def chosen(self) -> str | None:
        chosen: str | None = self._client_in_trio.chosen
        return chosen


@asynccontextmanager
async def open_name_servers(client: Client) -> AsyncGenerator[TrioNameServers]:
    async with open_or_reuse_client(client) as instance:
        yield instance.name_servers


def find_server(address: str, servers: TrioNameServers) -> TrioSingleNameServer:
    for server in servers.each():
        if server.address == address:
            return server
    raise LocalProtocolError(f"{address} is not a name server of the client any more")
