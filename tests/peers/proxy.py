"""RocketMQ's proxy in cluster mode, and a client of the gRPC protocol that only a proxy speaks."""

import json
from collections.abc import Sequence
from pathlib import Path

from tests.peers.peers import CURRENT, SHORT_LIVED, JavaPeer, java, prepare
from tests.peers.processes import LOOPBACK, Server, free_ports

GRPC_CLIENT = "5.1.0"
"""Clients of the gRPC protocol have release numbers of their own."""


class JavaProxy(Server):
    """A proxy before the brokers of DefaultCluster, one of which must have registered when it starts.

    Clients of the remoting protocol take ``remoting_address`` for a name server.
    """

    def __init__(self, folder: Path, name_servers: Sequence[str]) -> None:
        grpc, remoting = free_ports(), free_ports()
        self.grpc_address = f"{LOOPBACK}:{grpc}"
        self.remoting_address = f"{LOOPBACK}:{remoting}"
        prepare(folder)
        settings = {
            "rocketMQClusterName": "DefaultCluster",
            "proxyMode": "CLUSTER",
            "namesrvAddr": ";".join(name_servers),
            "localServeAddr": LOOPBACK,
            "remotingAccessAddr": LOOPBACK,
            "grpcServerPort": grpc,
            "remotingListenPort": remoting,
            "transactionHeartbeatPeriodSecond": 1,  # a broker cannot ask a producer before; Java: 20
        }
        (folder / "conf" / "rmq-proxy.json").write_text(json.dumps(settings))
        command = java(
            CURRENT,
            "org.apache.rocketmq.proxy.ProxyStartup",
            *("-pc", "conf/rmq-proxy.json"),
            jvm=SHORT_LIVED,
            pom="proxy.xml",
        )
        super().__init__(
            "proxy",
            command,
            folder,
            ready="startup successfully",
            environment={"RMQ_PROXY_HOME": "."},
        )


class GrpcPeer(JavaPeer):
    """One JVM that runs ``tests/peers/sources/GrpcPeer.java``; of the parent's methods only ``call`` makes sense."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, version=GRPC_CLIENT, program="GrpcPeer.java", pom="grpc.xml")
