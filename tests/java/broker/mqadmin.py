"""mqadmin's commands for brokers at Java's broker and at ours: ``python -m tests.java.broker.mqadmin``.

It prints the lines of output that differ, and ends with 1 if a command differs that is not explained
in ``EXPLAINED``, of which ``docs/guide/broker-compared.md`` has the list. Topics, messages and a
consumer are the same at both, and mqadmin runs in one JVM.
"""

import difflib
import re
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Final, NamedTuple

from tests.peers.cluster import JavaCluster
from tests.peers.dev_cluster import DevCluster
from tests.peers.mqadmin_output import comparable
from tests.peers.peers import AdminOutput, JavaPeer
from tests.peers.processes import wait_until

TOPIC, GROUP = "orders", "readers"
MESSAGES: Final = 6

BEFORE: Final = (
    "updateTopic -b {b} -t orders -r 2 -w 2 -a +message.type=NORMAL",
    "updateTopic -c DefaultCluster -t ledger -r 1 -w 1 -o true",
    "updateSubGroup -b {b} -g readers -r 3 -m true",
    "updateSubGroup -c DefaultCluster -g auditors -s true -o true",
)
"""Commands that prepare the others."""

SEND: Final = "sendMessage -t orders -p text-{0} -k key-{0} -c tag -b broker-a -i {1}"

EXPLAINED: Final = {
    "brokerStatus": "there is no disk; rates are there at once, one also by its name of 4.x",
    "getBrokerConfig": "only the settings that the broker reads are shown",
    "statsAll": "counters are up to date at once, Java's after the next sample",
    "getBrokerLiteInfo": "Java counts also what it has in memory for topics of the system",
    "listUser": "access is controlled by a file, not by stored users",
    "listAcl": "access is controlled by a file, not by stored policies",
}
"""First words of a command -> why it may print something else."""

COMMANDS: Final = (
    "clusterList",
    "clusterList -m",
    "brokerStatus -b {b}",
    "brokerConsumeStats -b {b}",
    "getBrokerConfig -b {b}",
    "updateBrokerConfig -b {b} -k messageDelayLevel -v 1s",
    "getBrokerEpoch -b {b}",
    "haStatus -b {b}",
    "topicList",
    "topicList -c",
    "topicRoute -t orders",
    "topicRoute -t nothing",
    "topicStatus -t orders",
    "topicStatus -t nothing",
    "topicClusterList -t orders",
    "updateTopic -b {b} -t orders -r 2 -w 2 -a +no.such=1",
    "updateTopicPerm -b {b} -t ledger -p 4",
    "updateTopicPerm -b {b} -t ledger -p 6",
    "updateTopic -b {b} -t bad!name -r 1 -w 1",
    "updateTopic -b {b} -t SCHEDULE_TOPIC_XXXX -r 1 -w 1",
    "setConsumeMode -b {b} -t orders -g auditors -m POP -q 0",
    "getConsumerConfig -g readers",
    "getConsumerConfig -g nobody",
    "consumerProgress -g readers",
    "consumerProgress -g nobody",
    "consumerProgress",
    "consumerStatus -g readers",
    "consumerStatus -g nobody",
    "consumerConnection -g readers",
    "consumerConnection -g nobody",
    "producerConnection -g producers -t orders",
    "producerConnection -g nobody -t orders",
    "producer -b {b}",
    "queryMsgByKey -t orders -k key-3",
    "queryMsgByKey -t orders -k nothing",
    "queryMsgByOffset -t orders -b broker-a -i 0 -o 1",
    "queryMsgByOffset -t orders -b broker-a -i 0 -o 100",
    "queryMsgById -t orders -i {id}",
    "queryMsgByUniqueKey -t orders -i {key}",
    "queryMsgByUniqueKey -t orders -i nothing",
    "queryMsgTraceById -i {key}",
    "printMsg -t orders -d true",
    "printMsgByQueue -t orders -a broker-a -i 0 -d true -p true",
    "consumeMessage -t orders -b broker-a -i 0 -c 2",
    "queryCq -t orders -q 0 -i 0 -c 2 -b {b}",
    "queryCq -t orders -q 9 -i 0 -c 2 -b {b}",
    "checkMsgSendRT -t orders -a 2 -s 10",
    "sendMsgStatus -b broker-a -s 10 -c 1",
    "sendMessage -t orders -p text -k key-99 -c tag -b broker-a -i 1",
    "statsAll",
    "statsAll -a",
    "statsAll -t orders",
    "resetOffsetByTime -g auditors -t orders -s now",
    "resetOffsetByTime -g nobody -t orders -s now",
    "resetOffsetByTimeOld -g auditors -t orders -s now",
    "skipAccumulatedMessage -g auditors -t orders",
    "cloneGroupOffset -s readers -d auditors -t orders",
    "getTopicStats -t orders",
    "exportMetadata -c DefaultCluster -f {f}",
    "exportMetrics -c DefaultCluster -f {f}",
    "exportConfigs -c DefaultCluster -f {f}",
    "checkRocksdbCqWriteProgress -c DefaultCluster -n {n} -t orders",
    "cleanExpiredCQ -b {b}",
    "cleanUnusedTopic -b {b}",
    "deleteExpiredCommitLog -b {b}",
    "resetMasterFlushOffset -b {b} -o 0",
    "getColdDataFlowCtrInfo -b {b}",
    "updateColdDataFlowCtrGroupConfig -b {b} -g readers -v 5",
    "removeColdDataFlowCtrGroupConfig -b {b} -g readers",
    "setCommitLogReadAheadMode -b {b} -m 0",
    "exportPopRecord -b {b}",
    "getBrokerLiteInfo -b {b}",
    "listUser -b {b}",
    "listAcl -b {b}",
    "getSyncStateSet -a {b} -b broker-a",
    "addWritePerm -b broker-a",
    "wipeWritePerm -b broker-a",
    "addWritePerm -b broker-a",
    "updateOrderConf -m put -t ledger -v broker-a:1",
    "updateOrderConf -m get -t ledger",
    "updateOrderConf -m delete -t ledger",
    "deleteTopic -c DefaultCluster -t ledger",
    "deleteSubGroup -b {b} -g auditors -r true",
)


