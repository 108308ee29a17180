"""Real RocketMQ programs as fixtures: name server, broker, and one JVM that plays clients and mqadmin.

Rules of this file: every process has a scratch folder of its own, and every path in its configuration is relative to it, so that
nothing of the machine gets into configuration answers or recordings.  All addresses are loopback.  A broker that prints "boot
success" has not registered yet: ask ``JavaBroker.wait_registered``.
"""

import base64
import hashlib
import os
import select
import shutil
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, Self

from tests.peers import cache as java_cache
from tests.peers import raw_call
from tests.peers.processes import LOOPBACK, Child, PeerFailedError, Server, free_ports, wait_until
from tests.peers.server_certificate import with_certificate

CURRENT = "5.5.0"
NEWER = "5.5.1"
"""Its name server, clients and tools are those of 5.5.0: the registry has no others."""
OLD = "4.9.4"
MIDDLE = "5.3.3"
RELEASES = (CURRENT, MIDDLE, OLD)

MEMORY = ("-Xms32m", "-Xmx256m", "-XX:MaxDirectMemorySize=128m", "-XX:+UseSerialGC")
SHORT_LIVED = ("-XX:TieredStopAtLevel=1",)
OPENED_FOR_4X = tuple(
    f"--add-opens=java.base/{package}=ALL-UNNAMED"
    for package in ("java.nio", "sun.nio.ch", "jdk.internal.ref")
)
"""Without these the shutdown of a 4.9 broker fails on Java 17 before it unregisters."""
BINARY_HEADERS = "-Drocketmq.serialize.type=ROCKETMQ"
"""JVM option: headers of everything this process sends have the binary form."""

PATIENT = (
    "-Dcom.rocketmq.remoting.client.connect.timeout=60000",
    "-Dcom.rocketmq.remoting.client.closeSocketIfTimeout=false",
)
"""JVM options: no peer closes a connection because a busy machine was late; a broker that did would lose its routes until it registers again."""

REGISTER_SECONDS = 180.0
"""Within these a broker registers: a first attempt that fails is made up for 10 s later, the next after 30 s."""

BROKER_MAIN = "org.apache.rocketmq.broker.BrokerStartup"


def java(
    version: str,
    main: str,
    *arguments: str,
    jvm: Sequence[str] = (),
    classes: Path | None = None,
    pom: str = java_cache.RELEASE_POM,
) -> list[str]:
    path = f"{java_cache.jars(version, pom)}/*" + (f":{classes}" if classes else "")
    quiet = (
        "-Duser.home=.",
        "-Djava.io.tmpdir=.",
        "-Drmq.logback.configurationFile=conf/quiet-5x.xml",
    )
    opened = OPENED_FOR_4X if version.startswith("4.") else ()
    return ["java", *MEMORY, *quiet, *opened, *jvm, "-cp", path, main, *arguments]


def prepare(folder: Path) -> Path:
    """Make a scratch folder that a RocketMQ process can call its home."""
    conf = folder / "conf"
    conf.mkdir(parents=True, exist_ok=True)
    shutil.copy(java_cache.INTEROP / "conf" / "quiet-5x.xml", conf)
    for part in ("namesrv", "broker", "tools"):
        shutil.copy(java_cache.INTEROP / "conf" / "quiet-4x.xml", conf / f"logback_{part}.xml")
    return folder


def properties(values: Mapping[str, object]) -> str:
    return "".join(f"{key}={value}\n" for key, value in values.items())


def class_archive(version: str) -> Path:
    """Where ``javaarchive.record_broker`` keeps the classes of a release; what it keeps fits jars at one path alone."""
    place = hashlib.sha256(str(java_cache.cache_folder()).encode()).hexdigest()[:8]
    return java_cache.cache_folder() / f"classes-{version}-{place}" / "classes.jsa"


def quick_start(version: str) -> list[str]:
    """JVM options that more than halve what a start costs; it works without an archive, or with one that does not fit."""
    archive = class_archive(version)
    shared = [f"-XX:SharedArchiveFile={archive}", "-Xlog:disable"] if archive.exists() else []
    return [*SHORT_LIVED, *shared, *with_certificate()]


class JavaNameServer(Server):
    """Java's name server; ``tests.support.name_servers.NameServer`` describes its methods."""

    def __init__(
        self,
        folder: Path,
        options: Mapping[str, object] | None = None,
        *,
        version: str = CURRENT,
        jvm: Sequence[str] = (),
        port: int | None = None,
    ) -> None:
        self.port = port or free_ports()
        self.address = f"{LOOPBACK}:{self.port}"
        prepare(folder)
        command = java(
            version,
            "org.apache.rocketmq.namesrv.NamesrvStartup",
            *("-c", "conf/namesrv.properties"),
            jvm=[*quick_start(version), *jvm],
        )
        settings = {"listenPort": self.port, "bindAddress": LOOPBACK, **(options or {})}
        (folder / "conf" / "namesrv.properties").write_text(properties(settings))
        super().__init__("namesrv", command, folder)


