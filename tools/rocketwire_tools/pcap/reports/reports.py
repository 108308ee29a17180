"""Reports: tables that summarise a capture.

Only sums of the rows are kept. If there are too many latencies, a sample of them is kept.
"""

from __future__ import annotations

import random
from array import array
from collections import Counter, defaultdict
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, Protocol

import numpy as np

from rocketwire.codes import RequestCode, ResponseCode
from rocketwire.versions import MQVersion
from rocketwire_tools.pcap.rows.output import clock
from rocketwire_tools.terminal import align, printable, text_width

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rocketwire_tools.pcap.arrow import Batch
    from rocketwire_tools.pcap.decode.decoder import Totals

POLL_ENDS: Final[dict[int, str]] = {
    ResponseCode.PULL_NOT_FOUND: "no new message came while the broker held the pull",
    ResponseCode.PULL_RETRY_IMMEDIATELY: (
        "no message before the next offset matches the filter; the client pulls from there"
    ),
    ResponseCode.POLLING_FULL: "the broker holds as many pops as it may (popPollingSize)",
    ResponseCode.POLLING_TIMEOUT: "no new message came while the broker held the pop",
}
"""Reasons by code (Java: ``PullMessageProcessor``, ``PopMessageProcessor``; clients return them as
a status and raise nothing).

``PULL_OFFSET_MOVED`` is missing here: the consumer asked for an offset that does not exist, because
the messages were deleted or its offset is wrong, and continues elsewhere.
"""


def is_poll_end(frame_kind: str | None, code: int | None) -> bool:
    return frame_kind == "response" and code in POLL_ENDS


def is_error(frame_kind: str | None, code: int | None) -> bool:
    return frame_kind == "response" and code != 0 and code not in POLL_ENDS


_SAMPLE: Final = 200_000  # Latencies kept for each code and topic, unless the total is too large
_SAMPLES: Final = 2_000_000
"""Latencies kept in total; beyond that, fewer are kept for each code and topic."""
_MIN_SAMPLE: Final = 16
_KEYS: Final = 100_000
"""Topics, connections or pairs that are counted apart; later ones count as ``(others)``."""
OTHERS: Final = "(others)"


@dataclass(slots=True)
class Table:
    name: str  # one word
    columns: Sequence[str]  # their names
    rows: list[tuple[Any, ...]]  # a value for each column
    note: str = ""  # a sentence below the table

    def objects(self) -> list[dict[str, Any]]:
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]


class Report(Protocol):
    @property
    def fields(self) -> Sequence[str]: ...

    def take(self, batch: Batch) -> None:
        """Add rows."""

    def tables(self, totals: Sequence[Totals]) -> list[Table]: ...


def as_text(tables: Sequence[Table]) -> str:
    """Format tables for people, without those that have no rows."""
    return "\n\n".join(_table_text(table) for table in tables if table.rows or table.note)


def _table_text(table: Table) -> str:
    forms = [_FORMS.get(_unit(name), _cell) for name in table.columns]
    names = [name.removesuffix(_unit(name)) for name in table.columns]
    cells = [[form(value) for form, value in zip(forms, row, strict=True)] for row in table.rows]
    widths = [max(map(text_width, column)) for column in zip(names, *cells, strict=True)]
    numeric = [
        all(isinstance(row[i], int | float | None) for row in table.rows)
        for i in range(len(widths))
    ]
    lines = [table.name.upper(), *align([names, *cells], numeric, widths)]
    if table.note:
        lines.append(table.note)
    return "\n".join(lines)


def _cell(value: object) -> str:
    if value is None:
        return "-"
    if isinstance(value, Seconds):
        return f"{float(value):.3f}s"
    if isinstance(value, float):
        return f"{value:,.3f}"
    if isinstance(value, int):
        return f"{value:,}"
    return printable(value)


class Seconds(float):
    """A duration, printed with its unit."""

    __slots__ = ()


def milliseconds(value: float) -> str:
    return f"{value:.3f}ms"


_FORMS: Final[dict[str, Callable[[Any], str]]] = {"_ms": milliseconds, "_ns": clock}
"""Formats of columns for people, by the unit at the end of their names; JSON has plain numbers."""


def _unit(name: str) -> str:
    return next((unit for unit in _FORMS if name.endswith(unit)), "")


