"""``follow``: what is said on a connection, line by line, with what passed between request and answer.

Rules of this file: memory does not depend on the length of the conversation, but for the requests that wait for an answer.
"""

from __future__ import annotations

import json
import sys
from typing import IO, TYPE_CHECKING, Any, Final

from rocketwire.codes import RequestCode
from rocketwire_tools.pcap.arrow import pa
from rocketwire_tools.pcap.reports.connection_filter import Wanted
from rocketwire_tools.pcap.reports.run import FAILED, Run
from rocketwire_tools.pcap.rows.output import JsonLines, clock, plain
from rocketwire_tools.pcap.rows.redaction import Redaction
from rocketwire_tools.pcap.rows.selection import Selection

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from rocketwire_tools.pcap.arrow import Batch, Schema

_FIELDS: Final = (
    "time_ns", "end_time_ns", "connection", "src", "src_port", "kind", "code", "code_name", "request_code", "opaque", "topic",
    "group", "queue_id", "remark", "frame_length", "latency_ns", "header_ok", "body_ok", "gap",
)  # fmt: skip
_MOST_WAITING: Final = 100_000


class Following(Selection):
    """The rows of some connections.

    Args:
        connections: their names; see ``connection_filter``.
        ext_fields: whether extension fields are wanted.
        body: see ``Selection``.
        redact: likewise.

    Attributes:
        found: whether there were any.
    """

    def __init__(
        self, connections: list[str], *, ext_fields: bool, body: str, redact: str | None
    ) -> None:
        fields = [*_FIELDS, *(["ext_fields"] if ext_fields else [])]
        super().__init__(fields, None, body, redact)
        self._wanted = Wanted(connections, None if redact is None else Redaction(redact))
        self.found = False

    def rows(self, batches: Iterable[Batch]) -> Iterator[Batch]:
        """See ``Selection``."""
        yield from super().rows(map(self._of_connection, batches))

    def _of_connection(self, batch: Batch) -> Batch:
        encoded = batch.column("connection").dictionary_encode()
        wanted = pa.array(
            [name in self._wanted for name in encoded.dictionary.to_pylist()], pa.bool_()
        )
        chosen = batch.filter(wanted.take(encoded.indices))
        self.found = self.found or chosen.num_rows > 0
        return chosen


class Conversation:
    """Writes rows as a conversation.

    Args:
        file: where to.
        schema: of the rows.
    """

    def __init__(self, file: IO[bytes], schema: Schema) -> None:
        self._file = file
        self._began: dict[str, int] = {}
        self._current = ""
        self._counts = {"request": 0, "oneway": 0, "response": 0}
        self._waiting: set[tuple[str, bool, int]] = set()
        del schema

    def write(self, batch: Batch) -> None:
        """See ``output.Sink``."""
        for row in batch.to_pylist():
            self._file.write("".join(self._lines(row)).encode(errors="backslashreplace"))

    def _lines(self, row: dict[str, Any]) -> Iterator[str]:
        connection: str = row["connection"]
        if connection != self._current:
            yield f"{connection}\n"
            self._current = connection
        began = self._began.setdefault(connection, row["time_ns"])
        by_first = connection.partition("-")[0] in (
            f"{row['src']}:{row['src_port']}",
            f"[{row['src']}]:{row['src_port']}",
        )
        self._note(row, by_first=by_first)
        passed = (row["time_ns"] - began) / 1e9
        words = " ".join(_words(row))
        yield f"{clock(row['time_ns'])} {passed:+12.6f} {'>' if by_first else '<'} {words}\n"
        for name in ("ext_fields", "body"):
            if (text := row.get(name)) is not None:
                shown = json.dumps(json.loads(text), indent=2, ensure_ascii=False)
                yield "      ".join(["", *f"{name} {shown}\n".splitlines(keepends=True)])

    def _note(self, row: dict[str, Any], *, by_first: bool) -> None:
        kind = row["kind"]
        if kind is None:
            return
        self._counts[kind] += 1
        key = (row["connection"], by_first == (kind == "request"), row["opaque"])
        if kind == "request" and len(self._waiting) < _MOST_WAITING:
            self._waiting.add(key)
        elif kind == "response":
            self._waiting.discard(key)

    def close(self) -> None:
        """See ``output.Sink``."""
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
        yield f"to {_asked(row['request_code'])}"
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


def _asked(code: int | None) -> str:
    """The request that a response answers."""
    return "a request that was not captured" if code is None else RequestCode(code).name


def follow(captures: Sequence[str], following: Following, form: str, join: str = "auto") -> int:
    """Print the conversation of some connections.

    Args:
        captures: paths.
        following: what is wanted.
        form: ``text`` or ``jsonl``.
        join: which captures are taken as one, see ``files.series``.

    Returns:
        The exit status; 1 also if there is no such connection.
    """
    run = Run(captures, following, join=join)
    sink = (Conversation if form == "text" else JsonLines)(sys.stdout.buffer, following.schema)
    for batch in run.batches():
        sink.write(batch)
    sink.close()
    if not following.found:
        print("rocketwire-pcap: no frame of such a connection; see 'connections'", file=sys.stderr)
        return FAILED
    return FAILED if run.failed else 0
