"""A message before it is stored, and its stored bytes.

Java: ``MessageExtBrokerInner``, ``MessageExtEncoder``.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from rocketwire.flags import MessageSysFlag
from rocketwire.messages import message_const as const
from rocketwire.policy.java_strings import string_hash
from rocketwire.policy.resource_names import (
    DLQ_PREFIX,
    RETRY_PREFIX,
    SYSTEM_TOPIC_PREFIX,
    lite_queue,
)
from rocketwire.wire.checksum import crc32
from rocketwire.wire.layouts.fused import MAGIC_V1, MAGIC_V2, build_stored_message
from rocketwire.wire.message.lazy_reader import StoredMessageReader
from rocketwire.wire.message.properties import encode_properties
from rocketwire.wire.message.stored import MAX_TOPIC_LENGTH_V1, StoredMessage

if TYPE_CHECKING:
    from rocketwire.wire.message.host import Host

BORN_V6: Final = int(MessageSysFlag.BORNHOST_V6)
STORE_V6: Final = int(MessageSysFlag.STOREHOSTADDRESS_V6)
_HOST_BITS: Final = BORN_V6 | STORE_V6

SENT_BY_CLIENT: Final = -1
"""``prepared_transaction_offset`` of a message that looks like a delivery, and is none."""

_WITHOUT_LMQS: Final = (RETRY_PREFIX, DLQ_PREFIX, SYSTEM_TOPIC_PREFIX)
"""Beginnings of topics whose messages are in no LMQ (Java: ``MixAll.topicAllowsLMQ``)."""

code_of_tag: Final = lru_cache(maxsize=1024)(string_hash)
"""The code of a tag that filters see; messages of a topic have few tags."""


INT: Final = 1 << 31
LONG: Final = 1 << 63


def parse_number(text: str | None, limit: int = LONG) -> int | None:
    """Return the number in a property below a limit; None if it is none (Java: ``parseLong``)."""
    if text is None:
        return None
    digits = text[1:] if text[:1] in {"-", "+"} else text
    if not (digits.isascii() and digits.isdigit() and len(digits) < 20):
        return None
    value = int(text)
    return value if -limit <= value < limit else None


@dataclass(slots=True, kw_only=True)
class Message:
    topic: str
    queue_id: int
    body: bytes | None  # the body as sent, possibly compressed
    properties: dict[str, str]
    born_host: Host
    flag: int = 0
    sys_flag: int = 0  # bits of ``MessageSysFlag``; those about addresses are set when it is stored
    born_timestamp: int = 0  # time of sending according to the producer
    reconsume_times: int = 0
    # physical offset of the half message that it ends, or ``SENT_BY_CLIENT``
    prepared_transaction_offset: int = 0
    tag_code: int | None = None  # code that filters see; None for that of its tag

    @classmethod
    def of(cls, stored: StoredMessage) -> Message:
        """Return a message that can be stored again, from one that was stored."""
        return cls(
            topic=stored.topic,
            queue_id=stored.queue_id,
            body=stored.body,
            properties=_texts(stored),
            born_host=stored.born_host,
            flag=stored.flag,
            sys_flag=stored.sys_flag,
            born_timestamp=stored.born_timestamp,
            reconsume_times=stored.reconsume_times,
            prepared_transaction_offset=stored.prepared_transaction_offset,
        )

    @property
    def tags_code(self) -> int:
        """The code that filters see (Java: ``MessageExtBrokerInner.tagsString2tagsCode``)."""
        if self.tag_code is not None:
            return self.tag_code
        tag = self.properties.get(const.TAGS)
        return code_of_tag(tag) if tag else 0

    def lmq(self) -> str | None:
        """Return the LMQ that has the message, too, because it is of a lite topic.

        A broker names it in a property when it takes the message. While the message waits in a
        system topic, it is in no LMQ (Java: ``MessageExtBrokerInner.needDispatchLMQ``).
        """
        lite_topic = self.properties.get(const.LITE_TOPIC)
        if not lite_topic or self.topic.startswith(_WITHOUT_LMQS):
            return None
        name = lite_queue(self.topic, lite_topic)
        return name if self.properties.get(const.INNER_MULTI_DISPATCH) == name else None

    def set_lmq_offset(self, offset: int) -> None:
        """Set the message's offset in its LMQ, which consumers read in a property."""
        self.properties[const.INNER_MULTI_QUEUE_OFFSET] = str(offset)

    def encode(
        self, queue_offset: int, physical_offset: int, store_host: Host, store_timestamp: int
    ) -> bytes:
        body, topic = self.body or None, self.topic
        sys_flag = self.sys_flag & ~_HOST_BITS
        if len(self.born_host[0]) == 16:
            sys_flag |= BORN_V6
        if len(store_host[0]) == 16:
            sys_flag |= STORE_V6
        born_address, born_port = self.born_host
        store_address, store_port = store_host
        return build_stored_message(
            (
                MAGIC_V1 if len(topic) <= MAX_TOPIC_LENGTH_V1 else MAGIC_V2,
                crc32(body),
                self.queue_id,
                self.flag,
                queue_offset,
                physical_offset,
                sys_flag,
                self.born_timestamp,
                born_address,
                born_port,
                store_timestamp,
                store_address,
                store_port,
                self.reconsume_times,
                self.prepared_transaction_offset,
                body,
                topic,
                encode_properties(self.properties) or None,
            )
        )


def read_stored(record: bytes) -> StoredMessage:
    return StoredMessageReader(decompress=False).decode(record)[0]


def _texts(stored: StoredMessage) -> dict[str, str]:
    return {name: value for name, value in (stored.properties or {}).items() if value is not None}
