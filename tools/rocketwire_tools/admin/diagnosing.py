"""What is wrong with a cluster, from what name servers told and brokers answered; nothing is asked here.

Rules of this file: a *problem* is what keeps messages from being sent, stored or read as somebody configured it; a *warning* is
what will, or what is seldom meant.
"""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

from rocketwire.flags import Perm
from rocketwire.policy.names import DLQ_PREFIX, RETRY_PREFIX, is_system_topic
from rocketwire.versions import MQVersion
from rocketwire_tools.admin.outputs import as_json
from rocketwire_tools.admin.snapshots import Snapshot, differences

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rocketwire.messages.ha import HARuntimeInfo
    from rocketwire.messages.route import BrokerData, TopicRouteData

OK: Final = "ok"
WARNING: Final = "warning"
PROBLEM: Final = "problem"

FAR_BEHIND: Final = 256 << 20
"""Bytes behind its master from which on a slave is no good (Java: ``haMaxGapNotInSync``)."""

MASTER_ID: Final = 0


class Finding(NamedTuple):
    """A row of the report.

    Attributes:
        status: ``OK``, ``WARNING`` or ``PROBLEM``.
        kind: of what it is about.
        name: its name.
        text: what is so.
    """

    status: str
    kind: str
    name: str
    text: str


@dataclass(frozen=True, slots=True)
class Probe:
    """What became of asking a broker at one of its addresses.

    Attributes:
        error: why it did not answer; None if it did.
        version: that it says to have.
        replication: what it says of its slaves; None if it does not.
    """

    error: str | None = None
    version: str | None = None
    replication: HARuntimeInfo | None = None


def findings(
    snapshots: Sequence[Snapshot],
    failures: Mapping[str, str],
    probes: Mapping[str, Probe],
) -> list[Finding]:
    """Everything there is to say.

    Args:
        snapshots: of the name servers that answered; at least one.
        failures: by address, why others did not.
        probes: by address, of every broker that one of them tells of.
    """
    return [
        *_name_servers(snapshots, failures),
        *_brokers(snapshots, probes),
        *_versions(snapshots, probes),
        *_topics(snapshots),
    ]


def _name_servers(snapshots: Sequence[Snapshot], failures: Mapping[str, str]) -> Iterator[Finding]:
    for one in snapshots:
        yield Finding(OK, "nameServer", one.address, f"answers, {MQVersion(one.version).name}")
    for address, error in failures.items():
        yield Finding(PROBLEM, "nameServer", address, f"does not answer: {error}")
    first = snapshots[0]
    for other in snapshots[1:]:
        for kind, name, here, there in differences(first, other):
            text = (
                f"{first.address} says {_said(here)}, {other.address} says {_said(there)} of {kind}"
            )
            yield Finding(PROBLEM, kind, name, text)


def _said(value: object) -> str:
    return "nothing" if value is None else as_json(value)  # type: ignore[arg-type]  # of a fact


def _brokers(snapshots: Sequence[Snapshot], probes: Mapping[str, Probe]) -> Iterator[Finding]:
    told_locally = all(_is_loopback(one.address) for one in snapshots)
    for name, addresses in sorted(broker_groups(snapshots).items()):
        if MASTER_ID not in addresses:
            replicas = ", ".join(f"{id_}: {at}" for id_, at in sorted(addresses.items()))
            yield Finding(PROBLEM, "broker", name, f"has no master; there are {replicas or 'none'}")
        for id_, address in sorted(addresses.items()):
            yield _reached(name, id_, address, probes.get(address, Probe()))
            if not told_locally and _is_loopback(address):
                text = f"advertises {address}, which nobody on another machine can reach"
                yield Finding(WARNING, "broker", name, text)
        master = probes.get(addresses.get(MASTER_ID, ""))
        if master is not None and master.replication is not None:
            yield from _replicas(name, addresses, master.replication)


