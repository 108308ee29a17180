"""The status page: an HTML document without scripts and external files.

Rules of this file: every text goes through ``_text``, which escapes markup and control characters,
because most texts come from peers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from html import escape
from typing import TYPE_CHECKING, Final

from rocketwire.flags import Perm
from rocketwire_namesrv.events import shown

if TYPE_CHECKING:
    from rocketwire.messages.route import QueueData
    from rocketwire_namesrv.admin_http.event_history import LogEntry, PermissionChange
    from rocketwire_namesrv.admin_http.status import BrokerLine, Status, TopicLine

STYLE: Final = """
body{font:14px/1.4 system-ui,sans-serif;margin:1.5em;color:#222;background:#fff}
h1{font-size:1.4em;margin:0}h2{font-size:1.1em;margin:1.6em 0 .4em}
table{border-collapse:collapse}th,td{text-align:left;padding:.15em .8em .15em 0;vertical-align:top;
border-bottom:1px solid #ddd}td.n,th.n{text-align:right}.bad{color:#b00020;font-weight:600}
.ok{color:#06662c;font-weight:600}p{margin:.3em 0}code{font-size:.95em;overflow-wrap:anywhere}
@media(prefers-color-scheme:dark){body{color:#ddd;background:#181818}th,td{border-color:#444}
.bad{color:#ff7b8a}.ok{color:#6ccf8e}a{color:#8ab4f8}}
"""


def status_page(
    status: Status,
    facts: Mapping[str, str],
    permissions: Mapping[str, PermissionChange],
    news: Iterable[LogEntry],
    troubles: Iterable[LogEntry],
) -> bytes:
    """The page.

    Args:
        status: of the server.
        facts: short names and values for its head.
        permissions: broker name -> latest change of the permission to write.
        news: events of brokers and administration, oldest first.
        troubles: the others.
    """
    parts = (
        "<!doctype html><html lang=en><meta charset=utf-8>"
        "<meta name=viewport content='width=device-width'><title>rocketwire name server</title>",
        f"<style>{STYLE}</style><h1>RocketMQ name server</h1>",
        _head(status, facts),
        _brokers(status),
        _permissions(permissions),
        _topics(status),
        _events("Brokers and administration", news),
        _events("Refusals, failures and ends of connections", troubles),
    )
    return "".join(parts).encode("utf-8", "replace")


def _text(value: object) -> str:
    return escape(shown(value))


def _when(seconds: float) -> str:
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M:%S} UTC"


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]], numeric: frozenset[int]) -> str:
    """A table of cells that are HTML already."""

    def line(tag: str, cells: Sequence[str]) -> str:
        return "".join(
            f"<{tag}{' class=n' if column in numeric else ''}>{cell}</{tag}>"
            for column, cell in enumerate(cells)
        )

    body = "".join(f"<tr>{line('td', row)}</tr>" for row in rows)
    return f"<table><tr>{line('th', heads)}</tr>{body}</table>"


def _head(status: Status, facts: Mapping[str, str]) -> str:
    if status.shutting_down:
        state = "<span class=bad>stopping: no routes are returned</span>"
    elif not status.serving:
        state = "<span class=bad>waiting: no routes are returned yet</span>"
    else:
        state = "<span class=ok>serving</span>"
    listed = " · ".join(f"{_text(name)} {_text(value)}" for name, value in facts.items())
    return (
        f"<p>{state} · up {_span(status.up)} · {_when(status.now)}</p><p>{listed}</p>"
        "<p><a href=/metrics>metrics</a> · <a href=/healthz>healthz</a> ·"
        " <a href=/readyz>readyz</a></p>"
    )


def _span(seconds: float) -> str:
    minutes, seconds = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    return f"{days} d {hours} h {minutes} min" if days or hours else f"{minutes} min {seconds} s"


def _brokers(status: Status) -> str:
    heads = (
        *("cluster", "broker", "id", "role", "address", "last seen", "version", "data version"),
        *("topics", "not writable"),
    )
    clusters = ", ".join(f"{_text(name)} ({count})" for name, count in status.clusters.items())
    rows = [_broker(line) for line in status.brokers]
    return (
        f"<h2>Brokers: {status.live}</h2><p>Clusters: {clusters or 'none'}</p>"
        f"{_table(heads, rows, frozenset({2, 7, 8, 9}))}"
        f"{_rest(len(rows), status.live)}"
    )


def _broker(line: BrokerLine) -> tuple[str, ...]:
    is_late = line.silent > line.timeout / 2
    last_seen = f"{line.silent:.0f} s ago of {line.timeout:.0f}"
    return (
        _text(line.cluster),
        _text(line.name),
        "?" if line.broker_id is None else str(line.broker_id),
        line.role,
        f"<code>{_text(line.address)}</code>",
        f"<span class=bad>{last_seen}</span>" if is_late else last_seen,
        _text(line.version),
        _text(line.data_version),
        str(line.topics),
        f"<span class=bad>{line.unwritable}</span>" if line.unwritable else "0",
    )


def _rest(listed: int, total: int) -> str:
    return f"<p>and {total - listed} more</p>" if total > listed else ""


def _permissions(permissions: Mapping[str, PermissionChange]) -> str:
    if not permissions:
        return "<h2>Write permissions</h2><p>No write permission has changed since the start.</p>"
    rows = (
        (_text(name), change.action, _when(change.time), _text(change.client), str(change.topics))
        for name, change in reversed(list(permissions.items()))
    )
    heads = ("broker", "latest change", "when", "by", "topics of the broker")
    return f"<h2>Write permissions</h2>{_table(heads, rows, frozenset({4}))}"


def _topics(status: Status) -> str:
    rows = [_topic(line) for line in status.topics]
    prefix = _text(status.prefix)
    remainder = ""
    if not status.prefix:
        remainder = _rest(len(rows), status.topic_count)
    return (
        f"<h2>Topics: {status.topic_count}</h2>"
        "<form>beginning with <input name=topic maxlength=255 "
        f'value="{prefix}"> <button>show</button> ({len(rows)} shown)</form>'
        f"{_table(('topic', 'broker: queues to read, to write, permission'), rows, frozenset())}"
        f"{remainder}"
    )


def _topic(line: TopicLine) -> tuple[str, str]:
    queues = ", ".join(_queue(queue) for queue in line.queues[:16])
    return f"<code>{_text(line.name)}</code>", queues + _rest(16, len(line.queues))


def _queue(queue: QueueData) -> str:
    letters = "".join(
        letter if queue.perm & bit else "-" for letter, bit in (("R", Perm.READ), ("W", Perm.WRITE))
    )
    return f"{_text(queue.broker_name)}: {queue.read_queue_nums} {queue.write_queue_nums} {letters}"


def _events(title: str, events: Iterable[LogEntry]) -> str:
    rows = [(_when(event.time), f"<code>{_text(event.text)}</code>") for event in events]
    rows.reverse()
    if not rows:
        return f"<h2>{title}</h2><p>None yet.</p>"
    return f"<h2>{title}</h2>{_table(('when', 'what'), rows, frozenset())}"