class JavaBroker(Server):
    def __init__(
        self,
        folder: Path,
        name_servers: Sequence[str],
        options: Mapping[str, object] | None = None,
        *,
        name: str = "broker-a",
        version: str = CURRENT,
        jvm: Sequence[str] = (),
        wrapper: Sequence[str] = (),
        own_main: bool = False,
        port: int | None = None,
    ) -> None:
        """Its configuration is written.

        Args:
            wrapper: a program that runs its command line.
            own_main: start it by Java's own main class: it may register ten seconds late.
            port: by default a free one with a free one above it and two below.
        """
        # listenPort - 2 is opened too; 4.9.4 takes listenPort + 1 for HA whatever is configured
        port = port or free_ports((-2, 0, 1))
        self.name = name
        self.address = f"{LOOPBACK}:{port}"
        self.ha_address = f"{LOOPBACK}:{port + 1}"
        prepare(folder)
        run = java(
            version,
            BROKER_MAIN if own_main else "Broker",
            *("-c", "conf/broker.properties"),
            jvm=[*quick_start(version), *PATIENT, *jvm],
            classes=None if own_main else java_cache.classes(version, "Broker.java"),
        )
        settings = {
            "brokerName": name,
            **({"namesrvAddr": ";".join(name_servers)} if name_servers else {}),
            "listenPort": port,
            "haListenPort": port + 1,
            **(options or {}),
        }
        base = (java_cache.INTEROP / "conf" / "broker.properties").read_text()
        (folder / "conf" / "broker.properties").write_text(base + properties(settings))
        command = [*wrapper, *run]
        super().__init__("broker", command, folder)

    def wait_registered(self, port: int, seconds: float = REGISTER_SECONDS) -> float:
        """Wait until the name server on that port lists it; returns the seconds it took."""
        return self._child.wait_until(
            lambda: raw_call.knows_broker(port, self.address), f"registered on {port}", seconds
        )


ADMIN_ATTEMPTS = 3


class AdminOutput(NamedTuple):
    out: str
    err: str


class Load(NamedTuple):
    """The results of ``JavaPeer.load``: keys that a broker acknowledged, and the error of each other send."""

    stored: frozenset[str]
    failures: list[str]


def sort_keys(keys: Iterable[str]) -> list[str]:
    return sorted(set(keys), key=int)


def number_keys(count: int) -> list[str]:
    return list(map(str, range(count)))


