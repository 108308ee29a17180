"""Requests of every code for a broker, plausible and damaged, the same for the same seed."""

import dataclasses
import json
from enum import Enum
from types import UnionType
from typing import Any, Final, Union, cast, get_args, get_origin, get_type_hints

from rocketwire.codes import SerializeType
from rocketwire.errors import EncodeError
from rocketwire.messages._codec.fields import ext_fields_of
from rocketwire.messages.operations.registry import OPERATIONS
from rocketwire.wire.command import RemotingCommand, encode
from rocketwire.wire.message.batch import BatchMessage, encode_batch
from rocketwire_broker.handlers.requests import REQUESTS
from tests.fuzz.chance import Chance

CODES: Final = (*sorted(REQUESTS), 0, 105, 9999)
OFTEN: Final = (310, 310, 320, 11, 200050, 200051, 200151, 200053, 34, 36, 37, 15, 222, 17)
"""Codes that change most."""

ODD: Final = 24
"""One of this number of values is invalid, or missing."""

RARE: Final = ("lite_topic", "ns", "nsd", "bname", "oway", "lo", "attributes", "suspend")
"""Fields that most requests lack."""

TOPICS: Final = (
    *("orders", "orders", "orders", "orders", "stock", "%RETRY%g", "%RETRY%g_orders", "%DLQ%g"),
    *("TBW102", "SCHEDULE_TOPIC_XXXX", "RMQ_SYS_TRANS_HALF_TOPIC", "rmq_sys_wheel_timer"),
)
GROUPS: Final = ("g", "g", "g", "h", "CID_RMQ_SYS_TRANS", "%RETRY%g")
NUMBERS: Final = ("0", "0", "0", "1", "1", "2", "3", "32")
TIMES: Final = ("0", "10000", "60000", "1700000000000", "1700000060000", "1700999999999")
ODD_TEXTS: Final = (
    *("-1", "7", "2147483647", "2147483648", "9223372036854775807", "-9223372036854775808", "x"),
    *("", " ", "1.5", "a b", "x" * 300, "\ud800", "true", "null", "*", "@", "%RETRY%", "0 0 0"),
)
PROPERTIES: Final = (
    *("", "KEYS\x01k\x02", "TAGS\x01t\x02", "UNIQ_KEY\x01AC1100010000\x02", "DELAY\x013\x02"),
    *("DELAY\x0199\x02", "TIMER_DELAY_SEC\x015\x02", "TIMER_DELIVER_MS\x011700000100000\x02"),
    *("TRAN_MSG\x01true\x02PGROUP\x01p\x02", "_SYS_MSG_PRIORITY_\x013\x02", "a\x011\x02TAGS\x01a\x02"),
    *("CORRELATION_ID\x01c\x02REPLY_TO_CLIENT\x01c1\x02MSG_TYPE\x01reply\x02",),
)  # fmt: skip
ODD_PROPERTIES: Final = (
    *("DELAY\x01x\x02", "TIMER_DELIVER_MS\x01-1\x02", "TIMER_DELAY_MS\x0199999999999999\x02"),
    *("__STARTDELIVERTIME\x011\x02", "CHECK_IMMUNITY_TIME_IN_SECONDS\x01x\x02", "\x01\x02", "a\x01"),
    *("\ud800\x01b\x02", "REAL_TOPIC\x01stock\x02REAL_QID\x019\x02", "RETRY_TOPIC\x01%RETRY%h\x02"),
    *("INNER_MULTI_DISPATCH\x01%LMQ%a,%LMQ%b\x02", "CLUSTER\x01c\x02", "POP_CK\x01x\x02", "k" * 40_000),
    *("_SYS_MSG_PRIORITY_\x01x\x02", "TIMER_OUT_MS\x01x\x02", "TIMER_DEL_UNIQKEY\x01x\x02"),
)  # fmt: skip
HANDLES: Final = (
    "0 1700000000000 60000 0 0 broker-a 0 0",
    "0 1700000000000 60000 999 0 broker-a 0 0",
    "0 1700000000000 60000 0 1 broker-a 0 0",
)
EXPRESSIONS: Final = ("*", "t", "a || b", "a > 5", "TAGS is not null and a between 1 and 3")
BATCH: Final = encode_batch([BatchMessage(body=b"x"), BatchMessage(body=b"y")])
_BY_NAME: Final = (
    (("properties", "i"), PROPERTIES),
    (("topic", "origin_topic", "b", "real_topic"), TOPICS),
    (("default_topic", "c"), ("TBW102",)),
    (("consumer_group", "group", "group_name", "producer_group", "a", "g", "src_group"), GROUPS),
    (("extra_info",), HANDLES),
    (("born_timestamp", "timestamp", "born_time", "begin_timestamp"), TIMES[3:]),
    (("invisible_time", "poll_time", "end_timestamp", "suspend_timeout_millis"), TIMES),
    (("subscription", "exp", "sub_string"), EXPRESSIONS),
    (("expression_type", "exp_type"), ("TAG", "SQL92")),
    (("client_id", "unique_client_id"), ("c1", "c2")),
    (("queue_id", "q", "e"), ("0", "0", "0", "1", "-1")),
    (("sys_flag", "f"), ("0", "0", "2", "4", "6", "8")),
    (("attributes",), ("+message.type=FIFO", "-message.type", "+a=b")),
    (("commit_or_rollback",), ("8", "12", "0")),
    (("topic_filter_type",), ("SINGLE_TAG",)),
    (("order", "batch", "unit_mode", "from_transaction_check", "is_force"), ("false", "true")),
    (("message_model",), ("CLUSTERING", "BROADCASTING")),
    (("consume_type",), ("CONSUME_PASSIVELY",)),
    (("mode",), ("POP", "PULL")),
    (("perm", "read_queue_nums", "write_queue_nums", "default_topic_queue_nums", "d"), ("4", "6")),
)


