"""The documents of the operators' port by path.

``broker`` in a query names one of several brokers of this process; the first one by default.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final

from rocketwire import __version__
from rocketwire.serving.http.exchange import Document, Exchange, plain
from rocketwire_broker.admin_http.browser import (
    MessageList,
    Position,
    by_id,
    newest,
    with_key,
)
from rocketwire_broker.admin_http.metrics import CONTENT_TYPE, Exposition
from rocketwire_broker.admin_http.pages import group_page, message_page, messages_page, status_page
from rocketwire_broker.admin_http.status import GroupLine, group_lines, status_of
from rocketwire_broker.storage.key_search import MAX_SEARCHED

if TYPE_CHECKING:
    from rocketwire_broker.state.broker import Broker

MAX_NAME: Final = 255  # characters of a name, a key or an id in a query

Query = Mapping[str, str]

_NO_MESSAGE: Final = plain(
    404,
    "there is no message with this id; an id of a producer is searched among the newest"
    f" {MAX_SEARCHED:,} messages",
)


class Documents:
    """The documents of the brokers of this process, with the times of their clocks.

    Args:
        ready: returns why the process does not serve yet; empty if it does.
        local_only: refuse requests to host names other than localhost.
        refused: called with the host name of such a request.
    """

    def __init__(
        self,
        brokers: Callable[[], Sequence[tuple[Broker, int]]],
        ready: Callable[[], str],
        *,
        local_only: bool,
        refused: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._brokers = brokers
        self._ready = ready
        self._local_only = local_only
        self._refused = refused
        self._exposition = Exposition(brokers)
        self._pages: Mapping[str, Callable[[Broker, int, Query], Document | None]] = {
            "/": self._status,
            "/status.json": _status_json,
            "/group": _group,
            "/group.json": _group_json,
            "/messages": _messages,
            "/messages.json": _messages_json,
            "/message": _message,
            "/message.json": _message_json,
        }

    def exchange(self) -> Exchange:
        return Exchange(self.respond, local_only=self._local_only, refused=self._refused)

    def respond(self, path: str, query: Query) -> Document | None:
        if path == "/metrics":
            return Document(200, CONTENT_TYPE, self._exposition.text())
        if path == "/healthz":
            return plain(200, "ok")
        if path == "/readyz":
            reason = self._ready()
            return plain(503, f"not ready: {reason}") if reason else plain(200, "ready")
        build = self._pages.get(path)
        chosen = self._choose_broker(query.get("broker"))
        if build is None or chosen is None:
            return None
        return build(*chosen, {name: value[:MAX_NAME] for name, value in query.items()})

    def _choose_broker(self, name: str | None) -> tuple[Broker, int] | None:
        for broker, now in self._brokers():
            if name is None or broker.config.broker_name == name:
                return broker, now
        return None

    def _status(self, broker: Broker, now: int, query: Query) -> Document:
        names = [item.config.broker_name for item, _ in self._brokers()]
        system = query.get("system") == "1"
        status = status_of(broker, now, query.get("name", ""), system=system)
        facts = {"rocketwire": __version__}
        return _html(status_page(status, names, facts, system=system))


def _html(body: bytes) -> Document:
    return Document(200, "text/html; charset=utf-8", body)


def _json(value: object) -> Document:
    return Document(200, "application/json", json.dumps(value, ensure_ascii=True).encode() + b"\n")


def _status_json(broker: Broker, now: int, query: Query) -> Document:
    system = query.get("system") == "1"
    return _json(asdict(status_of(broker, now, query.get("name", ""), system=system)))


# ---------------------------------------------------------------------------- groups


def _group_line(broker: Broker, now: int, query: Query) -> GroupLine | None:
    name = query.get("name", "")
    if name not in broker.groups and broker.members.online(name) is None:
        return None
    return group_lines(broker, [name], now)[0]


def _group(broker: Broker, now: int, query: Query) -> Document | None:
    line = _group_line(broker, now, query)
    return None if line is None else _html(group_page(line, broker.config.broker_name))


def _group_json(broker: Broker, now: int, query: Query) -> Document | None:
    line = _group_line(broker, now, query)
    return None if line is None else _json(asdict(line))


# ---------------------------------------------------------------------------- messages


def _list_messages(broker: Broker, query: Query) -> MessageList:
    topic, key = query.get("topic", ""), query.get("key", "")
    if key:
        return with_key(broker, topic, key)
    return newest(broker, topic, Position.parse(query.get("before", "")))


def _messages(broker: Broker, now: int, query: Query) -> Document:
    topic, key = query.get("topic", ""), query.get("key", "")
    return _html(
        messages_page(broker.config.broker_name, topic, key, _list_messages(broker, query))
    )


def _messages_json(broker: Broker, now: int, query: Query) -> Document:
    return _json(_plain(asdict(_list_messages(broker, query))))


def _message(broker: Broker, now: int, query: Query) -> Document:
    message = by_id(broker, query.get("id", ""))
    if message is None:
        return _NO_MESSAGE
    return _html(message_page(message, broker.config.broker_name))


def _message_json(broker: Broker, now: int, query: Query) -> Document:
    message = by_id(broker, query.get("id", ""))
    if message is None:
        return _NO_MESSAGE
    return _json(_message_value({**asdict(message), "body": message.body}))


def _plain(listed: dict[str, Any]) -> dict[str, Any]:
    return {**listed, "messages": [_message_value(message) for message in listed["messages"]]}


def _message_value(message: dict[str, Any]) -> dict[str, Any]:
    # "body" is a named tuple, which JSON would write as a list
    return {**message, "body": message["body"]._asdict()}
