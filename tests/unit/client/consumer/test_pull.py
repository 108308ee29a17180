"""Pulls of one queue: their requests, the reading of their responses, and when they end."""

import sys
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias, cast

import pytest
import trio

from rocketwire.client.config import ClientConfig
from rocketwire.client.consumer.pull import (
    SLAVE_AVOIDED,
    NextPull,
    PullCalls,
    PullRequest,
    PullResult,
    PullStatus,
    build_pull_header,
)
from rocketwire.client.instance.instance import ClientInstance
from rocketwire.client.instance.routes import BrokerAddress, Routes
from rocketwire.codes import RequestCode, ResponseCode, SerializeType
from rocketwire.errors import BrokerError, DecodeError, MissingPackageError, RequestTimeoutError
from rocketwire.flags import MessageSysFlag
from rocketwire.messages import decode_header, encode_header
from rocketwire.messages.message_queue import MessageQueue
from rocketwire.messages.pull import PullMessageResponseHeader
from rocketwire.messages.route import BrokerData, TopicRouteData
from rocketwire.policy.subscription import subscription_data
from rocketwire.transport.channel import NextRequest
from rocketwire.wire.command import RemotingCommand, decode, encode
from rocketwire.wire.message.body_compression import CompressionType
from rocketwire.wire.message.stored import StoredMessage, encode_stored_message
from rocketwire.wire.request_template import PreparedRequest

QUEUE = MessageQueue(topic="T", broker_name="b", queue_id=3)
ALL = subscription_data("T", version=5)
FIRST = PullRequest(queue=QUEUE, offset=0, group="g", subscription=ALL, max_msg_bytes=262_144)
STORED = encode_stored_message(StoredMessage(topic="T", body=b"x", properties={"TAGS": "a"}))
FOUND = int(ResponseCode.SUCCESS)
Fields: TypeAlias = "dict[str, str] | None"


@dataclass
class Instance:
    """A client with one broker, which records its requests.

    Attributes:
        knows_address: whether the client has the address without a lookup.
        silent_address: an address that does not respond.
        answers_once: whether no request follows on the same channel.
        codes, bodies, headers: of the first responses; later ones have ``code`` and ``body``.
    """

    config: ClientConfig = field(default_factory=lambda: ClientConfig(namesrv_addr="n:9876"))
    broker_id: int = 0
    knows_address: bool = True
    silent_address: str | None = None
    answers_once: bool = False
    code: int = ResponseCode.PULL_NOT_FOUND
    body: bytes = STORED
    codes: list[int] = field(default_factory=list[int])
    bodies: list[bytes] = field(default_factory=list[bytes])
    headers: list[Fields] = field(default_factory=list[Fields])

    def __post_init__(self) -> None:
        self.pool = self
        self.requests: list[tuple[int, dict[str, str]]] = []
        self.addresses: list[str] = []
        self.calls = PullCalls(cast("ClientInstance", self))

    @property
    def routes(self) -> Routes:
        routes = Routes()
        if self.knows_address:
            addresses = {0: "b:10911", 1: "b:10912"}
            broker = BrokerData(broker_name="b", broker_addrs=addresses)
            routes.put("T", TopicRouteData(broker_datas=(broker,)))
        return routes

    async def route(self, topic: str) -> TopicRouteData:
        return TopicRouteData()

    async def replica(self, _: str, broker_id: int, *, topic: str | None) -> BrokerAddress:
        assert topic == "T"
        assert not self.knows_address
        return BrokerAddress("b:10911", broker_id)

    async def request_by(
        self,
        address: str,
        request: RemotingCommand | PreparedRequest,
        *,
        follow: NextRequest | None = None,
        **__: float,
    ) -> RemotingCommand:
        self.addresses.append(address)
        if address == self.silent_address:
            raise RequestTimeoutError(address, RequestCode.PULL_MESSAGE, 30)
        response = self._respond(request)
        if follow is not None and not self.answers_once:
            while (following := follow(response)) is not None:
                response = self._respond(following)
        return response

    def _respond(self, request: RemotingCommand | PreparedRequest) -> RemotingCommand:
        data = request.frame(1) if isinstance(request, PreparedRequest) else encode(request)
        command = decode(data)
        assert (command.body, command.flag) == (None, 0)
        self.requests.append((command.code, dict(command.ext_fields or {})))
        header = PullMessageResponseHeader(
            suggest_which_broker_id=self.broker_id, next_begin_offset=7, min_offset=0, max_offset=9
        )
        code = self.codes.pop(0) if self.codes else self.code
        body = self.bodies.pop(0) if self.bodies else self.body
        fields = self.headers.pop(0) if self.headers else encode_header(header)
        return RemotingCommand(
            code=code, remark="why", ext_fields=fields, body=body if code == FOUND else None
        )


