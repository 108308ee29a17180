"""The controller, which elects the master of each broker group."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from rocketwire.messages._codec.fields import (
    BOOLEAN,
    BOXED_BOOLEAN,
    BOXED_LONG,
    CLOCKED_LONG,
    INT,
    INTEGER,
    LONG,
    STRING,
    distinct,
    ext,
    listing,
    mapping,
    member,
    record,
)
from rocketwire.messages.route import BrokerMemberGroup
from rocketwire.wire.values.frozen import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncStateSet:
    """In-sync replicas of a broker group."""

    sync_state_set: tuple[int, ...] | None = member(distinct(BOXED_LONG))
    sync_state_set_epoch: int = member(INT)


@dataclass(frozen=True, slots=True, kw_only=True)
class AlterSyncStateSetRequestHeader:
    """A master changes the set of in-sync replicas (code 1001).
    Java: ``remoting.protocol.header.controller.AlterSyncStateSetRequestHeader``."""

    broker_name: str | None = ext(STRING)
    master_broker_id: int | None = ext(BOXED_LONG)
    master_epoch: int | None = ext(INTEGER)
    invoke_time: int | None = ext(CLOCKED_LONG, clock=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class AlterSyncStateSetResponseHeader:
    """Epoch of the new set.
    Java: ``remoting.protocol.header.controller.AlterSyncStateSetResponseHeader``."""

    new_sync_state_set_epoch: int = ext(INT)


@dataclass(frozen=True, slots=True, kw_only=True)
class ElectMasterRequestHeader:
    """Asks the controller to elect a master (code 1002).
    Java: ``remoting.protocol.header.controller.ElectMasterRequestHeader``."""

    cluster_name: str | None = ext(STRING, required=True, default="")
    broker_name: str | None = ext(STRING, required=True, default="")
    broker_id: int | None = ext(BOXED_LONG, required=True, default=-1)
    designate_elect: bool | None = ext(BOXED_BOOLEAN, required=True, default=False)
    invoke_time: int | None = ext(BOXED_LONG, clock=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class ElectMasterResponseHeader:
    """The elected master.
    Java: ``remoting.protocol.header.controller.ElectMasterResponseHeader``."""

    master_broker_id: int | None = ext(BOXED_LONG)
    master_address: str | None = ext(STRING)
    master_epoch: int | None = ext(INTEGER)
    sync_state_set_epoch: int | None = ext(INTEGER)


@dataclass(frozen=True, slots=True, kw_only=True)
class ElectMasterResponseBody:
    """Members of the broker group after the election."""

    broker_member_group: BrokerMemberGroup | None = member(record(BrokerMemberGroup))
    sync_state_set: tuple[int, ...] | None = member(distinct(BOXED_LONG), default=())


@dataclass(frozen=True, slots=True, kw_only=True)
class RegisterBrokerToControllerRequestHeader:
    """A broker registers at the controller (code 1003).
    Java:
    ``remoting.protocol.header.controller.register.RegisterBrokerToControllerRequestHeader``."""

    cluster_name: str | None = ext(STRING)
    broker_name: str | None = ext(STRING)
    broker_id: int | None = ext(BOXED_LONG)
    broker_address: str | None = ext(STRING)
    invoke_time: int = ext(LONG)


@dataclass(frozen=True, slots=True, kw_only=True)
class RegisterBrokerToControllerResponseHeader:
    """The current master.
    Java:
    ``remoting.protocol.header.controller.register.RegisterBrokerToControllerResponseHeader``."""

    cluster_name: str | None = ext(STRING)
    broker_name: str | None = ext(STRING)
    master_broker_id: int | None = ext(BOXED_LONG)
    master_address: str | None = ext(STRING)
    master_epoch: int | None = ext(INTEGER)
    sync_state_set_epoch: int | None = ext(INTEGER)


@dataclass(frozen=True, slots=True, kw_only=True)
class GetReplicaInfoRequestHeader:
    """Asks for the master of a group (code 1004).
    Java: ``remoting.protocol.header.controller.GetReplicaInfoRequestHeader``."""

    broker_name: str | None = ext(STRING)


@dataclass(frozen=True, slots=True, kw_only=True)
class GetReplicaInfoResponseHeader:
    """The current master.
    Java: ``remoting.protocol.header.controller.GetReplicaInfoResponseHeader``."""

    master_broker_id: int | None = ext(BOXED_LONG)
    master_address: str | None = ext(STRING)
    master_epoch: int | None = ext(INTEGER)


@dataclass(frozen=True, slots=True, kw_only=True)
class GetMetaDataResponseHeader:
    """The leader of the controllers (code 1005).
    Java: ``remoting.protocol.header.controller.GetMetaDataResponseHeader``."""

    group: str | None = ext(STRING)
    controller_leader_id: str | None = ext(STRING)
    controller_leader_address: str | None = ext(STRING)
    is_leader: bool = ext(BOOLEAN)
    peers: str | None = ext(STRING)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplicaIdentity:
    """A broker of a group. Java: ``remoting.protocol.body.BrokerReplicasInfo.ReplicaIdentity``."""

    java_name: ClassVar[str] = "BrokerReplicasInfo.ReplicaIdentity"

    alive: bool | None = member(BOXED_BOOLEAN)
    broker_address: str | None = member(STRING)
    broker_id: int | None = member(BOXED_LONG)
    broker_name: str | None = member(STRING)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplicasInfo:
    """A broker group: master, in-sync replicas, other replicas.
    Java: ``remoting.protocol.body.BrokerReplicasInfo.ReplicasInfo``."""

    java_name: ClassVar[str] = "BrokerReplicasInfo.ReplicasInfo"

    in_sync_replicas: tuple[ReplicaIdentity, ...] | None = member(listing(record(ReplicaIdentity)))
    master_address: str | None = member(STRING)
    master_broker_id: int | None = member(BOXED_LONG)
    master_epoch: int = member(INT)
    not_in_sync_replicas: tuple[ReplicaIdentity, ...] | None = member(
        listing(record(ReplicaIdentity))
    )
    sync_state_set_epoch: int = member(INT)


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerReplicasInfo:
    """Groups by broker name (code 1006)."""

    replicas_info_table: Mapping[str, ReplicasInfo] | None = member(
        mapping(STRING, record(ReplicasInfo)), default={}
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class NotifyBrokerRoleChangedRequestHeader:
    """Notifies a broker of the current master (code 1008)."""

    master_address: str | None = ext(STRING)
    master_epoch: int | None = ext(INTEGER)
    sync_state_set_epoch: int | None = ext(INTEGER)
    master_broker_id: int | None = ext(BOXED_LONG)


@dataclass(frozen=True, slots=True, kw_only=True)
class CleanControllerBrokerDataRequestHeader:
    """Removes the data of brokers of a group (code 1011).
    Java: ``remoting.protocol.header.controller.admin.CleanControllerBrokerDataRequestHeader``."""

    cluster_name: str | None = ext(STRING)
    broker_name: str | None = ext(STRING, required=True)
    broker_controller_ids_to_clean: str | None = ext(STRING)
    is_clean_living_broker: bool = ext(BOOLEAN)
    invoke_time: int | None = ext(CLOCKED_LONG, clock=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class GetNextBrokerIdRequestHeader:
    """Asks for the next free broker id (code 1012).
    Java: ``remoting.protocol.header.controller.register.GetNextBrokerIdRequestHeader``."""

    cluster_name: str | None = ext(STRING)
    broker_name: str | None = ext(STRING)


@dataclass(frozen=True, slots=True, kw_only=True)
class GetNextBrokerIdResponseHeader:
    """The next free broker id.
    Java: ``remoting.protocol.header.controller.register.GetNextBrokerIdResponseHeader``."""

    cluster_name: str | None = ext(STRING)
    broker_name: str | None = ext(STRING)
    next_broker_id: int | None = ext(BOXED_LONG)


@dataclass(frozen=True, slots=True, kw_only=True)
class ApplyBrokerIdRequestHeader:
    """Claims a broker id (code 1013).
    Java: ``remoting.protocol.header.controller.register.ApplyBrokerIdRequestHeader``."""

    cluster_name: str | None = ext(STRING)
    broker_name: str | None = ext(STRING)
    applied_broker_id: int | None = ext(BOXED_LONG)
    register_check_code: str | None = ext(STRING)


@dataclass(frozen=True, slots=True, kw_only=True)
class ApplyBrokerIdResponseHeader:
    """Owner of the claimed broker id.
    Java: ``remoting.protocol.header.controller.register.ApplyBrokerIdResponseHeader``."""

    cluster_name: str | None = ext(STRING)
    broker_name: str | None = ext(STRING)


@dataclass(frozen=True, slots=True, kw_only=True)
class RoleChangeNotifyEntry:
    """Change of a master inside the controller; never sent."""

    broker_member_group: BrokerMemberGroup | None = member(record(BrokerMemberGroup))
    master_address: str | None = member(STRING)
    master_broker_id: int | None = member(BOXED_LONG)
    master_epoch: int = member(INT)
    sync_state_set: tuple[int, ...] | None = member(distinct(BOXED_LONG))
    sync_state_set_epoch: int = member(INT)
