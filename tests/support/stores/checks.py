"""Whether a truth agrees with itself and with the bytes in the store, without a reader of stores.

Rules of this file: a check yields what is wrong, one text each, so that a test shows all of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tests.support.stores.truth import digest

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.support.stores.store import BrokerStore
    from tests.support.stores.truth import Pulled, Sent, Truth

COMPRESSED: Final = 1
BY_THE_BROKER: Final = frozenset(("DELAY",))
"""Properties that a broker changes: a level of 30 becomes 18."""


def first_place(sent: Sent) -> tuple[str, int]:
    """The queue that a message went to at first; its offset there is what the producer was told."""
    if sent.how == "delayed":
        return "SCHEDULE_TOPIC_XXXX", min(int(sent.properties["DELAY"]), 18) - 1
    if sent.how == "half":
        return "RMQ_SYS_TRANS_HALF_TOPIC", 0
    if sent.how == "timer":
        return "rmq_sys_wheel_timer", 0
    return sent.topic, sent.queue_id


def commit_log_bytes(root: Path, offset: int, size: int) -> bytes:
    """Bytes of the commit log, which has to hold them in one file."""
    folder = root / "commitlog"
    files = sorted(folder.iterdir())
    length = files[0].stat().st_size
    path = folder / f"{offset - offset % length:020}"
    with path.open("rb") as file:
        file.seek(offset % length)
        return file.read(size)


def queue_entries(root: Path) -> Iterator[int]:
    """Entries of each file of a consume queue: 20 bytes that are not all zeros."""
    for path in sorted((root / "consumequeue").glob("*/*/*")):
        data = path.read_bytes()
        yield sum(any(data[at : at + 20]) for at in range(0, len(data), 20))


def wrong_bytes(store: BrokerStore) -> Iterator[str]:
    """Messages whose bytes in the commit log are not those that the broker sent."""
    for message in store.truth.pulled:
        data = commit_log_bytes(store.root, message.physical_offset, message.size)
        if digest(data) != message.digest:
            yield f"{message.topic}/{message.queue_id}/{message.queue_offset}: other bytes"


def wrong_queues(truth: Truth) -> Iterator[str]:
    """Queues whose pulls are not one message for each offset, or whose entries lead elsewhere."""
    for queue in truth.queues:
        name = f"{queue.topic}/{queue.queue_id}"
        places = [(one.physical_offset, one.size) for one in queue.messages]
        if [one.queue_offset for one in queue.messages] != list(
            range(queue.min_offset, queue.max_offset)
        ):
            yield f"{name}: {len(places)} messages in {queue.min_offset}..{queue.max_offset}"
        if [(one.physical_offset, one.size) for one in queue.units] != places:
            yield f"{name}: {len(queue.units)} entries lead to other places"


def wrong_sends(truth: Truth) -> Iterator[str]:
    """Messages that a producer was told of and that no pull returned as they were sent."""
    pulled = {
        (queue.topic, queue.queue_id, message.queue_offset): message
        for queue in truth.queues
        for message in queue.messages
    }
    for sent in truth.sent:
        if sent.topic in truth.deleted_topics:
            continue
        name = f"{sent.topic}/{sent.queue_id}/{sent.queue_offset} ({sent.how})"
        message = pulled.get((*first_place(sent), sent.queue_offset))
        if message is None:
            yield f"{name}: not pulled"
        else:
            yield from (f"{name}: {what}" for what in _differences(sent, message))


def _differences(sent: Sent, message: Pulled) -> Iterator[str]:
    if int(sent.offset_msg_id[-16:], 16) != message.physical_offset:
        yield f"at {message.physical_offset}, the id is {sent.offset_msg_id}"
    if not sent.born_from <= message.born_timestamp <= sent.born_to:
        yield f"born {message.born_timestamp}, not in {sent.born_from}..{sent.born_to}"
    if message.flag != sent.flag:
        yield f"flag {message.flag}, not {sent.flag}"
    if not message.sys_flag & COMPRESSED and message.body_digest != sent.body_digest:
        yield "another body"
    wanted = {name: value for name, value in sent.properties.items() if name not in BY_THE_BROKER}
    if sent.unique_key and sent.how != "batch":  # 5.3.3 gives all of a batch one key
        wanted["UNIQ_KEY"] = sent.unique_key
    for name, value in wanted.items():
        if message.properties.get(name) != value:
            yield f"property {name!r} is {message.properties.get(name)!r}, not {value!r}"


def wrong_lookups(truth: Truth) -> Iterator[str]:
    """Keys that do not find all of their messages, and ids that find nothing or other bytes."""
    digests = {message.physical_offset: message.digest for message in truth.pulled}
    places = {(one.topic, one.key, one.index): set(one.physical_offsets) for one in truth.lookups}
    for sent in truth.sent:
        place = int(sent.offset_msg_id[-16:], 16)
        if first_place(sent) != (sent.topic, sent.queue_id) or sent.topic in truth.deleted_topics:
            continue
        for key in sent.keys:
            if key.strip() and place not in places[sent.topic, key, "K"]:
                yield f"{sent.topic}: key {key!r} does not find {place}"
        if truth.by_id[sent.offset_msg_id] != digests[place]:
            yield f"{sent.topic}: id {sent.offset_msg_id} finds other bytes"
