"""``Producer`` in memory: sends, retries and refusals."""

from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import replace
from functools import partial
from typing import Any

import pytest
import trio

from rocketwire import errors
from rocketwire.client.message import Message
from rocketwire.codes import RequestCode as Code
from rocketwire.codes import ResponseCode
from rocketwire.messages.route import BrokerData
from rocketwire.policy.retry import SendStatus
from rocketwire.testing import reply
from rocketwire.versions import MQVersion
from rocketwire.wire.command import RemotingCommand
from rocketwire.wire.message.batch import decode_batch
from rocketwire.wire.message.properties import decode_properties
from tests.support.fakes.producer_fakes import A, World, route, send_response, world

HELLO = Message("T", b"hello")
GONE = reply(code=ResponseCode.TOPIC_NOT_EXIST, remark="no route")


@pytest.fixture
async def cluster() -> AsyncGenerator[World]:
    """A producer and two brokers."""
    async with world() as opened:
        yield opened


@pytest.fixture
async def single() -> AsyncGenerator[World]:
    """A producer and one broker."""
    async with world(brokers=("a",)) as opened:
        yield opened


def read_fields(request: RemotingCommand) -> dict[str, str]:
    return dict(request.ext_fields or {})


@pytest.mark.parametrize("seconds", [1.0, 10.0])
async def test_sends_wait_for_a_restarting_broker(autojump_clock: object, seconds: float) -> None:
    async with world(brokers=("a",), send_msg_timeout=3) as opened, trio.open_nursery() as nursery:
        (queue, *_) = await opened.producer.queues("T")
        await opened.a.go_down()
        started = trio.current_time()
        failures: list[Exception] = []

        async def send(send: Callable[[], Awaitable[object]]) -> None:
            try:
                await send()
            except (errors.SendFailedError, errors.ConnectFailedError) as error:
                failures.append(error)
            assert trio.current_time() - started == pytest.approx(min(seconds, 3), abs=0.21)

        nursery.start_soon(send, partial(opened.producer.send, HELLO))
        nursery.start_soon(send, partial(opened.producer.send_to, HELLO, queue))
        nursery.start_soon(send, partial(opened.producer.send_batch, [HELLO]))
        await trio.sleep(seconds)
        opened.a.is_up = True

    assert len(opened.sent()) == (3 if seconds < 3 else 0)
    assert len(failures) == (0 if seconds < 3 else 3)
    texts = [str(error) for error in failures if type(error) is errors.ConnectFailedError]
    assert texts == [f"broker a at {A}: connection refused"] * (0 if seconds < 3 else 1)


@pytest.mark.parametrize("settings", [{"retry_interval": 0}, {"retry_times_when_send_failed": 0}])
async def test_a_send_can_fail_at_once_while_no_broker_accepts_a_connection(
    autojump_clock: object, settings: dict[str, Any]
) -> None:
    async with world(brokers=("a",), **settings) as opened:
        await opened.a.go_down()
        started = trio.current_time()
        with pytest.raises((errors.SendFailedError, errors.ConnectFailedError)):
            await opened.producer.send(HELLO)
        assert trio.current_time() == started


async def test_a_retry_at_a_busy_broker_waits(single: World, autojump_clock: object) -> None:
    single.a.on(Code.SEND_MESSAGE_V2, reply(code=ResponseCode.SYSTEM_BUSY, remark="busy"))
    started = trio.current_time()
    with pytest.raises(errors.SendFailedError, match="by 3 tries: a; "):
        await single.producer.send(HELLO)
    assert trio.current_time() - started == pytest.approx(0.4)


