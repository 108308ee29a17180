"""Topics, members of groups, and transactions of producers, at a broker without sockets."""

from typing import Any

from rocketwire.codes import RequestCode
from rocketwire.flags import MessageSysFlag
from rocketwire.messages.enums import ConsumeFromWhere, MessageModel
from rocketwire.messages.heartbeat import ConsumerData, HeartbeatData, ProducerData
from rocketwire.policy.subscription import subscription_data
from rocketwire.wire.command import RemotingCommand
from tests.support.broker import Client

HALF_TOPIC = "RMQ_SYS_TRANS_HALF_TOPIC"
ABANDONED_TOPIC = "TRANS_CHECK_MAX_TIME_TOPIC"


def create_topic(client: Client, name: str, queues: int = 4, **changes: object) -> RemotingCommand:
    fields: dict[str, object] = {
        "topic": name,
        "defaultTopic": "TBW102",
        "readQueueNums": queues,
        "writeQueueNums": queues,
        "perm": 6,
        "topicFilterType": "SINGLE_TAG",
        "topicSysFlag": 0,
        "order": False,
    }
    return client.call(RequestCode.UPDATE_AND_CREATE_TOPIC, {**fields, **changes})


def join_readers(
    client: Client,
    *topics: str,
    client_id: str = "c",
    where: ConsumeFromWhere = ConsumeFromWhere.CONSUME_FROM_LAST_OFFSET,
    **members: Any,
) -> RemotingCommand:
    """Send the heartbeat of a consumer of the group ``readers``, with further members."""
    consumer = ConsumerData(
        group_name="readers",
        message_model=MessageModel.CLUSTERING,
        consume_from_where=where,
        subscription_data_set=tuple(subscription_data(topic, version=1) for topic in topics),
    )
    beat = HeartbeatData(client_id=client_id, consumer_data_set=(consumer,), **members)
    return client.call(RequestCode.HEART_BEAT, {}, beat)


def join_producers(client: Client, client_id: str, group: str = "p") -> None:
    beat = HeartbeatData(client_id=client_id, producer_data_set=(ProducerData(group_name=group),))
    client.call(RequestCode.HEART_BEAT, {}, beat)


def send_half(client: Client, key: str = "KEY1", **changes: Any) -> RemotingCommand:
    properties = {"TRAN_MSG": "true", "PGROUP": "p", "UNIQ_KEY": key}
    properties |= changes.pop("properties", {})
    return client.send(properties=properties, **changes)


def end_transaction(client: Client, offset: int, position: int, **changes: object) -> int:
    """Commit the half message at an offset and a position of the log; return the code."""
    fields: dict[str, object] = {
        "producerGroup": "p",
        "tranStateTableOffset": offset,
        "commitLogOffset": position,
        "commitOrRollback": MessageSysFlag.TRANSACTION_COMMIT,
    }
    return client.call(RequestCode.END_TRANSACTION, {**fields, **changes}).code
