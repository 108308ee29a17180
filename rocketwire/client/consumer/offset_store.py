"""Stores consume offsets: at the broker, or in a local file.

Offsets are changed in memory; ``persist`` stores those of assigned queues and forgets the others. A
frozen offset, set by an operator or the broker, does not change until the queue is assigned again.

Java: ``RemoteBrokerOffsetStore``, ``LocalFileOffsetStore``, ``ControllableOffset``.
"""

from __future__ import annotations

import logging
import os
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

import trio

from rocketwire.client.consumer.queues import find_replica
from rocketwire.client.outages import Outages, advice_on
from rocketwire.codes import RequestCode
from rocketwire.durable_file import make_folder, replace_file
from rocketwire.errors import BrokerError, DecodeError, LocalProtocolError, RocketWireError
from rocketwire.messages import decode_body, encode_body
from rocketwire.messages.offsets import ConsumerOffsetSerializeWrapper, OffsetSerializeWrapper
from rocketwire.wire.json.limits import ANSWER_LIMITS

if TYPE_CHECKING:
    from rocketwire.client.instance.instance import ClientInstance
    from rocketwire.messages.message_queue import MessageQueue

_LOG: Final = logging.getLogger("rocketwire.client")

# Directory in the user's home for offsets of broadcasting consumers
DEFAULT_DIRECTORY: Final = ".rocketmq_offsets"
_STORE_OUTAGE: Final = "storing of offsets"  # name of the outage of the local file


class OffsetStore(ABC):
    def __init__(self) -> None:
        self._offsets: dict[MessageQueue, int] = {}
        self._frozen: set[MessageQueue] = set()

    def get(self, queue: MessageQueue) -> int | None:
        return self._offsets.get(queue)

    def update(self, queue: MessageQueue, offset: int, *, increase_only: bool) -> None:
        current = self._offsets.get(queue)
        if increase_only and current is not None and current >= offset:
            return
        if self._frozen and queue in self._frozen:
            return
        self._offsets[queue] = offset

    def freeze(self, queue: MessageQueue, offset: int) -> None:
        """Set the offset, and reject changes until the queue is forgotten."""
        self._offsets[queue] = offset
        self._frozen.add(queue)

    def forget(self, queue: MessageQueue) -> None:
        self._offsets.pop(queue, None)
        self._frozen.discard(queue)

    def snapshot(self, topic: str) -> dict[MessageQueue, int]:
        return {queue: offset for queue, offset in self._offsets.items() if queue.topic == topic}

    @abstractmethod
    async def fetch(self, queue: MessageQueue) -> int | None:
        """Return the stored offset, or None."""

    @abstractmethod
    async def persist(
        self, queues: Iterable[MessageQueue], *, leaving: Collection[MessageQueue] = ()
    ) -> None:
        """Store the offsets of assigned queues, and forget others; those of ``leaving`` at once."""

    def _keep(self, queues: Iterable[MessageQueue]) -> dict[MessageQueue, int]:
        assigned = set(queues)
        for queue in [queue for queue in self._offsets if queue not in assigned]:
            self.forget(queue)
        return dict(self._offsets)