class JavaPeer:
    """One JVM that runs ``tests/peers/sources/Peer.java``: producers, consumers and mqadmin lines of any number.

    It serves one caller at a time.  Its methods raise ``PeerFailedError`` when Java threw or did not answer in time.
    """

    def __init__(
        self,
        folder: Path,
        *,
        version: str = CURRENT,
        jvm: Sequence[str] = (),
        program: str = "Peer.java",
        pom: str = java_cache.RELEASE_POM,
    ) -> None:
        started = quick_start(version) if pom == java_cache.RELEASE_POM else SHORT_LIVED
        command = java(
            version,
            program.removesuffix(".java"),
            jvm=[*started, *PATIENT, *jvm],
            classes=java_cache.classes(version, program, pom),
            pom=pom,
        )
        home = {"ROCKETMQ_HOME": "."}
        self._child = Child("peer", command, prepare(folder), environment=home, piped=True)
        self._unread = b""
        self._owed = 0

    def line(self, request: str, seconds: float = 180.0) -> str:
        stdin, stdout = self._child.process.stdin, self._child.process.stdout
        if stdin is None or stdout is None:
            raise PeerFailedError("the peer has no pipes")
        stdin.write(request.encode() + b"\n")
        stdin.flush()
        deadline = time.monotonic() + seconds
        self._owed += 1
        while self._unread.count(b"\n") < self._owed:
            ready, _, _ = select.select([stdout], [], [], max(0.0, deadline - time.monotonic()))
            piece = os.read(stdout.fileno(), 65536) if ready else b""
            if not piece:
                raise PeerFailedError(
                    f"no answer to {request[:80]!r}: {self._child.output[-2000:]}"
                )
            self._unread += piece
        *answers, self._unread = self._unread.split(b"\n")
        self._owed = 0
        return answers[-1].decode()

    def call(self, *words: object, seconds: float = 180.0) -> list[str]:
        outcome, *encoded = self.line("\t".join(map(str, words)), seconds).split("\t")
        answer = [base64.b64decode(word).decode() for word in encoded]
        if outcome != "+":
            raise PeerFailedError(f"{words[0]}: {answer}")
        return answer

    def admin(self, name_servers: str, line: str) -> AdminOutput:
        """Run one mqadmin line, given without ``-n``.

        A line that a busy machine did not answer in time is run again.
        """
        output = self._admin(name_servers, line)
        for _ in range(ADMIN_ATTEMPTS - 1):
            if "RemotingTimeoutException" not in output.err:
                break
            output = self._admin(name_servers, line)
        return output

    def _admin(self, name_servers: str, line: str) -> AdminOutput:
        return AdminOutput(*self.call("admin", name_servers, line, seconds=300))

    def cluster_table(self, name_servers: str, *versions: str) -> str:
        """Run clusterList until it prints the versions of all these brokers.

        A broker that has only just started may not answer mqadmin in time, which then leaves half
        of its row empty.
        """
        table = ""

        def is_complete() -> bool:
            nonlocal table
            table = self.admin(name_servers, "clusterList").out
            return all(version in table for version in versions)

        wait_until(is_complete, f"clusterList prints {' and '.join(versions)}")
        return table

    def send(
        self, name_servers: str, topic: str, group: str, keys: range, *, attempts: int = 2
    ) -> None:
        """Send one message for each key with the group's producer; raises unless every one was stored.

        A message whose connection breaks is sent ``attempts`` times at most, and then may be stored twice.
        """
        sent, failure = self.call(
            *("send", name_servers, topic, group, keys.start, len(keys), attempts), seconds=300
        )
        if int(sent) != len(keys):
            raise PeerFailedError(f"{sent} of {len(keys)} messages were stored: {failure}")

    def fill(
        self,
        name_servers: str,
        topic: str,
        group: str,
        *,
        size: int,
        count: int,
        queue_id: int = 0,
        compression: str = "default",
        level: int = 5,
    ) -> None:
        """Send messages of ``size`` equal bytes to one queue; Java's producer compresses them (``LZ4``, ``ZSTD``, ``ZLIB``)."""
        words = ("fill", name_servers, topic, group, size, count, queue_id, compression, level)
        (sent,) = self.call(*words, seconds=300)
        if int(sent) != count:
            raise PeerFailedError(f"{sent} of {count} messages were stored")

    def consume(self, name_servers: str, topic: str, group: str) -> None:
        self.call("consume", name_servers, topic, group)

    def join(
        self, name_servers: str, topic: str, group: str, name: str, strategy: str = "AVG"
    ) -> str:
        """Start a push consumer with others of its group; its name here is ``name``.

        Returns its client id.
        """
        return self.call("join", name_servers, topic, group, name, strategy)[0]

    def queues(self, name: str) -> set[tuple[str, int]]:
        parts = [word.rpartition("/") for word in self.call("queues", name)]
        return {(broker, int(number)) for broker, _, number in parts}

    def received(self, group: str, count: int, seconds: float = 180.0) -> list[str]:
        return self.call("received", group, count, int(seconds * 1000), seconds=seconds + 30)

    def exchange(self, name_servers: str, topic: str, count: int) -> list[str]:
        """Send messages and read them with a new consumer; returns their different keys in order."""
        producers, consumers = f"{topic}-producers", f"{topic}-consumers"
        self.send(name_servers, topic, producers, range(count))
        self.consume(name_servers, topic, consumers)
        keys = self.received(consumers, count)
        self.close(producers)
        self.close(consumers)
        return sort_keys(keys)

    def load(self, name_servers: str, topic: str, group: str, gap: int = 10) -> None:
        """Let the group's producer send one message after the other, ``gap`` milliseconds apart, until ``unload``.

        Their keys are ``group-0``, ``group-1`` and so on.
        """
        self.call("load", name_servers, topic, group, gap)

    def wait_loaded(self, group: str, count: int, seconds: float = 180.0) -> int:
        """Wait until ``count`` messages were stored from now on; returns how many there are in all."""
        start = int(self.call("loaded", group, 0, 0)[0])
        words = ("loaded", group, start + count, int(seconds * 1000))
        stored = int(self.call(*words, seconds=seconds + 30)[0])
        if stored < start + count:
            raise PeerFailedError(
                f"{stored - start} of {count} messages were stored in {seconds} s"
            )
        return stored

    def unload(self, group: str) -> Load:
        stored, failures = self.call("unload", group)
        return Load(frozenset(stored.split()), failures.splitlines())

    def close(self, group: str) -> None:
        self.call("close", group)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._child.kill()
