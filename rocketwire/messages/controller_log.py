"""Entries of the controllers' raft log; brokers and clients never receive them."""

from __future__ import annotations

from rocketwire.messages._codec.fields import BOXED_LONG, INTEGER, STRING, ext
from rocketwire.wire.values.frozen import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class GetSyncStateDataRequest:
    """Asks for the in-sync replicas; logged with code 1006.
    Java: ``controller.impl.task.GetSyncStateDataRequest``."""

    invoke_time: int | None = ext(BOXED_LONG, clock=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerCloseChannelRequest:
    """A broker's connection closed (code 1014).
    Java: ``controller.impl.task.BrokerCloseChannelRequest``."""

    cluster_name: str | None = ext(STRING)
    broker_name: str | None = ext(STRING)
    broker_id: int | None = ext(BOXED_LONG)


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerCloseChannelResponse:
    """Response without fields. Java: ``controller.impl.task.BrokerCloseChannelResponse``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckNotActiveBrokerRequest:
    """Looks for inactive brokers (code 1015).
    Java: ``controller.impl.task.CheckNotActiveBrokerRequest``."""

    check_time_millis: int | None = ext(BOXED_LONG, clock=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckNotActiveBrokerResponse:
    """Response without fields. Java: ``controller.impl.task.CheckNotActiveBrokerResponse``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GetBrokerLiveInfoRequest:
    """Asks which brokers are active (code 1016).
    Java: ``controller.impl.task.GetBrokerLiveInfoRequest``."""

    cluster_name: str | None = ext(STRING)
    broker_name: str | None = ext(STRING)
    broker_id: int | None = ext(BOXED_LONG)


@dataclass(frozen=True, slots=True, kw_only=True)
class GetBrokerLiveInfoResponse:
    """Response without fields. Java: ``controller.impl.task.GetBrokerLiveInfoResponse``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RaftBrokerHeartBeatEventRequest:
    """A broker's heartbeat (code 1018).
    Java: ``controller.impl.task.RaftBrokerHeartBeatEventRequest``."""

    cluster_name_identity_info: str | None = ext(STRING)
    broker_name_identity_info: str | None = ext(STRING)
    broker_id_identity_info: int | None = ext(BOXED_LONG)
    broker_name: str | None = ext(STRING)
    broker_addr: str | None = ext(STRING)
    heartbeat_timeout_millis: int | None = ext(BOXED_LONG)
    broker_id: int | None = ext(BOXED_LONG)
    last_update_timestamp: int | None = ext(BOXED_LONG)
    epoch: int | None = ext(INTEGER)
    max_offset: int | None = ext(BOXED_LONG)
    confirm_offset: int | None = ext(BOXED_LONG)
    election_priority: int | None = ext(INTEGER)


@dataclass(frozen=True, slots=True, kw_only=True)
class RaftBrokerHeartBeatEventResponse:
    """Response without fields. Java: ``controller.impl.task.RaftBrokerHeartBeatEventResponse``."""
