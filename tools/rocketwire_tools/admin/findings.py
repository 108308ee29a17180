"""The state of a cluster at its name servers and brokers, and rules that find faults in it.

A *problem* keeps messages from being sent, stored or read as configured. A *warning* may become a
problem, or is rarely intended. The id of a rule never changes, because scripts compare it.
"""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, NamedTuple

import trio

from rocketwire.codes import RequestCode, ResponseCode
from rocketwire.errors import NameServerError, RocketWireError, TopicRouteNotFoundError
from rocketwire.flags import Perm
from rocketwire.messages.route import BrokerData, ClusterInfo, QueueData, TopicRouteData
from rocketwire.policy.resource_names import DLQ_PREFIX, is_retry_topic, is_system_topic
from rocketwire.policy.routing import DEFAULT_TOPIC
from rocketwire.versions import CURRENT_VERSION, MQVersion
from rocketwire_tools.cli.output import as_json

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from rocketwire.client.net.nameservers import SingleNameServer
    from rocketwire.messages.ha import HARuntimeInfo
    from rocketwire_tools.cli.command import Value

MAX_CONCURRENT_REQUESTS: Final = 16
"""Requests to one name server, or to all brokers, at the same time."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    address: str
    version: int  # version in its responses (a value of ``MQVersion``)
    clusters: Mapping[str, tuple[str, ...]]  # names of broker groups by cluster
    brokers: Mapping[str, BrokerData]  # broker groups by name
    # routes by topic; None if a topic is listed but has no route
    routes: Mapping[str, TopicRouteData | None]
    is_waiting: bool = False  # whether it has no brokers because it returns no routes yet


async def take_snapshot(
    server: SingleNameServer, topics: Collection[str] | None = None
) -> Snapshot:
    response = await server.call(RequestCode.GET_BROKER_CLUSTER_INFO)
    cluster_info: ClusterInfo = response.body or ClusterInfo()
    if topics is None:
        topics = set(filter(None, (await server.all_topics()).topic_list or ()))
    routes: dict[str, TopicRouteData | None] = {}
    failures: list[RocketWireError] = []
    limit = trio.CapacityLimiter(MAX_CONCURRENT_REQUESTS)

    async def ask(topic: str) -> None:
        async with limit:
            try:
                routes[topic] = await server.route(topic)
            except TopicRouteNotFoundError:
                routes[topic] = None
            except RocketWireError as error:
                failures.append(error)
                nursery.cancel_scope.cancel()

    async with trio.open_nursery() as nursery:
        for topic in topics:
            nursery.start_soon(ask, topic)
    if failures:
        raise failures[0]
    clusters = cluster_info.cluster_addr_table or {}
    return Snapshot(
        address=server.address,
        version=response.command.version,
        clusters={name: tuple(sorted(filter(None, all_))) for name, all_ in clusters.items()},
        brokers=dict(cluster_info.broker_addr_table or {}),
        routes=dict(sorted(routes.items())),
        is_waiting=not cluster_info.broker_addr_table and await _returns_no_routes(server),
    )


async def _returns_no_routes(server: SingleNameServer) -> bool:
    # Whether a name server waits for brokers after its start, and so has no route of any topic
    try:
        await server.route(DEFAULT_TOPIC)
    except NameServerError as error:
        return error.code == ResponseCode.SYSTEM_ERROR and "not ready" in error.remark
    except TopicRouteNotFoundError:
        return False
    return False


class Difference(NamedTuple):
    """A fact on which two name servers differ; None if one of them does not have it."""

    subject: str
    name: str
    first: Value
    second: Value


def differences(first: Snapshot, second: Snapshot) -> list[Difference]:
    """The sorted differences; a topic that only one has is one difference, without its routes."""
    result: list[Difference] = []
    first_facts, second_facts = dict(_facts(first)), dict(_facts(second))
    missing = {key[1] for key in first_facts.keys() ^ second_facts.keys() if key[0] == "topic"}
    keys = first_facts.keys() | second_facts.keys()
    for key in sorted(keys, key=lambda key: (_SUBJECTS.index(key[0]), key[1])):
        subject, name = key
        if subject == "route" and name.rpartition("@")[0] in missing:
            continue
        if first_facts.get(key) != second_facts.get(key):
            result.append(Difference(subject, name, first_facts.get(key), second_facts.get(key)))
    return result


_SUBJECTS: Final = ("cluster", "broker", "topic", "route")


def _facts(snapshot: Snapshot) -> Iterator[tuple[tuple[str, str], Value]]:
    for name, brokers in snapshot.clusters.items():
        yield ("cluster", name), list(brokers)
    for name, broker in snapshot.brokers.items():
        yield ("broker", name), _broker(broker)
    for topic, route in snapshot.routes.items():
        if route is None:
            continue
        yield ("topic", topic), "known"
        for queues in route.queue_datas or ():
            yield ("route", f"{topic}@{queues.broker_name}"), _queues(queues)
        if route.order_topic_conf:
            yield ("route", f"{topic}@order"), route.order_topic_conf


def _broker(broker: BrokerData) -> Value:
    addresses = {str(id_): address for id_, address in sorted((broker.broker_addrs or {}).items())}
    facts: dict[str, Value] = {"cluster": broker.cluster, "addresses": addresses}
    if broker.enable_acting_master:
        facts["enableActingMaster"] = True
    if broker.zone_name:
        facts["zoneName"] = broker.zone_name
    return facts


def _queues(queues: QueueData) -> Value:
    return {
        "read": queues.read_queue_nums,
        "write": queues.write_queue_nums,
        "perm": queues.perm,
        "sysFlag": queues.topic_sys_flag,
    }


OK: Final = "ok"
WARNING: Final = "warning"
PROBLEM: Final = "problem"

FAR_BEHIND: Final = 256 << 20
"""Maximum replication lag of a slave in bytes (Java: ``haMaxGapNotInSync``)."""

DISK_WARNING: Final = 0.85
"""Disk usage at which a broker deletes unexpired files (Java: ``diskSpaceCleanForciblyRatio``)."""

DISK_FULL: Final = 0.90
"""Disk usage at which a broker rejects messages (Java: ``diskSpaceWarningLevelRatio``)."""

MASTER_ID: Final = 0

ADVICE: Final[dict[str, str]] = {
    "name-server-unreachable": "start it, or remove it from namesrvAddr of brokers and clients",
    "name-server-waiting": "wait for the brokers; its page and its log name them",
    "name-server-versions": "run the same release on all name servers",
    "name-servers-differ": "wait 30 s for the next registration, then check namesrvAddr of brokers",
    "broker-none": "start a broker, and check its namesrvAddr and its log",
    "broker-registered-partly": "set its namesrvAddr to all name servers; check its network",
    "broker-unreachable": "start it, open its port, or set brokerIP1 to a reachable address",
    "broker-refused": "set --access-key and --secret-key of a user that the broker knows",
    "broker-other-address": "set brokerIP1 to a reachable address and restart the broker",
    "broker-address-map": "correct the address map (--address-map or ROCKETWIRE_ADDRESS_MAP)",
    "broker-other-identity": "stop one of the two brokers, or give each its own address",
    "broker-loopback": "set brokerIP1 to an address that other machines reach",
    "broker-without-master": "start the master, or let a controller elect one",
    "broker-replicas-missing": "check the log of the slave and the port haListenPort of the master",
    "broker-replica-behind": "check the network and the disk of the slave",
    "broker-disk-full": "the broker rejects messages: free space or lower fileReservedTime",
    "broker-disk-filling": "free space or lower fileReservedTime",
    "versions-brokers": "upgrade the brokers of a cluster to one release",
    "versions-name-server": "upgrade name servers before brokers",
    "versions-client": "upgrade rocketwire to use new features of this broker",
    "topic-without-route": "recreate it with updateTopic, or delete it with deleteTopic",
    "topic-without-address": "start the broker, or delete the topic there",
    "topic-not-writable": "if not intended: updateTopic -p 6, or addWritePerm after wipeWritePerm",
    "topic-not-readable": "if not intended: updateTopic -p 6",
    "topic-unread-queues": "updateTopic -r and -w with more queues, until they are consumed",
    "retry-topic-unusable": "run updateTopic -p 6 for it: failed messages cannot be redelivered",
}  # fmt: skip
"""Recommended action by rule id."""


class Finding(NamedTuple):
    status: str  # ``OK``, ``WARNING`` or ``PROBLEM``
    id: str | None  # id of the rule, a key of ``ADVICE``; None for ``OK``
    subject: str  # type of the subject, for example ``broker`` or ``topic``
    name: str  # name of the subject
    text: str

    @property
    def advice(self) -> str | None:
        return None if self.id is None else ADVICE[self.id]


@dataclass(frozen=True, slots=True)
class Identity:
    name: str  # ``brokerName``
    id: int  # ``brokerId``
    address: str  # ``brokerIP1`` with the port, as the broker registers itself


@dataclass(frozen=True, slots=True)
class Probe:
    """The responses of a broker at one of its addresses."""

    # why it did not respond, or refused the request; None if it did neither
    error: str | None = None
    is_refused: bool = False  # whether it responded with that error
    version: str | None = None  # the name of its release
    # the state of its slaves; None if it does not report it
    replication: HARuntimeInfo | None = None
    disk: float | None = None  # usage of its fullest disk, 0 to 1; None if it does not report it
    # its own identity; None if this user may not read the configuration
    identity: Identity | None = None
    # another address at which the same broker responds; None if there is none
    reachable_at: str | None = None
    # address that the requests went to in place of the registered one; None if it is the same
    mapped_to: str | None = None
    # the responses at the registered address, if it is mapped to another one
    unmapped: Probe | None = None


def findings(
    snapshots: Sequence[Snapshot],  # the states of the name servers that responded
    failures: Mapping[str, str],  # why others did not respond, by address
    probes: Mapping[str, Probe],  # the results for every registered broker, by address
    # messages by topic, broker name and id of a queue outside of the route
    unread: Mapping[tuple[str, str], Mapping[int, int]],
) -> list[Finding]:
    return [
        *_check_name_servers(snapshots, failures),
        *_check_brokers(snapshots, probes),
        *_check_versions(snapshots, probes),
        *_check_topics(snapshots, unread),
    ]


def _check_name_servers(
    snapshots: Sequence[Snapshot], failures: Mapping[str, str]
) -> Iterator[Finding]:
    for snapshot in snapshots:
        text = f"responds, {MQVersion(snapshot.version).name}"
        yield Finding(OK, None, "nameServer", snapshot.address, text)
    for address, error in failures.items():
        text = f"does not respond: {error}"
        yield Finding(PROBLEM, "name-server-unreachable", "nameServer", address, text)
    versions = {MQVersion(snapshot.version).name for snapshot in snapshots}
    if len(versions) > 1:
        text = f"name servers run {', '.join(sorted(versions))}"
        yield Finding(WARNING, "name-server-versions", "versions", "nameServers", text)
    yield from _check_registrations(snapshots)
    first = snapshots[0]
    for snapshot in snapshots[1:]:
        for difference in differences(first, snapshot):
            if _is_of_missing_broker(difference, first, snapshot):
                continue
            subject, name, here, there = difference
            text = (
                f"{subject} differs: {first.address} has {_as_text(here)}, "
                f"{snapshot.address} has {_as_text(there)}"
            )
            yield Finding(PROBLEM, "name-servers-differ", subject, name, text)


def _check_registrations(snapshots: Sequence[Snapshot]) -> Iterator[Finding]:
    for name, addresses in sorted(broker_groups(snapshots).items()):
        registered = {
            id_: tuple(s.address for s in snapshots if id_ in _addresses(s, name))
            for id_ in sorted(addresses)
        }
        for there in dict.fromkeys(registered.values()):
            missing = [s.address for s in snapshots if s.address not in there]
            if not missing:
                continue
            ids = [id_ for id_, servers in registered.items() if servers == there]
            which = "" if len(ids) == len(addresses) else ", ".join(map(_role, ids)) + " "
            text = f"{which}is registered with {', '.join(there)} but not with {', '.join(missing)}"
            yield Finding(PROBLEM, "broker-registered-partly", "broker", name, text)


def _is_of_missing_broker(difference: Difference, first: Snapshot, second: Snapshot) -> bool:
    # Whether two name servers differ only because a broker is registered with one of them. That is
    # a separate finding (``broker-registered-partly``).
    subject, name, here, there = difference
    in_first, in_second = (
        {name for name in snapshot.brokers if _addresses(snapshot, name)}
        for snapshot in (first, second)
    )
    gone = in_first ^ in_second
    if subject == "cluster":
        return {*first.clusters.get(name, ())} ^ {*second.clusters.get(name, ())} <= gone
    if here is not None and there is not None:
        return subject == "broker" and _is_equal_of_both(name, first, second)
    if subject == "topic":
        route = first.routes.get(name) or second.routes.get(name)
        queues = (route.queue_datas if route else None) or ()
        return bool(queues) and {data.broker_name or "" for data in queues} <= gone
    return (name.rpartition("@")[2] if subject == "route" else name) in gone


def _is_equal_of_both(name: str, first: Snapshot, second: Snapshot) -> bool:
    both = _addresses(first, name).keys() & _addresses(second, name).keys()
    first_group, second_group = (
        replace(
            snapshot.brokers[name],
            broker_addrs={id_: _addresses(snapshot, name)[id_] for id_ in both},
        )
        for snapshot in (first, second)
    )
    return first_group == second_group


def _addresses(snapshot: Snapshot, name: str) -> Mapping[int, str]:
    group = snapshot.brokers.get(name)
    return (group.broker_addrs if group else None) or {}


def _as_text(value: Value) -> str:
    return "nothing" if value is None else as_json(value)


def _check_brokers(snapshots: Sequence[Snapshot], probes: Mapping[str, Probe]) -> Iterator[Finding]:
    only_local_servers = all(_is_loopback(snapshot.address) for snapshot in snapshots)
    groups = broker_groups(snapshots)
    waiting = [snapshot.address for snapshot in snapshots if snapshot.is_waiting]
    if not groups and waiting:
        text = f"{', '.join(waiting)} returns no routes until its brokers of before are back"
        yield Finding(WARNING, "name-server-waiting", "nameServer", waiting[0], text)
    elif not groups:
        text = "no broker is registered: messages cannot be sent or received"
        yield Finding(PROBLEM, "broker-none", "broker", "none", text)
    for name, addresses in sorted(groups.items()):
        if MASTER_ID not in addresses:
            replicas = ", ".join(
                f"{id_}: {replica_address}" for id_, replica_address in sorted(addresses.items())
            )
            text = f"has no master; replicas: {replicas or 'none'}"
            yield Finding(PROBLEM, "broker-without-master", "broker", name, text)
        for id_, address in sorted(addresses.items()):
            yield from _check_address(name, id_, address, probes.get(address, Probe()))
            if not only_local_servers and _is_loopback(address):
                text = f"advertises {address}, which other machines cannot reach"
                yield Finding(WARNING, "broker-loopback", "broker", name, text)
        master = probes.get(addresses.get(MASTER_ID, ""))
        if master is not None and master.replication is not None:
            yield from _check_replicas(name, addresses, master.replication)


def broker_groups(snapshots: Sequence[Snapshot]) -> dict[str, dict[int, str]]:
    groups: dict[str, dict[int, str]] = {}
    for snapshot in snapshots:
        for name, broker in snapshot.brokers.items():
            groups.setdefault(name, {}).update(broker.broker_addrs or {})
    return groups


def _check_address(name: str, id_: int, address: str, probe: Probe) -> Iterator[Finding]:
    role = _role(id_)
    other = probe.unmapped
    if other is not None and other.error is None and probe.error is not None:
        text = f"{role} {address} does not respond where it is mapped to ({probe.error})"
        text += "; it responds at its registered address"
        yield Finding(PROBLEM, "broker-address-map", "broker", name, text)
        return
    if probe.reachable_at is not None:
        text = (
            f"{role} is registered as {address}, where it does not respond ({probe.error}); "
            f"it responds at {probe.reachable_at}"
        )
        yield Finding(PROBLEM, "broker-other-address", "broker", name, text)
        return
    if probe.is_refused:
        text = f"{role} {address} refuses the request: {probe.error}"
        yield Finding(PROBLEM, "broker-refused", "broker", name, text)
        return
    if probe.error is not None:
        text = f"{role} {address} does not respond: {probe.error}"
        yield Finding(PROBLEM, "broker-unreachable", "broker", name, text)
        return
    text = f"{role} {address} responds"
    if other is not None:
        text += f" at {probe.mapped_to}, to which it is mapped"
    text += f", {probe.version or 'no version'}"
    if other is not None and other.error is not None:
        text += f"; not at its registered address ({other.error})"
    yield Finding(OK, None, "broker", name, text)
    identity = probe.identity
    if identity is not None and (identity.name, identity.id) != (name, id_):
        text = (
            f"{role} is registered as {address}, where {identity.name} (id {identity.id}) responds"
        )
        yield Finding(PROBLEM, "broker-other-identity", "broker", name, text)
    elif identity is not None and identity.address != address:
        text = f"{role} is registered as {address} but is configured as {identity.address}"
        yield Finding(WARNING, "broker-other-address", "broker", name, text)
    if probe.disk is not None and probe.disk >= DISK_WARNING:
        text = f"{role} {address}: disk {probe.disk:.0%} full"
        is_full = probe.disk >= DISK_FULL
        finding = "broker-disk-full" if is_full else "broker-disk-filling"
        yield Finding(PROBLEM if is_full else WARNING, finding, "broker", name, text)


def _role(id_: int) -> str:
    return "master" if id_ == MASTER_ID else f"replica {id_}"


def _check_replicas(
    name: str, addresses: Mapping[int, str], replication: HARuntimeInfo
) -> Iterator[Finding]:
    connected = replication.ha_connection_info or ()
    registered = len(addresses.keys() - {MASTER_ID})
    if len(connected) < registered:
        text = f"{registered} replicas are registered but {len(connected)} fetch from the master"
        yield Finding(PROBLEM, "broker-replicas-missing", "broker", name, text)
    for connection in connected:
        if connection.diff > FAR_BEHIND:
            text = f"the replica {connection.addr} is {connection.diff} bytes behind its master"
            yield Finding(PROBLEM, "broker-replica-behind", "broker", name, text)


def _check_versions(
    snapshots: Sequence[Snapshot], probes: Mapping[str, Probe]
) -> Iterator[Finding]:
    groups = broker_groups(snapshots)
    newest: MQVersion | None = None
    for cluster, names in sorted(_clusters(snapshots).items()):
        versions: dict[str, dict[str, None]] = {}  # dict as ordered set of names
        for name in names:
            for _, address in sorted(groups.get(name, {}).items()):
                version = probes.get(address, Probe()).version
                if version is not None:
                    versions.setdefault(version, {})[name] = None
        newest = max(
            [v for v in (newest, *map(_parse_version, versions)) if v is not None], default=None
        )
        if len(versions) > 1:
            text = "; ".join(
                f"{version}: {', '.join(names_of_version)}"
                for version, names_of_version in sorted(versions.items())
            )
            yield Finding(
                WARNING, "versions-brokers", "versions", cluster, f"brokers differ: {text}"
            )
    if newest is None:
        return
    for snapshot in snapshots:
        if snapshot.version < newest:
            text = f"runs {MQVersion(snapshot.version).name}, older than brokers ({newest.name})"
            yield Finding(WARNING, "versions-name-server", "nameServer", snapshot.address, text)
    if newest > CURRENT_VERSION:
        text = f"brokers run {newest.name}; this program supports {CURRENT_VERSION.name}"
        yield Finding(WARNING, "versions-client", "versions", "rocketwire", text)


def _clusters(snapshots: Sequence[Snapshot]) -> dict[str, list[str]]:
    clusters: dict[str, set[str]] = {}
    for snapshot in snapshots:
        for name, broker in snapshot.brokers.items():
            clusters.setdefault(broker.cluster or "", set()).add(name)
    return {cluster: sorted(names) for cluster, names in clusters.items()}


def _parse_version(version: str) -> MQVersion | None:
    # A release by its name (``V5_5_0``), or by its number if Java 5.5.0 has no name for it
    if version in MQVersion.__members__:
        return MQVersion[version]
    return MQVersion(int(version)) if version.isascii() and version.isdecimal() else None


def merge_routes(snapshots: Iterable[Snapshot]) -> dict[str, TopicRouteData | None]:
    routes: dict[str, TopicRouteData | None] = {}
    for snapshot in snapshots:
        for topic, route in snapshot.routes.items():
            routes[topic] = routes.get(topic) or route
    return routes


def _check_topics(
    snapshots: Sequence[Snapshot], unread: Mapping[tuple[str, str], Mapping[int, int]]
) -> Iterator[Finding]:
    routes = merge_routes(snapshots)
    faults = [f for topic, route in sorted(routes.items()) for f in _check_route(topic, route)]
    for (topic, broker), counts in sorted(unread.items()):
        queues = ", ".join(map(str, sorted(counts)))
        text = (
            f"{sum(counts.values())} messages at {broker} are in queues that no consumer reads"
            f" ({queues}): its number of queues was reduced"
        )
        faults.append(Finding(WARNING, "topic-unread-queues", "topic", topic, text))
    yield from faults
    if not faults:
        yield Finding(OK, None, "topics", "all", f"{len(routes)} checked, no findings")


def _check_route(topic: str, route: TopicRouteData | None) -> Iterator[Finding]:
    if route is None or not route.queue_datas:
        text = "is listed but has no route"
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
        return  # dead letters are only written; clients do not use the topics of brokers
    writable = any(q.perm & Perm.WRITE and q.write_queue_nums for q in route.queue_datas)
    readable = any(q.perm & Perm.READ and q.read_queue_nums for q in route.queue_datas)
    for usable, rule, text in (
        (writable, "topic-not-writable", "has no writable queue"),
        (readable, "topic-not-readable", "has no readable queue"),
    ):
        if not usable:
            rule_id = "retry-topic-unusable" if is_retry_topic(topic) else rule
            yield Finding(WARNING, rule_id, "topic", topic, text)


def _is_loopback(address: str) -> bool:
    host = address.rpartition(":")[0].strip("[]")
    try:
        ip = ipaddress.ip_address(host)
    except ValueError:
        return host == "localhost"
    return ip.is_loopback or ip.is_unspecified
