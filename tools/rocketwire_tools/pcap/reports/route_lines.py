"""``routes``: the events of ``routes`` as lines for people or as JSON lines, masked where that is wanted."""

from __future__ import annotations

import dataclasses
import sys
from typing import TYPE_CHECKING, Any, Final

import msgspec

from rocketwire.flags import Perm
from rocketwire_tools.pcap.arrow import compute, pa
from rocketwire_tools.pcap.reports.reports import Table, as_text
from rocketwire_tools.pcap.reports.routes import FIELDS, LOOKUP, WATCHED, Watch
from rocketwire_tools.pcap.reports.run import FAILED, Run
from rocketwire_tools.pcap.rows.output import clock, plain
from rocketwire_tools.pcap.rows.redaction import Redaction
from rocketwire_tools.pcap.rows.selection import Selection

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from rocketwire_tools.pcap.arrow import Batch
    from rocketwire_tools.pcap.reports.routes import Broker, Event, Key, Topics

pc: Any = compute()

_MOST_SHOWN: Final = 20
_MASKED: Final = {
    "name_server": "host", "peer": "host", "broker_addr": "host", "cluster": "text", "broker": "text", "topic": "topic",
}  # fmt: skip
_COLUMNS: Final = (
    "name_server", "cluster", "broker", "broker_id", "broker_addr", "registrations", "changes", "heartbeats", "topics",
    "seconds", "state",
)  # fmt: skip


class Watched(Selection):
    """The frames that routes are made of.

    Args:
        lookups: whether route lookups are among them.
    """

    def __init__(self, *, lookups: bool) -> None:
        super().__init__(["time_ns"])
        codes = [int(code) for code in sorted(WATCHED)] + ([int(LOOKUP)] if lookups else [])
        self._codes = pa.array(codes, pa.int32())
        self.engine_fields = FIELDS
        self.needs_bodies = True

    def rows(self, batches: Iterable[Batch]) -> Iterator[Batch]:
        """See ``Selection``; with the columns of ``routes.FIELDS``."""
        for batch in batches:
            asks = pc.not_equal(batch.column("kind"), "response")
            code = pc.if_else(asks, batch.column("code"), batch.column("request_code"))
            chosen = batch.filter(pc.fill_null(pc.is_in(code, self._codes), False))
            if chosen.num_rows:
                yield chosen


class Masked:
    """Events and brokers as they are shown.

    Args:
        redaction: makes masks; None to show everything.
    """

    def __init__(self, redaction: Redaction | None) -> None:
        self._redaction = redaction

    def name(self, text: str, kind: str) -> str:
        """A name; kind: ``topic``, ``host`` or ``text``."""
        if self._redaction is None:
            return text
        return self._redaction.within.text(text, kind)

    def event(self, event: Event) -> Event:
        """The event with masked names."""
        if self._redaction is None:
            return event
        made = dataclasses.replace(event)
        for name, kind in _MASKED.items():
            if (value := getattr(event, name)) is not None:
                setattr(made, name, self.name(value, kind))
        made.added, made.changed = (
            self._topics(one, "topic") for one in (event.added, event.changed)
        )
        made.brokers = self._topics(event.brokers, "text")
        made.problem = None if event.problem is None else event.problem.partition(":")[0]
        return made

    def _topics(self, topics: Topics, kind: str) -> Topics:
        return {self.name(name, kind): what for name, what in topics.items()}

    def key(self, key: Key) -> Key:
        """The masked names of a broker."""
        server, cluster, name, number, address = key
        return (
            self.name(server, "host"),
            self.name(cluster, "text"),
            self.name(name, "text"),
            number,
            self.name(address, "host"),
        )


