"""What is wrong with a cluster, from the answers of name servers and brokers; this module asks nobody.

Rules of this file: a *problem* keeps messages from being sent, stored or read as somebody configured it; a *warning* will become
a problem, or is rarely intended.  Each rule has an id that never changes, because scripts compare it.
"""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, NamedTuple

from rocketwire.flags import Perm
from rocketwire.policy.resource_names import DLQ_PREFIX, is_retry_topic, is_system_topic
from rocketwire.versions import CURRENT_VERSION, MQVersion
from rocketwire_tools.admin.actions.snapshot import Snapshot, differences
from rocketwire_tools.admin.cli.output import as_json

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rocketwire.messages.ha import HARuntimeInfo
    from rocketwire.messages.route import BrokerData, TopicRouteData
    from rocketwire_tools.admin.actions.snapshot import Difference

OK: Final = "ok"
WARNING: Final = "warning"
PROBLEM: Final = "problem"

FAR_BEHIND: Final = 256 << 20
"""Bytes that a slave may be behind its master (Java: ``haMaxGapNotInSync``)."""

DISK_WARNING: Final = 0.85
"""Share of a full disk at which a broker deletes messages before their time (Java: ``diskSpaceCleanForciblyRatio``)."""

DISK_FULL: Final = 0.90
"""Share of a full disk at which a broker refuses messages (Java: ``diskSpaceWarningLevelRatio``)."""

MASTER_ID: Final = 0

ADVICE: Final[dict[str, str]] = {
    "name-server-unreachable": "start it, or remove it from the list of name servers of brokers and clients",
    "name-server-versions": "run the same release on all name servers",
    "name-servers-differ": "wait 30 s for the next registration; then check namesrvAddr of the brokers",
    "broker-none": "start a broker, and check its namesrvAddr and its log",
    "broker-registered-partly": "set namesrvAddr of the broker to all name servers, and check the network between them",
    "broker-unreachable": "start it, open its port, or set its brokerIP1 to an address that clients reach",
    "broker-other-address": "set its brokerIP1 to an address that clients reach, and restart it",
    "broker-other-identity": "stop one of the two brokers, or give each its own address",
    "broker-loopback": "set its brokerIP1 to an address that other machines reach",
    "broker-without-master": "start the master, or let a controller elect one",
    "broker-replicas-missing": "check the log of the slave, and the port haListenPort of the master",
    "broker-replica-behind": "check network and disk of the slave",
    "broker-disk-full": "free space, shorten fileReservedTime, or enlarge the disk: the broker refuses messages",
    "broker-disk-filling": "free space, shorten fileReservedTime, or enlarge the disk",
    "versions-brokers": "upgrade the brokers of a cluster to one release",
    "versions-name-server": "upgrade name servers before brokers",
    "versions-client": "use a newer rocketwire for what is new in this broker",
    "topic-without-route": "create it again with updateTopic, or delete it with deleteTopic",
    "topic-without-address": "start the broker, or delete the topic there",
    "topic-not-writable": "if this is not intended: updateTopic -p 6, or addWritePerm after a wipeWritePerm",
    "topic-not-readable": "if this is not intended: updateTopic -p 6",
    "retry-topic-unusable": "updateTopic -p 6 for it: messages that failed cannot be delivered again",
}  # fmt: skip
"""What to do about a finding, by its id."""


class Finding(NamedTuple):
    """A row of the report.

    Attributes:
        status: ``OK``, ``WARNING`` or ``PROBLEM``.
        id: of the rule, a key of ``ADVICE``; None if all is well.
        kind: of what it is about.
        name: its name.
        text: what is so.
    """

    status: str
    id: str | None
    kind: str
    name: str
    text: str

    @property
    def advice(self) -> str | None:
        """What to do; None if all is well."""
        return None if self.id is None else ADVICE[self.id]


@dataclass(frozen=True, slots=True)
class Identity:
    """What a broker says of itself in its configuration.

    Attributes:
        name: ``brokerName``.
        id: ``brokerId``.
        address: ``brokerIP1`` with its port: as it registers itself.
    """

    name: str
    id: int
    address: str


