"""``StoreFolder``: the folder of a broker's store while the broker runs.

``abort`` and an empty ``checkpoint`` are there from the start of a broker on, and stay after its
end: they let a Java broker read the log anew, which writes its index of keys. Our broker needs no
index, and writes none. ``lock`` is locked as Java locks it, so that two brokers share no folder.

Java: ``DefaultMessageStore.load``, ``BrokerController.initialize``.
"""

from __future__ import annotations

import fcntl
import logging
import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

from rocketwire.durable_file import make_folder
from rocketwire.errors import RocketWireError
from rocketwire.flags import MessageSysFlag
from rocketwire.policy.resource_names import LMQ_PREFIX
from rocketwire.store.checkpoint import FILE_SIZE as CHECKPOINT_SIZE
from rocketwire.store.commit_log import message_parts
from rocketwire.store.consume_queue import decode_units
from rocketwire.store.folder import offset_of_name
from rocketwire.wire.java_utf8 import decode_utf8
from rocketwire.wire.message.host import Host
from rocketwire_broker.delayed.pops import log_pops, wake_ordered_pops
from rocketwire_broker.delayed.transactions import write_decisions
from rocketwire_broker.files import tables
from rocketwire_broker.files.disk import Disk
from rocketwire_broker.files.log_files import FOLDER, LogFiles
from rocketwire_broker.files.log_scan import scan
from rocketwire_broker.files.log_store import LogStore
from rocketwire_broker.files.queue_files import FOLDER as QUEUES
from rocketwire_broker.files.queue_files import QueueFiles
from rocketwire_broker.files.restore import Restore
from rocketwire_broker.files.timer_files import TimerFiles
from rocketwire_broker.state.broker import Broker
from rocketwire_broker.storage.store import UnwritableError

if TYPE_CHECKING:
    from rocketwire_broker.config import Config

LOGGER: Final = logging.getLogger("rocketwire.broker")

_TRANSACTION: Final = int(MessageSysFlag.TRANSACTION_MASK)
_IN_QUEUES: Final = (0, int(MessageSysFlag.TRANSACTION_COMMIT))
"""Types of messages that are in a queue (Java: ``CommitLogDispatcherBuildConsumeQueue``)."""

ABORT: Final = "abort"
CHECKPOINT: Final = "checkpoint"
LOCK: Final = "lock"
PERSIST_SECONDS: Final = 5.0
"""Time between two writes of offsets and groups (Java: ``flushConsumerOffsetInterval``)."""


class FolderError(RocketWireError):
    """Another broker uses the folder, or what is in it cannot be used."""


