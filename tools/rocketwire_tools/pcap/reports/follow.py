"""``follow``: prints the frames of a connection, with the time from request to response.

Memory does not depend on the length of the conversation, except for requests without a response.
"""

from __future__ import annotations

import json
import sys
from typing import IO, TYPE_CHECKING, Any, Final

from rocketwire.codes import RequestCode
from rocketwire_tools.pcap.arrow import pa
from rocketwire_tools.pcap.reports.connection_filter import ConnectionFilter
from rocketwire_tools.pcap.reports.run import FAILED, CaptureRun
from rocketwire_tools.pcap.rows.output import JsonLines, clock, plain
from rocketwire_tools.pcap.rows.redaction import Redaction
from rocketwire_tools.pcap.rows.selection import Selection

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from rocketwire_tools.pcap.arrow import Batch, Schema

_FIELDS: Final = (
    "time_ns", "end_time_ns", "connection", "src", "src_port", "kind", "code", "code_name",
    "request_code", "opaque", "topic", "group", "queue_id", "remark", "frame_length", "latency_ns",
    "header_ok", "body_ok", "gap",
)  # fmt: skip
_MOST_WAITING: Final = 100_000


class FollowSelection(Selection):
    """The rows of selected connections."""

    def __init__(
        self, connections: list[str], *, ext_fields: bool, body: str, redact: str | None
    ) -> None:
        fields = [*_FIELDS, *(["ext_fields"] if ext_fields else [])]
        super().__init__(fields, None, body, redact)
        self._connection_filter = ConnectionFilter(
            connections, None if redact is None else Redaction(redact)
        )
        self.found = False  # whether there were such rows

    def rows(self, batches: Iterable[Batch]) -> Iterator[Batch]:
        yield from super().rows(map(self._of_connection, batches))

    def _of_connection(self, batch: Batch) -> Batch:
        encoded = batch.column("connection").dictionary_encode()
        is_chosen = pa.array(
            [name in self._connection_filter for name in encoded.dictionary.to_pylist()], pa.bool_()
        )
        chosen = batch.filter(is_chosen.take(encoded.indices))
        self.found = self.found or chosen.num_rows > 0
        return chosen


class Conversation:
    """Writes rows as a conversation."""

    def __init__(self, file: IO[bytes], schema: Schema) -> None:
        self._file = file
        self._first_ns: dict[str, int] = {}
        self._current = ""
        self._counts = {"request": 0, "oneway": 0, "response": 0}
        self._waiting: set[tuple[str, bool, int]] = set()
        del schema

    def write(self, batch: Batch) -> None:
        for row in batch.to_pylist():
            self._file.write("".join(self._lines(row)).encode(errors="backslashreplace"))

    def _lines(self, row: dict[str, Any]) -> Iterator[str]:
        connection: str = row["connection"]
        if connection != self._current:
            yield f"{connection}\n"
            self._current = connection
        first_ns = self._first_ns.setdefault(connection, row["time_ns"])
        by_first = connection.partition("-")[0] in (
            f"{row['src']}:{row['src_port']}",
            f"[{row['src']}]:{row['src_port']}",
        )
        self._count(row, by_first=by_first)
        passed = (row["time_ns"] - first_ns) / 1e9
        words = " ".join(_words(row))
        yield f"{clock(row['time_ns'])} {passed:+12.6f} {'>' if by_first else '<'} {words}\n"
        for name in ("ext_fields", "body"):
            if (text := row.get(name)) is not None:
                shown = json.dumps(json.loads(text), indent=2, ensure_ascii=False)
                yield "      ".join(["", *f"{name} {shown}\n".splitlines(keepends=True)])

    def _count(self, row: dict[str, Any], *, by_first: bool) -> None:
        frame_kind = row["kind"]
        if frame_kind is None:
            return
        self._counts[frame_kind] += 1
        key = (row["connection"], by_first == (frame_kind == "request"), row["opaque"])
        if frame_kind == "request" and len(self._waiting) < _MOST_WAITING:
            self._waiting.add(key)
        elif frame_kind == "response":
            self._waiting.discard(key)

    def close(self) -> None:
        counts = self._counts
        if sum(counts.values()):
            line = (
                f"{counts['request']} requests ({len(self._waiting)} without an answer),"
                f" {counts['oneway']} one-way, {counts['response']} responses\n"
            )
            self._file.write(line.encode())
        self._file.flush()


def _words(row: dict[str, Any]) -> Iterator[str]:
    if not row["header_ok"]:
        yield f"unreadable header, {row['frame_length']} bytes"
        return
    yield f"{row['kind']} {row['code_name'] or '?'}({row['code']})"
    if row["kind"] == "response":
        yield f"to {_request_name(row['request_code'])}"
    yield f"opaque={row['opaque']}"
    if row["latency_ns"] is not None:
        yield f"after {row['latency_ns'] / 1e6:.3f}ms"
    for name in ("topic", "group", "queue_id", "remark"):
        if row[name] is not None:
            yield f"{name}={plain(row[name])}"
    yield f"{row['frame_length']} bytes"
    if not row["body_ok"]:
        yield "body not captured whole"
    if row["gap"]:
        yield "with a gap"


def _request_name(code: int | None) -> str:
    return "a request that was not captured" if code is None else RequestCode(code).name


def follow(
    captures: Sequence[str], following: FollowSelection, form: str, join: str = "auto"
) -> int:
    """Print the conversation of connections.

    Args:
        captures: paths.
        following: the selection.
        form: ``text`` or ``jsonl``.
        join: which captures are decoded as one, see ``files.series``.

    Returns:
        The exit status; 1 also if there is no such connection.
    """
    run = CaptureRun(captures, following, join=join)
    sink = (Conversation if form == "text" else JsonLines)(sys.stdout.buffer, following.schema)
    for batch in run.batches():
        sink.write(batch)
    sink.close()
    if not following.found:
        print(
            "rocketwire-pcap: no frame of this connection; list connections with 'connections'",
            file=sys.stderr,
        )
        return FAILED
    return FAILED if run.failed else 0
