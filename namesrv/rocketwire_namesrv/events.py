"""Events, as values: tables and handlers return them, the driver writes them to the log.

Rules of this file: an event contains plain values, its ``text`` is one line, and control characters
of peers are escaped, so that a peer cannot forge a line. The wording follows the lines that
operators search in Java's ``namesrv.log``; if one line replaces many of Java's (a registration with
10,000 topics), it contains a number.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from rocketwire.serving.events import Event, Level

if TYPE_CHECKING:
    from rocketwire.codes import RequestCode


class Reason(StrEnum):
    CLOSED = "closed"
    IDLE = "idle"
    EXPIRED = "expired"
    UNREGISTERED = "unregistered"


# ---------------------------------------- brokers


class BrokerRegistered(Event):
    """A broker registered that had no live entry."""

    cluster: str
    address: str
    broker_name: str
    broker_id: int
    ha_address: str | None
    template = (
        "new broker registered, BrokerAddrInfo [clusterName={cluster}, brokerAddr={address}]"
        " HAService: {ha_address} brokerName: {broker_name} brokerId: {broker_id}"
    )


class RegistrationConflict(Event):
    """A registration with an older state version than the one it would replace was ignored."""

    level = Level.WARNING
    cluster: str
    broker_name: str
    broker_id: int
    old_address: str
    old_version: int
    new_address: str
    new_version: int
    template = (
        "Registering Broker conflicts with the existed one, just ignore.: Cluster:{cluster},"
        " BrokerName:{broker_name}, BrokerId:{broker_id}, Old BrokerAddr:{old_address},"
        " Old Version:{old_version}, New BrokerAddr:{new_address}, New Version:{new_version}."
    )


class RegistrationRefused(Event):
    """A registration was not applied."""

    level = Level.WARNING
    broker_name: str | None
    address: str | None
    reason: str
    template = (
        "broker registration refused, brokerName: {broker_name} brokerAddr: {address}: {reason}"
    )


class PartsOverdue(Event):
    """A registration that looked like a part was registered, because no other part came."""

    cluster: str
    address: str
    broker_name: str
    topics: int
    template = (
        "registration of {topics} topics taken as it is, no other part came, BrokerAddrInfo"
        " [clusterName={cluster}, brokerAddr={address}] brokerName: {broker_name}"
    )


class BrokerUnregistered(Event):
    """A broker lost its live entry, for the reason given."""

    cluster: str
    address: str
    broker_name: str
    reason: str
    template = (
        "unregisterBroker, remove from brokerLiveTable OK,"
        " BrokerAddrInfo [clusterName={cluster}, brokerAddr={address}]"
        " brokerName: {broker_name} reason: {reason}"
    )


class UnregistrationIgnored(Event):
    """A request to unregister was ignored: the broker is not registered, or has registered again
    since."""

    level = Level.WARNING
    cluster: str | None
    address: str | None
    broker_name: str | None
    reason: str
    template = (
        "unregisterBroker, remove from brokerLiveTable Failed,"
        " BrokerAddrInfo [clusterName={cluster}, brokerAddr={address}]"
        " brokerName: {broker_name}: {reason}"
    )


class BrokerExpired(Event):
    """A broker was silent for longer than its timeout; its connection is closed."""

    level = Level.WARNING
    cluster: str
    address: str
    timeout_ms: int
    template = (
        "The broker channel expired,"
        " BrokerAddrInfo [clusterName={cluster}, brokerAddr={address}] {timeout_ms}ms"
    )


class GroupRemoved(Event):
    """The last address of a broker name left, and with it the name and its topics."""

    broker_name: str
    topics: int
    template = (
        "unregisterBroker, remove name from brokerAddrTable OK, {broker_name},"
        " removed from {topics} topics"
    )


class ClusterRemoved(Event):
    cluster: str
    template = "unregisterBroker, remove cluster from clusterAddrTable {cluster}"


class MinBrokerIdChanged(Event):
    """The smallest id of a group changed; its members are notified (request 905)."""

    broker_id: int  #: the smallest id now
    address: str  #: its address
    targets: tuple[str, ...]  #: addresses to notify
    offline_address: str | None = None  #: address of the member that left, if any
    ha_address: str | None = None  #: HA address of the member that joined, if any
    template = (
        "min broker id changed to {broker_id}, notify {targets},"
        " offline broker addr {offline_address}"
    )


# ---------------------------------------- topics


class TopicsRegistered(Event):
    """A registration added or changed topics."""

    broker_name: str
    created: int
    changed: int
    removed: int
    examples: tuple[str, ...]  #: the first few of their names, and ``...`` if there are more
    template = (
        "new topic registered, {created} new, {changed} changed, {removed} removed,"
        " brokerName: {broker_name} topics: {examples}"
    )


class TopicRouteRegistered(Event):
    """An administrator registered the route of one topic."""

    topic: str
    broker_names: tuple[str, ...]
    template = "Register topic route:{topic}, {broker_names}"


class TopicRouteRefused(Event):
    """A topic's route names a broker that is not registered."""

    level = Level.WARNING
    topic: str
    broker_name: str | None
    template = "Register topic contains illegal broker, {topic}, {broker_name}"


class TopicDeleted(Event):
    topic: str
    cluster: str | None
    template = "deleteTopic, remove the topic {topic}, cluster: {cluster}"


class WritePermChanged(Event):
    """An administrator took or gave the permission to write to a broker."""

    action: str  #: ``wipe`` or ``add``
    broker_name: str | None
    client: str
    topics: int  #: how many topics the broker has, changed or not
    template = "{action} write perm of broker[{broker_name}], client: {client}, {topics}"


# ---------------------------------------- key/value and configuration


class NamespaceCreated(Event):
    namespace: str
    template = "putKVConfig create new Namespace {namespace}"


class ConfigItemPut(Event):
    """A key/value item was created or replaced."""

    action: str  #: ``create new`` or ``update``
    namespace: str
    key: str
    value: str | None
    template = "putKVConfig {action} config item, Namespace: {namespace} Key: {key} Value: {value}"


class ConfigItemDeleted(Event):
    namespace: str
    key: str
    value: str | None
    template = (
        "deleteKVConfig delete a config item, Namespace: {namespace} Key: {key} Value: {value}"
    )


class ConfigUpdated(Event):
    """A request changed the configuration of this server."""

    level = Level.WARNING
    client: str
    changes: tuple[str, ...]  #: ``key: value before -> value after`` of each setting that differs
    template = "updateConfig called by {client}: {changes}"


class ConfigUpdateRefused(Event):
    """A request to change the configuration of this server was refused."""

    level = Level.WARNING
    client: str
    reason: str
    template = "updateConfig called by {client} refused: {reason}"


# ---------------------------------------- connections


class ChecksumMismatch(Event):
    """The body of a registration does not match its checksum."""

    level = Level.WARNING
    client: str
    template = "receive registerBroker request,crc32 not match,from {client}"


class RequestFailed(Event):
    """A handler failed; the peer received code 1."""

    level = Level.ERROR
    code: RequestCode
    client: str
    error: str  #: the error and its type
    template = "process request exception, code: {code} client: {client}: {error}"


class ResponseDropped(Event):
    """A peer sent a response without a request."""

    level = Level.WARNING
    client: str
    opaque: int
    template = "receive response, but not matched any request, {client} opaque: {opaque}"
