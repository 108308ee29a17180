"""Warnings about what does not work: one at first, then at growing intervals, and one line when it works again.

Rules of this file: every outage has a subject, as a topic or a broker; attempts that fail meanwhile are logged at DEBUG, and so is
all else that fails because of the same server: one that cannot be reached is one warning, not one for each thing asked of it.

Java logs a line for every attempt.
"""

from __future__ import annotations

import logging
import re
from typing import TYPE_CHECKING, Final

import trio

from rocketwire.codes import ResponseCode
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

if TYPE_CHECKING:
    from collections.abc import Hashable

_LOG: Final = logging.getLogger("rocketwire.client")

FIRST_INTERVAL: Final = 10.0
"""Seconds between the first warning and the second."""

LONGEST_INTERVAL: Final = 300.0
"""Seconds between two warnings at most."""

MOST_REASONS: Final = 8
"""Reasons of one outage for which a warning comes at once."""

RETRY_PATIENCE: Final = 3.0
"""Seconds in which outages of other topics are reported before those of retry topics."""

NAME_SERVERS: Final = "name servers"
"""The subject while no name server can be asked."""

_NUMBERS: Final = re.compile(r"[0-9]+(\.[0-9]+)*")


class WarningInterval:
    """When the warnings about one outage are due: at once, then after 10 s, 20 s, 40 s, up to 300 s.

    A reason that was not there before is due at once; one that comes back is due 10 s after the last warning.

    Attributes:
        since: when the outage began.
        is_warned: whether a warning was due.
    """

    __slots__ = ("_interval", "_last", "_reason", "_reasons", "is_warned", "since")

    def __init__(self, now: float) -> None:
        """Args: now: when the outage begins, in seconds of any clock that never goes back."""
        self.since = now
        self.is_warned = False
        self._reason = ""
        self._reasons: set[str] = set()
        self._interval = FIRST_INTERVAL
        self._last = now

    def is_due(self, reason: str, now: float, *, patience: float = 0.0) -> bool:
        """Whether to warn now.

        Args:
            reason: why it does not work; numbers in it, as ports or seconds, make no new reason.
            now: the time now.
            patience: seconds from the beginning of the outage for which nothing is due.
        """
        if now < self.since + patience:
            return False
        reason = _NUMBERS.sub("", reason)
        is_new = reason not in self._reasons and len(self._reasons) < MOST_REASONS
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
    """One outage, and the parts of its subject that do not work."""

    __slots__ = ("interval", "parts", "server")

    def __init__(self, now: float) -> None:
        self.interval = WarningInterval(now)
        self.parts: set[Hashable] = set()
        self.server: str | None = None


class Outages:
    """What does not work for one client, producer or consumer."""

    def __init__(self, owner: str = "") -> None:
        """Everything works.

        Args:
            owner: whom the warnings are about, as ``group orders-readers``; empty for the client itself.
        """
        self._prefix = f"{owner}: " if owner else ""
        self._outages: dict[str, _Outage] = {}

    def __len__(self) -> int:
        """How many subjects do not work."""
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
        """Something does not work: warn if a warning is due, otherwise log at DEBUG.

        Args:
            subject: what does not work.
            reason: an error or a text.
            advice: what the user can do; empty for what ``advice_on`` says about the error.
            part: a part of the subject, as a queue of a broker; the outage lasts until every part works.
            patience: seconds for which this may go on without a warning.
            topic: the topic concerned; a retry topic is not reported beside others, which most likely have the same reason.
            cause: the error behind a reason that is a text.
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
        text = str(reason)
        outage.server = _server_of(reason if cause is None else cause)
        level = logging.DEBUG
        if not self._is_told(outage) and outage.interval.is_due(text, now, patience=patience):
            level = logging.WARNING
        if isinstance(reason, Exception) and not advice:
            advice = advice_on(reason)
        seconds = now - outage.interval.since
        _LOG.log(
            level,
            "%s%s: %s%s%s",
            self._prefix,
            subject,
            text,
            f" ({advice})" if advice else "",
            f" [for {seconds:.0f} s]" if seconds >= 1 else "",
        )

    def _is_told(self, outage: _Outage) -> bool:
        """Whether an earlier outage has warned that the same server cannot be asked."""
        if outage.server is None:
            return False
        for other in self._outages.values():
            if other is outage:
                return False
            if other.server == outage.server and other.interval.is_warned:
                return True
        return False

    def report_route(self, topic: str, error: Exception) -> None:
        """The route of a topic could not be asked for, or there is none; quiet for retry topics, which brokers create later."""
        if isinstance(error, (ChannelError, NoNameServerError)):
            self.report(NAME_SERVERS, f"none can be asked for routes: {error}", advice_on(error))
            return
        self.end(NAME_SERVERS)
        if not is_retry_topic(topic):
            self.report(f"topic {topic}", error)
        else:
            _LOG.debug("%stopic %s: %s", self._prefix, topic, error)

    def end_route(self, topic: str) -> None:
        """A name server has told the route of a topic."""
        if self._outages:
            self.end(NAME_SERVERS)
            self.end(f"topic {topic}")

    def end(self, subject: str, part: Hashable = None) -> None:
        """A subject, or a part of it, works; says so if there was a warning and everything of it works."""
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
        """A subject, or a part of it, does not matter any more: nothing is logged."""
        outage = self._outages.get(subject)
        if outage is not None:
            outage.parts.discard(part)
            if not outage.parts:
                del self._outages[subject]


def _server_of(reason: object) -> str | None:
    """The address of a server that cannot be asked; None for all other reasons, as a refusal."""
    if not isinstance(reason, ChannelError):
        return None
    address = str(reason).partition(": ")[0]
    return address if address.rpartition(":")[2].isdigit() else None


_ADVICE: Final = {
    ResponseCode.NO_PERMISSION: (
        "check the permission of the topic, the broker (brokerPermission) and the group, and the ACL of your credentials"
    ),
    ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST: (
        "create the group, as with rocketwire-admin updateSubGroup"
    ),
    ResponseCode.TOPIC_NOT_EXIST: "create the topic, as with rocketwire-admin updateTopic",
}


def advice_on(error: Exception) -> str:
    """What the user can do about an error; empty where that is unknown."""
    if isinstance(error, TopicRouteNotFoundError):
        return "check the name, or create the topic, as with rocketwire-admin updateTopic"
    if isinstance(error, ResponseError):
        if "acl" in error.remark.lower() and error.code not in _ADVICE:
            return "check your credentials and what the ACL permits"
        return _ADVICE.get(error.code, "")
    if isinstance(error, BrokerNotFoundError):
        return "check that the broker is registered with the name servers"
    if isinstance(error, IllegalAddressError):
        return "check the address that the broker registers (brokerIP1)"
    if isinstance(error, RequestTimeoutError):
        return "check that the server is not overloaded and the network lets requests through"
    if isinstance(error, ChannelError):
        return "check the address, that the server runs, and whether it wants TLS"
    return ""
