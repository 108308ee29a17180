"""The requests of mqadmin 5.5.0 and of ``rocketwire-admin`` for the same line, one for each command that both have.

A difference counts unless ``same_requests.toml`` has a reason for it.
"""

import json
import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple, cast

import pytest
import trio

from rocketwire_tools.admin.program import all_commands
from tests.java.admin.commands import UNIQUE
from tests.java.client.same_requests import (
    TAPPED,
    Requests,
    World,
    check,
    differences,
    open_world,
    requests,
    send_fields,
)
from tests.peers import cache as java_cache
from tests.peers.controller import JavaController
from tests.peers.peers import CURRENT, JavaPeer
from tests.peers.processes import wait_until
from tests.peers.shared_peers import have_here
from tests.support import admin_in_process
from tests.support.tap import tapped

pytestmark = pytest.mark.full

AUTH = "org.apache.rocketmq.auth"
BROKER = {
    "authenticationMetadataProvider": f"{AUTH}.authentication.provider.LocalAuthenticationMetadataProvider",
    "authorizationMetadataProvider": f"{AUTH}.authorization.provider.LocalAuthorizationMetadataProvider",
}
"""The broker asks for no credentials, and keeps users and policies."""
C = "-c DefaultCluster"
WRITABLE = "addWritePerm -b broker-a; updateTopicPerm -b {b} -t orders -p 6"
ACL = "createUser -b {b} -u reader -p secret1; createAcl -b {b} -s User:reader -r Topic:a -a Sub -d Allow"
ADMIN = {
    "topicList": "",
    "topicList -c": "",
    "topicRoute -t orders": "",
    "topicStatus -t orders": "",
    "topicClusterList -t orders": "",
    "clusterList": "",
    "clusterList -m": "",
    "brokerStatus -b {b}": "",
    f"brokerStatus {C}": "",
    "brokerConsumeStats -b {b}": "",
    "haStatus -b {b}": "",
    "statsAll -t orders": "",
    "allocateMQ -t orders -i 10.0.0.1,10.0.0.2": "",
    "getBrokerConfig -b {b}": "",
    "getConsumerConfig -g readers": "",
    "consumerProgress": "",
    "consumerProgress -g readers": "",
    "consumerProgress -g readers -t orders": "",
    "consumerConnection -g readers": "",
    "consumerStatus -g readers": "",
    "consumerStatus -g readers -s -i {client}": "",
    "producer -b {b}": "",
    "producerConnection -g producers -t orders": "",
    "queryMsgById -t orders -i {offset_id}": "",
    "queryMsgById -t orders -i {offset_id} -g readers -d {client}": "",
    "queryMsgByKey -t orders -k 1": "",
    "queryMsgByKey -t orders -k tag -p T": "",
    "queryMsgByUniqueKey -t orders -i {id}": "",
    "queryMsgByOffset -t orders -b broker-a -i 0 -o 0": "",
    "queryMsgTraceById -i {id}": "",
    "queryCq -t orders -q 0 -i 0 -c 2 -b {b}": "",
    "printMsg -t orders": "",
    "printMsgByQueue -t orders -a broker-a -i 0 -p true": "",
    "consumeMessage -t orders -b broker-a -i 0 -o 0 -c 1": "",
    "sendMessage -t orders -p body -k key -c tag": WRITABLE,
    "sendMessage -t orders -p body -b broker-a -i 1": WRITABLE,
    "sendMsgStatus -b broker-a -s 10 -c 2": WRITABLE,
    "checkMsgSendRT -t orders -a 2 -s 10": WRITABLE,
    "updateTopic -b {b} -t orders -r 4 -w 4": "updateOrderConf -t orders -m delete; updateTopic -b {b} -t orders -r 8 -w 8",
    f"updateTopic {C} -t orders -r 4 -w 4 -o true": "updateOrderConf -t orders -m delete; updateTopic -b {b} -t orders -r 8 -w 8",
    f"updateTopic {C} -t lite -r 1 -w 1 -a +message.type=LITE": f"deleteTopic {C} -t lite",
    "updateTopicList -b {b} -f {folder}/topics.json": f"deleteTopic {C} -t listed; deleteTopic {C} -t listed-2",
    "updateTopicPerm -b {b} -t orders -p 4": "updateTopicPerm -b {b} -t orders -p 6",
    f"updateTopicPerm {C} -t orders -p 4": "updateTopicPerm -b {b} -t orders -p 6",
    f"deleteTopic {C} -t deleted": "updateTopic -b {b} -t deleted",
    "updateSubGroup -b {b} -g auditors -r 4": "updateSubGroup -b {b} -g auditors -r 5",
    f"updateSubGroup {C} -g auditors -r 4 -o true": "updateSubGroup -b {b} -g auditors",
    "updateSubGroupList -b {b} -f {folder}/groups.json": "deleteSubGroup -b {b} -g listed; deleteSubGroup -b {b} -g listed-2",
    "deleteSubGroup -b {b} -g auditors -r true": "updateSubGroup -b {b} -g auditors",
    f"deleteSubGroup {C} -g auditors": "updateSubGroup -b {b} -g auditors; updateTopic -b {b} -t %RETRY%auditors -r 1 -w 1; updateTopic -b {b} -t %DLQ%auditors -r 1 -w 1",
    "setConsumeMode -b {b} -t orders -g readers -m POP -q 2": "setConsumeMode -b {b} -t orders -g readers -m PULL",
    "cloneGroupOffset -s readers -d auditors -t orders": "updateSubGroup -b {b} -g auditors",
    "resetOffsetByTime -g readers -t orders -s 0": "",
    "resetOffsetByTime -g readers -t orders -s 0 -b {b} -q 0 -o 1": "",
    "resetOffsetByTime -g auditors -t orders -s 0": "updateSubGroup -b {b} -g auditors",
    "skipAccumulatedMessage -g readers -t orders": "resetOffsetByTime -g readers -t orders -s 0",
    "updateOrderConf -t orders -m put -v broker-a:4": "updateOrderConf -t orders -m delete",
    "updateOrderConf -t orders -m get": "updateOrderConf -t orders -m put -v broker-a:4",
    "updateOrderConf -t orders -m delete": "updateOrderConf -t orders -m put -v broker-a:4",
    "updateKvConfig -s space -k key -v new": "updateKvConfig -s space -k key -v old",
    "deleteKvConfig -s space -k key": "updateKvConfig -s space -k key -v old",
    "getNamesrvConfig": "",
    "updateNamesrvConfig -k listenBacklog -v 1000": "updateNamesrvConfig -k listenBacklog -v 1024",
    "wipeWritePerm -b broker-a": "addWritePerm -b broker-a",
    "addWritePerm -b broker-a": "wipeWritePerm -b broker-a",
    "updateBrokerConfig -b {b} -k defaultQueryMaxNum -v 33": "updateBrokerConfig -b {b} -k defaultQueryMaxNum -v 32",
    f"updateBrokerConfig {C} -k defaultQueryMaxNum -v 33": "updateBrokerConfig -b {b} -k defaultQueryMaxNum -v 32",
    "cleanExpiredCQ -b {b}": "",
    f"cleanExpiredCQ {C}": "",
    "cleanUnusedTopic -b {b}": "",
    "deleteExpiredCommitLog -b {b}": "",
    "resetMasterFlushOffset -b {b} -o 0": "",
    "getColdDataFlowCtrInfo -b {b}": "",
    "updateColdDataFlowCtrGroupConfig -b {b} -g readers -v 4096": "removeColdDataFlowCtrGroupConfig -b {b} -g readers",
    "removeColdDataFlowCtrGroupConfig -b {b} -g readers": "updateColdDataFlowCtrGroupConfig -b {b} -g readers -v 4096",
    "setCommitLogReadAheadMode -b {b} -m 0": "",
    "switchTimerEngine -b {b} -e R": "",
    "rocksDBConfigToJson -b {b} -t topics": "",
    f"checkRocksdbCqWriteProgress {C} -n {{n}}": "",
    "exportPopRecord -b {b}": "",
    f"exportConfigs {C} -f {{folder}}": "",
    # Java's exports fail if a static topic exists
    f"exportMetadata {C} -f {{folder}}": f"deleteTopic {C} -t static",
    "exportMetadata -b {b} -t -f {folder}": f"deleteTopic {C} -t static",
    f"exportMetrics {C} -f {{folder}}": f"deleteTopic {C} -t static",
    "updateStaticTopic -t static -qn 2 -b broker-a": f"deleteTopic {C} -t static",
    "remappingStaticTopic -t static -b broker-a": "updateStaticTopic -t static -qn 2 -b broker-a",
    "createUser -b {b} -u user -p secret1 -t Normal": "deleteUser -b {b} -u user",
    "updateUser -b {b} -u user -p secret2": "deleteUser -b {b} -u user; createUser -b {b} -u user -p secret1 -t Normal",
    "getUser -b {b} -u user": "createUser -b {b} -u user -p secret1 -t Normal",
    f"listUser {C}": "createUser -b {b} -u user -p secret1 -t Normal",
    "copyUser -f {b} -t {b} -u user": "createUser -b {b} -u user -p secret1 -t Normal",
    "deleteUser -b {b} -u user": "createUser -b {b} -u user -p secret1 -t Normal",
    "createAcl -b {b} -s User:reader -r Topic:a -a Sub -d Allow": "createUser -b {b} -u reader -p secret1; deleteAcl -b {b} -s User:reader",
    "updateAcl -b {b} -s User:reader -r Topic:a -a Pub -d Allow": f"deleteAcl -b {{b}} -s User:reader; {ACL}",
    "getAcl -b {b} -s User:reader": ACL,
    "listAcl -b {b} -s User:reader": ACL,
    "copyAcl -f {b} -t {b} -s User:reader": ACL,
    "deleteAcl -b {b} -s User:reader -r Topic:a": ACL,
    "getControllerMetaData -a {c}": "",
    "getControllerConfig -a {c}": "",
    "updateControllerConfig -a {c} -k scanNotActiveBrokerInterval -v 6000": "updateControllerConfig -a {c} -k scanNotActiveBrokerInterval -v 5000",
    "getSyncStateSet -a {c} -b broker-a": "",
    f"electMaster -a {{c}} -b 0 -bn broker-a {C}": "",
    f"cleanBrokerMetadata -a {{c}} -bn broker-z {C} -b 1": "",
    "getBrokerEpoch -b broker-a": "",
    "addBroker -c {b} -b x.conf": "",
    "removeBroker -c {b} -b c:b:0": "",
    "getBrokerLiteInfo -b {b}": "",
    "getParentTopicInfo -p lite": "updateTopic -b {b} -t lite -r 1 -w 1 -a +message.type=LITE",
    "getLiteTopicInfo -p lite -l room": "updateTopic -b {b} -t lite -r 1 -w 1 -a +message.type=LITE",
    "getLiteGroupInfo -p lite -g readers": "updateTopic -b {b} -t lite -r 1 -w 1 -a +message.type=LITE",
    "getLiteClientInfo -p lite -g readers -c nobody": "updateTopic -b {b} -t lite -r 1 -w 1 -a +message.type=LITE",
    "triggerLiteDispatch -p lite -g readers": "updateTopic -b {b} -t lite -r 1 -w 1 -a +message.type=LITE",
}
"""Each line, and what Java's mqadmin runs before either of both: other lines may have run, and there is something to change."""
ELSEWHERE = {
    "clusterRT": "runs until it is interrupted",
    "startMonitoring": "runs until it is interrupted",
    "dumpCompactionLog": "reads a file",
    "exportMetadataInRocksDB": "reads files",
}
"""Commands that send nothing, or do not end."""


