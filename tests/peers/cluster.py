"""A cluster of Java's for the tests of our clients: a name server, a broker with everything switched on, and more on request."""

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Final, Self

from tests.peers import raw_call
from tests.peers.peers import CURRENT, JavaBroker, JavaNameServer
from tests.peers.processes import PeerFailedError, wait_until

BROKER: Final[Mapping[str, object]] = {
    "maxMessageSize": 4 * 1024 * 1024,  # Java's default, which the shared file makes smaller
    "autoCreateTopicEnable": "true",
    "autoCreateSubscriptionGroup": "true",
    "enablePropertyFilter": "true",
    "traceTopicEnable": "true",
    "timerWheelEnable": "true",
    "timerGetMessageThreadNum": 1,  # each of them looks for work a thousand times a second
    "timerPutMessageThreadNum": 1,
    "timerFlushIntervalMs": 60_000,  # the whole wheel, 37 MB
    "recallMessageEnable": "true",
    "storeReplyMessageEnable": "true",
    "transactionTimeOut": 2000,
    "transactionCheckInterval": 1000,
    # A broker that has ended a transaction takes a whole core from then on: it asks, without a
    # pause, whether what it wrote last is
    # older than this.  A size of 1 has it note each end at once; otherwise finished transactions
    # would be checked too.
    "transactionOpBatchInterval": 3_600_000,
    "transactionOpMsgMaxSize": 1,
    "slaveReadEnable": "true",
    "enableLmq": "true",  # lite topics
    "enableMultiDispatch": "true",
    "enableLmqQuota": "true",
}
"""Settings that clients need, and short times where a test would wait."""


ROOM: Final = ("-XX:MaxDirectMemorySize=512m",)
"""JVM option: every thread that stores a message keeps 4 MiB of direct memory, and acknowledgements of pops are many threads."""


class JavaCluster:
    """Java's name server and brokers, all on loopback; what is started here ends with the block."""

    def __init__(self, folder: Path, *, version: str = CURRENT, jvm: Sequence[str] = ()) -> None:
        self._folder = folder
        self._running = ExitStack()
        self._brokers: dict[str, JavaBroker] = {}
        self.name_server = JavaNameServer(folder / "namesrv", version=version, jvm=jvm)
        self.master = JavaBroker(
            folder / "broker-a",
            [self.name_server.address],
            BROKER,
            version=version,
            jvm=[*ROOM, *jvm],
        )

    @property
    def address(self) -> str:
        return self.name_server.address

    def slave(self) -> JavaBroker:
        return self.broker("broker-a", role="SLAVE", options={"brokerId": 1})

    def broker(
        self,
        name: str,
        *,
        version: str = CURRENT,
        role: str = "ASYNC_MASTER",
        options: Mapping[str, object] | None = None,
        jvm: Sequence[str] = (),
    ) -> JavaBroker:
        """A further broker that has registered; the same one for the same name, release and role.

        It is started again where a test has ended it: an earlier attempt of the same test, for one.
        """
        key = f"{name}-{version}-{role}"
        if key not in self._brokers:
            settings = {**BROKER, "brokerRole": role, **(options or {})}
            folder = self._folder / key
            started = JavaBroker(
                folder, [self.address], settings, name=name, version=version, jvm=[*ROOM, *jvm]
            )
            self._running.enter_context(started)
            try:
                started.wait_registered(self.name_server.port)
            except PeerFailedError:
                started.kill()  # or it would be in the way of a second attempt
                raise
            self._brokers[key] = started
        broker = self._brokers[key]
        if not broker.runs:
            broker.start()
            broker.wait_registered(self.name_server.port)
        return broker

    def end_brokers(self) -> None:
        """End every broker but the master, and wait until the name server has forgotten all others: routes would lead to them."""
        for broker in self._brokers.values():
            broker.kill()
        self._brokers.clear()
        if self._brokers_known() is None:
            return
        wait_until(
            lambda: self._brokers_known() == {self.master.address}, "the others are forgotten"
        )

    def _brokers_known(self) -> set[str] | None:
        """The brokers of the name server; None if it does not answer, which the next test will report."""
        try:
            return raw_call.brokers(self.name_server.port)
        except OSError:
            return None

    def __enter__(self) -> Self:
        self._running.enter_context(self.name_server)
        self._running.enter_context(self.master)
        self.master.wait_registered(self.name_server.port)
        return self

    def __exit__(self, *_: object) -> None:
        self._running.close()
