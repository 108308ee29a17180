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
    """The digest of some bytes, as the truth has it."""
    return hashlib.sha256(data).hexdigest()[:DIGEST_DIGITS]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """A message that a broker acknowledged.

    Attributes:
        queue_id: the queue that the broker answered with.
        queue_offset: its offset there; of a message in a client batch its own.
        offset_msg_id: the id that the broker answered with.
        unique_key: the sender's id; empty if the message has none.
        properties: all properties that the sender set, without the unique key and ``WAIT``.
        body_size: length of the body before compression.
        body_digest: digest of the body before compression.
        born_from: earliest time that the born timestamp can be, in milliseconds.
        born_to: latest time that it can be.
        how: ``single``, ``batch`` (client batch), ``inner`` (batch that stays one on disk), ``raw``
            (a request that Java's clients do not send), ``half`` (transaction), ``delayed`` (by
            level), ``timer``.  For the last three ``queue_id`` is where the message goes at last,
            and ``queue_offset`` and ``offset_msg_id`` are those in the broker's own topic.
        outcome: for a transaction ``commit``, ``rollback`` or ``open``; for a delayed message
            ``delivered``, ``pending`` or ``recalled``; for others empty.
    """

    topic: str
    queue_id: int
    queue_offset: int
    offset_msg_id: str
    unique_key: str = ""
    keys: tuple[str, ...] = ()
    tags: str | None = None
    flag: int = 0
    properties: Mapping[str, str] = field(default_factory=dict[str, str])
    body_size: int
    body_digest: str
    born_from: int
    born_to: int
    how: str = "single"
    outcome: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pulled:
    """A message in the answer to a pull; fields as brokers name them.

    Attributes:
        magic: the number of its layout.
        body_size: length of the body as stored.
        body_digest: digest of the body as stored.
        properties: the last value of each name.
    """

    queue_offset: int
    physical_offset: int
    size: int
    digest: str
    magic: int
    topic: str
    queue_id: int
    flag: int
    sys_flag: int
    body_crc: int
    body_size: int
    body_digest: str
    properties: Mapping[str, str]
    born_timestamp: int
    born_host: str
    store_timestamp: int
    store_host: str
    reconsume_times: int
    prepared_transaction_offset: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """An entry of a consume queue, as code 321 answers it.

    Attributes:
        index: its number, which is the queue offset; not in a queue of batches.
    """

    index: int
    physical_offset: int
    size: int
    tags_code: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Queue:
    """A queue of the broker's with at least one message, or of a topic that the test made.

    Attributes:
        min_offset: answer to code 31.
        max_offset: answer to code 30.
        earliest_store_time: answer to code 32; -1 if there is no message.
        messages: everything that pulls of the queue return, from ``min_offset`` on.
        units: entries of the consume queue; empty where the broker does not answer code 321.
        by_time: pairs of a timestamp and the offset that code 29 answers for it.
    """

    topic: str
    queue_id: int
    min_offset: int
    max_offset: int
    earliest_store_time: int
    messages: tuple[Pulled, ...]
    units: tuple[Unit, ...]
    by_time: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Lookup:
    """A query by key, unique key or tag (code 12).

    Attributes:
        index: ``K`` for a key, ``U`` for a unique key, ``T`` for a tag (5.5.0).
        physical_offsets: of the messages in the answer, in its order; the broker compares hash
            codes, so other messages are possible.
    """

    topic: str
    key: str
    index: str
    physical_offsets: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Truth:
    """Everything that is sure about a store without a look into it.

    Attributes:
        settings: of the broker, as far as they are not the defaults.
        stop: how the broker ended: ``clean`` or ``killed``.
        live: the broker that answered: ``same``, the broker that wrote the store, before it ended;
            ``restarted``, a broker of the same release that was started on a copy of the store.
        topics: the topics that the test made or that brokers made for it.
        deleted_topics: of these the ones that were deleted later.
        queues: the live broker's response for each queue.
        lookups: its responses by key.
        by_id: its responses by offset message id: the digest of the stored message.
        consumer_offsets: ``topic@group`` to queue to next offset.
        delay_offsets: delay level to next offset.
        notes: facts of this kind of store alone.
    """

    release: str
    kind: str
    settings: Mapping[str, str]
    stop: str
    live: str
    sent: tuple[Sent, ...]
    topics: tuple[str, ...]
    deleted_topics: tuple[str, ...] = ()
    queues: tuple[Queue, ...]
    lookups: tuple[Lookup, ...] = ()
    by_id: Mapping[str, str] = field(default_factory=dict[str, str])
    consumer_offsets: Mapping[str, Mapping[int, int]] = field(
        default_factory=dict[str, "Mapping[int, int]"]
    )
    delay_offsets: Mapping[int, int] = field(default_factory=dict[int, int])
    notes: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def queue(self, topic: str, queue_id: int) -> Queue:
        """A queue by name; ``LookupError`` if there is none."""
        for queue in self.queues:
            if (queue.topic, queue.queue_id) == (topic, queue_id):
                return queue
        raise LookupError(f"no queue {queue_id} of {topic}")

    @property
    def pulled(self) -> tuple[Pulled, ...]:
        """The messages of all queues, in the order of the commit log."""
        messages = (message for queue in self.queues for message in queue.messages)
        return tuple(sorted(messages, key=lambda message: message.physical_offset))


def save(truth: Truth, path: Path) -> None:
    """Write the truth as JSON."""
    path.write_bytes(msgspec.json.encode(truth))


def load(path: Path) -> Truth:
    """Read what ``save`` wrote."""
    return msgspec.json.decode(path.read_bytes(), type=Truth)
