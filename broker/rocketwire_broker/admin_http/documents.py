"""The documents of the operators' port by path.

``broker`` in a query names one of several brokers of this process; the first one by default.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Final

from rocketwire import __version__
from rocketwire.serving.http.exchange import Document, Exchange, plain
from rocketwire_broker.admin_http.browser import (
    MessageLine,
    MessageList,
    Position,
    by_id,
    newest,
    with_key,
)
from rocketwire_broker.admin_http.metrics import CONTENT_TYPE, Exposition
from rocketwire_broker.admin_http.pages import group_page, message_page, messages_page, status_page
from rocketwire_broker.admin_http.status import GroupLine, Status, group_lines, status_of
from rocketwire_broker.storage.key_search import MAX_SEARCHED

if TYPE_CHECKING:
    from rocketwire_broker.state.broker import Broker

MAX_NAME: Final = 255  # characters of a name, a key or an id in a query

Query = Mapping[str, str]
Value = Status | GroupLine | MessageList | MessageLine

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
        page_path = _JSON.get(path, path)
        build = _VALUES.get(page_path)
        chosen = self._choose_broker(query.get("broker"))
        if build is None or chosen is None:
            return None
        fields = {name: value[:MAX_NAME] for name, value in query.items()}
        value = build(*chosen, fields)
        if value is None:
            return _NO_MESSAGE if page_path == "/message" else None
        if path in _JSON:
            text = json.dumps(asdict(value), ensure_ascii=True)
            return Document(200, "application/json", text.encode() + b"\n")
        page = self._page(value, chosen[0].config.broker_name, fields)
        return Document(200, "text/html; charset=utf-8", page)

    def _choose_broker(self, name: str | None) -> tuple[Broker, int] | None:
        for broker, now in self._brokers():
            if name is None or broker.config.broker_name == name:
                return broker, now
        return None

    def _page(self, value: Value, broker: str, query: Query) -> bytes:
        if isinstance(value, Status):
            names = [item.config.broker_name for item, _ in self._brokers()]
            facts = {"rocketwire": __version__}
            return status_page(value, names, facts, system=query.get("system") == "1")
        if isinstance(value, GroupLine):
            return group_page(value, broker)
        if isinstance(value, MessageList):
            return messages_page(broker, query.get("topic", ""), query.get("key", ""), value)
        return message_page(value, broker)


def _status(broker: Broker, now: int, query: Query) -> Status:
    return status_of(broker, now, query.get("name", ""), system=query.get("system") == "1")


def _group(broker: Broker, now: int, query: Query) -> GroupLine | None:
    name = query.get("name", "")
    if name not in broker.groups and broker.members.online(name) is None:
        return None
    return group_lines(broker, [name], now)[0]


def _messages(broker: Broker, now: int, query: Query) -> MessageList:
    topic, key = query.get("topic", ""), query.get("key", "")
    if key:
        return with_key(broker, topic, key)
    return newest(broker, topic, Position.parse(query.get("before", "")))


def _message(broker: Broker, now: int, query: Query) -> MessageLine | None:
    return by_id(broker, query.get("id", ""))


_VALUES: Final[Mapping[str, Callable[[Broker, int, Query], Value | None]]] = {
    "/": _status,
    "/group": _group,
    "/messages": _messages,
    "/message": _message,
}
_JSON: Final = {"/status.json": "/", **{f"{path}.json": path for path in _VALUES if path != "/"}}
