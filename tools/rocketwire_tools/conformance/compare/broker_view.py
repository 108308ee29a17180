"""What must be equal in the responses of two brokers.

Positions in the commit log, times, ports and generated ids cannot be equal, and neither can the
offsets in topics that all clients share: only their presence is compared. The text of an exception
is free.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, cast

from rocketwire_tools.conformance.run.saved import message_values

if TYPE_CHECKING:
    from collections.abc import Mapping

# Request codes whose responses also have data of others.
SHARED_LISTS: Final = frozenset({21, 26, 28, 43, 45, 201, 305, 317, 328, 402, 200_074})

_PRESENT: Final = "present"
# Members and fields of which only the presence is compared.
_VARIABLE: Final = frozenset(
    (
        *("msgId", "transactionId", "popTime", "recallHandle", "offsetMsgId", "version"),
        *("commitLogOffset", "tranStateTableOffset", "storeTimestamp", "bornHost", "storeHost"),
        *("indexLastUpdateTimestamp", "indexLastUpdatePhyoffset", "reviveQid"),
        *("totalTopicNum", "totalGroupNum", "timestamp", "bornTimestamp", "storeSize", "id"),
        *("preparedTransactionOffset", "lastUpdateTimestamp", "lastTimestamp", "physicOffset"),
        *("physicSize", "earliestMsgTimestamp", "counter", "stateVersion", "clientAddr"),
        *("brokerAddr", "suggestWhichBrokerId", "bodyCRC", "remoteIP", "pt"),
        *("UNIQ_KEY", "__transactionId__", "ORIGIN_MESSAGE_ID", "1ST_POP_TIME", "POP_CK"),
        *("TRAN_PREPARED_QUEUE_OFFSET", "TIMER_OUT_MS", "TIMER_ENQUEUE_MS", "TIMER_DEQUEUE_MS"),
        *("TIMER_DELIVER_MS", "TRANSACTION_CHECK_TIMES", "commitLogMaxOffset"),
        *("masterCommitLogMaxOffset", "delayTime", "consumeTps", "topicPutTps", "lmqNum"),
    )
)
# The same for ext fields: topics of delays are shared, and pushed properties have a time.
_VARIABLE_FIELDS: Final = _VARIABLE | {"queueOffset", "properties"}
_EXCEPTION: Final = "an exception"
# Codes whose remarks may be texts of exceptions.
_FREE_TEXTS: Final = frozenset({1, 23})
_ADDRESS: Final = re.compile(r"\d+\.\d+\.\d+\.\d+:\d+")
_LONG_NUMBER: Final = re.compile(r"\d{11,}")
_THROWN: Final = re.compile(r"java\.|com\.|org\.|[Ee]xception|Error|custom field|input string|null")


def remark_view(code: int, remark: str | None) -> str | None:
    """A remark without addresses and times; that of an error 1 may be any exception text."""
    if code in _FREE_TEXTS and remark is not None and _THROWN.search(remark):
        return _EXCEPTION
    if not remark or remark == "not set any response code":  # a leftover of successes
        return None
    return mask(remark)


def same_remarks(first: object, second: object) -> bool:
    return first == second or _EXCEPTION in {first, second}


def mask(text: str) -> str:
    return _LONG_NUMBER.sub("NUMBER", _ADDRESS.sub("ADDRESS", text))


def ext_view(fields: Mapping[str, str] | None) -> dict[str, object] | None:
    if not fields:
        return None
    return {
        name: _PRESENT if name in _VARIABLE_FIELDS else mask(text) for name, text in fields.items()
    }


def json_view(value: object) -> object:
    if isinstance(value, dict):
        members = cast("dict[str, object]", value)
        return {
            mask(key): _PRESENT if key in _VARIABLE else json_view(inner)
            for key, inner in members.items()
        }
    if isinstance(value, list):
        return [json_view(inner) for inner in cast("list[object]", value)]
    if isinstance(value, str):
        return mask(value)
    if isinstance(value, int) and not isinstance(value, bool) and value > 10**10:
        return "NUMBER"
    return value


def messages_view(body: bytes) -> object:
    """The messages of a body; raises ``DecodeError`` if it has none."""
    return json_view(message_values(body))