async def test_a_send_has_java_s_fields_and_its_result_the_position() -> None:
    message = Message("T", b"hello", tags="TagA", keys=("k1", "k2"), flag=9, properties={"a": "b"})
    async with world(brokers=("a",)) as opened:
        result = await opened.producer.send(message)

        (request,) = opened.sent()
        fields = read_fields(request)
        assert request.code == Code.SEND_MESSAGE_V2
        assert request.body == b"hello"
        expected = "pg T TBW102 4 0 9 0 false false a"
        assert " ".join(fields[name] for name in "abcdfhjkmn") == expected
        assert decode_properties(fields["i"]) == {
            "UNIQ_KEY": result.msg_id,
            "WAIT": "true",
            "TAGS": "TagA",
            "KEYS": "k1 k2",
            "a": "b",
        }
        assert result.status is SendStatus.SEND_OK
        assert (result.queue_offset, result.transaction_id, result.region) == (7, "TX", "R")
        assert result.message_queue.queue_id == int(fields["e"])
        assert result.offset_msg_id == "0A00000200002A9F0000000000000010"


async def test_a_message_precedes_the_heartbeat(single: World, autojump_clock: object) -> None:
    await single.producer.send(HELLO)
    await trio.sleep(1)
    assert single.a.codes() == [Code.SEND_MESSAGE_V2, Code.HEART_BEAT]


async def test_messages_take_turns_over_all_queues(cluster: World) -> None:
    for _ in range(8):
        await cluster.producer.send(HELLO)
    places = Counter((read_fields(sent)["n"], read_fields(sent)["e"]) for sent in cluster.sent())
    assert places == {(name, number): 2 for name in "ab" for number in "01"}


async def test_a_final_refusal_is_raised_at_once(cluster: World) -> None:
    cluster.answer_sends(reply(code=ResponseCode.MESSAGE_ILLEGAL, remark="too large"))
    with pytest.raises(errors.BrokerError) as caught:
        await cluster.producer.send(HELLO)
    assert caught.value.code == ResponseCode.MESSAGE_ILLEGAL
    assert len(cluster.sent()) == 1


@pytest.mark.parametrize(
    "code",
    [
        ResponseCode.TOPIC_NOT_EXIST,
        ResponseCode.SERVICE_NOT_AVAILABLE,
        ResponseCode.SYSTEM_ERROR,
        ResponseCode.SYSTEM_BUSY,
        ResponseCode.NO_PERMISSION,
        ResponseCode.NO_BUYER_ID,
        ResponseCode.NOT_IN_CURRENT_UNIT,
    ],
)
async def test_retryable_refusals_are_tried_three_times(cluster: World, code: int) -> None:
    cluster.a.on(Code.SEND_MESSAGE_V2, reply(code=code))
    for _ in range(2):
        assert (await cluster.producer.send(HELLO)).message_queue.broker_name == "b"
    count = len(cluster.sent())
    cluster.b.on(Code.SEND_MESSAGE_V2, reply(code=code))
    with pytest.raises(errors.SendFailedError, match="3 tries") as caught:
        await cluster.producer.send(HELLO)

    assert len(cluster.sent()) - count == 3
    assert set(caught.value.brokers) == {"a", "b"}
    assert caught.value.brokers[0] != caught.value.brokers[1]
    assert isinstance(caught.value.__cause__, errors.BrokerError)


async def test_an_unreachable_broker_is_skipped(cluster: World) -> None:
    await cluster.a.go_down()
    for _ in range(4):
        assert (await cluster.producer.send(HELLO)).message_queue.broker_name == "b"


def advertise(opened: World, address: str, *other_names: str) -> None:
    """Let the route have this address of broker ``a``."""
    route_data = route("a", *other_names)
    bad = BrokerData(broker_name="a", cluster="c", broker_addrs={0: address})
    route_data = replace(route_data, broker_datas=(bad, *(route_data.broker_datas or ())[1:]))
    opened.name_server.on(Code.GET_ROUTEINFO_BY_TOPIC, reply(body=route_data))


