"""``replay``: stored messages sent to a running cluster."""

from __future__ import annotations

import logging
import os
import sys
import time
from collections import Counter
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING, Any, Final, cast

import trio

from rocketwire.client import open_client
from rocketwire.errors import RocketWireError
from rocketwire_tools.cli.command import UsageError
from rocketwire_tools.cli.file_program import NothingFoundError
from rocketwire_tools.cli.settings import client_config, settings_of
from rocketwire_tools.cli.stdio import stopping
from rocketwire_tools.store.engine.rows import TopicNames
from rocketwire_tools.store.opened import OpenedStore, are_whole
from rocketwire_tools.store.output import json_line, write_table
from rocketwire_tools.store.replaying.journal import Journal
from rocketwire_tools.store.replaying.outgoing import messages_of
from rocketwire_tools.store.replaying.sending import (
    Replayer,
    ReplayError,
    ReplaySettings,
    TopicMap,
    choose_queue,
)
from rocketwire_tools.store.selecting import (
    describe_absence,
    select_rows,
    selection_of,
)
from rocketwire_tools.terminal import INTERVAL, ProgressLine, print_error

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Mapping

    from rocketwire.client import ClientConfig, ClientInstance
    from rocketwire.errors import BrokerError
    from rocketwire_tools.store.engine.filters import Selection
    from rocketwire_tools.store.replaying.outgoing import ReplayMessage

_BLOCK_SIZE: Final = 1 << 20
_CHOICES: Final = {
    "queue": "queue",
    "offsets": "offsets",
    "physical": "physical",
    "begin": "begin",
    "end": "end",
    "tag": "tags",
    "key": "key",
    "message_id": "id",
    "sql": "sql",
    "ghosts": "ghosts",
}
"""Options that choose messages → their names in a journal."""

_TEXTS: Final = (
    ("found", "the target had {} that the journal did not have"),
    ("done_before", "{} were sent before"),
    ("refused", "brokers refused {}"),
    ("less_safe", "{} were not flushed or copied in time"),
    ("broken_messages", "{} with a wrong checksum are left out"),
    ("unreadable_batches", "{} batches cannot be read"),
    ("damaged_regions", "{} damaged regions are left out"),
)
"""Counts of a report and their words."""

_NO_LOG: Final = logging.NullHandler()
"""Warnings of the client are not written: the replay reports what it could not do."""


class StoredMessages:
    def __init__(
        self, store: OpenedStore, selection: Selection, topics: TopicMap, absence: str | None
    ) -> None:
        self.store = store
        self.topics = topics  # names of topics at the target
        self.broken = 0  # messages with a wrong checksum, which are left out
        self.unreadable = 0  # inner batches that cannot be read
        self._selection = selection
        self._absence = absence
        self._scans = store.scans()

    def __iter__(self) -> Iterator[ReplayMessage]:
        is_empty = True
        for scan in self._scans:
            scan.block_size = _BLOCK_SIZE
            for rows in select_rows(scan, self._selection, TopicNames()):
                for message, holds in zip(messages_of(rows), rows.crc_holds.tolist(), strict=True):
                    if message is None:
                        self.unreadable += 1
                    elif not self.topics.selects(message):
                        continue
                    elif not holds:
                        self.broken += 1
                    else:
                        is_empty = False
                        yield message
        if is_empty and self._absence is not None:
            raise NothingFoundError(self._absence)

    def omissions(self, done_before: int) -> dict[str, int]:
        return {
            "done_before": done_before,
            "broken_messages": self.broken,
            "unreadable_batches": self.unreadable,
            "damaged_regions": sum(scan.damaged_regions for scan in self._scans),
        }

    @property
    def is_damaged(self) -> bool:
        return any(self.omissions(0).values()) or not are_whole([self.store])


def run(arguments: argparse.Namespace) -> int:
    logging.getLogger("rocketwire").addHandler(_NO_LOG)
    topics = TopicMap(arguments.topic)
    selection = {name: getattr(arguments, option) for option, name in _CHOICES.items()}
    selection["topics"] = sorted(f"{old}={topics.target(old)}" for old in topics.topics)
    arguments.topic, arguments.system = list(topics.topics), bool(topics.topics)
    store = OpenedStore(arguments.paths)
    absence = describe_absence([store], arguments)
    messages = StoredMessages(store, selection_of(arguments), topics, absence)
    config = _client_config(arguments)
    journal = Journal(arguments.journal, _as_json(selection), is_read_only=arguments.dry_run)
    try:
        work = partial(_dry_run if arguments.dry_run else _replay, arguments, config)
        return trio.run(work, messages, journal)
    except (ReplayError, RocketWireError, NothingFoundError) as error:
        print_error(f"rocketwire-store: {error}")
        return 1
    finally:
        journal.close()


def _as_json(values: dict[str, Any]) -> dict[str, Any]:
    return {
        name: list(cast("list[object]", value)) if isinstance(value, (tuple, list)) else value
        for name, value in values.items()
        if value not in (None, False, [])
    }


