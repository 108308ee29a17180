"""Warnings about failures: one at first, then at growing intervals, and one line at the end.

Every outage has a subject, for example a topic or a broker. Other failing attempts are logged at
DEBUG, and so are failures with the same unreachable server: it causes one warning, not one for each
request. Java logs a line for every attempt.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Hashable
from typing import Final

import trio

from rocketwire.codes import ResponseCode
from rocketwire.controls import escape_controls
from rocketwire.errors import (
    BrokerNotFoundError,
    ChannelError,
    IllegalAddressError,
    NoNameServerError,
    RequestTimeoutError,
    ResponseError,
    TopicRouteNotFoundError,
)
from rocketwire.policy.resource_names import is_retry_topic

_LOG: Final = logging.getLogger("rocketwire.client")

FIRST_INTERVAL: Final = 10.0  # seconds between the first warning and the second
LONGEST_INTERVAL: Final = 300.0  # longest time between two warnings in seconds
MAX_REASONS: Final = 8  # number of reasons of an outage that cause a warning at once
# Seconds by which outages of retry topics are reported later than those of other topics
RETRY_PATIENCE: Final = 3.0
NAME_SERVERS: Final = "name servers"  # subject of the outage of all name servers

_NUMBERS: Final = re.compile(r"[0-9]+(\.[0-9]+)*")


class WarningInterval:
    """Decides when warnings about an outage are due: at once, then after 10, 20, 40, up to 300 s.

    A new reason is due at once; a reason that returns is due 10 s after the last warning.
    """

    __slots__ = ("_interval", "_last", "_reason", "_reasons", "is_warned", "since")

    def __init__(self, now: float) -> None:
        self.since: float = now  # start of the outage
        self.is_warned: bool = False  # whether a warning was logged
        self._reason = ""
        self._reasons: set[str] = set()
        self._interval = FIRST_INTERVAL
        self._last = now

    def is_due(self, reason: str, now: float, *, patience: float = 0.0) -> bool:
        """Return whether a warning is due now; numbers in the reason (ports) are ignored."""
        if now < self.since + patience:
            return False
        reason = _NUMBERS.sub("", reason)
        is_new = reason not in self._reasons and len(self._reasons) < MAX_REASONS
        is_other = reason != self._reason and now >= self._last + FIRST_INTERVAL
        if is_new or is_other:
            self._interval = FIRST_INTERVAL
        elif now < self._last + self._interval:
            return False
        else:
            self._interval = min(2 * self._interval, LONGEST_INTERVAL)
        self._reasons.add(reason)
        self._reason, self._last, self.is_warned = reason, now, True
        return True


class _Outage:
    __slots__ = ("interval", "parts", "server")

    def __init__(self, now: float) -> None:
        self.interval = WarningInterval(now)
        self.parts: set[Hashable] = set()
        self.server: str | None = None


class Outages:
    def __init__(self, owner: str = "") -> None:
        self._prefix = f"{owner}: " if owner else ""
        self._outages: dict[str, _Outage] = {}

    def __len__(self) -> int:
        return len(self._outages)

    def report(
        self,
        subject: str,
        reason: object,
        advice: str = "",
        *,
        part: Hashable = None,
        patience: float = 0.0,
        topic: str | None = None,
        cause: Exception | None = None,
    ) -> None:
        """Report a failure: log a warning if it is due, otherwise a DEBUG line.

        The outage of a subject ends when all its parts, such as queues of a broker, work. There is
        no warning before ``patience`` seconds. A retry topic is not reported during other outages,
        which explain it. ``cause`` is the error, if ``reason`` is a text.
        """
        if topic is not None and is_retry_topic(topic):
            patience = max(patience, RETRY_PATIENCE)
            if any(name != subject for name in self._outages):
                _LOG.debug("%s%s: %s", self._prefix, subject, reason)
                self.forget(subject, part)
                return
        now = trio.current_time()
        outage = self._outages.get(subject)
        if outage is None:
            outage = self._outages[subject] = _Outage(now)
        outage.parts.add(part)
        text = str(reason).removeprefix(f"{subject.rpartition(' ')[2]}: ")  # say an address once
        outage.server = _unreachable_server(reason if cause is None else cause)
        level = logging.DEBUG
        if not self._has_warned_of_server(outage) and outage.interval.is_due(
            text, now, patience=patience
        ):
            level = logging.WARNING
        if isinstance(reason, Exception) and not advice:
            advice = advice_on(reason)
        seconds = now - outage.interval.since
        _LOG.log(
            level,
            "%s%s: %s%s%s",
            self._prefix,
            escape_controls(subject),  # it can have a broker's name
            escape_controls(text),
            f" ({advice})" if advice else "",
            f" [for {seconds:.0f} s]" if seconds >= 1 else "",
        )

    def _has_warned_of_server(self, outage: _Outage) -> bool:
        # returns whether an earlier outage has a warning about the same server
        if outage.server is None:
            return False
        for earlier in self._outages.values():
            if earlier is outage:
                return False
            if earlier.server == outage.server and earlier.interval.is_warned:
                return True
        return False

    def report_route(self, topic: str, error: Exception) -> None:
        """Report that a route could not be fetched; not for retry topics, which come later."""
        if isinstance(error, (ChannelError, NoNameServerError)):
            self.report(NAME_SERVERS, f"none responds to route requests: {error}", advice_on(error))
            return
        self.end(NAME_SERVERS)
        if not is_retry_topic(topic):
            text = str(error).replace(f"no route of topic {topic}", "no route")
            self.report(f"topic {topic}", text, advice_on(error), cause=error)
        else:
            _LOG.debug("%stopic %s: %s", self._prefix, topic, error)

    def end_route(self, topic: str) -> None:
        if self._outages:
            self.end(NAME_SERVERS)
            self.end(f"topic {topic}")

    def end(self, subject: str, part: Hashable = None) -> None:
        """End the outage of a subject or part, with a line after a warning if all parts work."""
        outage = self._outages.get(subject)
        if outage is None:
            return
        outage.parts.discard(part)
        if outage.parts:
            return
        del self._outages[subject]
        if outage.interval.is_warned:
            seconds = trio.current_time() - outage.interval.since
            _LOG.info("%s%s: works again, after %.0f s", self._prefix, subject, seconds)

    def forget(self, subject: str, part: Hashable = None) -> None:
        """Remove a subject or part that is no longer used, without a log line."""
        outage = self._outages.get(subject)
        if outage is not None:
            outage.parts.discard(part)
            if not outage.parts:
                del self._outages[subject]


def _unreachable_server(reason: object) -> str | None:
    if not isinstance(reason, ChannelError):
        return None
    address = str(reason).partition(": ")[0]
    return address if address.rpartition(":")[2].isdigit() else None


_ADVICE: Final = {
    ResponseCode.NO_PERMISSION: (
        "check the permission of the topic, the broker (brokerPermission) and the group, and the"
        " ACL of your credentials"
    ),
    ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST: (
        "create the group, for example with rocketwire-admin updateSubGroup"
    ),
    ResponseCode.TOPIC_NOT_EXIST: (
        "create the topic, for example with rocketwire-admin updateTopic"
    ),
}


def advice_on(error: Exception) -> str:
    if isinstance(error, TopicRouteNotFoundError):
        if error.brokers:
            return "start the broker; the topic is there again when it has registered"
        return "check the name, or create the topic, for example with rocketwire-admin updateTopic"
    if isinstance(error, ResponseError):
        if "acl" in error.remark.lower() and error.code not in _ADVICE:
            return "check your credentials and the ACL"
        return _ADVICE.get(error.code, "")
    if isinstance(error, BrokerNotFoundError):
        return "check that the broker is registered with the name servers"
    if isinstance(error, IllegalAddressError):
        return "check the address that the broker registers (brokerIP1)"
    if isinstance(error, RequestTimeoutError):
        return "check that the server is not overloaded and that the network passes requests"
    if isinstance(error, ChannelError):
        return "check the address, that the server runs, and whether it requires TLS"
    return ""
