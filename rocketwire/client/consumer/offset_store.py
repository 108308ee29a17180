"""Where a consumer keeps how far it has come: with the broker, or in a file of its own.

Rules of this file: memory comes first; ``persist`` writes what the consumer still has, and forgets
the queues that it lost. An offset that was frozen, because an operator or the broker has set it, is
changed by nothing until the queue is taken anew.

Java: ``RemoteBrokerOffsetStore``, ``LocalFileOffsetStore``, ``ControllableOffset``.
"""

from __future__ import annotations

import logging
import os
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

import trio

from rocketwire.client.consumer.queues import replica_of
from rocketwire.client.outages import Outages, advice_on
from rocketwire.codes import RequestCode
from rocketwire.errors import BrokerError, DecodeError, LocalProtocolError, RocketWireError
from rocketwire.messages import decode_body, encode_body
from rocketwire.messages.offsets import OffsetSerializeWrapper
from rocketwire.wire.json.limits import ANSWER_LIMITS

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from rocketwire.client.instance.instance import ClientInstance
    from rocketwire.messages.message_queue import MessageQueue
    from rocketwire.messages.offsets import ConsumerOffsetSerializeWrapper

_LOG: Final = logging.getLogger("rocketwire.client")

DEFAULT_DIRECTORY: Final = ".rocketmq_offsets"
"""Folder in the user's home with the offsets of broadcasting consumers."""

_STORING: Final = "storing of offsets"
"""What a warning about a file that cannot be written is about."""


class OffsetStore(Protocol):
    """What a consumer asks of either store."""

    def get(self, queue: MessageQueue) -> int | None:
        """The offset in memory."""
        ...

    def update(self, queue: MessageQueue, offset: int, *, increase_only: bool) -> None:
        """Change it in memory."""

    def freeze(self, queue: MessageQueue, offset: int) -> None:
        """Set it, and take no other until the queue is forgotten."""

    def forget(self, queue: MessageQueue) -> None:
        """The queue is somebody else's."""

    async def fetch(self, queue: MessageQueue) -> int | None:
        """The offset that was stored; None for none.

        Raises:
            ClientError, ChannelError: it cannot be found out.
        """
        ...

    async def persist(
        self, queues: Iterable[MessageQueue], *, leaving: Collection[MessageQueue] = ()
    ) -> None:
        """Store the offsets of these; others are forgotten.

        What cannot be stored is logged and tried again next time.

        Args:
            queues: the consumer's.
            leaving: those of them whose offsets have to be where the next owner finds them when
                this returns.

        Cancellation: safe; what was not confirmed may have been stored.
        """

    def snapshot(self, topic: str) -> dict[MessageQueue, int]:
        """The offsets in memory of one topic."""
        ...


class _Memory:
    """Offsets by queue."""

    def __init__(self) -> None:
        self._offsets: dict[MessageQueue, int] = {}
        self._frozen: set[MessageQueue] = set()

    def get(self, queue: MessageQueue) -> int | None:
        """As ``OffsetStore``."""
        return self._offsets.get(queue)

    def update(self, queue: MessageQueue, offset: int, *, increase_only: bool) -> None:
        """As ``OffsetStore``."""
        known = self._offsets.get(queue)
        if increase_only and known is not None and known >= offset:
            return
        if self._frozen and queue in self._frozen:
            return
        self._offsets[queue] = offset

    def freeze(self, queue: MessageQueue, offset: int) -> None:
        """As ``OffsetStore``."""
        self._offsets[queue] = offset
        self._frozen.add(queue)

    def forget(self, queue: MessageQueue) -> None:
        """As ``OffsetStore``."""
        self._offsets.pop(queue, None)
        self._frozen.discard(queue)

    def snapshot(self, topic: str) -> dict[MessageQueue, int]:
        """As ``OffsetStore``."""
        return {queue: offset for queue, offset in self._offsets.items() if queue.topic == topic}

    def _keep(self, queues: Iterable[MessageQueue]) -> dict[MessageQueue, int]:
        """Forgets all but these; returns what is known of them."""
        kept = set(queues)
        for queue in [queue for queue in self._offsets if queue not in kept]:
            self.forget(queue)
        return dict(self._offsets)


