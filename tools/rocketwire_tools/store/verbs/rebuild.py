"""``rebuild``: a new store from a commit log alone."""

from __future__ import annotations

import itertools
import os
import shutil
import sys
from collections import Counter
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any, Final

from rocketwire.policy.resource_names import is_system_topic
from rocketwire.store import index_file
from rocketwire.store.checkpoint import Checkpoint, encode_checkpoint
from rocketwire.store.config_files import MAX_SIZE
from rocketwire.store.consume_queue import BATCH_UNIT_SIZE, UNIT_SIZE
from rocketwire.store.epochs import decode_epochs, decode_identity
from rocketwire.store.writer import (
    BATCH_QUEUE_FILE_SIZE,
    FILLER_TOPIC,
    QUEUE_FILE_SIZE,
    DiskFiles,
    Files,
    IndexWriter,
    NoFiles,
    encode_config,
    topic_table,
    write_file,
)
from rocketwire_tools.store.checks.log_check import has_torn_end
from rocketwire_tools.store.checks.side_files import (
    batch_topics,
    find_timer_damage,
    most_common_size,
    timers_of_other_size,
)
from rocketwire_tools.store.engine.blocks import open_blocks
from rocketwire_tools.store.lookup import index_geometry
from rocketwire_tools.store.opened import OpenedStore, are_whole
from rocketwire_tools.store.output import create_whole, flat, json_line, with_progress, write_table
from rocketwire_tools.store.rebuilding import (
    LogCopy,
    QueueBuilder,
    Rebuild,
    RebuildReport,
)
from rocketwire_tools.store.verbs.info import describe

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence
    from pathlib import Path

    from rocketwire.store.folder import QueueFiles, StoreFile

_ROOM: Final = 1.35
"""New bytes for each byte of the log: messages, 20 bytes for a queue, some 70 for the index."""

_BLOCK_SIZE: Final = 4 << 20
"""Bytes of the log that are read at once: what is made of small messages takes several times as
much."""

_OTHER_FILES: Final = {"epochFileCheckpoint": decode_epochs, "brokerIdentity": decode_identity}
"""Files at the root that are copied; brokers read ``epochFileCheckpoint.bak`` if need be."""
_TIMER_CHECK: Final = "timercheck"


def run(arguments: argparse.Namespace) -> int:
    store = OpenedStore(arguments.paths)
    if not store.folder.commit_log:
        raise ValueError("there is no commit log")
    if store.is_in_use():
        print(
            "a broker is running on this store; its last messages may be missing", file=sys.stderr
        )
    target = _target(arguments.out, store.folder.roots)
    settings = _settings(store, arguments)
    if arguments.dry_run:
        report, notes = _build(store, NoFiles(), settings)
    else:
        report, notes = _build_on_disk(store, target, settings)
    values = {"out": str(target), **settings, **asdict(report), **notes}
    if arguments.json:
        sys.stdout.buffer.write(json_line(values))
    else:
        write_table(("", ""), flat(values))
    # files of other programs may stand in ``config``, too
    lost = [n for n in notes["config_unreadable"] if n.endswith(".json") or "/" not in n]
    is_whole = not (report.has_damage or notes["timers_damaged"] or lost)
    return 0 if are_whole([store]) and is_whole else 1


def _target(out: Path, roots: Sequence[Path]) -> Path:
    target = out.resolve()
    for root in roots:
        if target == root or root in target.parents:
            raise ValueError(f"{out} lies inside of {root}, which is only read")
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise ValueError(f"{out} exists and is not empty")
    return target


def _build_on_disk(
    store: OpenedStore, target: Path, settings: dict[str, Any]
) -> tuple[RebuildReport, dict[str, Any]]:
    target.parent.mkdir(parents=True, exist_ok=True)
    _require_room(store, target.parent)
    with create_whole(target, is_folder=True) as partial:
        files = DiskFiles(partial)
        report, notes = _build(store, files, settings)
        files.flush()
        _keep_times(store.folder.commit_log, partial)
    return report, notes


def _require_room(store: OpenedStore, folder: Path) -> None:
    used = sum(min(file.allocated, file.size) for file in store.folder.commit_log)
    needed = int(used * _ROOM)
    free = shutil.disk_usage(folder).free
    if needed > free:
        raise OSError(f"{folder} has {free} bytes free; the new store needs some {needed}")


def _keep_times(log_files: Sequence[StoreFile], root: Path) -> None:
    """Give files of the log their old times: brokers delete them by these."""
    for file in log_files:
        path = root / "commitlog" / file.base_name
        if path.exists():
            os.utime(path, (file.modified, file.modified))


def _settings(store: OpenedStore, arguments: argparse.Namespace) -> dict[str, Any]:
    folder = store.folder
    geometry = _geometry(store)
    slots = arguments.index_slots or geometry.slots
    entries = arguments.index_entries or geometry.entries
    release = describe(store)["release"]
    indexes_tags = release in ("5.5 or newer", "unknown")
    if arguments.tag_index != "auto":
        indexes_tags = arguments.tag_index == "yes"
    return {
        "log_file_size": _log_file_size(store.folder.commit_log, arguments.log_file_size),
        "queue_file_size": arguments.queue_file_size
        or _queue_file_size(folder.queues, UNIT_SIZE, QUEUE_FILE_SIZE),
        "batch_queue_file_size": _queue_file_size(
            folder.batch_queues, BATCH_UNIT_SIZE, BATCH_QUEUE_FILE_SIZE
        ),
        "index_slots": slots,
        "index_entries_per_file": entries,
        "indexes_tags": indexes_tags,
    }


