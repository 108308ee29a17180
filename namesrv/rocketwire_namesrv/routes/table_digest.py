"""``TableDigest``: what two name servers compare to see whether their tables are equal.

Brokers are compared one by one, by the version of their topics; topics in groups, by a sum of
their hashes. So the size of a digest does not grow with the number of topics.

Rules of this file: pure. A document comes from another machine: its size and its numbers are
bounded, and only names of brokers that this server could have are taken.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Generator, Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Self

if TYPE_CHECKING:
    from rocketwire_namesrv.routes.queue_layouts import QueueLayout
    from rocketwire_namesrv.routes.route_table import RouteTable

TOPIC_GROUPS: Final = 256
MAX_BROKERS: Final = 2_000
"""Maximum number of brokers in a digest; of more, those with the smallest names are compared."""
MAX_DOCUMENT: Final = 1 << 20
"""Maximum size of a document in bytes."""
MAX_TEXT: Final = 1_024
STEP: Final = 2_000
"""Topics between two steps."""

_MASK: Final = (1 << 53) - 1  # exact in every reader of JSON
_FORM: Final = 1


class InvalidDigestError(ValueError):
    """A document is no digest."""


class Drift(NamedTuple):
    brokers: frozenset[str] = frozenset()  #: brokers that only one of them has
    #: brokers that have registered different versions of their topics
    versions: frozenset[str] = frozenset()
    topics: frozenset[int] = frozenset()  #: groups of topics that differ, as numbers

    def keep_lasting(self, before: Drift) -> Drift:
        """Return what was different before, too: a change reaches one server after the other."""
        return Drift(
            self.brokers & before.brokers,
            self.versions & before.versions,
            self.topics & before.topics,
        )

    @property
    def text(self) -> str:
        parts = [
            (self.brokers, "brokers that only one of them has"),
            (self.versions, "brokers with different versions"),
        ]
        words = [
            f"{len(names)} {what}: {', '.join(sorted(names)[:5])}" for names, what in parts if names
        ]
        if self.topics:
            words.append(f"{len(self.topics)} of {TOPIC_GROUPS} groups of topics")
        return "; ".join(words)


class TableDigest(NamedTuple):
    #: cluster, name, id and address of a broker -> version of its topics
    brokers: Mapping[str, str]
    topics: tuple[int, ...]  #: sum of the hashes of each group of topics

    def drift(self, other: TableDigest) -> Drift:
        return Drift(
            brokers=frozenset(self.brokers.keys() ^ other.brokers.keys()),
            versions=frozenset(
                name
                for name in self.brokers.keys() & other.brokers.keys()
                if self.brokers[name] != other.brokers[name]
            ),
            topics=frozenset(
                index
                for index, sums in enumerate(zip(self.topics, other.topics, strict=True))
                if sums[0] != sums[1]
            ),
        )

    def document(self) -> bytes:
        content = {"form": _FORM, "brokers": dict(self.brokers), "topics": self.topics}
        return json.dumps(content).encode()

    @classmethod
    def read(cls, document: bytes) -> Self:
        if len(document) > MAX_DOCUMENT:
            raise InvalidDigestError(f"it is larger than {MAX_DOCUMENT} bytes")
        try:
            content: Any = json.loads(document)
            brokers: dict[Any, Any] = dict(content["brokers"])
            topics: list[Any] = list(content["topics"])
            form: Any = content["form"]
        except (KeyError, RecursionError, TypeError, ValueError) as error:
            raise InvalidDigestError("it is no digest of a table") from error
        texts = [text for item in brokers.items() for text in item]
        if (
            form != _FORM
            or len(topics) != TOPIC_GROUPS
            or not all(isinstance(number, int) for number in topics)
            or not all(isinstance(text, str) and len(text) <= MAX_TEXT for text in texts)
        ):
            raise InvalidDigestError("it is no digest of a table")
        return cls(brokers, tuple(topics))


def digest_steps(table: RouteTable) -> Generator[None, None, TableDigest]:
    """Compute a digest in steps, between which the table may change.

    A digest that a change has made uneven differs from that of the peer once: only lasting
    differences count.
    """
    brokers = dict(sorted(_brokers(table))[:MAX_BROKERS])
    sums = [0] * TOPIC_GROUPS
    layouts: dict[QueueLayout, int] = {}
    for index, (topic, layout) in enumerate(list(table.topics.entries.items())):
        if index % STEP == STEP - 1:
            yield
        if layout not in layouts:
            layouts[layout] = _hash_of(layout)
        name = zlib.crc32(topic.encode("utf-8", "surrogatepass"))
        group = name % TOPIC_GROUPS
        sums[group] = (sums[group] + name * layouts[layout]) & _MASK
    return TableDigest(brokers, tuple(sums))


def _brokers(table: RouteTable) -> Generator[tuple[str, str]]:
    for (cluster, address), entry in table.live.items():
        version = entry.data_version
        text = f"{version.state_version} {version.timestamp} {version.counter}"
        for name in entry.names:
            label = f"{cluster} {name} {address}".encode("utf-8", "replace").decode()
            yield label[:MAX_TEXT], text


def _hash_of(layout: QueueLayout) -> int:
    # independent of the order of the queues; never 0
    queues = sorted(
        f"{queue.broker_name} {queue.read_queue_nums} {queue.write_queue_nums} {int(queue.perm)}"
        f" {queue.topic_sys_flag}"
        for queue in layout.queues
    )
    data = "\n".join(queues).encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(data, digest_size=8).digest()) | 1
