"""Pages for people: HTML without scripts and external files.

Rules of this file: every text goes through ``markup.text``, because most texts come from clients,
and every link through ``_link``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from rocketwire.messages.message_const import UNIQ_KEY
from rocketwire.serving.http.markup import format_time, page, rest, span, table, text

if TYPE_CHECKING:
    from rocketwire_broker.admin_http.browser import MessageLine, MessageList, Preview
    from rocketwire_broker.admin_http.status import GroupLine, Status, TopicLine, Totals

DELAYED = "SCHEDULE_TOPIC_XXXX"
TIMED = "rmq_sys_wheel_timer"
HALVES = "RMQ_SYS_TRANS_HALF_TOPIC"


def _link(label: str, path: str, **fields: str) -> str:
    query = urlencode({name: value for name, value in fields.items() if value}, errors="replace")
    return f'<a href="{escape(path)}{escape("?" + query) if query else ""}">{text(label)}</a>'


def _field(label: str, name: str, value: str = "") -> str:
    return f'<label>{text(label)} <input name={name} maxlength=255 value="{text(value)}"></label>'


def _hidden(name: str, value: str) -> str:
    return f'<input type=hidden name={name} value="{text(value)}">' if value else ""


def _navigation(names: Sequence[str], current: str) -> str:
    if len(names) < 2:
        return ""
    links = (
        f"<strong>{text(name)}</strong>" if name == current else _link(name, "/", broker=name)
        for name in names
    )
    return f"<nav aria-label=brokers><p>{' · '.join(links)}</p></nav>"


def status_page(
    status: Status, names: Sequence[str], facts: Mapping[str, str], *, system: bool
) -> bytes:
    listed = " · ".join(f"{text(name)} {text(value)}" for name, value in facts.items() if value)
    parts = (
        f"<h1>RocketMQ broker {text(status.broker)}</h1>",
        _navigation(names, status.broker),
        f"<p><span class=ok>serving</span> · up {span(status.up)} · {format_time(status.now)}</p>",
        f"<p>cluster {text(status.cluster)} · address {text(status.address)}"
        f" · name servers {text(status.name_servers or 'none')}</p><p>{listed}</p>",
        f"<p>{_link('metrics', '/metrics')} · {_link('healthz', '/healthz')} ·"
        f" {_link('readyz', '/readyz')} ·"
        f" {_link('status as JSON', '/status.json', broker=status.broker)}</p>",
        _totals(status.totals, status.broker),
        _search(status.broker),
        _topics(status, system=system),
        _groups(status),
    )
    return page(f"rocketwire broker {status.broker}", parts)


def _totals(totals: Totals, broker: str) -> str:
    waiting = (
        (_link("delay levels", "/messages", topic=DELAYED, broker=broker), totals.delayed),
        (_link("times of delivery", "/messages", topic=TIMED, broker=broker), totals.timed),
        (_link("open transactions", "/messages", topic=HALVES, broker=broker), totals.transactions),
        ("popped, not acknowledged", totals.hidden),
    )
    figures = (
        ("messages kept", f"{totals.messages:,}"),
        ("bytes of them", f"{totals.bytes:,}"),
        ("stored since the start", f"{totals.stored:,} ({totals.stored_rate:.1f}/s)"),
        ("read since the start", f"{totals.read:,} ({totals.read_rate:.1f}/s)"),
        ("requests that wait for messages", f"{totals.waiting:,}"),
        ("connections", f"{totals.connections:,}"),
    )
    rows = [*figures, *((name, f"{count:,}") for name, count in waiting)]
    return f"<h2>Figures</h2>{table(('what', 'number'), rows, frozenset({1}))}"


def _search(broker: str, topic: str = "", key: str = "") -> str:
    return (
        "<h2>Messages</h2><form action=/messages>"
        f"{_hidden('broker', broker)}{_field('topic', 'topic', topic)} {_field('key', 'key', key)}"
        " <button>search</button></form>"
        f"<form action=/message>{_hidden('broker', broker)}{_field('message id', 'id')}"
        " <button>open</button></form>"
    )


def _topics(status: Status, *, system: bool) -> str:
    rows = [_topic(line, status.broker) for line in status.topics]
    checked = " checked" if system else ""
    heads = ("topic", "queues to read, to write", "permission", "kept", "stored", "per s", "groups")
    return (
        f"<h2>Topics: {status.topic_count}</h2><form>{_hidden('broker', status.broker)}"
        f"{_field('topics and groups beginning with', 'name', status.prefix)} "
        f"<label><input type=checkbox name=system value=1{checked}> with the system's</label> "
        f"<button>show</button></form>"
        f"{table(heads, rows, frozenset({3, 4, 5, 6}), 'topics')}"
        f"{rest(len(rows), status.topic_count)}"
    )


def _topic(line: TopicLine, broker: str) -> tuple[str, ...]:
    return (
        _link(line.name, "/messages", topic=line.name, broker=broker),
        line.queues,
        line.perm,
        f"{line.kept:,}",
        f"{line.stored:,}",
        f"{line.rate:.1f}",
        str(line.groups),
    )


def _groups(status: Status) -> str:
    rows = [_group(line, status.broker) for line in status.groups]
    heads = ("group", "members", "mode", "lag", "retries", "popped", "dead letters", "topics: lag")
    return (
        f"<h2>Groups: {status.group_count}</h2>"
        f"{table(heads, rows, frozenset({1, 3, 4, 5, 6}), 'groups')}"
        f"{rest(len(rows), status.group_count)}"
    )


def _group(line: GroupLine, broker: str) -> tuple[str, ...]:
    dead = f"{line.dead:,}"
    if line.dead:
        name = _link(dead, "/messages", topic=f"%DLQ%{line.name}", broker=broker)
        dead = f"<span class=bad>{name}</span>"
    topics = ", ".join(f"{text(part.topic)}: {part.lag:,}" for part in line.progress[:8])
    return (
        _link(line.name, "/group", name=line.name, broker=broker),
        str(line.member_count),
        text(line.mode or "offline"),
        f"{line.lag:,}",
        f"{line.retries:,}",
        f"{line.hidden:,}",
        dead,
        topics + rest(8, len(line.progress)),
    )


def group_page(group: GroupLine, broker: str) -> bytes:
    members = [
        (
            f"<code>{text(member.client_id)}</code>",
            f"<code>{text(member.address)}</code>",
            text(member.language),
            f"{member.silent:.0f} s ago",
        )
        for member in group.members
    ]
    progress = [
        (
            _link(part.topic, "/messages", topic=part.topic, broker=broker),
            text(group.subscriptions.get(part.topic, "")),
            f"{part.consumed:,}",
            f"{part.lag:,}",
        )
        for part in group.progress
    ]
    parts = (
        f"<h1>Group {text(group.name)}</h1><p>{_link('broker ' + broker, '/', broker=broker)}</p>",
        f"<p>{text(group.mode or 'offline')} · lag {group.lag:,}, {group.retries:,} of them retries"
        f" · popped {group.hidden:,} · dead letters {group.dead:,}</p>",
        f"<h2>Members: {group.member_count}</h2>",
        table(("client id", "address", "language", "last heartbeat"), members, label="members"),
        rest(len(members), group.member_count),
        "<h2>Topics</h2>",
        table(
            ("topic", "subscription", "consumed", "lag"), progress, frozenset({2, 3}), "progress"
        ),
    )
    return page(f"group {group.name}", parts)


def messages_page(broker: str, topic: str, key: str, listed: MessageList) -> bytes:
    rows = [_message(line, broker) for line in listed.messages]
    note = ""
    if not rows:
        note = "<p>No messages.</p>"
    if not listed.is_complete:
        note += "<p>Only the newest messages were searched.</p>"
    if listed.next:
        fields = {"topic": topic, "key": key, "before": listed.next, "broker": broker}
        note += f"<p>{_link('older messages', '/messages', **fields)}</p>"
    title = f"Messages of {topic}" + (f" with key {key}" if key else ", newest first")
    parts = (
        f"<h1>{text(title)}</h1><p>{_link('broker ' + broker, '/', broker=broker)}</p>",
        table(
            ("stored", "queue", "offset", "tag", "keys", "body", "retries"),
            rows,
            frozenset({1, 2, 6}),
            "messages",
        ),
        note,
        _search(broker, topic, key),
    )
    return page(title, parts)


def _message(line: MessageLine, broker: str) -> tuple[str, ...]:
    return (
        _link(format_time(line.store_time / 1000), "/message", id=line.id, broker=broker),
        str(line.queue_id),
        str(line.queue_offset),
        text(line.tags),
        text(line.keys),
        _body_line(line.body),
        str(line.reconsume_times),
    )


def _body_line(body: Preview) -> str:
    more = "" if body.is_whole else " …"
    kind = "" if body.kind == "text" else f"({body.kind}) "
    return f"<code>{kind}{text(body.text)}{more}</code>"


def message_page(message: MessageLine, broker: str) -> bytes:
    facts = (
        ("id of the broker", f"<code>{text(message.id)}</code>"),
        ("id of the producer", f"<code>{text(message.properties.get(UNIQ_KEY, ''))}</code>"),
        ("topic", _link(message.topic, "/messages", topic=message.topic, broker=broker)),
        ("queue, offset", f"{message.queue_id}, {message.queue_offset}"),
        ("sent", f"{format_time(message.born_time / 1000)} by {text(message.born_host)}"),
        ("stored", format_time(message.store_time / 1000)),
        ("redeliveries", str(message.reconsume_times)),
        ("bytes of the body, as stored", f"{message.body.size:,}"),
    )
    properties = [
        (f"<code>{text(name)}</code>", f"<code>{text(value)}</code>")
        for name, value in message.properties.items()
    ]
    more = "" if message.body.is_whole else "<p>The rest is not shown.</p>"
    kind = {"text": "", "bytes": ", hexadecimal"}.get(message.body.kind, ", unreadable")
    parts = (
        f"<h1>Message</h1><p>{_link('broker ' + broker, '/', broker=broker)}</p>",
        table(("what", "value"), facts, label="message"),
        f"<h2>Properties</h2>{table(('name', 'value'), properties, label='properties')}",
        f"<h2>Body{kind}</h2><pre>{_lines(message.body.text)}</pre>{more}",
    )
    return page(f"message {message.id}", parts)


def _lines(body: str) -> str:
    # a line is cut by ``text``, so a long one is given in pieces
    return "\n".join(
        "".join(text(line[begin : begin + 400]) for begin in range(0, len(line), 400))
        for line in body.splitlines()
    )