@dataclass(frozen=True, slots=True)
class Probe:
    """The result of asking a broker at one of its addresses.

    Attributes:
        error: why it did not answer; None if it did.
        version: the name of its release.
        replication: the state of its slaves; None if it does not report it.
        disk: share of its fullest disk that is in use, 0 to 1; None if it does not report it.
        identity: what it says of itself; None if this user may not ask.
        elsewhere: another address at which the same broker answers; None if there is none.
    """

    error: str | None = None
    version: str | None = None
    replication: HARuntimeInfo | None = None
    disk: float | None = None
    identity: Identity | None = None
    elsewhere: str | None = None


def findings(
    snapshots: Sequence[Snapshot],
    failures: Mapping[str, str],
    probes: Mapping[str, Probe],
) -> list[Finding]:
    """All findings.

    Args:
        snapshots: of the name servers that answered; at least one.
        failures: by address, why others did not.
        probes: by address, of every registered broker.
    """
    return [
        *_name_servers(snapshots, failures),
        *_brokers(snapshots, probes),
        *_versions(snapshots, probes),
        *_topics(snapshots),
    ]


def _name_servers(snapshots: Sequence[Snapshot], failures: Mapping[str, str]) -> Iterator[Finding]:
    for one in snapshots:
        text = f"answers, {MQVersion(one.version).name}"
        yield Finding(OK, None, "nameServer", one.address, text)
    for address, error in failures.items():
        text = f"does not answer: {error}"
        yield Finding(PROBLEM, "name-server-unreachable", "nameServer", address, text)
    versions = {MQVersion(one.version).name for one in snapshots}
    if len(versions) > 1:
        text = f"name servers run {', '.join(sorted(versions))}"
        yield Finding(WARNING, "name-server-versions", "versions", "nameServers", text)
    yield from _registered_partly(snapshots)
    first = snapshots[0]
    for other in snapshots[1:]:
        for difference in differences(first, other):
            if _is_of_missing_broker(difference, first, other):
                continue
            kind, name, here, there = difference
            text = (
                f"{first.address} says {_said(here)}, {other.address} says {_said(there)} of {kind}"
            )
            yield Finding(PROBLEM, "name-servers-differ", kind, name, text)


def _registered_partly(snapshots: Sequence[Snapshot]) -> Iterator[Finding]:
    """Findings about masters and replicas that are registered with some of the name servers."""
    for name, addresses in sorted(broker_groups(snapshots).items()):
        registered = {
            id_: tuple(one.address for one in snapshots if id_ in _addresses(one, name))
            for id_ in sorted(addresses)
        }
        for there in dict.fromkeys(registered.values()):
            missing = [one.address for one in snapshots if one.address not in there]
            if not missing:
                continue
            ids = [id_ for id_, at in registered.items() if at == there]
            which = "" if len(ids) == len(addresses) else ", ".join(map(_role, ids)) + " "
            text = (
                f"{which}is registered with {', '.join(there)}, and not with {', '.join(missing)}"
            )
            yield Finding(PROBLEM, "broker-registered-partly", "broker", name, text)


def _is_of_missing_broker(difference: Difference, first: Snapshot, second: Snapshot) -> bool:
    """Whether name servers differ only because a broker is registered with one of them, which is a finding of its own."""
    kind, name, here, there = difference
    one, other = (
        {name for name in each.brokers if _addresses(each, name)} for each in (first, second)
    )
    gone = one ^ other
    if kind == "cluster":
        return {*first.clusters.get(name, ())} ^ {*second.clusters.get(name, ())} <= gone
    if here is not None and there is not None:
        return kind == "broker" and _is_equal_of_both(name, first, second)
    if kind == "topic":
        route = first.routes.get(name) or second.routes.get(name)
        queues = (route.queue_datas if route else None) or ()
        return bool(queues) and {one.broker_name or "" for one in queues} <= gone
    return (name.rpartition("@")[2] if kind == "route" else name) in gone


def _is_equal_of_both(name: str, first: Snapshot, second: Snapshot) -> bool:
    """Whether two name servers say the same of those replicas of a broker group that both know."""
    both = _addresses(first, name).keys() & _addresses(second, name).keys()
    one, other = (
        replace(
            snapshot.brokers[name],
            broker_addrs={id_: _addresses(snapshot, name)[id_] for id_ in both},
        )
        for snapshot in (first, second)
    )
    return one == other


