"""Names that are new in every run, so that cases neither meet each other nor what somebody else keeps on the server.

A text of a case may contain ``{topic}`` or, for a second one, ``{topicB}``: a kind followed by anything of letters and digits.
Braces around anything else are left alone, so JSON needs no escaping.

``{namespace}`` is one fixed name where the suite does not own the server: no request removes a KV namespace.
"""

from __future__ import annotations

import re
import string
from functools import cache
from typing import TYPE_CHECKING, Final, cast

from rocketwire_tools.conformance.model.ports import free_port

if TYPE_CHECKING:
    from collections.abc import Callable

KINDS: Final = (
    *("cluster", "broker", "topic", "namespace", "key", "zone"),
    *("address", "ha", "listener"),
)
"""``address`` and ``ha`` give ``ip:port`` in 198.18.0.0/15, where nobody listens, ``listener`` one in 127.0.0.0/8, where ``Listen``
does; the others words.  The port of a listener is this process's own: a broker of somebody's may have the usual one on this machine,
and name servers that other runs of the suite ask speak to the same hosts."""

SHARED_NAMESPACE: Final = "rocketwire-conformance"
"""The KV namespace of all cases on a server that the suite has not started."""

_PLACEHOLDER: Final = re.compile(r"\{(" + "|".join(KINDS) + r")([0-9A-Za-z]*)\}")
_HOSTS: Final = f" {string.digits}{string.ascii_letters}"
"""Their places are the hosts of suffixes of one character; no suffix is the first."""
_PORTS: Final = {"address": 10911, "ha": 10912}


@cache
def listener_port() -> int:
    """Where all listeners of this process listen, each on a host of its own."""
    return free_port()


class Names:
    """The names of one case in one run.

    The same run and case give the same names, which is how two servers get the same bytes.
    """

    def __init__(self, run: str, number: int, namespace: str = "") -> None:
        """Names for one case.

        Args:
            run: short word of the run, letters and digits.
            number: number of the case.
            namespace: what ``{namespace}`` stands for; empty for a name that is new in every run.
        """
        self._namespace = namespace
        self._mark = f"-{run}-{number:04}"
        self._network = f"198.{18 + number // 256}.{number % 256}."
        self._hosts: dict[str, int] = {}

    def name(self, type_: str, suffix: str = "") -> str:
        """The name that ``{kindsuffix}`` stands for."""
        if type_ == "listener":
            return f"127.{self._network[4:]}{self._host(suffix)}:{listener_port()}"
        if type_ in _PORTS:
            return f"{self._network}{self._host(suffix)}:{_PORTS[type_]}"
        if type_ == "namespace" and not suffix and self._namespace:
            return self._namespace
        return f"{type_}{suffix}{self._mark}"

    def _host(self, suffix: str) -> int:
        return _HOSTS.find(suffix) + 1 if len(suffix) < 2 else self._long(suffix)

    def _long(self, suffix: str) -> int:
        return self._hosts.setdefault(suffix, 100 + len(self._hosts))

    def mentioned(self, text: str) -> bool:
        """Whether a text has a name of this case in it."""
        return self._mark in text or self._network[4:] in text

    def text(self, text: str) -> str:
        """The text with all names put in."""
        return _PLACEHOLDER.sub(lambda match: self.name(match[1], match[2]), text)

    def pattern(self, pattern: str) -> str:
        """A regular expression with all names put in, escaped."""
        return _PLACEHOLDER.sub(lambda match: re.escape(self.name(match[1], match[2])), pattern)

    def value(self, value: object) -> object:
        """A JSON-like value with all names put in, in keys as well."""
        return mapped(value, self.text)


def mapped(value: object, change: Callable[[str], str]) -> object:
    """A JSON-like value in which every text, keys included, has been changed."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        members = cast("dict[object, object]", value)
        return {mapped(key, change): mapped(inner, change) for key, inner in members.items()}
    if isinstance(value, (list, tuple)):
        return [mapped(inner, change) for inner in cast("list[object]", value)]
    return value
