"""The status page: an HTML document without scripts and external files.

Rules of this file: every text goes through ``markup.text``, because most texts come from peers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from rocketwire.flags import Perm
from rocketwire.serving.http.markup import format_time, page, rest, span, table, text

if TYPE_CHECKING:
    from rocketwire.messages.route import QueueData
    from rocketwire_namesrv.admin_http.event_history import LogEntry, PermissionChange
    from rocketwire_namesrv.admin_http.status import BrokerLine, Status, TopicLine
    from rocketwire_namesrv.routes.peer_views import PeerView


def status_page(
    status: Status,
    facts: Mapping[str, str],
    permissions: Mapping[str, PermissionChange],
    news: Iterable[LogEntry],
    troubles: Iterable[LogEntry],
) -> bytes:
    parts = (
        "<h1>RocketMQ name server</h1>",
        _head(status, facts),
        _brokers(status),
        _peers(status),
        _permissions(permissions),
        _topics(status),
        _events("Brokers and administration", news),
        _events("Refusals, failures and ends of connections", troubles),
    )
    return page("rocketwire name server", parts)


def _head(status: Status, facts: Mapping[str, str]) -> str:
    if status.shutting_down:
        state = "<span class=bad>stopping: no routes are returned</span>"
    elif not status.serving:
        state = "<span class=bad>waiting: no routes are returned yet</span>"
    else:
        state = "<span class=ok>serving</span>"
    listed = " · ".join(f"{text(name)} {text(value)}" for name, value in facts.items())
    return (
        f"<p>{state} · up {span(status.up)} · {format_time(status.now)}</p><p>{listed}</p>"
        "<p><a href=/metrics>metrics</a> · <a href=/healthz>healthz</a> ·"
        " <a href=/readyz>readyz</a></p>"
    )


def _brokers(status: Status) -> str:
    heads = (
        *("cluster", "broker", "id", "role", "address", "last seen", "version", "data version"),
        *("topics", "not writable"),
    )
    clusters = ", ".join(f"{text(name)} ({count})" for name, count in status.clusters.items())
    rows = [_broker(line) for line in status.brokers]
    return (
        f"<h2>Brokers: {status.live}</h2><p>Clusters: {clusters or 'none'}</p>"
        f"{table(heads, rows, frozenset({2, 7, 8, 9}), 'brokers')}"
        f"{rest(len(rows), status.live)}"
    )


def _broker(line: BrokerLine) -> tuple[str, ...]:
    is_late = line.silent > line.timeout / 2
    last_seen = f"{line.silent:.0f} s ago of {line.timeout:.0f}"
    return (
        text(line.cluster),
        text(line.name),
        "?" if line.broker_id is None else str(line.broker_id),
        line.role,
        f"<code>{text(line.address)}</code>",
        f"<span class=bad>{last_seen}</span>" if is_late else last_seen,
        text(line.version),
        text(line.data_version),
        str(line.topics),
        f"<span class=bad>{line.unwritable}</span>" if line.unwritable else "0",
    )


def _peers(status: Status) -> str:
    if not status.peers:
        return ""
    rows = [(f"<code>{text(peer)}</code>", _peer(view)) for peer, view in status.peers]
    heads = ("name server", "table")
    return f"<h2>Other name servers</h2>{table(heads, rows, label='other name servers')}"


def _peer(view: PeerView) -> str:
    if view.fault:
        return f"<span class=bad>not compared: {text(view.fault)}</span>"
    if view.drift.text:
        return f"<span class=bad>differs: {text(view.drift.text)}</span>"
    return "<span class=ok>the same</span>"


def _permissions(permissions: Mapping[str, PermissionChange]) -> str:
    if not permissions:
        return "<h2>Write permissions</h2><p>No write permission has changed since the start.</p>"
    rows = (
        (
            text(name),
            change.action,
            format_time(change.time),
            text(change.client),
            str(change.topics),
        )
        for name, change in reversed(list(permissions.items()))
    )
    heads = ("broker", "latest change", "when", "by", "topics of the broker")
    return f"<h2>Write permissions</h2>{table(heads, rows, frozenset({4}), 'write permissions')}"


def _topics(status: Status) -> str:
    rows = [_topic(line) for line in status.topics]
    prefix = text(status.prefix)
    remainder = ""
    if not status.prefix:
        remainder = rest(len(rows), status.topic_count)
    return (
        f"<h2>Topics: {status.topic_count}</h2>"
        "<form><label>beginning with <input name=topic maxlength=255 "
        f'value="{prefix}"></label> <button>show</button> ({len(rows)} shown)</form>'
        f"{table(('topic', 'broker: queues to read, to write, permission'), rows, label='topics')}"
        f"{remainder}"
    )


def _topic(line: TopicLine) -> tuple[str, str]:
    queues = ", ".join(_queue(queue) for queue in line.queues[:16])
    return f"<code>{text(line.name)}</code>", queues + rest(16, len(line.queues))


def _queue(queue: QueueData) -> str:
    letters = "".join(
        letter if queue.perm & bit else "-" for letter, bit in (("R", Perm.READ), ("W", Perm.WRITE))
    )
    return f"{text(queue.broker_name)}: {queue.read_queue_nums} {queue.write_queue_nums} {letters}"


def _events(title: str, events: Iterable[LogEntry]) -> str:
    rows = [(format_time(event.time), f"<code>{text(event.text)}</code>") for event in events]
    rows.reverse()
    if not rows:
        return f"<h2>{title}</h2><p>None yet.</p>"
    return f"<h2>{title}</h2>{table(('when', 'what'), rows, label=title)}"