def _name(code: int | None) -> str:
    if code is None:
        return OTHERS
    request_code = RequestCode(code)
    return request_code.name if request_code.is_known else str(code)


def _request_name(request_code: int | None) -> str:
    return "?" if request_code is None else _name(request_code)


class Sample:
    """Latencies in milliseconds: all of them, or a random sample."""

    __slots__ = ("count", "largest", "values")

    def __init__(self) -> None:
        self.count = 0  # of all latencies
        self.largest = 0.0  # of all latencies
        self.values = array("d")  # the sample

    def add(self, value: float, limit: int) -> bool:
        self.count += 1
        self.largest = max(self.largest, value)
        if self.count <= limit:
            self.values.append(value)
            return True
        if (index := random.randrange(self.count)) < len(self.values):  # noqa: S311 - no secret
            self.values[index] = value
        return False

    def thin(self, limit: int) -> None:
        if len(self.values) > limit:
            self.values = array("d", random.sample(self.values, limit))

    def percentiles(self) -> tuple[float, float, float]:
        p50, p90, p99 = np.percentile(np.frombuffer(self.values), (50, 90, 99))
        return float(p50), float(p90), float(p99)


class PollEnds:
    def __init__(self) -> None:
        self._counts: Counter[tuple[int | None, int]] = Counter()

    def add(self, request_code: int | None, code: int) -> None:
        """Count a response; ``request_code`` is None if the request was not captured."""
        self._counts[request_code, code] += 1

    @property
    def total(self) -> int:
        return self._counts.total()

    def table(self, top: int) -> Table:
        rows = [
            (_request_name(request_code), ResponseCode(code).name, count, POLL_ENDS[code])
            for (request_code, code), count in self._counts.most_common(top)
        ]
        return Table("poll_ends", ("request", "answer", "frames", "reason"), rows)


class SlowReport:
    fields = (
        "time_ns", "connection", "kind", "code", "request_code", "opaque", "request_topic",
        "latency_ns", "held",
    )  # fmt: skip

    def __init__(self, top: int) -> None:
        self._top = top
        self._samples: defaultdict[tuple[bool, int | None, str], Sample] = defaultdict(Sample)
        self._kept = 0
        self._max_samples = _SAMPLE
        self._slowest: list[tuple[int, int, int, str, int, str]] = []
        self._poll_ends = PollEnds()

    def take(self, batch: Batch) -> None:
        columns = (batch.column(name).to_pylist() for name in self.fields)
        for (
            time_ns,
            connection,
            frame_kind,
            code,
            request_code,
            opaque,
            topic,
            latency,
            held,
        ) in zip(*columns, strict=True):
            if is_poll_end(frame_kind, code):
                self._poll_ends.add(request_code, code)
                continue
            if latency is None:
                continue
            request_topic = topic or ""
            key = self._key(held, request_code, request_topic)
            self._kept += self._samples[key].add(latency / 1e6, self._max_samples)
            if not held:
                self._slowest.append(
                    (latency, time_ns, request_code, connection, opaque, request_topic)
                )
        self._slowest = sorted(self._slowest, reverse=True)[: self._top]
        while self._kept > _SAMPLES and self._max_samples > _MIN_SAMPLE:
            self._thin()

    def _key(self, held: bool, code: int, topic: str) -> tuple[bool, int | None, str]:
        keys: list[tuple[bool, int | None, str]] = [(held, code, topic), (held, code, OTHERS)]
        for limit, key in zip((_KEYS, 2 * _KEYS), keys, strict=True):
            if key in self._samples or len(self._samples) < limit:
                return key
        return held, None, OTHERS

    def _thin(self) -> None:
        self._max_samples //= 2
        for sample in self._samples.values():
            sample.thin(self._max_samples)
        self._kept = sum(len(sample.values) for sample in self._samples.values())

    def tables(self, totals: Sequence[Totals]) -> list[Table]:
        del totals
        slowest = [
            (_name(code), topic or None, latency / 1e6, time_ns, connection, opaque)
            for latency, time_ns, code, connection, opaque, topic in self._slowest
        ]
        return [
            self._percentiles("latencies", held=False),
            Table(
                "slowest",
                ("request", "topic", "latency_ms", "answer_time_ns", "connection", "opaque"),
                slowest,
            ),
            self._poll_ends.table(self._top),
            self._percentiles("held", held=True),
        ]

    def _percentiles(self, name: str, *, held: bool) -> Table:
        rows = sorted(
            (
                (_name(code), topic or None, sample.count, *sample.percentiles(), sample.largest)
                for (was_held, code, topic), sample in self._samples.items()
                if was_held == held
            ),
            key=lambda row: -row[5],
        )
        columns = ("request", "topic", "answers", "p50_ms", "p90_ms", "p99_ms", "max_ms")
        return Table(name, columns, rows[: self._top])