def _addresses(snapshot: Snapshot, name: str) -> Mapping[int, str]:
    """The addresses of a broker group by id; none if the name server does not know it."""
    group = snapshot.brokers.get(name)
    return (group.broker_addrs if group else None) or {}


def _said(value: object) -> str:
    return "nothing" if value is None else as_json(value)  # type: ignore[arg-type]  # of a fact


def _brokers(snapshots: Sequence[Snapshot], probes: Mapping[str, Probe]) -> Iterator[Finding]:
    told_locally = all(_is_loopback(one.address) for one in snapshots)
    groups = broker_groups(snapshots)
    if not groups:
        text = "no broker is registered: nothing can be sent or received"
        yield Finding(PROBLEM, "broker-none", "broker", "none", text)
    for name, addresses in sorted(groups.items()):
        if MASTER_ID not in addresses:
            replicas = ", ".join(f"{id_}: {at}" for id_, at in sorted(addresses.items()))
            text = f"has no master; there are {replicas or 'none'}"
            yield Finding(PROBLEM, "broker-without-master", "broker", name, text)
        for id_, address in sorted(addresses.items()):
            yield from _reached(name, id_, address, probes.get(address, Probe()))
            if not told_locally and _is_loopback(address):
                text = f"advertises {address}, which other machines cannot reach"
                yield Finding(WARNING, "broker-loopback", "broker", name, text)
        master = probes.get(addresses.get(MASTER_ID, ""))
        if master is not None and master.replication is not None:
            yield from _replicas(name, addresses, master.replication)


def broker_groups(snapshots: Sequence[Snapshot]) -> dict[str, dict[int, str]]:
    """The addresses of each broker group, from all servers together."""
    groups: dict[str, dict[int, str]] = {}
    for snapshot in snapshots:
        for name, broker in snapshot.brokers.items():
            groups.setdefault(name, {}).update(broker.broker_addrs or {})
    return groups


def _reached(name: str, id_: int, address: str, probe: Probe) -> Iterator[Finding]:
    """Findings about one broker at one address."""
    role = _role(id_)
    if probe.elsewhere is not None:
        text = f"{role} is registered as {address}, where it does not answer ({probe.error}); it answers at {probe.elsewhere}"
        yield Finding(PROBLEM, "broker-other-address", "broker", name, text)
        return
    if probe.error is not None:
        text = f"{role} {address} does not answer: {probe.error}"
        yield Finding(PROBLEM, "broker-unreachable", "broker", name, text)
        return
    text = f"{role} {address} answers, {probe.version or 'no version'}"
    yield Finding(OK, None, "broker", name, text)
    own = probe.identity
    if own is not None and (own.name, own.id) != (name, id_):
        text = f"{role} is registered as {address}, where {own.name} (id {own.id}) answers"
        yield Finding(PROBLEM, "broker-other-identity", "broker", name, text)
    elif own is not None and own.address != address:
        text = f"{role} is registered as {address}, and calls itself {own.address}"
        yield Finding(WARNING, "broker-other-address", "broker", name, text)
    if probe.disk is not None and probe.disk >= DISK_WARNING:
        full = probe.disk >= DISK_FULL
        status, id_of_rule = (
            (PROBLEM, "broker-disk-full") if full else (WARNING, "broker-disk-filling")
        )
        yield Finding(
            status, id_of_rule, "broker", name, f"{role} {address}: disk {probe.disk:.0%} full"
        )


def _role(id_: int) -> str:
    return "master" if id_ == MASTER_ID else f"replica {id_}"


def _replicas(
    name: str, addresses: Mapping[int, str], replication: HARuntimeInfo
) -> Iterator[Finding]:
    connected = replication.ha_connection_info or ()
    registered = len(addresses.keys() - {MASTER_ID})
    if len(connected) < registered:
        text = f"{registered} replicas are registered, and {len(connected)} fetch from the master"
        yield Finding(PROBLEM, "broker-replicas-missing", "broker", name, text)
    for one in connected:
        if one.diff > FAR_BEHIND:
            text = f"the replica {one.addr} is {one.diff} bytes behind its master"
            yield Finding(PROBLEM, "broker-replica-behind", "broker", name, text)


