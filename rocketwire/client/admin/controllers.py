"""What controllers tell of masters and replicas, and are told.

Java: ``MQClientAPIImpl`` (``getControllerMetaData``, ``getInSyncStateData``, ``electMaster``),
``DefaultMQAdminExtImpl``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocketwire.client.admin.fanout import Asking
from rocketwire.client.periodic import now_millis
from rocketwire.codes import RequestCode as Code
from rocketwire.messages.config_text import config_lines, read_config
from rocketwire.messages.controller import (
    BrokerReplicasInfo,
    CleanControllerBrokerDataRequestHeader,
    ElectMasterRequestHeader,
    ElectMasterResponseHeader,
    GetMetaDataResponseHeader,
)
from rocketwire.wire.json.fastjson import dumps

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class Controllers(Asking):
    """Calls to controllers by address; all of them raise what ``Asking.ask`` raises.

    Those that only the leader of the controllers serves take the address of any of them.
    """

    async def metadata(self, address: str) -> GetMetaDataResponseHeader:
        """Who leads, and who is there (code 1005; Java: ``getControllerMetaData``)."""
        found: GetMetaDataResponseHeader
        found = (await self.ask(address, Code.CONTROLLER_GET_METADATA_INFO)).header
        return found

    async def leader(self, address: str) -> str:
        """The address of the controller that leads; the one that was asked where nobody does."""
        return (await self.metadata(address)).controller_leader_address or address

    async def sync_state(self, address: str, broker_names: Sequence[str]) -> BrokerReplicasInfo:
        """Master and replicas of broker groups, and who is in sync (code 1006.

        Java: ``getInSyncStateData``).
        """
        leader = await self.leader(address)
        body = dumps(list(broker_names))
        found: BrokerReplicasInfo
        found = await self.body_of(leader, Code.CONTROLLER_GET_SYNC_STATE_DATA, None, body)
        return found

    async def elect_master(
        self, address: str, cluster: str, broker_name: str, broker_id: int
    ) -> ElectMasterResponseHeader:
        """Make one broker of a group its master (code 1002; Java: ``electMaster``).

        Returns what is now.

        Raises:
            BrokerError: of 2000 to 2016: it is not in sync, not alive, or master already.
        """
        header = ElectMasterRequestHeader(
            cluster_name=cluster,
            broker_name=broker_name,
            broker_id=broker_id,
            designate_elect=True,
            invoke_time=now_millis(),
        )
        answer = await self.ask(await self.leader(address), Code.CONTROLLER_ELECT_MASTER, header)
        found: ElectMasterResponseHeader = answer.header
        return found

    async def clean_broker(
        self,
        address: str,
        broker_name: str,
        *,
        cluster: str | None = None,
        broker_ids: Sequence[int] = (),
        clean_living: bool = False,
    ) -> None:
        """Have a controller forget brokers (code 1011; Java: ``cleanControllerBrokerData``).

        Args:
            address: of a controller.
            broker_name: the group.
            cluster: where it is; needed unless ``clean_living``.
            broker_ids: which of it; all where there are none.
            clean_living: also those that are alive.
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
        """The configuration of one controller, by key (code 1010.

        Java: ``getControllerConfig``).
        """
        body: bytes | None = await self.body_of(address, Code.GET_CONTROLLER_CONFIG)
        return read_config(body or b"")

    async def update_config(self, address: str, values: Mapping[str, str]) -> None:
        """Change some of it (code 1009; Java: ``updateControllerConfig``).

        Errors as of ``Brokers.update_config``.
        """
        await self.ask(address, Code.UPDATE_CONTROLLER_CONFIG, None, config_lines(values))