class Output(NamedTuple):
    command: str
    text: str


def outputs(peer: JavaPeer, cluster: JavaCluster | DevCluster, folder: Path) -> Iterator[Output]:
    address, broker = cluster.address, cluster.master.address
    words = {"b": broker, "n": address, "f": str(folder), "id": "", "key": ""}
    for command in BEFORE:
        peer.admin(address, command.format(**words))
    for number in range(MESSAGES):
        peer.admin(address, SEND.format(number, number % 2))
    peer.send(address, "bills", "producers", range(1))
    peer.consume(address, TOPIC, GROUP)
    peer.received(GROUP, MESSAGES)
    progress = f"consumerProgress -g {GROUP}"
    committed = re.compile(r"^orders +broker-a +[01] +3 +3 ", re.MULTILINE)
    wait_until(
        lambda: len(committed.findall(peer.admin(address, progress).out)) == 2,
        "the consumer has committed its offsets",
    )
    shown = peer.admin(address, "queryMsgByOffset -t orders -b broker-a -i 0 -o 1").out
    for name, pattern in (("id", r"OffsetID:\s+(\S+)"), ("key", r"Message ID:\s+(\S+)")):
        match = re.search(pattern, shown)
        words[name] = match[1] if match else "missing"
    for command in COMMANDS:
        sys.stderr.write(f"{address} {command}\n")
        output = peer.admin(address, command.format(**words))
        yield Output(command, _comparable(output, broker, address, folder))
    peer.close(GROUP)


def _comparable(output: AdminOutput, broker: str, name_server: str, folder: Path) -> str:
    text = comparable(output, BROKER=broker, NAMESERVER=name_server)
    text = text.replace(str(folder), "FOLDER")
    text = re.sub(r"\b[0-9A-F]{32,}\b", "ID", text)
    text = re.sub(r"N\.N:\d+|127\.0\.0\.1:\d+", "CLIENT", text)
    text = re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", "TIME", text)
    text = re.sub(r"\b\d+ms|(true|false) \d+", "TIME", text)
    return re.sub(r"(Offset|runtime|TimesTotal|SizeTotal)\s*:.*|storeSize=\d+", r"\1", text)


def main() -> int:
    with tempfile.TemporaryDirectory() as scratch, ExitStack() as running:
        folder = Path(scratch)
        peer = running.enter_context(JavaPeer(folder / "peer"))
        ours = running.enter_context(DevCluster(folder / "ours"))
        java = running.enter_context(JavaCluster(folder / "java"))
        shown = {
            name: list(outputs(peer, cluster, folder / f"{name}-files"))
            for name, cluster in (("java", java), ("ours", ours))
        }
    unexplained = 0
    for expected, got in zip(shown["java"], shown["ours"], strict=True):
        lines = list(
            difflib.unified_diff(
                expected.text.splitlines(), got.text.splitlines(), "java", "ours", lineterm="", n=0
            )
        )
        reason = next((EXPLAINED[key] for key in EXPLAINED if expected.command.startswith(key)), "")
        unexplained += bool(lines) and not reason
        state = f"differs ({reason or 'not explained'})" if lines else "equal"
        sys.stdout.write(f"{expected.command}: {state}\n")
        sys.stdout.writelines(f"    {line[:200]}\n" for line in lines[2:])
    sys.stdout.write(f"{len(COMMANDS)} commands, {unexplained} differ without an explanation\n")
    return int(unexplained > 0)


if __name__ == "__main__":
    sys.exit(main())
