"""Registrations that come in parts: collected, and registered as one when the last part is there.

A broker with ``enableSplitRegistration`` sends its topics in requests of ``splitRegistrationSize``
topics each, one after the other, and then one with those that are left, which may be none.  Nothing
in a part says that it is one.  But all have exactly that many topics, and only the last has fewer;
and a whole registration has the topics that every Java broker makes for itself when it starts.
Where some but not all of those have come, parts are missing: a broker that has just started often finds its name server in the
middle of its first attempt, and then only the last parts arrive until it tries again.

Java registers each part as it comes.  Clients then see a broker with some of its topics, and a
change that is not in the first part is lost: all parts have one data version, which the first part
has made a known one.  Neither happens to a whole.

Rules of this file: pure; what is collected is bounded, belongs to one connection, and ends with it.

Java: ``BrokerController.registerBrokerAll``, ``TopicConfigManager.init`` (the sender's side).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from rocketwire.versions import MQVersion

if TYPE_CHECKING:
    from rocketwire_namesrv.routes.brokers import Registration

__all__ = ["SplitRegistrations"]

FIRST_PART_SECONDS: Final = 3.0
"""After which a registration that might be a first part is taken for a whole one."""
NEXT_PART_SECONDS: Final = 30.0
"""After which a later part is no longer waited for: a broker waits up to 24 seconds for the slowest
of its name servers before it sends the next part to any."""
MISSING_PART_SECONDS: Final = 15.0
"""After which the parts that must have been there before the first one are no longer waited for: a
broker repeats its first attempt after ten seconds."""
MOST_PARTS: Final = 1024
"""Of one registration; with so many it is registered as it is."""
SPLIT_SINCE: Final = int(MQVersion.V5_0_0)
"""Older brokers do not split."""

OWN_TOPICS: Final = ("SELF_TEST_TOPIC", "OFFSET_MOVED_EVENT", "SCHEDULE_TOPIC_XXXX")
"""Topics that every broker has, beside one with its own name and one with its cluster's; nobody can
delete them."""
MADE_BY_BROKERS: Final = frozenset(
    {*OWN_TOPICS, "RMQ_SYS_TRANS_HALF_TOPIC", "RMQ_SYS_TRANS_OP_HALF_TOPIC"}
)
"""Topics that nobody else makes: who has one of them, but not all of its own, has more to say."""

_Sender = tuple[int, str, str, str, int]


class _Collected:
    """The parts that have come, when the latest did, and which topics some part has to have."""

    __slots__ = ("limit", "missing", "parts", "since")

    def __init__(self, missing: set[str], limit: float) -> None:
        self.parts: list[Registration] = []
        self.since = 0.0
        self.missing = missing
        self.limit = limit

    def take(self, part: Registration, now: float) -> bool:
        """Adds a part, in the place of those that had no other topics: these are of an earlier
        registration, for the parts of one have none in common.

        Returns:
            False if there were parts and none of them is left.
        """
        keys = set(part.topic_keys)
        kept = [each for each in self.parts if not keys.issuperset(each.topic_keys)]
        repeated = bool(self.parts) and not kept
        if kept:
            self.limit = NEXT_PART_SECONDS
        if not repeated:
            self.since = now
        self.parts = [*kept, part]
        self.missing.difference_update(keys)
        return not repeated

    def overdue(self, now: float) -> bool:
        """Whether the next part does not come any more."""
        return now - self.since >= self.limit


class SplitRegistrations:
    """The registrations of which parts are still to come."""

    def __init__(self) -> None:
        self._collected: dict[_Sender, _Collected] = {}
        self._whole: set[_Sender] = set()  # who has as many topics as a part by chance

    def __len__(self) -> int:
        return len(self._collected)

    @property
    def topics(self) -> int:
        """How many topics the parts have that have come."""
        return sum(len(part.topics) for each in self._collected.values() for part in each.parts)

    def gathered(
        self, registration: Registration, now: float, *, size: int, version: int, is_new: bool
    ) -> Registration | None:
        """What is to be registered now; None where ``registration`` is a part and not the last.

        Args:
            registration: as it came.
            now: monotonic seconds.
            size: topics of a part but the last; not positive where nobody splits.
            version: of the sender.
            is_new: whether it is a Java broker that is not registered: all its topics have to come.
        """
        if size <= 0 or version < SPLIT_SINCE:
            return registration
        sender = _sender(registration)
        is_full = len(registration.topics) == size
        collected = self._collected.get(sender)
        if collected is None:
            missing = _missing(registration) if is_new else set[str]()
            if sender in self._whole or not (is_full or missing):
                return registration
            limit = FIRST_PART_SECONDS if is_full else MISSING_PART_SECONDS
            collected = self._collected[sender] = _Collected(missing, limit)
        if not collected.take(registration, now) and not is_full:
            # said again, it is all that the broker has to say
            del self._collected[sender]
            self._whole.add(sender)
            return registration
        if (is_full or collected.missing) and len(collected.parts) < MOST_PARTS:
            return None
        del self._collected[sender]
        return _joined(collected.parts)

    def overdue(self, now: float) -> list[Registration]:
        """Takes out what waits for a part in vain; it is to be registered as it is.

        Who has sent a single one is not waited for again, as long as its connection lasts.
        """
        late = [(sender, each) for sender, each in self._collected.items() if each.overdue(now)]
        for sender, each in late:
            del self._collected[sender]
            if len(each.parts) == 1:
                self._whole.add(sender)
        return [_joined(each.parts) for _, each in late]

    def unregistered(self, cluster: str, address: str) -> None:
        """Forgets the parts of a broker that goes."""
        for sender in [each for each in self._collected if each[1:3] == (cluster, address)]:
            del self._collected[sender]

    def lost(self, connection_id: int) -> None:
        """Forgets what came over a connection that is no more."""
        if self._collected or self._whole:
            self._whole = {each for each in self._whole if each[0] != connection_id}
            for sender in [each for each in self._collected if each[0] == connection_id]:
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
    """Topics without which it is not all that the broker has; a single topic is never the beginning
    of anything, and is refused.  Where nothing shows that a Java broker made the topics, nothing is
    known of what it has."""
    if len(registration.topics) == 1 or MADE_BY_BROKERS.isdisjoint(registration.topic_keys):
        return set()
    own = {registration.broker_name, registration.cluster, *OWN_TOPICS}
    return own.difference(registration.topic_keys)


def _joined(parts: list[Registration]) -> Registration:
    """One registration with the topics of all parts; the rest is as the last one says, which alone
    has static mappings."""
    if len(parts) == 1:
        return parts[0]
    return replace(
        parts[-1],
        topics=[topic for part in parts for topic in part.topics],
        topic_keys={key for part in parts for key in part.topic_keys},
        mappings={topic: info for part in parts for topic, info in part.mappings.items()},
        record=None,
    )
