"""``info``: what a store is, without reading its messages."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Final

from rocketwire.store import epochs
from rocketwire.store.commit_log import message_parts
from rocketwire_tools.store.engine.blocks import open_blocks
from rocketwire_tools.store.opened import are_whole, open_stores
from rocketwire_tools.store.output import flat, json_line, time_text, write_table

if TYPE_CHECKING:
    import argparse

    from rocketwire.store.folder import StoreFile
    from rocketwire_tools.store.opened import OpenedStore

_LONGEST: Final = 1 << 20  # bytes of a file in which its first message is looked for


def run(arguments: argparse.Namespace) -> int:
    stores = open_stores(arguments.paths)
    for store in stores:
        report = describe(store)
        if arguments.json:
            sys.stdout.buffer.write(json_line(report))
        else:
            write_table(("", ""), flat(report))
    return 0 if are_whole(stores) else 1


def describe(store: OpenedStore) -> dict[str, Any]:
    folder = store.folder
    files = folder.commit_log
    first = _first_message(store, files)
    release, reasons = _release(store)
    report: dict[str, Any] = {
        "paths": [str(root) for root in folder.roots],
        "kind": _kinds(store),
        "release": release,
        "release_reasons": reasons,
        "in_use": store.is_in_use(),
        "stopped": _describe_end(store),
        "log_files": len(files),
        "log_file_size": files[0].size if files else None,
        "log_bytes": sum(file.size for file in files),
        "log_bytes_on_disk": sum(file.allocated for file in files),
        "first_offset": files[0].offset if files else None,
        "end_of_files": files[-1].end if files else None,
        "first_stored": time_text(first),
        "newest_flushed": None,
        "epochs": _epochs(store),
        "identity": _identity(store),
        "topics": len({topic for topic, _ in store.queue_names}),
        "queues": len(store.queue_names),
        "index_files": len(folder.index),
        "config_files": sorted(name for name in folder.config if not name.endswith(".bak")),
        "databases": sorted(folder.rocksdb),
        "unreadable_databases": sorted(store.unreadable),
        "missing": _missing(store),
        "unknown_count": len(folder.unknown),
        "unknown_files": folder.unknown[:20],
        "ignored_links": folder.ignored[:20],
    }
    if store.checkpoint is not None:
        report["newest_flushed"] = time_text(store.checkpoint.physical_timestamp)
    return report


def _first_message(store: OpenedStore, files: list[StoreFile]) -> int | None:
    for file in files:
        try:
            with open_blocks(file, block_size=_LONGEST) as blocks:
                view = blocks.read(0)
        except OSError as error:
            store.pass_over(file, error)
            continue
        parts = message_parts(view, 0)
        if parts is not None:
            return parts.store_time
    return None


def _epochs(store: OpenedStore) -> list[str]:
    """The epochs of a broker in controller mode; from ``.bak`` if the file cannot be read."""
    for name in ("epochFileCheckpoint", "epochFileCheckpoint.bak"):
        noted = store.decode(store.folder.plain.get(name), epochs.decode_epochs)
        if noted:
            return [f"{epoch.epoch} from offset {epoch.start_offset}" for epoch in noted]
    return []


def _identity(store: OpenedStore) -> str | None:
    identity = store.decode(store.folder.plain.get("brokerIdentity"), epochs.decode_identity)
    return None if identity is None else ", ".join(map(str, identity))


_DATABASES: Final = {
    "queues in RocksDB": "consumequeue",
    "configuration in RocksDB": "config/",
    "pops in RocksDB": "kvStore",
}


def _kinds(store: OpenedStore) -> list[str]:
    folder = store.folder
    kinds: list[str] = []
    if folder.commit_log:
        kinds.append("commit log")
    if len({file.path.parent for file in folder.commit_log}) > 1:
        kinds.append("several paths")
    kinds += [
        kind
        for kind, start in _DATABASES.items()
        if any(name.startswith(start) for name in folder.rocksdb)
    ]
    if folder.batch_queues:
        kinds.append("batch queues")
    if folder.extensions:
        kinds.append("queue extensions")
    if folder.timer_log:
        kinds.append("timers")
    return kinds


def _release(store: OpenedStore) -> tuple[str, list[str]]:
    """The release that wrote the store, as far as its files show it, and the signs."""
    folder, checkpoint = store.folder, store.checkpoint
    words = (0,) * 6 if checkpoint is None else checkpoint
    signs_of_5_5 = {
        "rocksdbstore, which every broker since 5.5 creates": "rocksdbstore" in folder.rocksdb,
        "the sixth word of checkpoint, since 5.5": bool(words[5]),
    }
    signs_of_5 = {
        "abort.bak, since 5.0": "abort.bak" in folder.plain,
        "a process number in abort, since 5.0": bool(store.abort),
        "the fourth or fifth word of checkpoint, since 5.0": bool(words[3] or words[4]),
        "timers, since 5.0": bool(folder.timer_log or "timercheck" in folder.config),
        "batch queues, since 5.0": bool(folder.batch_queues),
        "consumerOrderInfo.json, since 5.0": "consumerOrderInfo.json" in folder.config,
        "queues or configuration in RocksDB, since 5.2": any(
            name.startswith(("consumequeue", "config/")) for name in folder.rocksdb
        ),
    }
    for release, signs in (("5.5 or newer", signs_of_5_5), ("5.0 to 5.4", signs_of_5)):
        present = [sign for sign, is_there in signs.items() if is_there]
        if present:
            return release, present
    if not folder.plain and not folder.config:
        return "unknown", ["only a log is there"]
    return "4.x", ["no sign of 5.x"]


def _describe_end(store: OpenedStore) -> str:
    if store.is_in_use():
        return "a broker is running"
    if not store.folder.plain:
        return "unknown"
    if store.abort is None:
        return "orderly"
    return "killed, or the machine went down: abort is there"


def _missing(store: OpenedStore) -> list[str]:
    folder = store.folder
    missing: list[str] = []
    if not folder.commit_log:
        missing.append("commitlog")
    has_rocksdb_queues = any(name.startswith("consumequeue") for name in folder.rocksdb)
    if not folder.queues and not folder.batch_queues and not has_rocksdb_queues:
        missing.append("consumequeue")
    if "checkpoint" not in folder.plain:
        missing.append("checkpoint")
    if not any(name.startswith("config/") for name in folder.rocksdb):
        names = ("topics.json", "subscriptionGroup.json", "consumerOffset.json")
        missing += [f"config/{name}" for name in names if name not in folder.config]
    return missing
