"""RocketMQ's controller, which elects the masters of groups in controller mode; it stands alone, outside the name server."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from tests.support.javapeers import CURRENT, java, prepare, properties, quick_start
from tests.support.processes import LOOPBACK, Child, free_ports

if TYPE_CHECKING:
    from pathlib import Path


class JavaController:
    """One controller, which is its own quorum.

    Attributes:
        address: what brokers take for ``controllerAddr``.
    """

    def __init__(self, folder: Path, *, version: str = CURRENT) -> None:
        self.address = f"{LOOPBACK}:{free_ports()}"
        self._folder = prepare(folder)
        settings = {
            "controllerDLegerGroup": "controllers",
            "controllerDLegerPeers": f"n0-{self.address}",
            "controllerDLegerSelfId": "n0",
            "controllerStorePath": "store",
            "mappedFileSize": 1_048_576,
        }
        (folder / "conf" / "controller.properties").write_text(properties(settings))
        self._command = java(
            version,
            "org.apache.rocketmq.controller.ControllerStartup",
            *("-c", "conf/controller.properties"),
            jvm=quick_start(version),
        )
        self._child: Child | None = None

    def start(self) -> None:
        environment = {"ROCKETMQ_HOME": "."}
        child = Child("controller", self._command, self._folder, environment=environment)
        self._child = child
        child.wait_until(lambda: "boot success" in child.output, "boot success")

    def kill(self) -> None:
        if self._child is not None:
            self._child.kill()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()