def _log_file_size(files: Sequence[StoreFile], requested: int | None) -> int:
    """The size that files of a log have, of which some may be cut, too long, or misnamed."""
    distances = Counter(later.offset - file.offset for file, later in itertools.pairwise(files))
    sizes = Counter(file.size for file in files)
    candidates = (
        [requested] if requested else [size for size, _ in (sizes + distances).most_common()]
    )
    for size in candidates:
        is_usual = sizes[size] > 0 and distances[size] > 0
        if size > 0 and all(
            file.offset % size == 0 and (is_usual or file.size <= size) for file in files
        ):
            return size
    for size in filter(None, candidates):
        if sizes[size] > 0 and 2 * sum(file.offset % size == 0 for file in files) > len(files):
            return size
    if requested:
        raise ValueError(f"most files of the log do not begin at a multiple of {requested} bytes")
    raise ValueError("the files of the log have no common size; give --log-file-size")


def _queue_file_size(queues: QueueFiles, unit_size: int, default: int) -> int:
    files = (file for files in queues.values() for file in files)
    return most_common_size((file for file in files if not file.size % unit_size), default)


def _geometry(store: OpenedStore) -> index_file.Geometry:
    for file in store.folder.index:
        try:
            with open_blocks(file) as blocks:
                geometry = index_geometry(blocks)
        except OSError:  # the index is made anew, so a disk that cannot read it does not matter
            continue
        if geometry is not None:
            return geometry
    return index_file.DEFAULT_GEOMETRY


def _build(
    store: OpenedStore, files: Files, settings: dict[str, Any]
) -> tuple[RebuildReport, dict[str, Any]]:
    of_batches = {topic for topic, _ in store.folder.batch_queues} | batch_topics(store)
    report = RebuildReport()
    queues = QueueBuilder(
        files,
        file_size=settings["queue_file_size"],
        batch_file_size=settings["batch_queue_file_size"],
        batch_topics=of_batches,
        report=report,
    )
    geometry = index_file.Geometry(settings["index_slots"], settings["index_entries_per_file"])
    index, size = IndexWriter(files, geometry), settings["log_file_size"]
    rebuild = Rebuild(LogCopy(files, size, report), queues, index, settings["indexes_tags"], report)
    for scan in store.scans():
        report.misnamed_files += sum(file.offset % size > 0 for file in scan.files)
        scan.files = [
            replace(file, size=size) if file.size > size else file
            for file in scan.files
            if file.offset % size == 0
        ]
        scan.block_size = _BLOCK_SIZE
        for block in with_progress(scan):
            rebuild.add(block, scan.regions)
        report.has_torn_end |= has_torn_end(scan)
    if not report.messages:
        raise ValueError("there is no message in the commit log")
    rebuild.finish()
    checkpoint = Checkpoint(report.newest, report.newest, index.full_timestamp, 0, 0, report.queued)
    write_file(files, "checkpoint", encode_checkpoint(checkpoint))
    copied, lost = _copy_config(store, files)
    has_timers = _copy_timers(store, files)
    timer_damage = find_timer_damage(store.folder, store.folder.commit_log[0].offset)
    if "config/topics.json" not in copied:
        counts = {
            topic: count
            for topic, count in sorted(queues.queue_counts.items())
            if not is_system_topic(topic) and topic != FILLER_TOPIC
        }
        write_file(files, "config/topics.json", topic_table(counts, queues.batch_topics))
    return report, {
        "queues": len(queues.writers),
        "config_copied": copied,
        "config_unreadable": lost,
        "topics_recovered": "config/topics.json" not in copied,
        "timers_copied": has_timers,
        "timers_damaged": sum(1 for _ in timer_damage) if has_timers else 0,
    }


def _copy_config(store: OpenedStore, files: Files) -> tuple[list[str], list[str]]:
    copied: list[str] = []
    lost: list[str] = []
    names = {name.removesuffix(".bak") for name in store.folder.config if "/" not in name}
    for name in sorted((names | set(store.rocks_config)) - {_TIMER_CHECK}):
        config = store.config(name)
        if config is None:
            lost.append(f"config/{name}")
            continue
        copied.append(f"config/{name}")
        if config[1] in store.folder.rocksdb:
            write_file(files, f"config/{name}", encode_config(config[0]))
            continue
        file = store.folder.config[config[1].removeprefix("config/")]
        write_file(files, f"config/{name}", store.read(file, max_size=MAX_SIZE))
    for name, decode in _OTHER_FILES.items():
        present = [
            file
            for file in map(store.folder.plain.get, (name, f"{name}.bak"))
            if file is not None and file.size
        ]
        for file in present:
            if store.decode(file, decode) is not None:
                write_file(files, name, store.read(file))
                copied.append(name)
                break
        if present and name not in copied:
            lost.append(name)
    return copied, lost


def _copy_timers(store: OpenedStore, files: Files) -> bool:
    """Copy the timer wheel, its log and how far it was read; they only fit together.

    A broker does not start with a file of another size, so each gets the right one.  Other
    damage stays: the broker gives up the timer log from the first record on that is none.
    """
    folder = store.folder
    check = folder.config.get(_TIMER_CHECK)
    if check is None or not folder.timer_wheels or not folder.timer_log:
        return False
    sizes = {file.name: size for file, size in timers_of_other_size(folder)}
    for file in (*folder.timer_wheels, *folder.timer_log):
        _copy(file, files, file.name, sizes.get(file.name, file.size))
    _copy(check, files, f"config/{_TIMER_CHECK}", check.size)
    return True


def _copy(file: StoreFile, files: Files, name: str, size: int) -> None:
    files.write(name, 0, b"", size)
    with open_blocks(file) as blocks:
        position = blocks.next_data(0)
        while position < min(file.size, size):
            view = blocks.read(position)[: size - position]
            if not view:
                return
            files.write(name, position, view, size)
            position = blocks.next_data(position + len(view))
