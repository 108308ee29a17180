"""Registrations that come in parts: collected, and registered as one when the last part is there.

A broker with ``enableSplitRegistration`` sends its topics in requests of ``splitRegistrationSize``
topics each, one after the other, and then one with the remaining topics, which may be none. No
field marks a request as a part. But all parts except the last have exactly that many topics, and a
whole registration has the topics that every Java broker creates when it starts. If only some of
those have come, parts are missing: a broker that has just started often reaches its name server in
the middle of its first attempt, so that only the last parts arrive until it tries again.

Java registers each part as it comes.  Clients then see a broker with some of its topics, and a
change that is not in the first part is lost: all parts have the same data version, which is no
longer new after the first part. Here all parts are registered together.

Rules of this file: pure; collected parts are bounded, belong to one connection, and are dropped
with it.

Java: ``BrokerController.registerBrokerAll``, ``TopicConfigManager.init`` (the sender's side).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from rocketwire.versions import MQVersion

if TYPE_CHECKING:
    from rocketwire_namesrv.routes.brokers import Registration

FIRST_PART_SECONDS: Final = 3.0
"""Wait for the second part of a registration that may be a first part."""
NEXT_PART_SECONDS: Final = 30.0
"""Wait for each later part: a broker waits up to 24 seconds for the slowest of its name servers
before it sends the next part to all of them."""
MISSING_PART_SECONDS: Final = 15.0
"""Wait for parts that are missing before the first received one: a broker repeats its first attempt
after ten seconds."""
MAX_PARTS: Final = 1024
"""Maximum number of parts; the registration is then applied as it is."""
SPLIT_SINCE: Final = int(MQVersion.V5_0_0)
"""Older brokers do not split."""

OWN_TOPICS: Final = ("SELF_TEST_TOPIC", "OFFSET_MOVED_EVENT", "SCHEDULE_TOPIC_XXXX")
"""Topics that every broker has, in addition to one with its name and one with its cluster's name;
they cannot be deleted."""
MADE_BY_BROKERS: Final = frozenset(
    {*OWN_TOPICS, "RMQ_SYS_TRANS_HALF_TOPIC", "RMQ_SYS_TRANS_OP_HALF_TOPIC"}
)
"""Topics that only brokers create: a broker that sent one of these but not all default topics will
send more parts."""

_Sender = tuple[int, str, str, str, int]


class _Collected:
    """The received parts, the time of the last one, and the topics that are still missing."""

    __slots__ = ("limit", "missing", "parts", "since")

    def __init__(self, missing: set[str], limit: float) -> None:
        self.parts: list[Registration] = []
        self.since = 0.0
        self.missing = missing
        self.limit = limit

    def take(self, part: Registration, now: float) -> bool:
        """Add a part, and drop the parts that had no other topics: these belong to an earlier
        registration, for the parts of one registration have no topic in common. Return False if
        all earlier parts were dropped.
        """
        keys = set(part.topic_keys)
        kept = [earlier for earlier in self.parts if not keys.issuperset(earlier.topic_keys)]
        repeated = bool(self.parts) and not kept
        if kept:
            self.limit = NEXT_PART_SECONDS
        if not repeated:
            self.since = now
        self.parts = [*kept, part]
        self.missing.difference_update(keys)
        return not repeated

    def overdue(self, now: float) -> bool:
        return now - self.since >= self.limit


class SplitRegistrations:
    def __init__(self) -> None:
        self._collected: dict[_Sender, _Collected] = {}
        self._whole: set[_Sender] = set()  # senders that have as many topics as a part by chance

    def __len__(self) -> int:
        return len(self._collected)

    @property
    def topics(self) -> int:
        return sum(len(part.topics) for parts in self._collected.values() for part in parts.parts)

    def gather(
        self, registration: Registration, now: float, *, size: int, version: int, is_new: bool
    ) -> Registration | None:
        """Return the registration to apply now; None if ``registration`` is a part and not the
        last.

        Args:
            registration: as received.
            size: topics of each part but the last; not positive if brokers do not split.
            version: of the sender.
            is_new: whether it is a Java broker that is not registered yet, so that all its topics
                have to come.
        """
        if size <= 0 or version < SPLIT_SINCE:
            return registration
        sender = _sender(registration)
        is_full = registration.topic_count == size
        collected = self._collected.get(sender)
        if collected is None:
            missing = _missing(registration) if is_new else set[str]()
            if sender in self._whole or not (is_full or missing):
                return registration
            limit = FIRST_PART_SECONDS if is_full else MISSING_PART_SECONDS
            collected = self._collected[sender] = _Collected(missing, limit)
        if not collected.take(registration, now) and not is_full:
            # the broker sent the same again, so the registration is complete
            del self._collected[sender]
            self._whole.add(sender)
            return registration
        if (is_full or collected.missing) and len(collected.parts) < MAX_PARTS:
            return None
        del self._collected[sender]
        return _join_parts(collected.parts)

    def overdue(self, now: float) -> list[Registration]:
        overdue = [
            (sender, parts) for sender, parts in self._collected.items() if parts.overdue(now)
        ]
        for sender, collected in overdue:
            del self._collected[sender]
            if len(collected.parts) == 1:
                self._whole.add(sender)
        return [_join_parts(collected.parts) for _, collected in overdue]

    def remove_parts(self, cluster: str, address: str) -> None:
        for sender in [key for key in self._collected if key[1:3] == (cluster, address)]:
            del self._collected[sender]

    def connection_lost(self, connection_id: int) -> None:
        if self._collected or self._whole:
            self._whole = {key for key in self._whole if key[0] != connection_id}
            for sender in [key for key in self._collected if key[0] == connection_id]:
                del self._collected[sender]


def _sender(registration: Registration) -> _Sender:
    return (
        registration.connection_id,
        registration.cluster,
        registration.address,
        registration.broker_name,
        registration.broker_id,
    )


def _missing(registration: Registration) -> set[str]:
    if registration.topic_count == 1 or MADE_BY_BROKERS.isdisjoint(registration.topic_keys):
        return set()
    default_topics = {registration.broker_name, registration.cluster, *OWN_TOPICS}
    return default_topics.difference(registration.topic_keys)


def _join_parts(parts: list[Registration]) -> Registration:
    # all but the topics is from the last part, which alone has static mappings
    if len(parts) == 1:
        return parts[0]
    return replace(
        parts[-1],
        topics=[topic for part in parts for topic in part.topics],
        topic_keys={key for part in parts for key in part.topic_keys},
        mappings={topic: info for part in parts for topic, info in part.mappings.items()},
        record=None,
    )