@pytest.mark.parametrize("second_port", [False, True])
@pytest.mark.parametrize("address", ["nonsense", "host:99999", ""])
async def test_an_invalid_broker_address_is_skipped(address: str, second_port: bool) -> None:
    async with world(client={"vip_channel_enabled": second_port}) as opened:
        advertise(opened, address, "b")
        if second_port:
            opened.network.peer("10.0.0.3:10909").on(Code.SEND_MESSAGE_V2, send_response)
        for _ in range(4):
            assert (await opened.producer.send(HELLO)).message_queue.broker_name == "b"


async def test_an_invalid_address_of_the_only_broker_is_the_cause(single: World) -> None:
    advertise(single, "nonsense")
    with pytest.raises(errors.SendFailedError) as caught:
        await single.producer.send(HELLO)
    assert isinstance(caught.value.__cause__, errors.IllegalAddressError)
    assert "'nonsense'" in str(caught.value.__cause__)


async def test_all_tries_share_the_time_limit(autojump_clock: object) -> None:
    async with world(send_msg_max_timeout_per_request=1.0) as opened:
        opened.answer_sends(None)
        started = trio.current_time()
        with pytest.raises(errors.SendFailedError) as caught:
            await opened.producer.send(HELLO)

        assert trio.current_time() - started == pytest.approx(3)
        assert isinstance(caught.value.__cause__, errors.RequestTimeoutError)
        assert opened.client.pool.in_flight == 0


async def test_a_hanging_broker_uses_up_the_time(cluster: World, autojump_clock: object) -> None:
    cluster.answer_sends(None)
    with pytest.raises(errors.RequestTimeoutError):
        await cluster.producer.send(HELLO, within=2)
    assert len(cluster.sent()) == 1


@pytest.mark.parametrize(
    ("code", "status"),
    [
        (ResponseCode.FLUSH_DISK_TIMEOUT, SendStatus.FLUSH_DISK_TIMEOUT),
        (ResponseCode.FLUSH_SLAVE_TIMEOUT, SendStatus.FLUSH_SLAVE_TIMEOUT),
        (ResponseCode.SLAVE_NOT_AVAILABLE, SendStatus.SLAVE_NOT_AVAILABLE),
    ],
)
async def test_p34_a_message_stored_less_safely_is_a_result(code: int, status: SendStatus) -> None:
    def answer(request: RemotingCommand) -> RemotingCommand:
        return reply(code=code, ext_fields=send_response(request).ext_fields)

    for retries, times in ((False, 1), (True, 3)):
        async with world(retry_another_broker_when_not_store_ok=retries) as opened:
            opened.answer_sends(answer)
            result = await opened.producer.send(HELLO)

            assert result.status is status
            assert not result.is_ok
            assert len(opened.sent()) == times


async def test_a_slow_broker_is_avoided_for_a_while(autojump_clock: object) -> None:
    async def slow(request: RemotingCommand) -> RemotingCommand:
        await trio.sleep(0.6)
        return send_response(request)

    async with world(send_latency_enable=True) as opened:
        opened.a.on(Code.SEND_MESSAGE_V2, slow)
        while not opened.a.codes().count(Code.SEND_MESSAGE_V2):
            await opened.producer.send(HELLO)
        assert await brokers_of_six_sends(opened) == {"b"}
        await trio.sleep(2)
        assert await brokers_of_six_sends(opened) == {"a", "b"}


async def brokers_of_six_sends(opened: World) -> set[str | None]:
    return {(await opened.producer.send(HELLO)).message_queue.broker_name for _ in range(6)}


async def test_a_detected_broker_returns(autojump_clock: object) -> None:
    async with world(send_latency_enable=True, start_detector_enable=True) as opened:
        await opened.a.go_down()
        for _ in range(4):
            await opened.producer.send(HELLO)
        opened.a.is_up = True
        for peer in (opened.a, opened.b):
            peer.on(Code.GET_MAX_OFFSET, reply(ext_fields={"offset": "0"}))
        await trio.sleep(15)

        assert Code.GET_MAX_OFFSET in opened.a.codes()
        assert await brokers_of_six_sends(opened) == {"a", "b"}