class Cluster(NamedTuple):
    """The cluster of all lines: ``words`` fill their places, and ``kinds`` replaces words in requests."""

    world: World
    java: JavaPeer
    words: dict[str, str]
    kinds: dict[str, str]


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    have_here(partial(java_cache.classes, CURRENT, "Peer.java"))
    folder = tmp_path_factory.mktemp("admin")
    write_lists(folder)
    with (
        open_world(folder, BROKER) as world,
        JavaController(folder / "controller") as controller,
        tapped(int(controller.address.split(":")[1])) as before_controller,
        JavaPeer(folder / "java") as java,
    ):
        world.taps.append(before_controller)
        world.make_topic("orders")
        java.send(world.names.address, "orders", "producers", range(3))
        client = java.join(world.names.address, "orders", "readers", "readers")
        java.received("readers", 3)
        text = "\2".join(
            f"{name}\1{value}" for name, value in {"UNIQ_KEY": UNIQUE, "TAGS": "tag"}.items()
        )
        sent = world.ask(10, b"body", **{**send_fields("orders"), "properties": text})
        wait_until(
            lambda: b'"consumerOffset":1' in world.ask(208, consumerGroup="readers").body, "offsets"
        )
        words = {
            "b": f"{TAPPED}:{world.broker.port}",
            "n": world.names.address,
            "c": before_controller.address,
            "client": client,
            "offset_id": cast("dict[str, str]", sent.header["extFields"])["msgId"],
            "id": UNIQUE,
            "folder": str(folder),
        }
        kinds = {words["b"]: "BROKER", words["n"]: "NAMES", words["c"]: "CONTROLLER"}
        yield Cluster(world, java, words, kinds)