class Tally:
    def __init__(self) -> None:
        self.counts: dict[Any, list[int]] = {}

    def add(self, keys: list[Any], sizes: list[int], kinds: list[str], errors: list[bool]) -> None:
        """Add rows: key, bytes, kind, and whether the row is an error response."""
        counts = self.counts
        for key, size, frame_kind, error in zip(keys, sizes, kinds, errors, strict=True):
            key_counts = counts.get(key)
            if key_counts is None:
                if len(counts) >= _KEYS:
                    key = OTHERS
                key_counts = counts.setdefault(key, [0, 0, 0, 0, 0])
            key_counts[_PLACES[frame_kind]] += 1
            key_counts[3] += size
            key_counts[4] += error

    def rows(self, top: int) -> list[tuple[Any, ...]]:
        """Key, requests, oneway requests, responses, bytes and errors, sorted by bytes."""
        largest = sorted(self.counts.items(), key=lambda item: -item[1][3])[:top]
        return [(key, *counts) for key, counts in largest]


_PLACES: Final = {"request": 0, "oneway": 1, "response": 2, None: 0}
_TALLIED: Final = ("requests", "oneways", "responses", "bytes", "errors")


def _errors(batch: Batch) -> list[bool]:
    kinds, codes = (batch.column(name).to_pylist() for name in ("kind", "code"))
    return list(map(is_error, kinds, codes))


class ColumnReport:
    """Counts by one column; responses without a value of their own have that of the column
    ``of_request``."""

    def __init__(self, column: str, top: int, of_request: str | None = None) -> None:
        needed = (column, *([of_request] if of_request else []), "kind", "code", "frame_length")
        self.fields = tuple(dict.fromkeys(needed))
        self._column = column
        self._of_request = of_request
        self._top = top
        self._tally = Tally()

    def take(self, batch: Batch) -> None:
        self._tally.add(
            self._keys(batch),
            batch.column("frame_length").to_pylist(),
            batch.column("kind").to_pylist(),
            _errors(batch),
        )

    def _keys(self, batch: Batch) -> list[Any]:
        values: list[Any] = batch.column(self._column).to_pylist()
        if self._of_request is None:
            return values
        of_requests = batch.column(self._of_request).to_pylist()
        return [value or of_request for value, of_request in zip(values, of_requests, strict=True)]

    def tables(self, totals: Sequence[Totals]) -> list[Table]:
        del totals
        name = f"{self._column}s"
        return [Table(name, (self._column, *_TALLIED), self._tally.rows(self._top))]