class RemoteBrokerOffsetStore(_Memory):
    """Offsets of a group whose members share its messages: the broker of each queue has them."""

    def __init__(self, instance: ClientInstance, group: str, *, never_zero: bool = False) -> None:
        """Nothing is known yet.

        Args:
            instance: carries the requests.
            group: whose offsets, with its namespace.
            never_zero: have the broker not say 0 in the place of an offset that it does not know.
        """
        super().__init__()
        self._zero_if_not_found = False if never_zero else None
        self._instance = instance
        self._group = group
        self._stored: dict[MessageQueue, int] = {}
        self._outages = Outages(f"group {group}")

    async def fetch(self, queue: MessageQueue) -> int | None:
        """As ``OffsetStore``.

        The broker may say 0 for a young queue that the group has never read (docs/guide/client.md,
        "Where a group begins").
        """
        address = (await replica_of(self._instance, queue)).address
        offset = await self._instance.brokers.consumer_offset(
            address, self._group, queue, zero_if_not_found=self._zero_if_not_found
        )
        if (
            offset == 0
            and self._zero_if_not_found is False
            and await self._is_made_up(address, queue)
        ):
            return None
        return offset

    async def _is_made_up(self, address: str, queue: MessageQueue) -> bool:
        """Whether a broker has no offset where it says 0: those before 5.0 cannot be asked not to, but tell all that they have (code 43)."""
        if not await self._instance.is_before_5(address):
            return False
        try:
            answer = await self._instance.brokers.call(address, RequestCode.GET_ALL_CONSUMER_OFFSET)
        except BrokerError as error:  # not everybody may ask for that
            _LOG.info("offsets of %s: %s", address, error)
            return False
        body: ConsumerOffsetSerializeWrapper | None = answer.body
        table = (body.offset_table if body else None) or {}
        return queue.queue_id not in table.get(f"{queue.topic}@{self._group}", {})

    async def persist(
        self, queues: Iterable[MessageQueue], *, leaving: Collection[MessageQueue] = ()
    ) -> None:
        """As ``OffsetStore``.

        One-way where something changed, as Java's consumers do it, but with two differences.

        A broker's table of a group and topic is made by whoever commits first, and of two who come
        at once one is lost (``ConsumerOffsetManager.commitOffset``, up to 5.5.0 at least).  So one
        offset is sent alone, and others when it was taken.

        The offset of a queue that is left is always sent, and its answer waited for: brokers handle
        offsets and goodbyes on different threads, so that the answer to whatever comes later does
        not say that an offset was taken.
        """
        offsets = self._keep(queues)
        self._stored = {queue: at for queue, at in self._stored.items() if queue in offsets}
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
        """Stores offsets of one topic at one broker.

        One that does not answer is not waited for once more.
        """
        waiting, failure = iter(queues), None
        for queue in waiting:
            failure = await self._persist(queue, offsets[queue], oneway=False)
            if not isinstance(failure, BrokerError):
                break
        async with trio.open_nursery() as nursery:
            for queue in waiting:
                oneway = failure is not None or queue not in leaving
                nursery.start_soon(partial(self._persist, queue, offsets[queue], oneway=oneway))

    async def _persist(
        self, queue: MessageQueue, offset: int, *, oneway: bool
    ) -> RocketWireError | None:
        """Stores one offset; returns why it was not, which was logged."""
        subject = f"storing of offsets of topic {queue.topic} on broker {queue.broker_name}"
        try:
            await self.commit(queue, offset, oneway=oneway)
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

    async def commit(self, queue: MessageQueue, offset: int, *, oneway: bool = False) -> None:
        """Store one offset now.

        Raises:
            BrokerError: the broker refuses it.
            BrokerNotFoundError, ChannelError: it does not answer.
        """
        found = await replica_of(self._instance, queue)  # a slave's, while there is no master
        await self._instance.brokers.update_consumer_offset(
            found.address, self._group, queue, offset, oneway=oneway
        )
        if not found.is_slave:  # the master has to hear of it when it is back
            self._stored[queue] = offset


def _below_home() -> Path:
    try:
        return Path.home() / DEFAULT_DIRECTORY
    except RuntimeError as error:  # as in a container with a user that it does not know
        raise LocalProtocolError(f"no directory for offsets: {error}") from error


class LocalFileOffsetStore(_Memory):
    """Offsets of a consumer that gets every message of its group: a file that Java's consumers read too.

    Attributes:
        path: of the file.
    """

    def __init__(
        self, client_id: str, group: str, directory: str | os.PathLike[str] | None
    ) -> None:
        """Reads nothing yet.

        Args:
            client_id: part of the path; has to be the same next time.
            group: whose offsets, likewise.
            directory: None for ``~/.rocketmq_offsets``.

        Raises:
            LocalProtocolError: nobody knows a home of this user, and no directory is said.
        """
        super().__init__()
        root = _below_home() if directory is None else Path(directory)
        self.path = root / client_id / group / "offsets.json"
        self._outages = Outages(f"group {group}")
        self._read: dict[MessageQueue, int] | None = None

    async def fetch(self, queue: MessageQueue) -> int | None:
        """As ``OffsetStore``.

        Raises:
            DecodeError: neither the file nor its backup can be read.
        """
        if self._read is None:
            self._read = await trio.to_thread.run_sync(self._load)
        return self._read.get(queue)

    async def persist(
        self, queues: Iterable[MessageQueue], *, leaving: Collection[MessageQueue] = ()
    ) -> None:
        """As ``OffsetStore``; the former file becomes the backup."""
        del leaving  # everything is on disk in any case
        offsets = self._keep(queues)
        if offsets and offsets != self._read:
            merged = {**(self._read or {}), **offsets}
            try:
                await trio.to_thread.run_sync(self._write, merged)
            except OSError as error:
                self._outages.report(
                    _STORING, error, "make the directory writable, or set local_offset_store_dir"
                )
            else:
                self._outages.end(_STORING)
                self._read = merged

    def _load(self) -> dict[MessageQueue, int]:
        failures: list[DecodeError] = []
        for path in (self.path, self.path.with_name("offsets.json.bak")):
            try:
                return _table(path.read_bytes())
            except FileNotFoundError:
                continue
            except DecodeError as error:
                failures.append(error)
        if failures:
            raise failures[0]
        return {}

    def _write(self, offsets: Mapping[MessageQueue, int]) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        new = self.path.with_name(f"offsets.json.{os.getpid()}.tmp")  # others may share the file
        with new.open("wb") as file:
            file.write(encode_body(OffsetSerializeWrapper(offset_table=offsets)))
            file.flush()
            os.fsync(file.fileno())
        with suppress(FileNotFoundError):
            self.path.replace(self.path.with_name("offsets.json.bak"))
        new.replace(self.path)


def _table(data: bytes) -> dict[MessageQueue, int]:
    found = decode_body(OffsetSerializeWrapper, data, limits=ANSWER_LIMITS)
    return dict((found.offset_table if found else None) or {})
