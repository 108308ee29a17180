"""Events, as values: tables and handlers return them, the driver writes them to the log.

Rules of this file: an event contains plain values, its ``text`` is one line, and control characters
of peers are escaped, so that a peer cannot forge a line. The wording follows the lines that
operators search in Java's ``namesrv.log``; if one line replaces many of Java's (a registration with
10,000 topics), it contains a number.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from enum import IntEnum, StrEnum
from typing import ClassVar, cast, dataclass_transform

from rocketwire.codes import RequestCode
from rocketwire.controls import escape_controls


class Level(IntEnum):
    """The level of an event, with the numbers of Python's ``logging``."""

    DEBUG = 10
    INFO = 20
    WARNING = 30
    ERROR = 40


class Reason(StrEnum):
    """Why a broker left."""

    CLOSED = "closed"
    IDLE = "idle"
    EXPIRED = "expired"
    UNREGISTERED = "unregistered"


def shown(value: object) -> str:
    """Return a value for a log line: one line, at most 500 characters.

    None reads ``null`` and several values read ``[a, b]``, as in Java; a request code has its name:
    ``PUT_KV_CONFIG (100)``.
    """
    if value is None:
        return "null"
    if isinstance(value, tuple):
        text = f"[{', '.join(map(shown, cast('tuple[object, ...]', value)))}]"
    elif isinstance(value, RequestCode):
        text = f"{value.name} ({value:d})" if value.is_known else f"code {value:d}"
    else:
        text = str(value)
    if len(text) > 500:
        text = f"{text[:500]}... ({len(text)} characters)"
    return escape_controls(text)


@dataclass_transform(kw_only_default=True, frozen_default=True)
@dataclass(frozen=True, kw_only=True)
class Event:
    """An event; the subclasses describe it."""

    level: ClassVar[Level] = Level.INFO
    template: ClassVar[str]

    def __init_subclass__(cls) -> None:
        """Make the subclass a frozen dataclass."""
        dataclass(frozen=True, kw_only=True)(cls)

    @property
    def text(self) -> str:
        """The line for the log, without time and peer."""
        return self.template.format_map(
            {field.name: shown(getattr(self, field.name)) for field in fields(self)}
        )

    def line(self, address: str | None) -> str:
        """The line with the address of the peer that caused it, unless the text has it already."""
        if address is None or getattr(self, "client", None) == address:
            return self.text
        return f"{self.text} [{address}]"


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
    """The last broker name of a cluster left."""

    cluster: str
    template = "unregisterBroker, remove cluster from clusterAddrTable {cluster}"


class MinBrokerIdChanged(Event):
    """The smallest id of a group changed; its members are notified (request 905).

    Attributes:
        broker_id: the smallest id now.
        address: its address.
        targets: addresses to notify.
        offline_address: address of the member that left, if any.
        ha_address: HA address of the member that joined, if any.
    """

    broker_id: int
    address: str
    targets: tuple[str, ...]
    offline_address: str | None = None
    ha_address: str | None = None
    template = (
        "min broker id changed to {broker_id}, notify {targets},"
        " offline broker addr {offline_address}"
    )


# ---------------------------------------- topics


class TopicsRegistered(Event):
    """A registration added or changed topics.

    Attributes:
        examples: the first few of their names, and ``...`` if there are more.
    """

    broker_name: str
    created: int
    changed: int
    removed: int
    examples: tuple[str, ...]
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
    """An administrator deleted a topic, in one cluster or everywhere."""

    topic: str
    cluster: str | None
    template = "deleteTopic, remove the topic {topic}, cluster: {cluster}"


class WritePermChanged(Event):
    """An administrator took or gave the permission to write to a broker.

    Attributes:
        action: ``wipe`` or ``add``.
        topics: how many topics the broker has, changed or not.
    """

    action: str
    broker_name: str | None
    client: str
    topics: int
    template = "{action} write perm of broker[{broker_name}], client: {client}, {topics}"


# ---------------------------------------- key/value and configuration


class NamespaceCreated(Event):
    """A namespace of the key/value configuration was created."""

    namespace: str
    template = "putKVConfig create new Namespace {namespace}"


class ConfigItemPut(Event):
    """A key/value item was created or replaced.

    Attributes:
        action: ``create new`` or ``update``.
    """

    action: str
    namespace: str
    key: str
    value: str | None
    template = "putKVConfig {action} config item, Namespace: {namespace} Key: {key} Value: {value}"


class ConfigItemDeleted(Event):
    """A key/value item was deleted."""

    namespace: str
    key: str
    value: str | None
    template = (
        "deleteKVConfig delete a config item, Namespace: {namespace} Key: {key} Value: {value}"
    )


class ConfigUpdated(Event):
    """A request changed the configuration of this server.

    Attributes:
        changes: ``key: value before -> value after`` of each setting that differs.
    """

    level = Level.WARNING
    client: str
    changes: tuple[str, ...]
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
    """A handler failed; the peer received code 1.

    Attributes:
        error: the error and its type.
    """

    level = Level.ERROR
    code: RequestCode
    client: str
    error: str
    template = "process request exception, code: {code} client: {client}: {error}"


class ResponseDropped(Event):
    """A peer sent a response without a request."""

    level = Level.WARNING
    client: str
    opaque: int
    template = "receive response, but not matched any request, {client} opaque: {opaque}"


class ConnectionRefused(Event):
    """A connection was closed before its first frame; the subclasses have the reason. Abstract."""

    level = Level.WARNING
    client: str
    reason: str
    template = "connection of {client} closed: {reason}"


class PlainRefused(ConnectionRefused):
    """It did not begin with TLS, which is required."""


class TlsRefused(ConnectionRefused):
    """It began with TLS, which is disabled."""


class TlsUnavailable(ConnectionRefused):
    """It began with TLS, and this server has no valid certificate."""


class TlsHandshakeFailed(ConnectionRefused):
    """The TLS handshake failed, for example because the client has no certificate that is
    trusted."""


class ProxyHeaderRefused(ConnectionRefused):
    """Its PROXY header is malformed."""


class ForeignHostRefused(Event):
    """The operators' port received a request for a foreign host name."""

    level = Level.WARNING
    host: str
    template = (
        "a request to the operators' port is refused: its host is {host}, and this port only"
        " accepts localhost and IP addresses"
    )