def text_of(event: Event, *, whole: bool) -> str:
    """An event for people; whole: name every topic."""
    words = [clock(event.time_ns), event.name_server]
    if event.broker is not None:
        number = "" if event.broker_id is None else f"({event.broker_id})"
        words += [
            "<",
            f"{plain(event.broker)}{number}",
            event.broker_addr or "",
            f"of {event.cluster}" if event.cluster else "",
        ]
    else:
        words += ["<", event.peer]
    words.append(event.what)
    if event.topic is not None:
        words.append(plain(event.topic))
    if event.topics is not None:
        words.append(f"with {event.topics} topics")
    if not event.accepted:
        words.append(f"refused: {event.answer}")
    elif event.answer is None:
        words.append("without an answer")
    if event.latency_ns is not None:
        words.append(f"after {event.latency_ns / 1e6:.3f}ms")
    if event.problem is not None:
        words.append(f"({event.problem})")
    lines = [" ".join(word for word in words if word)]
    for sign, topics in (("+", event.added), ("~", event.changed), ("=", event.brokers)):
        lines += _topic_lines(sign, topics, whole=whole)
    return "\n".join(lines) + "\n"


def _topic_lines(sign: str, topics: Topics, *, whole: bool) -> Iterator[str]:
    for number, (name, (reads, writes, perm)) in enumerate(topics.items()):
        if number == _MOST_SHOWN and not whole:
            yield f"      {sign} and {len(topics) - number} more"
            return
        yield f"      {sign} {plain(name)} {reads}/{writes} {_perm(perm)}"


def _perm(perm: int) -> str:
    return ("r" if perm & Perm.READ else "-") + ("w" if perm & Perm.WRITE else "-")


def _objects(event: Event) -> dict[str, Any]:
    made = dataclasses.asdict(event)
    for name in ("added", "changed", "brokers"):
        made[name] = {
            key: {"read_queues": reads, "write_queues": writes, "perm": perm}
            for key, (reads, writes, perm) in made[name].items()
        }
    return {name: value for name, value in made.items() if value not in (None, {})}


def _state(key: Key, broker: Broker) -> tuple[Any, ...]:
    seconds = (broker.last_ns - broker.first_ns) / 1e9
    state = "registered" if broker.gone_ns is None else "unregistered"
    counts = broker.registrations, broker.changes, broker.heartbeats, len(broker.topics)
    return (*key, *counts, seconds, state)


def routes(
    captures: Sequence[str], *, lookups: bool, every: bool, redact: str | None, form: str,
    join: str = "auto",
) -> int:  # fmt: skip
    """Print what brokers registered and what lookups were told.

    Args:
        captures: paths.
        lookups: show answered lookups, where an answer differs from the one before.
        every: show registrations that say nothing new, and all topics.
        redact: secret for masks; None for none.
        form: ``text`` or ``jsonl``.
        join: which captures are taken as one, see ``files.series``.

    Returns:
        The exit status.
    """
    run = Run(captures, Watched(lookups=lookups), join=join)
    masked = Masked(None if redact is None else Redaction(redact))
    watch = Watch()

    def show(events: Iterable[Event]) -> None:
        for event in events:
            if event.what == "again" and not every:
                continue
            shown = masked.event(event)
            text = text_of(shown, whole=every) if form == "text" else f"{_json(_objects(shown))}\n"
            sys.stdout.buffer.write(text.encode(errors="backslashreplace"))

    for batch in run.batches():
        for row in batch.to_pylist():
            show(watch.take(row))
    show(watch.finish())
    states = [_state(masked.key(key), broker) for key, broker in watch.brokers.items()]
    table = Table("brokers", _COLUMNS, sorted(states, key=lambda row: row[:5]))
    if form == "text":
        sys.stdout.buffer.write(f"\n{as_text([table])}\n".encode(errors="backslashreplace"))
    else:
        lines = (_json({"what": "broker", **one}) for one in table.objects())
        sys.stdout.buffer.write("".join(f"{line}\n" for line in lines).encode())
    sys.stdout.buffer.flush()
    return FAILED if run.failed else 0


def _json(value: dict[str, Any]) -> str:
    return msgspec.json.encode(value).decode()
