"""Controllers, by ``rocketwire.client.admin`` and ``rocketwire-admin``, compared with mqadmin."""

import re
from collections.abc import Iterator
from typing import NamedTuple

import pytest

from rocketwire.codes import RequestCode as Code
from tests.java.admin.commands import CLUSTER, Mqadmin, Ours
from tests.peers.cluster import JavaCluster
from tests.peers.controller import JavaController
from tests.peers.peers import JavaPeer
from tests.peers.processes import wait_until
from tests.peers.raw_call import ask

pytestmark = pytest.mark.full

NAME = "broker-c"
GONE = {
    "clusterName": CLUSTER,
    "brokerName": "broker-gone",
    "appliedBrokerId": "1",
    "registerCheckCode": "0;0",
}
"""The request of a broker for a number. This broker never returns, while a controller never forgets a live one."""


class Site(NamedTuple):
    controller: str
    broker: str


@pytest.fixture(scope="module")
def site(java_cluster: JavaCluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with JavaController(tmp_path_factory.mktemp("controller")) as controller:
        options = {
            "enableControllerMode": "true",
            "controllerAddr": controller.address,
            "brokerId": -1,
            "controllerHeartBeatTimeoutMills": 600_000,  # a slow machine is not dead
        }
        broker = java_cluster.broker(NAME, options=options)
        yield Site(controller.address, broker.address)


@pytest.fixture
def mqadmin(java_cluster: JavaCluster, java_peer: JavaPeer) -> Mqadmin:
    return lambda line: "".join(java_peer.admin(java_cluster.address, line))


def test_leader_and_replicas_are_shown_as_by_mqadmin(
    site: Site, ours: Ours, mqadmin: Mqadmin
) -> None:
    controller, address = site
    line = f"getControllerMetaData -a {controller}"
    metadata, printed = ours(line), dict(re.findall(r"^#(\w+)\s*(.*?)\s*$", mqadmin(line), re.M))
    assert metadata["group"] == printed["ControllerGroup"]
    assert metadata["controllerLeaderId"] == printed["ControllerLeaderId"]
    assert metadata["controllerLeaderAddress"] == printed["ControllerLeaderAddress"] == controller

    line = f"getSyncStateSet -a {controller} -b {NAME}"
    wait_until(lambda: [row["alive"] for row in ours(line) or ()] == [True], "the broker is known")
    (replica,) = ours(line)
    assert (replica["brokerAddr"], replica["inSync"], replica["alive"]) == (address, True, True)
    assert replica["brokerId"] == replica["masterBrokerId"]
    assert f"brokerAddress='{address}'" in (printed_set := mqadmin(line))
    assert f"#MasterEpoch\t{replica['masterEpoch']}" in printed_set
    replicas = ours(f"getSyncStateSet -a {controller} -c {CLUSTER}")
    assert [row["brokerName"] for row in replicas] == [NAME]

    (epoch,) = ours(f"getBrokerEpoch -b {NAME}")
    assert (epoch["brokerAddr"], epoch["epoch"]) == (address, replica["masterEpoch"])
    assert f"#Epoch: EpochEntry{{epoch={epoch['epoch']}," in mqadmin(f"getBrokerEpoch -b {NAME}")
    ours.expect_error("getBrokerEpoch -b broker-a", "controllerMode")


def test_a_controller_is_configured_as_by_mqadmin(site: Site, ours: Ours, mqadmin: Mqadmin) -> None:
    line, key = f"getControllerConfig -a {site.controller}", "scanNotActiveBrokerInterval"
    config = {row["key"]: row["value"] for row in ours(line)}
    printed = dict(re.findall(r"^(\w+) *= *(.*?) *$", mqadmin(line), re.M))
    assert config.keys() == printed.keys()
    assert config[key] == printed[key]
    update = f"updateControllerConfig -a {site.controller} -k"
    ours(f"{update} {key} -v 6000")
    assert re.search(rf"{key}\s*=\s*6000\b", mqadmin(line))
    ours.expect_error(f"{update} configStorePath -v elsewhere")


def test_a_master_is_elected_and_forgotten(site: Site, ours: Ours) -> None:
    controller = site.controller
    line = f"getSyncStateSet -a {controller} -b {NAME}"
    wait_until(lambda: len(ours(line) or ()) == 1, "the broker is known to its controller")
    (replica,) = ours(line)
    elect = f"electMaster -a {controller} -bn {NAME} -c {CLUSTER} -b"
    elected = ours(f"{elect} {replica['brokerId']}")
    if elected is None:  # it is the master already
        assert ours.status == 1
    else:
        assert elected[0]["masterBrokerId"] == replica["brokerId"]
    ours.expect_error(f"{elect} 99", "CONTROLLER")

    clean = f"cleanBrokerMetadata -a {controller} -bn"
    ours.expect_error(f"{clean} {NAME} -b {replica['brokerId']} -c {CLUSTER}")  # it is alive
    port = int(controller.rpartition(":")[2])
    assert ask(port, Code.CONTROLLER_APPLY_BROKER_ID, GONE).header["code"] == 0
    (cleaned,) = ours(f"{clean} broker-gone -l")
    assert (ours.status, cleaned["brokerName"]) == (0, "broker-gone")
    assert not ours(f"getSyncStateSet -a {controller} -b broker-gone")