@pytest.mark.parametrize("form", SerializeType)
async def test_each_pull_has_its_own_header(form: SerializeType) -> None:
    instance = Instance(ClientConfig(namesrv_addr="n:9876", serialize_type=form))
    tags = subscription_data("T", "a || b", version=6)
    changes: list[dict[str, Any]] = [
        *({}, {"offset": 32}, {"offset": 64, "commit_offset": 32}),
        *({"offset": 2**63 - 1, "commit_offset": 64}, {"offset": 96}),
        {"offset": 128, "subscription": tags, "send_subscription": True},
        {"offset": 160, "subscription": tags, "suspend_timeout": 0.0},
        {"offset": 192, "lite": True},
        {"offset": 224, "group": "h", "max_msg_nums": 1, "max_msg_bytes": None},
        *({"offset": 1, "queue": replace(QUEUE, queue_id=4)}, {"offset": 256}),
    ]
    for change in changes:
        request = replace(FIRST, **change)
        result = await instance.calls.pull(request)
        assert (result.status, result.next_begin_offset) == (PullStatus.NO_NEW_MSG, 7)
        expected = encode_header(build_pull_header(request, to_slave=False), serialize_type=form)
        code = RequestCode.LITE_PULL_MESSAGE if request.lite else RequestCode.PULL_MESSAGE
        assert instance.requests[-1] == (code, expected)


async def test_a_pull_from_a_slave_commits_no_offset() -> None:
    instance = Instance(broker_id=1)
    request = replace(FIRST, commit_offset=5)
    for to_slave in (False, True, False):
        await instance.calls.pull(request)
        expected = encode_header(build_pull_header(request, to_slave=to_slave))
        assert instance.requests[-1][1] == expected
        if to_slave:
            instance.calls.forget(QUEUE)


class Taker:
    """Takes results, and requests a limited number of further pulls."""

    def __init__(self, limit: int = 9) -> None:
        self.limit = limit
        self.results: list[PullResult] = []

    def take(self, result: PullResult) -> NextPull | None:
        self.results.append(result)
        count = len(self.results)
        return (count, None) if count <= self.limit else None


@pytest.mark.parametrize("repeatedly", [False, True])
async def test_the_master_replaces_a_silent_slave(autojump_clock: object, repeatedly: bool) -> None:
    instance = Instance(broker_id=1, silent_address="b:10912")
    calls = instance.calls

    async def pull(queue: MessageQueue) -> None:
        request = replace(FIRST, queue=queue)
        await (calls.pull_repeatedly(request, Taker(0).take) if repeatedly else calls.pull(request))

    await pull(QUEUE)
    with pytest.raises(RequestTimeoutError):
        await pull(QUEUE)
    for queue in (QUEUE, QUEUE, replace(QUEUE, queue_id=4), replace(QUEUE, queue_id=4)):
        await pull(queue)
    assert instance.addresses == ["b:10911", "b:10912", *["b:10911"] * 4]
    await trio.sleep(SLAVE_AVOIDED)
    with pytest.raises(RequestTimeoutError):
        await pull(QUEUE)


@pytest.mark.parametrize("name", ["b", "__syslo__T", "b%\0?\0"])
async def test_an_unknown_broker_is_looked_up(name: str) -> None:
    instance = Instance(knows_address=False)
    request = replace(FIRST, queue=replace(QUEUE, broker_name=name))
    assert (await instance.calls.pull(request)).max_offset == 9
    expected = encode_header(build_pull_header(request, to_slave=False))
    assert instance.requests[-1][1] == expected


async def test_an_unknown_response_code_is_a_broker_error() -> None:
    instance = Instance(code=ResponseCode.FLOW_CONTROL)
    with pytest.raises(BrokerError) as refused:
        await instance.calls.pull(FIRST)
    assert (refused.value.code, refused.value.remark) == (ResponseCode.FLOW_CONTROL, "why")


async def test_pulls_continue_until_no_message_is_found() -> None:
    instance, taker = Instance(codes=[FOUND, FOUND]), Taker()
    result = await instance.calls.pull_repeatedly(FIRST, taker.take)
    assert result is not None
    assert result.status is PullStatus.NO_NEW_MSG
    assert [fields["queueOffset"] for _, fields in instance.requests] == ["0", "1", "2"]
    assert [result.messages[0].body for result in taker.results] == [b"x", b"x"]


