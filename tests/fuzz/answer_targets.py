"""Fuzz targets of the clients: with any answers, callers get errors of the library and consumers continue."""

import inspect
import threading
from collections.abc import Callable, Container, Iterator
from contextlib import suppress
from functools import partial
from typing import Any, Final, Self, TypeAlias, cast

import trio
from trio.testing import MockClock

from rocketwire import client
from rocketwire.client import ClientInstance, LitePullConsumer, Message
from rocketwire.client.admin.admin import Admin, open_admin
from rocketwire.codes import RequestCode as Code
from rocketwire.codes import ResponseCode
from rocketwire.errors import EncodeError, RocketWireError
from rocketwire.messages.enums import MessageRequestMode
from rocketwire.messages.message_queue import MessageQueue
from rocketwire.messages.operations.model import ArrayOf, Raw
from rocketwire.messages.operations.registry import OPERATIONS
from rocketwire.testing import MemoryNetwork, reply
from rocketwire.wire.command import RemotingCommand, encode
from rocketwire.wire.message.stored import StoredMessage, encode_stored_message
from tests.fuzz.broker_requests import BrokerRequests
from tests.fuzz.chance import Chance
from tests.fuzz.server_targets import raising
from tests.support.fakes.consumer_fakes import FLAVOURS, PULLS, consumer, script
from tests.support.fakes.storing_cluster import BROKER, NS, StoringCluster, connect

Call: TypeAlias = "Callable[[], Any]"

CODES: Final = (*ResponseCode, 77)
STORED: Final = encode_stored_message(
    StoredMessage(topic="orders", body=b"x", properties={"TAGS": "t", "UNIQ_KEY": "k"})
)
BODIES: Final = (None, b"", b"null", b'""', b"{}", b"[]", b"x")
CALLS: Final = 20
"""Calls of an operator in one run."""
VALUES: Final[dict[str, Any]] = {
    "address": BROKER,
    "broker": BROKER,
    "cluster": None,
    "source": BROKER,
    "target": BROKER,
    "broker_name": "b",
    "topic": "orders",
    "offset_msg_id": "0A00000200002A9F0000000000000010",
    "msg_id": "0A00000200002A9F0000000000000010",
    "queue": MessageQueue(topic="orders", broker_name="b", queue_id=0),
    "message": StoredMessage(topic="orders", body=b"x"),
    "values": {"a": "b"},
    "brokers": ("b",),
    "broker_names": ("b",),
    "mode": MessageRequestMode.POP,
}
"""Arguments by name."""
SIMPLE: Final = {"int": 1, "str": "g"}
"""Arguments by type; calls with further ones are left out."""
MISSING: Final = object()
PARTS_OF_CALLS: Final = ("ask", "body_of", "change", "fetch", "read_from")
ALL: Final = range(1 << 20)


class Answers(BrokerRequests):
    def to(self, request: RemotingCommand) -> RemotingCommand:
        chance, operation = self._chance, OPERATIONS.get(request.code)
        answer = reply(
            code=chance.choice(CODES) if chance.one_in(3) else ResponseCode.SUCCESS,
            remark=chance.maybe(chance.text),
            ext_fields=self._fields(None if operation is None else operation.response_header),
            body=self._answer_body(request.code),
        )
        try:
            encode(answer)
        except EncodeError:
            return reply()
        return answer

    def _answer_body(self, code: int) -> bytes | None:
        chance = self._chance
        form = OPERATIONS[code].response_body if code in OPERATIONS else None
        if chance.one_in(4):
            return chance.choice(BODIES)
        if code in PULLS or form in {Raw.STORED_MESSAGE, Raw.STORED_MESSAGES}:
            stored = STORED * (1 + chance.below(3))
            return chance.damage(stored) if chance.below(2) else stored
        body = self._body(code, getattr(form, "element", form))
        return b"[%b]" % body if body and isinstance(form, ArrayOf) else body


