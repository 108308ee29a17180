"""Requests to controllers about masters and replicas.

Java: ``MQClientAPIImpl`` (``getControllerMetaData``, ``getInSyncStateData``, ``electMaster``),
``DefaultMQAdminExtImpl``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rocketwire.client.admin.changes import Change, change_settings
from rocketwire.client.admin.fanout import AdminCalls
from rocketwire.client.periodic import now_millis
from rocketwire.codes import RequestCode as Code
from rocketwire.messages.config_text import read_config
from rocketwire.messages.controller import (
    BrokerReplicasInfo,
    CleanControllerBrokerDataRequestHeader,
    ElectMasterRequestHeader,
    ElectMasterResponseHeader,
    GetMetaDataResponseHeader,
)
from rocketwire.wire.json.fastjson import dumps


class Controllers(AdminCalls):
    """Requests to controllers by address.

    Requests that only the leader serves accept the address of any controller.
    """

    async def metadata(self, address: str) -> GetMetaDataResponseHeader:
        """Fetch leader and peers of controllers (code 1005; Java: ``getControllerMetaData``)."""
        header: GetMetaDataResponseHeader
        header = (await self.ask(address, Code.CONTROLLER_GET_METADATA_INFO)).header
        return header

    async def leader(self, address: str) -> str:
        """Return the address of the leader; ``address`` if there is no leader."""
        return (await self.metadata(address)).controller_leader_address or address

    async def sync_state(self, address: str, broker_names: Sequence[str]) -> BrokerReplicasInfo:
        """Fetch master, replicas and in-sync replicas of broker groups (code 1006).

        Java: ``getInSyncStateData``.
        """
        leader = await self.leader(address)
        body = dumps(list(broker_names))
        return await self.fetch(
            BrokerReplicasInfo, leader, Code.CONTROLLER_GET_SYNC_STATE_DATA, None, body
        )

    async def elect_master(
        self, address: str, cluster: str, broker_name: str, broker_id: int
    ) -> ElectMasterResponseHeader:
        """Elect a broker of a group as master, and return the new state (code 1002).

        Java: ``electMaster``.

        Raises:
            BrokerError: 2000 to 2016: the broker is not in sync, not alive, or already master.
        """
        header = ElectMasterRequestHeader(
            cluster_name=cluster,
            broker_name=broker_name,
            broker_id=broker_id,
            designate_elect=True,
            invoke_time=now_millis(),
        )
        answer = await self.ask(await self.leader(address), Code.CONTROLLER_ELECT_MASTER, header)
        response_header: ElectMasterResponseHeader = answer.header
        return response_header

    async def clean_broker(
        self,
        address: str,
        broker_name: str,
        *,
        cluster: str | None = None,
        broker_ids: Sequence[int] = (),
        clean_living: bool = False,
    ) -> None:
        """Let a controller remove brokers (code 1011; Java: ``cleanControllerBrokerData``).

        Args:
            cluster: cluster of the group; required unless ``clean_living``.
            broker_ids: ids to remove; empty for all.
            clean_living: remove brokers that are alive too.
        """
        header = CleanControllerBrokerDataRequestHeader(
            cluster_name=cluster,
            broker_name=broker_name,
            broker_controller_ids_to_clean=";".join(map(str, broker_ids)) or None,
            is_clean_living_broker=clean_living,
            invoke_time=now_millis(),
        )
        await self.ask(await self.leader(address), Code.CLEAN_BROKER_DATA, header)

    async def config(self, address: str) -> dict[str, str]:
        """Fetch a controller's configuration by key (code 1010; Java: ``getControllerConfig``)."""
        return read_config(await self.fetch(bytes, address, Code.GET_CONTROLLER_CONFIG))

    async def update_config(
        self, address: str, values: Mapping[str, str], *, dry_run: bool = False
    ) -> list[Change[str]]:
        """Change settings of a controller (codes 1010, 1009; Java: ``updateControllerConfig``).

        Returns both values of each; for errors see ``Brokers.update_config``.
        """
        return await change_settings(
            (address,),
            self.config,
            values,
            lambda address, text: self.ask(address, Code.UPDATE_CONTROLLER_CONFIG, None, text),
            dry_run=dry_run,
        )