async def test_a_missing_topic_uses_the_route_of_the_default_topic(cluster: World) -> None:
    def answer(request: RemotingCommand) -> RemotingCommand:
        is_default = read_fields(request)["topic"] == "TBW102"
        return reply(body=route("b", perm=7, queues=8)) if is_default else GONE

    cluster.name_server.on(Code.GET_ROUTEINFO_BY_TOPIC, answer)
    queues = await cluster.producer.queues("T")
    assert [(queue.broker_name, queue.queue_id) for queue in queues] == [("b", n) for n in range(4)]
    assert (await cluster.producer.send(HELLO)).message_queue.broker_name == "b"


async def test_a_topic_without_write_queues_is_an_error(cluster: World) -> None:
    for answer in (GONE, reply(body=route("a", perm=4))):
        cluster.name_server.on(Code.GET_ROUTEINFO_BY_TOPIC, answer)
        with pytest.raises(errors.TopicRouteNotFoundError):
            await cluster.producer.send(HELLO)
    cluster.name_server.on(Code.GET_ROUTEINFO_BY_TOPIC, reply(body=route("a")))
    assert (await cluster.producer.send(HELLO)).is_ok


async def test_a_oneway_send_is_tried_once(single: World) -> None:
    queue = (await single.producer.queues("T"))[1]
    await single.producer.send_oneway(HELLO)
    await single.producer.send_oneway(HELLO, queue)
    await single.a.asked(Code.SEND_MESSAGE_V2, 2)
    assert [request.is_oneway for request in single.sent()] == [True, True]
    assert read_fields(single.sent()[1])["e"] == "1"


async def test_a_message_to_one_queue_is_tried_once(cluster: World) -> None:
    queue = (await cluster.producer.queues("T"))[2]
    assert (await cluster.producer.send_to(HELLO, queue)).message_queue == queue
    cluster.b.on(Code.SEND_MESSAGE_V2, reply(code=ResponseCode.SYSTEM_BUSY))
    with pytest.raises(errors.BrokerError):
        await cluster.producer.send_to(HELLO, queue)
    await cluster.b.go_down()
    with pytest.raises(errors.ConnectFailedError):
        await cluster.producer.send_to(HELLO, queue)
    with pytest.raises(errors.IllegalMessageError):
        await cluster.producer.send_to(Message("U", b"x"), queue)


async def test_a_key_goes_to_java_s_queue_and_a_function_may_choose(cluster: World) -> None:
    result = await cluster.producer.send_ordered(HELLO, "order-1")
    assert result.message_queue == (await cluster.producer.queues("T"))[2]
    result = await cluster.producer.send_by(HELLO, lambda queues: queues[-1])
    assert result.message_queue == (await cluster.producer.queues("T"))[-1]


async def test_a_batch_is_one_request_with_a_key_for_each_message(cluster: World) -> None:
    messages = [Message("T", b"%d" % number, tags="x") for number in range(3)]
    result = await cluster.producer.send_batch(messages)
    queue = (await cluster.producer.queues("T"))[0]
    await cluster.producer.send_batch(messages, queue=queue)

    first, second = cluster.sent()
    assert first.code == second.code == Code.SEND_BATCH_MESSAGE
    assert read_fields(first)["m"] == "true"
    batches = [decode_batch(request.body or b"") for request in (first, second)]
    assert [message.body for message in batches[0]] == [b"0", b"1", b"2"]
    keys = [[(message.properties or {})["UNIQ_KEY"] for message in batch] for batch in batches]
    assert result.msg_id.split(",") in keys


@pytest.mark.parametrize(
    ("heartbeat", "has_key"),
    [
        (reply(version=MQVersion.V4_9_4), False),
        (reply(version=MQVersion.V5_0_0), True),
        (reply(code=ResponseCode.SYSTEM_ERROR), True),
    ],
)
async def test_a_batch_for_an_old_broker_has_no_key_of_its_own(
    single: World, heartbeat: RemotingCommand, has_key: bool
) -> None:
    single.a.on(Code.HEART_BEAT, heartbeat)
    await single.producer.send_batch([HELLO, HELLO])
    (sent,) = single.sent()
    assert ("UNIQ_KEY" in read_fields(sent)["i"]) is has_key


