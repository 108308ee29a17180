"""``routes``: prints events of ``reports.routes`` as text or JSON lines, masked on request."""

from __future__ import annotations

import dataclasses
import sys
from typing import TYPE_CHECKING, Any, Final

import msgspec

from rocketwire.flags import Perm
from rocketwire_tools.pcap.arrow import compute, pa
from rocketwire_tools.pcap.reports.reports import Table, as_text
from rocketwire_tools.pcap.reports.routes import CHANGES, FIELDS, LOOKUP, RouteWatch
from rocketwire_tools.pcap.reports.run import FAILED, CaptureRun
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
    "name_server": "host",
    "peer": "host",
    "broker_addr": "host",
    "cluster": "text",
    "broker": "text",
    "topic": "topic",
}
_COLUMNS: Final = (
    "name_server", "cluster", "broker", "broker_id", "broker_addr", "registrations", "changes",
    "heartbeats", "topics", "seconds", "state",
)  # fmt: skip


class RouteSelection(Selection):
    """Selects the frames about routes.

    Args:
        lookups: whether to include route lookups.
    """

    def __init__(self, *, lookups: bool) -> None:
        super().__init__(["time_ns"])
        codes = [int(code) for code in sorted(CHANGES)] + ([int(LOOKUP)] if lookups else [])
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


class RouteMasks:
    """Masks events and brokers.

    Args:
        redaction: masks names; None to show everything.
    """

    def __init__(self, redaction: Redaction | None) -> None:
        self._redaction = redaction

    def name(self, text: str, content: str) -> str:
        """Mask a name; ``content`` is ``topic``, ``host`` or ``text``."""
        if self._redaction is None:
            return text
        return self._redaction.within.text(text, content)

    def event(self, event: Event) -> Event:
        """Mask the names of an event."""
        if self._redaction is None:
            return event
        masked_event = dataclasses.replace(event)
        for name, content in _MASKED.items():
            if (value := getattr(event, name)) is not None:
                setattr(masked_event, name, self.name(value, content))
        masked_event.added, masked_event.changed = (
            self._topics(topics, "topic") for topics in (event.added, event.changed)
        )
        masked_event.brokers = self._topics(event.brokers, "text")
        masked_event.problem = None if event.problem is None else event.problem.partition(":")[0]
        return masked_event

    def _topics(self, topics: Topics, content: str) -> Topics:
        return {self.name(name, content): what for name, what in topics.items()}

    def key(self, key: Key) -> Key:
        """Mask the names of a broker."""
        server, cluster, name, number, address = key
        return (
            self.name(server, "host"),
            self.name(cluster, "text"),
            self.name(name, "text"),
            number,
            self.name(address, "host"),
        )


def event_text(event: Event, *, all_topics: bool) -> str:
    """Format an event for people; ``all_topics`` shows every topic."""
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
        lines += _topic_lines(sign, topics, all_topics=all_topics)
    return "\n".join(lines) + "\n"


def _topic_lines(sign: str, topics: Topics, *, all_topics: bool) -> Iterator[str]:
    for number, (name, (reads, writes, perm)) in enumerate(topics.items()):
        if number == _MOST_SHOWN and not all_topics:
            yield f"      {sign} and {len(topics) - number} more"
            return
        yield f"      {sign} {plain(name)} {reads}/{writes} {_perm(perm)}"


def _perm(perm: int) -> str:
    return ("r" if perm & Perm.READ else "-") + ("w" if perm & Perm.WRITE else "-")


def _objects(event: Event) -> dict[str, Any]:
    members = dataclasses.asdict(event)
    for name in ("added", "changed", "brokers"):
        members[name] = {
            key: {"read_queues": reads, "write_queues": writes, "perm": perm}
            for key, (reads, writes, perm) in members[name].items()
        }
    return {name: value for name, value in members.items() if value not in (None, {})}


def _state(key: Key, broker: Broker) -> tuple[Any, ...]:
    seconds = (broker.last_ns - broker.first_ns) / 1e9
    state = "registered" if broker.gone_ns is None else "unregistered"
    counts = broker.registrations, broker.changes, broker.heartbeats, len(broker.topics)
    return (*key, *counts, seconds, state)


def routes(
    captures: Sequence[str], *, lookups: bool, every: bool, redact: str | None, form: str,
    join: str = "auto",
) -> int:  # fmt: skip
    """Print the registrations of brokers and the answers of route lookups.

    Args:
        captures: paths.
        lookups: show lookups whose answer has changed.
        every: show registrations without news, and all topics.
        redact: secret for masks; None for none.
        form: ``text`` or ``jsonl``.
        join: which captures are decoded as one, see ``files.series``.

    Returns:
        The exit status.
    """
    run = CaptureRun(captures, RouteSelection(lookups=lookups), join=join)
    masked = RouteMasks(None if redact is None else Redaction(redact))
    watch = RouteWatch()

    def show(events: Iterable[Event]) -> None:
        for event in events:
            if event.what == "again" and not every:
                continue
            shown = masked.event(event)
            text = (
                event_text(shown, all_topics=every)
                if form == "text"
                else f"{_json(_objects(shown))}\n"
            )
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
        lines = (_json({"what": "broker", **row_object}) for row_object in table.objects())
        sys.stdout.buffer.write("".join(f"{line}\n" for line in lines).encode())
    sys.stdout.buffer.flush()
    return FAILED if run.failed else 0


def _json(value: dict[str, Any]) -> str:
    return msgspec.json.encode(value).decode()
