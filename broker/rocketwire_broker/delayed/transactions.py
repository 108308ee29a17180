"""Transactions: half messages, and checks of those whose producer has not decided.

Java: ``TransactionalMessageBridge``, ``TransactionalMessageServiceImpl``,
``AbstractTransactionalMessageCheckListener``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rocketwire.codes import RequestCode, ResponseCode
from rocketwire.flags import MessageSysFlag
from rocketwire.messages import message_const as const
from rocketwire.policy.resource_names import HALF_TOPICS, OP_TOPICS
from rocketwire_broker.delayed.delays import restore_message
from rocketwire_broker.state.response import RefusedError
from rocketwire_broker.storage.message import INT, Message, parse_number, read_stored

if TYPE_CHECKING:
    from rocketwire_broker.state.broker import Broker
    from rocketwire_broker.storage.store import StoredPosition
    from rocketwire_broker.tables.members import Member
    from rocketwire_broker.tables.waiting import Transaction

HALF_TOPIC: Final = HALF_TOPICS[0]
OP_TOPIC: Final = OP_TOPICS[0]
GIVEN_UP_TOPIC: Final = "TRANS_CHECK_MAX_TIME_TOPIC"
GROUP: Final = "CID_RMQ_SYS_TRANS"  # group whose offsets show how far transactions are decided

ENDED_TAG: Final = "d"
"""Tag of a message of decisions (Java: ``TransactionalMessageUtil.REMOVE_TAG``)."""
WRITE_MS: Final = 3_000
"""Time after which decisions are written (Java: ``transactionOpBatchInterval``)."""
WRITTEN_AT_ONCE: Final = 512  # decisions that one message holds

_NO_TYPE: Final = ~int(MessageSysFlag.TRANSACTION_MASK)


def is_half(message: Message) -> bool:
    properties = message.properties
    if properties.get(const.TRANSACTION_PREPARED, "").lower() != "true":
        return False
    # a consumer sends a message of an ended transaction back with a delay
    return not (
        message.reconsume_times > 0 and (parse_number(properties.get(const.DELAY)) or 0) > 0
    )


def prepare(broker: Broker, message: Message, now: int) -> StoredPosition:
    if broker.config.reject_transactions:
        remark = f"the broker[{broker.config.broker_ip}] sending transaction message is forbidden"
        raise RefusedError(ResponseCode.NO_PERMISSION, remark)
    properties = message.properties
    properties.pop(const.DELAY, None)
    if const.UNIQ_KEY in properties:
        properties[const.TRANSACTION_ID] = properties[const.UNIQ_KEY]
    properties[const.REAL_TOPIC] = message.topic
    properties[const.REAL_QUEUE_ID] = str(message.queue_id)
    message.sys_flag &= _NO_TYPE
    return put_half(broker, message, now)


def put_half(
    broker: Broker, message: Message, now: int, transaction: Transaction | None = None
) -> StoredPosition:
    """Store a half message, the first one of a transaction or a further one of ``transaction``."""
    message.topic, message.queue_id = HALF_TOPIC, 0
    position = broker.put(message, now)
    if transaction is None:
        broker.half_messages.open(position.queue_offset)
    else:
        broker.half_messages.move(transaction, position.queue_offset)
    _schedule_checks(broker, now)
    return position


def end(broker: Broker, transaction: Transaction, now: int) -> None:
    """End a transaction; its decision is written a little later."""
    half_messages = broker.half_messages
    half_messages.end(transaction)
    if len(half_messages.unwritten) >= WRITTEN_AT_ONCE:
        write_decisions(broker, now)
    else:
        broker.schedule.run_by(
            "decisions", now + WRITE_MS, lambda now: write_decisions(broker, now)
        )


def write_decisions(broker: Broker, now: int) -> None:
    """Write decisions to their topic, and commit the offsets up to which all are decided."""
    half_messages, store = broker.half_messages, broker.store
    if half_messages.unwritten:
        body = "".join(f"{offset}," for offset in half_messages.unwritten)
        properties = {const.TAGS: ENDED_TAG, const.UNIQ_KEY: broker.new_unique_key(now)}
        message = Message(
            topic=OP_TOPIC,
            queue_id=0,
            body=body.encode(),
            properties=properties,
            born_host=store.store_host,
            born_timestamp=now,
        )
        broker.put(message, now)
        half_messages.unwritten.clear()
    half_messages.forget(store.min_offset(HALF_TOPIC, 0))
    first = half_messages.first_undecided
    decided = store.max_offset(HALF_TOPIC, 0) if first is None else first
    broker.offsets.commit(GROUP, HALF_TOPIC, 0, decided, now)
    broker.offsets.commit(GROUP, OP_TOPIC, 0, store.max_offset(OP_TOPIC, 0), now)


def resume(broker: Broker, now: int) -> None:
    if broker.half_messages.unwritten:
        broker.schedule.run_by("decisions", now, lambda now: write_decisions(broker, now))
    if broker.half_messages.first_undecided is not None:
        _schedule_checks(broker, now)


def _schedule_checks(broker: Broker, now: int) -> None:
    # at the next multiple of the interval since the start
    interval = max(1, broker.config.transaction_check_ms)
    rounds = (now - broker.started) // interval + 1
    due = broker.started + rounds * interval
    broker.schedule.run_by("transaction checks", due, lambda now: _check_all(broker, now))


def _check_all(broker: Broker, now: int) -> None:
    half_messages = broker.half_messages
    half_messages.forget(broker.store.min_offset(HALF_TOPIC, 0))
    for transaction in half_messages.open_transactions():
        _check(broker, transaction, now)
    write_decisions(broker, now)
    if half_messages.first_undecided is not None:
        _schedule_checks(broker, now)


def _check(broker: Broker, transaction: Transaction, now: int) -> None:
    queue = broker.store.queue(HALF_TOPIC, 0)
    record = None if queue is None else queue.record(transaction.offset)
    if record is None:
        return
    message = Message.of(read_stored(record))
    age = now - message.born_timestamp
    checks = parse_number(message.properties.get(const.TRANSACTION_CHECK_TIMES), INT) or 0
    if checks >= broker.config.transaction_check_max:
        _give_up(broker, transaction, message, now)
        return
    message.properties[const.TRANSACTION_CHECK_TIMES] = str(checks + 1)
    if age > broker.config.retain_hours * 3_600_000:
        _give_up(broker, transaction, message, now)
    elif age < 0 or age > immunity_ms(broker, message):
        flag = message.flag
        position = _put_again(broker, transaction, message, now)
        if position is not None:
            _ask(broker, position, flag, now)
    elif const.CHECK_IMMUNITY_TIME_IN_SECONDS in message.properties:
        # Java counts this as a check, too
        message.properties.setdefault(
            const.TRANSACTION_PREPARED_QUEUE_OFFSET, str(transaction.offset)
        )
        _put_again(broker, transaction, message, now)


def _put_again(
    broker: Broker, transaction: Transaction, message: Message, now: int
) -> StoredPosition | None:
    message.flag = message.reconsume_times = 0  # Java loses them
    position = broker.put_if_it_fits(message, now)
    if position is None:
        end(broker, transaction, now)
    else:
        broker.half_messages.move(transaction, position.queue_offset)
    return position


def immunity_ms(broker: Broker, message: Message) -> int:
    """Return the age of a half message before which its producer is not asked."""
    seconds = parse_number(message.properties.get(const.CHECK_IMMUNITY_TIME_IN_SECONDS))
    if seconds is None or seconds == -1:
        return broker.config.transaction_timeout_ms
    return seconds * 1_000


def _give_up(broker: Broker, transaction: Transaction, message: Message, now: int) -> None:
    broker.topics.create_for_group(GIVEN_UP_TOPIC, 1, now)
    message.topic, message.queue_id = GIVEN_UP_TOPIC, 0
    broker.put_if_it_fits(message, now)
    end(broker, transaction, now)
    transaction.given_up = True


def _ask(broker: Broker, position: StoredPosition, flag: int, now: int) -> None:
    # the message has the flag of the last copy
    record = broker.store.record_at(position.physical_offset)
    if record is None:  # too large to be kept
        return
    message = restore_message(record)
    message.flag = flag
    producer = _next_producer(broker, message.properties.get(const.PRODUCER_GROUP, ""))
    if producer is None:
        return
    message.properties[const.WAIT] = "false"
    unique_key = message.properties.get(const.UNIQ_KEY, "")
    fields = {
        "topic": HALF_TOPIC,
        "tranStateTableOffset": str(position.queue_offset),
        "commitLogOffset": str(position.physical_offset),
        "msgId": unique_key,
        "transactionId": unique_key,
        "offsetMsgId": broker.message_id(position.physical_offset),
        "bname": broker.config.broker_name,
    }
    body = message.encode(
        position.queue_offset, position.physical_offset, broker.store.store_host, now
    )
    broker.notify(producer.peer, RequestCode.CHECK_TRANSACTION_STATE, fields, body)


def _next_producer(broker: Broker, group: str) -> Member | None:
    members = list(broker.members.producers_of(group).values())
    if not members:
        return None
    broker.half_messages.next_producer += 1
    return members[broker.half_messages.next_producer % len(members)]