def _client_config(arguments: argparse.Namespace) -> ClientConfig:
    try:
        config = client_config(settings_of(arguments, os.environ))
    except UsageError as error:
        raise ValueError(str(error)) from error
    if not config.namesrv_addr:
        raise ValueError("no name server: give -n host:port, or set NAMESRV_ADDR")
    return config


def _replayer(
    arguments: argparse.Namespace,
    config: ClientConfig,
    instance: ClientInstance,
    messages: StoredMessages,
    journal: Journal,
) -> Replayer:
    settings = ReplaySettings(
        in_flight=arguments.in_flight,
        rate=arguments.rate,
        retries=arguments.retries,
        timeout=config.mq_client_api_timeout,
        skips_refused=arguments.skip_refused,
    )
    return Replayer(instance, journal, messages.topics, settings, refused=_report_refusal)


def _report_refusal(message: ReplayMessage, error: BrokerError) -> None:
    print_error(f"rocketwire-store: message {message.name} was refused: {error}")


async def _replay(
    arguments: argparse.Namespace, config: ClientConfig, messages: StoredMessages, journal: Journal
) -> int:
    begin, error, signal = time.monotonic(), None, 0
    async with open_client(config) as instance:
        replayer = _replayer(arguments, config, instance, messages, journal)
        await replayer.check_target()
        async with stopping() as stop, trio.open_nursery() as nursery:

            async def stop_when_requested() -> None:
                await stop.requested.wait()
                replayer.stop()

            nursery.start_soon(stop_when_requested)
            nursery.start_soon(_show_progress, replayer, messages)
            try:
                await replayer.run(messages)
            except (ReplayError, RocketWireError, NothingFoundError, OSError) as failure:
                error = failure
            signal = stop.signal
            nursery.cancel_scope.cancel()
    report = {
        **asdict(replayer.counts),
        **messages.omissions(replayer.counts.done_before),
        "queues": len(journal.lanes),
        "seconds": round(time.monotonic() - begin, 3),
        "error": None if error is None else str(error),
    }
    _report(report, is_json=arguments.json, is_interrupted=bool(signal))
    if error is not None:
        print_error(f"rocketwire-store: {error}")
    if signal:
        return 128 + signal
    is_complete = error is None and not replayer.counts.refused
    return 0 if is_complete and not messages.is_damaged else 1


async def _show_progress(replayer: Replayer, messages: StoredMessages) -> None:
    files = messages.store.folder.commit_log
    start, size = files[0].offset, max(files[-1].end - files[0].offset, 1)
    begin, counts = time.monotonic(), replayer.counts
    with ProgressLine("{:3d} %  {:,} sent  {:,.0f}/s") as line:
        while True:
            await trio.sleep(INTERVAL)
            percent = 100 * (counts.physical_offset - start) // size
            line.show(percent, counts.sent, counts.sent / (time.monotonic() - begin))


def _report(report: dict[str, Any], *, is_json: bool, is_interrupted: bool) -> None:
    if is_json:
        sys.stdout.buffer.write(json_line(report))
        return
    end = "; interrupted" if is_interrupted else ""
    print(f"{report['sent']} messages sent{_omissions(report)}{end}")


def _omissions(counts: Mapping[str, int]) -> str:
    return "".join(f"; {text.format(counts[name])}" for name, text in _TEXTS if counts.get(name))


async def _dry_run(
    arguments: argparse.Namespace, config: ClientConfig, messages: StoredMessages, journal: Journal
) -> int:
    counts, sizes, done = Counter[tuple[str, int]](), Counter[tuple[str, int]](), 0
    for message in messages:
        source = message.topic, message.queue_id
        lane = journal.lanes.get(source)
        if lane is not None and lane.has_done(message.position):
            done += 1
            continue
        counts[source] += 1
        sizes[source] += len(message.body)
    rows: list[tuple[str, int, str, int, int]] = []
    error: ReplayError | None = None
    async with open_client(config) as instance:
        replayer = _replayer(arguments, config, instance, messages, journal)
        for source in sorted(counts):
            topic, queue_id = source
            try:
                target = await replayer.find_target(messages.topics.target(topic))
            except ReplayError as failure:
                text, error = "nowhere", error or failure
            else:
                lane = journal.lanes.get(source)
                queue = lane.queue if lane else choose_queue(target.info.queues, queue_id)
                text = f"{queue.topic}:{queue.queue_id} at {queue.broker_name}"
            rows.append((topic, queue_id, text, counts[source], sizes[source]))
    header = ("topic", "queue", "to", "messages", "bytes")
    if arguments.json:
        for row in rows:
            sys.stdout.buffer.write(json_line(dict(zip(header, row, strict=True))))
    else:
        write_table(header, rows)
        print(f"{counts.total()} messages would be sent{_omissions(messages.omissions(done))}")
    if error is not None:
        print_error(f"rocketwire-store: {error}")
    return 1 if error is not None or messages.is_damaged else 0