@pytest.mark.parametrize(
    ("settings", "limit", "pulls"),
    [({}, 2, 3), ({"broker_id": 1}, 2, 1), ({"answers_once": True}, 9, 1)],
    ids=["limit", "another broker", "no request can follow"],
)
async def test_the_last_result_is_taken(settings: dict[str, Any], limit: int, pulls: int) -> None:
    instance, taker = Instance(code=FOUND, **settings), Taker(limit)
    assert await instance.calls.pull_repeatedly(FIRST, taker.take) is None
    assert len(taker.results) == len(instance.requests) == pulls


async def test_pulls_end_when_addresses_have_changed() -> None:
    instance, taker = Instance(code=FOUND), Taker()

    def take(result: PullResult) -> NextPull | None:
        instance.knows_address = False
        return taker.take(result)

    assert await instance.calls.pull_repeatedly(FIRST, take) is None
    assert len(taker.results) == len(instance.requests) == 1


@pytest.mark.parametrize("tags", ["*", "a", "b"])
async def test_the_size_of_bodies_is_known_if_no_message_was_filtered(tags: str) -> None:
    second = StoredMessage(topic="T", body=b"yy", properties={"TAGS": "b"}, queue_offset=1)
    instance = Instance(code=FOUND, body=STORED + encode_stored_message(second))
    request = replace(FIRST, subscription=subscription_data("T", tags, version=6))
    sizes = [(await instance.calls.pull(request)).body_size for _ in range(2)]
    assert sizes == [3 if tags == "*" else None] * 2


async def test_a_response_without_matching_tags_ends_the_pulls() -> None:
    instance, taker = Instance(code=FOUND), Taker()
    tags = replace(FIRST, subscription=subscription_data("T", "b", version=6))
    result = await instance.calls.pull_repeatedly(tags, taker.take)
    assert result is not None
    assert (result.status, result.messages, taker.results) == (PullStatus.FOUND, [], [])


async def test_an_unreadable_response_is_skipped_by_the_next_pull() -> None:
    instance, taker = Instance(code=FOUND, bodies=[STORED], body=STORED[:-1]), Taker()
    result = await instance.calls.pull_repeatedly(FIRST, taker.take)
    assert len(taker.results) == 1
    assert result is not None
    assert (result.messages, len(result.unreadable)) == ([], 1)
    assert FIRST.offset < result.next_begin_offset


async def test_a_package_that_is_missing_ends_the_pulls(monkeypatch: pytest.MonkeyPatch) -> None:
    flags = int(MessageSysFlag.COMPRESSED | CompressionType.LZ4.sys_flag)
    packed = encode_stored_message(StoredMessage(topic="T", body=b"lz4", sys_flag=flags))
    monkeypatch.setitem(sys.modules, "lz4.frame", None)
    with pytest.raises(MissingPackageError, match=r"rocketwire\[compression\]"):
        await Instance(code=FOUND, body=packed).calls.pull_repeatedly(FIRST, Taker().take)


HEADER = {
    "suggestWhichBrokerId": "0",
    "nextBeginOffset": "1",
    "minOffset": "0",
    "maxOffset": "9",
    "topicSysFlag": "0",
}
HEADERS: tuple[Fields, ...] = (
    HEADER,
    {**HEADER, "nextBeginOffset": "33", "maxOffset": "100"},
    {**HEADER, "nextBeginOffset": "33", "minOffset": "5"},
    {**HEADER, "nextBeginOffset": str(2**63 - 1), "maxOffset": str(2**63 - 1)},
    {**HEADER, "nextBeginOffset": "-1", "maxOffset": "+7"},
    {**HEADER, "nextBeginOffset": "\u0663"},
    {**HEADER, "nextBeginOffset": ""},
    {**HEADER, "maxOffset": "x"},
    {**HEADER, "maxOffset": str(2**63)},
    {**HEADER, "topicSysFlag": "x"},
    {name: text for name, text in HEADER.items() if name != "maxOffset"},
    {},
    None,
)


@pytest.mark.parametrize("previous", [HEADER, HEADERS[2], None])
@pytest.mark.parametrize("fields", HEADERS)
async def test_each_response_is_read_from_its_own_header(previous: Fields, fields: Fields) -> None:
    calls = Instance(headers=[previous, fields, previous]).calls
    first = await calls.pull(FIRST)

    try:
        header = decode_header(PullMessageResponseHeader, fields)
    except DecodeError:
        with pytest.raises(DecodeError):
            await calls.pull(FIRST)
    else:
        result = await calls.pull(FIRST)
        assert result.next_begin_offset == (header.next_begin_offset or 0)
        assert result.min_offset == (header.min_offset or 0)
        assert result.max_offset == (header.max_offset or 0)
    assert await calls.pull(FIRST) == first
