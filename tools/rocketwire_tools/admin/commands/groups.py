"""Consumer groups: ``updateSubGroup``, ``deleteSubGroup``, ``getConsumerConfig``, ``setConsumeMode``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from rocketwire.client.admin.fanout import read_from_each
from rocketwire.errors import BrokerError, DecodeError
from rocketwire.messages import decode_body, to_json
from rocketwire.messages.enums import MessageRequestMode
from rocketwire.messages.groups import GroupRetryPolicy, SubscriptionGroupConfig
from rocketwire.policy.routing import MASTER_ID
from rocketwire.policy.topic_attributes import parse_attribute_changes
from rocketwire_tools.admin.cli.exit_status import raise_if_denied
from rocketwire_tools.admin.cli.mqadmin_options import (
    BROKER,
    CLUSTER,
    GROUP,
    ONE_OF,
    admin_command,
    boolean,
    list_command,
    option,
)
from rocketwire_tools.admin.command import Column, Kind, NotFoundError, Table, UsageError
from rocketwire_tools.numbers import natural

if TYPE_CHECKING:
    from argparse import Namespace

    from rocketwire.client.admin import Admin

_GROUP: Final = "consumer groups"


async def _update(admin: Admin, wanted: Namespace) -> Table:
    policy: GroupRetryPolicy | None = GroupRetryPolicy()
    if wanted.group_retry_policy is not None:
        try:
            policy = decode_body(GroupRetryPolicy, wanted.group_retry_policy.encode())
        except DecodeError as error:
            raise UsageError(f"--group-retry-policy: {error}") from error
    config = SubscriptionGroupConfig(
        group_name=wanted.group_name,
        consume_enable=wanted.consume_enable,
        consume_from_min_enable=wanted.consume_from_min_enable,
        consume_broadcast_enable=wanted.consume_broadcast_enable,
        consume_message_orderly=wanted.consume_message_orderly,
        retry_queue_nums=wanted.retry_queue_nums,
        retry_max_times=wanted.retry_max_times,
        group_retry_policy=policy,
        broker_id=wanted.broker_id,
        which_broker_when_consume_slowly=wanted.which_broker_when_consume_slowly,
        notify_consumer_ids_changed_enable=wanted.notify_consumer_ids_changed,
        attributes=parse_attribute_changes(wanted.attributes),
    )
    done = await admin.groups.create_or_update(
        config, broker=wanted.broker_addr, cluster=wanted.cluster_name
    )
    return Table(("group", "brokerAddr"), [(wanted.group_name, address) for address in done])


async def _delete(admin: Admin, wanted: Namespace) -> Table:
    done = await admin.groups.delete(
        wanted.group_name,
        broker=wanted.broker_addr,
        cluster=wanted.cluster_name,
        clean_offset=wanted.remove_offset,
    )
    return Table(("group", "brokerAddr"), [(wanted.group_name, address) for address in done])


async def _config(admin: Admin, wanted: Namespace) -> Table:
    async def ask(address: str) -> SubscriptionGroupConfig | None:
        try:
            return (await admin.groups.configs(address)).get(wanted.group_name)
        except BrokerError as error:
            raise_if_denied(error)
            return None

    table = (await admin.clusters.info()).broker_addr_table or {}
    masters = {name: (group.broker_addrs or {}).get(MASTER_ID) for name, group in table.items()}
    places = {name: address for name, address in sorted(masters.items()) if address is not None}
    each = await read_from_each(places.values(), ask)
    found = ((name, each.get(address)) for name, address in places.items())
    rows: list[tuple[str, Any]] = [(name, to_json(one)) for name, one in found if one is not None]
    if not rows:
        raise NotFoundError(f"no such group {wanted.group_name}: no broker has it configured")
    names = list(dict.fromkeys(key for _, one in rows for key in one))
    columns = [Column("brokerName"), *(Column(name, Kind.VALUE) for name in names)]
    return Table(columns, [(name, *(one.get(key) for key in names)) for name, one in rows])


async def _mode(admin: Admin, wanted: Namespace) -> Table:
    done = await admin.groups.set_request_mode(
        wanted.group_name,
        wanted.topic,
        MessageRequestMode(wanted.mode),
        pop_share_queue_num=wanted.pop_share_queue_num,
        broker=wanted.broker_addr,
        cluster=wanted.cluster_name,
    )
    rows = [(wanted.group_name, wanted.topic, wanted.mode, address) for address in done]
    return Table(("group", "topic", "mode", "brokerAddr"), rows)


_TOPIC: Final = option("-t --topicName --topic", "name of the topic", required=True)

COMMANDS: Final = (
    admin_command(
        "updateSubGroup", "create or change a consumer group", _update, BROKER, CLUSTER, GROUP,
        option("-s --consumeEnable", "whether it may consume", type=boolean, default=True),
        option("-m --consumeFromMinEnable", "whether it may start at the oldest message", type=boolean, default=False),
        option("-d --consumeBroadcastEnable", "whether its members may each get all", type=boolean, default=False),
        option("-o --consumeMessageOrderly", "whether it consumes in order", type=boolean, default=False),
        option("-q --retryQueueNums", "queues of its retry topic", type=natural, default=1),
        option("-r --retryMaxTimes", "tries before its dead letters", type=int, default=16),
        option("-p --groupRetryPolicy", "waits between tries, as JSON"),
        option("-i --brokerId", "replica to read from", type=int, default=0),
        option("-w --whichBrokerWhenConsumeSlowly", "replica to read from when behind", type=int, default=1),
        option("-a --notifyConsumerIdsChanged", "whether members are told of changes", type=boolean, default=True),
        option("--attributes", "changes of attributes: +name=value,-name", default=""),
        group=_GROUP, one_of=ONE_OF,
    ),
    list_command(
        "updateSubGroupList", "create or change the groups in a file", SubscriptionGroupConfig, lambda admin: admin.groups.create_or_update_all,
        named=("group", lambda one: one.group_name), group=_GROUP,
    ),
    admin_command(
        "deleteSubGroup", "delete a consumer group", _delete, BROKER, CLUSTER, GROUP,
        option("-r --removeOffset", "whether its offsets go too", type=boolean, default=False),
        group=_GROUP, one_of=ONE_OF,
    ),
    admin_command(
        "getConsumerConfig", "tell how brokers have a group configured", _config, GROUP, group=_GROUP, collects=True
    ),
    admin_command(
        "setConsumeMode", "have a group pull or pop a topic", _mode, BROKER, CLUSTER, _TOPIC, GROUP,
        option("-m --mode", "how", required=True, type=str.upper, choices=("PULL", "POP")),
        option("-q --popShareQueueNum", "other members' queues that each pops too; -1 for all", type=int, default=0),
        group=_GROUP, one_of=ONE_OF,
    ),
)  # fmt: skip