ODD_VALUES: Final[tuple[Any, ...]] = (None, -1, 1 << 63, 1.5, "x", (), {}, True, "\ud800")
_SPECIAL: Final[dict[str, tuple[Any, ...]]] = {
    "bit_set": ("AQ==", "Aw==", "////"),
    "sub_version": (0, 1),
    "class_filter_mode": (False,),
}


class BrokerRequests:
    def __init__(self, chance: Chance) -> None:
        self._chance = chance

    def next(self, opaque: int) -> bytes:
        chance = self._chance
        code = chance.choice(CODES if chance.below(3) == 0 else OFTEN)
        operation = OPERATIONS.get(code)
        command = RemotingCommand(
            code=code,
            opaque=opaque,
            flag=2 if chance.below(20) == 0 else 0,
            ext_fields=self._fields(None if operation is None else operation.request_header),
            body=self._body(code, None if operation is None else operation.request_body),
            serialize_type=chance.choice((SerializeType.JSON, SerializeType.ROCKETMQ)),
        )
        try:
            frame = encode(command)
        except EncodeError:
            return encode(RemotingCommand(code=code, opaque=opaque))
        return chance.damage(frame) if chance.below(40) == 0 else frame

    def _fields(self, header: type[Any] | None) -> dict[str, str] | None:
        if header is None:
            return None if self._chance.below(2) else {"topic": "orders", "group": "g"}
        fields: dict[str, str] = {}
        for name, field in ext_fields_of(header).items():
            if (self._chance.below(ODD) == 0) == (name in RARE):
                fields[field.wire] = self._text(name)
        return fields

    def _text(self, name: str) -> str:
        chance = self._chance
        if chance.below(ODD) == 0:
            kinds = (ODD_PROPERTIES, ODD_TEXTS, (chance.text(),), TOPICS, GROUPS)
            return chance.choice(chance.choice(kinds))
        for names, texts in _BY_NAME:
            if name in names:
                return chance.choice(texts)
        return chance.choice(NUMBERS)

    def _body(self, code: int, cls: object) -> bytes | None:
        chance = self._chance
        if chance.below(ODD) == 0:
            return chance.choice((None, b"", chance.data(300), b"{}", b"[]", b"null", b"x" * 5_000))
        if code == 320 and chance.below(2):
            return BATCH
        if not isinstance(cls, type) or not dataclasses.is_dataclass(cls):
            return b"body" * (1 + chance.below(20))
        return json.dumps(self._members(cls, 4)).encode("utf-8", "surrogatepass")

    def _members(self, cls: type[Any], depth: int) -> dict[str, Any]:
        members: dict[str, Any] = {}
        hints = get_type_hints(cls)
        for field in dataclasses.fields(cls):
            if self._chance.below(ODD):
                wire = getattr(field.metadata.get("member"), "wire", None)
                members[wire or _camel(field.name)] = self._value(
                    field.name, hints[field.name], depth
                )
        return members

    def _value(self, name: str, hint: Any, depth: int) -> Any:
        chance = self._chance
        if chance.below(ODD) == 0 or depth == 0:
            return chance.choice(ODD_VALUES)
        if name in _SPECIAL:
            return chance.choice(_SPECIAL[name])
        arguments = [
            argument for argument in get_args(hint) if argument not in {type(None), Ellipsis}
        ]
        if arguments:
            return self._container(name, get_origin(hint), arguments, depth)
        if dataclasses.is_dataclass(hint):
            return self._members(cast("type[Any]", hint), depth - 1)
        if hint is bool:
            return chance.choice((True, False))
        if hint is int:
            return chance.choice((0, 0, 1, 3, 1_700_000_000_000))
        if isinstance(hint, type) and issubclass(hint, Enum):
            return chance.choice(list(hint)).name
        return self._text(name)

    def _container(self, name: str, origin: Any, arguments: list[Any], depth: int) -> Any:
        if origin in {Union, UnionType}:
            return self._value(name, arguments[0], depth)
        count = range(1 + self._chance.below(3))
        if len(arguments) == 2:
            return {self._text("topic"): self._value(name, arguments[1], depth - 1) for _ in count}
        return [self._value(name, arguments[0], depth - 1) for _ in count]


def _camel(name: str) -> str:
    first, *following = name.split("_")
    return first + "".join(word.capitalize() for word in following)
