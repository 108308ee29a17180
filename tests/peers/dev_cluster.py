"""Our name server and broker for development in the place of a Java cluster: the same tests run against both."""

import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import NoReturn, Self

import pytest

from tests.peers import raw_call
from tests.peers.cluster import BROKER
from tests.peers.peers import properties
from tests.peers.processes import LOOPBACK, Server, free_ports, wait_until

PROGRAM = (sys.executable, "-m", "rocketwire_broker")

MISSING = frozenset({"authorizationEnabled"})
"""Settings of tests that our broker does not have."""

NOT_IN_DEV = {
    "test_admin_containers": "containers",
    "test_admin_controllers": "controllers",
    "test_a09_the_second_port": "second port",
}
"""Parts of the names of tests -> what they need."""

_READY = r"ready: name server \S+, broker \S+ at \S+"


class DevBroker(Server):
    """A broker for development with the methods of ``JavaBroker``, on a port that it keeps.

    Without a name server it brings one of its own. Of the options ``-D`` of a JVM it reads those about TLS and headers.
    """

    def __init__(
        self,
        folder: Path,
        name_servers: Sequence[str] = (),
        options: Mapping[str, object] | None = None,
        *,
        name: str = "broker-a",
        version: str = "",
        jvm: Sequence[str] = (),
    ) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        port = free_ports()
        self.name = name
        self.address = f"{LOOPBACK}:{port}"
        self.name_server_port = 0 if name_servers else free_ports()
        settings = {"brokerName": name, "listenPort": port, **(options or {})}
        (folder / "broker.properties").write_text(properties(settings))
        alone = ["dev", f"--port={self.name_server_port}"]
        verb = ["broker", "-n", ";".join(name_servers)] if name_servers else alone
        command = [*PROGRAM, *verb, "-c", "broker.properties", "--status-port", "-1"]
        environment = {"JAVA_OPT": " ".join(jvm)}
        super().__init__("broker", command, folder, ready=_READY, environment=environment)

    def wait_registered(self, port: int, seconds: float = 10.0) -> float:
        """Wait until the name server on that port lists it; returns the seconds it took."""
        return wait_until(lambda: raw_call.knows_broker(port, self.address), "registered", seconds)


class DevCluster:
    """A name server and brokers with the interface of ``JavaCluster``."""

    def __init__(self, folder: Path, options: Mapping[str, object] | None = None) -> None:
        self._folder = folder
        self._running = ExitStack()
        self._brokers: dict[str, DevBroker] = {}
        self.master = DevBroker(folder / "broker-a", options={**BROKER, **(options or {})})

    @property
    def address(self) -> str:
        return f"{LOOPBACK}:{self.master.name_server_port}"

    def slave(self) -> NoReturn:
        pytest.skip("brokers for development have no slaves")

    def broker(
        self,
        name: str,
        *,
        version: str = "",
        role: str = "ASYNC_MASTER",
        options: Mapping[str, object] | None = None,
        jvm: Sequence[str] = (),
    ) -> DevBroker:
        """A further broker that has registered; the same one for the same name.

        A test is skipped where its broker must do what ours does not.
        """
        if role != "ASYNC_MASTER":
            self.slave()
        if (missing := MISSING & (options or {}).keys()) != frozenset():
            pytest.skip(f"brokers for development have no {', '.join(missing)}")
        broker = self._brokers.get(name)
        if broker is None:
            settings = {**BROKER, **(options or {})}
            broker = DevBroker(self._folder / name, [self.address], settings, name=name, jvm=jvm)
            self._running.enter_context(broker)
            self._brokers[name] = broker
        if not broker.runs:
            broker.start()
        return broker

    def end_brokers(self) -> None:
        for broker in self._brokers.values():
            broker.kill()
        self._brokers.clear()

    def __enter__(self) -> Self:
        self._running.enter_context(self.master)
        return self

    def __exit__(self, *_: object) -> None:
        self._running.close()
