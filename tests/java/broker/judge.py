"""Java's own integration tests at a broker: ``python -m tests.java.broker.judge --brokers java``.

It starts a name server and three brokers of the chosen kind, runs the classes, prints a line for each
method that failed and the sum of each class, and ends with 1 if anything failed.  All classes take half
an hour, mostly waiting.
"""

import argparse
import hashlib
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Final, NamedTuple

from tests.peers import cache as java_cache
from tests.peers.cluster import BROKER
from tests.peers.dev_cluster import DevBroker
from tests.peers.peers import (
    CURRENT,
    MEMORY,
    OLD,
    OPENED_FOR_4X,
    JavaBroker,
    JavaNameServer,
    prepare,
    quick_start,
)
from tests.peers.processes import LOOPBACK

POM: Final = "integration.xml"
PACKAGE: Final = "org.apache.rocketmq.test."


def _join(*folders: str) -> tuple[str, ...]:
    """Names of classes: each text has a package, then the classes below it."""
    return tuple(f"{folder}.{name}" for folder, *names in map(str.split, folders) for name in names)


IN_BOTH: Final = _join(
    """client.consumer
        balance.NormalMsgDynamicBalanceIT balance.NormalMsgStaticBalanceIT
        cluster.DynamicAddAndCrashIT cluster.DynamicAddConsumerIT cluster.DynamicCrashConsumerIT
        filter.SqlFilterIT
        tag.MulTagSubIT tag.TagMessageWith1ConsumerIT tag.TagMessageWithMulConsumerIT
        tag.TagMessageWithSameGroupConsumerIT
        topic.MulConsumerMulTopicIT topic.OneConsumerMulTopicIT""",
    """client.producer
        async.AsyncSendExceptionIT async.AsyncSendWithMessageQueueIT
        async.AsyncSendWithMessageQueueSelectorIT async.AsyncSendWithOnlySendCallBackIT
        batch.BatchSendIT
        exception.msg.ChinaPropIT exception.msg.MessageExceptionIT exception.msg.MessageUserPropIT
        exception.producer.ProducerGroupAndInstanceNameValidityIT
        oneway.OneWaySendExceptionIT oneway.OneWaySendIT oneway.OneWaySendWithMQIT
        oneway.OneWaySendWithSelectorIT
        order.OrderMsgDynamicRebalanceIT order.OrderMsgIT order.OrderMsgRebalanceIT
        order.OrderMsgWithTagIT
        querymsg.QueryMsgByIdExceptionIT querymsg.QueryMsgByIdIT querymsg.QueryMsgByKeyIT
        transaction.TransactionalMsgIT""",
    "delay NormalMsgDelayIT",
)
"""Classes of 4.9.4 and 5.5.0 that work from outside a broker."""

IN_4X: Final = _join(
    """client.consumer.broadcast
        normal.BroadCastNormalMsgNotRecvIT normal.BroadCastNormalMsgRecvCrashIT
        normal.BroadCastNormalMsgRecvFailIT normal.BroadCastNormalMsgRecvStartLaterIT
        normal.BroadCastNormalMsgTwoDiffGroupRecvIT normal.NormalMsgTwoSameGroupConsumerIT
        tag.BroadCastTwoConsumerFilterIT tag.BroadCastTwoConsumerSubDiffTagIT
        tag.BroadCastTwoConsumerSubTagIT""",
)
"""Classes of 4.9.4 whose names 5.x spells differently, and their neighbours."""

SINCE_5X: Final = _join(
    """client.consumer.broadcast
        normal.BroadcastNormalMsgNotReceiveIT normal.BroadcastNormalMsgRecvCrashIT
        normal.BroadcastNormalMsgRecvFailIT normal.BroadcastNormalMsgRecvStartLaterIT
        normal.BroadcastNormalMsgTwoDiffGroupRecvIT normal.NormalMsgTwoSameGroupConsumerIT
        tag.BroadcastTwoConsumerFilterIT tag.BroadcastTwoConsumerSubDiffTagIT
        tag.BroadcastTwoConsumerSubTagIT""",
    """client.consumer.pop
        BatchAckIT NotificationIT PopBigMessageIT PopMessageAndForwardingIT PopOrderlyIT
        PopPriorityIT""",
    "offset OffsetResetForPopIT",
    "recall RecallWithTraceIT SendAndRecallDelayMessageIT",
    "retry PopConsumerRetryIT",
    "tls TlsIT TlsMixIT TlsMix2IT",
)
"""Classes that 5.5.0 has and 4.9.4 has not, or under another name."""


class Outcome(NamedTuple):
    """The result of one method of a class: ``passed``, ``failed`` or ``ignored``, with its reason."""

    test_class: str
    method: str
    outcome: str
    milliseconds: int
    reason: str


def classes_of(version: str) -> tuple[str, ...]:
    """Names of the usable classes of a release, without their common package."""
    return (*IN_BOTH, *(IN_4X if version == OLD else SINCE_5X))


def compile_tests(version: str) -> Path:
    folder = java_cache.JAVA_SOURCES / "integration"
    line = "4x" if version == OLD else "5x"
    sources = [folder / line / "BaseConf.java", folder / "IntegrationTests.java"]
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in sources)).hexdigest()[:16]
    library = java_cache.jars(version, POM)

    def compile_into(target: Path) -> None:
        command = ["javac", "-nowarn", "-cp", f"{library}/*", "-d", str(target), *map(str, sources)]
        subprocess.run(command, check=True, capture_output=True, timeout=java_cache.MAVEN_SECONDS)

    return java_cache.build_once(
        java_cache.cache_folder() / f"integration-{version}-{digest}", compile_into
    )