def broker_groups(snapshots: Sequence[Snapshot]) -> dict[str, dict[int, str]]:
    """The addresses of each broker group, from all servers together."""
    found: dict[str, dict[int, str]] = {}
    for snapshot in snapshots:
        for name, broker in snapshot.brokers.items():
            found.setdefault(name, {}).update(broker.broker_addrs or {})
    return found


def _reached(name: str, id_: int, address: str, probe: Probe) -> Finding:
    role = "master" if id_ == MASTER_ID else f"replica {id_}"
    if probe.error is not None:
        text = f"{role} {address} does not answer: {probe.error}"
        return Finding(PROBLEM, "broker", name, text)
    return Finding(OK, "broker", name, f"{role} {address} answers, {probe.version or 'no version'}")


def _replicas(
    name: str, addresses: Mapping[int, str], replication: HARuntimeInfo
) -> Iterator[Finding]:
    connected = replication.ha_connection_info or ()
    registered = len(addresses.keys() - {MASTER_ID})
    if len(connected) < registered:
        text = f"{registered} replicas are registered, and {len(connected)} fetch from the master"
        yield Finding(PROBLEM, "broker", name, text)
    for one in connected:
        if one.diff > FAR_BEHIND:
            text = f"the replica {one.addr} is {one.diff} bytes behind its master"
            yield Finding(PROBLEM, "broker", name, text)


def _versions(snapshots: Sequence[Snapshot], probes: Mapping[str, Probe]) -> Iterator[Finding]:
    versions: dict[str, dict[str, None]] = {}  # the names as a set in order: replicas have one
    for name, addresses in sorted(broker_groups(snapshots).items()):
        for _, address in sorted(addresses.items()):
            version = probes.get(address, Probe()).version
            if version is not None:
                versions.setdefault(version, {})[name] = None
    if len(versions) > 1:
        text = "; ".join(f"{version}: {', '.join(at)}" for version, at in sorted(versions.items()))
        yield Finding(WARNING, "versions", "brokers", f"differ: {text}")


def _topics(snapshots: Sequence[Snapshot]) -> Iterator[Finding]:
    routes: dict[str, TopicRouteData | None] = {}
    for snapshot in snapshots:
        for topic, route in snapshot.routes.items():
            routes[topic] = routes.get(topic) or route
    wrong = [finding for topic, route in sorted(routes.items()) for finding in _route(topic, route)]
    yield from wrong
    bad = len({finding.name for finding in wrong})
    status = OK if not bad else WARNING
    yield Finding(status, "topics", "all", f"{len(routes)}, something to say of {bad}")


def _route(topic: str, route: TopicRouteData | None) -> Iterator[Finding]:
    if route is None or not route.queue_datas:
        yield Finding(PROBLEM, "topic", topic, "is listed and has no route")
        return
    brokers: dict[str, BrokerData] = {
        broker.broker_name or "": broker for broker in route.broker_datas or ()
    }
    for queues in route.queue_datas:
        name = queues.broker_name or ""
        if name not in brokers or not brokers[name].broker_addrs:
            yield Finding(PROBLEM, "topic", topic, f"has queues at {name}, which has no address")
    if topic.startswith((RETRY_PREFIX, DLQ_PREFIX)) or is_system_topic(topic):
        return  # dead letters are only written, and what brokers tell each other is neither
    for perm, doing, count in (
        (Perm.WRITE, "written", [one.write_queue_nums for one in route.queue_datas]),
        (Perm.READ, "read", [one.read_queue_nums for one in route.queue_datas]),
    ):
        if not any(
            one.perm & perm and number for one, number in zip(route.queue_datas, count, strict=True)
        ):
            yield Finding(WARNING, "topic", topic, f"has no queue that can be {doing}")


def _is_loopback(address: str) -> bool:
    host = address.rpartition(":")[0].strip("[]")
    try:
        found = ipaddress.ip_address(host)
    except ValueError:
        return host == "localhost"
    return found.is_loopback or found.is_unspecified