class SummaryReport:
    fields = (
        "time_ns", "src", "connection", "kind", "code", "code_name", "request_code", "frame_length",
        "header_ok", "body_ok", "gap", "latency_ns", "language", "version",
    )  # fmt: skip

    def __init__(self, top: int) -> None:
        self._top = top
        self._first = self._last = 0
        self._kinds: Counter[str] = Counter()
        self._codes: Counter[tuple[str | None, str | None]] = Counter()
        self._errors: Counter[tuple[str, str]] = Counter()
        self._poll_ends = PollEnds()
        self._clients: Counter[tuple[str | None, str | None]] = Counter()
        self._odd: Counter[str] = Counter()
        self._talkers = Tally()
        self._seconds: Counter[int] = Counter()
        self._bytes = 0
        self._connections: set[str] = set()

    def take(self, batch: Batch) -> None:
        get = {name: batch.column(name).to_pylist() for name in self.fields}
        times = get["time_ns"]
        self._first = min(times) if not self._first else min(self._first, *times)
        self._last = max(self._last, *times)
        self._kinds.update(get["kind"])
        self._bytes += sum(get["frame_length"])
        if len(self._connections) < _KEYS:
            self._connections.update(get["connection"])
        self._seconds.update((batch.column("time_ns").to_numpy() // 1_000_000_000).tolist())
        if len(self._seconds) > _KEYS:
            self._seconds = Counter(dict(self._seconds.most_common(_KEYS // 2)))
        self._codes.update(
            (frame_kind, name or (None if code is None else str(code)))
            for frame_kind, name, code in zip(
                get["kind"], get["code_name"], get["code"], strict=True
            )
            if frame_kind != "response"
        )
        self._clients.update(
            (language, _version(version))
            for frame_kind, language, version in zip(
                get["kind"], get["language"], get["version"], strict=True
            )
            if frame_kind != "response"
        )
        self._take_errors(get)
        for counts in (self._codes, self._errors, self._clients):
            _fold(counts, (OTHERS, OTHERS))
        self._odd["headers that cannot be read"] += get["header_ok"].count(False)
        self._odd["bodies that were not captured whole"] += get["body_ok"].count(False)
        self._odd["frames with a gap"] += get["gap"].count(True)
        self._talkers.add(get["src"], get["frame_length"], get["kind"], _errors(batch))

    def _take_errors(self, get: dict[str, list[Any]]) -> None:
        columns = (
            get[name] for name in ("kind", "code", "code_name", "request_code", "latency_ns")
        )
        for frame_kind, code, name, request_code, latency in zip(*columns, strict=True):
            if frame_kind != "response":
                continue
            if is_poll_end(frame_kind, code):
                self._poll_ends.add(request_code, code)
            elif is_error(frame_kind, code):
                self._errors[_request_name(request_code), name or str(code)] += 1
            if request_code is None:
                self._odd["responses without a request"] += 1
            elif latency is None:
                self._odd["responses captured before their request"] += 1

    def _connections_counted(self) -> str:
        beyond = len(self._connections) >= _KEYS
        return "connections with frames" + (", at least" if beyond else "")

    def tables(self, totals: Sequence[Totals]) -> list[Table]:
        seconds = (self._last - self._first) / 1e9
        frames = sum(self._kinds.values())
        for capture in totals:
            self._odd["packets cut short by the capture"] += capture.cut_short
            self._odd["requests without an answer"] += capture.unanswered
            for reason, count in capture.skipped.items():
                self._odd[f"packets skipped: {reason}"] += count
        busiest = max(self._seconds.values(), default=0)
        overall = [
            ("packets", sum(capture.packets for capture in totals)),
            ("frames", frames),
            *(
                (f"{frame_kind or 'unreadable'} frames", count)
                for frame_kind, count in self._kinds.most_common()
            ),
            ("seconds", Seconds(seconds)),
            ("frames a second", frames / seconds if seconds else 0.0),
            ("frames in the busiest second", busiest),
            ("bytes of frames", self._bytes),
            ("bytes a second", self._bytes / seconds if seconds else 0.0),
            (self._connections_counted(), len(self._connections)),
            ("answers that are errors", sum(self._errors.values())),
            ("polls that ended without a message", self._poll_ends.total),
        ]
        return [
            Table("overall", ("what", "value"), overall),
            Table("requests", ("kind", "code", "frames"), _flat(self._codes, self._top)),
            Table("errors", ("request", "answer", "frames"), _flat(self._errors, self._top)),
            self._poll_ends.table(self._top),
            Table("clients", ("language", "version", "requests"), _flat(self._clients, self._top)),
            Table("talkers", ("src", *_TALLIED), self._talkers.rows(self._top)),
            Table("oddities", ("what", "count"), [(k, v) for k, v in self._odd.most_common() if v]),
        ]


def _version(number: int | None) -> str | None:
    # The name of a protocol version, such as ``V5_5_0``; its number if Java has no name for it
    return None if number is None else MQVersion(number).name


def _fold(counts: Counter[Any], other_key: tuple[Any, ...]) -> None:
    for key in list(islice(counts, _KEYS, None)):
        if key != other_key:
            counts[other_key] += counts.pop(key)


def _flat(counts: Counter[Any], top: int) -> list[tuple[Any, ...]]:
    return [(*key, count) for key, count in counts.most_common(top)]


REPORTS: Final[dict[str, Callable[[int], Report]]] = {
    "summary": SummaryReport,
    "slow": SlowReport,
    "topics": lambda top: ColumnReport("topic", top, "request_topic"),
    "connections": lambda top: ColumnReport("connection", top),
}
"""Reports by name; the argument is the number of rows of their tables."""