class OddCluster:
    def __init__(
        self, data: bytes, odd_count: int, *, first: Container[int] = ALL, may_lose: bool = False
    ) -> None:
        self.chance = Chance(data)
        #: set when a consumer asks for messages after the odd answers
        self.is_asked_again = threading.Event()
        self._answers = Answers(self.chance)
        self._odd_count = odd_count
        self._first = first
        self._may_lose = may_lose
        self._replies: dict[int, Any] = {}

    def on(self, code: int, answer: object) -> None:
        self._replies[code] = answer

    def peer(self, _: str) -> Self:
        return self

    def install(self, network: MemoryNetwork) -> None:
        script(cast("MemoryNetwork", self))
        for address in (NS, BROKER):
            for code in (*OPERATIONS, *self._replies):
                network.peer(address).on(code, self._answer)

    async def _answer(self, request: RemotingCommand) -> RemotingCommand | None:
        # most routes are right, or clients would send no other request
        is_route = request.code == Code.GET_ROUTEINFO_BY_TOPIC
        if (
            self._odd_count
            and request.code in self._first
            and not (is_route and self.chance.below(3))
        ):
            self._odd_count -= 1
            is_lost = self._may_lose and self.chance.one_in(12)
            return None if is_lost else self._answers.to(request)
        if request.code in PULLS and not self._odd_count:
            self.is_asked_again.set()
        answer_ = self._replies.get(request.code, reply(code=ResponseCode.SYSTEM_ERROR))
        answer = answer_(request) if callable(answer_) else answer_
        return cast("RemotingCommand", await answer if inspect.isawaitable(answer) else answer)

    @property
    def storing(self) -> StoringCluster:
        return cast("StoringCluster", self)


def _calls_of(admin: Any, chance: Chance) -> Iterator[Call]:
    parts = [item for item in vars(Admin(cast("Any", None))).items() if item[0] != "client"]
    for _ in range(CALLS):
        label, part = chance.choice(parts)
        names = [
            name
            for name, _ in inspect.getmembers(cast("Any", type(part)), inspect.iscoroutinefunction)
            if name[0] != "_" and name not in PARTS_OF_CALLS
        ]
        name = chance.choice(names)
        parameters = inspect.signature(getattr(part, name)).parameters.values()
        needed = {
            parameter.name: VALUES.get(
                parameter.name, SIMPLE.get(str(parameter.annotation), MISSING)
            )
            for parameter in parameters
            if parameter.default is parameter.empty and parameter.kind is not parameter.VAR_KEYWORD
        }
        if MISSING not in needed.values():
            yield partial(getattr(getattr(admin, label), name), **needed)


def _sends_of(producer: Any) -> Iterator[Call]:
    message = Message("orders", b"x", keys="k")
    yield lambda: producer.send(message)
    yield lambda: producer.send_oneway(message)
    yield lambda: producer.send_many([message, message])
    yield lambda: producer.send_batch([message, message])
    yield lambda: producer.send_ordered(message, "k")
    yield lambda: producer.queues("orders")
    yield lambda: producer.request(message, within=0.1)
    yield lambda: producer.recall("orders", "djEgb3JkZXJzIGIgMTcwMDAwMDAwMDAwMCBr")


def read_answers(data: bytes) -> None:
    with raising("rocketwire"):
        for role in (*FLAVOURS, "producer", "admin"):
            seed = data + role.encode()
            first = PULLS if role in FLAVOURS and Chance(seed).below(2) else ALL
            cluster = OddCluster(seed, 30, first=first, may_lose=True)
            trio.run(_use, role, cluster, clock=MockClock(autojump_threshold=0))


async def _use(role: str, cluster: OddCluster) -> None:
    async with connect(cluster.storing) as instance:
        if role == "admin":
            async with open_admin(instance) as admin:
                await _await_each(_calls_of(admin, cluster.chance))
        elif role == "producer":
            async with client.open_producer(instance, "g") as producer:
                await _await_each(_sends_of(producer))
        else:
            await _consume(role, instance, cluster)


async def _consume(flavour: str, instance: ClientInstance, cluster: OddCluster) -> None:
    is_open = False
    try:
        async with consumer(flavour, instance) as opened:
            is_open = True
            with trio.fail_after(3600):
                while not cluster.is_asked_again.is_set():
                    await trio.sleep(1)
                    if isinstance(opened, LitePullConsumer):
                        await opened.poll(within=1)  # it pulls no more while messages wait
    except RocketWireError:
        if is_open:
            raise


async def _await_each(calls: Iterator[Call]) -> None:
    for call in calls:
        with suppress(RocketWireError):
            await call()


def seed_answers() -> list[bytes]:
    return [bytes((number,)) for number in range(2)]
