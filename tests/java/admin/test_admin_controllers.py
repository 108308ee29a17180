"""Controllers, by ``rocketwire.client.admin`` and ``rocketwire-admin``, compared with mqadmin."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

import pytest

from rocketwire.codes import RequestCode as Code
from tests.java.admin.commands import CLUSTER, Ours
from tests.peers.controller import JavaController
from tests.peers.processes import wait_until
from tests.peers.raw_call import ask

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.peers.cluster import JavaCluster
    from tests.peers.peers import JavaBroker, JavaPeer

pytestmark = pytest.mark.full


NAME = "broker-c"
GONE = {
    "clusterName": CLUSTER,
    "brokerName": "broker-gone",
    "appliedBrokerId": "1",
    "registerCheckCode": "0;0",
}
"""The request of a broker for a number; this one never returns, while the controller would never forget a live one."""


class Controlled(NamedTuple):
    """A controller, and the broker that it made master of its group."""

    controller: JavaController
    broker: JavaBroker


@pytest.fixture(scope="module")
def controlled(
    java_cluster: JavaCluster, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Controlled]:
    with JavaController(tmp_path_factory.mktemp("controller")) as controller:
        options = {
            "enableControllerMode": "true",
            "controllerAddr": controller.address,
            "brokerId": -1,
            "controllerHeartBeatTimeoutMills": 600_000,  # a slow machine is not dead
        }
        yield Controlled(controller, java_cluster.broker(NAME, options=options))


@pytest.fixture
def mqadmin(java_cluster: JavaCluster, java_peer: JavaPeer) -> Callable[[str], str]:
    def run(line: str) -> str:
        output = java_peer.admin(java_cluster.address, line)
        return output.out + output.err

    return run


def test_who_leads_and_who_is_in_sync_is_told_as_by_mqadmin(
    controlled: Controlled, ours: Ours, mqadmin: Callable[[str], str]
) -> None:
    controller, address = controlled.controller.address, controlled.broker.address
    told = ours(f"getControllerMetaData -a {controller}")
    printed = dict(
        re.findall(r"^#(\w+)\s*(.*?)\s*$", mqadmin(f"getControllerMetaData -a {controller}"), re.M)
    )
    assert told["group"] == printed["ControllerGroup"]
    assert told["controllerLeaderId"] == printed["ControllerLeaderId"]
    assert told["controllerLeaderAddress"] == printed["ControllerLeaderAddress"] == controller

    line = f"getSyncStateSet -a {controller} -b {NAME}"
    wait_until(lambda: [one["alive"] for one in ours(line) or ()] == [True], "the broker is known")
    (replica,) = ours(line)
    assert (replica["brokerAddr"], replica["inSync"], replica["alive"]) == (address, True, True)
    assert replica["brokerId"] == replica["masterBrokerId"]
    assert f"brokerAddress='{address}'" in (printed_set := mqadmin(line))
    assert f"#MasterEpoch\t{replica['masterEpoch']}" in printed_set
    assert [one["brokerName"] for one in ours(f"getSyncStateSet -a {controller} -c {CLUSTER}")] == [
        NAME
    ]

    (epoch,) = ours(f"getBrokerEpoch -b {NAME}")
    assert (epoch["brokerAddr"], epoch["epoch"]) == (address, replica["masterEpoch"])
    assert f"#Epoch: EpochEntry{{epoch={epoch['epoch']}," in mqadmin(f"getBrokerEpoch -b {NAME}")
    ours("getBrokerEpoch -b broker-a")
    assert (ours.status, "controllerMode" in ours.error) == (1, True)


def test_a_controller_is_configured_as_by_mqadmin(
    controlled: Controlled, ours: Ours, mqadmin: Callable[[str], str]
) -> None:
    controller = controlled.controller.address
    line = f"getControllerConfig -a {controller}"
    found = {one["key"]: one["value"] for one in ours(line)}
    printed = dict(re.findall(r"^(\w+) *= *(.*?) *$", mqadmin(line), re.M))
    assert found.keys() == printed.keys()
    assert found["scanNotActiveBrokerInterval"] == printed["scanNotActiveBrokerInterval"]
    ours(f"updateControllerConfig -a {controller} -k scanNotActiveBrokerInterval -v 6000")
    assert re.search(r"scanNotActiveBrokerInterval\s*=\s*6000\b", mqadmin(line))
    ours(f"updateControllerConfig -a {controller} -k configStorePath -v elsewhere")
    assert ours.status == 1


def test_a_master_is_elected_and_forgotten(controlled: Controlled, ours: Ours) -> None:
    controller = controlled.controller.address
    line = f"getSyncStateSet -a {controller} -b {NAME}"
    wait_until(lambda: len(ours(line) or ()) == 1, "the broker is known to its controller")
    (before,) = ours(line)
    elect = f"electMaster -a {controller} -bn {NAME} -c {CLUSTER} -b"
    again = ours(f"{elect} {before['brokerId']}")
    if again is None:  # it is the master already
        assert ours.status == 1
    else:
        assert again[0]["masterBrokerId"] == before["brokerId"]
    ours(f"{elect} 99")
    assert (ours.status, "CONTROLLER" in ours.error) == (1, True)

    ours(f"cleanBrokerMetadata -a {controller} -bn {NAME} -b {before['brokerId']} -c {CLUSTER}")
    assert ours.status == 1  # it is alive
    port = int(controller.rpartition(":")[2])
    assert ask(port, Code.CONTROLLER_APPLY_BROKER_ID, GONE).header["code"] == 0
    (cleaned,) = ours(f"cleanBrokerMetadata -a {controller} -bn broker-gone -l")
    assert (ours.status, cleaned["brokerName"]) == (0, "broker-gone")
    assert not ours(f"getSyncStateSet -a {controller} -b broker-gone")
