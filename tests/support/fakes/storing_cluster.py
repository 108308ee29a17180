"""A name server and a broker in memory that keep what is sent to them, and lose what a test wants."""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager

from rocketwire.client import ClientConfig, ClientInstance, open_client
from rocketwire.codes import RequestCode as Code
from rocketwire.codes import ResponseCode
from rocketwire.messages import encode_header
from rocketwire.messages.offsets import GetMaxOffsetResponseHeader, GetMinOffsetResponseHeader
from rocketwire.messages.pull import PullMessageResponseHeader
from rocketwire.messages.route import BrokerData, QueueData, TopicRouteData
from rocketwire.messages.send import SendMessageResponseHeader
from rocketwire.testing import MemoryNetwork, ScriptedPeer, open_network, reply
from rocketwire.wire.checksum import crc32
from rocketwire.wire.command import RemotingCommand
from rocketwire.wire.message.properties import decode_properties
from rocketwire.wire.message.stored import StoredMessage, encode_stored_message
from rocketwire_tools.store.replaying.outgoing import NO_BATCH, ReplayMessage

NS, BROKER = "10.0.0.1:9876", "10.0.0.2:10911"


def make_messages(count: int, topic: str = "orders", queues: int = 2) -> list[ReplayMessage]:
    return [
        ReplayMessage(
            physical_offset=100 * number,
            batch_index=NO_BATCH,
            topic=topic,
            queue_id=number % queues,
            queue_offset=number // queues,
            unique_key=f"k{number}",
            body=b"body %d" % number,
            born=1_700_000_000_000 + number,
            flag=number,
            sys_flag=0,
            properties=f"UNIQ_KEY\x01k{number}\x02TAGS\x01t\x02",
        )
        for number in range(count)
    ]


class StoringCluster:
    """A cluster in memory.

    Attributes:
        topics: topic → number of its queues.
        queues: topic and queue id → its messages.
        broker_id: of the broker; 0 is a master.
        before_store, after_store: return a response to a send in the place of the usual one,
            ``LOST`` for none, or None; the message is stored between them.
        undispatched: questions for the end of a queue that are answered before its last message can
            be pulled.
        first: smallest offset of each queue; earlier messages are deleted.
    """

    LOST = reply(code=-1)

    def __init__(self, **topics: int) -> None:
        self.topics = topics
        self.queues: dict[tuple[str, int], list[StoredMessage]] = {
            (topic, queue): [] for topic, count in topics.items() for queue in range(count)
        }
        self.name = "c"
        self.perm = 6
        self.broker_id = 0
        self.before_store: Callable[[str], RemotingCommand | None] = lambda _: None
        self.after_store: Callable[[str], RemotingCommand | None] = lambda _: None
        self.sends: list[str] = []
        self.undispatched = 0
        self.first = 0

    def install(self, network: MemoryNetwork) -> None:
        name_server, broker = network.peer(NS), network.peer(BROKER)
        name_server.on(Code.GET_ROUTEINFO_BY_TOPIC, self._route)
        broker.on(Code.HEART_BEAT, reply())
        broker.on(Code.UNREGISTER_CLIENT, reply())
        broker.on(Code.SEND_MESSAGE_V2, self.send)
        broker.on(Code.GET_MAX_OFFSET, self._end)
        broker.on(
            Code.GET_MIN_OFFSET, lambda _: reply(GetMinOffsetResponseHeader(offset=self.first))
        )
        broker.on(Code.PULL_MESSAGE, self._pull)
        self.broker: ScriptedPeer = broker

    def keys(self, topic: str, queue_id: int) -> list[str]:
        return [
            str((message.properties or {}).get("UNIQ_KEY"))
            for message in self.queues[topic, queue_id]
        ]

    def _route(self, request: RemotingCommand) -> RemotingCommand:
        topic = (request.ext_fields or {})["topic"]
        if topic not in self.topics:
            return reply(code=ResponseCode.TOPIC_NOT_EXIST, remark=f"No topic {topic}")
        count = self.topics[topic]
        data = QueueData(
            broker_name="a", perm=self.perm, read_queue_nums=count, write_queue_nums=count
        )
        broker = BrokerData(
            broker_name="a", cluster=self.name, broker_addrs={self.broker_id: BROKER}
        )
        return reply(body=TopicRouteData(broker_datas=(broker,), queue_datas=(data,)))

    def send(self, request: RemotingCommand) -> RemotingCommand | None:
        fields = request.ext_fields or {}
        properties = decode_properties(fields["i"])
        key = properties.get("UNIQ_KEY", "")
        self.sends.append(key)
        refusal = self.before_store(key)
        if refusal is not None:
            return None if refusal is self.LOST else refusal
        queue = self.queues[fields["b"], int(fields["e"])]
        queue.append(
            StoredMessage(
                topic=fields["b"],
                body=request.body,
                flag=int(fields["h"]),
                properties=properties,
                queue_id=int(fields["e"]),
                queue_offset=len(queue),
                sys_flag=int(fields["f"]),
                born_timestamp=int(fields["g"]),
                body_crc=crc32(request.body or b""),
            )
        )
        answer = self.after_store(key)
        if answer is not None:
            return None if answer is self.LOST else answer
        return reply(
            SendMessageResponseHeader(
                msg_id="0A00000200002A9F0000000000000010",
                queue_id=int(fields["e"]),
                queue_offset=len(queue) - 1,
            )
        )

    def _end(self, request: RemotingCommand) -> RemotingCommand:
        fields = request.ext_fields or {}
        end = len(self.queues[fields["topic"], int(fields["queueId"])])
        if fields.get("committed") != "false" and self.undispatched:
            self.undispatched -= 1
            end -= 1
        return reply(GetMaxOffsetResponseHeader(offset=end))

    def _pull(self, request: RemotingCommand) -> RemotingCommand:
        fields = request.ext_fields or {}
        queue = self.queues[fields["topic"], int(fields["queueId"])]
        offset = int(fields["queueOffset"])
        offset = max(offset, self.first)
        part = queue[offset : offset + int(fields["maxMsgNums"])]
        header = PullMessageResponseHeader(
            suggest_which_broker_id=0,
            next_begin_offset=offset + len(part),
            min_offset=0,
            max_offset=len(queue),
        )
        code = ResponseCode.SUCCESS if part else ResponseCode.PULL_NOT_FOUND
        body = b"".join(map(encode_stored_message, part))
        return reply(ext_fields=encode_header(header), body=body or None, code=code)


@asynccontextmanager
async def connect(cluster: StoringCluster) -> AsyncGenerator[ClientInstance]:
    config = ClientConfig(
        namesrv_addr=NS, client_ip="1.1.1.1", instance_name="i", mq_client_api_timeout=5.0
    )
    async with open_network() as network:
        cluster.install(network)
        async with open_client(config, environment={}, connect=network.connect) as instance:
            yield instance
