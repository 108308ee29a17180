"""Responses to producers and of a live broker, recorded with the broker's store.

Rules of this file: a fact is taken from the broker, never from the store's files.  The classes have
a form in JSON, so that a store on disk carries its truth with it.  Digests are the first 16
hexadecimal digits of SHA-256.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

DIGEST_DIGITS = 16


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:DIGEST_DIGITS]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    topic: str
    queue_id: int  #: the queue that the broker answered with
    queue_offset: int  #: its offset there; of a message in a client batch its own
    offset_msg_id: str  #: the id that the broker answered with
    unique_key: str = ""  #: the sender's id; empty if the message has none
    keys: tuple[str, ...] = ()
    tags: str | None = None
    flag: int = 0
    #: all properties that the sender set, without the unique key and ``WAIT``
    properties: Mapping[str, str] = field(default_factory=dict[str, str])
    body_size: int  #: length of the body before compression
    body_digest: str  #: digest of the body before compression
    born_from: int  #: earliest time that the born timestamp can be, in milliseconds
    born_to: int  #: latest time that it can be
    #: ``single``, ``batch`` (client batch), ``inner`` (batch that stays one on disk), ``raw`` (a
    #: request that Java's clients do not send), ``half`` (transaction), ``delayed`` (by level),
    #: ``timer``.  For the last three ``queue_id`` is where the message goes at last, and
    #: ``queue_offset`` and ``offset_msg_id`` are those in the broker's own topic.
    how: str = "single"
    #: for a transaction ``commit``, ``rollback`` or ``open``; for a delayed message ``delivered``,
    #: ``pending`` or ``recalled``; for others empty
    outcome: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pulled:
    """A message in the answer to a pull; fields as brokers name them."""

    queue_offset: int
    physical_offset: int
    size: int
    digest: str
    magic: int  #: the number of its layout
    topic: str
    queue_id: int
    flag: int
    sys_flag: int
    body_crc: int
    body_size: int  #: length of the body as stored
    body_digest: str  #: digest of the body as stored
    properties: Mapping[str, str]  #: the last value of each name
    born_timestamp: int
    born_host: str
    store_timestamp: int
    store_host: str
    reconsume_times: int
    prepared_transaction_offset: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    index: int  #: its number, which is the queue offset; not in a queue of batches
    physical_offset: int
    size: int
    tags_code: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Queue:
    topic: str
    queue_id: int
    min_offset: int  #: answer to code 31
    max_offset: int  #: answer to code 30
    earliest_store_time: int  #: answer to code 32; -1 if there is no message
    #: everything that pulls of the queue return, from ``min_offset`` on
    messages: tuple[Pulled, ...]
    #: entries of the consume queue; empty where the broker does not answer code 321
    units: tuple[Unit, ...]
    #: pairs of a timestamp and the offset that code 29 answers for it
    by_time: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Lookup:
    topic: str
    key: str
    index: str  #: ``K`` for a key, ``U`` for a unique key, ``T`` for a tag (5.5.0)
    #: of the messages in the answer, in its order; the broker compares hash codes, so other
    #: messages are possible
    physical_offsets: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Truth:
    """Everything that is sure about a store without a look into it."""

    release: str
    kind: str
    settings: Mapping[str, str]  #: of the broker, as far as they are not the defaults
    stop: str  #: how the broker ended: ``clean`` or ``killed``
    #: the broker that answered: ``same``, the broker that wrote the store, before it ended;
    #: ``restarted``, a broker of the same release that was started on a copy of the store
    live: str
    sent: tuple[Sent, ...]
    topics: tuple[str, ...]  #: the topics that the test made or that brokers made for it
    deleted_topics: tuple[str, ...] = ()  #: of these the ones that were deleted later
    queues: tuple[Queue, ...]  #: the live broker's response for each queue
    lookups: tuple[Lookup, ...] = ()  #: its responses by key
    #: its responses by offset message id: the digest of the stored message
    by_id: Mapping[str, str] = field(default_factory=dict[str, str])
    #: ``topic@group`` to queue to next offset
    consumer_offsets: Mapping[str, Mapping[int, int]] = field(
        default_factory=dict[str, "Mapping[int, int]"]
    )
    #: delay level to next offset
    delay_offsets: Mapping[int, int] = field(default_factory=dict[int, int])
    #: facts of this kind of store alone
    notes: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def queue(self, topic: str, queue_id: int) -> Queue:
        for queue in self.queues:
            if (queue.topic, queue.queue_id) == (topic, queue_id):
                return queue
        raise LookupError(f"no queue {queue_id} of {topic}")

    @property
    def pulled(self) -> tuple[Pulled, ...]:
        messages = (message for queue in self.queues for message in queue.messages)
        return tuple(sorted(messages, key=lambda message: message.physical_offset))


def save(truth: Truth, path: Path) -> None:
    path.write_bytes(msgspec.json.encode(truth))


def load(path: Path) -> Truth:
    return msgspec.json.decode(path.read_bytes(), type=Truth)