def write_lists(folder: Path) -> None:
    queues = {"readQueueNums": 3, "writeQueueNums": 3, "perm": 6}
    names = ("listed", "listed-2")
    (folder / "topics.json").write_text(json.dumps([{"topicName": n, **queues} for n in names]))
    groups = [{"groupName": name, "retryMaxTimes": 3} for name in names]
    (folder / "groups.json").write_text(json.dumps(groups))


async def record(cluster: Cluster, line: str, *, by_java: bool) -> Requests:
    world, words = cluster.world, cluster.words
    mqadmin = partial(cluster.java.admin, words["n"])
    for preparation in filter(None, ADMIN[line].format(**words).split("; ")):
        await trio.to_thread.run_sync(mqadmin, preparation)
    await trio.sleep(0.2)
    mark, filled = world.mark(), line.format(**words)
    names = () if "-n " in filled else ("-n", words["n"])
    ours = partial(admin_in_process.run, *filled.split(), *names)
    await trio.to_thread.run_sync(partial(mqadmin, filled) if by_java else ours)
    await trio.sleep(0.2)
    return requests(world.since(mark), cluster.kinds)


@pytest.mark.parametrize("line", ADMIN)
async def test_our_admin_sends_the_same_as_mqadmin(cluster: Cluster, line: str) -> None:
    sides = [await record(cluster, line, by_java=by_java) for by_java in (True, False)]
    assert sides[0], "mqadmin sent nothing"
    check(differences(line.split()[0], *sides))


def test_each_command_of_both_is_compared(cluster: Cluster) -> None:
    printed = cluster.java.admin(cluster.words["n"], " ").out
    theirs = set(re.findall(r"^ {3}(\w+) ", printed, re.MULTILINE))
    both = theirs & {command.name for command in all_commands()}
    assert both == {line.split()[0] for line in ADMIN} | (ELSEWHERE.keys() & both)
