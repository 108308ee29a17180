"""RocketMQ's controller, which elects the masters of groups in controller mode; it stands alone, outside the name server."""

from pathlib import Path

from tests.peers.peers import CURRENT, java, prepare, properties, quick_start
from tests.peers.processes import LOOPBACK, Server, free_ports


class JavaController(Server):
    def __init__(self, folder: Path, *, version: str = CURRENT) -> None:
        self.address = f"{LOOPBACK}:{free_ports()}"
        prepare(folder)
        settings = {
            "controllerDLegerGroup": "controllers",
            "controllerDLegerPeers": f"n0-{self.address}",
            "controllerDLegerSelfId": "n0",
            "controllerStorePath": "store",
            "mappedFileSize": 1_048_576,
        }
        (folder / "conf" / "controller.properties").write_text(properties(settings))
        command = java(
            version,
            "org.apache.rocketmq.controller.ControllerStartup",
            *("-c", "conf/controller.properties"),
            jvm=quick_start(version),
        )
        super().__init__("controller", command, folder)
