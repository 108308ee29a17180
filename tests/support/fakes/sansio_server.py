"""Literal requests and parsed responses, for tests of handlers and sessions."""

import json
import re
from struct import pack, unpack
from typing import Any, NamedTuple

from rocketwire.serving.events import Event
from rocketwire_namesrv.config.config import Config
from rocketwire_namesrv.protocol.handlers import Peer
from rocketwire_namesrv.protocol.session import Effects, Session
from rocketwire_namesrv.protocol.state import State

BROKER = "10.0.0.1:10911"
SLAVE = "10.0.0.2:10911"


class Reply(NamedTuple):
    header: dict[str, Any]
    body: bytes

    @property
    def code(self) -> int:
        return int(self.header["code"])

    @property
    def remark(self) -> str | None:
        return self.header.get("remark")

    @property
    def ext(self) -> dict[str, str] | None:
        return self.header.get("extFields")


def request(
    code: int,
    ext: dict[str, Any] | None = None,
    body: bytes = b"",
    *,
    version: int = 513,
    flag: int = 0,
    opaque: int = 7,
) -> bytes:
    header: dict[str, Any] = {
        "code": code,
        "flag": flag,
        "language": "JAVA",
        "opaque": opaque,
        "version": version,
    }
    if ext is not None:
        header["extFields"] = ext
    text = json.dumps(header, ensure_ascii=False, separators=(",", ":")).encode()
    return pack(">II", 4 + len(text) + len(body), len(text)) + text + body


def replies(data: bytes) -> list[Reply]:
    result: list[Reply] = []
    while data:
        length, header = unpack(">II", data[:8])
        assert header >> 24 == 0
        result.append(Reply(json.loads(data[8 : 8 + header]), data[8 + header : 4 + length]))
        data = data[4 + length :]
    return result


class Server:
    def __init__(self, config: Config | None = None, **state: Any) -> None:
        self.state = State(config or Config(), **state)
        self.now = 1000.0
        self.connections = 0
        self.session = self.connect()

    def connect(self) -> Session:
        self.connections += 1
        peer = Peer(self.connections, f"127.0.0.1:{50_000 + self.connections}")
        return Session(self.state, peer)

    def receive(self, data: bytes, session: Session | None = None) -> Effects:
        connection = session or self.session
        outcome = connection.receive(data, self.now)
        while connection.busy:
            step = connection.proceed(self.now)
            outcome = Effects(
                send=outcome.send + step.send,
                events=outcome.events + step.events,
                notify=outcome.notify + step.notify,
                persist_kv=outcome.persist_kv or step.persist_kv,
                persist_config=outcome.persist_config or step.persist_config,
                send_unsaved=outcome.send_unsaved + step.send_unsaved,
                close=step.close,
                commands=outcome.commands + step.commands,
            )
        return outcome

    def ask(
        self,
        code: int,
        ext: dict[str, Any] | None = None,
        body: bytes = b"",
        *,
        version: int = 513,
        session: Session | None = None,
    ) -> Reply:
        outcome = self.receive(request(code, ext, body, version=version), session)
        assert outcome.close is None
        (reply,) = replies(outcome.send)
        return reply

    def register(
        self,
        address: str = BROKER,
        broker_id: int = 0,
        topics: tuple[str, ...] | dict[str, Any] = ("TA", "TB"),
        *,
        session: Session | None = None,
        version: int = 513,
        name: str = "b1",
        cluster: str = "C",
        data_version: dict[str, int] | None = None,
        filter_servers: list[str] | None = None,
        mappings: dict[str, Any] | None = None,
        **ext: str,
    ) -> Reply:
        """103, as a broker of the 5.x line sends it; ``ext`` overrides fields of the header."""
        fields = {
            "brokerAddr": address,
            "brokerId": str(broker_id),
            "brokerName": name,
            "clusterName": cluster,
            "enableActingMaster": "false",
            "haServerAddr": f"ha-{address}",
            **ext,
        }
        body = registration_body(
            topics, data_version=data_version, filter_servers=filter_servers, mappings=mappings
        )
        return self.ask(103, fields, body, session=session, version=version)

    def route(self, topic: str, **ext: str) -> Any:
        reply = self.ask(105, {"topic": topic, **ext})
        return None if reply.code == 17 else json.loads(reply.body)

    def perms(self, topic: str) -> dict[str, int]:
        route = self.route(topic)
        return {queue["brokerName"]: queue["perm"] for queue in route["queueDatas"]}

    def cluster_info(self) -> Any:
        return json.loads(re.sub(rb"([{,])(-?[0-9]+):", rb'\1"\2":', self.ask(106).body))


def topic(name: str, *, queues: int = 8, perm: int = 6, flag: int = 0) -> dict[str, Any]:
    return {
        "attributes": {},
        "order": False,
        "perm": perm,
        "readQueueNums": queues,
        "topicFilterType": "SINGLE_TAG",
        "topicName": name,
        "topicSysFlag": flag,
        "writeQueueNums": queues,
    }


def version(
    counter: int = 0, state_version: int = 0, timestamp: int = 1700000000000
) -> dict[str, int]:
    return {"counter": counter, "stateVersion": state_version, "timestamp": timestamp}


def registration_body(
    topics: tuple[str, ...] | dict[str, Any],
    *,
    data_version: dict[str, int] | None = None,
    filter_servers: list[str] | None = None,
    mappings: dict[str, Any] | None = None,
) -> bytes:
    table = topics if isinstance(topics, dict) else {name: topic(name) for name in topics}
    body: dict[str, Any] = {
        "topicConfigSerializeWrapper": {
            "dataVersion": data_version or version(),
            "topicConfigTable": table,
            "topicQueueMappingInfoMap": mappings or {},
        }
    }
    if filter_servers is not None:
        body["filterServerList"] = filter_servers
    return json.dumps(body, separators=(",", ":")).encode()


def identity(
    name: str = "b1", address: str = BROKER, broker_id: str = "0", **members: str
) -> dict[str, str]:
    fields = {"brokerAddr": address, "brokerId": broker_id, "brokerName": name, "clusterName": "C"}
    return {**fields, **members}


def events(server: Server, code: int, ext: dict[str, Any] | None, body: bytes = b"") -> list[Event]:
    return list(server.receive(request(code, ext, body)).events)
