"""Replication: masters, slaves, epochs and the bytes between them."""

from __future__ import annotations

from typing import ClassVar

from rocketwire.messages._codec.fields import (
    BOOLEAN,
    BOXED_LONG,
    INT,
    LONG,
    STRING,
    ext,
    listing,
    member,
    record,
)
from rocketwire.wire.values.frozen import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ExchangeHAInfoRequestHeader:
    """Tells a broker of the group the addresses and the offset of the master (code 906)."""

    master_ha_address: str | None = ext(STRING)
    master_flush_offset: int | None = ext(BOXED_LONG)
    master_address: str | None = ext(STRING)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExchangeHAInfoResponseHeader:
    """Addresses and offset of the broker that answers."""

    master_ha_address: str | None = ext(STRING)
    master_flush_offset: int | None = ext(BOXED_LONG)
    master_address: str | None = ext(STRING)


@dataclass(frozen=True, slots=True, kw_only=True)
class ResetMasterFlushOffsetHeader:
    """Sets the flushed offset of the master (code 908)."""

    master_flush_offset: int | None = ext(BOXED_LONG, required=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerSyncInfo:
    """Addresses and offset of a master; no request code carries it.
    Java: ``remoting.protocol.BrokerSyncInfo``."""

    master_address: str | None = member(STRING)
    master_flush_offset: int = member(LONG)
    master_ha_address: str | None = member(STRING)


@dataclass(frozen=True, slots=True, kw_only=True)
class HAConnectionRuntimeInfo:
    """State of a slave, reported by its master.
    Java: ``remoting.protocol.body.HARuntimeInfo.HAConnectionRuntimeInfo``."""

    java_name: ClassVar[str] = "HARuntimeInfo.HAConnectionRuntimeInfo"

    addr: str | None = member(STRING)
    diff: int = member(LONG)
    in_sync: bool = member(BOOLEAN)
    slave_ack_offset: int = member(LONG)
    transfer_from_where: int = member(LONG)
    transferred_byte_in_second: int = member(LONG)


@dataclass(frozen=True, slots=True, kw_only=True)
class HAClientRuntimeInfo:
    """State of a master, reported by its slave.
    Java: ``remoting.protocol.body.HARuntimeInfo.HAClientRuntimeInfo``."""

    java_name: ClassVar[str] = "HARuntimeInfo.HAClientRuntimeInfo"

    last_read_timestamp: int = member(LONG)
    last_write_timestamp: int = member(LONG)
    master_addr: str | None = member(STRING)
    master_flush_offset: int = member(LONG)
    max_offset: int = member(LONG)
    transferred_byte_in_second: int = member(LONG)


@dataclass(frozen=True, slots=True, kw_only=True)
class HARuntimeInfo:
    """Replication state of a broker (code 907)."""

    ha_client_runtime_info: HAClientRuntimeInfo | None = member(
        record(HAClientRuntimeInfo), factory=HAClientRuntimeInfo
    )
    ha_connection_info: tuple[HAConnectionRuntimeInfo, ...] | None = member(
        listing(record(HAConnectionRuntimeInfo)), default=()
    )
    in_sync_slave_nums: int = member(INT)
    master: bool = member(BOOLEAN)
    master_commit_log_max_offset: int = member(LONG)


@dataclass(frozen=True, slots=True, kw_only=True)
class EpochEntry:
    """Start and end offset of an epoch; the current epoch ends at 2**63-1.
    Java: ``remoting.protocol.EpochEntry``."""

    end_offset: int = member(LONG, default=(1 << 63) - 1)
    epoch: int = member(INT)
    start_offset: int = member(LONG)


@dataclass(frozen=True, slots=True, kw_only=True)
class EpochEntryCache:
    """All epochs of a broker (code 1007)."""

    broker_id: int = member(LONG)
    broker_name: str | None = member(STRING)
    cluster_name: str | None = member(STRING)
    epoch_list: tuple[EpochEntry, ...] | None = member(listing(record(EpochEntry)))
    max_offset: int = member(LONG)
