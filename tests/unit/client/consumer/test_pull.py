"""What a pull asks, from one pull of a queue to the next."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, cast

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
from rocketwire.client.instance.routes import BrokerAddress, Routes
from rocketwire.codes import RequestCode, ResponseCode, SerializeType
from rocketwire.errors import BrokerError, DecodeError, MissingPackageError, RequestTimeoutError
from rocketwire.flags import MessageSysFlag
from rocketwire.messages import decode_header, encode_header
from rocketwire.messages.message_queue import MessageQueue
from rocketwire.messages.pull import PullMessageResponseHeader
from rocketwire.messages.route import BrokerData, TopicRouteData
from rocketwire.policy.subscription import subscription_data
from rocketwire.wire.command import RemotingCommand, decode, encode
from rocketwire.wire.message.body_compression import CompressionType
from rocketwire.wire.message.stored import StoredMessage, encode_stored_message
from rocketwire.wire.request_template import PreparedRequest

if TYPE_CHECKING:
    from rocketwire.client.instance.instance import ClientInstance
    from rocketwire.transport.pending import NextRequest

QUEUE = MessageQueue(topic="T", broker_name="b", queue_id=3)
ALL = subscription_data("T", version=5)
FIRST = PullRequest(queue=QUEUE, offset=0, group="g", subscription=ALL, max_msg_bytes=262_144)


STORED = encode_stored_message(StoredMessage(topic="T", body=b"x", properties={"TAGS": "a"}))


@dataclass
class Instance:
    """Has one broker, which answers nothing but where to go on, and remembers what it was asked.

    ``is_known``: whether its address is, before somebody asks for it; ``codes``: of its first
    answers; ``hangs``: which of its addresses does not answer.
    """

    config: ClientConfig = field(default_factory=lambda: ClientConfig(namesrv_addr="n:9876"))
    broker_id: int = 0
    is_known: bool = True
    code: int = ResponseCode.PULL_NOT_FOUND
    codes: list[int] = field(default_factory=list[int])
    body: bytes = STORED
    hangs: str | None = None

    def __post_init__(self) -> None:
        self.pool = self
        self.asked: list[tuple[int, dict[str, str]]] = []
        self.addresses: list[str] = []

    def calls(self) -> PullCalls:
        return PullCalls(cast("ClientInstance", self))

    @property
    def routes(self) -> Routes:
        routes = Routes()
        if self.is_known:
            addresses = {0: "b:10911", 1: "b:10912"}
            broker = BrokerData(broker_name="b", broker_addrs=addresses)
            routes.put("T", TopicRouteData(broker_datas=(broker,)))
        return routes

    async def route(self, topic: str) -> TopicRouteData:
        return TopicRouteData()

    async def replica(self, _: str, broker_id: int, *, topic: str | None) -> BrokerAddress:
        assert topic == "T"
        assert not self.is_known
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
        if address == self.hangs:
            raise RequestTimeoutError(address, RequestCode.PULL_MESSAGE, 30)
        answer = self._answer(request)
        while follow is not None and (following := follow(answer)) is not None:
            answer = self._answer(following)
        return answer

    def _answer(self, request: RemotingCommand | PreparedRequest) -> RemotingCommand:
        data = request.frame(1) if isinstance(request, PreparedRequest) else encode(request)
        asked = decode(data)
        assert (asked.body, asked.flag) == (None, 0)
        self.asked.append((asked.code, dict(asked.ext_fields or {})))
        told = PullMessageResponseHeader(
            suggest_which_broker_id=self.broker_id, next_begin_offset=7, min_offset=0, max_offset=9
        )
        code = self.codes.pop(0) if self.codes else self.code
        found = RemotingCommand(code=code, remark="why", ext_fields=encode_header(told))
        return replace(found, body=self.body if code == ResponseCode.SUCCESS else None)


@pytest.mark.parametrize("form", SerializeType)
async def test_each_pull_says_what_its_header_says_whatever_the_one_before_said(
    form: SerializeType,
) -> None:
    instance = Instance(ClientConfig(namesrv_addr="n:9876", serialize_type=form))
    calls = instance.calls()
    tags = subscription_data("T", "a || b", version=6)
    requests = [
        FIRST,
        replace(FIRST, offset=32),
        replace(FIRST, offset=64, commit_offset=32),
        replace(FIRST, offset=2**63 - 1, commit_offset=64),
        replace(FIRST, offset=96),
        replace(FIRST, offset=128, subscription=tags, send_subscription=True),
        replace(FIRST, offset=160, subscription=tags, suspend_timeout=0.0),
        replace(FIRST, offset=192, lite=True),
        replace(FIRST, offset=224, group="h", max_msg_nums=1, max_msg_bytes=None),
        replace(FIRST, offset=1, queue=replace(QUEUE, queue_id=4)),
        replace(FIRST, offset=256),
    ]
    for request in requests:
        result = await calls.pull(request)
        assert (result.status, result.next_begin_offset) == (PullStatus.NO_NEW_MSG, 7)
        expected = encode_header(build_pull_header(request, to_slave=False), serialize_type=form)
        code, fields = instance.asked[-1]
        assert fields == expected
        assert code == (RequestCode.LITE_PULL_MESSAGE if request.lite else RequestCode.PULL_MESSAGE)


async def test_a_slave_is_told_no_offsets_once_it_was_suggested() -> None:
    instance = Instance(broker_id=1)
    calls = instance.calls()
    request = replace(FIRST, commit_offset=5)
    for to_slave in (False, True):
        await calls.pull(request)
        assert instance.asked[-1][1] == encode_header(build_pull_header(request, to_slave=to_slave))
    calls.forget(QUEUE)
    await calls.pull(request)
    assert instance.asked[-1][1] == encode_header(build_pull_header(request, to_slave=False))


@pytest.mark.parametrize("one_by_one", [True, False])
async def test_the_master_replaces_a_silent_slave_for_a_while(
    autojump_clock: object, *, one_by_one: bool
) -> None:
    instance = Instance(broker_id=1, hangs="b:10912")
    calls = instance.calls()

    async def pull(queue: MessageQueue) -> None:
        request = replace(FIRST, queue=queue)
        await (calls.pull(request) if one_by_one else calls.pull_repeatedly(request, Taker(0).take))

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
async def test_whose_address_is_not_known_is_asked_for(name: str) -> None:
    instance = Instance(is_known=False)
    request = replace(FIRST, queue=replace(QUEUE, broker_name=name))
    assert (await instance.calls().pull(request)).max_offset == 9
    assert instance.asked[-1][1] == encode_header(build_pull_header(request, to_slave=False))


async def test_an_answer_that_is_no_status_is_an_error_of_the_broker() -> None:
    instance = Instance(code=ResponseCode.FLOW_CONTROL)
    with pytest.raises(BrokerError) as refused:
        await instance.calls().pull(FIRST)
    assert (refused.value.code, refused.value.remark) == (ResponseCode.FLOW_CONTROL, "why")


class Taker:
    """Takes what was found, and wants so many pulls more."""

    def __init__(self, more: int) -> None:
        self.more = more
        self.taken: list[PullResult] = []

    def take(self, result: PullResult) -> NextPull | None:
        self.taken.append(result)
        self.more -= 1
        return (len(self.taken), None) if self.more >= 0 else None


FOUND = int(ResponseCode.SUCCESS)


async def test_pulls_follow_each_other_until_nothing_is_found() -> None:
    instance = Instance(codes=[FOUND, FOUND])
    taker = Taker(more=9)
    result = await instance.calls().pull_repeatedly(FIRST, taker.take)

    assert result is not None
    assert result.status is PullStatus.NO_NEW_MSG
    assert [fields["queueOffset"] for _, fields in instance.asked] == ["0", "1", "2"]
    assert [one.messages[0].body for one in taker.taken] == [b"x", b"x"]


@pytest.mark.parametrize(("broker_id", "pulls"), [(0, 3), (1, 1)])
async def test_pulls_end_where_no_more_is_wanted_or_another_is_to_be_asked(
    broker_id: int, pulls: int
) -> None:
    instance = Instance(broker_id=broker_id, code=FOUND)
    taker = Taker(more=2)

    assert await instance.calls().pull_repeatedly(FIRST, taker.take) is None
    assert len(taker.taken) == len(instance.asked) == pulls


@pytest.mark.parametrize("tags", ["*", "a", "b"])
async def test_the_size_of_bodies_is_known_if_no_message_was_filtered(tags: str) -> None:
    properties = {"TAGS": "b"}
    behind = StoredMessage(topic="T", body=b"yy", properties=properties, queue_offset=1)
    other = encode_stored_message(behind)
    instance = Instance(code=FOUND, body=STORED + other)
    calls = instance.calls()
    request = replace(FIRST, subscription=subscription_data("T", tags, version=6))

    sizes = [(await calls.pull(request)).body_size for _ in range(2)]
    assert sizes == [3 if tags == "*" else None] * 2


async def test_where_addresses_have_changed_who_is_asked_is_looked_up_anew() -> None:
    instance = Instance(code=FOUND)
    taker = Taker(more=9)

    def take(result: PullResult) -> NextPull | None:
        instance.is_known = False
        return taker.take(result)

    assert await instance.calls().pull_repeatedly(FIRST, take) is None
    assert len(taker.taken) == len(instance.asked) == 1


async def test_what_holds_nothing_that_is_wanted_is_for_whoever_pulls() -> None:
    instance = Instance(code=FOUND)
    taker = Taker(more=2)
    tags = replace(FIRST, subscription=subscription_data("T", "b", version=6))
    result = await instance.calls().pull_repeatedly(tags, taker.take)

    assert result is not None
    assert (result.status, result.messages, taker.taken) == (PullStatus.FOUND, [], [])


async def test_an_unreadable_response_is_logged_and_skipped_by_the_next_pull() -> None:
    instance = Instance(code=FOUND)
    taker = Taker(more=9)

    def take(result: PullResult) -> NextPull | None:
        instance.body = STORED[:-1]
        return taker.take(result)

    result = await instance.calls().pull_repeatedly(FIRST, take)

    assert len(taker.taken) == 1
    assert result is not None
    assert (result.messages, len(result.unreadable)) == ([], 1)
    assert FIRST.offset < result.next_begin_offset


async def test_a_package_that_is_missing_ends_the_pulls(monkeypatch: pytest.MonkeyPatch) -> None:
    flags = int(MessageSysFlag.COMPRESSED | CompressionType.LZ4.sys_flag)
    packed = encode_stored_message(StoredMessage(topic="T", body=b"lz4", sys_flag=flags))
    instance = Instance(code=FOUND, body=packed)
    monkeypatch.setitem(sys.modules, "lz4.frame", None)

    with pytest.raises(MissingPackageError, match=r"rocketwire\[compression\]"):
        await instance.calls().pull_repeatedly(FIRST, Taker(more=9).take)


async def test_where_nothing_may_follow_an_answer_the_one_who_pulls_takes_it() -> None:
    instance = Instance(code=FOUND)
    taker, follows = Taker(more=9), instance.request_by

    async def alone(address: str, request: PreparedRequest, **_: float) -> RemotingCommand:
        return await follows(address, request)

    instance.request_by = alone  # type: ignore[method-assign, assignment]  # a fake
    assert await instance.calls().pull_repeatedly(FIRST, taker.take) is None
    assert len(taker.taken) == 1


@dataclass
class Telling(Instance):
    """As ``Instance``, but says what it is to say in the headers of its answers."""

    headers: list[dict[str, str] | None] = field(default_factory=list[dict[str, str] | None])

    def _answer(self, request: RemotingCommand | PreparedRequest) -> RemotingCommand:
        return replace(super()._answer(request), ext_fields=self.headers.pop(0))


HEADER = {"suggestWhichBrokerId": "0", "nextBeginOffset": "1", "minOffset": "0"}
HEADER |= {"maxOffset": "9", "topicSysFlag": "0"}
HEADERS: tuple[dict[str, str] | None, ...] = (
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


@pytest.mark.parametrize("before", [HEADER, HEADERS[2], None])
@pytest.mark.parametrize("header", HEADERS)
async def test_an_answer_says_what_its_header_says_whatever_the_one_before_said(
    before: dict[str, str] | None, header: dict[str, str] | None
) -> None:
    try:
        told = decode_header(PullMessageResponseHeader, header)
    except DecodeError:
        told = None
    instance = Telling(headers=[before, header, before])
    calls = instance.calls()
    first = await calls.pull(FIRST)

    if told is None:
        with pytest.raises(DecodeError):
            await calls.pull(FIRST)
    else:
        result = await calls.pull(FIRST)
        assert result.next_begin_offset == (told.next_begin_offset or 0)
        assert result.min_offset == (told.min_offset or 0)
        assert result.max_offset == (told.max_offset or 0)
    assert await calls.pull(FIRST) == first
