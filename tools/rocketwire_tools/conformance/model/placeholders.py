"""Placeholders for names that are new in every run, so that cases and other data do not collide.

A text of a case may contain ``{topic}`` or, for a second name, ``{topicB}``: a type followed by
letters and digits. Other braces are left unchanged, so JSON needs no escapes.

On a server that the suite did not start, ``{namespace}`` is one fixed name, because no request
removes a KV namespace.

``{=name}`` is a value that an earlier step saved, ``{=name+1}`` the number after it, and ``{=now}``
the time in milliseconds since 1970.
"""

from __future__ import annotations

import random
import re
import socket
import string
import time
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING, Final, cast

if TYPE_CHECKING:
    from collections.abc import Callable

NAME_TYPES: Final = (
    *("cluster", "broker", "topic", "namespace", "key", "zone"),
    *("address", "ha", "listener"),
    *("group", "client"),
)
"""``address`` and ``ha`` are unreachable addresses in 198.18.0.0/15. ``listener`` is an address in
127.0.0.0/8 for ``Listen``; its port belongs to this process, because a local broker or another run
of the suite may use the default port. The others are words."""

# The KV namespace of all cases on a server that the suite did not start.
SHARED_NAMESPACE: Final = "rocketwire-conformance"

_PLACEHOLDER: Final = re.compile(r"\{(" + "|".join(NAME_TYPES) + r")([0-9A-Za-z]*)\}")
_SAVED: Final = re.compile(r"\{=(\w+)([+-]\d+)?\}")
# Host numbers of one-character suffixes by position; the first is for no suffix.
_HOSTS: Final = f" {string.digits}{string.ascii_letters}"
_PORTS: Final = {"address": 10911, "ha": 10912}


LOOPBACK: Final = "127.0.0.1"
# Below the range of outgoing connections, which could take a port before its use.
_FREE_PORTS: Final = range(28_000, 32_000)
_chance: Final = random.SystemRandom()
_used: Final[set[int]] = set()


def free_port() -> int:
    while True:
        port = _chance.choice(_FREE_PORTS)
        if port in _used:
            continue
        with socket.socket() as attempt:
            attempt.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            with suppress(OSError):
                attempt.bind((LOOPBACK, port))
                _used.add(port)
                return port


@cache
def listener_port() -> int:
    """The port of all listeners of this process; each listener has its own host."""
    return free_port()


def wall_clock() -> int:
    return time.time_ns() // 1_000_000


class Names:
    """The names of one case in one run.

    They depend only on run and case, so that two servers get the same bytes.
    """

    def __init__(self, run: str, number: int, namespace: str = "") -> None:
        self._namespace = namespace
        self._mark = f"-{run}-{number:04}"
        self._network = f"198.{18 + number // 256}.{number % 256}."
        self._hosts: dict[str, int] = {}
        self.saved: dict[str, str] = {}  # values that steps saved
        self.used: dict[str, dict[str, None]] = {}  # by type, the names that a text has contained
        self.clock: Callable[[], int] = wall_clock  # the time in milliseconds since 1970

    def name(self, type_: str, suffix: str = "") -> str:
        if type_ == "listener":
            return f"127.{self._network[4:]}{self._host(suffix)}:{listener_port()}"
        if type_ in _PORTS:
            return f"{self._network}{self._host(suffix)}:{_PORTS[type_]}"
        if type_ == "namespace" and not suffix and self._namespace:
            return self._namespace
        name = f"{type_}{suffix}{self._mark}"
        self.used.setdefault(type_, {})[name] = None
        return name

    def value_of(self, name: str, plus: str | None) -> str | None:
        """The value of ``{=name}`` or ``{=name+1}``; None if no step has saved it."""
        value = str(self.clock()) if name == "now" else self.saved.get(name)
        return value if value is None or plus is None else str(int(value) + int(plus))

    def _with_saved(self, text: str, change: Callable[[str], str]) -> str:
        def value(match: re.Match[str]) -> str:
            saved = self.value_of(match[1], match[2])
            return match[0] if saved is None else change(saved)

        return _SAVED.sub(value, text) if "{=" in text else text

    def _host(self, suffix: str) -> int:
        return _HOSTS.find(suffix) + 1 if len(suffix) < 2 else self._long(suffix)

    def _long(self, suffix: str) -> int:
        return self._hosts.setdefault(suffix, 100 + len(self._hosts))

    def mentioned(self, text: str) -> bool:
        return self._mark in text or self._network[4:] in text

    def text(self, text: str) -> str:
        text = self._with_saved(text, str)
        return _PLACEHOLDER.sub(lambda match: self.name(match[1], match[2]), text)

    def pattern(self, pattern: str) -> str:
        pattern = self._with_saved(pattern, re.escape)
        return _PLACEHOLDER.sub(lambda match: re.escape(self.name(match[1], match[2])), pattern)

    def value(self, value: object) -> object:
        return map_texts(value, self.text)


def map_texts(value: object, change: Callable[[str], str]) -> object:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        members = cast("dict[object, object]", value)
        return {map_texts(key, change): map_texts(inner, change) for key, inner in members.items()}
    if isinstance(value, (list, tuple)):
        return [map_texts(inner, change) for inner in cast("list[object]", value)]
    return value
