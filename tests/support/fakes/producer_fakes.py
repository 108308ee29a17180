"""A producer in memory, with a name server and two brokers with given responses."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from random import Random
from typing import Any

from rocketwire.client import ClientConfig, ClientInstance, open_client
from rocketwire.client.producer.lifecycle import open_producer
from rocketwire.client.producer.producer import Producer
from rocketwire.client.producer.transactions import TransactionCheck
from rocketwire.client.publish.config import ProducerConfig
from rocketwire.codes import RequestCode as Code
from rocketwire.messages.route import BrokerData, QueueData, TopicRouteData
from rocketwire.messages.send import SendMessageResponseHeader
from rocketwire.testing import MemoryNetwork, Scripted, ScriptedPeer, open_network, reply
from rocketwire.wire.command import RemotingCommand

NS, A, B = "10.0.0.1:9876", "10.0.0.2:10911", "10.0.0.3:10911"


def route(*names: str, perm: int = 6, queues: int = 2) -> TopicRouteData:
    addresses = {"a": A, "b": B}
    return TopicRouteData(
        broker_datas=tuple(
            BrokerData(broker_name=name, cluster="c", broker_addrs={0: addresses[name]})
            for name in names
        ),
        queue_datas=tuple(
            QueueData(broker_name=name, perm=perm, read_queue_nums=queues, write_queue_nums=queues)
            for name in names
        ),
    )


def send_response(request: RemotingCommand) -> RemotingCommand:
    fields = request.ext_fields or {}
    header = SendMessageResponseHeader(
        msg_id="0A00000200002A9F0000000000000010",
        queue_id=int(fields.get("e") or fields.get("queueId") or 0),
        queue_offset=7,
        transaction_id="TX",
    )
    return reply(header, ext_fields={"MSG_REGION": "R", "TRACE_ON": "true"})


@asynccontextmanager
async def open_broker_and_client() -> AsyncGenerator[tuple[ScriptedPeer, ClientInstance]]:
    """The broker ``a``, which has every topic, and a client that knows its name server."""
    async with open_network() as network:
        network.peer(NS).on(Code.GET_ROUTEINFO_BY_TOPIC, reply(body=route("a")))
        config = ClientConfig(namesrv_addr=NS)
        async with open_client(config, environment={}, connect=network.connect) as client:
            yield network.peer(A), client


class World:
    def __init__(
        self,
        client: ClientInstance,
        producer: Producer,
        peers: dict[str, ScriptedPeer],
        network: MemoryNetwork,
    ) -> None:
        self.network = network
        self.client = client
        self.producer = producer
        self.name_server = peers[NS]
        self.a = peers[A]
        self.b = peers[B]

    def answer_sends(self, response: Scripted) -> None:
        for peer in (self.a, self.b):
            peer.on(Code.SEND_MESSAGE_V2, response)

    def sent(self) -> list[RemotingCommand]:
        codes = {Code.SEND_MESSAGE_V2, Code.SEND_BATCH_MESSAGE, Code.SEND_REPLY_MESSAGE_V2}
        return [
            request for request in (*self.a.requests, *self.b.requests) if request.code in codes
        ]


@asynccontextmanager
async def world(
    *,
    check: TransactionCheck | None = None,
    client: dict[str, Any] | None = None,
    brokers: tuple[str, ...] = ("a", "b"),
    **settings: Any,
) -> AsyncGenerator[World]:
    """A producer of group ``pg`` with these settings; brokers store what they get."""
    async with open_network() as network:
        peers = {address: network.peer(address) for address in (NS, A, B)}
        peers[NS].on(Code.GET_ROUTEINFO_BY_TOPIC, reply(body=route(*brokers)))
        peers[NS].on(Code.GET_BROKER_CLUSTER_INFO, reply(body=b"{}"))
        for address in (A, B):
            peers[address].on(Code.HEART_BEAT, reply())
            peers[address].on(Code.UNREGISTER_CLIENT, reply())
            peers[address].on(Code.SEND_MESSAGE_V2, send_response)
            peers[address].on(Code.SEND_BATCH_MESSAGE, send_response)
            peers[address].on(Code.END_TRANSACTION, None)
        fixed: dict[str, Any] = {"namesrv_addr": NS, "client_ip": "1.1.1.1", "instance_name": "i"}
        config = ClientConfig(**{**fixed, **(client or {})})
        async with (
            open_client(config, environment={}, connect=network.connect) as instance,
            open_producer(
                instance, "pg", ProducerConfig(**settings), check=check, chance=Random(1)
            ) as producer,
        ):
            yield World(instance, producer, peers, network)