def _versions(snapshots: Sequence[Snapshot], probes: Mapping[str, Probe]) -> Iterator[Finding]:
    """Findings about releases that do not go together."""
    groups = broker_groups(snapshots)
    newest: MQVersion | None = None
    for cluster, names in sorted(_clusters(snapshots).items()):
        versions: dict[str, dict[str, None]] = {}  # the names as a set in order: replicas have one
        for name in names:
            for _, address in sorted(groups.get(name, {}).items()):
                version = probes.get(address, Probe()).version
                if version is not None:
                    versions.setdefault(version, {})[name] = None
        newest = max([v for v in (newest, *map(_number, versions)) if v is not None], default=None)
        if len(versions) > 1:
            text = "; ".join(
                f"{version}: {', '.join(at)}" for version, at in sorted(versions.items())
            )
            yield Finding(
                WARNING, "versions-brokers", "versions", cluster, f"brokers differ: {text}"
            )
    if newest is None:
        return
    for one in snapshots:
        if one.version < newest:
            text = (
                f"runs {MQVersion(one.version).name}, older than the broker release {newest.name}"
            )
            yield Finding(WARNING, "versions-name-server", "nameServer", one.address, text)
    if newest > CURRENT_VERSION:
        text = f"brokers run {newest.name}; this program speaks {CURRENT_VERSION.name}"
        yield Finding(WARNING, "versions-client", "versions", "rocketwire", text)


def _clusters(snapshots: Sequence[Snapshot]) -> dict[str, list[str]]:
    """Names of broker groups by cluster, from all servers together."""
    clusters: dict[str, set[str]] = {}
    for snapshot in snapshots:
        for name, broker in snapshot.brokers.items():
            clusters.setdefault(broker.cluster or "", set()).add(name)
    return {cluster: sorted(names) for cluster, names in clusters.items()}


def _number(version: str) -> MQVersion | None:
    """A release by its name, ``V5_5_0`` or the number of one that Java 5.5.0 does not name."""
    if version in MQVersion.__members__:
        return MQVersion[version]
    return MQVersion(int(version)) if version.isascii() and version.isdecimal() else None


def _topics(snapshots: Sequence[Snapshot]) -> Iterator[Finding]:
    routes: dict[str, TopicRouteData | None] = {}
    for snapshot in snapshots:
        for topic, route in snapshot.routes.items():
            routes[topic] = routes.get(topic) or route
    wrong = [finding for topic, route in sorted(routes.items()) for finding in _route(topic, route)]
    yield from wrong
    bad = len({finding.name for finding in wrong})
    if not bad:
        yield Finding(OK, None, "topics", "all", f"{len(routes)} checked, no findings")


def _route(topic: str, route: TopicRouteData | None) -> Iterator[Finding]:
    if route is None or not route.queue_datas:
        text = "is listed and has no route"
        yield Finding(PROBLEM, "topic-without-route", "topic", topic, text)
        return
    brokers: dict[str, BrokerData] = {
        broker.broker_name or "": broker for broker in route.broker_datas or ()
    }
    for queues in route.queue_datas:
        name = queues.broker_name or ""
        if name not in brokers or not brokers[name].broker_addrs:
            text = f"has queues at {name}, which has no address"
            yield Finding(PROBLEM, "topic-without-address", "topic", topic, text)
    if topic.startswith(DLQ_PREFIX) or (is_system_topic(topic) and not is_retry_topic(topic)):
        return  # dead letters are only written, and what brokers tell each other is neither
    for perm, doing, count in (
        (Perm.WRITE, "written", [one.write_queue_nums for one in route.queue_datas]),
        (Perm.READ, "read", [one.read_queue_nums for one in route.queue_datas]),
    ):
        if not any(
            one.perm & perm and number for one, number in zip(route.queue_datas, count, strict=True)
        ):
            rule = "topic-not-writable" if perm is Perm.WRITE else "topic-not-readable"
            rule = "retry-topic-unusable" if is_retry_topic(topic) else rule
            yield Finding(WARNING, rule, "topic", topic, f"has no queue that can be {doing}")


def _is_loopback(address: str) -> bool:
    host = address.rpartition(":")[0].strip("[]")
    try:
        ip = ipaddress.ip_address(host)
    except ValueError:
        return host == "localhost"
    return ip.is_loopback or ip.is_unspecified
