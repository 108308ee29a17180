"""A broker without sockets: clients whose requests are handled at once, and a clock that tests move."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

from rocketwire.messages import encode_body
from rocketwire.wire.command import CommandDecoder, RemotingCommand, encode
from rocketwire.wire.message.host import Host
from rocketwire.wire.message.lazy_reader import StoredMessageReader
from rocketwire.wire.message.properties import encode_properties
from rocketwire.wire.message.stored import StoredMessage
from rocketwire_broker.config import Config
from rocketwire_broker.protocol.session import Session
from rocketwire_broker.state.broker import Broker
from rocketwire_broker.tables.members import Peer
from rocketwire_broker.tables.topics import new_topic

START = 1_700_000_000_000
"""Time of the start, in milliseconds since 1970."""


class BrokerAtHand:
    """A broker, its clients, and the time.

    The topic ``orders`` has that many queues; with 0 it does not exist yet.
    """

    def __init__(self, *, orders: int = 0, **settings: Any) -> None:
        self.now = START  # ``pass_time`` moves it
        self.broker = Broker(Config(**settings), self.now)
        if orders:
            self.broker.topics.put(new_topic("orders", orders), self.now)
        self._clients: list[Client] = []

    def connect(self) -> "Client":
        client = Client(self, len(self._clients) + 1)
        self._clients.append(client)
        return client

    def settle(self) -> None:
        self.broker.settle(self.now)
        for number in list(self.broker.outbox):
            client = self._clients[number - 1]
            frames, client.peer.out = client.peer.out, []
            client.peer.unsent = 0
            client.take(b"".join(frames))
        self.broker.outbox.clear()

    def pass_time(self, milliseconds: int) -> None:
        end = self.now + milliseconds
        while (due := self.broker.schedule.next_due) is not None and due <= end:
            self.now = max(self.now, due)
            self.settle()
        self.now = end


class Requests(ABC):
    born_timestamp = START  # time of sending that messages have, in milliseconds

    @abstractmethod
    def ask(
        self, code: int, ext: Mapping[str, object] | None = None, body: object = None, flag: int = 0
    ) -> int:
        """Send a request; return its number."""

    @abstractmethod
    def answer_to(self, opaque: int) -> RemotingCommand | None:
        """Take the answer to a request; None if there is none."""

    def call(
        self, code: int, ext: Mapping[str, object] | None = None, body: object = None
    ) -> RemotingCommand:
        """Send a request and return its answer, which must come at once."""
        answer = self.answer_to(self.ask(code, ext, body))
        assert answer is not None, f"no answer to {code}"
        return answer

    def take_answer(self, opaque: int) -> RemotingCommand:
        answer = self.answer_to(opaque)
        assert answer is not None
        return answer

    def send(
        self,
        topic: str = "orders",
        body: bytes = b"body",
        *,
        queue: int = 0,
        properties: Mapping[str, str | None] | None = None,
        code: int = 310,
        **changes: object,
    ) -> RemotingCommand:
        fields: dict[str, object] = {
            "a": "producers",
            "b": topic,
            "c": "TBW102",
            "d": 4,
            "e": queue,
            "f": 0,
            "g": self.born_timestamp,
            "h": 0,
            "i": encode_properties(properties or {}),
            "j": 0,
            "k": False,
            "m": False,
        }
        return self.call(code, {**fields, **changes}, body)

    def pull(
        self,
        offset: int = 0,
        topic: str = "orders",
        *,
        queue: int = 0,
        count: int = 32,
        hold: int = 0,
        tags: str = "*",
        **changes: object,
    ) -> int:
        """Ask for messages, with an own subscription; return the request's number.

        ``hold`` is the time in milliseconds for which the broker may keep the request.
        """
        fields: dict[str, object] = {
            "consumerGroup": "readers",
            "topic": topic,
            "queueId": queue,
            "queueOffset": offset,
            "maxMsgNums": count,
            "sysFlag": 6 if hold else 4,
            "commitOffset": 0,
            "suspendTimeoutMillis": hold,
            "subVersion": 0,
            "subscription": tags,
        }
        return self.ask(11, {**fields, **changes})

    def pull_now(self, offset: int = 0, topic: str = "orders", **settings: Any) -> RemotingCommand:
        """Ask for messages, and return the answer, which must come at once."""
        return self.take_answer(self.pull(offset, topic, **settings))


class Client(Requests):
    def __init__(self, home: BrokerAtHand, number: int) -> None:
        address = f"127.0.0.1:{40_000 + number}"
        self.peer = Peer(number, address, Host.parse(address))
        # answers and requests that were not returned by ``call``, in order
        self.received: list[RemotingCommand] = []
        self._home = home
        self._session = Session(home.broker, self.peer)
        self._decoder = CommandDecoder()
        self._opaque = 0
        self.born_timestamp = home.now
        home.broker.add_peer(self.peer)

    def take(self, data: bytes) -> None:
        self._decoder.feed(data)
        while (command := self._decoder.next_command()) is not None:
            self.received.append(command)

    def ask(
        self, code: int, ext: Mapping[str, object] | None = None, body: object = None, flag: int = 0
    ) -> int:
        self._opaque += 1
        self.send_bytes(frame(code, self._opaque, ext, body, flag))
        return self._opaque

    def send_bytes(self, data: bytes) -> None:
        self._session.receive(data, self._home.now)
        self._home.settle()

    def answer_to(self, opaque: int) -> RemotingCommand | None:
        for index, command in enumerate(self.received):
            if command.is_response and command.opaque == opaque:
                return self.received.pop(index)
        return None

    def requests(self) -> list[RemotingCommand]:
        requests = [command for command in self.received if not command.is_response]
        self.received = [command for command in self.received if command.is_response]
        return requests

    def respond(self, request: RemotingCommand, code: int = 0, body: bytes | None = None) -> None:
        self.send_bytes(
            encode(RemotingCommand(code=code, opaque=request.opaque, flag=1, body=body))
        )

    def close(self) -> None:
        self._home.broker.remove_peer(self.peer, self._home.now)
        self._home.settle()


def frame(
    code: int, opaque: int, ext: Mapping[str, object] | None, body: object, flag: int = 0
) -> bytes:
    """The bytes of a request; a body may be bytes or a typed value."""
    fields = None if ext is None else {name: _text(value) for name, value in ext.items()}
    data = body if body is None or isinstance(body, bytes) else encode_body(body)
    command = RemotingCommand(code=code, opaque=opaque, flag=flag, ext_fields=fields, body=data)
    return encode(command)


def fields_of(answer: RemotingCommand) -> Mapping[str, str]:
    return answer.ext_fields or {}


def messages(answer: RemotingCommand) -> list[StoredMessage]:
    return list(StoredMessageReader().decode(answer.body or b""))


def bodies(answer: RemotingCommand) -> list[bytes]:
    return [message.body or b"" for message in messages(answer)]


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