async def test_messages_are_split_into_batches_of_the_maximum_size(single: World) -> None:
    messages = [Message("T", bytes([number + 1]) * 1000) for number in range(10)]
    results = await single.producer.send_batches(messages, max_size=4000)

    batches = [decode_batch(request.body or b"") for request in single.sent()]
    assert [len(batch) for batch in batches] == [3, 3, 3, 1]
    bodies = [part.body for batch in batches for part in batch]
    assert bodies == [message.body for message in messages]
    assert len(results) == 4


@pytest.mark.parametrize(
    "messages",
    [
        [],
        [HELLO, Message("U", b"x")],
        [HELLO, Message("T", b"x", wait_store_msg_ok=False)],
        [Message("T", b"x", delay_level=1)],
        [Message("T", b"x", delay_seconds=1)],
        [Message("%RETRY%g", b"x")],
        [Message("T", b"")],
        [Message("T", bytes(600)), Message("T", bytes(600))],
    ],
)
async def test_messages_that_cannot_be_one_batch_are_refused(messages: list[Message]) -> None:
    async with world(max_message_size=1000) as opened:
        with pytest.raises(errors.IllegalMessageError):
            await opened.producer.send_batch(messages)
        assert opened.sent() == []


async def test_a_namespace_is_on_the_wire_and_not_in_results() -> None:
    async with world(client={"namespace": "ns"}) as opened:
        result = await opened.producer.send(HELLO)
        fields = read_fields(opened.sent()[0])

        assert opened.producer.group == fields["a"] == "ns%pg"
        assert fields["b"] == "ns%T"
        assert decode_properties(fields["i"])["INSTANCE_ID"] == "ns"
        assert result.message_queue.topic == "T"
        assert {queue.topic for queue in await opened.producer.queues("T")} == {"T"}
        await opened.producer.send_batch([HELLO, HELLO])
        batch = opened.sent()[-1]
        assert decode_properties(read_fields(batch)["i"])["INSTANCE_ID"] == "ns"
        assert b"INSTANCE_ID" not in (batch.body or b"")


async def test_unit_mode_and_the_second_port_are_the_client_s_settings() -> None:
    async with world(client={"unit_mode": True}) as opened:
        await opened.producer.send(HELLO)
        assert read_fields(opened.sent()[0])["k"] == "true"
    async with world(client={"vip_channel_enabled": True}) as opened:
        with pytest.raises(errors.SendFailedError) as caught:
            await opened.producer.send(HELLO)
        assert ":10909" in str(caught.value.__cause__)


async def test_groups_and_topics_are_checked(cluster: World) -> None:
    for topic in ("a b", "x" * 128, "SCHEDULE_TOPIC_XXXX"):
        with pytest.raises(errors.IllegalNameError):
            await cluster.producer.send(Message(topic, b"x"))
    for message in (Message("T", b""), Message("T", b"x", properties={"TAGS": "x"})):
        with pytest.raises(errors.IllegalMessageError):
            await cluster.producer.send(message)
    with pytest.raises(errors.LocalProtocolError):
        cluster.client.add_producer(
            type(cluster.producer)(cluster.client, "pg", cluster.producer.config)
        )
    assert cluster.sent() == []


async def test_a_cancelled_send_is_forgotten(cluster: World, autojump_clock: object) -> None:
    cluster.answer_sends(None)
    with trio.move_on_after(0.5):
        await cluster.producer.send(HELLO)
    assert cluster.client.pool.in_flight == 0
    cluster.answer_sends(send_response)
    assert (await cluster.producer.send(HELLO)).is_ok