def run(
    folder: Path,
    version: str,
    name_server: str,
    brokers: Mapping[str, str],
    classes: Sequence[str],
    seconds: float,
) -> Iterator[Outcome]:
    """Run classes one after the other in one JVM, and give the outcome of each method as it ends.

    After ``seconds`` the JVM is killed; a class that had not ended then has failed.
    """
    listed = ",".join(f"{name}={address}" for name, address in brokers.items())
    home = prepare(folder)
    command = [
        "java",
        *MEMORY,
        *quick_start(version)[:1],
        "-Duser.home=.",
        "-Djava.io.tmpdir=.",
        "-Drmq.logback.configurationFile=conf/quiet-5x.xml",
        f"-Djudge.namesrv={name_server}",
        f"-Djudge.brokers={listed}",
        *(OPENED_FOR_4X if version == OLD else ()),
        "-cp",
        f"{compile_tests(version)}:{java_cache.jars(version, POM)}/*",
        "IntegrationTests",
        *(PACKAGE + name for name in classes),
    ]
    errors = (home / "errors.txt").open("wb")
    ended: set[str] = set()
    with (
        errors,
        subprocess.Popen(
            ["timeout", "--signal=KILL", str(seconds), *command],
            cwd=home,
            stdout=subprocess.PIPE,
            stderr=errors,
            stdin=subprocess.DEVNULL,
            text=True,
        ) as process,
    ):
        for line in process.stdout or ():
            name, method, outcome, took, *reason = line.rstrip("\n").split("\t")
            if outcome == "ended":
                ended.add(name)
                continue
            test_class = name.removeprefix(PACKAGE)
            yield Outcome(test_class, method, outcome, int(took), reason[0] if reason else "")
    for name in classes:
        if PACKAGE + name not in ended:
            yield Outcome(name, "-", "failed", 0, f"did not end within {seconds:g} s")


def by_class(outcomes: Sequence[Outcome]) -> dict[str, tuple[int, int]]:
    counts: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for outcome in outcomes:
        if outcome.outcome != "ignored":
            counts[outcome.test_class][0] += outcome.outcome == "passed"
            counts[outcome.test_class][1] += 1
    return {name: (passed, ran) for name, (passed, ran) in counts.items()}


NAMES = ("broker1", "broker2", "broker3")


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.java.broker.judge", description=__doc__)
    parser.add_argument(
        "--brokers", choices=["java", "rocketwire"], default="java", help="kind of the brokers"
    )
    parser.add_argument("--release", choices=[CURRENT, OLD], default=CURRENT, help="of the tests")
    parser.add_argument("--seconds", type=float, default=3600.0, help="limit for all classes")
    parser.add_argument(
        "--word",
        action="append",
        default=[],
        help="only classes whose names contain it; repeatable",
    )
    return parser.parse_args(arguments)


def java_brokers(folder: Path, running: ExitStack) -> tuple[str, dict[str, str]]:
    # Start Java's servers; returns the name server's address, and each broker's by its name.
    name_server = running.enter_context(JavaNameServer(folder / "namesrv"))
    addresses: dict[str, str] = {}
    for name in NAMES:
        broker = JavaBroker(folder / name, [name_server.address], BROKER, name=name)
        running.enter_context(broker).wait_registered(name_server.port)
        addresses[name] = broker.address
    return name_server.address, addresses


def own_brokers(folder: Path, running: ExitStack) -> tuple[str, dict[str, str]]:
    # Start our brokers, the first with a name server in its process; returns the same.
    name_server: list[str] = []
    addresses: dict[str, str] = {}
    for name in NAMES:
        broker = running.enter_context(DevBroker(folder / name, name_server, BROKER, name=name))
        addresses[name] = broker.address
        if not name_server:
            name_server.append(f"{LOOPBACK}:{broker.name_server_port}")
    return name_server[0], addresses


def main(arguments: Sequence[str] | None = None) -> int:
    options = parse(sys.argv[1:] if arguments is None else arguments)
    classes = [
        name
        for name in classes_of(options.release)
        if not options.word or any(word in name for word in options.word)
    ]
    outcomes: list[Outcome] = []
    with tempfile.TemporaryDirectory() as scratch, ExitStack() as running:
        folder = Path(scratch)
        start = java_brokers if options.brokers == "java" else own_brokers
        name_server, brokers = start(folder, running)
        for outcome in run(
            folder / "tests", options.release, name_server, brokers, classes, options.seconds
        ):
            outcomes.append(outcome)
            sys.stdout.write(
                f"{outcome.outcome:8}{outcome.milliseconds / 1000:7.1f} s  "
                f"{outcome.test_class}.{outcome.method}  {outcome.reason}\n"
            )
            sys.stdout.flush()
    counts = by_class(outcomes)
    for name, (passed, ran) in counts.items():
        sys.stdout.write(f"{passed:3} of {ran:3}  {name}\n")
    passed, ran = (
        sum(count[0] for count in counts.values()),
        sum(count[1] for count in counts.values()),
    )
    sys.stdout.write(f"{passed} passed, {ran - passed} failed\n")
    return 0 if passed == ran else 1


if __name__ == "__main__":
    sys.exit(main())