class StoreFolder:
    """An open folder; it is created if it is missing."""

    persist_seconds: Final = PERSIST_SECONDS  # time after which ``persist`` should be called again

    def __init__(self, config: Config) -> None:
        root = Path(config.store_path)
        make_folder(root)
        self.disk = Disk(root)
        self._config = config
        # whether answers wait until messages are on the disk (``SYNC_FLUSH``)
        self.is_synced = config.flush_disk_type == "SYNC_FLUSH"
        self.disk.is_synced = self.is_synced
        self._lock = _lock_folder(root)
        self._saved: dict[str, object] = {}
        self._broker: Broker | None = None
        self._failure = ""
        self._queues = QueueFiles(self.disk, config.queue_file_size)
        self._timers: TimerFiles | None = None
        try:
            _check_kind(root)
            self.log = self._open_log()
            _check_lmqs(root, self.log)
        except BaseException:
            os.close(self._lock)
            raise

    def _open_log(self) -> LogFiles:
        # existing files decide the size of new ones
        folder = self.disk.root / FOLDER
        make_folder(folder)
        size, starts = self._config.log_file_size, list[int]()
        sizes = set[int]()
        for path in sorted(folder.iterdir()):
            start = offset_of_name(path.name)
            length = path.stat().st_size
            if start is None or not path.is_file():
                LOGGER.warning("%s is not a file of the commit log, it is ignored", path)
            elif not length:
                path.unlink()
            else:
                sizes.add(length)
                starts.append(start)
        if len(sizes) > 1:
            raise FolderError(f"the files in {folder} have several sizes: {sorted(sizes)}")
        return LogFiles(self.disk, sizes.pop() if sizes else size, starts)

    def load(self, now: int) -> Broker:
        config = self._config
        store = LogStore(
            self.log,
            retain_bytes=config.store_retain_bytes,
            retain_ms=config.retain_hours * 3_600_000,
            store_host=Host.parse(
                f"{config.broker_ip}:{config.advertised_port or config.listen_port}"
            ),
        )
        broker = self._broker = Broker(config, now, store)
        keeps_all = tables.read_tables(self.disk, broker)
        restore = Restore(broker, store)
        for entry in scan(self.disk, self.log):
            if entry.parts.sys_flag & _TRANSACTION in _IN_QUEUES:
                restore.add(decode_utf8(entry.topic), entry.parts, entry.properties)
        misplaced = store.finish_scan()
        if misplaced:
            LOGGER.warning(
                "%d messages have queue offsets that cannot be, they follow the ones before",
                misplaced,
            )
        store.next_physical = self.log.end
        queues = self.disk.root / QUEUES
        for topic in restore.settle_unknown(
            now, is_deleted=lambda topic: not keeps_all and not (queues / topic).is_dir()
        ):
            LOGGER.warning("topic %s has messages, but no configuration: it gets a new one", topic)
        restore.finish(now)
        wake_ordered_pops(broker, now)
        store.arrivals.clear()
        broker.topics.save = lambda: self._save_topics(broker)
        self._mark()
        if config.timer_enabled:
            self._timers = TimerFiles(self.disk, broker)
        return broker

    def _mark(self) -> None:
        # Both files make the next broker, also one of Java, read the whole log.
        pid = str(os.getpid()).encode()
        self.disk.write(ABORT, 0, pid, len(pid))
        self.disk.write(CHECKPOINT, 0, bytes(CHECKPOINT_SIZE), CHECKPOINT_SIZE)

    def _save_topics(self, broker: Broker) -> None:
        # called before the response to the request that changes them
        try:
            self._write(broker, tables.AT_ONCE)
        except OSError as error:
            raise UnwritableError(f"{error.strerror} (errno {error.errno})") from error

    def persist(self, now: int) -> None:
        """Write what is written every few seconds; if the disk fails, the next time will do.

        Offsets are written after the pops that have moved them, so that no message is lost.
        """
        failure = ""
        try:
            if self._broker is not None:
                log_pops(self._broker, now)
                self._write(self._broker, tables.AT_ONCE)
                self._write(self._broker, tables.SOON)
                self._write_queues(self._broker, now)
        except (UnwritableError, RocketWireError) as error:
            failure = str(error)
        except OSError as error:
            failure = f"{error.strerror} (errno {error.errno})"
        if failure and failure != self._failure:
            LOGGER.error("%s is not complete: %s", self.disk.root, failure)
        self._failure = failure

    def _write_queues(self, broker: Broker, now: int) -> None:
        # only Java reads these files
        self._queues.write(cast("LogStore", broker.store))
        if self._timers is not None:
            self._timers.write(broker, now)

    def _write(self, broker: Broker, files: tuple[tables.Table, ...]) -> None:
        for table in files:
            version = table.version(broker)
            if self._saved.get(table.name) != version:
                self._saved.pop(table.name, None)  # after an error, its content is not known
                self.disk.replace(table.name, table.encode(broker))
                self._saved[table.name] = version

    def close(self, now: int) -> None:
        try:
            if self._broker is not None:
                with suppress(UnwritableError):
                    write_decisions(self._broker, now)
            self.persist(now)
        finally:
            self.release()

    def release(self) -> None:
        """Let other brokers use the folder, as the end of the process does."""
        self.disk.close()
        if self._lock >= 0:
            os.close(self._lock)
        self._lock = -1


FOREIGN: Final = {
    "dledger-*/data/*": "a log of DLedger",
    "consumequeue/MANIFEST-*": "queues in RocksDB",
    "consumequeue_rocksdb/MANIFEST-*": "queues in RocksDB",
    "config/*/MANIFEST-*": "configuration in RocksDB",
    "batchconsumequeue/*/*/*": "queues of batches (queue.type=BatchCQ)",
}
"""Files of Java brokers with other settings, and what they are; a folder may be a topic."""


def _check_kind(root: Path) -> None:
    # A Java broker with other settings wrote it: only a part could be served.
    for pattern, what in FOREIGN.items():
        if any(path.is_file() for path in root.glob(pattern)):
            raise FolderError(f"{root} has {what}, which this broker does not serve")


def _check_lmqs(root: Path, log: LogFiles) -> None:
    # Only queues of lite topics are served. A topic may have such a name, too.
    for path in root.glob(f"{QUEUES}/{LMQ_PREFIX}[!$]*/0/*"):
        for unit in decode_units(path.read_bytes()):
            if unit.points_to_message and log.first <= unit.physical_offset:
                record = log.read(unit.physical_offset, unit.size)
                parts = message_parts(record, 0)
                topic = b"" if parts is None else record[parts.topic :][: parts.topic_size]
                if topic.decode(errors="replace") != path.parts[-3]:
                    text = "queues of LMQ, which this broker does not serve"
                    raise FolderError(f"{root} has {text}")
                break


def _lock_folder(root: Path) -> int:
    flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
    descriptor = os.open(root / LOCK, flags, 0o644)
    try:
        # one lock for other processes, Java's included, and one for brokers of this process
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB, 1)
    except BlockingIOError as error:
        os.close(descriptor)
        raise FolderError(f"another broker uses the store in {root}") from error
    os.pwrite(descriptor, b"lock", 0)
    return descriptor