class RemoteBrokerOffsetStore(OffsetStore):
    def __init__(self, instance: ClientInstance, group: str, *, never_zero: bool = False) -> None:
        super().__init__()
        # whether the broker may return 0 instead of an unknown offset
        self._zero_if_not_found = False if never_zero else None
        self._instance = instance
        self._group = group
        self._stored: dict[MessageQueue, int] = {}
        self._outages = Outages(f"group {group}")

    async def fetch(self, queue: MessageQueue) -> int | None:
        # The broker may return 0 for a young queue that the group has never read
        # (docs/guide/client.md, "Where a group begins").
        address = (await find_replica(self._instance, queue)).address
        offset = await self._instance.brokers.consumer_offset(
            address, self._group, queue, zero_if_not_found=self._zero_if_not_found
        )
        if (
            offset == 0
            and self._zero_if_not_found is False
            and await self._is_default_zero(address, queue)
        ):
            return None
        return offset

    async def _is_default_zero(self, address: str, queue: MessageQueue) -> bool:
        # brokers before 5.0 ignore set_zero_if_not_found, but return all their offsets (code 43)
        if not await self._instance.is_before_5(address):
            return False
        try:
            response = await self._instance.brokers.call(
                address, RequestCode.GET_ALL_CONSUMER_OFFSET
            )
        except BrokerError as error:  # for example without permission
            _LOG.info("offsets of %s: %s", address, error)
            return False
        body: ConsumerOffsetSerializeWrapper | None = response.body
        table = (body.offset_table if body else None) or {}
        return queue.queue_id not in table.get(f"{queue.topic}@{self._group}", {})

    async def persist(
        self, queues: Iterable[MessageQueue], *, leaving: Collection[MessageQueue] = ()
    ) -> None:
        # A changed offset is sent one-way, as by Java's consumers, with two differences. A broker
        # creates its table of a group and topic at the first commit, and if two commits arrive at
        # the same time, one is lost (``ConsumerOffsetManager.commitOffset``, up to 5.5.0 at least):
        # one offset is sent first and answered. That of a queue in ``leaving`` is always sent, with
        # a response: brokers handle offsets and unregistrations in different threads, so a
        # later response would not prove that the offset was stored.
        offsets = self._keep(queues)
        self._stored = {q: offset for q, offset in self._stored.items() if q in offsets}
        tables: dict[tuple[str | None, str | None], list[MessageQueue]] = {}
        for queue, offset in offsets.items():
            if queue in leaving or self._stored.get(queue) != offset:
                tables.setdefault((queue.broker_name, queue.topic), []).append(queue)
        async with trio.open_nursery() as nursery:
            for changed in tables.values():
                changed.sort(key=lambda queue: queue not in leaving)
                nursery.start_soon(self._persist_table, changed, offsets, leaving)

    async def _persist_table(
        self,
        queues: Iterable[MessageQueue],
        offsets: Mapping[MessageQueue, int],
        leaving: Collection[MessageQueue],
    ) -> None:
        # if the broker does not respond, the remaining offsets are sent one-way
        remaining, failure = iter(queues), None
        for queue in remaining:
            failure = await self._persist(queue, offsets[queue], oneway=False)
            if not isinstance(failure, BrokerError):
                break
        async with trio.open_nursery() as nursery:
            for queue in remaining:
                oneway = failure is not None or queue not in leaving
                nursery.start_soon(partial(self._persist, queue, offsets[queue], oneway=oneway))

    async def _persist(
        self, queue: MessageQueue, offset: int, *, oneway: bool
    ) -> RocketWireError | None:
        # store an offset; returns the error, which is logged
        subject = f"storing of offsets of topic {queue.topic} on broker {queue.broker_name}"
        try:
            await self.commit(queue, offset, oneway=oneway, in_background=True)
        except RocketWireError as error:
            self._outages.report(
                subject,
                f"offset {offset} of queue {queue.queue_id} was not stored: {error}",
                advice_on(error),
                part=queue,
                cause=error,
            )
            return error
        self._outages.end(subject, queue)
        return None

    async def commit(
        self, queue: MessageQueue, offset: int, *, oneway: bool = False, in_background: bool = False
    ) -> None:
        """Store an offset now; ``in_background`` says that no application waits for it."""
        request = self._commit(queue, offset, oneway=oneway)
        hooks = self._instance.hooks
        if hooks is not None:
            from rocketwire.client.hooks import CommitOffsetContext

            arguments = (self._instance, self._group, queue, offset)
            request = hooks.observe(
                request, partial(CommitOffsetContext, *arguments, in_background=in_background)
            )
        await request

    async def _commit(self, queue: MessageQueue, offset: int, *, oneway: bool) -> None:
        broker = await find_replica(self._instance, queue)  # a slave if there is no master
        await self._instance.brokers.update_consumer_offset(
            broker.address, self._group, queue, offset, oneway=oneway
        )
        if not broker.is_slave:  # the master must get the offset later
            self._stored[queue] = offset


def _default_directory() -> Path:
    try:
        return Path.home() / DEFAULT_DIRECTORY
    except RuntimeError as error:  # for example an unknown user in a container
        raise LocalProtocolError(f"no home directory for offsets: {error}") from error


class LocalFileOffsetStore(OffsetStore):
    def __init__(
        self, client_id: str, group: str, directory: str | os.PathLike[str] | None
    ) -> None:
        super().__init__()
        root = _default_directory() if directory is None else Path(directory)
        self.path: Path = root / client_id / group / "offsets.json"
        self._outages = Outages(f"group {group}")
        self._read: dict[MessageQueue, int] | None = None

    async def fetch(self, queue: MessageQueue) -> int | None:
        if self._read is None:
            self._read = await trio.to_thread.run_sync(self._load)
        return self._read.get(queue)

    async def persist(
        self, queues: Iterable[MessageQueue], *, leaving: Collection[MessageQueue] = ()
    ) -> None:
        del leaving  # all offsets are on disk
        offsets = self._keep(queues)
        if offsets and offsets != self._read:
            merged = {**(self._read or {}), **offsets}
            try:
                await trio.to_thread.run_sync(self.write, merged)
            except OSError as error:
                self._outages.report(
                    _STORE_OUTAGE,
                    error,
                    "make the directory writable, or set local_offset_store_dir",
                )
            else:
                self._outages.end(_STORE_OUTAGE)
                self._read = merged

    def _load(self) -> dict[MessageQueue, int]:
        failures: list[DecodeError] = []
        for path in (self.path, self.path.with_name("offsets.json.bak")):
            try:
                return _decode_offsets(path.read_bytes())
            except FileNotFoundError:
                continue
            except DecodeError as error:
                failures.append(error)
        if failures:
            raise failures[0]
        return {}

    def write(self, offsets: Mapping[MessageQueue, int]) -> None:
        make_folder(self.path.parent)
        content = encode_body(OffsetSerializeWrapper(offset_table=offsets))
        suffix = f".{os.getpid()}.tmp"  # unique for each process
        replace_file(self.path, content, suffix=suffix, keeps_backup=True)


def _decode_offsets(data: bytes) -> dict[MessageQueue, int]:
    body = decode_body(OffsetSerializeWrapper, data, limits=ANSWER_LIMITS)
    return dict((body.offset_table if body else None) or {})
