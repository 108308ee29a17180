"""Starts of Java's store, without the rest of a broker: one JVM for many stores.

``JavaStarts`` starts stores; ``differences`` compares a start with what was predicted of it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Self
from urllib.parse import quote, unquote_plus

from rocketwire.store.built_queues import BuiltBatchQueue
from rocketwire.store.java_records import Release
from rocketwire_tools.store.checks.images import batch_topics
from rocketwire_tools.store.opened import OpenedStore
from tests.support.java.peers import JavaPeer
from tests.support.processes import PeerFailedError
from tests.support.stores.cluster import SMALL, copy_store
from tests.support.stores.restarts import prediction_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping
    from pathlib import Path

    from rocketwire.store.built_queues import Topic
    from rocketwire.store.recovery import Recovery

STARTED: Final = "started"
REFUSED: Final = "refused"
HUNG: Final = "hung"

HANG_SECONDS: Final = 60.0
"""How long a start that was predicted to hang is waited for."""

START_SECONDS: Final = 300.0


@dataclass(frozen=True, slots=True)
class Pull:
    """One answer to a pull.

    Attributes:
        offset: asked for.
        status: as Java names it.
        next_offset: to ask for next.
        data: the messages.
    """

    offset: int
    status: str
    next_offset: int
    data: bytes


@dataclass(frozen=True, slots=True)
class StartedQueue:
    """A queue after the start: its least and largest offset, and pulls from the least one on."""

    min_offset: int
    max_offset: int
    pulls: tuple[Pull, ...]


@dataclass(frozen=True, slots=True)
class Start:
    """What became of a start.

    Attributes:
        outcome: ``STARTED``, ``REFUSED`` or ``HUNG``.
        first_offset: of the log.
        end: of the log.
        queues: those that were asked for.
        names: all queues that Java has; with RocksDB only those that were used.
    """

    outcome: str
    first_offset: int = 0
    end: int = 0
    queues: Mapping[Topic, StartedQueue] = field(default_factory=dict["Topic", "StartedQueue"])
    names: frozenset[Topic] = frozenset()


class JavaStarts:
    """A JVM that starts stores of brokers of one release.

    Args:
        folder: for the home of the JVM, which is started again after a start that hung.
        release: of the brokers.
    """

    def __init__(self, folder: Path, release: str) -> None:
        self._folder = folder
        self._release = release
        self._peer: JavaPeer | None = None
        self._count = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._peer is not None:
            self._peer.__exit__()

    def start(
        self,
        root: Path,
        queues: Collection[Topic],
        *,
        single: Collection[Topic] = (),
        batch_topics: Collection[str] = (),
        options: Mapping[str, object] | None = None,
        seconds: float = START_SECONDS,
    ) -> Start:
        """Start the store of a folder, which is changed.

        Args:
            root: of the store.
            queues: to pull.
            single: of these, the queues that are pulled one message at a time.
            batch_topics: topics whose queues are of type BatchCQ.
            options: of the broker, beyond ``SMALL``.
            seconds: after which the start counts as hung.

        Raises:
            PeerFailedError: Java failed otherwise.
        """
        if self._peer is None:
            self._count += 1
            home = self._folder / f"starts-{self._count}"
            self._peer = JavaPeer(home, version=self._release, program="StoreStarts.java")
        settings = ",".join(
            f"{name}={value}" for name, value in {**SMALL, **(options or {})}.items()
        )
        pulled = root.with_name(f"{root.name}.pulled")
        places = [
            f"{quote(topic, safe='')}/{queue}" + "/1" * ((topic, queue) in single)
            for topic, queue in queues
        ]
        batches = ",".join(quote(topic, safe="") for topic in batch_topics)
        words = (root, pulled, batches, settings, *places)
        try:
            answer = self._peer.line("\t".join(map(str, words)), seconds).split("\t")
        except PeerFailedError as failure:
            if not str(failure).startswith("no answer"):
                raise
            self._peer.__exit__()
            self._peer = None
            return Start(HUNG)
        if answer[0] == REFUSED:
            return Start(REFUSED)
        if answer[0] != STARTED:
            raise PeerFailedError(" ".join(answer))
        first, end = answer[1].split(",")
        data = memoryview(pulled.read_bytes())
        pulled.unlink()
        started: dict[Topic, StartedQueue] = {}
        for queue, text in zip(queues, answer[2:-1], strict=True):
            started[queue], data = _queue(text, data)
        names = frozenset(
            (unquote_plus(topic), int(queue))
            for topic, _, queue in (name.rpartition("/") for name in answer[-1][1:].split())
        )
        return Start(STARTED, int(first), int(end), started, names)


def _queue(text: str, data: memoryview) -> tuple[StartedQueue, memoryview]:
    """A queue, and the bytes of those behind it."""
    ends, *answers = text.split(";")
    pulls: list[Pull] = []
    for answer in answers:
        offset, status, following, size = answer.split(",")
        pulls.append(Pull(int(offset), status, int(following), bytes(data[: int(size)])))
        data = data[int(size) :]
    first, end = map(int, ends.split(","))
    return StartedQueue(first, end, tuple(pulls)), data


def differences(
    java: JavaStarts,
    root: Path,
    release: str,
    folder: Path,
    options: Mapping[str, object] | None = None,
) -> tuple[Recovery, list[str]]:
    """Start Java on a copy of a store; returns the prediction, and where Java did otherwise.

    Args:
        java: of the release.
        root: of the store.
        release: of the broker.
        folder: where the copy shall lie; Java writes there for some seconds after the start, so no
            other copy may lie there later.
        options: of the broker.
    """
    recovery, served = prediction_of(root, release, options)
    single = {queue for queue in recovery.queues if _has_holes(recovery, queue)}
    start = java.start(
        copy_store(root, folder),
        list(recovery.queues),
        single=single,
        options=options,
        batch_topics=_batch_topics(root, release),
        seconds=HANG_SECONDS if recovery.hang else START_SECONDS,
    )
    outcome = REFUSED if recovery.refusal else HUNG if recovery.hang else STARTED
    if start.outcome != outcome:
        return recovery, [f"{start.outcome} instead of {outcome} {recovery.refusal}{recovery.hang}"]
    if outcome != STARTED or recovery.doubt:
        return recovery, []
    faults = _log_faults(recovery, start, folder)
    for queue in recovery.queues:
        compare = _faults_of_single_pulls if queue in single else _faults_of_pulls
        faults += [f"{queue}: {fault}" for fault in compare(recovery, queue, served[queue], start)]
    return recovery, faults


def _log_faults(recovery: Recovery, start: Start, folder: Path) -> list[str]:
    faults: list[str] = []
    log = (-1, 0)
    if recovery.log is not None and recovery.starts_from is not None:
        log = (recovery.first_offset, recovery.log.files.end)  # the cut, unless files are misnamed
    if (start.first_offset, start.end) != log:
        faults.append(f"the log is {start.first_offset} to {start.end} instead of {log}")
    kept = {file.name for file in (folder / "commitlog").glob("*") if file.is_file()}
    if not kept.isdisjoint(recovery.deleted_files):
        faults.append(f"Java keeps {sorted(kept & set(recovery.deleted_files))}")
    if not start.names <= recovery.queues.keys():
        faults.append(f"Java has further queues: {sorted(start.names - recovery.queues.keys())}")
    return faults


def _end_faults(recovery: Recovery, queue: Topic, start: Start) -> Iterator[str]:
    predicted, real = recovery.queues[queue], start.queues[queue]
    # Java says -1 of a queue of batches that has none
    ends = max(0, real.min_offset), real.max_offset
    if ends != (predicted.min_offset, predicted.max_offset):
        yield f"{ends} instead of {predicted.min_offset, predicted.max_offset}"


def _faults_of_pulls(
    recovery: Recovery, queue: Topic, served: bytes, start: Start
) -> Iterator[str]:
    yield from _end_faults(recovery, queue, start)
    data = b"".join(pull.data for pull in start.queues[queue].pulls)
    if data != served:
        yield f"pulls return {len(data)} bytes, and not the predicted {len(served)}"


def _faults_of_single_pulls(
    recovery: Recovery, queue: Topic, served: bytes, start: Start
) -> Iterator[str]:
    """Java answers a pull of a unit without a message with a later one, or not at all."""
    yield from _end_faults(recovery, queue, start)
    is_batch = isinstance(recovery.models[queue], BuiltBatchQueue)
    pulls = {pull.offset: pull for pull in start.queues[queue].pulls}
    position = 0
    for unit in recovery.served(queue):
        data = served[position : position + unit.size]
        position += unit.size
        pull = pulls.pop(unit.queue_offset, None)
        if pull is None or not pull.data.startswith(data):
            yield f"a pull of {unit.queue_offset} does not return its {unit.size} bytes"
    for offset, pull in pulls.items():
        if pull.data and pull.next_offset == offset + 1 and not is_batch:
            yield f"a pull of {offset} returns {len(pull.data)} bytes"


def _has_holes(recovery: Recovery, queue: Topic) -> bool:
    """Whether a queue has units without a message: a pull leaves out some that follow these too.

    Java skips the rest of the file of the log in which the message should be.
    """
    units = list(recovery.models[queue].units_served())
    return (
        any(not size for _, _, size in units)
        or len(units) != sum(1 for _ in recovery.served(queue))
        or bool(recovery.unanswered(queue))
    )


def _batch_topics(root: Path, release: str) -> frozenset[str]:
    if Release(release) is Release.V4_9_4:
        return frozenset()
    return batch_topics(OpenedStore([root]))
