"""``StoreFolder``: the folder of a broker's store while the broker runs.

``abort`` is there from the start of a broker to its end, as with Java: who finds it reads the log
anew. ``lock`` is locked as Java locks it, so that no two brokers share a folder.

Java: ``DefaultMessageStore.load``, ``BrokerController.initialize``.
"""

from __future__ import annotations

import fcntl
import logging
import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from rocketwire.errors import RocketWireError
from rocketwire.store.folder import offset_of_name
from rocketwire.wire.java_utf8 import decode_utf8
from rocketwire.wire.message.host import Host
from rocketwire_broker.files import tables
from rocketwire_broker.files.disk import Disk
from rocketwire_broker.files.log_files import FOLDER, LogFiles
from rocketwire_broker.files.scanning import scan
from rocketwire_broker.later.pop_log import log_pops
from rocketwire_broker.later.restoring import Restoring
from rocketwire_broker.later.transactions import write_decisions
from rocketwire_broker.state.broker import Broker
from rocketwire_broker.storage.log_store import LogStore
from rocketwire_broker.storage.store import UnwritableError

if TYPE_CHECKING:
    from rocketwire_broker.config import Config

LOGGER: Final = logging.getLogger("rocketwire.broker")

ABORT: Final = "abort"
LOCK: Final = "lock"
PERSIST_SECONDS: Final = 5.0
"""Time between two writes of offsets and groups (Java: ``flushConsumerOffsetInterval``)."""


class FolderError(RocketWireError):
    """Another broker uses the folder, or what is in it cannot be used."""


class StoreFolder:
    """An open folder.

    Args:
        config: the settings, with the port on which the broker listens; ``store_path`` is the
            folder, which is created if it is missing.
        disk: the files; a plain one by default.

    Attributes:
        persist_seconds: time after which ``persist`` should be called again.

    Raises:
        FolderError: another broker uses it, or what is in it cannot be used.
        OSError: the disk fails.
    """

    persist_seconds: Final = PERSIST_SECONDS

    def __init__(self, config: Config, disk: Disk | None = None) -> None:
        root = Path(config.store_path)
        root.mkdir(parents=True, exist_ok=True)
        self.disk = Disk(root) if disk is None else disk
        self._config = config
        self._is_synced = config.flush_disk_type == "SYNC_FLUSH"
        self._lock = _locked(root)
        self._saved: dict[str, object] = {}
        self._broker: Broker | None = None
        self._failure = ""
        try:
            self.log = self._open_log()
        except BaseException:
            os.close(self._lock)
            raise

    def _open_log(self) -> LogFiles:
        """Return the log; existing files tell the size of all."""
        folder = self.disk.root / FOLDER
        folder.mkdir(exist_ok=True)
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

    # ------------------------------------------------------------------ start

    def load(self, now: int) -> Broker:
        """Return a broker that goes on with what is in the folder.

        Args:
            now: the time.

        Raises:
            OSError: the disk fails.
        """
        config = self._config
        store = LogStore(
            self.log,
            retain_bytes=config.store_retain_bytes,
            retain_ms=config.retain_hours * 3_600_000,
            store_host=Host.parse(f"{config.broker_ip}:{config.listen_port}"),
        )
        broker = self._broker = Broker(config, now, store)
        has_topics = tables.read_tables(self.disk, broker)
        restoring = Restoring(broker)
        for entry in scan(self.disk, self.log):
            restoring.add(
                decode_utf8(entry.topic),
                entry.queue_id,
                entry.queue_offset,
                entry.physical,
                entry.size,
                entry.store_time,
                entry.prepared if entry.sys_flag & 8 else None,
                entry.properties,
            )
        store.next_physical = self.log.end
        if has_topics:
            restoring.drop_unknown()
        restoring.finish(now)
        store.arrivals.clear()
        broker.topics.save = lambda: self._save_topics(broker)
        self.disk.replace(ABORT, str(os.getpid()).encode())
        (self.disk.root / f"{ABORT}.bak").unlink(missing_ok=True)
        return broker

    # ------------------------------------------------------------------ while the broker runs

    def _save_topics(self, broker: Broker) -> None:
        """Write the topics, before the answer to the request that changes them.

        Raises:
            UnwritableError: the disk is full, or fails.
        """
        try:
            self._write(broker, tables.AT_ONCE)
        except OSError as error:
            raise UnwritableError(f"{error.strerror} (errno {error.errno})") from error

    def persist(self, now: int) -> None:
        """Write what is written every few seconds; if the disk fails, the next time will do.

        Offsets are written behind the pops that have moved them, so that no message is lost.
        """
        failure = ""
        try:
            if self._broker is not None:
                log_pops(self._broker, now)
                self._write(self._broker, tables.AT_ONCE)
                self._write(self._broker, tables.SOON)
        except UnwritableError as error:
            failure = str(error)
        except OSError as error:
            failure = f"{error.strerror} (errno {error.errno})"
        if failure and failure != self._failure:
            LOGGER.error("%s is not complete: %s", self.disk.root, failure)
        self._failure = failure

    def _write(self, broker: Broker, files: tuple[tables.Table, ...]) -> None:
        for table in files:
            version = table.version(broker)
            if self._saved.get(table.name) != version:
                self.disk.replace(table.name, table.encode(broker), is_synced=self._is_synced)
                self._saved[table.name] = version

    def close(self, now: int) -> None:
        """Write everything, and let other brokers use the folder."""
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


def _locked(root: Path) -> int:
    """Lock a folder as Java does; return the descriptor that holds the lock."""
    descriptor = os.open(root / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        # one lock for other processes, Java's included, and one for brokers of this process
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB, 1)
    except BlockingIOError as error:
        os.close(descriptor)
        raise FolderError(f"another broker uses the store in {root}") from error
    os.pwrite(descriptor, b"lock", 0)
    return descriptor
